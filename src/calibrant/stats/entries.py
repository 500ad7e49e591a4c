"""The single answers behind patterns, for models that weigh every answer by its rater.

Such a model does two things: it adds up, over the answers of each pattern, what each says about
the true answer; and it adds up, over all items, how often each rater gave each answer to each true
one. Both are products with a table of hits. Patterns of many raters are mostly empty: there the
answers that are there are listed, and the work grows with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.counts import ABSENT, Patterns

Array = NDArray[np.float64]
_DENSE = 1 << 24
"""Cells of patterns by raters by answers up to which hits are a table."""


@dataclass(frozen=True, slots=True)
class Entries:
    """E answers in U patterns by R raters on K answers."""

    pattern: NDArray[np.intp]
    """Shape (E,)."""
    cell: NDArray[np.intp]
    """Rater by answer, ``rater * values + answer``, shape (E,)."""
    times: Array
    """Items with each pattern, shape (U,)."""
    hits: Array | None
    """How often each cell occurs in each pattern, shape (R K, U), where that is not too large."""
    raters: int
    values: int

    @property
    def labels(self) -> NDArray[np.int64]:
        """How many answers each rater gave, shape (R,)."""
        given = np.bincount(self.cell, self.times[self.pattern], self.raters * self.values)
        totals = given.reshape(self.raters, self.values).sum(axis=1)
        return np.asarray(np.rint(totals), np.int64)

    def by_pattern(self, of_cell: Array) -> Array:
        """Sums over the answers of each pattern of what cells say, (n, R K) becomes (n, U)."""
        if self.hits is not None:
            return np.asarray(of_cell @ self.hits)
        rows = [np.bincount(self.pattern, one[self.cell], len(self.times)) for one in of_cell]
        return np.stack(rows)

    def by_cell(self, of_pattern: Array) -> Array:
        """Sums over all items with each cell of what patterns say, (n, U) becomes (R K, n)."""
        weighed = of_pattern * self.times
        if self.hits is not None:
            return np.asarray(self.hits @ weighed.T)
        cells = self.raters * self.values
        columns = [np.bincount(self.cell, one[self.pattern], cells) for one in weighed]
        return np.stack(columns, axis=1)

    def given(self) -> Array:
        """How often each answer was given in each pattern, shape (K, U)."""
        return self.by_pattern(np.tile(np.eye(self.values), self.raters))


def entries(found: Patterns, values: int, rater_of: Sequence[int] | None = None) -> Entries:
    """The answers in patterns; ``rater_of`` tells whose each row is, where a rater has several."""
    rows = np.arange(len(found.codes)) if rater_of is None else np.asarray(rater_of)
    raters, patterns = int(rows.max(initial=-1)) + 1, found.codes.shape[1]
    pattern, row = np.nonzero((found.codes != ABSENT).T)
    cell = rows[row] * values + found.codes[row, pattern].astype(np.intp)
    hits = None
    if patterns * raters * values <= _DENSE:
        size = patterns * raters * values
        flat = np.bincount(cell * patterns + pattern, minlength=size)
        hits = flat.astype(np.float64).reshape(raters * values, patterns)
    return Entries(pattern, cell, found.times.astype(np.float64), hits, raters, values)
