"""Ratings become unique patterns with multiplicities: the one reduction all coefficients share.

Ratings of one criterion are *codes*, shape (R, N): a row for each rater, a column for each item,
the place of the answer on the scale, ``ABSENT`` where there is none. Two items that were answered
alike are the same pattern; everything after this module works on patterns, so that its cost does
not grow with the number of items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.runs import Codes

ABSENT = 255
MOST_VALUES = 253
"""Answers a scale may have."""
_DENSE = 1 << 22
"""Combinations up to which patterns are counted in one array."""
_OFTEN = 8
"""Items of a pattern, on average, from which patterns are looked at instead of items."""
_WORDS = 1_000
"""Words of a plane of bits in one block: as many bits as a count of 16 bits can hold."""
_PLANE_WORDS = 1 << 18
"""Words of all planes in one block, or of the intersections made at a time."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Unique columns of a table of codes, and how many items have each."""

    codes: Codes
    """Shape (R, U)."""
    times: NDArray[np.int64]
    """Shape (U,), or (S, U) for S samples with the same patterns."""

    @property
    def items(self) -> int:
        """How many items there are, those without any answer included."""
        return int(self.times.sum())


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of answers, whoever gave them, and how many items have each."""

    counts: NDArray[np.int64]
    """How often each value was given, shape (U, K)."""
    times: NDArray[np.int64]
    """Shape (U,)."""


def patterns(codes: Codes, values: int) -> Patterns:
    """The unique columns of ``codes``; raters are told apart."""
    return grouped(codes, values)[0]


def grouped(codes: Codes, values: int) -> tuple[Patterns, Callable[[], NDArray[Any]]]:
    """The unique columns of ``codes``, and what tells the place of each item's among them."""
    raters = len(codes)
    if dense(raters, values):
        digits = np.minimum(codes, np.uint8(values))  # absent is the last digit
        radix = (values + 1) ** np.arange(raters)
        return _decoded(_key(digits, radix), (values + 1) ** raters, values, radix)
    rows = np.ascontiguousarray(codes.T)
    whole = rows.view(np.dtype((np.void, raters))).reshape(-1)
    unique, place, times = np.unique(whole, return_inverse=True, return_counts=True)
    found = unique.view(np.uint8).reshape(len(unique), raters).T
    return Patterns(np.ascontiguousarray(found), times), lambda: place


def dense(raters: int, values: int) -> bool:
    """Whether patterns are so few that they are counted in one array."""
    return bool((values + 1) ** raters <= _DENSE)


def _decoded(
    keys: NDArray[Any], size: int, values: int, radix: NDArray[np.int64]
) -> tuple[Patterns, Callable[[], NDArray[Any]]]:
    times = np.bincount(keys, minlength=size)
    present = np.flatnonzero(times)
    digits = present[None, :] // radix[:, None] % (values + 1)
    codes = np.where(digits == values, ABSENT, digits).astype(np.uint8)

    def places() -> NDArray[Any]:
        place = np.zeros(size, np.min_scalar_type(len(present)))
        place[present] = np.arange(len(present))
        return place.take(keys)

    return Patterns(codes, times[present]), places


def _key(digits: NDArray[Any], radix: Sequence[int] | NDArray[np.int64]) -> NDArray[Any]:
    """One number for each column, in the smallest type that is counted fast."""
    largest = int(max(radix)) * int(np.iinfo(np.uint8).max)
    kind = np.dtype(np.uint16 if largest < 1 << 16 else np.uint32)
    out: NDArray[Any] = np.zeros(digits.shape[1], kind)
    for row, weight in zip(digits, radix, strict=True):
        out += row.astype(kind) * kind.type(weight)
    return out


def counts_of(unique: Patterns, values: int) -> Counts:
    """How often each value was given in each pattern, whoever gave it; some may be alike."""
    found = np.zeros((unique.codes.shape[1], values), np.int64)
    for value in range(values):
        found[:, value] = (unique.codes == value).sum(axis=0)
    return Counts(found, unique.times)


def pair_tables(codes: Codes, values: int) -> NDArray[np.int64]:
    """How often each pair of raters gave each pair of values, shape (R, R, K, K).

    Every value of every rater is a plane of bits; two planes share as many items as their
    intersection has bits. Items come in blocks that stay near the processor.
    """
    raters, items = codes.shape
    scale = np.arange(values, dtype=np.uint8)[:, None]
    words = max(1, min(_WORDS, -(-items // 64), _PLANE_WORDS // (raters * values)))
    group = max(1, _PLANE_WORDS // (raters * values * words))  # values of one rater at a time
    planes = np.zeros((raters, values, words * 8), np.uint8)
    bits = planes.view(np.uint64)  # (R, K, words)
    out = np.zeros((raters, raters, values, values), np.int64)
    for start in range(0, items, words * 64):
        packed = np.packbits(codes[:, None, start : start + words * 64] == scale, axis=-1)
        planes[..., : packed.shape[-1]] = packed
        planes[..., packed.shape[-1] :] = 0
        for first in range(raters - 1):
            for least in range(0, values, group):
                some = slice(least, least + group)
                shared = (
                    bits[first, some, None, None] & bits[first + 1 :]
                )  # (some, later, K, words)
                both = np.bitwise_count(shared).sum(axis=-1, dtype=np.uint16)
                out[first, first + 1 :, some] += both.swapaxes(0, 1)
    later = np.triu_indices(raters, 1)
    out[later[1], later[0]] = out[later].swapaxes(-1, -2)
    return out


def pair_tables_of(found: Patterns, values: int) -> NDArray[np.int64]:
    """The same of patterns, for each sample: shape (S, R, R, K, K)."""
    times = np.atleast_2d(found.times)
    raters, patterns_ = found.codes.shape
    if patterns_ * _OFTEN > found.items:  # hardly any two items alike
        spread = [np.repeat(found.codes, one, axis=1) for one in times]
        return np.stack([pair_tables(codes, values) for codes in spread])
    hits = found.codes[:, None, :] == np.arange(values, dtype=np.uint8)[:, None]  # (R, K, U)
    flat = hits.reshape(raters * values, patterns_).astype(np.float64)
    tables = np.stack([(flat * one) @ flat.T for one in times])
    shape = len(times), raters, values, raters, values
    counted: NDArray[np.int64] = np.rint(tables).astype(np.int64)
    return counted.reshape(shape).swapaxes(2, 3)
