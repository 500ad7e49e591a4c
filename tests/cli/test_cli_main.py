"""The entry point: help, errors without tracebacks, start-up that imports nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("calibrant")


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run(
        [str(COMMAND), *arguments], capture_output=True, text=True, cwd=cwd, env=env, check=False
    )


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("score",),
        ("rubric",),
        ("items",),
        ("rubric", "diff"),
        ("rubric", "init"),
        ("items", "check"),
    ],
)
def test_every_command_explains_itself(words: tuple[str, ...]) -> None:
    result = run(*words, "--help")
    assert result.returncode == 0
    assert result.stdout.startswith("Usage: calibrant")
    if len(words) == 2 or words == ("score",):
        assert "Example" in result.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("scores",), "Did you mean 'score'?"),
        (("rubric", "show", "ai-respons"), "did you mean 'ai-response'?"),
        (("score", "absent.jsonl", "-r", "ai-response"), "absent.jsonl: no such file"),
        (("score", "absent.pdf", "-r", "ai-response"), "absent.pdf: no such file"),
        (("rubric", "show", "absent.yaml"), "absent.yaml: no such rubric file"),
    ],
)
def test_mistakes_are_sentences_and_exit_with_2(
    words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    result = run(*words, cwd=tmp_path)
    assert result.returncode == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_help_imports_no_table_reader() -> None:
    code = (
        "import sys; sys.argv = ['calibrant', '--help']\n"
        "from calibrant.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'polars', 'numpy', 'pydantic', 'rich', 'yaml', 'msgspec'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    command = f"'{COMMAND}' rubric render ai-response | head -n 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("# ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 0), (("--fail-under", "0.1"), 0), (("--fail-under", "0.9"), 1), (("--fail-on-gate",), 1)],
)
def test_the_installed_command_exits_with_the_status_of_its_command(
    options: tuple[str, ...], status: int
) -> None:
    answers = Path(__file__).parents[2] / "examples/coaching-conversation/answers.jsonl"
    assert run("score", str(answers), "-r", "coaching-conversation", *options).returncode == status


def test_the_installed_command_exits_with_2_on_bad_records_and_bad_rubrics(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text('{"id": 1}\n')
    assert run("score", "answers.jsonl", "-r", "ai-response", cwd=tmp_path).returncode == 2
    (tmp_path / "rubric.yaml").write_text("id: 1\n")
    assert run("rubric", "validate", "rubric.yaml", cwd=tmp_path).returncode == 2
