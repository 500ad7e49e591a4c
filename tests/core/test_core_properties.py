"""What holds of every sheet under every rubric."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from calibrant.core.answer import NotApplicable
from calibrant.core.criterion import Criterion, WeightedCategories
from calibrant.core.rating import Sheet, effective_answers, read_answer, read_sheet
from calibrant.core.rubric import Rubric
from calibrant.core.scoring import Verdict, judge

Answers = dict[str, object]
JUNK: list[object] = ["ERROR", "", None, "not an answer", 10**9, True, ["YES"]]


def some_answer(rubric: Rubric, criterion: Criterion) -> st.SearchStrategy[object]:
    return st.sampled_from([*rubric.scale_of(criterion).points_of_scale, "NA", *JUNK])


@st.composite
def some_answers(draw: st.DrawFn, rubric: Rubric) -> Answers:
    asked = [one for one in rubric.criteria if draw(st.integers(0, 9))]
    return {one.id: draw(some_answer(rubric, one)) for one in asked}


def some_flags(rubric: Rubric) -> st.SearchStrategy[list[str]]:
    ids = [flag.id for flag in rubric.red_flags or ()]
    return st.lists(st.sampled_from(ids), unique=True) if ids else st.just([])


@st.composite
def some_sheet(draw: st.DrawFn, rubric: Rubric) -> Sheet:
    measures = {"exchanges": draw(st.integers(1, 4))} if draw(st.booleans()) else {}
    return read_sheet(rubric, draw(some_answers(rubric)), draw(some_flags(rubric)), measures)


def outcome(verdict: Verdict) -> tuple[object, ...]:
    return (verdict.exact_score, verdict.exact_category_scores, verdict.exact_mean)


@given(data=st.data())
def test_scores_lie_between_nothing_and_everything(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    verdict = judge(rubric, data.draw(some_sheet(rubric)))
    shares = [*verdict.exact_category_scores.values(), verdict.exact_score]
    shares.append(verdict.exact_assessed_weight)
    assert all(0 <= share <= 1 for share in shares if share is not None)
    weighted = isinstance(rubric.aggregation, WeightedCategories)
    assert (verdict.exact_score is not None) == weighted
    assert (verdict.exact_assessed_weight is not None) == weighted


def worth(rubric: Rubric, criterion: Criterion, raw: object) -> Fraction:
    """The score of a rubric that has this one criterion and nothing else."""
    alone = rubric.model_dump()
    alone["criteria"] = [one for one in alone["criteria"] if one["id"] == criterion.id]
    alone["categories"] = [{"id": criterion.category, "title": "Alone", "weight": 1}]
    alone |= {"gates": None, "red_flags": None, "standards": None, "mapping": None}
    single = Rubric.model_validate(alone)
    score = judge(single, read_sheet(single, {criterion.id: raw})).exact_score
    assert score is not None
    return score


@given(data=st.data())
def test_a_better_answer_never_lowers_the_score(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    weighted = rubrics.filter(lambda one: isinstance(one.aggregation, WeightedCategories))
    rubric = data.draw(weighted)
    answers = data.draw(some_answers(rubric))
    criterion = data.draw(st.sampled_from(rubric.criteria))
    one, other = (
        data.draw(some_answer(rubric, criterion)),
        data.draw(some_answer(rubric, criterion)),
    )
    worse, better = sorted([one, other], key=lambda raw: worth(rubric, criterion, raw))
    before = judge(rubric, read_sheet(rubric, answers | {criterion.id: worse})).exact_score
    after = judge(rubric, read_sheet(rubric, answers | {criterion.id: better})).exact_score
    assert before is not None and after is not None
    assert before <= after


@given(data=st.data())
def test_gates_never_change_the_score(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    open_tree = rubric.model_dump() | {"gates": None}
    gated = {one["id"] for one in open_tree["categories"] or () if one["weight"] is None}
    if any(one.category in gated for one in rubric.criteria):  # these count in their gate alone
        return
    sheet = data.draw(some_sheet(rubric))
    without = judge(Rubric.model_validate(open_tree), sheet)
    assert outcome(judge(rubric, sheet)) == outcome(without)
    assert without.gate is None and not without.safety_gate_failed


@given(data=st.data())
def test_answers_of_a_gate_without_weight_leave_the_score_alone(
    coaching: Rubric, data: st.DataObject
) -> None:
    answers = data.draw(some_answers(coaching))
    words = st.sampled_from(["YES", "NO", "NA", "junk"])
    other = answers | {"CQ8": data.draw(words), "CQ9": data.draw(words)}
    verdicts = [judge(coaching, read_sheet(coaching, one)) for one in (answers, other)]
    assert outcome(verdicts[0]) == outcome(verdicts[1])


@given(data=st.data())
def test_na_where_it_is_never_right_counts_nothing_and_is_a_failure(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    strict = [one.id for one in rubric.criteria if one.na.policy == "invalid"]
    answers = data.draw(some_answers(rubric)) | dict.fromkeys(strict, "NA")
    verdict = judge(rubric, read_sheet(rubric, answers))
    as_errors = judge(rubric, read_sheet(rubric, answers | dict.fromkeys(strict, "ERROR")))
    assert outcome(verdict) == outcome(as_errors)
    assert set(strict) <= set(verdict.failed_checks)


@given(data=st.data())
def test_whoever_passes_has_passed_the_gate_and_carries_no_failing_flag(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    verdict = judge(rubric, data.draw(some_sheet(rubric)))
    effects = {rubric.red_flag(name).effect for name in verdict.flags}
    if verdict.passed:
        assert verdict.gate in ("passed", None)
        assert effects <= {"indicate"}
    assert verdict.verdict != "passed" or verdict.passed
    assert verdict.verdict != "failed" or verdict.passed is False
    assert (verdict.gate == "passed") == (bool(rubric.gates) and not verdict.failed_safety)
    assert set(verdict.failed_safety) <= set(verdict.failed_checks)


@given(data=st.data())
def test_a_verdict_is_open_exactly_while_something_is_missing_and_no_flag_decides(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    verdict = judge(rubric, data.draw(some_sheet(rubric)))
    flagged = any(rubric.red_flag(name).effect != "indicate" for name in verdict.flags)
    unanswered = bool(verdict.missing or verdict.errors)
    assert (verdict.status == "incomplete") == unanswered
    unruled = rubric.aggregation.pass_mark is None and not verdict.safety_gate_failed
    least = getattr(rubric.aggregation, "minimum_assessed_weight", None)
    assessed = verdict.exact_assessed_weight
    thin = least is not None and assessed is not None and assessed < Fraction(least)
    is_open = not flagged and (unanswered or unruled or thin)
    assert (verdict.verdict == "undecided") == is_open


@given(data=st.data())
def test_flags_never_touch_what_was_answered(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    answers = data.draw(some_answers(rubric))
    plain = judge(rubric, read_sheet(rubric, answers))
    flagged = judge(rubric, read_sheet(rubric, answers, data.draw(some_flags(rubric))))
    assert flagged.raw == plain.raw
    assert flagged.failed_checks == plain.failed_checks
    assert (flagged.missing, flagged.errors) == (plain.missing, plain.errors)


@given(data=st.data())
def test_indicators_change_nothing_but_the_list_of_flags(
    responses: Rubric, data: st.DataObject
) -> None:
    answers = data.draw(some_answers(responses))
    flags = data.draw(some_flags(responses))
    plain = judge(responses, read_sheet(responses, answers)).to_dict()
    told = judge(responses, read_sheet(responses, answers, flags)).to_dict()
    assert set(told.pop("flags")) == set(flags)
    assert plain.pop("flags") == []
    assert told == plain


@given(data=st.data())
def test_the_order_of_answers_and_flags_does_not_matter(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    answers, flags = data.draw(some_answers(rubric)), data.draw(some_flags(rubric))
    shuffled = dict(data.draw(st.permutations(list(answers.items()))))
    reflagged = data.draw(st.permutations(flags))
    verdict = judge(rubric, read_sheet(rubric, answers, flags))
    assert judge(rubric, read_sheet(rubric, shuffled, reflagged)) == verdict


@given(data=st.data())
def test_a_condition_that_holds_makes_any_answer_na(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    sheet = data.draw(some_sheet(rubric))
    effective = effective_answers(rubric, sheet)
    changed = {name for name in effective if effective[name] is not sheet.answers[name]}
    assert all(isinstance(effective[name], NotApplicable) for name in changed)
    assert all(rubric.criterion(name).precondition for name in changed)
    assert sheet.measures or not changed


@given(raw=st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary())
def test_whatever_comes_in_is_on_the_scale_or_says_why_not(builtin: Rubric, raw: object) -> None:
    criterion = builtin.criteria[0]
    told = str(read_answer(builtin, criterion, raw))
    points = map(str, builtin.scale_of(criterion).points_of_scale)
    assert told in {*points, "NA", "ERROR"}
