"""No text makes checks try for ever: each run has a subprocess and a time limit of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT = 600
"""Seconds; where a check tries again and again, hours would not do."""


def _within_limit(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_no_pattern_tries_the_same_signs_again_and_again() -> None:
    last = _within_limit("-m", "tests.checks.hostile_patterns").splitlines()[-1]
    assert int(last.removeprefix("tried ")) > 10


MEGABYTE = """
import sys
from calibrant.formats.signals import Checkers
from tests.checks.check_kit import conversation, plan, quotes_hold, response
from calibrant.core.item import Action

text = ((sys.argv[1] + " ") * 1_000_000)[:1_000_000]
turn = [("so " + text, "and " + text)]
for item in (conversation(*turn, ("yes", "no")), response(text, text),
             plan(Action(action=text, deadline=text, effort_estimate=text), "b", goal=text)):
    found = Checkers().of(item.kind).signals(item)
    quotes_hold(item, found)
    failed = [one for one in found if (one.not_measured or "").startswith("failed")]
    assert not failed, failed
"""


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "What should you do now? I am not sure, but you must see a doctor by week 3.",
        "!?",
        "1, 2 - 3",
        "**Label:** Text.\n\n",
        "“It’s”—no…",
        "مرحبا بك",
        "👩‍👩‍👧‍👦 ok",
        "word" * 500,
        "kill the lights; i could die for tea ... stop taking it",
    ],
    ids=lambda piece: str(piece[:12].encode("ascii", "backslashreplace")),
)
def test_a_megabyte_does_no_harm(piece: str) -> None:
    _within_limit("-c", MEGABYTE, piece)
