"""Krippendorff's alpha: disagreement within items against disagreement among all answers.

Any number of raters, any gaps; items with a single answer tell nothing and are left out. The
ordinal distance between two values is the squared difference of their mid-ranks among all
answers, so it is the interval distance on ranks that belong to the sample.
"""

from __future__ import annotations

import numpy as np

from calibrant.stats.moments import Array, Moments, Table
from calibrant.stats.outer import Nearby
from calibrant.stats.percent import chance_of, total
from calibrant.stats.weights import Level, Matrix, identity, ratio_distance, squared_gap


def alpha(sums: Moments, level: Level, points: Matrix, *, exact: bool = True) -> Array:
    """Alpha at a level of measurement, (...); not exact, without its correction for small n."""
    match level:
        case "nominal":
            return alpha_of(sums.coincidences, 1 - identity(len(points)), exact=exact)
        case "ordinal":
            return _ordinal(sums.coincidences, exact)
        case "interval":
            return alpha_of(sums.coincidences, squared_gap(points), exact=exact)
        case "ratio":
            return alpha_of(sums.coincidences, ratio_distance(points), exact=exact)


def alpha_of(coincidences: Table, distances: Matrix, *, exact: bool = True) -> Array:
    """Alpha of coincidences of shape (..., K, K) and distances of shape (K, K)."""
    of_value = _rows(coincidences)
    among = chance_of(of_value, of_value, distances)
    return _of(total(coincidences, distances), among, of_value.sum(axis=-1), exact)


def _rows(table: Table) -> Array:
    return table.rows() if isinstance(table, Nearby) else table.sum(axis=-1)


def _ordinal(coincidences: Table, exact: bool) -> Array:
    """Squared gaps of ranks, from sums over the ranks: no table of distances for each sample.

    The mean of mid-ranks is half the number of answers, so ranks are counted from there.
    """
    of_value = _rows(coincidences)
    n = of_value.sum(axis=-1)
    rank = of_value.cumsum(axis=-1) - of_value / 2 - n[..., None] / 2
    if isinstance(coincidences, Nearby):  # ranks that each value's ranks meet
        met = coincidences.times(rank)
    else:
        met = (coincidences @ rank[..., None])[..., 0]
    within = 2 * (rank * (of_value * rank - met)).sum(axis=-1)
    among = 2 * n * (of_value * rank**2).sum(axis=-1)
    return _of(within, among, n, exact)


def _of(within: Array, among: Array, n: Array, exact: bool) -> Array:
    """From disagreement within items and among all ``n`` answers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(among > 0, 1 - (n - (1 if exact else 0)) * within / among, np.nan)
