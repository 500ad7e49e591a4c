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
from calibrant.stats.bootstrap import FEW, LARGE, MANY, RARE
from calibrant.stats.catalogue import Measure, measures
from calibrant.stats.counts import ABSENT, Patterns, counts, patterns
from calibrant.stats.estimate import Estimate, Method
from calibrant.stats.moments import Array, Moments, Rows, between, by_rater, exchangeable
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
    found = counts(codes, values)
    alone = exchangeable(found)
    # a single answer tells alpha nothing, and the others what answers are usual
    alphas = [one for one in chosen if one.coefficient == "krippendorff_alpha"]
    own = [one for one in chosen if one.coefficient == "conger_kappa"]
    rest = [one for one in chosen if one.coefficient not in ("krippendorff_alpha", "conger_kappa")]
    out = _estimates(alone, rest, design)
    out += _estimates(alone.only(found.counts.sum(axis=1) >= 2), alphas, design)
    unique = patterns(codes, values)
    if not anonymous:
        out += _estimates(by_rater(unique, values), own, design)
    out += _iccs(unique, ruler, anonymous)
    return _described(out, codes, ruler)


def of_pair(table: NDArray[np.int64], ruler: Ruler, design: Design) -> list[Estimate]:
    """Estimates of two raters from the table of their answers, shape (K, K)."""
    first, second = np.nonzero(table)
    cells = np.stack([first, second]).astype(np.uint8)
    times = table[first, second]
    rows = between(Patterns(cells, times), len(table), [0], [1])
    chosen = _chosen(ruler, pair=True)
    both = np.concatenate([table.sum(axis=1, keepdims=True), table.sum(axis=0)[:, None]], axis=1)
    return [
        replace(one, prevalence=_shares(both.sum(axis=1), ruler), n_ratings=2 * int(times.sum()))
        for one in _estimates(rows, chosen, design)
    ]


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
    return _described(_estimates(rows, chosen, design), codes, ruler)


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


def _described(found: list[Estimate], codes: Codes, ruler: Ruler) -> list[Estimate]:
    """With the shares of the answers and their number."""
    given = np.bincount(codes.reshape(-1), minlength=256)[: len(ruler.labels)]
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
class _Sample:
    """What the estimates of one table have in common."""

    rows: Rows
    sums: Moments
    method: Method
    """Before anything is asked of the binomial."""
    influence: Array
    """Shape (measures, U)."""
    errors: Array
    """As published, shape (measures,)."""
    spread: Array
    """Standard errors from the influences, shape (measures,)."""
    drawn: Array | None
    """Resampled values, shape (measures, resamples)."""

    @property
    def items(self) -> int:
        """Items with an answer."""
        return int(self.rows.times.sum())


def _estimates(rows: Rows, chosen: Sequence[Measure], design: Design) -> list[Estimate]:
    """Every measure of one set of rows."""
    rows = rows.only(rows.read(rows.terms).rated > 0)
    paired = int(rows.read(rows.sums()).paired)
    blank = [
        Estimate(coefficient=one.coefficient, level=one.level, weights=one.weights, n_items=paired)
        for one in chosen
    ]
    if not paired:
        return [replace(one, undefined=NO_PAIRS) for one in blank]
    sample = _sample(rows, chosen, design)
    return [
        _estimate(one, measure, at, sample)
        for at, (one, measure) in enumerate(zip(blank, chosen, strict=True))
    ]


def _sample(rows: Rows, chosen: Sequence[Measure], design: Design) -> _Sample:
    sums = rows.read(rows.sums())
    n = int(sums.paired)  # what counts are the items that tell something
    resampled = n < LARGE and rows.values <= WIDE
    method: Method = design.method or ("bca" if resampled else "fisher")
    functions: list[Callable[[Moments], Array]] = [one.value for one in chosen]
    functions += [partial(one.held, sums) for one in chosen]
    influence, held = np.split(bootstrap.influences(rows, functions), 2)
    errors, spread = (bootstrap.standard_errors(one, rows.times) for one in (held, influence))
    drawn = None
    if method == "bca":
        random = np.random.default_rng(design.seed)
        drawn = bootstrap.replicates(rows, chosen, FEW if n < 100 else MANY, random)
    return _Sample(rows, sums, method, influence, errors, spread, drawn)


def _estimate(blank: Estimate, measure: Measure, at: int, sample: _Sample) -> Estimate:
    value, se, n = float(measure.value(sample.sums)), float(sample.errors[at]), sample.items
    if not np.isfinite(value):
        return replace(blank, undefined=NO_VARIATION)
    if measure.coefficient == "cohen_kappa":  # as Fleiss, Cohen and Everitt have it
        se *= ((n - 1) / n) ** 0.5
    known = n > 1 and bool(np.isfinite(se))
    out = replace(blank, value=value, se=se if known else None)
    limits = _limits(out, at, sample) if known else (value, value)
    method: Method | None = sample.method if known else None
    if sample.method in ("bca", "fisher"):
        limits, method = _beside_binomial(limits, value, measure, sample)
    if method is None:
        return out
    least = 0.0 if measure.coefficient.startswith("percent") else -1.0
    low, high = max(least, limits[0]), min(1.0, limits[1])
    return replace(out, interval=(min(low, value), max(high, value)), method=method)


def _limits(one: Estimate, at: int, sample: _Sample) -> tuple[float, float]:
    assert one.value is not None and one.se is not None
    if sample.drawn is not None:
        times = sample.rows.times
        return bootstrap.bca(one.value, sample.drawn[at], sample.influence[at], times)
    if sample.method == "fisher":
        return bootstrap.fisher(one.value, float(sample.spread[at]))
    return bootstrap.normal(one.value, one.se, sample.items if sample.method == "t" else None)


def _beside_binomial(
    limits: tuple[float, float], value: float, measure: Measure, sample: _Sample
) -> tuple[tuple[float, float], Method]:
    """The wider limits, where so few items disagree, or agree, that resampling sees too little."""
    moments = sample.rows.read(sample.rows.terms)
    same = (moments.agreements * measure.same).sum(axis=(-2, -1))
    times = sample.rows.times
    agreeing = int(times[same > 1e-9].sum())
    disagreeing = int(times[moments.paired - same > 1e-9].sum())
    if min(agreeing, disagreeing) > RARE:
        return limits, sample.method
    paired = float(sample.sums.paired)
    agreed = float((sample.sums.agreements * measure.same).sum()) / paired
    if disagreeing:
        slope = (1 - value) / (1 - agreed)
    else:
        slope = bootstrap.slope_at_perfection(sample.sums, measure)
    low, high = bootstrap.from_share(agreed, paired, slope)
    both: Method = "bca+binomial" if sample.method == "bca" else "fisher+binomial"
    wider = min(limits[0], low), max(limits[1], high)
    return wider, both if disagreeing else "binomial"


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
