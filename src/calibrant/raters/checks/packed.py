"""Short words as numbers, so that thousands of them are looked up at a time.

A word is packed as its first eight signs, one byte a sign, with noughts after a shorter one. Two
words that begin with the same eight signs are one number: what is looked up here and has more
signs than that is only likely, and whoever asks looks again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.intp]
Words: TypeAlias = npt.NDArray[np.uint64]

LONGEST = 8
"""Signs of a word that count."""
_TRIES = range(1, 2_000, 2)
_MIX = np.uint64(0x9E3779B97F4A7C15)
KEEP = np.array([(1 << 64) - (1 << 8 * (8 - size)) for size in range(9)], np.uint64)
"""By the length of a word: which bits of the eight signs from its beginning are its own."""


def pack(word: str) -> int:
    """The number of one word of Latin-1."""
    return int.from_bytes(word.encode("latin-1")[:LONGEST].ljust(LONGEST, b"\0"), "big")


class WordSet:
    """Some words, each with its place among them; ``places`` finds many at once.

    It is a table with a cell for every hash, large enough that no two words share one.
    """

    def __init__(self, words: Iterable[str]) -> None:
        keys = np.array(sorted({pack(word) for word in words}), np.uint64)
        bits = max(4, 2 * int(keys.size).bit_length())
        self._shift = np.uint64(64 - bits)
        for odd in _TRIES:
            self._mix = _MIX * np.uint64(odd)
            cells = (keys * self._mix) >> self._shift
            if np.unique(cells).size == keys.size:
                break
        else:  # pragma: no cover -- a thousand mixes of a table this sparse do not all collide
            raise AssertionError("no table without collisions")
        self._keys = np.zeros(1 << bits, np.uint64)
        self._places = np.full(1 << bits, -1, np.intp)
        self._keys[cells] = keys
        self._places[cells] = np.arange(keys.size)

    def places(self, keys: Words) -> Ints:
        """The place of each packed word, or -1 where it is none of them."""
        cells = ((keys * self._mix) >> self._shift).astype(np.intp)
        found: Ints = np.where(self._keys[cells] == keys, self._places[cells], -1)
        return found

    def holds(self, keys: Words) -> Bools:
        """Whether each packed word is one of them."""
        return self.places(keys) >= 0


def shared_out(places: Ints, starts: Ints) -> Ints:
    """Which stretch each of the places, in order, lies in; stretches begin at ``starts``."""
    counts = np.diff(np.searchsorted(places, starts), append=places.size)
    return np.repeat(np.arange(starts.size), counts)


def without_repeats(ordered: Words) -> Words:
    """Numbers in order, each once."""
    if ordered.size < 2:
        return ordered
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]
