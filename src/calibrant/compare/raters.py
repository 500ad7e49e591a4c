"""From a table of ratings to a report on its raters: what ``calibrant raters`` shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

from calibrant.compare.rater_diagnostics import Diagnostic, Look, diagnostics
from calibrant.compare.rater_model import NO_PLACE, Fitted, fitted
from calibrant.compare.rater_words import advice, sentence
from calibrant.compare.raters_view import html
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import RatingTable, rating_table
from calibrant.compare.visits import Visits, Watcher
from calibrant.core.errors import SourceError
from calibrant.stats.counts import ABSENT
from calibrant.stats.estimate import Estimate
from calibrant.stats.rasch import NoFit, Separation, separation
from calibrant.stats.rater_effects import Effect
from calibrant.stats.residuals import Residuals

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterProfile:
    """How one rater rates, all else being equal."""

    rater: str
    kind: str | None
    """HUMAN, LLM or CODE, where the table says so."""
    items: int
    ratings: int
    severity: Estimate
    """In logits, 0 being the mean of the panel."""
    model_error: float | None = None
    """Standard error of the severity as far as the model is right."""
    observed: float | None = None
    """Mean answer."""
    fair: float | None = None
    """Mean answer to be expected of this rater on the average item."""
    infit: float | None = None
    outfit: float | None = None


@dataclass(slots=True)
class RaterReport:
    """Profiles of raters, what was found about them, and what items would score fairly."""

    profiles: list[RaterProfile]
    diagnostics: list[Diagnostic]
    separation: Separation | None
    criteria: dict[str, float]
    """Difficulty of each criterion in logits, mean 0."""
    fair_items: pl.DataFrame
    """Observed and fair mean of each item."""
    notes: tuple[str, ...] = ()
    excluded: list[dict[str, Any]] = field(default_factory=list)

    @property
    def findings(self) -> list[Diagnostic]:
        """What is shown and not small, by rater."""
        return [one for one in self.diagnostics if one.found]

    def find(self, rater: str, kind: str, criterion: str | None = None) -> Diagnostic:
        """One diagnostic of one rater."""
        for one in self.diagnostics:
            if (one.rater, one.kind, one.criterion) == (rater, kind, criterion):
                return one
        raise LookupError(f"no {kind} of {rater}")

    def to_dict(self) -> dict[str, Any]:
        """For machines; fair averages of items are a table of their own."""
        return {
            "raters": [_profile_record(one) for one in self.profiles],
            "findings": [_record(one) for one in self.findings],
            "diagnostics": [_record(one) for one in self.diagnostics],
            "separation": None if self.separation is None else self.separation._asdict(),
            "criteria": self.criteria,
            "notes": list(self.notes),
            "excluded": self.excluded,
        }

    def to_frame(self) -> pl.DataFrame:
        """The diagnostics, one a row."""
        rows = []
        for one in self.diagnostics:
            record = _record(one)
            low, high = record.pop("interval") or (None, None)
            rows.append(record | {"low": low, "high": high})
        return pl.DataFrame(rows, infer_schema_length=None)

    def _repr_html_(self) -> str:
        return html(self)


def _record(one: Diagnostic) -> dict[str, Any]:
    found = one.estimate
    return {
        "rater": one.rater,
        "kind": one.kind,
        "criterion": one.criterion or None,
        "form": one.form,
        "value": found.value,
        "se": found.se,
        "interval": None if found.interval is None else list(found.interval),
        "p": one.p,
        "adjusted_p": one.adjusted,
        "n_items": found.n_items,
        "found": one.found,
        "says": sentence(one),
        "do": advice(one),
        "undefined": found.undefined,
    }


def _profile_record(one: RaterProfile) -> dict[str, Any]:
    found = one.severity
    return {
        "rater": one.rater,
        "kind": one.kind,
        "items": one.items,
        "ratings": one.ratings,
        "severity": found.value,
        "se": found.se,
        "model_se": one.model_error,
        "interval": None if found.interval is None else list(found.interval),
        "observed": one.observed,
        "fair": one.fair,
        "infit": one.infit,
        "outfit": one.outfit,
        "undefined": found.undefined,
    }


def raters_of_frames(
    frames: Iterable[pl.DataFrame],
    how: Reading,
    source: str,
    *,
    in_order: bool = False,
    partial_credit: bool = False,
    on_step: Callable[[str], None] = lambda step: None,
) -> RaterReport:
    """The raters in parts of a file; ``on_step`` hears what is being done."""
    watcher = Watcher(how, source, in_order=in_order)
    table = rating_table(watcher.watch(frames), watcher.how, source)
    if table.anonymous:
        raise SourceError(f"{source}: without names of raters nothing can be said about them")
    return rater_profiles(
        table, how.rubric, watcher.visits(table), partial_credit=partial_credit, on_step=on_step
    )


def rater_profiles(
    table: RatingTable,
    rubric: Rubric | None,
    visits: Visits,
    *,
    partial_credit: bool = False,
    on_step: Callable[[str], None] = lambda step: None,
) -> RaterReport:
    """Everything that is to say about the raters of a table."""
    on_step(f"fitting the many-facet model to {table.units.height:,} items")
    fit = fitted(table, rubric, partial_credit=partial_credit)
    on_step(f"looking at {len(table.raters):,} raters")
    look = Look(table, fit, visits)
    found = diagnostics(look)
    on_step("fair averages")
    return RaterReport(
        _profiles(table, fit, look),
        found,
        _separation(fit),
        _difficulties(table, fit),
        _fair_items(table, fit),
        fit.notes,
        table.excluded,
    )


def _separation(fit: Fitted) -> Separation | None:
    if fit.model is None:
        return None
    try:
        return separation(fit.model.severities, fit.model.errors)
    except NoFit:
        return None


def _difficulties(table: RatingTable, fit: Fitted) -> dict[str, float]:
    if fit.model is None:
        return {}
    drawn = fit.model.difficulty * fit.model.factor
    named = zip(fit.criteria, drawn, strict=True)
    return {table.criteria[at].name: float(value) for at, value in named if np.isfinite(value)}


def _profiles(table: RatingTable, fit: Fitted, look: Look) -> list[RaterProfile]:
    known = {one.rater: (one, effect) for one, effect in zip(look.of, look.severities, strict=True)}
    sums, counts = _sums(table, fit, axis=1)
    out = []
    for rater, name in enumerate(table.raters):
        base: dict[str, Any] = {
            "rater": name,
            "kind": table.kinds.get(name),
            "items": _items(table, rater),
            "ratings": sum(int((one.codes[rater] != ABSENT).sum()) for one in table.criteria),
            "observed": float(sums[rater] / counts[rater]) if counts[rater] else None,
        }
        if rater in known:
            out.append(RaterProfile(**base, **_placed(fit, name, *known[rater])))
        else:
            why = fit.reason or NO_PLACE
            undefined = Estimate(coefficient="severity", undefined=why, raters=(name,))
            out.append(RaterProfile(**base, severity=undefined))
    return out


def _items(table: RatingTable, rater: int) -> int:
    there = np.zeros(table.units.height, np.bool_)
    for one in table.criteria:
        there |= one.codes[rater] != ABSENT
    return int(there.sum())


def _placed(fit: Fitted, name: str, one: Residuals, effect: Effect) -> dict[str, Any]:
    model = fit.model
    assert model is not None
    wide = float(stdtrit(max(effect.items - 1, 1), 0.975)) * effect.error
    severity = Estimate(
        coefficient="severity", value=effect.value, se=effect.error, method="t",
        interval=(effect.value - wide, effect.value + wide), n_items=effect.items,
        n_ratings=int(one.there.sum()), raters=(name,),
    )  # fmt: skip
    groups = model.asked.groups
    middle = float(groups.times @ model.theta / groups.times.sum())
    square, spread = one.gap**2, one.spread
    unit = square[one.there] / np.maximum(spread[one.there], 1e-9)
    return {
        "severity": severity,
        "model_error": float(model.errors[one.rater]),
        "fair": float(fit.fair(np.array([middle]), float(model.severity[one.rater]))[0]),
        "infit": float(square.sum() / spread.sum()) if spread.sum() > 0 else None,
        "outfit": float(unit.mean()) if unit.size else None,
    }


def _sums(table: RatingTable, fit: Fitted, axis: int) -> tuple[Floats, Floats]:
    """Worth of all answers, and their number: by rater with axis 1, by item with axis 0."""
    shape = len(table.raters) if axis else table.units.height
    total, count = np.zeros(shape), np.zeros(shape)
    for at, ladder in zip(fit.criteria, fit.ladders, strict=True):
        worth = np.zeros(256)
        worth[: len(ladder.steps)] = ladder.points[ladder.steps]
        for rater, row in enumerate(table.criteria[at].codes):
            given = row < len(ladder.steps)
            if axis:
                total[rater] += worth.take(row).sum()
                count[rater] += np.count_nonzero(given)
            else:
                total += worth.take(row)
                count += given
    return total, count


def _fair_items(table: RatingTable, fit: Fitted) -> pl.DataFrame:
    """Each item's mean answer as observed, and as an average rater would have given it.

    Both are of the same answers: an item that was asked one criterion only is not held against all.
    """
    keys = [name for name in ("item", "round", "rubric") if name in table.units.columns]
    sums, counts = _sums(table, fit, axis=0)
    some = np.maximum(counts, 1)
    fair = np.full(len(counts), np.nan)
    if fit.model is not None:
        groups = fit.model.asked.groups
        expected = np.nan_to_num(fit.expected(fit.model.theta))
        total = np.zeros(len(counts))
        for at, ladder, mean in zip(fit.criteria, fit.ladders, expected, strict=True):
            given = (table.criteria[at].codes < len(ladder.steps)).sum(axis=0)
            total += given * mean.take(groups.of)
        fair = np.where(groups.asked.any(axis=(0, 1)).take(groups.of), total / some, np.nan)
    return table.units.select(keys).with_columns(
        pl.Series("observed", np.where(counts > 0, sums / some, np.nan)).fill_nan(None),
        pl.Series("fair", fair).fill_nan(None),
        pl.Series("ratings", counts.astype(np.int64)),
    )
