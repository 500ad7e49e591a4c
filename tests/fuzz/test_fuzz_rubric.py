"""Broken rubrics: every text is a usable rubric or a list of faults, never anything else."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from random import Random
from typing import Any

import pytest
import yaml
from tests.fuzz.fuzz_kit import CHUNKS, Findings, broken_bytes, cases, promise, promise_fault

from calibrant import builtin_names
from calibrant.core.errors import RubricError
from calibrant.core.rubric import Rubric
from calibrant.core.scoring import score
from calibrant.formats.handbook import handbook
from calibrant.formats.handbook_pages import to_html, to_markdown
from calibrant.formats.rubric_file import parse_rubric
from calibrant.stats.scorebook import Scorebook

HEAVY = ("guidance", "pitfalls", "difficult_cases", "standards", "principles", "reviewers")
"""Sections of advice: long, and all read in one way."""
WORDS = (
    "", " ", "none", "null", "true", "0", "1", "-1", "1.5", "1e3", "NaN", "NA", "ERROR", "YES",
    "a b", "x" * 70, "x" * 20_001, "a\nb", "a\u2028b", "\x85", "\x1b[31m", "1.2.3.4", "9" * 30,
    "-1000000", "1000000", "0.1", "0.30", "1.00000000000001", ">=", ">", "<=", "choice", "ordinal",
    "plan", "excluded", "valid", "invalid", "force_scores", "reject", "5", "<script>", "é",
    "\U0001f600", "{{7*7}}", "&amp;",
)  # fmt: skip
JUNK = "abzYN01 :-#?{}[],&*!|>'\"%@`~\t\n\r\\.=<\u2028\ufeff\x00\x85é\U0001f600"


@cache
def texts() -> tuple[str, ...]:
    """The rubrics that come with the package, and the one to start from."""
    folder = resources.files("calibrant.rubrics")
    built_in = [folder.joinpath(f"{name}.yaml").read_text("utf-8") for name in builtin_names()]
    starter = resources.files("calibrant.formats").joinpath("starter.yaml").read_text("utf-8")
    return (*built_in, starter, starter)


@cache
def trees() -> tuple[dict[str, Any], ...]:
    """The same, as plain values, without most of their advice."""
    read = [yaml.load(text, Loader=yaml.BaseLoader) for text in texts()]
    return tuple({key: tree[key] for key in tree if key not in HEAVY} for tree in read)


def odd(rng: Random, node: Any, depth: int = 0) -> Any:
    """A copy of a document with one thing in it changed."""
    if isinstance(node, str) or not node or rng.random() < 0.04:
        return rng.choice((*WORDS, [], {}, ["x"], {"id": "x"}, [[]], None))
    if isinstance(node, list):
        out = list(node)
        at = rng.randrange(len(out))
        match rng.randrange(5):
            case 0:
                out.insert(at, rng.choice(out))
            case 1:
                del out[at]
            case _:
                out[at] = odd(rng, out[at], depth + 1)
        return out
    key = rng.choice(list(node))
    match rng.randrange(7):
        case 0:
            return {name: value for name, value in node.items() if name != key}
        case 1:
            other = rng.choice((*WORDS, key + "s", key.upper()))
            return {(other if name == key else name): value for name, value in node.items()}
        case 2:
            return {**node, rng.choice(WORDS): rng.choice(WORDS)}
        case _:
            return {**node, key: odd(rng, node[key], depth + 1)}


def absences(node: Any) -> Any:
    """The word none as JSON has it."""
    if isinstance(node, dict):
        return {key: absences(value) for key, value in node.items()}
    if isinstance(node, list):
        return [absences(entry) for entry in node]
    return None if node == "none" else node


def document(rng: Random) -> str:
    """A broken document, as text."""
    match rng.randrange(10):
        case 0:
            return "".join(rng.choices(JUNK, k=rng.choice((0, 1, 5, 30, 200))))
        case 1 | 2 | 3:
            data = rng.choice(texts()).encode("utf-8")
            return broken_bytes(rng, data).decode("utf-8", "replace")
        case _:
            tree: Any = rng.choice(trees())
            for _ in range(rng.randint(1, 3)):
                tree = odd(rng, tree)
            if rng.random() < 0.5:
                return json.dumps(absences(tree), ensure_ascii=rng.random() < 0.5)
            return str(yaml.safe_dump(tree, allow_unicode=rng.random() < 0.5, sort_keys=False))


def promise_usable(rubric: Rubric) -> None:
    """A rubric that was accepted can be scored by and printed."""
    book = Scorebook(rubric)
    verdict = score(rubric, {})
    promise(verdict.missing == rubric.criterion_ids, "no answer is missing on an empty sheet")
    first = {one.id: book.values[row][0] for row, one in enumerate(rubric.criteria)}
    promise(score(rubric, first).status == "complete", "a full sheet is complete")
    blocks = handbook(rubric)
    promise("<script>" not in to_html(blocks), "the handbook runs a script")
    to_markdown(blocks)
    promise(len(rubric.hash) == 71, "a rubric has a hash")


def read(text: str) -> None:
    lines = text.count("\n") + text.count("\r") + text.count("\x85") + text.count("\u2028") + 2
    try:
        rubric = parse_rubric(text, "case.yaml")
    except RubricError as error:
        promise(len(error.faults) > 0, "a refusal has a fault")
        for fault in error.faults:
            promise_fault(fault)
            promise(len(str(fault)) < 100_000, "a fault can be read by a person", len(str(fault)))
            promise(fault.source == "case.yaml", "a fault names its file", fault)
            promise(fault.line is None or 1 <= fault.line <= lines, "a line exists", fault)
        return
    promise_usable(rubric)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_rubrics(chunk: int) -> None:
    findings = Findings("rubric")
    for number in cases(chunk):
        with findings.case(number):
            findings.data = text = document(findings.random(number))
            read(text)
    findings.settle()
