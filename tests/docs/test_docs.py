"""The documents say what is so: commands are run, pages compared, names looked up."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import get_args

import click
import pytest

import calibrant
from calibrant.cli.main import cli
from calibrant.core.criterion import ItemType, NAPolicy, RedFlag
from calibrant.core.rating import FlagState, RaterKind
from calibrant.core.scoring import GateState, Outcome, Status

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "calibrant"
ROOMS = ("core", "stats", "formats", "rubrics", "cli")
GLOSSARY = (
    "abstained", "action", "adjudication", "aggregation", "agreement", "alias", "anchor", "answer",
    "assessed weight", "assignment", "band", "batch", "calibration", "card", "category", "check",
    "choice scale", "code", "content hash", "criterion", "dimension", "disagreement", "document",
    "draft", "duplicate", "effective answer", "error", "estimate", "exact score", "example",
    "exchange", "fault", "finding", "free item", "gate", "gate state", "given", "guidance",
    "handbook", "item", "judge", "kind", "lease", "level of measurement", "long rows", "mapping",
    "measure", "misfit", "missing", "NA", "note", "occasion", "ordinal scale", "outcome", "panel",
    "pass mark", "passed", "phase", "plan", "points", "preamble", "precondition", "profile",
    "rater", "rating", "raw answer", "record", "red flag", "reference", "resolution", "response",
    "round", "rubric", "scale", "score", "scorebook", "sheet", "signal", "standard", "status",
    "study", "sub-question", "summary", "table", "tag", "target", "undecided", "unit", "verdict",
    "version", "violation", "weight", "wide table",
)  # fmt: skip


def words_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def written(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


DOCUMENTS = written("*.md", "docs/**/*.md")


# -- what is shown is run


@dataclass(slots=True)
class Step:
    """A command of a console block, or a Python session, and what it is said to print."""

    language: str
    command: str
    expected: list[str] = field(default_factory=list)


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Language and lines of every fenced block."""
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match[1], match[2].splitlines()


def steps(text: str) -> Iterator[Step]:
    """What a document asks to be run, in order."""
    for language, lines in blocks(text):
        if language == "pycon":
            yield Step(language, "\n".join(lines) + "\n")
        if language == "console":
            yield from console_steps(lines)


def console_steps(lines: list[str]) -> Iterator[Step]:
    rest = iter(lines)
    step: Step | None = None
    for line in rest:
        if not line.startswith("$ "):
            assert step is not None, f"output before the first command: {line!r}"
            step.expected.append(line)
            continue
        if step is not None:
            yield step
        command = line[2:]
        while command.endswith("\\"):
            command += "\n" + next(rest)
        here = re.search(r"<<'(\w+)'", command)
        while here and not command.endswith(f"\n{here[1]}"):
            command += "\n" + next(rest)
        step = Step("console", command)
    if step is not None:
        yield step


class Reader:
    """Somebody who types what a document shows, in a folder with the examples."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.status = folder, 0
        shutil.copytree(ROOT / "examples", folder / "examples")
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "80",
            "NO_COLOR": "1",
        }

    def types(self, step: Step) -> list[str]:
        """The lines that the step prints."""
        if step.language == "pycon":
            return self._session(step.command)
        if step.command == "echo $?":
            return [str(self.status)]
        word = step.command.split()[0]
        assert word in ("calibrant", "cat", "sed", "python"), f"not run here: {step.command}"
        return self._run(["sh", "-c", step.command])

    def _session(self, text: str) -> list[str]:
        """Nothing, or the differences that doctest finds."""
        assert doctest.DocTestParser().get_examples(text)
        path = self.folder / "session.txt"
        path.write_text(text, encoding="utf-8")
        return self._run([sys.executable, "-m", "doctest", str(path)])

    def _run(self, command: list[str]) -> list[str]:
        result = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        self.status = result.returncode
        return [line.rstrip() for line in result.stdout.splitlines()]


def same(expected: list[str], printed: list[str]) -> bool:
    """Line by line; a line of three dots stands for anything up to the next line that matches."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(same(expected[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and expected[0] == printed[0] and same(expected[1:], printed[1:])


@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if any(True for _ in steps(words_of(path)))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_command_prints_what_the_document_shows(path: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for step in steps(words_of(path)):
        printed = reader.types(step)
        if not same(step.expected, printed):
            assert printed == step.expected, step.command


@pytest.mark.parametrize(
    ("expected", "printed", "right"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "..."], ["a", "b", "c"], True),
        (["...", "c"], ["a", "b", "c"], True),
        (["...", "b"], ["a", "b", "c"], False),
        (["a", "...", "c"], ["a", "c"], True),
        (["a", "...", "d"], ["a", "c"], False),
        ([], ["a"], False),
    ],
)
def test_three_dots_stand_for_any_lines(
    expected: list[str], printed: list[str], right: bool
) -> None:
    assert same(expected, printed) is right


def test_a_wrong_session_is_noticed(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    assert reader.types(Step("pycon", ">>> 1 + 1\n2\n")) == []
    assert reader.types(Step("pycon", ">>> 1 + 1\n3\n")) != []


# -- what is generated is up to date


def test_the_generated_reference_is_up_to_date() -> None:
    pages: dict[Path, str] = runpy.run_path(str(ROOT / "docs" / "generate.py"))["pages"]()
    schemas = set((ROOT / "docs" / "reference" / "schemas").iterdir())
    assert schemas == {path for path in pages if path.suffix == ".json"}
    stale = [str(path.relative_to(ROOT)) for path, text in pages.items() if words_of(path) != text]
    assert not stale, "run .venv/bin/python docs/generate.py"


@pytest.mark.parametrize("command", ["calibrant", "calibrant rubric", "calibrant score"])
def test_the_page_shows_the_help_that_the_command_prints(command: str, tmp_path: Path) -> None:
    printed = Reader(tmp_path).types(Step("console", f"{command} --help"))
    shown = [lines for _, lines in blocks(words_of(ROOT / "docs" / "reference" / "cli.md"))]
    assert printed in shown


# -- what there is, is written about


def leaves(command: click.Command, name: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield name
        return
    context = click.Context(command)
    for word in command.list_commands(context):
        inner = command.get_command(context, word)
        assert inner is not None
        yield from leaves(inner, f"{name} {word}")


@pytest.mark.parametrize("command", sorted(leaves(cli, "calibrant")))
def test_every_command_is_shown_in_use(command: str) -> None:
    """In the README or a guide; the generated page does not count."""
    texts = [words_of(path) for path in written("README.md", "docs/how-to/*.md")]
    assert any(re.search(rf"\b{command}\b", text) for text in texts)


@pytest.mark.parametrize("name", calibrant.__all__)
def test_every_public_name_is_written_about(name: str) -> None:
    texts = [words_of(path) for path in written("README.md", "docs/**/*.md")]
    assert any(re.search(rf"`[^`\n]*\b{name}\b", text) for text in texts)


def glossary() -> list[str]:
    return re.findall(r"^\*\*(.+?)\*\*", words_of(ROOT / "GLOSSARY.md"), re.MULTILINE)


@pytest.mark.parametrize("word", GLOSSARY)
def test_every_word_has_its_entry(word: str) -> None:
    assert word in glossary()


def test_the_glossary_is_in_order_and_has_no_word_twice() -> None:
    folded = [word.casefold() for word in glossary()]
    assert folded == sorted(set(folded))


def test_the_closed_words_of_the_code_are_explained() -> None:
    """What can stand in a record, a rubric or a flag is a word somebody will look up."""
    explained = words_of(ROOT / "GLOSSARY.md").lower()
    kinds = (Outcome, GateState, Status, FlagState, RaterKind, ItemType)
    for word in (word for kind in kinds for word in get_args(kind)):
        assert re.search(rf"\b{word.lower()}\b", explained), word
    policies = get_args(NAPolicy.model_fields["policy"].annotation)
    effects = get_args(RedFlag.model_fields["effect"].annotation)
    for word in (*policies, *effects):
        assert f"*{word.replace('_', ' ')}*" in explained, word


def modules() -> list[str]:
    paths = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(path.as_posix() for path in paths if path.name != "__init__.py")


@pytest.mark.parametrize("module", modules())
def test_every_module_has_its_line_in_the_architecture(module: str) -> None:
    lines = words_of(ROOT / "ARCHITECTURE.md").splitlines()
    assert any(line.startswith(f"| `{module}` |") for line in lines)


def test_the_architecture_names_no_module_that_is_gone() -> None:
    named = re.findall(r"^\| `([\w/.-]+)` \|", words_of(ROOT / "ARCHITECTURE.md"), re.MULTILINE)
    assert [name for name in named if not (PACKAGE / name).exists()] == []


@pytest.mark.parametrize("path", [*written("*.md", "docs/decisions/*.md")], ids=lambda p: p.name)
def test_every_function_that_a_document_names_exists(path: Path) -> None:
    """Names such as `core.scoring.score`, in any document."""
    rooms = "|".join(ROOMS)
    for name in re.findall(rf"`((?:{rooms})(?:\.\w+)+)`", words_of(path)):
        room, module, *steps_in = name.split(".")
        reduce(getattr, steps_in, import_module(f"calibrant.{room}.{module}"))


def required(extra: bool) -> set[str]:
    project = tomllib.loads(words_of(ROOT / "pyproject.toml"))["project"]
    wanted = project["optional-dependencies"]["dev"] if extra else project["dependencies"]
    return {re.split(r"[><=~! \[]", one)[0].lower() for one in wanted}


def test_every_dependency_has_said_why_it_is_here() -> None:
    text = words_of(ROOT / "docs" / "decisions" / "0004-dependencies.md")
    needed, _, tools = text.partition("For development")
    lines = re.findall(r"^\| `([\w-]+)` \|", needed, re.MULTILINE)
    assert sorted(lines) == sorted(required(extra=False))
    assert required(extra=True) == set(re.findall(r"`([\w-]+)`", tools.partition("## ")[0].lower()))


def test_decisions_are_numbered_and_of_one_shape() -> None:
    paths = written("docs/decisions/*.md")
    assert [path.name[:5] for path in paths] == [f"{n:04}-" for n in range(1, len(paths) + 1)]
    for path in paths:
        headings = re.findall(r"^## (.+)$", words_of(path), re.MULTILINE)
        assert headings == ["Problem", "Decision", "What guards it"], path.name


# -- what is linked to is there


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`\n]*`", "", words_of(path))):
        name, _, anchor = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        assert page.exists(), target
        if anchor:
            assert anchor in anchors(words_of(page)), target


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def test_paths_of_tests_that_documents_name_exist() -> None:
    for path in DOCUMENTS:
        for name in re.findall(r"`(tests/[\w/.]+)`", words_of(path)):
            assert (ROOT / name).exists(), f"{path.name}: {name}"
