"""Criteria taken together: the item is what is drawn, not the single answer.

Answers to one item hang together across criteria. Taking each answer for a draw of its own would
make intervals too narrow; here an item with all its answers is one draw.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.agreement import chosen_for
from calibrant.stats.bootstrap import LARGE
from calibrant.stats.counts import ABSENT, Patterns, counts_of
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.moments import WIDE, Array, Rows, by_rater, exchangeable, held
from calibrant.stats.samples import Given, estimates
from calibrant.stats.weights import Ruler


def of_pool(
    found: Patterns, place: NDArray[Any], ruler: Ruler, design: Design, *, anonymous: bool
) -> list[Estimate]:
    """Estimates over S criteria, from patterns and the pattern of each item, shape (S, N)."""
    values = len(ruler.labels)
    if values > WIDE:  # rows of all patterns would have to be held
        return []
    counts = counts_of(found, values)
    given = Given(ruler.labels, found.times.sum(axis=0, keepdims=True) @ counts.counts)
    rows = exchangeable(counts) if anonymous else by_rater(found, values)
    chosen = [
        one
        for one in chosen_for(ruler, pair=False)
        if not (anonymous and one.coefficient == "conger_kappa")
    ]
    size = np.minimum(2, (found.codes != ABSENT).sum(axis=0)).astype(np.uint8)
    most = size.take(place).max(axis=0)  # answers to an item, two standing for more
    if not most.all():
        place = place[:, most > 0]
    if place.shape[1] < LARGE or design.method == "bca":
        out = estimates(_by_item(rows, place), chosen, design, given)
    else:
        whole = rows.sample(found.times.sum(axis=0))
        errors = partial(_errors, place, int(whole.times.sum()))
        fisher = Design(design.method or "fisher")
        out = estimates(whole, chosen, fisher, given, errors=errors, most=place.shape[1])
    paired = int(np.count_nonzero(most == 2))
    return [replace(one, n_items=paired) for one in out[0]]


def _by_item(rows: Rows, place: NDArray[Any]) -> Rows:
    """One row an item: the sum over its criteria."""

    def make(at: NDArray[np.intp]) -> Array:
        return np.asarray(sum(rows.make(one[at].astype(np.intp)) for one in place), np.float64)

    return held(make, np.ones(place.shape[1], np.int64), rows.values, rows.raters)


def _errors(place: NDArray[Any], answers: int, influence: Array) -> Array:
    """Standard errors, shape (M, 1), from what an answer of each pattern does, (M, 1, U).

    What an item does is the sum over its answers; for so many items that is as good as looking at
    each item, and no row of an item is ever made.
    """
    of_pattern = np.ascontiguousarray(influence[:, 0].T) / answers  # (U, M)
    squares, items = np.zeros(len(influence)), place.shape[1]
    for start in range(0, items, _BLOCK):
        block = place[:, start : start + _BLOCK]
        of_items = of_pattern.take(block[0], axis=0)
        for one in block[1:]:
            of_items += of_pattern.take(one, axis=0)
        squares += np.einsum("nm,nm->m", of_items, of_items)
    return np.asarray(np.sqrt(squares * items / (items - 1)))[:, None]


_BLOCK = 4_096
"""Items that are looked at together: what they need stays near the processor."""
