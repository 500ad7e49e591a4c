"""Deadlines are read from words; a date needs a stated start."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from tests.checks.check_kit import signals

from calibrant.core.item import Action, Plan, Profile
from calibrant.raters.checks.plan_deadlines import NO_START, read_deadline, states_deadline

BEGIN = date(2026, 2, 2)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("by week 3", 21), ("end of week 1", 7), ("week three", 21), ("weeks 1-8", 56),
        ("within 2 weeks", 14), ("in ten days", 10), ("within a month", 30), ("month 2", 60),
        ("6 weeks from now", 42), ("day 5", 5), ("by friday", 7), ("tomorrow", 1),
        ("next week", 14), ("2026-02-16", 14), ("16 february", 14), ("february 16, 2026", 14),
        ("16th of february 2026", 14), ("16/02/2026", 14), ("1 february", 364),
    ],
)  # fmt: skip
def test_deadlines_are_read(text: str, days: int) -> None:
    found = read_deadline(text)
    assert found is not None
    assert found.after(BEGIN) == days


@pytest.mark.parametrize("text", ["ongoing", "soon", "every monday", "31 february", "", "may"])
def test_what_is_no_deadline(text: str) -> None:
    assert read_deadline(text) is None
    assert states_deadline(text) is None


@pytest.mark.parametrize("text", ["03/04/2026", "end of the month", "by may"])
def test_a_deadline_that_cannot_be_placed_is_one_all_the_same(text: str) -> None:
    assert read_deadline(text) is None
    assert states_deadline(text) is not None


def _plan(*deadlines: str | None, start: str | None = None, weeks: int | None = 4) -> Plan:
    return Plan(
        id="p",
        profile=Profile(goal="a job", timeframe_weeks=None if weeks is None else Decimal(weeks)),
        actions=tuple(Action(action="Write", deadline=one) for one in deadlines),
        more={} if start is None else {"start_date": start},
    )


def test_deadlines_are_held_against_the_timeframe() -> None:
    found = signals(_plan("week 2", "by week 6"), "plan_deadlines")["deadlines_outside_timeframe"]
    assert (found.measured, found.exceeded, found.criterion) == (1, True, "realism")
    assert [(one.part, one.text) for one in found.spans] == [("actions[1].deadline", "week 6")]
    fits = signals(_plan("week 2", "week 4"), "plan_deadlines")["deadlines_outside_timeframe"]
    assert (fits.measured, fits.exceeded) == (0, False)
    some = signals(_plan("week 2", None), "plan_deadlines")["deadlines_outside_timeframe"]
    assert (some.measured, some.exceeded) == (0, None)


def test_dates_need_a_stated_start() -> None:
    dated = signals(_plan("2026-03-30"), "plan_deadlines")["deadlines_outside_timeframe"]
    assert (dated.measured, dated.not_measured) == (None, NO_START)
    placed = signals(_plan("2026-03-30", start="2026-02-02"), "plan_deadlines")
    assert placed["deadlines_outside_timeframe"].exceeded is True
    before = signals(_plan("2026-01-30", start="2026-02-02"), "plan_deadlines")
    assert before["deadlines_outside_timeframe"].exceeded is True


def test_without_a_timeframe_nothing_is_outside() -> None:
    found = signals(_plan("week 2", weeks=None), "plan_deadlines")["deadlines_outside_timeframe"]
    assert found.not_measured == "the profile states no timeframe"


def test_one_deadline_for_all() -> None:
    same = signals(_plan("week 4", "Week  4", "week 4"), "plan_deadlines")["same_deadline_for_all"]
    assert (same.measured, same.exceeded) == (True, True)
    assert len(same.spans) == 3
    mixed = signals(_plan("week 4", "week 3", "week 4"), "plan_deadlines")["same_deadline_for_all"]
    assert (mixed.measured, mixed.exceeded, mixed.spans) == (False, False, ())
    few = signals(_plan("week 4", "week 4"), "plan_deadlines")["same_deadline_for_all"]
    assert few.exceeded is None


def test_order() -> None:
    found = signals(_plan("week 3", "week 1", "week 4"), "plan_deadlines")["deadlines_out_of_order"]
    assert (found.measured, found.exceeded, found.criterion) == (1, True, "usefulness")
    assert [one.text for one in found.spans] == ["week 3", "week 1"]
    assert (
        signals(_plan("week 1", "week 1"), "plan_deadlines")["deadlines_out_of_order"].measured == 0
    )
