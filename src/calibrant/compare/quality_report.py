"""Where quality is low, as records: items, slices, criteria that go together, and sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from calibrant.stats.association import Association
from calibrant.stats.slice_tests import Test


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked for."""

    by: tuple[str, ...] = ()
    """Fields to slice by; none: those of the items that say few different things."""
    worst: int = 10
    """Items of the low-quality list that are told."""
    below: float | None = None
    """Points of a criterion under which an item is of low quality; None: half of the highest."""
    least: int = 10
    """Items under which a slice is too small to be told anything of."""
    rate: float = 0.05
    """Share of findings that may be expected to be false."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class LowItem:
    """An item of low quality, and why."""

    item: str
    level: float | None
    """Its score, or the mean of its criteria; None where nothing can be averaged."""
    sheets: int
    failed: int
    gate: tuple[str, ...]
    flags: tuple[str, ...]
    failed_criteria: tuple[str, ...]
    low: dict[str, float]
    """Criteria under the mark, lowest first."""
    why: str


@dataclass(frozen=True, slots=True)
class SliceFigure:
    """One quantity in one slice, beside the rest."""

    field: str
    value: str
    quantity: str
    is_share: bool
    n: int
    mean: float | None = None
    interval: tuple[float, float] | None = None
    n_rest: int = 0
    rest: float | None = None
    difference: float | None = None
    difference_interval: tuple[float, float] | None = None
    p: float | None = None
    test: Test | None = None
    adjusted: float | None = None
    """The p-value after Benjamini and Hochberg, over all slices and quantities."""
    finding: bool = False
    undefined: str | None = None
    """Why something of this is not there."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two criteria, and how far they go together."""

    first: str
    second: str
    found: Association
    high: bool


@dataclass(slots=True)
class QualityReport:
    """Where quality is low: items, slices, and criteria that go together."""

    source: str
    n_items: int
    n_sheets: int
    ask: Ask
    low: list[LowItem]
    n_low: int
    """All items of low quality, told or not."""
    overall: list[SliceFigure]
    """Every quantity over all items."""
    slices: list[SliceFigure]
    too_small: list[dict[str, Any]]
    pairs: list[Pair]
    findings: list[str] = field(default_factory=list)
    """What may be said, a sentence each, the surest first."""
    notes: list[str] = field(default_factory=list)
    excluded: list[dict[str, Any]] = field(default_factory=list)

    @property
    def tested(self) -> int:
        """Differences that were tested."""
        return sum(one.p is not None for one in self.slices)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "source": self.source,
            "items": self.n_items,
            "sheets": self.n_sheets,
            "false_discovery_rate": self.ask.rate,
            "tested": self.tested,
            "findings": self.findings,
            "low_quality": {"items": self.n_low, "told": [asdict(one) for one in self.low]},
            "overall": [_tidy(one) for one in self.overall],
            "slices": [_tidy(one) for one in self.slices],
            "too_small": self.too_small,
            "correlations": [
                {"first": one.first, "second": one.second, **asdict(one.found), "high": one.high}
                for one in self.pairs
            ],
            "notes": self.notes,
            "excluded": self.excluded,
        }

    def to_frame(self) -> pl.DataFrame:
        """One row for each quantity of each slice; those of all items have no field."""
        rows = []
        for one in (*self.overall, *self.slices):
            row = _tidy(one)
            for name in ("interval", "difference_interval"):
                row[f"{name}_low"], row[f"{name}_high"] = row.pop(name) or (None, None)
            rows.append(row)
        return pl.DataFrame(rows, schema=_COLUMNS)


_COLUMNS: dict[str, Any] = {
    "field": pl.String,
    "value": pl.String,
    "quantity": pl.String,
    "n": pl.Int64,
    "mean": pl.Float64,
    "interval_low": pl.Float64,
    "interval_high": pl.Float64,
    "n_rest": pl.Int64,
    "rest": pl.Float64,
    "difference": pl.Float64,
    "difference_interval_low": pl.Float64,
    "difference_interval_high": pl.Float64,
    "p": pl.Float64,
    "test": pl.String,
    "adjusted": pl.Float64,
    "finding": pl.Boolean,
    "is_share": pl.Boolean,
    "undefined": pl.String,
}


def _tidy(one: SliceFigure) -> dict[str, Any]:
    """A record with numbers that can be read."""
    row = asdict(one)
    for name, value in row.items():
        if isinstance(value, float):
            row[name] = float(f"{value:.6g}")
        elif isinstance(value, tuple):
            row[name] = [round(float(limit), 6) for limit in value]
    row["field"], row["value"] = row["field"] or None, row["value"] or None
    return row
