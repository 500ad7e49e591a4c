"""Corrected figures as records: what was asked for, what was found, which items to label next."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from calibrant.stats.next_labels import Plan
from calibrant.stats.prediction_powered import Figure


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for besides the figures."""

    judge: str | None = None
    strata: str | None = None
    """A column of the judged set, or a quantity: then what the judge says of it."""
    cluster: str | None = None
    probability: str | None = None
    system: str | None = None
    shifted: bool = False
    """Whether labels come from another mix of items than the judged ones."""
    next: int = 0
    about: str | None = None
    """The quantity that the next labels are to be chosen for."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Estimated:
    """One quantity of one system, by one method."""

    quantity: str
    criterion: str | None
    system: str | None
    method: str
    """judge_alone, people_alone, prediction_powered or rogan_gladen."""
    figure: Figure
    use: bool
    """Whether this is the figure to report."""
    worth: float | None = None
    """How many labels people alone would need for an interval as narrow."""


@dataclass(slots=True)
class NextLabels:
    """Which items to label next."""

    about: str
    groups: list[str]
    plan: Plan
    items: list[str]

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        rows = zip(
            self.groups, self.plan.judged, self.plan.labelled, self.plan.spread, self.plan.more,
            strict=True,
        )  # fmt: skip
        return {
            "about": self.about,
            "groups": [
                {"judge_says": name, "judged": int(m), "labelled": int(n),
                 "spread": round(float(s), 6), "label_next": int(k)}
                for name, m, n, s, k in rows
            ],
            "half_width": _finite(self.plan.half_width),
            "half_width_at_random": _finite(self.plan.half_width_at_random),
            "items": self.items,
        }  # fmt: skip


@dataclass(slots=True)
class EstimateReport:
    """Corrected figures, beside the uncorrected ones."""

    figures: list[Estimated]
    judge: str
    people: tuple[str, ...]
    excluded: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    next: NextLabels | None = None
    seed: int = 0

    def find(self, quantity: str, method: str = "", system: str | None = None) -> Estimated:
        """The figure of a quantity by a method, or the one to report."""
        for one in self.figures:
            chosen = one.method == method if method else one.use
            if chosen and (one.quantity, one.system) == (quantity, system):
                return one
        raise LookupError(f"no figure of {quantity} by {method or 'any method'}")

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "judge": self.judge,
            "people": list(self.people),
            "figures": [_record(one) for one in self.figures],
            "excluded": self.excluded,
            "notes": self.notes,
            "next": None if self.next is None else self.next.to_dict(),
            "seed": self.seed,
        }

    def to_frame(self) -> pl.DataFrame:
        """One row a figure."""
        rows = []
        for one in self.figures:
            record = _record(one)
            low, high = record.pop("interval") or (None, None)
            rows.append(record | {"low": low, "high": high})
        return pl.DataFrame(rows, infer_schema_length=None)


def _record(one: Estimated) -> dict[str, Any]:
    figure = asdict(one.figure)
    interval = figure["interval"]
    return {
        "quantity": one.quantity,
        "criterion": one.criterion,
        "system": one.system,
        "method": one.method,
        "use": one.use,
        **figure,
        "interval": None if interval is None else list(interval),
        "worth": one.worth,
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
