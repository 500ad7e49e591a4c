"""An estimate: a value with its error, interval and sample, or the reason there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from calibrant.stats.weights import Level, Weights

Method: TypeAlias = Literal[
    "bca", "fisher", "normal", "t", "F", "binomial", "bca+binomial", "fisher+binomial"
]
"""How an interval was made: resampled and corrected; from the standard error on Fisher's scale,
as it is, or with Student's quantile; from the F distribution; from the binomial distribution,
where a sample shows no disagreement; by two methods, the wider limits, where it shows next to
none, or next to nothing but."""


@dataclass(frozen=True, slots=True)
class Design:
    """How intervals are made."""

    method: Method | None = None
    """None: resampled below a thousand items on a scale that is not wide, else from the standard
    error."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One coefficient of one table of ratings."""

    coefficient: str
    level: Level | None = None
    weights: Weights | None = None
    form: str | None = None
    value: float | None = None
    se: float | None = None
    interval: tuple[float, float] | None = None
    method: Method | None = None
    n_items: int = 0
    """Items with two answers or more."""
    n_ratings: int = 0
    prevalence: dict[str, float] = field(default_factory=dict)
    """Share of each answer among all that were given."""
    undefined: str | None = None
    """Why there is no value."""
    criterion: str | None = None
    na: Literal["answer", "left_out"] | None = None
    """How "not applicable" was taken, where the scale has it."""
    raters: tuple[str, ...] = ()
    group: str | None = None
    slice: str | None = None
    """The part of the data: a round, a version of the rubric, a stretch of time."""

    @property
    def name(self) -> str:
        """The coefficient as a target writes it."""
        kind: str | None = self.weights
        if self.coefficient == "krippendorff_alpha":
            kind = self.level
        if self.coefficient == "icc":
            kind = self.form
        return f"{self.coefficient}:{kind}" if kind else self.coefficient

    @property
    def reading(self) -> str | None:
        """What convention calls such a value; a custom, not a finding."""
        if self.value is None:
            return None
        if self.coefficient == "krippendorff_alpha":
            return _reading(self.value, _KRIPPENDORFF)
        if self.coefficient in ("percent", "percent_within_one"):
            return None
        if self.coefficient == "icc":
            return _reading(self.value, _KOO_LI)
        return _reading(self.value, _LANDIS_KOCH)


_LANDIS_KOCH = (
    (0.81, "almost perfect (Landis–Koch)"),
    (0.61, "substantial (Landis–Koch)"),
    (0.41, "moderate (Landis–Koch)"),
    (0.21, "fair (Landis–Koch)"),
    (0.0, "slight (Landis–Koch)"),
    (-2.0, "poor (Landis–Koch)"),
)
_KRIPPENDORFF = (
    (0.8, "reliable (Krippendorff)"),
    (0.667, "tentative (Krippendorff)"),
    (-2.0, "not reliable (Krippendorff)"),
)
_KOO_LI = (
    (0.9, "excellent (Koo–Li)"),
    (0.75, "good (Koo–Li)"),
    (0.5, "moderate (Koo–Li)"),
    (-99.0, "poor (Koo–Li)"),
)


def _reading(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    return next(word for least, word in steps if round(value, 3) >= least)
