"""Columns as their different texts and the place of each row among them.

Work on texts is done once for each different text, not once for each row. Texts are told apart by
hashes of 64 bits: among ten million texts two have the same one in fewer than one of 300,000 files.
The seed is a new one each time, so that nobody can write texts that are taken for one another.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.core.errors import SourceError

Places = NDArray[np.signedinteger[Any]]
Keys = NDArray[np.uint64]
Rows = NDArray[np.intp]
NOWHERE = -1
"""The place of a row without a text."""
_BLOCK = 1 << 14
"""Rows that are looked up together: what they need stays near the processor."""
_SLOTS = 1 << 16
_ROOM = 8
"""Slots for each key."""
_RUN = 8
"""Rows of a run, on average, from which runs are coded instead of rows."""


@dataclass(frozen=True, slots=True)
class Column:
    """Different texts, without space around them, in the order in which they come."""

    texts: list[str]
    place: Places
    """Of each row, ``NOWHERE`` where the cell is empty; shape (rows,)."""

    @property
    def empty(self) -> int:
        """Rows without a text."""
        return int(np.count_nonzero(self.place < 0))

    def rows(self, wanted: NDArray[np.bool_]) -> Column:
        """Only some rows, and the texts that are left in them."""
        kept = self.place[wanted]
        used = np.flatnonzero(np.bincount(kept + 1, minlength=len(self.texts) + 1)[1:])
        place = np.full(len(self.texts) + 1, NOWHERE, np.int32)  # the last is for no text
        place[used] = np.arange(len(used))
        return Column([self.texts[at] for at in used], place[kept])

    def at(self, row: int) -> str | None:
        """The text of a row."""
        place = self.place[row]
        return None if place < 0 else self.texts[place]


class Coder:
    """Takes the parts of a column one after the other; nothing else is kept of them than places."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._places: list[Places] = []
        self._seed = secrets.randbits(64)
        self._keys = _Keys()

    def add(self, cells: pl.Series) -> None:
        """The next rows."""
        if cells.dtype.is_nested() or cells.dtype == pl.Object:
            raise SourceError(f"column {cells.name!r} holds lists or objects, not names or answers")
        numbers = cells.dtype.is_float()
        cells = (cells.fill_nan(None) if numbers else cells).cast(pl.String)
        keys = cells.hash(self._seed).to_numpy()

        def name(rows: Rows) -> Places:
            return self._named(cells.gather(rows), numbers)

        starts = _starts(keys)
        if starts is None:
            self._places.append(self._keys.places(keys, name))
        else:
            of_runs = self._keys.places(keys[starts], lambda rows: name(starts[rows]))
            self._places.append(np.repeat(of_runs, np.diff(starts, append=len(keys))))

    def column(self) -> Column:
        """All rows so far."""
        kind = np.min_scalar_type(-max(1, len(self._known)))  # the smallest that holds NOWHERE too
        places = np.concatenate(self._places, dtype=kind, casting="unsafe")
        return Column(list(self._known), places)

    def _named(self, texts: pl.Series, numbers: bool) -> Places:
        """The place of each of these texts, the new ones among them at the end."""
        known, out = self._known, []
        for text in texts.to_list():
            plain = (text or "").strip()
            if numbers:  # 4.0 is 4
                plain = "0" if plain == "-0.0" else plain.removesuffix(".0")
            out.append(known.setdefault(plain, len(known)) if plain else NOWHERE)
        return np.array(out, np.int32)


def combined(columns: list[Column]) -> tuple[Rows, Places]:
    """The first row of each different combination of texts, and the combination of each row."""
    key = np.zeros(len(columns[0].place), np.uint64)
    for one in columns:
        key = key * np.uint64(len(one.texts) + 1) + (one.place + 1).astype(np.uint64)
    key *= _SPREAD
    key ^= key >> np.uint64(32)
    first: list[int] = []

    def name(rows: Rows) -> Places:
        first.extend(rows.tolist())
        return np.arange(len(first) - len(rows), len(first), dtype=np.int32)

    place = _Keys().places(key, name)
    return np.array(first, np.intp), place


def _starts(keys: Keys) -> Rows | None:
    """Where runs of the same key begin, if runs are long."""
    other = keys[1:] != keys[:-1]
    if (np.count_nonzero(other) + 1) * _RUN > len(keys):
        return None
    return np.concatenate([[0], np.flatnonzero(other) + 1])


class _Keys:
    """The places of keys, in a table with open addressing that is searched by whole blocks."""

    def __init__(self) -> None:
        self._count = 0
        self._make(_SLOTS)

    def _make(self, slots: int) -> None:
        self._mask = np.uint64(slots - 1)
        self._key = ~np.arange(slots, dtype=np.uint64)  # in a free slot, none that belongs there
        self._place = np.zeros(slots, np.int32)
        self._taken = np.zeros(slots, np.bool_)

    def places(self, keys: Keys, name: Callable[[Rows], Places]) -> Places:
        """The place of each row; ``name`` gives places to the rows in which a key comes first."""
        out = np.empty(len(keys), np.int32)
        for start in range(0, len(keys), _BLOCK):
            mine = keys[start : start + _BLOCK]
            slots, new = self._found(mine)
            if len(new):
                rows = new[np.sort(np.unique(mine[new], return_index=True)[1])]
                self._add(mine[rows], name(rows + start))
                slots, _ = self._found(mine)
            self._place.take(slots, out=out[start : start + _BLOCK], mode="clip")
        return out

    def _found(self, keys: Keys) -> tuple[NDArray[np.int64], Rows]:
        """The slot of each key, and the rows of keys that have none: where theirs would be."""
        slots = (keys & self._mask).view(np.int64)
        left = np.flatnonzero(self._key.take(slots) != keys)
        new = []
        while len(left):
            taken = self._taken[slots[left]]
            new.append(left[~taken])
            left = left[taken]
            slots[left] = slots[left] + 1 & int(self._mask)
            left = left[self._key[slots[left]] != keys[left]]
        return slots, np.sort(np.concatenate(new)) if new else left

    def _add(self, keys: Keys, places: Places) -> None:
        """Keys that are different from one another and from all before."""
        self._count += len(keys)
        if self._count * _ROOM > len(self._key):
            old, had = self._key[self._taken], self._place[self._taken]
            size = len(self._key)
            while self._count * _ROOM > size:
                size *= 4
            self._make(size)
            self._put(old, had)
        self._put(keys, places)

    def _put(self, keys: Keys, places: Places) -> None:
        while len(keys):
            slots, _ = self._found(keys)
            self._key[slots] = keys  # where several want one slot, the last has it
            won = self._key[slots] == keys
            self._taken[slots[won]] = True
            self._place[slots[won]] = places[won]
            keys, places = keys[~won], places[~won]


_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that different numbers stay different, and come to lie far from one another."""
