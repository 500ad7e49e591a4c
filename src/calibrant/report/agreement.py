"""How far raters agree, against targets: over all rounds that count, and round by round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant.core.study import COUNTING
from calibrant.report.asking import Asked, Missing

if TYPE_CHECKING:
    from calibrant.compare.agreement import AgreementReport
    from calibrant.compare.targets import TargetResult
    from calibrant.core.rubric import Rubric
    from calibrant.core.study import Round
    from calibrant.stats.estimate import Estimate

SHOWN = ("percent", "krippendorff_alpha", "gwet_ac", "cohen_kappa")
"""Coefficients that a report tells of every criterion, where they are defined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One coefficient on one criterion."""

    criterion: str | None
    """None: all criteria together."""
    coefficient: str
    value: float | None
    interval: tuple[float, float] | None
    method: str | None
    items: int
    reading: str | None
    undefined: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLine:
    """A target on a criterion, and what was reached."""

    criterion: str | None
    target: str
    mark: float
    """The value to reach."""
    decided_on: str
    """``point``, or ``lower_limit`` of the interval."""
    outcome: str
    """met, not_met or not_shown."""
    value: float | None
    interval: tuple[float, float] | None
    items: int
    why: str
    more_items: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """How far people agree in some rounds."""

    rounds: tuple[int, ...]
    kind: str
    rubric: str
    """The version that they are read under."""
    raters: int
    figures: tuple[Figure, ...]
    targets: tuple[TargetLine, ...]

    @property
    def met(self) -> int:
        """How many targets are met."""
        return sum(one.outcome == "met" for one in self.targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement over all rounds that count, and in each round that is compared."""

    overall: Agreed | Missing
    rounds: tuple[Agreed, ...]
    left_out: dict[str, str]
    """Rounds that tell nothing, by number, and why."""


def agreement_of(asked: Asked, rounds: list[Round], versions: dict[str, Rubric]) -> Agreement:
    """Ask for agreement; a single round that counts is computed once."""
    counting = [one for one in rounds if one.kind in COUNTING]
    overall = asked.get(lambda study: study.agreement())
    now = asked.study.rubric()
    numbers = tuple(one.number for one in counting)
    told: Agreed | Missing
    if isinstance(overall, Missing):
        told = overall if rounds else Missing("no round has been planned yet")
    else:
        told = _agreed(overall, numbers, "main", now.name)
    found: list[Agreed] = []
    left_out: dict[str, str] = {}
    for one in rounds:
        if one.kind == "onboarding" or one.opened_at is None:
            continue
        same = numbers == (one.number,) and one.rubric == now.hash
        alone = overall if same else asked.get(lambda study, n=one.number: study.agreement(round=n))  # type: ignore[misc]
        if isinstance(alone, Missing):
            left_out[str(one.number)] = alone.why
        else:
            found.append(_agreed(alone, (one.number,), one.kind, versions[one.rubric].name))
    return Agreement(overall=told, rounds=tuple(found), left_out=left_out)


def _agreed(found: AgreementReport, rounds: tuple[int, ...], kind: str, rubric: str) -> Agreed:
    return Agreed(
        rounds=rounds,
        kind=kind,
        rubric=rubric,
        raters=len(found.raters),
        figures=tuple(_figures(found)),
        targets=tuple(map(target_line, found.targets)),
    )


def _figures(found: AgreementReport) -> Iterator[Figure]:
    """Of all raters, at the level of the scale; NA left out where it can be."""
    kept: dict[tuple[str | None, str], Estimate] = {}
    for one in found.estimates:
        whole = one.slice is None and one.group is None and one.raters == found.raters
        if whole and one.na != "answer" and one.weights is None and one.coefficient in SHOWN:
            # the level of the scale comes last
            kept[one.criterion, one.coefficient] = one
    yield from map(figure, kept.values())


def figure(one: Estimate) -> Figure:
    """An estimate as a report keeps it."""
    return Figure(
        criterion=one.criterion,
        coefficient=one.name,
        value=one.value,
        interval=one.interval,
        method=one.method,
        items=one.n_items,
        reading=one.reading,
        undefined=one.undefined,
    )


def target_line(one: TargetResult) -> TargetLine:
    """What became of a target."""
    found = one.estimate
    return TargetLine(
        criterion=one.criterion,
        target=str(one.target),
        mark=one.target.value,
        decided_on=one.target.decided_on,
        outcome=one.outcome,
        value=None if found is None else found.value,
        interval=None if found is None else found.interval,
        items=0 if found is None else found.n_items,
        why=one.why,
        more_items=one.more_items,
    )
