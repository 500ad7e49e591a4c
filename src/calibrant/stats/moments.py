"""The sums that coefficients are functions of.

Every pattern of answers contributes a fixed row of numbers; a sample contributes the sum of its
rows. A coefficient is a function of that sum, so a resampled coefficient is the same function of
a resampled sum. Arrays carry any number of leading axes, written (...): replicates, or patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.counts import Counts, Patterns

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over items, each weighted by how often it was drawn."""

    coincidences: Array
    """Pairs of answers within an item, each item worth its number of answers, (..., K, K)."""
    agreements: Array
    """The same pairs, each item worth one, (..., K, K)."""
    paired: Array
    """Items with two answers or more, (...)."""
    shares: Array
    """Share of each value within an item, (..., K)."""
    rated: Array
    """Items with an answer, (...)."""
    given: Array
    """How often each rater gave each value, (..., R, K); R is 0 where raters are not told apart."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What each pattern contributes, flat, and how to read a sum of such rows."""

    terms: Array
    """Shape (U, d)."""
    times: NDArray[np.int64]
    """Shape (U,)."""
    values: int
    raters: int

    def sums(self) -> Array:
        """The sum over the sample, shape (d,)."""
        return np.asarray(self.times @ self.terms, np.float64)

    def only(self, wanted: NDArray[np.bool_]) -> Rows:
        """The patterns that are wanted."""
        return Rows(self.terms[wanted], self.times[wanted], self.values, self.raters)

    def read(self, sums: Array) -> Moments:
        """Flat sums, shape (..., d), by name."""
        lead, k = sums.shape[:-1], self.values
        cuts = np.cumsum([k * k, k * k, 1, k, 1])
        coincidences, agreements, paired, shares, rated, given = np.split(sums, cuts, axis=-1)
        return Moments(
            coincidences.reshape(*lead, k, k),
            agreements.reshape(*lead, k, k),
            paired[..., 0],
            shares,
            rated[..., 0],
            given.reshape(*lead, self.raters, k),
        )


def exchangeable(found: Counts) -> Rows:
    """Rows of counts: raters are not told apart."""
    return Rows(_terms(found.counts), found.times, found.counts.shape[1], 0)


def by_rater(found: Patterns, values: int) -> Rows:
    """Rows of patterns: each rater's own use of the scale is kept."""
    hits = found.codes[:, :, None] == np.arange(values, dtype=np.uint8)  # (R, U, K)
    raters, patterns, _ = hits.shape
    given = hits.transpose(1, 0, 2).reshape(patterns, raters * values).astype(np.float64)
    terms = _terms(hits.sum(axis=0, dtype=np.int64))
    return Rows(np.concatenate([terms, given], axis=1), found.times, values, raters)


def between(found: Patterns, values: int, first: Sequence[int], second: Sequence[int]) -> Rows:
    """Rows of two groups of raters: one answer of each, drawn from its group.

    With one rater in each group this is the table of a pair.
    """
    hits = found.codes[:, :, None] == np.arange(values, dtype=np.uint8)  # (R, U, K)
    one, two = (hits[list(group)].sum(axis=0, dtype=np.float64) for group in (first, second))
    sizes = one.sum(axis=1), two.sum(axis=1)
    both = (sizes[0] > 0) & (sizes[1] > 0)
    one, two = one[both] / sizes[0][both, None], two[both] / sizes[1][both, None]
    pairs = one[:, :, None] * two[:, None, :]
    pairs = pairs + pairs.transpose(0, 2, 1)
    flat = len(one), values * values
    ones = np.ones((len(one), 1))
    parts = [pairs.reshape(flat), pairs.reshape(flat) / 2, ones, (one + two) / 2, ones, one, two]
    return Rows(np.concatenate(parts, axis=1), found.times[both], values, 2)


def _terms(counts: NDArray[np.int64]) -> Array:
    """Rows of all sums that need only counts, from counts of shape (U, K)."""
    n = counts.astype(np.float64)
    m = n.sum(axis=1)
    pairs = n[:, :, None] * n[:, None, :]
    diagonal = np.arange(n.shape[1])
    pairs[:, diagonal, diagonal] -= n
    paired = m >= 2
    others = np.where(paired, m - 1, 1)[:, None, None]
    coincidences = np.where(paired[:, None, None], pairs / others, 0)
    answers = np.maximum(m, 1)
    agreements = coincidences / answers[:, None, None]
    flat = len(n), n.shape[1] ** 2
    return np.concatenate(
        [
            coincidences.reshape(flat),
            agreements.reshape(flat),
            paired[:, None],
            n / answers[:, None],
            (m >= 1)[:, None],
        ],
        axis=1,
    )
