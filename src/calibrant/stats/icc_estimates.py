"""Intraclass correlations of a table of ratings as estimates, or why there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibrant.stats import bootstrap, icc
from calibrant.stats.counts import ABSENT, Patterns
from calibrant.stats.estimate import Estimate
from calibrant.stats.moments import Array
from calibrant.stats.samples import NO_PAIRS, NO_VARIATION
from calibrant.stats.weights import Ruler

NO_DIFFERENCE = "no variation between items: their mean answers are the same"
FEW_ITEMS = "fewer than two items were rated"
FEW_COMPLETE = "fewer than two items were rated by every rater"


def iccs(found: Patterns, ruler: Ruler, *, anonymous: bool) -> list[Estimate]:
    """Every form of one sample; two-way forms need raters who are the same throughout."""
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
