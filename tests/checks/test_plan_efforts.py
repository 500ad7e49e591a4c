"""Efforts are read from words, summed, and held against the hours a week."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.checks.check_kit import plan, signals

from calibrant.core.item import Action
from calibrant.raters.checks.plan_efforts import Effort, read_effort


@pytest.mark.parametrize(
    ("text", "low", "high", "rhythm"),
    [
        ("2 hours in total", 2, 2, "once"),
        ("4 hours per week", 4, 4, "week"),
        ("2h/week", 2, 2, "week"),
        ("30 mins a day", 3.5, 3.5, "week"),
        ("1-2 hours weekly", 1, 2, "week"),
        ("one to two hours, every week", 1, 2, "week"),
        ("half an hour each weekday", 2.5, 2.5, "week"),
        ("an hour and a half", 1.5, 1.5, "once"),
        ("1 hour 30 minutes", 1.5, 1.5, "once"),
        ("two evenings of 2 hours a week", 4, 4, "week"),
        ("45 minutes twice a week", 1.5, 1.5, "week"),
        ("5 hours a day, 3 days a week", 15, 15, "week"),
        ("2-hour session every monday", 2, 2, "week"),
        ("2 sessions of 45 minutes", 1.5, 1.5, "once"),
        ("3 hrs x 2", 6, 6, "once"),
        ("6 hours a month", 72 / 52, 72 / 52, "week"),
        ("1.5 hours", 1.5, 1.5, "once"),
    ],
)
def test_efforts_are_read(text: str, low: float, high: float, rhythm: str) -> None:
    found = read_effort(text)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.rhythm == rhythm


@pytest.mark.parametrize("text", ["", "low", "a lot", "20 minutes per application", "2 coffees"])
def test_what_is_not_plain_stays_unread(text: str) -> None:
    assert read_effort(text) is None


def _plan(*efforts: str | None, hours: int | None = 4, weeks: int | None = 4) -> object:
    actions = [Action(action="Write", effort_estimate=one) for one in efforts]
    return plan(
        *actions,
        hours_per_week=None if hours is None else Decimal(hours),
        timeframe_weeks=None if weeks is None else Decimal(weeks),
    )


def test_the_sum_is_held_against_the_hours_a_week() -> None:
    found = signals(_plan("3 hours a week", "8 hours in total"), "plan_efforts")  # type: ignore[arg-type]
    total = found["effort_in_total"]  # 3 + 8 / 4 weeks
    assert (total.measured, total.exceeded, total.criterion) == (5, True, "realism")
    assert [one.text for one in total.spans] == ["3 hours a week", "8 hours in total"]
    assert found["effort_of_an_action"].exceeded is False
    fits = signals(_plan("3 hours a week", "4 hours in total"), "plan_efforts")["effort_in_total"]  # type: ignore[arg-type]
    assert (fits.measured, fits.exceeded, fits.suggestion) == (4, False, None)


def test_a_range_is_compared_at_the_end_that_the_rubric_names() -> None:
    item = _plan("3-5 hours a week")
    assert signals(item, "plan_efforts")["effort_in_total"].exceeded is True  # type: ignore[arg-type]
    assert signals(item, "plan_efforts", end="low")["effort_in_total"].exceeded is False  # type: ignore[arg-type]


def test_an_action_may_be_too_large_by_itself() -> None:
    found = signals(_plan("6 hours a week", "1 hour"), "plan_efforts")["effort_of_an_action"]  # type: ignore[arg-type]
    assert (found.measured, found.exceeded) == (1, True)
    assert found.spans[0].text == "6 hours a week"


def test_what_cannot_be_read_never_counts_as_nought() -> None:
    part = signals(_plan("1 hour a week", "a lot"), "plan_efforts")["effort_in_total"]  # type: ignore[arg-type]
    assert (part.measured, part.exceeded) == (1, None)
    assert "1 actions could not be counted" in part.note
    for item, reason in (
        (_plan("a lot"), "no estimate of effort could be read"),
        (_plan("1 hour", hours=None), "the profile states no hours a week"),
    ):
        total = signals(item, "plan_efforts")["effort_in_total"]  # type: ignore[arg-type]
        assert (total.measured, total.not_measured) == (None, reason)


def test_efforts_are_values() -> None:
    assert read_effort("2 hours") == Effort(2, 2, "once")
