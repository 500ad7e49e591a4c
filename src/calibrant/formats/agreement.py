"""From a table of ratings to a report of agreement: what ``calibrant agree`` shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.formats.rating_columns import Reading
from calibrant.formats.rating_tables import (
    CriterionTable,
    RatingTable,
    rating_table,
    read_rating_file,
)
from calibrant.formats.rulers import ALL, NA_MARK
from calibrant.formats.targets import AgreementTarget, TargetResult, held, rubric_targets
from calibrant.stats.agreement import Design, Ruler, of_groups, of_pair, of_pairs, of_set
from calibrant.stats.counts import ABSENT, pair_tables
from calibrant.stats.estimate import Estimate, Method
from calibrant.stats.runs import Codes
from calibrant.stats.weights import Level

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric

MOST_PAIRS = 300
"""Pairs of raters up to which each pair is reported."""
RESAMPLED_PAIRS = 60
"""Pairs up to which their intervals are resampled; above, they come from the standard error."""
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
        shown = [one for one in self.estimates if one.slice is None and len(one.raters) != 2]
        return AgreementReport(shown or self.estimates, [], []).to_frame()._repr_html_()


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


def agreement(
    frame: Any,
    *,
    rubric: Rubric | None = None,
    level: Level | None = None,
    order: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    wide: bool = False,
    anonymous_raters: bool = False,
    targets: Iterable[str] = (),
    method: Method | None = None,
    seed: int = 0,
) -> AgreementReport:
    """Agreement of the raters in a polars or pandas frame or any Arrow table.

    With a ``rubric`` the level, the order and the targets come from it; without one ``level`` is
    required. ``columns`` maps our names to yours: ``{"rater": "who"}``.
    """
    how = Reading(
        rubric=rubric,
        level=level,
        order=tuple(order),
        columns=columns or {},
        wide=wide,
        anonymous=anonymous_raters,
    )
    from calibrant.formats.frames import to_polars

    table = rating_table(to_polars(frame)[0], how, "frame")
    return report(table, rubric, targets, Design(method, seed))


def agreement_of_file(
    path: Path,
    how: Reading,
    *,
    targets: Iterable[str] = (),
    design: Design = Design(),  # noqa: B008 - frozen
    encoding: str | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> AgreementReport:
    """Agreement of the raters in a file."""
    table = read_rating_file(path, how, encoding)
    return report(table, how.rubric, targets, design, on_progress)


def report(
    table: RatingTable,
    rubric: Rubric | None,
    targets: Iterable[str],
    design: Design,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> AgreementReport:
    """Everything that is to say about a table of ratings."""
    wanted = [AgreementTarget.parse(one) for one in targets]
    estimates: list[Estimate] = []
    drivers: list[Driver] = []
    confusions: list[Confusion] = []
    for done, criterion in enumerate(table.criteria):
        on_progress(done, len(table.criteria))
        for na, codes, ruler in _ways(criterion):
            about = {"criterion": _named(criterion), "na": na}
            estimates += _estimates(table, codes, ruler, design, about)
        if not criterion.ruler.labels:
            continue
        codes = _left_out(criterion.codes)
        drivers += _drivers(table, criterion, codes)
        confusions += _confusions(table, criterion, codes)
    on_progress(len(table.criteria), len(table.criteria))
    wanted += rubric_targets(rubric, table) if rubric is not None and not wanted else []
    return AgreementReport(
        estimates,
        [held(one, _named(criterion), estimates) for one in wanted for criterion in table.criteria],
        table.excluded,
        drivers,
        confusions,
        table.raters,
        table.anonymous,
    )


def _named(criterion: CriterionTable) -> str | None:
    """Its name; None where the table names no criteria."""
    return None if criterion.name == ALL else criterion.name


# -- how NA is taken


def _ways(criterion: CriterionTable) -> Iterator[tuple[Any, Codes, Ruler]]:
    """Codes with NA left out; and, where NA was given, with NA as an answer."""
    way = "left_out" if criterion.has_na else None
    if criterion.ruler.labels:  # otherwise every answer is NA
        yield way, _left_out(criterion.codes), criterion.ruler
    if not criterion.has_na:
        return
    labels = criterion.ruler.labels
    if criterion.ruler.level == "nominal":
        codes = np.where(criterion.codes == NA_MARK, np.uint8(len(labels)), criterion.codes)
        labels = (*labels, "NA")
    else:  # whether the criterion applies at all
        answered = np.where(criterion.codes == NA_MARK, np.uint8(1), np.uint8(0))
        codes = np.where(criterion.codes == ABSENT, np.uint8(ABSENT), answered)
        labels = ("applicable", "NA")
    yield "answer", codes, Ruler(labels, "nominal", np.arange(len(labels), dtype=float), False)


def _left_out(codes: Codes) -> Codes:
    return np.where(codes == NA_MARK, np.uint8(ABSENT), codes)


# -- who is compared with whom


def _estimates(
    table: RatingTable, codes: Codes, ruler: Ruler, design: Design, about: dict[str, Any]
) -> Iterator[Estimate]:
    for one in _of(table, codes, ruler, design):
        yield replace(one, raters=table.raters, **about)
    for name, members in _groups(table).items():
        if isinstance(members, tuple):
            found = of_groups(codes, members[0], members[1], ruler, design)
            raters = tuple(table.raters[at] for group in members for at in group)
        else:
            found = _of(table, codes[members], ruler, design)
            raters = tuple(table.raters[at] for at in members)
        yield from (replace(one, raters=raters, group=name, **about) for one in found)
    quick = Design(design.method or "fisher", design.seed)
    for name, wanted in table.slices().items():
        part = np.ascontiguousarray(codes[:, wanted])
        for one in _of(table, part, ruler, quick):
            yield replace(one, raters=table.raters, slice=name, **about)
    if not table.anonymous and len(table.raters) > 2:
        for one in _pairs(table, codes, ruler, design):
            yield replace(one, **about)


def _of(table: RatingTable, codes: Codes, ruler: Ruler, design: Design) -> list[Estimate]:
    """Estimates of a set of raters; of two, Cohen's kappa too."""
    found = of_set(codes, ruler, design, anonymous=table.anonymous)
    if len(codes) == 2 and not table.anonymous:
        tables = pair_tables(codes, len(ruler.labels))
        pair = of_pair(tables[0, 1], ruler, design)
        found += [one for one in pair if one.coefficient == "cohen_kappa"]
    return found


def _groups(table: RatingTable) -> dict[str, Any]:
    """Raters by kind: of one kind among themselves, of two kinds one against the other."""
    by_kind: dict[str, list[int]] = {}
    for at, rater in enumerate(table.raters):
        if rater in table.kinds:
            by_kind.setdefault(table.kinds[rater], []).append(at)
    if len(by_kind) < 2:
        return {}
    within = {f"{kind}–{kind}": group for kind, group in by_kind.items() if len(group) > 1}
    across = {f"{a}–{b}": (by_kind[a], by_kind[b]) for a, b in combinations(sorted(by_kind), 2)}
    return {**within, **across}


def _pairs(table: RatingTable, codes: Codes, ruler: Ruler, design: Design) -> Iterator[Estimate]:
    pairs = list(combinations(range(len(table.raters)), 2))
    if len(pairs) > MOST_PAIRS:
        return
    if len(pairs) > RESAMPLED_PAIRS and design.method is None:
        design = Design("fisher", design.seed)
    first, second = np.transpose(pairs)
    tables = pair_tables(codes, len(ruler.labels))[first, second]  # (P, K, K)
    met = np.flatnonzero(tables.any(axis=(1, 2)))
    if len(met):
        for at, found in zip(met, of_pairs(tables[met], ruler, design), strict=True):
            raters = table.raters[first[at]], table.raters[second[at]]
            yield from (replace(estimate, raters=raters) for estimate in found)


# -- what to look at


def _drivers(table: RatingTable, criterion: CriterionTable, codes: Codes) -> list[Driver]:
    """The items on which answers lie furthest apart."""
    points = criterion.ruler.points
    gap = np.abs(points[:, None] - points[None, :])
    if criterion.ruler.level == "nominal":
        gap = 1 - np.eye(len(points))
    gap = gap / (gap.max(initial=0) or 1)
    hits = np.stack([(codes == value).sum(axis=0, dtype=np.int32) for value in range(len(points))])
    m = hits.sum(axis=0)
    apart = ((gap @ hits) * hits).sum(axis=0)  # hits are of shape (K, N)
    share = np.where(m > 1, apart / np.maximum(1, m * (m - 1)), 0)
    worst = _largest(share, DRIVING)
    return [
        Driver(
            _named(criterion),
            str(table.units["item"][int(at)]),
            {
                rater: criterion.ruler.labels[codes[row, at]]
                for row, rater in enumerate(table.raters)
                if codes[row, at] != ABSENT
            },
            round(float(share[at]), 6),
        )
        for at in worst
        if share[at] > 0
    ]


def _largest(numbers: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Where the largest stand, the first of equal ones first; sorting all would take long."""
    least = np.partition(numbers, -most)[-most] if len(numbers) > most else -np.inf
    above, at = np.flatnonzero(numbers > least), np.flatnonzero(numbers == least)
    found = np.concatenate([above, at[: max(0, most - len(above))]])
    return found[np.argsort(-numbers[found], kind="stable")][:most]


def _confusions(table: RatingTable, criterion: CriterionTable, codes: Codes) -> list[Confusion]:
    if table.anonymous or len(table.raters) > 12:
        return []
    tables: NDArray[np.int64] = pair_tables(codes, len(criterion.ruler.labels))
    return [
        Confusion(
            _named(criterion),
            (table.raters[one], table.raters[other]),
            criterion.ruler.labels,
            tables[one, other].tolist(),
        )
        for one, other in combinations(range(len(table.raters)), 2)
        if tables[one, other].any()
    ]
