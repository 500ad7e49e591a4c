"""Phases follow one another, whatever the calendar says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import Rubric
from calibrant.core.errors import UnknownName
from calibrant.core.phases import (
    Facts,
    PhaseState,
    may_finish,
    may_open,
    phase_views,
)
from calibrant.core.process import Condition

START = date(2026, 3, 2)
FIRST, SECOND, MAIN, LAST = "initial_annotation", "calibration", "main_annotation", "final_review"
ALL_DONE = Facts(
    items=500,
    items_rated=500,
    items_rated_by_all=60,
    agreement_computed=True,
    final_agreement_computed=True,
    guidelines_updated=True,
    lessons=3,
    rubric_finalised=True,
)


def states(*done: str, open_: str | None = None) -> dict[str, PhaseState]:
    out: dict[str, PhaseState] = dict.fromkeys(done, "done")
    if open_ is not None:
        out[open_] = "open"
    return out


def test_weeks_become_days(responses: Rubric) -> None:
    views = phase_views(responses, START, START, {}, Facts())
    assert [(one.id, one.first_day, one.last_day) for one in views] == [
        (FIRST, date(2026, 3, 2), date(2026, 3, 15)),
        (SECOND, date(2026, 3, 9), date(2026, 3, 15)),
        (MAIN, date(2026, 3, 16), date(2026, 4, 12)),
        (LAST, date(2026, 4, 13), date(2026, 4, 19)),
    ]
    assert {one.state for one in views} == {"waiting"}
    assert not any(one.warnings for one in views)


def test_a_rubric_without_phases_has_none(plans: Rubric) -> None:
    assert phase_views(plans, START, START, {}, Facts()) == ()
    with pytest.raises(UnknownName, match="unknown phase 'main'"):
        may_open(plans, "main", {}, Facts())


@pytest.mark.parametrize(("rated", "may"), [(0, False), (49, False), (50, True), (100, True)])
def test_calibration_opens_at_fifty_items_of_everybody(
    responses: Rubric, rated: int, may: bool
) -> None:
    facts = Facts(items=500, items_rated_by_all=rated)
    now = states(open_=FIRST)
    assert (may_finish(responses, FIRST, now, facts) == ()) == may
    assert (may_open(responses, SECOND, states(FIRST), facts) == ()) == may
    if not may:
        text = f"{rated} items rated by everybody, of at least 50."
        assert may_finish(responses, FIRST, now, facts) == (text,)
        assert may_open(responses, SECOND, states(FIRST), facts) == (text,)


def test_one_phase_at_a_time(responses: Rubric) -> None:
    facts = ALL_DONE
    assert may_open(responses, FIRST, {}, facts) == ()
    assert may_open(responses, FIRST, states(open_=FIRST), facts) == (
        "Initial annotation is open already.",
    )
    assert may_open(responses, FIRST, states(FIRST), facts) == ("Initial annotation is done.",)
    assert may_open(responses, SECOND, states(open_=FIRST), facts) == (
        "Initial annotation is not done.",
    )
    assert may_open(responses, MAIN, {}, facts) == (
        "Initial annotation is not done.",
        "Calibration is not done.",
    )
    assert may_open(responses, FIRST, states(open_=SECOND), facts) == (
        "Calibration, which comes later, has begun.",
    )
    assert may_finish(responses, MAIN, {}, facts) == ("Main annotation is not open.",)
    assert may_finish(responses, MAIN, states(MAIN), facts) == ("Main annotation is done already.",)


def test_calibration_ends_with_new_guidelines(responses: Rubric) -> None:
    now = states(FIRST, open_=SECOND)
    facts = Facts(disagreements_undiscussed=2)
    assert may_finish(responses, SECOND, now, facts) == (
        "Computing agreement: not yet done.",
        "2 undiscussed disagreements left.",
        "Updating the guidelines: not yet done.",
    )
    assert may_finish(responses, SECOND, now, ALL_DONE) == ()


def test_the_main_phase_ends_with_the_last_item(responses: Rubric) -> None:
    now = states(FIRST, SECOND, open_=MAIN)
    assert may_finish(responses, MAIN, now, replace(ALL_DONE, items_rated=499)) == (
        "499 items rated in full, of 500.",
    )
    assert may_finish(responses, MAIN, now, Facts()) == ("0 items rated in full, of 0.",)
    assert may_finish(responses, MAIN, now, ALL_DONE) == ()


def test_the_review_ends_with_nothing_open(responses: Rubric) -> None:
    now = states(FIRST, SECOND, MAIN, open_=LAST)
    assert may_finish(responses, LAST, now, Facts(cases_open=1, flags_open=1_200)) == (
        "1 unreviewed case left.",
        "1,200 open red flags left.",
        "Computing the final agreement: not yet done.",
        "Writing down what was learned: not yet done.",
        "Settling the final rubric: not yet done.",
    )
    assert may_finish(responses, LAST, now, ALL_DONE) == ()


def with_phases(small: Callable[..., Rubric], *phases: dict[str, Any]) -> Rubric:
    usual = {"weeks": {"first": "1", "last": "1"}, "tasks": ["Rate"]}
    return small((("phases",), [{**usual, "title": one["id"].title(), **one} for one in phases]))


def test_targets_are_met_once_agreement_is_known(small: Callable[..., Rubric]) -> None:
    rubric = with_phases(small, {"id": "only", "exit": ["targets_met"]})
    now = states(open_="only")
    assert may_finish(rubric, "only", now, Facts()) == ("Computing agreement: not yet done.",)
    low = Facts(agreement_computed=True, below_target=("tidy", "depth"))
    assert may_finish(rubric, "only", now, low) == (
        "Agreement is below its target on tidy, depth.",
    )
    assert may_finish(rubric, "only", now, Facts(agreement_computed=True)) == ()


def test_every_condition_can_be_told(small: Callable[..., Rubric]) -> None:
    every = list(get_args(Condition))
    rubric = with_phases(small, {"id": "one"}, {"id": "two", "entry": every, "exit": every})
    for facts, states_, met in ((Facts(), {}, 3), (ALL_DONE, states("one"), len(every))):
        view = phase_views(rubric, START, START, states_, facts)[1]
        assert view.entry == view.exit
        assert sum(one.met for one in view.entry) == met
        assert all(one.text.endswith(".") for one in view.entry)


def test_a_first_phase_has_nothing_before_it(small: Callable[..., Rubric]) -> None:
    rubric = with_phases(small, {"id": "one", "entry": ["previous_phase_done"]})
    assert may_open(rubric, "one", {}, Facts()) == ()


def test_warnings(responses: Rubric) -> None:
    def told(today: date, states_: dict[str, PhaseState], **facts: Any) -> list[str]:
        views = phase_views(responses, START, today, states_, Facts(**facts))
        return [text for one in views for text in one.warnings]

    assert told(date(2026, 3, 15), states(open_=FIRST)) == []
    assert told(date(2026, 3, 16), states(open_=FIRST)) == [
        "Initial annotation is behind: it was to be done by 2026-03-15, 1 day ago.",
        "Calibration is behind: it was to be done by 2026-03-15, 1 day ago.",
    ]
    assert told(date(2026, 3, 16), states(FIRST, SECOND)) == []
    assert told(date(2026, 3, 14), states(FIRST, SECOND, open_=MAIN)) == [
        "Main annotation is early: it was to begin on 2026-03-16, in 2 days."
    ]
    assert told(START, {}, items_planned={FIRST: 49}) == [
        "Initial annotation has 49 items, and needs at least 50."
    ]
    assert told(START, {}, items_planned={FIRST: 101}) == [
        "Initial annotation has 101 items, and is meant for up to 100."
    ]
    assert told(START, {}, items_planned={FIRST: 75, MAIN: 5_000}) == []


def test_a_plan_longer_than_the_calendar(small: Callable[..., Rubric]) -> None:
    rubric = with_phases(small, {"id": "one", "weeks": {"first": "1", "last": "1000000000"}})
    assert phase_views(rubric, START, START, {}, Facts())[0].last_day == date.max


@given(
    data=st.data(),
    days=st.integers(-10, 100),
    rated=st.integers(0, 60),
    left=st.integers(0, 2),
    yes=st.booleans(),
)
def test_moves_lead_through_all_phases_in_order(
    responses: Rubric, data: st.DataObject, days: int, rated: int, left: int, yes: bool
) -> None:
    facts = Facts(
        items=60,
        items_rated=rated,
        items_rated_by_all=rated,
        agreement_computed=yes,
        final_agreement_computed=yes,
        guidelines_updated=yes,
        cases_open=left,
        lessons=left,
        rubric_finalised=yes,
    )
    names = [one.id for one in responses.phases or ()]
    now: dict[str, PhaseState] = {}
    for _ in range(12):
        name = data.draw(st.sampled_from(names))
        openable = not may_open(responses, name, now, facts)
        finishable = not may_finish(responses, name, now, facts)
        assert not (openable and finishable)
        if openable:
            now[name] = "open"
        elif finishable:
            now[name] = "done"
        order = [{"done": 0, "open": 1, "waiting": 2}[now.get(one, "waiting")] for one in names]
        assert order == sorted(order) and order.count(1) <= 1
        views = phase_views(responses, START, START + timedelta(days=days), now, facts)
        for view in views:
            assert view.state == now.get(view.id, "waiting")
            if view.state == "open":
                met = all(one.met for one in view.exit)
                assert met == (not may_finish(responses, view.id, now, facts))
