"""What a judge's error depends on: least squares with errors that may differ from item to item.

Standard errors are those of MacKinnon and White (1985), HC3, which hold where some items are
harder than others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
LEAST_ITEMS = 20
"""Items below which no dependence is told."""
LEAST_APART = 5
"""Items that differ from the others in a cause below which nothing is told of it: the line goes
through one alone whatever its error is, and then looks sure."""
LEAST_EACH = 20
"""Items on either side of a contrast below which it is not told."""
MANY = 100
"""Items on both sides from which the means of errors are as good as normal."""
_FIRST, _MORE, _ENOUGH = 1_999, 9_999, 20
"""Random draws, those where the first ones are hardly ever as far, and how often that is."""
_CELLS, _MOST_DEALT = 1_000_000, 20_000_000
"""Errors that are dealt at a time, and in all."""


@dataclass(frozen=True, slots=True)
class Slope:
    """How far an error changes with one unit of something."""

    value: float | None = None
    se: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    n_items: int = 0
    undefined: str | None = None


def slope(error: Array, cause: Array, beside: Array | None = None) -> Slope:
    """Of the error on one cause, with an intercept; ``beside``, shape (N, K), is held equal."""
    n = len(error)
    if n < LEAST_ITEMS:
        return Slope(n_items=n, undefined=f"{n} items: too few, {LEAST_ITEMS} at least")
    if cause.std() == 0:
        return Slope(n_items=n, undefined="no variation in it")
    apart = n - int(np.unique(cause, return_counts=True)[1].max())
    if apart < LEAST_APART:
        why = f"{apart} of {n} items differ in it: too few, {LEAST_APART} at least"
        return Slope(n_items=n, undefined=why)
    others = _with_ones(n, beside)
    if _rest(cause, others).std() < 1e-9 * cause.std():
        return Slope(n_items=n, undefined="it goes along with what is held equal")
    design = np.column_stack([cause, others])
    inverse = np.linalg.pinv(design.T @ design)
    value = inverse @ design.T @ error
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    residual = (error - design @ value) / np.maximum(1 - leverage, 1e-9)
    spread = inverse @ (design.T * residual**2) @ design @ inverse
    se = sqrt(max(0.0, float(spread[0, 0])))
    freedom = n - int(np.linalg.matrix_rank(design))
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(freedom, 0.975)) * se
    found = float(value[0])
    p = 2 * float(stdtr(freedom, -abs(found) / se)) if se > 0 else float(found == 0)
    return Slope(found, se, (found - half, found + half), p, n)


def contrast(
    error: Array, own: Mask, random: np.random.Generator, beside: Array | None = None
) -> Slope:
    """How much larger the error is on some items than on the others, ``beside`` held equal.

    Of fewer than ``MANY`` items on a side, p is how often items drawn at random are as far from
    the others, in standard errors: answers pile up at the ends of a scale, and few of them are far
    from normal.
    """
    mine, others = int(own.sum()), int((~own).sum())
    if min(mine, others) < LEAST_EACH:
        why = f"{mine} such items and {others} others: too few, {LEAST_EACH} of each at least"
        return Slope(n_items=len(error), undefined=why)
    found = slope(error, own.astype(np.float64), beside)
    if not found.se or min(mine, others) >= MANY:
        return found
    aside = _with_ones(len(error), beside)
    rest, cause = _rest(error, aside), _rest(own.astype(np.float64), aside)
    return replace(found, p=_drawn_p(rest, cause, random))


def _with_ones(n: int, beside: Array | None) -> Array:
    ones = np.ones((n, 1))
    return ones if beside is None else np.column_stack([ones, beside])


def _rest(values: Array, design: Array) -> Array:
    """What a design leaves unexplained."""
    return np.asarray(values - design @ np.linalg.lstsq(design, values, rcond=None)[0])


def _drawn_p(rest: Array, cause: Array, random: np.random.Generator) -> float:
    """How often what is unexplained, dealt to items at random, is as far from 0.

    In standard errors of its own (Janssen 1997), so that a side of another spread is no finding;
    what is held equal stays with its item (Freedman and Lane 1983).
    """
    weight = cause @ cause
    tiny = 1e-12 * float(rest @ rest) * float(cause @ cause)

    def distance(dealt: Array) -> Array:
        value = dealt @ cause / weight
        left = dealt - value[:, None] * cause
        return np.asarray(np.abs(value) * weight / np.sqrt((left**2) @ (cause**2) + tiny))

    seen = float(distance(rest[None, :])[0]) * (1 - 1e-9)

    def hits(draws: int) -> int:
        step, found = max(1, _CELLS // len(rest)), 0
        for start in range(0, draws, step):
            rows = np.tile(rest, (min(step, draws - start), 1))
            found += int(np.count_nonzero(distance(random.permuted(rows, axis=1)) >= seen))
        return found

    first = hits(_FIRST)
    more = min(_MORE, _MOST_DEALT // len(rest))
    if first >= _ENOUGH or more <= _FIRST:
        return (first + 1) / (_FIRST + 1)
    return (hits(more) + 1) / (more + 1)
