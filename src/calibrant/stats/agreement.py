"""All estimates of one table of ratings: a set of raters, a pair, or two groups.

``codes`` has shape (R, N), see ``stats.counts``. Nothing here knows files, rubrics or names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from calibrant.stats import bootstrap, icc
from calibrant.stats.bootstrap import FEW, LARGE, MANY, RARE, slope_at_perfection
from calibrant.stats.catalogue import Measure, measures
from calibrant.stats.counts import ABSENT, Patterns, counts_of, patterns
from calibrant.stats.estimate import Estimate, Method
from calibrant.stats.moments import (
    Array,
    Moments,
    Rows,
    between,
    by_rater,
    cells_of_pairs,
    exchangeable,
)
from calibrant.stats.percent import total
from calibrant.stats.runs import Codes
from calibrant.stats.weights import Level, Matrix

WIDE = 25
"""Values from which a scale is wide. What an item contributes grows with their square; resampling
takes too long, and the same answer twice is chance."""
NO_PAIRS = "no item has two answers"
NO_VARIATION = "no variation: all answers are the same"
NO_DIFFERENCE = "no variation between items: their mean answers are the same"
FEW_ITEMS = "fewer than two items were rated"
FEW_COMPLETE = "fewer than two items were rated by every rater"


@dataclass(frozen=True, slots=True)
class Ruler:
    """What the codes of a table stand for."""

    labels: tuple[str, ...]
    """By code."""
    level: Level
    points: Matrix
    """Places or numbers by code, shape (K,)."""
    numeric: bool
    """Whether the points are numbers that may be averaged."""


@dataclass(frozen=True, slots=True)
class Design:
    """How intervals are made."""

    method: Method | None = None
    """None: resampled below a thousand items on a scale that is not wide, else from the standard
    error."""
    seed: int = 0


def of_set(
    codes: Codes, ruler: Ruler, design: Design, *, anonymous: bool = False
) -> list[Estimate]:
    """Estimates of a set of raters; ``anonymous`` columns are not the same rater throughout."""
    values = len(ruler.labels)
    chosen = _chosen(ruler, pair=False)
    unique = _rated(patterns(codes, values))
    found = counts_of(unique, values)
    alone = exchangeable(found)
    whole = alone if anonymous else by_rater(unique, values)
    drawn = _drawn(whole, chosen, design)
    # a single answer tells alpha nothing, and the others what answers are usual
    paired = alone.only(found.counts.sum(axis=1) >= 2)
    out: list[Estimate] = []
    for rows, names in (
        (alone, _OF_COUNTS),
        (paired, ("krippendorff_alpha",)),
        (whole, () if anonymous else ("conger_kappa",)),
    ):
        at = [place for place, one in enumerate(chosen) if one.coefficient in names]
        mine = None if drawn is None else drawn[at]
        if at:
            out += _estimates(rows, [chosen[place] for place in at], design, mine)[0]
    out += _iccs(unique, ruler, anonymous)
    return _described(out, found.times @ found.counts, ruler)


_OF_COUNTS = ("percent", "percent_within_one", "fleiss_kappa", "gwet_ac", "brennan_prediger")
"""Coefficients to which it does not matter who gave an answer, and a single one does."""


def _rated(found: Patterns) -> Patterns:
    """Without the items that nobody answered."""
    some = (found.codes != ABSENT).any(axis=0)
    return Patterns(np.ascontiguousarray(found.codes[:, some]), found.times[some])


def of_pair(table: NDArray[np.int64], ruler: Ruler, design: Design) -> list[Estimate]:
    """Estimates of two raters from the table of their answers, shape (K, K)."""
    return of_pairs(table[None], ruler, design)[0]


def of_pairs(tables: NDArray[np.int64], ruler: Ruler, design: Design) -> list[list[Estimate]]:
    """Estimates of each of P pairs of raters from their tables, shape (P, K, K)."""
    chosen = _chosen(ruler, pair=True)
    # on a long scale most cells are empty, and not the same ones for every pair
    step = len(tables) if tables[0].size <= _FEW_CELLS else 1
    out: list[list[Estimate]] = []
    for start in range(0, len(tables), step):
        part = tables[start : start + step]
        rows = cells_of_pairs(part)
        rows = rows.only(np.asarray(rows.times.any(axis=0)))
        given = part.sum(axis=1) + part.sum(axis=2)  # (P, K)
        for mine, found in zip(given, _estimates(rows, chosen, design), strict=True):
            shares, ratings = _shares(mine, ruler), int(mine.sum())
            out.append([replace(one, prevalence=shares, n_ratings=ratings) for one in found])
    return out


_FEW_CELLS = 64
"""Cells of a table up to which pairs are computed together."""


def of_groups(
    codes: Codes, first: Sequence[int], second: Sequence[int], ruler: Ruler, design: Design
) -> list[Estimate]:
    """Estimates between two groups of raters: one of each at a time, never two of a group."""
    values, mine = len(ruler.labels), range(len(first))
    codes = codes[[*first, *second]]
    answered = codes != ABSENT
    codes = codes[:, answered[: len(mine)].any(axis=0) & answered[len(mine) :].any(axis=0)]
    rows = between(patterns(codes, values), values, mine, range(len(mine), len(codes)))
    chosen = _chosen(ruler, pair=True)
    given = np.bincount(codes.reshape(-1), minlength=256)[:values]
    return _described(_estimates(rows, chosen, design)[0], given, ruler)


def _chosen(ruler: Ruler, *, pair: bool) -> list[Measure]:
    """The measures that fit the scale: on a wide one, those to which near is not far."""
    known = measures(ruler.level, ruler.points, pair=pair)
    if len(ruler.labels) <= WIDE or ruler.level == "nominal":
        return known
    return [
        one
        for one in known
        if one.weights == "quadratic"
        or one.coefficient in ("percent", "percent_within_one")
        or (one.coefficient == "krippendorff_alpha" and one.level == ruler.level)
    ]


def _described(found: list[Estimate], given: NDArray[np.int64], ruler: Ruler) -> list[Estimate]:
    """With the shares of the answers, of which there are so many by code, and their number."""
    shares = _shares(given, ruler)
    return [
        replace(one, prevalence=shares, n_ratings=one.n_ratings or int(given.sum()))
        for one in found
    ]


def _shares(given: NDArray[np.int64], ruler: Ruler) -> dict[str, float]:
    total = max(1, int(given.sum()))
    return {label: float(n) / total for label, n in zip(ruler.labels, given, strict=True)}


# -- from moments


@dataclass(frozen=True, slots=True)
class _Samples:
    """What the estimates of P samples have in common; M measures were asked for."""

    rows: Rows
    sums: Array
    """Shape (P, d)."""
    methods: list[Method]
    """Of each sample, before anything is asked of the binomial."""
    values: Array
    """Shape (M, P)."""
    errors: Array
    """As published, shape (M, P)."""
    low: Array
    high: Array
    """Limits, shape (M, P)."""
    rare: NDArray[np.bool_]
    """Whether resampling sees too little, shape (M, P)."""

    @property
    def items(self) -> NDArray[np.int64]:
        """Items with an answer, shape (P,)."""
        return np.asarray(self.rows.times.sum(axis=-1))


def _estimates(
    rows: Rows, chosen: Sequence[Measure], design: Design, drawn: Array | None = None
) -> list[list[Estimate]]:
    """Every measure of every sample; ``drawn`` holds resamples of a single one."""
    times = np.atleast_2d(rows.times)
    rows = Rows(rows.make, times, rows.values, rows.raters)
    sums = rows.sums()
    paired = rows.read(sums).paired
    found = _samples(rows, sums, chosen, design, drawn) if paired.any() else None
    return [
        [_estimate(one, (at, sample), int(n), found) for at, one in enumerate(chosen)]
        for sample, n in enumerate(paired)
    ]


def _samples(
    rows: Rows, sums: Array, chosen: Sequence[Measure], design: Design, drawn: Array | None
) -> _Samples:
    moments, whole = rows.read(sums), rows.read(sums[:, None, :])
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.stack([one.value(moments) for one in chosen])
    functions: list[Callable[[Moments], Array]] = [one.value for one in chosen]
    functions += [partial(one.held, whole) for one in chosen]
    influence, held = np.split(bootstrap.influences(rows, functions), 2)
    errors, spread = (bootstrap.standard_errors(one, rows.times) for one in (held, influence))
    items = rows.times.sum(axis=-1)
    errors *= _as_published(chosen, items)
    # what counts are the items that tell something
    methods = [_method(rows, design, int(n)) for n in moments.paired]
    if methods[0] in ("t", "normal"):  # which the user asked for
        low, high = bootstrap.normal(values, errors, items if methods[0] == "t" else None)
    else:
        low, high = bootstrap.fisher(values, spread)
    for sample, method in enumerate(methods):
        if method == "bca" and moments.paired[sample]:
            own = Rows(rows.make, rows.times[sample], rows.values, rows.raters)
            found = _drawn(own, chosen, design) if drawn is None else drawn
            assert found is not None
            for at in range(len(chosen)):
                if np.isfinite(values[at, sample]):
                    low[at, sample], high[at, sample] = bootstrap.bca(
                        values[at, sample], found[at], influence[at, sample], own.times
                    )
    return _Samples(rows, sums, methods, values, errors, low, high, _rare(rows, chosen))


def _method(rows: Rows, design: Design, paired: int) -> Method:
    resampled = paired < LARGE and rows.values <= WIDE
    return design.method or ("bca" if resampled else "fisher")


def _drawn(rows: Rows, chosen: Sequence[Measure], design: Design) -> Array | None:
    """Resampled values of one sample, shape (measures, resamples), where they are wanted."""
    n = int(rows.read(rows.sums()).paired)
    if not n or _method(rows, design, n) != "bca":
        return None
    random = np.random.default_rng(design.seed)
    return bootstrap.replicates(rows, chosen, FEW if n < 100 else MANY, random)


def _as_published(chosen: Sequence[Measure], items: NDArray[np.int64]) -> Array:
    """Fleiss, Cohen and Everitt divide by n where others divide by n - 1, shape (M, P)."""
    cohen = np.array([[one.coefficient == "cohen_kappa"] for one in chosen])
    return np.where(cohen, np.sqrt(np.maximum(0, items - 1) / np.maximum(1, items)), 1.0)


def _rare(rows: Rows, chosen: Sequence[Measure]) -> NDArray[np.bool_]:
    """Where so few items disagree, or agree, that resampling sees too little, shape (M, P)."""
    agreeing = np.zeros((len(chosen), len(rows.times)), np.int64)
    apart = np.zeros_like(agreeing)
    for part, terms in rows.parts():
        moments, times = rows.read(terms), rows.times[:, part]
        for at, one in enumerate(chosen):
            same = total(moments.agreements, one.same)
            agreeing[at] += times @ (same > 1e-9)
            apart[at] += times @ (moments.paired - same > 1e-9)
    return np.minimum(agreeing, apart) <= RARE


def _estimate(
    measure: Measure, at: tuple[int, int], paired: int, found: _Samples | None
) -> Estimate:
    blank = Estimate(
        coefficient=measure.coefficient,
        level=measure.level,
        weights=measure.weights,
        n_items=paired,
    )
    if found is None or not paired:
        return replace(blank, undefined=NO_PAIRS)
    value, se = float(found.values[at]), float(found.errors[at])
    if not np.isfinite(value):
        return replace(blank, undefined=NO_VARIATION)
    known = int(found.items[at[1]]) > 1 and bool(np.isfinite(se))
    limits = (float(found.low[at]), float(found.high[at])) if known else (value, value)
    chosen = found.methods[at[1]]
    method: Method | None = chosen if known else None
    if chosen in ("bca", "fisher") and found.rare[at]:
        limits, method = _beside_binomial(limits, value, measure, found, at[1])
    if method is None:
        return replace(blank, value=value, se=se if known else None)
    least = 0.0 if measure.coefficient.startswith("percent") else -1.0
    low, high = max(least, limits[0]), min(1.0, limits[1])
    interval = min(low, value), max(high, value)
    return replace(blank, value=value, se=se if known else None, interval=interval, method=method)


def _beside_binomial(
    limits: tuple[float, float], value: float, measure: Measure, found: _Samples, sample: int
) -> tuple[tuple[float, float], Method]:
    """The wider limits of two methods; only the binomial's where nothing disagrees."""
    sums = found.rows.read(found.sums[sample])
    paired = float(sums.paired)
    agreed = float(total(sums.agreements, measure.same)) / paired
    disagree = 1 - agreed > 1e-12
    slope = (1 - value) / (1 - agreed) if disagree else slope_at_perfection(sums, measure)
    low, high = bootstrap.from_share(agreed, paired, slope)
    both: Method = "bca+binomial" if found.methods[sample] == "bca" else "fisher+binomial"
    wider = min(limits[0], low), max(limits[1], high)
    return wider, both if disagree else "binomial"


# -- intraclass correlations


def _iccs(found: Patterns, ruler: Ruler, anonymous: bool) -> list[Estimate]:
    if not ruler.numeric:
        return []
    answered = found.codes != ABSENT
    numbers = np.where(answered, ruler.points[np.minimum(found.codes, len(ruler.points) - 1)], 0.0)
    times = found.times.astype(np.float64)
    numbers = np.where(
        answered, numbers - (numbers @ times).sum() / max(1, (answered @ times).sum()), 0.0
    )
    some, whole = answered.any(axis=0), answered.all(axis=0)
    out = _one_way(numbers[:, some], answered[:, some], times[some])
    if anonymous:
        why = "columns are not the same rater throughout: only one-way forms mean something"
        blank = [Estimate(coefficient="icc", level="interval", form=form) for form in icc.TWO_WAY]
        return out + [replace(one, undefined=why) for one in blank]
    return out + _two_way(numbers[:, whole].T, times[whole])


def _one_way(numbers: Array, answered: NDArray[np.bool_], times: Array) -> list[Estimate]:
    """From patterns of shape (R, U) in which somebody answered."""
    sizes = answered.sum(axis=0).astype(np.float64)
    paired, n = int(times @ (sizes > 1)), int(times.sum())
    blank = [
        Estimate(coefficient="icc", level="interval", form=form, n_items=paired)
        for form in icc.ONE_WAY
    ]
    if not paired or n < 2:
        return [replace(one, undefined=NO_PAIRS if not paired else FEW_ITEMS) for one in blank]
    parts = sizes, numbers.sum(axis=0), (numbers**2).sum(axis=0), times
    ms, without = icc.one_way(*parts), icc.one_way_without_each(*parts)
    given = _tally(numbers[answered], np.broadcast_to(times, answered.shape)[answered])
    return [_icc(one, ms, without, times, given) for one in blank]


def _two_way(table: Array, times: Array) -> list[Estimate]:
    """From patterns of shape (U, k) in which everybody answered."""
    n, raters = int(times.sum()), table.shape[1]
    blank = [
        Estimate(coefficient="icc", level="interval", form=form, n_items=n, n_ratings=n * raters)
        for form in icc.TWO_WAY
    ]
    if raters < 2 or n < 2:
        return [replace(one, undefined=FEW_COMPLETE, n_ratings=0) for one in blank]
    table = table - (times @ table).mean() / n
    ms, without = icc.two_way(table, times), icc.two_way_without_each(table, times)
    given = _tally(table.reshape(-1), np.repeat(times, raters))
    return [_icc(one, ms, without, times, given) for one in blank]


def _tally(numbers: Array, times: Array) -> Array:
    """How often each number was given."""
    _, which = np.unique(numbers, return_inverse=True)
    return np.bincount(which, times).astype(np.float64)


def _icc(
    one: Estimate, ms: icc.Squares, without: icc.Squares, times: Array, given: Array
) -> Estimate:
    assert one.form is not None
    form: icc.Form = one.form  # type: ignore[assignment]
    if len(given) == 1:
        return replace(one, undefined=NO_VARIATION)
    value = float(icc.icc(form, ms))
    if not np.isfinite(value):
        return replace(one, undefined=NO_DIFFERENCE)
    left = icc.icc(form, without)
    n = times.sum()
    se = float(np.sqrt((n - 1) / n * (times @ (left - times @ left / n) ** 2)))
    out = replace(one, value=value, se=se if np.isfinite(se) else None)
    low, high = icc.interval(form, ms, bootstrap.CONFIDENCE)
    if low > 1 - 1e-9:  # a table without error would prove perfection
        chance = float(((given / given.sum()) ** 2).sum())
        single, _ = bootstrap.from_share(1.0, one.n_items, 1 / (1 - chance))
        low = icc.of_form(form, max(0.0, single), float(ms.k))
        return replace(out, interval=(low, 1.0), method="binomial")
    low = min(-1.0, value) if low == -np.inf else low
    if not low <= value <= high or high - low < 1e-9:  # too few items for the formula
        return out
    return replace(out, interval=(low, high), method="F")
