"""Disagreements by the rubric's rule, and which answer is final."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import Rubric
from calibrant.core.answer import ERROR, NA
from calibrant.core.resolution import (
    Apart,
    Final,
    Settlement,
    apart,
    final,
    forced_value,
    panel,
    settled,
)
from calibrant.core.scale import values_as_text

Build = Callable[..., Rubric]
POLICIES = (None, "median_ties_lower", "median", "majority", "strictest")


def ruled(metric: str, policy: str | None = None, **more: str) -> tuple[tuple[str], dict[str, Any]]:
    return ("resolution",), {"metric": metric, "final": policy, **more}


RULES = st.sampled_from(
    [
        None,
        *(ruled("difference", policy)[1] for policy in POLICIES),
        *(ruled("low_agreement", policy)[1] for policy in POLICIES),
        *(ruled("distance", p, op=op, value="1")[1] for p in POLICIES for op in (">", ">=")),
    ]
)


# -- the plans document: more than one point apart


@pytest.mark.parametrize(
    ("answers", "gap", "value"),
    [
        ("5 4", None, "4"),  # a difference of exactly 1 needs no talk; ties go to the lower
        ("4 3", None, "3"),
        ("4 4 5", None, "4"),
        ("5 5 4 4", None, "4"),
        ("3 3", None, "3"),
        ("2", None, "2"),
        ("ERROR 2", None, "2"),
        ("5 3", 2, None),
        ("5 4 2", 3, None),
        ("1 5", 4, None),
        ("5 4 4 4 3", 2, None),
    ],
)
def test_plans_are_talked_through_beyond_one_point(
    plans: Rubric, answers: str, gap: int | None, value: str | None
) -> None:
    given = answers.split()
    found = apart(plans, plans.criteria[0], given, low=False)
    if gap is None:
        assert found is None
    else:
        assert found == Apart("distance", gap, Fraction(gap, 4))
    ended = final(plans, plans.criteria[0], given, low=False)
    assert (ended and ended.value) == value


def test_nobody_answered(builtin: Rubric) -> None:
    for nothing in ([], [ERROR], [ERROR, "nonsense"]):
        assert apart(builtin, builtin.criteria[0], nothing, low=True) is None
        assert final(builtin, builtin.criteria[0], nothing, low=True) is None


@pytest.mark.parametrize(
    ("policy", "answers", "value"),
    [
        ("median", "5 4 2", "4"),
        ("median_ties_lower", "5 4 2", "4"),
        ("median_ties_lower", "5 4", "4"),
        ("median_ties_lower", "5 2", "3"),
        ("median", "5 3", "4"),
        ("median", "5 4", None),
        ("majority", "5 4 4", "4"),
        ("majority", "5 4", None),
        ("majority", "5 5 4 4 1", None),
        ("strictest", "5 4 2", "2"),
        (None, "5 4", None),
    ],
)
def test_policies_on_numbers(
    plans: Rubric, policy: str | None, answers: str, value: str | None
) -> None:
    rule = ruled("distance", policy, op=">", value="9")[1]
    rubric = plans.model_copy(update={"resolution": rule, "panel": policy})
    one, given = rubric.criteria[0], answers.split()
    ended = final(rubric, one, given, low=False)
    assert ended == (None if value is None else Final(value, "within_tolerance"))
    assert panel(rubric, one, given) == value
    found = apart(rubric, one, given, low=False)
    lost = policy is not None and value is None
    assert (found and found.cause) == ("unsettled" if lost else None)


def with_na(small: Build, *edits: Any) -> Rubric:
    return small((("criteria", 1, "na"), {"policy": "valid"}), *edits)


def test_na_against_a_number_is_another_category(small: Build) -> None:
    for policy in POLICIES:
        rubric = with_na(small, ruled("distance", policy, op=">", value="1"))
        depth = rubric.criterion("depth")
        assert apart(rubric, depth, ["NA", "3"], low=False) == Apart("category", None, Fraction(1))
        assert apart(rubric, depth, ["NA", "3", "2"], low=False) == Apart(
            "category", 1, Fraction(1)
        )
        assert final(rubric, depth, ["NA", "3"], low=False) is None
        assert final(rubric, depth, ["NA", "NA"], low=False) == Final(NA, "unanimous")
    rubric = with_na(small, ruled("low_agreement", "median"))
    depth = rubric.criterion("depth")
    assert apart(rubric, depth, ["NA", "3"], low=False) == Apart("category", None, Fraction(1))


def test_na_that_is_no_answer_takes_no_part(small: Build) -> None:
    rubric = small(ruled("distance", op=">", value="1"))
    assert final(rubric, rubric.criterion("depth"), ["NA", "3"], low=False) == Final(
        "3", "unanimous"
    )


def test_any_difference_counts_on_conversations(coaching: Rubric) -> None:
    one = coaching.criterion("CQ9")
    assert apart(coaching, one, ["YES", "NO"], low=False) == Apart("difference", None, Fraction(1))
    assert apart(coaching, one, ["YES", "NA"], low=False) == Apart("difference", None, Fraction(1))
    assert apart(coaching, one, ["YES", "ERROR", "YES"], low=False) is None


def test_words_have_no_distance(small: Build) -> None:
    rubric = small(ruled("distance", op=">", value="1"))
    found = apart(rubric, rubric.criterion("tidy"), ["YES", "NO"], low=False)
    assert found == Apart("difference", None, Fraction(1))


def test_low_agreement_sends_every_difference(responses: Rubric) -> None:
    one = responses.criteria[0]
    assert apart(responses, one, ["5", "4"], low=True) == Apart("low_agreement", 1, Fraction(1, 5))
    assert apart(responses, one, ["5", "5"], low=True) is None
    # agreement is reached, and the document names no policy: nothing is asked and nothing made up
    assert apart(responses, one, ["5", "0"], low=False) is None
    assert final(responses, one, ["5", "0"], low=False) is None


def test_without_a_rule_every_difference_waits(small: Build) -> None:
    rubric = small()
    assert apart(rubric, rubric.criterion("depth"), ["1", "3"], low=False) == Apart(
        "no_rule", 2, Fraction(1)
    )
    assert final(rubric, rubric.criterion("depth"), ["3", "3"], low=False) == Final(
        "3", "unanimous"
    )


@pytest.mark.parametrize(
    ("criterion", "answers", "value"),
    [
        ("tidy", "YES NO YES", "NO"),
        ("tidy", "YES NA", "YES"),
        ("tidy", "NO NA", "NO"),
        ("honest", "YES NA", "NA"),  # NA fails there
        ("honest", "NO NA", "NO"),
        ("harmless", "YES YES NO", "NO"),
        ("depth", "3 2 3", "2"),
    ],
)
def test_the_strictest_answer(small: Build, criterion: str, answers: str, value: str) -> None:
    rubric = small((("panel",), "strictest"))
    assert panel(rubric, rubric.criterion(criterion), answers.split()) == value


def test_answers_worth_the_same_are_equally_strict(small: Build) -> None:
    third = {"value": "SO", "meaning": "So.", "points": "1"}
    rubric = small((("scales", 0, "values", 2), third), (("panel",), "strictest"))
    tidy = rubric.criterion("tidy")
    assert panel(rubric, tidy, ["SO", "YES"]) is None
    assert panel(rubric, tidy, ["SO", "NO"]) == "NO"


def test_a_panel_without_a_policy_must_agree(coaching: Rubric) -> None:
    one = coaching.criteria[0]
    assert panel(coaching, one, ["YES", "YES", "ERROR"]) == "YES"
    assert panel(coaching, one, ["YES", "NO", "YES"]) is None
    assert panel(coaching, one, [ERROR]) is None
    assert panel(coaching, one, []) is None


# -- what holds of all answers


@given(data=st.data(), rule=RULES, low=st.booleans())
def test_answers_are_final_or_wait_for_somebody(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject, rule: dict[str, Any], low: bool
) -> None:
    drawn = data.draw(rubrics)
    rubric = drawn.model_copy(update={"resolution": rule})
    one = data.draw(st.sampled_from(rubric.criteria))
    scale = rubric.scale_of(one)
    texts = [*values_as_text(scale), NA, ERROR]
    answers = data.draw(st.lists(st.sampled_from(texts), max_size=6))
    found, ended = apart(rubric, one, answers, low=low), final(rubric, one, answers, low=low)
    counted = [t for t in answers if t != ERROR and (t != NA or one.na.policy != "excluded")]
    assert found is None or ended is None
    if len(set(counted)) < 2:
        assert found is None
        assert ended == (Final(counted[0], "unanimous") if counted else None)
    elif found is None and ended is None:  # only where the rubric names no policy
        assert rubric.resolution is not None and rubric.resolution.final is None
    if found is not None:
        assert 0 < found.size <= 1
    if ended is not None:
        assert ended.value in texts
    mixed = data.draw(st.permutations(answers))
    assert apart(rubric, one, mixed, low=low) == found
    assert final(rubric, one, mixed, low=low) == ended


@given(answers=st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_the_median_lies_in_the_middle(plans: Rubric, answers: list[int]) -> None:
    rule = ruled("distance", "median_ties_lower", op=">", value="9")[1]
    rubric = plans.model_copy(update={"resolution": rule})
    ended = final(rubric, rubric.criteria[0], map(str, answers), low=False)
    assert ended is not None
    below = sum(one < int(ended.value) for one in answers)
    assert 2 * below <= len(answers)
    assert 2 * sum(one > int(ended.value) for one in answers) <= len(answers)


def test_everybody_apart_on_everything_enters(builtin: Rubric) -> None:
    for one in builtin.criteria:
        ends = values_as_text(builtin.scale_of(one))
        found = apart(builtin, one, [ends[0], ends[-1]], low=True)
        assert found is not None and found.size == 1
        assert final(builtin, one, [ends[0], ends[-1]], low=True) is None


# -- precedence and order


def test_what_counts_in_the_end(plans: Rubric) -> None:
    computed = Final("4", "within_tolerance")
    agreed = Settlement(value="3", how="consensus", by=("a", "b"), reason="Read again.")
    again = Settlement(value="2", how="consensus", by=("a", "b"), reason="Once more.")
    judged = Settlement(value="1", how="adjudicated", by=("c",), reason="They could not agree.")
    assert settled([], None, None) is None
    assert settled([], computed, None) == computed
    assert settled([agreed], computed, None) == Final("3", "consensus")
    assert settled([agreed, again], computed, None) == Final("2", "consensus")
    assert settled([judged, again], computed, None) == Final("1", "adjudicated")
    assert settled([judged], computed, "1") == Final("1", "forced")
    assert forced_value(plans, ["deception"]) == "1"
    assert forced_value(plans, []) is None


def test_flags_that_only_indicate_force_nothing(responses: Rubric) -> None:
    assert forced_value(responses, ["preachy"]) is None
