"""Answers and a rubric become a verdict, one sheet at a time, in exact arithmetic.

``stats.scorebook`` does the same for millions of sheets; both must always agree, and a
property test holds them to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from calibrant.core.answer import NA, Abstained, Answer, Given, Missing, NotApplicable
from calibrant.core.criterion import Criterion, RedFlag, WeightedCategories
from calibrant.core.document import holds
from calibrant.core.item import Item
from calibrant.core.rating import Sheet, effective_answers, read_answer, read_sheet
from calibrant.core.rubric import Rubric
from calibrant.core.scale import OrdinalScale

Status: TypeAlias = Literal["complete", "incomplete"]
Outcome: TypeAlias = Literal["passed", "failed", "undecided"]
GateState: TypeAlias = Literal["passed", "failed", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a sheet amounts to under a rubric, and why.

    ``passed`` follows the rubric's rule to the letter, with errors and missing answers counted
    as failures. ``verdict`` is undecided as long as answers are missing or in error, so that
    an outage is not mistaken for a finding about the item.
    """

    status: Status
    verdict: Outcome
    passed: bool | None
    """None where the rubric states no pass mark."""
    exact_score: Fraction | None
    exact_category_scores: Mapping[str, Fraction]
    exact_mean: Fraction | None
    minimum: int | None
    failed_checks: tuple[str, ...]
    """Criteria answered with a failing answer, an invalid NA, an error, or not at all."""
    failed_safety: tuple[str, ...]
    """Those of them that fail a gate."""
    gate: GateState | None
    """``failed`` only by an answer; ``unknown`` while gate answers are missing or in error."""
    missing: tuple[str, ...]
    errors: tuple[str, ...]
    not_applicable: tuple[str, ...]
    exact_assessed_weight: Fraction | None
    """The share of the weight that rests on answers other than NA and errors."""
    flags: tuple[str, ...]
    unread: tuple[str, ...] | None
    """What was handed in where a number of an ordinal scale is wanted, each with its criterion;
    None where the rubric has no such scale. On other scales ``raw`` itself shows it."""
    raw: Mapping[str, str | int | None]
    """As answered; what was handed in, where it is no answer."""
    effective: Mapping[str, str | int | None]
    """As counted: after preconditions and red flags."""
    decimals: int

    @property
    def safety_gate_failed(self) -> bool:
        """Whether a gate keeps the item out; it fails closed."""
        return bool(self.failed_safety)

    @property
    def score(self) -> float | None:
        """The score, rounded for display."""
        return rounded(self.exact_score, self.decimals)

    @property
    def category_scores(self) -> dict[str, float | None]:
        """Scores by category, rounded for display."""
        scores = self.exact_category_scores.items()
        return {name: rounded(score, self.decimals) for name, score in scores}

    @property
    def mean(self) -> float | None:
        """Mean of the dimensions, rounded for display."""
        return rounded(self.exact_mean, self.decimals)

    @property
    def assessed_weight(self) -> float | None:
        """Share of the weight that was assessed, rounded for display."""
        return rounded(self.exact_assessed_weight, self.decimals)

    def to_dict(self) -> dict[str, Any]:
        """The record that ``calibrant score`` writes, without id and rater."""
        dimensions = {"mean": self.mean, "minimum": self.minimum}
        return {
            "status": self.status,
            "verdict": self.verdict,
            "passed": self.passed,
            "score": self.score,
            **({} if self.exact_score is not None else dimensions),
            "category_scores": self.category_scores,
            "failed_checks": list(self.failed_checks),
            "failed_safety": list(self.failed_safety),
            "safety_gate_failed": self.safety_gate_failed,
            "gate": self.gate,
            "missing": list(self.missing),
            "errors": list(self.errors),
            **({} if self.unread is None else {"unread": list(self.unread)}),
            "not_applicable": list(self.not_applicable),
            "assessed_weight": self.assessed_weight,
            "flags": list(self.flags),
            "raw": dict(self.raw),
            "effective": dict(self.effective),
        }


def rounded(value: Fraction | None, decimals: int) -> float | None:
    """``value`` for display; exact halves go to the even digit."""
    if value is None:
        return None
    return float(round(value, decimals))


def score(
    rubric: Rubric,
    answers: Mapping[str, object],
    *,
    flags: Iterable[object] = (),
    item: Item | None = None,
) -> Verdict:
    """The verdict on raw answers by criterion name; raises ``RecordError`` on unknown names.

    Give the ``item`` to have the rubric's preconditions applied.
    """
    if not isinstance(rubric, Rubric):
        raise TypeError(f"a Rubric is wanted, not {rubric!r}: calibrant.load_rubric reads one")
    measures = item.measures() if item is not None else None
    return judge(rubric, read_sheet(rubric, answers, flags, measures))


def judge(rubric: Rubric, sheet: Sheet) -> Verdict:
    """The verdict on a sheet."""
    answers = effective_answers(rubric, sheet)
    missing, errors = _having(answers, Missing), _having(answers, Abstained)
    complete = not missing and not errors
    flags = [rubric.red_flag(name) for name in sheet.flags]
    counted = _forced(rubric, flags) or answers
    gate, failed_safety = _gate(rubric, answers)
    tally = _tally(rubric, counted)
    passed = _passed(rubric, tally, flags, bool(failed_safety))
    return Verdict(
        status="complete" if complete else "incomplete",
        verdict=_outcome(rubric, passed, complete, flags, tally),
        passed=passed,
        exact_score=tally.score,
        exact_category_scores=tally.categories,
        exact_mean=tally.mean,
        minimum=tally.minimum,
        failed_checks=tuple(
            one.id for one in rubric.criteria if _fails(rubric, one, answers[one.id])
        ),
        failed_safety=failed_safety,
        gate=gate,
        missing=missing,
        errors=errors,
        unread=_unread(rubric, sheet.answers),
        not_applicable=_having(answers, NotApplicable),
        exact_assessed_weight=tally.assessed,
        flags=sheet.flags,
        raw={one.id: _as_given(rubric, one, sheet.answers[one.id]) for one in rubric.criteria},
        effective={one.id: _as_counted(rubric, one, counted[one.id]) for one in rubric.criteria},
        decimals=rubric.aggregation.decimals,
    )


def _unread(rubric: Rubric, answers: Mapping[str, Answer]) -> tuple[str, ...] | None:
    """What could not be read as a number, for people to look at."""
    ordinal = [one.id for one in rubric.criteria if rubric.scale_of(one).level == "ordinal"]
    found = ((name, answers[name]) for name in ordinal)
    told = tuple(
        f"{name}: {answer.given}"
        for name, answer in found
        if isinstance(answer, Abstained) and answer.given is not None
    )
    return told if ordinal else None


def _having(answers: Mapping[str, Answer], kind: type[Answer]) -> tuple[str, ...]:
    return tuple(name for name, answer in answers.items() if isinstance(answer, kind))


def _forced(rubric: Rubric, flags: Iterable[RedFlag]) -> dict[str, Answer] | None:
    """All answers as a red flag forces them, if one does."""
    for flag in flags:
        if flag.forced_value is not None:
            return {one.id: read_answer(rubric, one, flag.forced_value) for one in rubric.criteria}
    return None


def _fails(rubric: Rubric, criterion: Criterion, answer: Answer) -> bool:
    match answer:
        case Given(value):
            return value in rubric.failing_values(criterion)
        case NotApplicable():
            return criterion.na.policy != "valid"
        case _:
            return True


def _gate(
    rubric: Rubric, answers: Mapping[str, Answer]
) -> tuple[GateState | None, tuple[str, ...]]:
    """Whether the gates stand, and the criteria that keep them shut."""
    if not rubric.gates:
        return None, ()
    shut = {
        name
        for gate in rubric.gates
        for name in gate.criteria
        if _shuts(rubric, gate.fails_on, rubric.criterion(name), answers[name])
    }
    failed = tuple(name for name in rubric.criterion_ids if name in shut)
    if not failed:
        return "passed", ()
    unknown = all(isinstance(answers[name], Abstained | Missing) for name in failed)
    return ("unknown" if unknown else "failed"), failed


def _shuts(rubric: Rubric, fails_on: tuple[str, ...], criterion: Criterion, answer: Answer) -> bool:
    if isinstance(answer, Given):
        return str(answer.value) in fails_on
    return _fails(rubric, criterion, answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tally:
    """What the counted answers add up to, by the rubric's aggregation."""

    score: Fraction | None = None
    categories: Mapping[str, Fraction] = field(default_factory=dict)
    assessed: Fraction | None = None
    mean: Fraction | None = None
    minimum: int | None = None


def _tally(rubric: Rubric, answers: Mapping[str, Answer]) -> _Tally:
    if isinstance(rubric.aggregation, WeightedCategories):
        return _weighted(rubric, rubric.aggregation, answers)
    points = [
        answer.value
        for answer in answers.values()
        if isinstance(answer, Given) and isinstance(answer.value, int)
    ]
    if not points:
        return _Tally()
    return _Tally(mean=Fraction(sum(points), len(points)), minimum=min(points))


def _weighted(rubric: Rubric, rule: WeightedCategories, answers: Mapping[str, Answer]) -> _Tally:
    """Mean of the criteria in each category, weighted sum of the categories."""
    categories: dict[str, Fraction] = {}
    total = assessed = Fraction(0)
    for category in rubric.categories or ():
        if category.weight is None:
            continue
        criteria = rubric.criteria_of(category.id)
        worths = [_worth(rubric, rule, one, answers[one.id]) for one in criteria]
        given = [one for one in criteria if isinstance(answers[one.id], Given)]
        # a category nobody put a criterion in counts in full, as the coaching document has it
        categories[category.id] = sum(worths, Fraction(0)) / len(worths) if worths else Fraction(1)
        total += categories[category.id] * Fraction(category.weight)
        if criteria:
            assessed += Fraction(category.weight) * Fraction(len(given), len(criteria))
    return _Tally(score=total, categories=categories, assessed=assessed)


def _worth(
    rubric: Rubric, rule: WeightedCategories, criterion: Criterion, answer: Answer
) -> Fraction:
    match answer:
        case Given(value):
            return rubric.scale_of(criterion).worth(value) or Fraction(0)
        case NotApplicable():
            valid = criterion.na.policy == "valid"
            return Fraction(rule.na_counts if valid else rule.invalid_na_counts)
        case _:
            return Fraction(rule.error_counts)


def _fails_by_flag(flags: Iterable[RedFlag]) -> bool:
    return any(flag.effect != "indicate" for flag in flags)


def _passed(
    rubric: Rubric, tally: _Tally, flags: Iterable[RedFlag], gate_shut: bool
) -> bool | None:
    """The rubric's rule to the letter; None where it states no pass mark."""
    if gate_shut or _fails_by_flag(flags):
        return False
    rule = rubric.aggregation
    if rule.pass_mark is None:
        return None
    if isinstance(rule, WeightedCategories):
        reached = tally.score
    else:
        reached = tally.mean if rule.pass_mark.of == "mean" else _fraction(tally.minimum)
    if reached is None or _too_little_assessed(rubric, tally):
        return False
    return holds(reached, rule.pass_mark.op, rule.pass_mark.value)


def _fraction(value: int | None) -> Fraction | None:
    return None if value is None else Fraction(value)


def _too_little_assessed(rubric: Rubric, tally: _Tally) -> bool:
    rule = rubric.aggregation
    if not isinstance(rule, WeightedCategories) or rule.minimum_assessed_weight is None:
        return False
    return tally.assessed is None or tally.assessed < Fraction(rule.minimum_assessed_weight)


def _outcome(
    rubric: Rubric,
    passed: bool | None,
    complete: bool,
    flags: Iterable[RedFlag],
    tally: _Tally,
) -> Outcome:
    """A red flag fails at once; otherwise only a complete sheet is decided."""
    if _fails_by_flag(flags):
        return "failed"
    if not complete or passed is None or _too_little_assessed(rubric, tally):
        return "undecided"
    return "passed" if passed else "failed"


def _as_given(rubric: Rubric, criterion: Criterion, answer: Answer) -> str | int | None:
    """As it came in; on an ordinal scale only a point of the scale can be shown."""
    match answer:
        case Given(value):
            return value
        case _ if isinstance(rubric.scale_of(criterion), OrdinalScale):
            return None
        case Abstained(given=given):
            return given
        case Missing():
            return None
        case NotApplicable():
            return NA


def _as_counted(rubric: Rubric, criterion: Criterion, answer: Answer) -> str | int | None:
    match answer:
        case Given(value):
            return value
        case _ if isinstance(rubric.scale_of(criterion), OrdinalScale):
            return None
        case _:
            return str(answer)
