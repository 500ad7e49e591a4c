"""Ratings as the many-facet model sees them: who was asked what, and what it adds up to.

Items whose ratings were asked of the same raters on the same criteria, and add up to the same, are
one *group*: the model cannot tell them apart. Everything that fits the model works on groups, so
that its cost hardly grows with the number of items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.counts import ABSENT
from calibrant.stats.runs import Codes

Floats = NDArray[np.float64]
MOST_STEPS = 25
"""Answers of a scale from which on steps between them are too many to estimate."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Items that the model cannot tell apart."""

    asked: NDArray[np.bool_]
    """Which ratings there are, shape (C, R, G)."""
    score: NDArray[np.int64]
    """What they add up to, shape (G,)."""
    times: NDArray[np.int64]
    """How many items, shape (G,)."""
    of: NDArray[np.int64]
    """The group of each item, shape (N,)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Ratings with whatever can be estimated from them, and what was left out to get there."""

    codes: Codes
    """Steps taken on the scale, shape (C, R, N); only answers that somebody gave are steps."""
    families: tuple[tuple[int, ...], ...]
    """Criteria that share their steps."""
    values: tuple[NDArray[np.intp], ...]
    """By family: the code of each step on the scale it comes from."""
    groups: Groups
    low: NDArray[np.bool_]
    """Groups in which every answer is the lowest, shape (G,)."""
    high: NDArray[np.bool_]
    counts: NDArray[np.int64]
    """Answers by criterion, rater and step in items that are neither low nor high, (C, R, K)."""
    raters: NDArray[np.bool_]
    """Raters who can be placed, shape (R,)."""
    criteria: NDArray[np.bool_]

    @property
    def middle(self) -> NDArray[np.bool_]:
        """Groups that say something: neither low nor high, and more than one rating."""
        inside = ~(self.low | self.high) & (self.groups.asked.sum(axis=(0, 1)) > 1)
        return np.asarray(inside, np.bool_)

    def tops(self) -> NDArray[np.int64]:
        """The highest step of each criterion."""
        top = np.zeros(len(self.codes), np.int64)
        for family, values in zip(self.families, self.values, strict=True):
            top[list(family)] = len(values) - 1
        return top


def grouped(codes: Codes) -> Groups:
    """Items by who was asked what, and by the sum of the answers."""
    criteria, raters, items = codes.shape
    marks = np.random.default_rng(20).integers(1, 1 << 63, (criteria, raters), np.uint64)
    key = np.zeros(items, np.uint64)
    score = np.zeros(items, np.uint32)
    small, room = np.zeros(items, np.uint8), ABSENT  # sums stay in a byte while they fit
    for criterion, rater in np.ndindex(criteria, raters):
        row = codes[criterion, rater]
        top = int(row.max())
        if top == ABSENT:
            there = row != ABSENT
            if not there.any():
                continue
            row = row * there
            top = int(row.max())
            key += there * (marks[criterion, rater] | np.uint64(1))
        if top > room:
            score += small
            small[:], room = 0, ABSENT
        small += row
        room -= top
    score += small
    if not key.any():  # everybody was asked everything
        first, of, times = _by_score(score)
    else:
        key = (key ^ (key >> np.uint64(29))) * _SPREAD + score
        _, first, of, times = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
    asked = codes[:, :, first] != ABSENT
    return Groups(asked, score[first].astype(np.int64), times, of)


def _by_score(
    score: NDArray[np.uint32],
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    """An item of each sum, the place of each item's sum, and how many items have it."""
    times = np.bincount(score)
    seen = np.flatnonzero(times)
    place = np.zeros(len(times), np.int64)
    place[seen] = np.arange(len(seen))
    some = np.zeros(len(times), np.intp)
    some[score] = np.arange(len(score))
    return some[seen], place.take(score), times[seen]


def subsets(present: NDArray[np.bool_]) -> list[list[int]]:
    """Raters by what connects them: items that two of them rated, over any number of raters.

    ``present`` tells who rated which group, shape (R, G). Raters without any rating are in none.
    """
    left = [int(one) for one in np.flatnonzero(present.any(axis=1))]
    found = []
    while left:
        inside = np.zeros(len(present), np.bool_)
        inside[left[0]] = True
        count = 0
        while count < inside.sum():
            count = int(inside.sum())
            items = present[inside].any(axis=0)
            inside |= present[:, items].any(axis=1)
        found.append([int(one) for one in np.flatnonzero(inside)])
        left = [one for one in left if not inside[one]]
    return found


def asked_of(codes: Codes, families: Sequence[Sequence[int]]) -> Asked:
    """What the model can be fitted to.

    Answers that nobody gave are no steps. Raters and criteria with nothing but the lowest or
    nothing but the highest answers have no place on the line, and are left out until none is.
    """
    kept = np.ones(codes.shape[1], np.bool_), np.ones(codes.shape[0], np.bool_)
    values = tuple(np.arange(_largest(codes, one) + 1) for one in families)
    while True:
        found = _sorted_out(codes, families, values, kept)
        steps = []
        for family, old in zip(families, values, strict=True):
            seen = found.counts[list(family)].sum(axis=(0, 1))[: len(old)] > 0
            if not seen.all() and seen.any():
                codes = _merged(codes, family, seen)
            steps.append(old[seen] if seen.any() else old)
        if any(len(one) < len(old) for one, old in zip(steps, values, strict=True)):
            values = tuple(steps)
            continue
        raters, criteria = _without_place(found)
        if not raters.any() and not criteria.any():
            return found
        codes = codes.copy()
        codes[:, raters] = ABSENT
        codes[criteria] = ABSENT
        kept = kept[0] & ~raters, kept[1] & ~criteria


def _sorted_out(
    codes: Codes,
    families: Sequence[Sequence[int]],
    values: tuple[NDArray[np.intp], ...],
    kept: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> Asked:
    """Counts of answers without the items at either end, and without those with one answer."""
    groups = grouped(codes)
    top = np.zeros(len(codes), np.int64)
    for family, steps in zip(families, values, strict=True):
        top[list(family)] = len(steps) - 1
    per_criterion = groups.asked.sum(axis=1)  # (C, G)
    low, high = groups.score == 0, groups.score == top @ per_criterion
    counts = np.zeros((*codes.shape[:2], int(top.max()) + 1), np.int64)
    for criterion, rater in np.ndindex(codes.shape[:2]):
        row = codes[criterion, rater]
        for step in range(1, top[criterion] + 1):
            counts[criterion, rater, step] = np.count_nonzero(row == step)
        there = np.count_nonzero(row != ABSENT)
        counts[criterion, rater, 0] = there - counts[criterion, rater, 1:].sum()
    alone = per_criterion.sum(axis=0) == 1
    for some, at_top in ((low, False), (high & ~low, True), (alone & ~low & ~high, None)):
        cell = np.nonzero(groups.asked[:, :, some])
        stepped = groups.score[some][cell[2]] if at_top is None else top[cell[0]] * at_top
        np.subtract.at(counts, (cell[0], cell[1], stepped), groups.times[some][cell[2]])
    named = tuple(tuple(one) for one in families)
    return Asked(codes, named, values, groups, low, high, counts, *kept)


def _without_place(found: Asked) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Raters and criteria that have only lowest or only highest answers, or none."""
    top = found.tops()
    at_top = np.take_along_axis(found.counts, top[:, None, None], 2)[..., 0]
    total, at_bottom = found.counts.sum(axis=2), found.counts[:, :, 0]
    out = []
    for axis, still in ((0, found.raters), (1, found.criteria)):
        given = total.sum(axis=axis)
        only = (at_bottom.sum(axis=axis) == given) | (at_top.sum(axis=axis) == given)
        out.append(still & only)
    return out[0], out[1]


def _largest(codes: Codes, family: Sequence[int]) -> int:
    above = [int((row + np.uint8(1)).max()) for at in family for row in codes[at]]  # ABSENT is 0
    return max(*above, 1) - 1


def _merged(codes: Codes, family: Sequence[int], seen: NDArray[np.bool_]) -> Codes:
    """Codes in which steps that nobody took are gone; who stood on one stands on the one below."""
    table = np.full(256, ABSENT, np.uint8)
    table[: len(seen)] = np.maximum(np.cumsum(seen) - 1, 0)
    codes = codes.copy()
    codes[list(family)] = table.take(codes[list(family)])
    return codes


_SPREAD = np.uint64(0x9E3779B97F4A7C15)
