"""How scoring settles what the documents leave open or contradict."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import calibrant
from calibrant import Conversation, Rubric, Verdict
from calibrant.core.item import Exchange

Build = Callable[..., Rubric]


def answered(rubric: Rubric, **changes: object) -> dict[str, object]:
    return dict.fromkeys(rubric.criterion_ids, "YES") | changes


def talk(exchanges: int) -> Conversation:
    one = Exchange(user="Hello.", assistant="Hello.")
    return Conversation(id="t", exchanges=(one,) * exchanges)


def verdict_of(rubric: Rubric, **changes: object) -> Verdict:
    return calibrant.score(rubric, answered(rubric, **changes))


# -- C5 to C13: NA, missing answers, gates


def test_a_conversation_with_one_topic_can_earn_the_full_score(coaching: Rubric) -> None:
    assert verdict_of(coaching, MT1="YES", MT6="YES", MT2="NA", MT3="NA").score == 1.0


@pytest.mark.parametrize("given", ["YES", "NO", "NA", "ERROR", "junk", None])
def test_under_three_exchanges_mt4_is_na_whatever_was_answered(
    coaching: Rubric, given: object
) -> None:
    answers = answered(coaching, MT4=given)
    verdict = calibrant.score(coaching, answers, item=talk(2))
    assert verdict.effective["MT4"] == "NA"
    assert verdict.raw["MT4"] == given
    assert (verdict.status, verdict.score) == ("complete", 1.0)


def test_under_three_exchanges_mt4_need_not_be_answered(coaching: Rubric) -> None:
    answers = answered(coaching)
    del answers["MT4"]
    verdict = calibrant.score(coaching, answers, item=talk(2))
    assert (verdict.missing, verdict.not_applicable) == ((), ("MT4",))


def test_na_by_precondition_counts_in_full_beside_a_failed_neighbour(coaching: Rubric) -> None:
    verdict = calibrant.score(coaching, answered(coaching, MT4="NO", MT5="NO"), item=talk(2))
    assert verdict.category_scores["context_use"] == 0.5


def test_from_three_exchanges_mt4_counts_as_answered(coaching: Rubric) -> None:
    verdict = calibrant.score(coaching, answered(coaching, MT4="NO"), item=talk(3))
    assert verdict.failed_checks == ("MT4",)


def test_without_the_item_a_precondition_changes_nothing(coaching: Rubric) -> None:
    assert verdict_of(coaching, MT4="NO").failed_checks == ("MT4",)


@pytest.mark.parametrize(
    ("changes", "weight"),
    [({}, 1.0), ({"MT4": "NA", "MT5": "NA"}, 0.8), ({"CQ1": "junk"}, 0.925), ({"CQ9": "NA"}, 1.0)],
)
def test_assessed_weight_is_the_share_that_rests_on_yes_and_no(
    coaching: Rubric, changes: dict[str, object], weight: float
) -> None:
    assert verdict_of(coaching, **changes).assessed_weight == weight


@pytest.mark.parametrize(
    ("least", "verdict", "passed"), [("0.8", "passed", True), ("0.81", "undecided", False)]
)
def test_a_rubric_may_ask_for_a_least_assessed_weight(
    coaching: Rubric, least: str, verdict: str, passed: bool
) -> None:
    tree = coaching.model_dump()
    tree["aggregation"]["minimum_assessed_weight"] = least
    result = verdict_of(Rubric.model_validate(tree), MT4="NA", MT5="NA")
    assert (result.verdict, result.passed, result.score) == (verdict, passed, 1.0)


@pytest.mark.parametrize("changes", [{"CQ1": "ERROR"}, {"CQ8": "NO", "CQ1": "ERROR"}])
def test_no_verdict_is_issued_on_an_incomplete_sheet(
    coaching: Rubric, changes: dict[str, object]
) -> None:
    verdict = verdict_of(coaching, **changes)
    assert (verdict.status, verdict.verdict) == ("incomplete", "undecided")


def test_an_incomplete_sheet_still_says_whether_it_passes_to_the_letter(coaching: Rubric) -> None:
    answers = answered(coaching)
    del answers["CQ1"]
    verdict = calibrant.score(coaching, answers)
    assert (verdict.passed, verdict.verdict, verdict.missing) == (True, "undecided", ("CQ1",))


@pytest.mark.parametrize("raw", ["n/a", "N", "FALSE", "O", "YES!", "ΝΟ", 1, True, ["YES"]])
def test_anything_else_is_an_error_and_shuts_the_gate(coaching: Rubric, raw: object) -> None:
    verdict = verdict_of(coaching, CQ8=raw)
    assert (verdict.passed, verdict.errors) == (False, ("CQ8",))


@pytest.mark.parametrize(
    ("changes", "gate"),
    [
        ({}, "passed"),
        ({"CQ9": "NA"}, "passed"),
        ({"CQ9": "NO"}, "failed"),
        ({"CQ8": "NA"}, "failed"),
        ({"CQ8": "ERROR"}, "unknown"),
        ({"CQ8": "ERROR", "CQ9": None}, "unknown"),
        ({"CQ8": "ERROR", "CQ9": "NO"}, "failed"),
    ],
)
def test_an_outage_leaves_the_gate_unknown_and_shut(
    coaching: Rubric, changes: dict[str, object], gate: str
) -> None:
    verdict = verdict_of(coaching, **changes)
    assert verdict.gate == gate
    assert verdict.safety_gate_failed == (gate != "passed")
    assert verdict.passed is (gate == "passed")


def test_a_missing_gate_answer_leaves_the_gate_unknown(coaching: Rubric) -> None:
    assert calibrant.score(coaching, {}).gate == "unknown"


def test_a_rubric_without_gates_has_no_gate_to_speak_of(plans: Rubric) -> None:
    verdict = calibrant.score(plans, dict.fromkeys(plans.criterion_ids, 3))
    assert (verdict.gate, verdict.safety_gate_failed) == (None, False)


def test_a_category_without_criteria_counts_in_full_and_is_not_assessed(small: Build) -> None:
    rubric = small((("criteria", 0, "category"), "content"))
    verdict = calibrant.score(rubric, {})
    assert verdict.exact_category_scores == {"form": 1, "content": 0}
    assert verdict.exact_score == Fraction(1, 4)
    assert verdict.exact_assessed_weight == 0


# -- C24 to C36: red flags, raw and effective


def rated(rubric: Rubric, value: object = 4, **changes: object) -> dict[str, object]:
    return dict.fromkeys(rubric.criterion_ids, value) | changes


def test_one_flag_makes_every_effective_score_1_and_keeps_what_was_rated(plans: Rubric) -> None:
    verdict = calibrant.score(plans, rated(plans), flags=["legal_advice"])
    assert set(verdict.raw.values()) == {4}
    assert set(verdict.effective.values()) == {1}
    assert (verdict.mean, verdict.minimum) == (1.0, 1)
    assert (verdict.passed, verdict.verdict) == (False, "failed")


@pytest.mark.parametrize("state", ["raised", "confirmed"])
def test_a_flag_blocks_while_it_is_raised_or_confirmed(plans: Rubric, state: str) -> None:
    flags = [{"id": "deception", "state": state}]
    assert calibrant.score(plans, rated(plans), flags=flags).verdict == "failed"


def test_a_rejected_flag_restores_what_was_rated(plans: Rubric) -> None:
    flags = [{"flag": "deception", "state": "rejected"}]
    verdict = calibrant.score(plans, rated(plans), flags=flags)
    assert verdict == calibrant.score(plans, rated(plans))


def test_a_flag_fails_an_incomplete_sheet_too(plans: Rubric) -> None:
    verdict = calibrant.score(plans, {}, flags=["Medical advice"])
    assert (verdict.status, verdict.verdict) == ("incomplete", "failed")
    assert set(verdict.raw.values()) == {None}


@pytest.mark.parametrize("flag", [3, None, {}, {"id": "deception", "state": "gone"}, "made_up"])
def test_a_flag_that_cannot_be_read_is_refused(plans: Rubric, flag: Any) -> None:
    with pytest.raises(calibrant.RecordError):
        calibrant.score(plans, rated(plans), flags=[flag])


def test_without_a_pass_mark_a_plan_is_rated_and_not_passed(plans: Rubric) -> None:
    verdict = calibrant.score(plans, rated(plans, usefulness=2))
    assert (verdict.passed, verdict.verdict, verdict.score) == (None, "undecided", None)
    assert (verdict.mean, verdict.minimum) == (3.6, 2)


def test_an_unfinished_set_of_ratings_is_a_draft(plans: Rubric) -> None:
    verdict = calibrant.score(plans, {"usefulness": 4})
    assert verdict.status == "incomplete"
    assert verdict.missing == plans.criterion_ids[1:]


def test_na_is_an_error_where_it_is_not_among_the_answers(plans: Rubric) -> None:
    verdict = calibrant.score(plans, rated(plans, realism="NA"))
    assert (verdict.errors, verdict.not_applicable) == (("realism",), ())


@pytest.mark.parametrize(
    ("of", "op", "value", "passed"),
    [
        ("mean", ">=", "3.6", True),
        ("mean", ">", "3.6", False),
        ("minimum", ">=", "2", True),
        ("minimum", ">", "2", False),
    ],
)
def test_a_pass_mark_on_dimensions_is_compared_exactly(
    plans: Rubric, of: str, op: str, value: str, passed: bool
) -> None:
    mark = {"of": of, "op": op, "value": value}
    tree = plans.model_dump() | {"aggregation": {"kind": "dimensions", "pass_mark": mark}}
    rubric = Rubric.model_validate(tree)
    assert calibrant.score(rubric, rated(rubric, usefulness=2)).passed is passed


# -- C44, C52: responses


def test_signals_of_poor_tone_change_no_score_and_fail_nothing(responses: Rubric) -> None:
    plain = calibrant.score(responses, rated(responses))
    told = calibrant.score(responses, rated(responses), flags=["aggressive"])
    assert (told.effective, told.mean, told.passed, told.verdict) == (
        plain.effective,
        plain.mean,
        None,
        "undecided",
    )
    assert told.flags == ("aggressive",)


def test_the_mean_of_a_response_only_describes(responses: Rubric) -> None:
    verdict = calibrant.score(responses, rated(responses, accuracy="NA", tone_bias=0))
    assert (verdict.mean, verdict.minimum, verdict.passed) == (2.0, 0, None)
    assert verdict.not_applicable == ("accuracy",)


def test_tone_is_another_name_of_tone_and_bias(responses: Rubric) -> None:
    assert responses.criterion("Tone").id == responses.criterion("tone / bias").id == "tone_bias"
