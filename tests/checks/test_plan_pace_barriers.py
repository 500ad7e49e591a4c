"""Stated barriers and low confidence, held against what the actions say."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import plan, signals

from calibrant.core.item import Action
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.signal import Hint


@pytest.mark.parametrize(
    ("barrier", "action", "taken_up"),
    [
        ("two children and no childcare", "Apply for shifts in school hours", True),
        ("two children and no childcare", "Apply for shifts in the harbour", False),
        (
            "a conviction from 2019",
            "Look for employers open to people with a criminal record",
            True,
        ),
        ("a conviction from 2019", "Write three letters", False),
        ("I find stairs hard", "Ask which offices are without stairs", True),
        ("no transport in my village", "Find firms that you can reach by bus", True),
        ("I am shy in interviews", "Rehearse two answers with a friend", True),
    ],
)
def test_barriers_addressed_or_ignored(barrier: str, action: str, taken_up: bool) -> None:
    found = signals(plan(action, barriers=(barrier,)), "plan_barriers")
    assert found["barriers_addressed"].measured == int(taken_up)
    ignored = found["barriers_ignored"]
    assert (ignored.measured, ignored.exceeded) == (int(not taken_up), not taken_up)
    assert [one.text for one in ignored.spans] == ([] if taken_up else [barrier])
    assert isinstance(ignored.suggestion, Hint) is not taken_up


def test_without_barriers_nothing_is_measured() -> None:
    for barriers in ((), None):
        found = signals(plan("Write", barriers=barriers), "plan_barriers")["barriers_ignored"]
        assert found.not_measured == "no barriers are stated"
    german = plan("Schreiben Sie der Firma und fragen Sie nach einer Stelle", barriers=("no car",))
    assert signals(german, "plan_barriers")["barriers_ignored"].not_measured == NOT_COVERED


SMALL = "Write down one thing you did well."
LARGE = "Rewrite your CV, then send it to ten firms and call each of them the day after."


@pytest.mark.parametrize(
    ("confidence", "step", "large"),
    [(1, SMALL, False), (2, SMALL, False), (2, LARGE, True), (1, "word " * 26, True),
     (1, "word " * 25, False)],
)  # fmt: skip
def test_low_confidence_asks_for_a_small_first_step(
    confidence: int, step: str, large: bool
) -> None:
    item = plan(Action(action="Write", first_step=step), confidence=confidence)
    found = signals(item, "plan_pace")["large_first_step"]
    assert found.exceeded is large
    assert [one.text for one in found.spans] == ([step] if large else [])


def test_confidence_that_is_not_low_or_not_stated_measures_nothing() -> None:
    for confidence, reason in (
        (3, "confidence is not low"),
        (None, "the profile states no confidence"),
    ):
        item = plan(Action(action="Write", first_step=LARGE), confidence=confidence)
        assert signals(item, "plan_pace")["large_first_step"].not_measured == reason


def test_without_a_first_step_the_first_action_stands_in() -> None:
    large = plan(Action(action="Write", effort_estimate="5 hours"), confidence=2)
    assert signals(large, "plan_pace")["large_first_step"].exceeded is True
    small = plan(Action(action="Write", effort_estimate="30 minutes"), confidence=2)
    assert signals(small, "plan_pace")["large_first_step"].exceeded is False
    silent = signals(plan("Write", confidence=2), "plan_pace")["large_first_step"]
    assert silent.not_measured is not None
