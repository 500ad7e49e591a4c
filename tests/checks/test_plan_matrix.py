"""The SMART matrix shows what stands in the words of each action, and suggests no level."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import plan, signals

from calibrant.core.item import Action
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.signal import Hint

FULL = Action(
    action="Phone three garden firms and ask for a trial day",
    metric="firms phoned",
    target="3",
    deadline="end of week 2",
    rationale="Garden firms hire from trial days.",
    effort_estimate="2 hours in total",
    first_step="Look up one number.",
)
EMPTY = Action(action="Improve your chances", deadline="soon", effort_estimate="not much")


def test_a_full_action_meets_all_five() -> None:
    found = signals(plan(FULL, goal="a job in a garden"), "plan_matrix")
    assert found["matrix"].measured == "SMART"
    assert {name: found[name].spans[0].text for name in
            ("specific", "measurable", "achievable", "relevant", "time_bound")} == {
        "specific": "Phone",
        "measurable": "3",
        "achievable": "2 hours in total",
        "relevant": "Garden",
        "time_bound": "week 2",
    }  # fmt: skip
    assert all(one.suggestion is None for one in found.values())


def test_what_is_missing_is_told_by_action_and_no_level_is_suggested() -> None:
    found = signals(plan(FULL, EMPTY, goal="a job in a garden"), "plan_matrix")
    assert found["matrix"].measured == "SMART ....."
    for name in ("specific", "measurable", "achievable", "relevant", "time_bound"):
        one = found[name]
        assert (one.measured, one.exceeded, one.criterion) == (0.5, True, "smart_adherence")
        assert isinstance(one.suggestion, Hint)
        assert one.suggestion.text.endswith("not in action 2")
    assert not signals(plan(FULL, EMPTY), "plan_matrix", share="0.5")["specific"].exceeded


@pytest.mark.parametrize(
    ("action", "letters"),
    [
        ("Write two letters", "SM..."),
        ("Writing two letters by Friday", "SM..T"),
        ("Underwrite nothing", "....."),  # words, not substrings
        ("Apply daily", "SM..."),
        ("Focus on success", "....."),
        ("Increase your calls by phoning ten firms a week", "SM..."),
        ("Increase your calls by phoning firms", "....."),
        ("Read chapter 3", "S...."),  # the number of a chapter measures nothing
        ("Call the firm at 10 am", "S...."),
        ("Send it by 14 March", "S...T"),
        ("Send it (confidence 8/10)", "S.A.."),
        ("Send half of the letters by week 3", "SM..T"),
    ],
)
def test_cells(action: str, letters: str) -> None:
    assert signals(plan(action, goal="x"), "plan_matrix")["matrix"].measured == letters


def test_the_goal_is_a_link_where_it_is_named() -> None:
    baker = plan(Action(action="Visit a shop", rationale="A baker starts there"), goal="be a baker")
    assert signals(baker, "plan_matrix")["relevant"].spans[0].text == "baker"
    other = plan(Action(action="Visit a shop", rationale="A good idea"), goal="be a baker")
    assert signals(other, "plan_matrix")["relevant"].spans == ()


def test_other_languages_are_not_measured() -> None:
    german = plan(
        "Schreiben Sie drei Briefe und rufen Sie bis Freitag bei der Firma an, die Sie mögen"
    )
    found = signals(german, "plan_matrix")
    assert {one.not_measured for one in found.values()} == {NOT_COVERED}
