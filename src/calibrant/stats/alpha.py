"""Krippendorff's alpha: disagreement within items against disagreement among all answers.

Any number of raters, any gaps; items with a single answer tell nothing and are left out. The
ordinal distance between two values is the squared difference of their mid-ranks among all
answers, so it is the interval distance on ranks that belong to the sample.
"""

from __future__ import annotations

import numpy as np

from calibrant.stats.moments import Array, Moments
from calibrant.stats.weights import Level, Matrix, ratio_distance, squared_gap


def alpha(sums: Moments, level: Level, points: Matrix, *, exact: bool = True) -> Array:
    """Alpha at a level of measurement, (...); not exact, without its correction for small n."""
    distances = _distances(sums.coincidences, level, points)
    return alpha_of(sums.coincidences, distances, exact=exact)


def alpha_of(coincidences: Array, distances: Array, *, exact: bool = True) -> Array:
    """Alpha of coincidences and distances, both of shape (..., K, K)."""
    of_value = coincidences.sum(axis=-1)
    n = of_value.sum(axis=-1) + (0 if exact else 1)
    within = (coincidences * distances).sum(axis=(-2, -1))
    among = np.einsum("...k,...l,...kl->...", of_value, of_value, distances)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(among > 0, 1 - (n - 1) * within / among, np.nan)


def _distances(coincidences: Array, level: Level, points: Matrix) -> Array:
    match level:
        case "nominal":
            return 1 - np.eye(len(points))
        case "ordinal":
            of_value = coincidences.sum(axis=-1)
            return squared_gap(of_value.cumsum(axis=-1) - of_value / 2)
        case "interval":
            return squared_gap(points)
        case "ratio":
            return ratio_distance(points)
