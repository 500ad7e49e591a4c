"""What one rater's answers leave unexplained by the many-facet model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.counts import ABSENT
from calibrant.stats.rasch import Rasch
from calibrant.stats.rasch_design import Floats


@dataclass(frozen=True, slots=True)
class Residuals:
    """Answers of one rater to items that say something, against what the model expects.

    Arrays have a row a criterion and a column an item; where there is no answer they are 0.
    """

    rater: int
    items: NDArray[np.intp]
    """Which items, shape (n,)."""
    there: NDArray[np.bool_]
    """Shape (C, n)."""
    answer: NDArray[np.uint8]
    theta: Floats
    """Shape (n,)."""
    gap: Floats
    """Answer less what is expected."""
    spread: Floats
    """Variance that is expected."""
    groups: NDArray[np.intp]
    """The groups of these items, each once, shape (g,)."""
    place: NDArray[np.intp]
    """Which of these groups each item is in, shape (n,)."""
    left: float
    """The share of a deviation that is left in the gaps: the rest moved the item's own place."""

    @property
    def rows(self) -> Floats:
        """Gaps of each item together."""
        return np.asarray(self.gap.sum(axis=0))

    @property
    def row_spread(self) -> Floats:
        """Variance of each item's gaps together."""
        return np.asarray(self.spread.sum(axis=0))


def residuals(model: Rasch, rater: int) -> Residuals:
    """Of a rater who has a place."""
    asked = model.asked
    of = asked.groups.of
    codes = asked.codes[:, rater]
    items = np.flatnonzero((codes != ABSENT).any(axis=0) & asked.middle.take(of))
    group = of[items]
    answer = codes[:, items]
    there = answer != ABSENT
    groups, place = np.unique(group, return_inverse=True)
    mean_of, spread_of = model.expected(rater, groups)
    mean, spread = mean_of.take(place, axis=1), spread_of.take(place, axis=1)
    if not there.all():
        mean *= there
        spread *= there
    gap = answer * there - mean
    left, theta = _left(model, rater), model.theta[group]
    return Residuals(rater, items, there, answer, theta, gap, spread, groups, place, left)


def _left(model: Rasch, rater: int) -> float:
    """One less the rater's share of what an item's place rests on."""
    groups = model.asked.groups
    ratings = groups.asked.sum(axis=0)  # (R, G)
    mine = ratings[rater] * groups.times * model.asked.middle
    share = float(mine @ (ratings[rater] / np.maximum(ratings.sum(axis=0), 1)))
    return max(1 - share / max(float(mine.sum()), 1.0), 0.25)
