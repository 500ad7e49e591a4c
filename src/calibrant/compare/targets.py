"""Targets of agreement: read one from a line of text or a rubric, hold an estimate against it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from calibrant.compare.rating_tables import RatingTable
from calibrant.core.errors import SourceError, suggestion
from calibrant.stats.bootstrap import CONFIDENCE
from calibrant.stats.catalogue import NAMES
from calibrant.stats.counts import ABSENT
from calibrant.stats.estimate import Estimate

if TYPE_CHECKING:
    from calibrant.core.process import Target
    from calibrant.core.rubric import Rubric

Outcome: TypeAlias = Literal["met", "not_met", "not_shown"]
_FORM = re.compile(r"\s*([a-z_]+)(?::([A-Za-z0-9(),]+))?\s*(>=|>)\s*([0-9]*\.?[0-9]+)\s*")


@dataclass(frozen=True, slots=True)
class AgreementTarget:
    """A coefficient that has to reach a value."""

    coefficient: str
    kind: str | None
    """Weights, level or form; None takes the one that fits the scale."""
    op: Literal[">", ">="]
    value: float
    decided_on: Literal["point", "lower_limit"] = "lower_limit"

    @classmethod
    def parse(cls, text: str) -> AgreementTarget:
        """``krippendorff_alpha:ordinal>=0.6``, decided on the lower limit."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise SourceError(f"target {text!r}: write it as krippendorff_alpha:ordinal>=0.6")
        name, kind, op, value = match.groups()
        if name not in NAMES:
            raise SourceError(
                f"target {text!r}: no coefficient {name!r}; {suggestion(name, NAMES)}"
            )
        return cls(name, kind, ">" if op == ">" else ">=", float(value))

    def __str__(self) -> str:
        kind = f":{self.kind}" if self.kind else ""
        return f"{self.coefficient}{kind} {self.op} {self.value:g}"

    def reached(self, value: float) -> bool:
        """Whether a value is high enough."""
        return value > self.value if self.op == ">" else value >= self.value


@dataclass(frozen=True, slots=True)
class TargetResult:
    """What became of a target on a criterion."""

    target: AgreementTarget
    criterion: str | None
    outcome: Outcome
    estimate: Estimate | None
    why: str
    more_items: int | None
    """About how many more items would settle it; None where none would, or none are needed."""

    @property
    def margin(self) -> float:
        """How far above the target the value is, below 0 where it falls short.

        What has no value is further away than anything.
        """
        if self.estimate is None or self.estimate.value is None:
            return -inf
        return self.estimate.value - self.target.value

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        found = self.estimate
        return {
            "target": str(self.target),
            "decided_on": self.target.decided_on,
            "criterion": self.criterion,
            "outcome": self.outcome,
            "value": None if found is None else found.value,
            "interval": None if found is None or found.interval is None else list(found.interval),
            "why": self.why,
            "more_items": self.more_items,
        }


def rubric_targets(rubric: Rubric, table: RatingTable) -> list[AgreementTarget]:
    """The rubric's own targets that apply to this design."""
    if rubric.agreement is None:
        return []
    gaps = any((one.codes == ABSENT).any() for one in table.criteria)
    plain = len(table.raters) == 2 and not gaps
    fits = {"always": True, "two_complete_raters": plain, "otherwise": not plain}
    return [_own(one) for one in rubric.agreement.targets if fits[one.applies]]


def _own(target: Target) -> AgreementTarget:
    return AgreementTarget(
        target.coefficient, target.weights, target.op, float(target.value), target.decided_on
    )


def held(
    target: AgreementTarget, criterion: str | None, estimates: Sequence[Estimate]
) -> TargetResult:
    """The estimate that the target speaks of, and what it shows."""
    fitting = [
        one
        for one in estimates
        if one.criterion == criterion
        and one.coefficient == target.coefficient
        and one.slice is None
        and one.group is None
        and one.na != "answer"
    ]
    most = max((len(one.raters) for one in fitting), default=0)
    named = [one for one in fitting if len(one.raters) == most and _fits(one, target)]
    if not named:
        return TargetResult(target, criterion, "not_shown", None, "no such estimate here", None)
    # without a word on it, the level of the scale itself and no weights
    return _judged(target, criterion, named[-1] if target.kind is None else named[0])


def _fits(one: Estimate, target: AgreementTarget) -> bool:
    if target.kind is not None:
        return target.kind in (one.weights, one.form, one.level if one.weights is None else None)
    return one.weights is None


def _judged(target: AgreementTarget, criterion: str | None, found: Estimate) -> TargetResult:
    if found.value is None or found.interval is None:
        why = found.undefined or "no interval"
        return TargetResult(target, criterion, "not_shown", found, why, None)
    low, high = found.interval
    straddles = target.reached(high) and not target.reached(low)
    if target.decided_on == "point":
        outcome: Outcome = "met" if target.reached(found.value) else "not_met"
        why = "not shown: the interval straddles it" if straddles else ""
    elif target.reached(low):
        outcome, why = "met", ""
    elif straddles:
        outcome, why = "not_shown", "the interval straddles it"
    else:
        outcome, why = "not_met", "even the upper limit is below"
    return TargetResult(
        target, criterion, outcome, found, why, _more_items(target, found) if straddles else None
    )


def _more_items(target: AgreementTarget, found: Estimate) -> int | None:
    """Items to add so that the interval no longer straddles the target, all else the same."""
    assert found.value is not None and found.interval is not None
    distance = abs(found.value - target.value)
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * (found.se or 0)
    half = max(half, (found.interval[1] - found.interval[0]) / 2)
    if distance < 1e-6 or not isfinite(half):
        return None
    return max(1, ceil(found.n_items * (half / distance) ** 2) - found.n_items)
