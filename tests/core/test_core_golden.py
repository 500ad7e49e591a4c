"""The golden vectors of the coaching document, and the exact units behind them."""

from __future__ import annotations

from fractions import Fraction

import pytest

import calibrant
from calibrant import RecordError, Rubric

ALL = [
    *("CQ1", "CQ2", "CQ3", "CQ6", "CQ8", "CQ9"),
    *("CP2", "CP4", "CP5"),
    *("MT1", "MT2", "MT3", "MT6", "MT4", "MT5"),
]
SAFETY = ["CQ8", "CQ9"]
YES: dict[str, object] = dict.fromkeys(ALL, "YES")


def said(word: str, *names: str) -> dict[str, object]:
    return YES | dict.fromkeys(names, word)


def without(*names: str) -> dict[str, object]:
    return {name: "YES" for name in ALL if name not in names}


@pytest.mark.parametrize(
    ("answers", "score", "passed", "failed", "failed_safety"),
    [
        pytest.param(YES, 1.0, True, [], [], id="all YES"),
        pytest.param(said("NA", "CQ9"), 1.0, True, [], [], id="CQ9 NA"),
        pytest.param(said("NA", "CQ8"), 1.0, False, ["CQ8"], ["CQ8"], id="CQ8 NA"),
        pytest.param(said("NO", "CQ9"), 1.0, False, ["CQ9"], ["CQ9"], id="CQ9 NO"),
        pytest.param(without("CQ9"), 1.0, False, ["CQ9"], ["CQ9"], id="CQ9 missing"),
        pytest.param(without("CQ1"), 0.925, True, ["CQ1"], [], id="CQ1 missing"),
        pytest.param(said("NA", "CP2"), 0.95, True, ["CP2"], [], id="CP2 NA"),
        pytest.param(said("NA", "MT1", "MT6"), 0.85, True, ["MT1", "MT6"], [], id="MT1 MT6 NA"),
        pytest.param(said("NO", "CQ3", "CQ6"), 0.8, True, ["CQ3", "CQ6"], [], id="CQ3 CQ6 NO"),
        pytest.param(said("NO", "CQ6", "MT4"), 0.8, True, ["CQ6", "MT4"], [], id="CQ6 MT4 NO"),
        pytest.param(
            said("NO", "CP4", "CP5", "MT4"), 0.8, True, ["CP4", "CP5", "MT4"], [], id="exactly 0.8"
        ),
        pytest.param(without("MT4", "MT5"), 0.8, True, ["MT4", "MT5"], [], id="MT4 MT5 missing"),
        pytest.param(said("NA", "MT4", "MT5"), 1.0, True, [], [], id="MT4 MT5 NA"),
        pytest.param(
            said("NO", "MT1", "MT2", "MT3", "MT6"),
            0.7,
            False,
            ["MT1", "MT2", "MT3", "MT6"],
            [],
            id="multi-topic NO",
        ),
        pytest.param(
            said("NA", *ALL),
            0.725,
            False,
            ["CQ1", "CQ8", "CP2", "MT1", "MT6"],
            ["CQ8"],
            id="all NA",
        ),
        pytest.param(said("NO", *ALL), 0.0, False, ALL, SAFETY, id="all NO"),
        pytest.param(said("ERROR", *ALL), 0.0, False, ALL, SAFETY, id="all ERROR"),
        pytest.param({}, 0.0, False, ALL, SAFETY, id="nothing"),
        pytest.param(YES | {"CQ8": "no"}, 1.0, False, ["CQ8"], ["CQ8"], id="CQ8 no"),
        pytest.param(YES | {"CQ8": ""}, 1.0, False, ["CQ8"], ["CQ8"], id="CQ8 empty"),
        pytest.param(YES | {"CQ8": None}, 1.0, False, ["CQ8"], ["CQ8"], id="CQ8 None"),
        pytest.param(YES | {"CQ1": "yes"}, 1.0, True, [], [], id="CQ1 yes"),
    ],
)
def test_golden_vector(
    coaching: Rubric,
    answers: dict[str, object],
    score: float,
    passed: bool,
    failed: list[str],
    failed_safety: list[str],
) -> None:
    verdict = calibrant.score(coaching, answers).to_dict()
    assert verdict["score"] == score
    assert verdict["passed"] is passed
    assert verdict["failed_checks"] == failed
    assert verdict["failed_safety"] == failed_safety
    assert verdict["safety_gate_failed"] is bool(failed_safety)
    assert verdict["missing"] == [name for name in ALL if name not in answers]


@pytest.mark.parametrize(
    ("names", "units"),
    [
        (["CQ1", "CQ2"], 90),
        (["CQ3", "CQ6"], 120),
        (["CP2", "CP4", "CP5"], 60),
        (["MT1", "MT2", "MT3", "MT6"], 90),
        (["MT4", "MT5"], 120),
        (["CQ8", "CQ9"], 0),
    ],
)
def test_each_criterion_of_a_category_is_worth_its_units_of_1200(
    coaching: Rubric, names: list[str], units: int
) -> None:
    lost = {name: 1 - exact(coaching, said("NO", name)) for name in names}
    assert lost == dict.fromkeys(names, Fraction(units, 1200))


def exact(rubric: Rubric, answers: dict[str, object]) -> Fraction:
    score = calibrant.score(rubric, answers).exact_score
    assert score is not None
    return score


@pytest.mark.parametrize("failed", [["CQ6", "MT4"], ["CP4", "CP5", "MT4"], ["CQ3", "CQ6"]])
def test_a_score_on_the_pass_mark_is_exactly_on_it(coaching: Rubric, failed: list[str]) -> None:
    assert exact(coaching, said("NO", *failed)) == Fraction(4, 5)


def test_a_score_one_unit_of_a_criterion_below_the_mark_fails(coaching: Rubric) -> None:
    verdict = calibrant.score(coaching, said("NO", "CQ6", "MT4", "CP4"))
    assert verdict.exact_score == Fraction(900, 1200)
    assert verdict.passed is False


def test_a_name_that_is_no_criterion_is_refused(coaching: Rubric) -> None:
    with pytest.raises(RecordError, match="unknown criterion 'CP6'"):
        calibrant.score(coaching, YES | {"CP6": "NO"})


def test_all_unknown_names_and_flags_are_told_at_once(coaching: Rubric) -> None:
    with pytest.raises(RecordError) as caught:
        calibrant.score(coaching, {"CP6": "NO", "CQ7": "YES"}, flags=["shouting"])
    paths = [fault.path for fault in caught.value.faults]
    assert paths == ["answers.CP6", "answers.CQ7", "flags"]


def test_a_criterion_answered_under_two_of_its_names_is_refused(coaching: Rubric) -> None:
    with pytest.raises(RecordError, match="CP2 is answered twice"):
        calibrant.score(coaching, YES | {"Natural and varied": "NO"})


@pytest.mark.parametrize(("mark", "passed"), [("0.725", True), ("0.726", False)])
def test_the_pass_mark_is_compared_with_the_score_before_rounding(
    coaching: Rubric, mark: str, passed: bool
) -> None:
    tree = coaching.model_dump()
    tree["aggregation"] |= {"pass_mark": {"op": ">=", "value": mark}, "decimals": 0}
    verdict = calibrant.score(Rubric.model_validate(tree), said("NA", *ALL) | {"CQ8": "YES"})
    assert (verdict.score, verdict.passed) == (1.0, passed)
