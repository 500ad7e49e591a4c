"""Tables of wide scales: what an item contributes is kept as the counts it is a product of.

On a scale of a hundred values a table of pairs has ten thousand cells, nearly all of them empty for
any one item. No such table is made: a sum of tables is a product of matrices, and a coefficient
asks a table only for three things, which the counts can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outer:
    """Tables of U patterns, each ``worth * (left right' + right left' - diagonal(less))``."""

    left: Array
    right: Array
    less: Array
    """Shape (U, K) all three."""
    worth: Array
    """Shape (U,)."""

    def only(self, wanted: NDArray[np.intp]) -> Outer:
        """The patterns that are wanted."""
        return Outer(self.left[wanted], self.right[wanted], self.less[wanted], self.worth[wanted])

    def scaled(self, by: Array) -> Outer:
        """Each pattern worth so many times what it was."""
        return Outer(self.left, self.right, self.less, self.worth * by)

    def sum(self, times: Array) -> Array:
        """The sum of all tables, each so many times, shape (K, K)."""
        by = (times * self.worth)[:, None]
        product = self.left.T @ (by * self.right)
        return np.asarray(product + product.T - np.diag((by * self.less).sum(axis=0)))

    def total(self, weights: Array) -> Array:
        """Of each table the sum of its cells, each by its weight in a symmetric matrix, (U,)."""
        pairs = 2 * ((self.left @ weights) * self.right).sum(axis=1)
        return np.asarray(self.worth * (pairs - self.less @ np.diag(weights)))

    def rows(self) -> Array:
        """The sums of the rows of each table, shape (U, K)."""
        left, right = (one.sum(axis=1, keepdims=True) for one in (self.left, self.right))
        both = self.left * right + self.right * left - self.less
        return np.asarray(self.worth[:, None] * both)

    def times(self, vectors: Array) -> Array:
        """Each table by a vector of its own, both (U, K)."""
        left, right = (
            (one * vectors).sum(axis=1, keepdims=True) for one in (self.left, self.right)
        )
        both = self.left * right + self.right * left - self.less * vectors
        return np.asarray(self.worth[:, None] * both)


@dataclass(frozen=True, slots=True)
class Nearby:
    """One table for all patterns, and a little of each pattern's own added to it."""

    base: Array
    """Shape (K, K)."""
    own: Outer
    step: float

    def total(self, weights: Array) -> Array:
        """As of any table, shape (U,)."""
        return np.asarray((self.base * weights).sum() + self.step * self.own.total(weights))

    def rows(self) -> Array:
        """The sums of rows, shape (U, K)."""
        return np.asarray(self.base.sum(axis=1) + self.step * self.own.rows())

    def times(self, vectors: Array) -> Array:
        """By vectors of shape (U, K), which gives the same shape."""
        return np.asarray(vectors @ self.base + self.step * self.own.times(vectors))
