"""A calibrated judge as records: figures on held-aside items, and the mapping."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from calibrant.compare.judged import ALL_ANSWERS
from calibrant.compare.trust_answer import FalsePasses
from calibrant.core.judge_mapping import CriterionMapping, JudgeMapping, Scale
from calibrant.stats.calibration import Figure
from calibrant.stats.estimate import Estimate

Pair = tuple[Figure, Figure]
"""Before and after."""


@dataclass(slots=True)
class CriterionCalibration:
    """One criterion: the judge as it is, and calibrated, on items that were held aside."""

    criterion: str
    n_items: int
    """Items that judge and people answered."""
    scale: Scale
    method: str | None = None
    """What was chosen for the mapping."""
    chosen: dict[str, int] = field(default_factory=dict)
    """How often each method was chosen over the folds."""
    rmse: Pair | None = None
    constant: Figure | None = None
    """The error of always saying people's mean."""
    gain: Figure | None = None
    """By how much the squared error is smaller than the judge's own."""
    correlation: Pair | None = None
    agreement: tuple[list[Estimate], list[Estimate]] | None = None
    false_passes: tuple[FalsePasses, FalsePasses] | None = None
    """Only of criteria that keep a gate."""
    mapping: CriterionMapping | None = None
    refused: str | None = None
    """Why there is no mapping."""

    @property
    def title(self) -> str:
        """The name of the criterion, or what a table is called that names none."""
        return "answer" if self.criterion in ("", ALL_ANSWERS) else self.criterion

    def coefficient(self, name: str, *, after: bool) -> Estimate | None:
        """Kappa or alpha, before or after."""
        some = self.agreement[after] if self.agreement is not None else []
        return next((one for one in some if one.coefficient == name), None)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "criterion": self.title,
            "n_items": self.n_items,
            "heard": self.scale.heard,
            "method": self.method,
            "chosen": self.chosen,
            "rmse": _pair(self.rmse),
            "constant_rmse": None if self.constant is None else asdict(self.constant),
            "gain": None if self.gain is None else asdict(self.gain),
            "correlation": _pair(self.correlation),
            "agreement": {
                one.name: {
                    when: _estimate(self.coefficient(one.coefficient, after=after))
                    for when, after in (("before", False), ("after", True))
                }
                for one in (self.agreement or ([], []))[0]
            },
            "false_passes": None
            if self.false_passes is None
            else dict(zip(("before", "after"), map(asdict, self.false_passes), strict=True)),
            "refused": self.refused,
        }


@dataclass(slots=True)
class Calibration:
    """A judge fitted to people."""

    judge: str
    people: tuple[str, ...]
    criteria: list[CriterionCalibration]
    mapping: JudgeMapping | None
    """None where no criterion could be fitted."""
    folds: int
    seed: int
    excluded: list[dict[str, Any]] = field(default_factory=list)

    def find(self, criterion: str) -> CriterionCalibration:
        """What was found of a criterion."""
        for one in self.criteria:
            if criterion in (one.criterion, one.title):
                return one
        raise LookupError(f"no criterion {criterion!r} was calibrated")

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "judge": self.judge,
            "people": list(self.people),
            "criteria": [one.to_dict() for one in self.criteria],
            "folds": self.folds,
            "seed": self.seed,
            "excluded": self.excluded,
            "mapping": None if self.mapping is None else self.mapping.to_dict(),
        }

    def to_frame(self) -> pl.DataFrame:
        """One row a criterion."""
        return pl.DataFrame([_row(one) for one in self.criteria], infer_schema_length=None)


def _pair(pair: Pair | None) -> dict[str, Any] | None:
    return None if pair is None else {"before": asdict(pair[0]), "after": asdict(pair[1])}


def _estimate(one: Estimate | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"value": one.value, "interval": one.interval, "undefined": one.undefined}


def _row(one: CriterionCalibration) -> dict[str, Any]:
    row: dict[str, Any] = {"criterion": one.title, "n_items": one.n_items, "method": one.method}
    for name, pair in (("rmse", one.rmse), ("correlation", one.correlation)):
        for when, at in (("before", 0), ("after", 1)):
            row[f"{name}_{when}"] = None if pair is None else pair[at].value
    for name, short in (("cohen_kappa", "kappa"), ("krippendorff_alpha", "alpha")):
        for when, after in (("before", False), ("after", True)):
            found = one.coefficient(name, after=after)
            row[f"{short}_{when}"] = None if found is None else found.value
    row["constant_rmse"] = None if one.constant is None else one.constant.value
    return row | {"refused": one.refused}
