"""Intraclass correlations: the six forms of Shrout and Fleiss 1979.

Intervals are those of McGraw and Wong 1996.
One-way forms take items with different numbers of ratings; two-way forms take the items that
every rater rated, and mean something only where a column is the same rater throughout. Numbers
are taken about their mean, so that little is lost in differences of sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

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


def one_way(sizes: Array, sums: Array, squares: Array, times: Array) -> Squares:
    """From patterns, shape (U,): number of ratings, their sum, their squares, how many items."""
    parts = _one_way_parts(sizes, sums, squares)
    return _one_way([np.asarray(times @ part) for part in parts], times @ squares)


def one_way_without_each(sizes: Array, sums: Array, squares: Array, times: Array) -> Squares:
    """Mean squares with one item of each pattern left out, shape (U,)."""
    parts = _one_way_parts(sizes, sums, squares)
    return _one_way([times @ part - part for part in parts], times @ squares)


def _one_way_parts(sizes: Array, sums: Array, squares: Array) -> tuple[Array, ...]:
    return np.ones_like(sizes), sizes, sizes**2, sums, sums**2 / sizes, squares


def _one_way(sums: Sequence[Array], whole: Any) -> Squares:
    """From sums of the parts over items."""
    n, sizes, squared, total, by_item, squares = sums
    with np.errstate(divide="ignore", invalid="ignore"):  # of two items, one may be left
        between = _cleared(by_item - total**2 / sizes, whole)
        within, spare = _cleared(squares - by_item, whole), sizes - n
        k = (sizes - squared / sizes) / (n - 1)
        none = np.full_like(between, np.nan)
        return Squares(between / (n - 1), within / spare, none, none, n, k, spare)


def two_way(table: Array, times: Array) -> Squares:
    """From the patterns of a complete table, shape (U, k), and how many items have each."""
    parts = _two_way_parts(table)
    return _two_way([np.asarray(times @ part) for part in parts], times @ parts[-1])


def two_way_without_each(table: Array, times: Array) -> Squares:
    """Mean squares with one item of each pattern left out, shape (U,)."""
    parts = _two_way_parts(table)
    return _two_way([times @ part - part for part in parts], times @ parts[-1])


def _two_way_parts(table: Array) -> tuple[Array, ...]:
    squares = (table**2).sum(axis=1)
    return np.ones(len(table)), table, table.sum(axis=1) ** 2 / table.shape[1], squares


def _two_way(sums: Sequence[Array], whole: Any) -> Squares:
    """From sums of the parts over items."""
    n, of_rater, by_item, squares = sums  # (...), (..., k), (...), (...)
    k = of_rater.shape[-1]
    mean = of_rater.sum(axis=-1) ** 2 / (n * k)
    by_rater = (of_rater**2).sum(axis=-1) / n
    items, raters, within, error = (
        _cleared(part, whole)
        for part in (
            by_item - mean,
            by_rater - mean,
            squares - by_item,
            squares - by_item - by_rater + mean,
        )
    )
    with np.errstate(divide="ignore", invalid="ignore"):  # of two items, one is left
        return Squares(
            items / (n - 1),
            within / (n * (k - 1)),
            raters / (k - 1),
            error / ((n - 1) * (k - 1)),
            n,
            np.full(np.shape(n), float(k)),
            n * (k - 1),
        )


def _cleared(squares: Array, whole: float) -> Array:
    """Sums of squares without what is mere rounding of the whole."""
    return np.where(squares > _NOTHING * whole, squares, 0.0)


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
