"""The sums that coefficients are functions of.

Every pattern of answers contributes a fixed row of numbers; a sample contributes the sum of its
rows. A coefficient is a function of that sum, so a resampled coefficient is the same function of
a resampled sum. Arrays carry any number of leading axes, written (...): replicates, or patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.counts import Counts, Patterns, counts_of
from calibrant.stats.outer import Nearby, Outer

Array = NDArray[np.float64]
Table: TypeAlias = Array | Nearby
WIDE = 25
"""Values from which a scale is wide. What an item contributes grows with their square; resampling
takes too long, and the same answer twice is chance."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over items, each weighted by how often it was drawn."""

    coincidences: Table
    """Pairs of answers within an item, each item worth its number of answers, (..., K, K)."""
    agreements: Table
    """The same pairs, each item worth one, (..., K, K)."""
    paired: Array
    """Items with two answers or more, (...)."""
    shares: Array
    """Share of each value within an item, (..., K)."""
    rated: Array
    """Items with an answer, (...)."""
    given: Array
    """How often each rater gave each value, (..., R, K); R is 0 where raters are not told apart."""


CELLS = 4_000_000
"""Numbers held at a time."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What each of U patterns contributes, flat, and how to read a sum of such rows."""

    make: Callable[[NDArray[np.intp]], Array]
    """The rows of some patterns, shape (u, d). On a wide scale all of them together are too many
    to be held, and are made when they are looked at."""
    times: NDArray[np.int64]
    """How many items have each pattern, shape (..., U): of one sample, or of several."""
    values: int
    raters: int
    outer: Outer | None = None
    """On a wide scale, the coincidences of each pattern as what they are a product of."""
    size: Array | None = None
    """On a wide scale, what a pattern's coincidences are divided by to give its agreements."""
    rest: Array | None = None
    """On a wide scale, what else stands in the rows, shape (U, d - 2 K K)."""

    @property
    def patterns(self) -> int:
        """How many there are."""
        return int(self.times.shape[-1])

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return 2 * self.values**2 + self.values + 2 + self.raters * self.values

    def parts(self, cells: int = CELLS) -> Iterator[tuple[slice, Array]]:
        """The rows, so many at a time that no more numbers are held than ``cells``."""
        step = max(1, cells // self.width)
        for start in range(0, self.patterns, step):
            part = slice(start, min(self.patterns, start + step))
            yield part, self.make(np.arange(part.start, part.stop))

    def sums(self) -> Array:
        """The sum over each sample, shape (..., d)."""
        if self.outer is not None and self.size is not None and self.rest is not None:
            agreements = self.outer.scaled(1 / self.size)
            flat = [
                np.concatenate([self.outer.sum(one).reshape(-1), agreements.sum(one).reshape(-1)])
                for one in np.atleast_2d(self.times).astype(np.float64)
            ]
            tables = np.stack(flat).reshape(*self.times.shape[:-1], 2 * self.values**2)
            return np.concatenate([tables, self.times @ self.rest], axis=-1)
        out = np.zeros((*self.times.shape[:-1], self.width))
        for part, terms in self.parts():
            out += self.times[..., part] @ terms
        return out

    def only(self, wanted: NDArray[np.bool_]) -> Rows:
        """The patterns that are wanted."""
        if wanted.all():
            return self
        kept = np.flatnonzero(wanted)
        return Rows(
            lambda at: self.make(kept[at]),
            self.times[..., kept],
            self.values,
            self.raters,
            None if self.outer is None else self.outer.only(kept),
            None if self.size is None else self.size[kept],
            None if self.rest is None else self.rest[kept],
        )

    def sample(self, times: NDArray[np.int64]) -> Rows:
        """The same patterns in another sample."""
        return replace(self, times=times)

    def agreeing(self, weights: Array) -> Array:
        """Of each pattern its weighted agreements, shape (U,)."""
        if self.outer is not None:
            return self.outer.scaled(1 / np.asarray(self.size)).total(weights)
        cells = slice(self.values**2, 2 * self.values**2)
        parts = [terms[:, cells] @ weights.reshape(-1) for _, terms in self.parts()]
        return np.concatenate([np.zeros(0), *parts])

    def near(self, sums: Array, step: float) -> Iterator[tuple[slice, Moments]]:
        """Samples that have a little more of each pattern, and a little less of all.

        ``sums`` are of samples (..., d); moments have the leading axes (..., u).
        """
        n = self.times.sum(axis=-1)[..., None, None]
        total = sums[..., None, :]
        if self.outer is not None:
            yield slice(0, self.patterns), self._near(sums.reshape(-1), step)
            return
        for part, terms in self.parts(CELLS // max(1, n.size)):
            yield part, self.read(total + step * (terms - total / n))

    def _near(self, sums: Array, step: float) -> Moments:
        """On a wide scale, of one sample."""
        assert self.outer is not None and self.size is not None and self.rest is not None
        cells, k = 2 * self.values**2, self.values
        sums = sums * (1 - step / float(self.times.sum()))
        whole, rest = self.read(sums), sums[cells:] + step * self.rest
        agreements = self.outer.scaled(1 / self.size)
        return Moments(
            Nearby(np.asarray(whole.coincidences), self.outer, step),
            Nearby(np.asarray(whole.agreements), agreements, step),
            rest[:, 0],
            rest[:, 1 : k + 1],
            rest[:, k + 1],
            rest[:, k + 2 :].reshape(len(rest), self.raters, k),
        )

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


def held(
    make: Callable[[NDArray[np.intp]], Array], times: NDArray[np.int64], values: int, raters: int
) -> Rows:
    """Rows that are kept once made, where they are not too many."""
    rows = Rows(make, times, values, raters)
    if rows.patterns * rows.width > CELLS:
        return rows
    terms = make(np.arange(rows.patterns))
    return Rows(lambda at: terms[at], times, values, raters)


def exchangeable(found: Counts) -> Rows:
    """Rows of counts: raters are not told apart."""
    values = found.counts.shape[1]
    rows = held(lambda at: _terms(found.counts[at]), found.times, values, 0)
    return rows if values <= WIDE else _wide(rows, found.counts, np.zeros((len(found.counts), 0)))


def by_rater(found: Patterns, values: int) -> Rows:
    """Rows of patterns: each rater's own use of the scale is kept."""
    raters = len(found.codes)

    def make(at: NDArray[np.intp]) -> Array:
        hits = found.codes[:, at, None] == np.arange(values, dtype=np.uint8)  # (R, u, K)
        given = hits.transpose(1, 0, 2).reshape(len(at), raters * values)
        terms = _terms(hits.sum(axis=0, dtype=np.int64))
        return np.concatenate([terms, given], axis=1, dtype=np.float64)

    rows = held(make, found.times, values, raters)
    if values <= WIDE:
        return rows
    hits = found.codes[:, :, None] == np.arange(values, dtype=np.uint8)  # (R, U, K)
    given = hits.transpose(1, 0, 2).reshape(rows.patterns, raters * values)
    return _wide(rows, counts_of(found, values).counts, given)


def _wide(rows: Rows, counts: NDArray[np.int64], given: NDArray[Any]) -> Rows:
    """The same rows, with what their tables are a product of."""
    n = counts.astype(np.float64)
    m = n.sum(axis=1)
    paired = m >= 2
    worth = np.where(paired, 1 / np.maximum(1, m - 1), 0)
    answers = np.maximum(1, m)
    parts = [paired[:, None], n / answers[:, None], (m >= 1)[:, None], given]
    rest = np.concatenate(parts, axis=1, dtype=np.float64)
    return replace(rows, outer=Outer(n / 2, n, n, worth), size=answers, rest=rest)


def between(found: Patterns, values: int, first: Sequence[int], second: Sequence[int]) -> Rows:
    """Rows of two groups of raters, of whom each pattern has one answer or more.

    One answer of each group is drawn; with one rater in each this is the table of a pair.
    """

    def shares(at: NDArray[np.intp] | slice) -> tuple[Array, Array]:
        hits = found.codes[:, at, None] == np.arange(values, dtype=np.uint8)  # (R, u, K)
        one, two = (_shares(hits[list(group)].sum(axis=0)) for group in (first, second))
        return one, two

    def make(at: NDArray[np.intp]) -> Array:
        one, two = shares(at)
        pairs = one[:, :, None] * two[:, None, :]
        pairs = pairs + pairs.transpose(0, 2, 1)
        flat = pairs.reshape(len(at), values * values)
        ones = np.ones((len(at), 1))
        return np.concatenate([flat, flat / 2, ones, (one + two) / 2, ones, one, two], axis=1)

    rows = held(make, found.times, values, 2)
    if values <= WIDE:
        return rows
    one, two = shares(slice(None))
    ones = np.ones((len(one), 1))
    rest = np.concatenate([ones, (one + two) / 2, ones, one, two], axis=1)
    outer = Outer(one, two, np.zeros_like(one), ones[:, 0])
    return replace(rows, outer=outer, size=2 * ones[:, 0], rest=rest)


def cells_of_pairs(tables: NDArray[np.int64]) -> Rows:
    """Rows of many pairs of raters at once, from their tables of shape (P, K, K).

    The patterns are the cells of a table, the same for all pairs; each pair is a sample.
    """
    pairs, values, _ = tables.shape
    cells = np.indices((values, values), dtype=np.uint8).reshape(2, values * values)
    times = tables.reshape(pairs, values * values)
    return between(Patterns(cells, times), values, [0], [1])


def _shares(counts: NDArray[np.int64]) -> Array:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


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
