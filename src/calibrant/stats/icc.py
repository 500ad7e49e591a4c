"""Intraclass correlations: the six forms of Shrout and Fleiss 1979.

Intervals are those of McGraw and Wong 1996.
One-way forms take items with different numbers of ratings; two-way forms take the items that
every rater rated, and mean something only where a column is the same rater throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Form: TypeAlias = Literal["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"]
ONE_WAY: tuple[Form, ...] = ("ICC(1,1)", "ICC(1,k)")
TWO_WAY: tuple[Form, ...] = ("ICC(2,1)", "ICC(3,1)", "ICC(2,k)", "ICC(3,k)")
_NOTHING = 1e-12
"""Share of the whole variation that is rounding."""


@dataclass(frozen=True, slots=True)
class Squares:
    """Mean squares of a table of ratings; arrays of any one shape, one entry a sample."""

    items: Array
    """Between items."""
    within: Array
    """Within items."""
    raters: Array
    """Between raters; not a number in a one-way table."""
    error: Array
    """What items and raters leave; not a number in a one-way table."""
    n: Array
    """Items."""
    k: Array
    """Ratings an item; of unequal numbers, the one that makes the formulas hold."""
    spare: Array
    """Ratings beyond the first of their item: the degrees of freedom within items."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over the items of a one-way table."""

    n: Array
    sizes: Array
    squared_sizes: Array
    total: Array
    by_item: Array
    """Of each item's squared sum over its size."""
    squares: Array


def one_way(sizes: Array, sums: Array, squares: Array) -> Squares:
    """From each item's number of ratings (at least 2 somewhere), their sum, their squares."""
    parts = (np.ones_like(sizes), sizes, sizes**2, sums, sums**2 / sizes, squares)
    return _one_way(_Sums(*(np.asarray(part.sum()) for part in parts)), squares.sum())


def one_way_without_each(sizes: Array, sums: Array, squares: Array) -> Squares:
    """Mean squares with each item left out, shape (n,)."""
    parts = (np.ones_like(sizes), sizes, sizes**2, sums, sums**2 / sizes, squares)
    return _one_way(_Sums(*(part.sum() - part for part in parts)), squares.sum())


def _one_way(of: _Sums, whole: float) -> Squares:
    with np.errstate(divide="ignore", invalid="ignore"):  # of two items, one may be left
        between = _cleared(of.by_item - of.total**2 / of.sizes, whole)
    within = _cleared(of.squares - of.by_item, whole)
    none, spare = np.full_like(between, np.nan), of.sizes - of.n
    with np.errstate(divide="ignore", invalid="ignore"):
        k = (of.sizes - of.squared_sizes / of.sizes) / (of.n - 1)
        return Squares(between / (of.n - 1), within / spare, none, none, of.n, k, spare)


def _cleared(squares: Array, whole: float) -> Array:
    """Sums of squares without what is mere rounding of the whole."""
    return np.where(squares > _NOTHING * whole, squares, 0.0)


def two_way(table: Array) -> Squares:
    """From a complete table, shape (..., n, k)."""
    n, k = table.shape[-2:]
    grand = table.mean(axis=(-2, -1), keepdims=True)
    by_item = table.mean(axis=-1, keepdims=True)
    by_rater = table.mean(axis=-2, keepdims=True)
    whole = ((table - grand) ** 2).sum(axis=(-2, -1))
    items, raters, error, within = (
        _cleared((part**2).sum(axis=(-2, -1)) * times, whole) / df
        for part, times, df in (
            (by_item - grand, k, n - 1),
            (by_rater - grand, n, k - 1),
            (table - by_item - by_rater + grand, 1, (n - 1) * (k - 1)),
            (table - by_item, 1, n * (k - 1)),
        )
    )
    sizes = (np.full(np.shape(items), float(size)) for size in (n, k, n * (k - 1)))
    return Squares(items, within, raters, error, *sizes)


def icc(form: Form, ms: Squares) -> Array:
    """One form; not a number where items vary less than chance can tell from nothing."""
    b, w, j, e, n, k = ms.items, ms.within, ms.raters, ms.error, ms.n, ms.k
    with np.errstate(divide="ignore", invalid="ignore"):
        top, bottom = {
            "ICC(1,1)": (b - w, b + (k - 1) * w),
            "ICC(1,k)": (b - w, b),
            "ICC(2,1)": (b - e, b + (k - 1) * e + k * (j - e) / n),
            "ICC(2,k)": (b - e, b + (j - e) / n),
            "ICC(3,1)": (b - e, b + (k - 1) * e),
            "ICC(3,k)": (b - e, b),
        }[form]
        return np.where(bottom > _NOTHING * (b + k * w), top / bottom, np.nan)


def interval(form: Form, ms: Squares, confidence: float) -> tuple[float, float]:
    """Limits from the F distribution; not numbers, or the value twice, where it says nothing."""
    n, k = float(ms.n), float(ms.k)
    tail = (1 + confidence) / 2
    if form in ("ICC(2,1)", "ICC(2,k)"):
        low, high = _random(ms, tail)
    else:
        one_way = form in ONE_WAY
        rest = float(ms.within if one_way else ms.error)
        if rest <= _NOTHING * float(ms.items):
            return 1.0, 1.0
        f, df = float(ms.items) / rest, float(ms.spare) if one_way else (n - 1) * (k - 1)
        down, up = f / _f(tail, n - 1, df), f * _f(tail, df, n - 1)
        low, high = (down - 1) / (down + k - 1), (up - 1) / (up + k - 1)
    return of_form(form, low, k), of_form(form, high, k)


def _random(ms: Squares, tail: float) -> tuple[float, float]:
    """Limits of ICC(2,1), with degrees of freedom by Satterthwaite."""
    b, j, e, n, k = (float(one) for one in (ms.items, ms.raters, ms.error, ms.n, ms.k))
    if e + j <= _NOTHING * b:
        return 1.0, 1.0
    value = float(icc("ICC(2,1)", ms))
    spread = n * (1 + (k - 1) * value) - k * value
    df = k - 1.0
    if e > _NOTHING * (b + j):
        of_raters = k * value * j / e
        df = (k - 1) * (n - 1) * (of_raters + spread) ** 2
        df /= ((n - 1) * of_raters**2 + spread**2) or np.nan
    upper, lower = _f(tail, n - 1, df), _f(tail, df, n - 1)
    rest = k * j + (k * n - k - n) * e
    low = n * (b - upper * e) / (upper * rest + n * b)
    return low, n * (lower * b - e) / (rest + n * lower * b)


def of_form(form: Form, single: float, k: float) -> float:
    """What the form has, given what one rating has; for means of k by Spearman and Brown."""
    if not form.endswith("k)"):
        return single
    whole = 1 + single * (k - 1)
    return single * k / whole if whole > 0 else -np.inf


def _f(share: float, top: float, bottom: float) -> float:
    """The quantile of the F distribution."""
    from scipy.special import fdtri

    return float(fdtri(top, bottom, share))


def two_way_without_each(table: Array) -> Squares:
    """Mean squares of a complete (n, k) table with each of its items left out, shape (n,)."""
    n, k = table.shape
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    left = n - 1
    of_rater = columns[None, :] - table  # (n, k)
    total = rows.sum() - rows
    square = (table**2).sum() - (table**2).sum(axis=1)
    by_item = ((rows**2).sum() - rows**2) / k
    by_rater = (of_rater**2).sum(axis=1) / left
    correction = total**2 / (left * k)
    items, raters, within, error = (
        _cleared(part, float((table**2).sum()))
        for part in (
            by_item - correction,
            by_rater - correction,
            square - by_item,
            square - by_item - by_rater + correction,
        )
    )
    sizes = (np.full(n, float(size)) for size in (left, k, left * (k - 1)))
    with np.errstate(divide="ignore", invalid="ignore"):  # of two items, one is left
        return Squares(
            items / (left - 1),
            within / (left * (k - 1)),
            raters / (k - 1),
            error / ((left - 1) * (k - 1)),
            *sizes,
        )
