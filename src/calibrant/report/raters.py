"""How each rater rates: severity with its interval, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant.compare.rater_words import advice, sentence
from calibrant.report.asking import Asked, Missing

if TYPE_CHECKING:
    from calibrant.compare.rater_diagnostics import Diagnostic
    from calibrant.compare.raters import RaterProfile, RaterReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One rater beside the others."""

    rater: str
    kind: str
    items: int
    ratings: int
    severity: float | None
    """In logits; 0 is the average rater."""
    interval: tuple[float, float] | None
    observed: float | None
    """Mean answer."""
    fair: float | None
    """Mean answer to be expected of this rater on the average item."""
    infit: float | None
    outfit: float | None
    undefined: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterFinding:
    """Something about a rater that is shown and not small."""

    rater: str
    what: str
    criterion: str | None
    says: str
    advice: str
    p: float | None
    """Adjusted for everything that was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raters:
    """Everybody who rated in rounds that count."""

    profiles: tuple[Profile, ...]
    """The most severe first."""
    findings: tuple[RaterFinding, ...]
    separation: float | None
    reliability: float | None
    """How well the raters' severities can be told apart."""
    looked_at: int
    """Diagnostics that had a value."""
    notes: tuple[str, ...]

    def of_kind(self, kind: str) -> int:
        """How many raters are of a kind."""
        return sum(one.kind == kind for one in self.profiles)


def raters_of(asked: Asked) -> Raters | Missing:
    """Ask how each rater rates."""
    found = asked.get(lambda study: study.rater_report())
    return found if isinstance(found, Missing) else _raters(asked, found)


def _raters(asked: Asked, found: RaterReport) -> Raters:
    told = found.separation
    profiles = [_profile(asked, one) for one in found.profiles]
    ranked = sorted(profiles, key=lambda one: (one.severity is None, -(one.severity or 0.0)))
    said = [_finding(asked, one) for one in found.findings]
    return Raters(
        profiles=tuple(ranked),
        findings=tuple(sorted(said, key=lambda one: (one.rater, one.p or 0.0, one.what))),
        separation=None if told is None else round(float(told.separation), 6),
        reliability=None if told is None else round(float(told.reliability), 6),
        looked_at=sum(one.estimate.value is not None for one in found.diagnostics),
        notes=tuple(map(asked.naming.text, found.notes)),
    )


def _profile(asked: Asked, one: RaterProfile) -> Profile:
    return Profile(
        rater=asked.naming.name(one.rater),
        kind=one.kind or "HUMAN",
        items=one.items,
        ratings=one.ratings,
        severity=one.severity.value,
        interval=one.severity.interval,
        observed=one.observed,
        fair=one.fair,
        infit=one.infit,
        outfit=one.outfit,
        undefined=one.severity.undefined,
    )


def _finding(asked: Asked, one: Diagnostic) -> RaterFinding:
    return RaterFinding(
        rater=asked.naming.name(one.rater),
        what=one.kind,
        criterion=one.criterion or None,
        says=sentence(one),
        advice=advice(one) or "",
        p=one.adjusted,
    )
