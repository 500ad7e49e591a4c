"""The single answers behind patterns, for models that weigh every answer by its rater.

Patterns of many raters are mostly empty. Entries list the answers that are there, so that the work
grows with them and not with raters by patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.counts import ABSENT, Patterns

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Entries:
    """E answers in U patterns."""

    pattern: NDArray[np.intp]
    """Shape (E,)."""
    cell: NDArray[np.intp]
    """Rater by answer, ``rater * values + answer``, shape (E,)."""
    times: Array
    """Items with each pattern, shape (U,)."""
    raters: int
    values: int

    @property
    def labels(self) -> NDArray[np.int64]:
        """How many answers each rater gave, shape (R,)."""
        given = np.bincount(self.cell, self.times[self.pattern], self.raters * self.values)
        totals = given.reshape(self.raters, self.values).sum(axis=1)
        return np.asarray(np.rint(totals), np.int64)

    def by_pattern(self, of_entry: Array) -> Array:
        """Sums over the answers of each pattern, shape (U,)."""
        return np.asarray(np.bincount(self.pattern, of_entry, len(self.times)), np.float64)

    def by_answer(self, of_entry: Array | None = None) -> Array:
        """Sums over the answers of each pattern that are the same, or how many, shape (U, K)."""
        place = self.pattern * self.values + self.cell % self.values
        summed = np.bincount(place, of_entry, len(self.times) * self.values)
        return summed.astype(np.float64).reshape(-1, self.values)

    def by_cell(self, of_entry: Array) -> Array:
        """Sums over all items, by rater and answer, shape (R, K)."""
        weighed = of_entry * self.times[self.pattern]
        summed = np.bincount(self.cell, weighed, self.raters * self.values)
        return np.asarray(summed, np.float64).reshape(self.raters, self.values)


def entries(found: Patterns, values: int, rater_of: Sequence[int] | None = None) -> Entries:
    """The answers in patterns; ``rater_of`` tells whose each row is, where a rater has several."""
    rows = np.arange(len(found.codes)) if rater_of is None else np.asarray(rater_of)
    pattern, row = np.nonzero((found.codes != ABSENT).T)
    code = found.codes[row, pattern].astype(np.intp)
    return Entries(
        pattern,
        rows[row] * values + code,
        found.times.astype(np.float64),
        int(rows.max(initial=-1)) + 1,
        values,
    )
