"""Disagreements and final answers, for one item and one criterion.

Answers come as they are stored: a value of the scale, ``NA`` or ``ERROR``. An error is no answer
and takes no part. NA is one, of another kind than any number. The rubric says when answers are too
far apart, and what is final where they are not; what it does not say is not made up here.
``compare.finals`` does the same for a whole study.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from calibrant.core.answer import NA, Given, NotApplicable, Value
from calibrant.core.criterion import Criterion, WeightedCategories
from calibrant.core.document import holds
from calibrant.core.process import Policy, Resolution
from calibrant.core.rating import read_answer
from calibrant.core.rubric import Rubric
from calibrant.core.scale import OrdinalScale

Cause: TypeAlias = Literal[
    "category", "distance", "difference", "low_agreement", "unsettled", "no_rule"
]
"""``category``: NA against a number; ``distance``, ``difference``, ``low_agreement``: as the
rubric's rule has it; ``unsettled``: the rule asks for no resolution, yet its policy comes to no
answer; ``no_rule``: the rubric has no rule."""
Decided: TypeAlias = Literal["consensus", "adjudicated"]
Provenance: TypeAlias = Literal[
    "unanimous", "within_tolerance", "consensus", "adjudicated", "forced"
]


@dataclass(frozen=True, slots=True)
class Apart:
    """Answers that somebody must resolve."""

    cause: Cause
    gap: int | None
    """Highest minus lowest number, where two or more gave one."""
    size: Fraction
    """The gap as a share of the scale; answers of different kinds are 1 apart."""


@dataclass(frozen=True, slots=True)
class Final:
    """The answer that counts for an item, and how it came about."""

    value: str
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What people made of a disagreement; the answers they gave before stay as they are."""

    value: str
    how: Decided
    by: tuple[str, ...]
    """Who took part, or who decided."""
    reason: str


# -- disagreements


def apart(
    rubric: Rubric, criterion: Criterion, answers: Iterable[str], *, low: bool
) -> Apart | None:
    """Whether the answers need resolving, and how far apart they are.

    ``low`` tells whether agreement on the criterion is below its target.
    """
    given = _given(rubric, criterion, answers)
    if len(set(given)) < 2:
        return None
    cause = _cause(rubric, criterion, given, low=low)
    if cause is None:
        return None
    gap, scale = _gap(given), rubric.scale_of(criterion)
    if gap is None or NA in given or not isinstance(scale, OrdinalScale):
        return Apart(cause, gap, Fraction(1))
    return Apart(cause, gap, Fraction(gap, scale.maximum - scale.minimum))


def _given(rubric: Rubric, criterion: Criterion, answers: Iterable[str]) -> list[Value]:
    """The answers among what was handed in, NA being one."""
    given: list[Value] = []
    for text in answers:
        match read_answer(rubric, criterion, text):
            case Given(value):
                given.append(value)
            case NotApplicable():
                given.append(NA)
    return given


def _gap(given: Sequence[Value]) -> int | None:
    numbers = [value for value in given if isinstance(value, int)]
    return max(numbers) - min(numbers) if len(numbers) > 1 else None


def _cause(
    rubric: Rubric, criterion: Criterion, given: Sequence[Value], *, low: bool
) -> Cause | None:
    """Why answers that differ need resolving, if they do."""
    rule = rubric.resolution
    if rule is None:
        return "no_rule"
    found = _triggered(rule, given, low=low)
    if found is not None or rule.final is None:
        return found
    if _by_policy(rubric, criterion, rule.final, given) is not None:
        return None
    return "category" if _mixed(given) else "unsettled"


def _triggered(rule: Resolution, given: Sequence[Value], *, low: bool) -> Cause | None:
    match rule.metric:
        case "difference":
            return "difference"
        case "low_agreement":
            return "low_agreement" if low else None
    if _mixed(given):
        return "category"
    gap = _gap(given)
    if gap is None:  # words have no distance: unlike ones are as far apart as can be
        return "difference"
    assert rule.op is not None and rule.value is not None  # they go with the metric
    return "distance" if holds(gap, rule.op, rule.value) else None


def _mixed(given: Sequence[Value]) -> bool:
    """Whether NA stands against numbers."""
    return NA in given and any(isinstance(value, int) for value in given)


# -- final answers


def final(
    rubric: Rubric, criterion: Criterion, answers: Iterable[str], *, low: bool
) -> Final | None:
    """The final answer where nothing needs resolving.

    None where something does, where nobody answered, and where answers differ and the rubric
    names no policy.
    """
    given = _given(rubric, criterion, answers)
    if not given:
        return None
    if len(set(given)) == 1:
        return Final(str(given[0]), "unanimous")
    rule = rubric.resolution
    if rule is None or rule.final is None or _triggered(rule, given, low=low) is not None:
        return None
    value = _by_policy(rubric, criterion, rule.final, given)
    return None if value is None else Final(str(value), "within_tolerance")


def panel(
    rubric: Rubric, criterion: Criterion, answers: Iterable[str], policy: Policy | None = None
) -> str | None:
    """Several judges as one answer, by ``policy`` or else the rubric's ``panel``; None: no answer.

    Without a policy only judges who all say the same are one.
    """
    given, policy = _given(rubric, criterion, answers), policy or rubric.panel
    if len(set(given)) == 1:
        return str(given[0])
    if not given or policy is None:
        return None
    value = _by_policy(rubric, criterion, policy, given)
    return None if value is None else str(value)


def _by_policy(
    rubric: Rubric, criterion: Criterion, policy: Policy, given: Sequence[Value]
) -> Value | None:
    """What a policy makes of answers; None where it comes to none."""
    match policy:
        case "majority":
            (most, times), *rest = Counter(given).most_common(2)
            return None if rest and rest[0][1] == times else most
        case "strictest":
            return _strictest(rubric, criterion, given)
        case "median" | "median_ties_lower":
            numbers = sorted(value for value in given if isinstance(value, int))
            if len(numbers) < len(given):
                return None
            middle = (len(numbers) - 1) // 2
            both = numbers[middle] + numbers[len(numbers) // 2]
            # half a point is on no scale: one policy takes the lower, the other knows no answer
            return both // 2 if policy == "median_ties_lower" or both % 2 == 0 else None


def _strictest(rubric: Rubric, criterion: Criterion, given: Sequence[Value]) -> Value | None:
    """A failing answer before all others, then what is worth least; None where two are alike."""
    ranked = sorted((_leniency(rubric, criterion, value), str(value)) for value in set(given))
    if len(ranked) > 1 and ranked[0][0] == ranked[1][0]:
        return None
    return ranked[0][1]


def _leniency(rubric: Rubric, criterion: Criterion, value: Value) -> tuple[bool, Fraction, bool]:
    """Low for strict answers. NA counts by its policy, and gives way to an answer like it."""
    if value == NA:
        rule = rubric.aggregation
        worth = Fraction(rule.na_counts) if isinstance(rule, WeightedCategories) else Fraction(1)
        valid = criterion.na.policy == "valid"
        return valid, worth if valid else Fraction(0), True
    scale = rubric.scale_of(criterion)
    if isinstance(scale, OrdinalScale):  # the lowest number, whichever of them shut a gate
        return True, scale.worth(value), False
    points = scale.worth(value)
    # an answer without stated points is not held to be stricter than one with
    worth = Fraction(1) if points is None else points
    return value not in rubric.failing_values(criterion), worth, False


# -- precedence


def forced_value(rubric: Rubric, flags: Collection[str]) -> str | None:
    """The answer that red flags force on every criterion; the rubric's first has the word."""
    forced = (flag.forced_value for flag in rubric.red_flags or () if flag.id in flags)
    return next((value for value in forced if value is not None), None)


def settled(
    settlements: Sequence[Settlement], computed: Final | None, forced: str | None
) -> Final | None:
    """The answer that counts: forced by a red flag, else adjudicated, else by consensus.

    Where nobody settled anything it is the computed one. Settlements come in the order of
    happening, and of those of one kind the last one counts.
    """
    if forced is not None:
        return Final(forced, "forced")
    order: tuple[Decided, ...] = ("adjudicated", "consensus")
    for how in order:
        for one in reversed(settlements):
            if one.how == how:
                return Final(one.value, how)
    return computed
