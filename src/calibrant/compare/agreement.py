"""From a table of ratings to a report of agreement: what ``calibrant agree`` shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.agreement_view import html
from calibrant.compare.comparisons import Family, compared, families, together
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import RatingTable, rating_table
from calibrant.compare.rulers import ALL
from calibrant.compare.targets import AgreementTarget, TargetResult, held, rubric_targets
from calibrant.stats.counts import ABSENT, counts_of, pair_tables_of
from calibrant.stats.estimate import Design, Estimate

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric

DRIVING = 10
"""Items named as driving the disagreement."""


@dataclass(frozen=True, slots=True)
class Driver:
    """An item that drives the disagreement on a criterion."""

    criterion: str | None
    item: str
    answers: dict[str, str]
    """By rater."""
    disagreement: float
    """Mean weighted distance of two answers to it, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """How two raters' answers to a criterion meet."""

    criterion: str | None
    raters: tuple[str, str]
    labels: tuple[str, ...]
    counts: list[list[int]]
    """A row for each answer of the first rater."""


@dataclass(slots=True)
class AgreementReport:
    """Estimates, what stands behind them, and the targets held against them."""

    estimates: list[Estimate]
    targets: list[TargetResult]
    excluded: list[dict[str, Any]]
    drivers: list[Driver] = field(default_factory=list)
    confusions: list[Confusion] = field(default_factory=list)
    raters: tuple[str, ...] = ()
    anonymous: bool = False

    @property
    def met(self) -> bool:
        """Whether every target is met; with no target there is nothing to miss."""
        return all(one.outcome == "met" for one in self.targets)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "estimates": [_as_record(one) for one in self.estimates],
            "targets": [one.to_dict() for one in self.targets],
            "excluded": self.excluded,
            "drivers": [asdict(one) for one in self.drivers],
            "confusions": [asdict(one) for one in self.confusions],
        }

    def to_frame(self) -> pl.DataFrame:
        """The estimates, one a row."""
        rows = []
        for one in self.estimates:
            record = _as_record(one)
            low, high = record.pop("interval") or (None, None)
            record |= {"low": low, "high": high, "raters": " ".join(one.raters)}
            record.pop("prevalence")
            rows.append(record)
        return pl.DataFrame(rows, infer_schema_length=None)

    def find(self, coefficient: str, **wanted: Any) -> Estimate:
        """The first estimate of that name whose fields are as wanted."""
        for one in self.estimates:
            if coefficient in (one.coefficient, one.name) and all(
                getattr(one, key) == value for key, value in wanted.items()
            ):
                return one
        raise LookupError(f"no estimate of {coefficient} with {wanted}")

    def _repr_html_(self) -> str:
        return html(self)


def _as_record(one: Estimate) -> dict[str, Any]:
    return {
        "criterion": one.criterion,
        "coefficient": one.coefficient,
        "level": one.level,
        "weights": one.weights,
        "form": one.form,
        "na": one.na,
        "raters": list(one.raters),
        "group": one.group,
        "slice": one.slice,
        "value": one.value,
        "se": one.se,
        "interval": None if one.interval is None else list(one.interval),
        "method": one.method,
        "n_items": one.n_items,
        "n_ratings": one.n_ratings,
        "prevalence": one.prevalence,
        "reading": one.reading,
        "undefined": one.undefined,
    }


def agreement_of_frames(
    frames: Iterable[pl.DataFrame],
    how: Reading,
    source: str,
    *,
    targets: Iterable[str] = (),
    design: Design = Design(),  # noqa: B008 - frozen
    on_step: Callable[[str], None] = lambda step: None,
) -> AgreementReport:
    """Agreement of the raters in parts of a file; ``on_step`` hears what is being done."""
    return report(rating_table(frames, how, source), how.rubric, targets, design, on_step)


def report(
    table: RatingTable,
    rubric: Rubric | None,
    targets: Iterable[str],
    design: Design,
    on_step: Callable[[str], None] = lambda step: None,
) -> AgreementReport:
    """Everything that is to say about a table of ratings."""
    wanted = [AgreementTarget.parse(one) for one in targets]
    estimates: list[Estimate] = []
    drivers: list[Driver] = []
    confusions: list[Confusion] = []
    related = families(table)
    # arithmetic on items, which lets others go on meanwhile
    pool = ThreadPoolExecutor(1)
    pooled = pool.submit(together, table, related, design)
    pool.shutdown(wait=False)
    done = 0
    for family in related:
        on_step(f"comparing raters: {done:,} of {len(table.criteria):,} criteria done")
        done += len(family.criteria)
        estimates += compared(table, family, design)
        if family.ruler.labels:
            drivers += _drivers(table, family)
            confusions += _confusions(table, family)
    estimates += pooled.result()
    names = [None if one.name == ALL else one.name for one in table.criteria]
    order = {name: at for at, name in enumerate([*names, None])}
    estimates.sort(key=lambda one: order[one.criterion])
    drivers.sort(key=lambda one: order[one.criterion])
    wanted += rubric_targets(rubric, table) if rubric is not None and not wanted else []
    return AgreementReport(
        estimates,
        [held(one, name, estimates) for one in wanted for name in names],
        table.excluded,
        drivers,
        confusions,
        table.raters,
        table.anonymous,
    )


# -- what to look at


def _drivers(table: RatingTable, family: Family) -> list[Driver]:
    """The items on which answers lie furthest apart, of each criterion."""
    ruler, found = family.ruler, family.answered()
    points = ruler.points
    gap = np.abs(points[:, None] - points[None, :])
    if ruler.level == "nominal":
        gap = 1 - np.eye(len(points))
    gap = gap / (gap.max(initial=0) or 1)
    hits = counts_of(found, len(points)).counts  # (U, K)
    m = hits.sum(axis=1)
    apart = ((hits @ gap) * hits).sum(axis=1)
    share = np.where(m > 1, apart / np.maximum(1, m * (m - 1)), 0)
    items = table.units["item"]
    out = []
    for criterion, place, times in zip(family.names, family.place, found.times, strict=True):
        for at in _largest(share, place, times):
            answers = {
                rater: ruler.labels[code]
                for rater, code in zip(table.raters, found.codes[:, place[at]], strict=True)
                if code != ABSENT
            }
            apart = round(float(share[place[at]]), 6)
            out.append(Driver(criterion, str(items[int(at)]), answers, apart))
    return out


def _largest(
    share: NDArray[np.float64], place: NDArray[Any], times: NDArray[np.int64]
) -> NDArray[np.intp]:
    """The items with the largest shares above 0, the first of equal ones first."""
    order = np.argsort(-share, kind="stable")
    enough = min(int(np.searchsorted(times[order].cumsum(), DRIVING)), len(order) - 1)
    least = max(share[order[enough]], np.finfo(np.float64).tiny)
    found = np.flatnonzero((share >= least).take(place))
    return found[np.argsort(-share[place[found]], kind="stable")][:DRIVING]


def _confusions(table: RatingTable, family: Family) -> list[Confusion]:
    if table.anonymous or len(table.raters) > 12:
        return []
    tables = pair_tables_of(family.answered(), len(family.ruler.labels))
    return [
        Confusion(
            criterion,
            (table.raters[one], table.raters[other]),
            family.ruler.labels,
            mine[one, other].tolist(),
        )
        for criterion, mine in zip(family.names, tables, strict=True)
        for one, other in combinations(range(len(table.raters)), 2)
        if mine[one, other].any()
    ]
