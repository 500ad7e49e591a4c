"""Columns as their different texts and the place of each row among them.

Work on texts is done once for each different text, not once for each row. Texts are told apart by
hashes of 64 bits: among ten million texts two have the same one in fewer than one of 300,000 files.
The seed is a new one each time, so that nobody can write texts that are taken for one another.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
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
_ROOM = 4
"""Slots for each key."""
_RUN = 8
"""Rows of a run, on average, from which runs are coded instead of rows."""


@dataclass(frozen=True, slots=True)
class Column:
    """Different texts, without space around them, in the order in which they come."""

    texts: list[str]
    of: Places
    """The place of each different row, ``NOWHERE`` where the cell is empty."""
    rows: Places
    """Which of the different rows each row is; columns that were looked up together share it."""

    @property
    def place(self) -> Places:
        """Of each row."""
        if np.array_equal(self.of, np.arange(len(self.of))):
            return self.rows
        return self.of.take(self.rows)

    @property
    def empty(self) -> int:
        """Rows without a text."""
        nowhere = self.of < 0
        return int(np.count_nonzero(nowhere.take(self.rows))) if nowhere.any() else 0

    def only(self, wanted: NDArray[np.bool_]) -> Column:
        """Some rows, and the texts that are left in them."""
        return coded(self.texts, self.place[wanted])

    def at(self, row: int) -> str | None:
        """The text of a row."""
        place = self.of[self.rows[row]]
        return None if place < 0 else self.texts[place]


def coded(texts: list[str], place: Places) -> Column:
    """A column of places that are known; texts that no row has are left out."""
    place = place.astype(np.int64)  # small ones have no room for one more
    used = np.flatnonzero(np.bincount(place + 1, minlength=len(texts) + 1)[1:])
    of = np.full(len(texts) + 1, NOWHERE, np.int32)  # the last is for no text
    of[used] = np.arange(len(used))
    return Column([texts[at] for at in used], of, np.where(place < 0, len(texts), place))


class Coder:
    """Takes the parts of some columns one after the other, and looks their rows up together."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._different: list[pl.DataFrame] = []
        """Rows that are different from all before them."""
        self._count = 0
        self._rows: list[Places] = []
        self._seed = secrets.randbits(64)
        self._keys = _Keys()

    def add(self, part: pl.DataFrame) -> None:
        """The next rows."""
        part = part.select([plain(part[name]) for name in self._names])
        one = len(self._names) == 1
        hashed = part.to_series().hash(self._seed) if one else part.hash_rows(self._seed)
        keys = hashed.to_numpy()
        starts = _starts(keys) if one else None
        if starts is None:
            self._rows.append(self._keys.places(keys, lambda rows: self._new(part[rows])))
        else:
            of_runs = self._keys.places(keys[starts], lambda rows: self._new(part[starts[rows]]))
            self._rows.append(np.repeat(of_runs, np.diff(starts, append=len(keys))))

    def _new(self, rows: pl.DataFrame) -> Places:
        """Places for rows that are different from all before."""
        self._different.append(rows.cast(pl.String))
        first, self._count = self._count, self._count + rows.height
        return np.arange(first, self._count, dtype=np.int32)

    def columns(self) -> dict[str, Column]:
        """All rows so far, by column."""
        kind = np.min_scalar_type(-max(1, self._count))
        rows = np.concatenate(self._rows, dtype=kind, casting="unsafe")
        nothing = pl.DataFrame(schema=dict.fromkeys(self._names, pl.String))
        different = pl.concat([nothing, *self._different])
        return {name: Column(*_texts(different[name]), rows) for name in self._names}


def _texts(cells: pl.Series) -> tuple[list[str], Places]:
    """The different texts of different rows, and the place of each row's."""
    clean = cells.str.strip_chars()
    as_is = not cells.null_count() and bool((clean == cells).all() and (clean != "").all())
    if as_is and clean.n_unique() == len(clean):
        return clean.to_list(), np.arange(len(clean), dtype=np.int32)
    plain = [text or "" for text in clean.to_list()]
    known = {text: at for at, text in enumerate(dict.fromkeys(filter(None, plain)))}
    return list(known), np.array([known.get(text, NOWHERE) for text in plain], np.int32)


def plain(column: pl.Series) -> pl.Series:
    """A column in which the same is written the same way, in every part."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise SourceError(f"column {column.name!r} holds lists or objects, not names or answers")
    if column.dtype.is_float():  # 4.0 is 4
        texts = column.fill_nan(None).cast(pl.String).str.strip_suffix(".0")
        return texts.replace("-0", "0")
    return column.cast(pl.String) if column.dtype == pl.Categorical else column


def combined(columns: list[Column]) -> tuple[Rows, Places]:
    """The first row of each different combination of texts, and the combination of each row."""
    key = np.zeros(len(columns[0].place), np.uint64)
    for one in columns:
        key = key * np.uint64(len(one.texts) + 1) + (one.place.astype(np.int64) + 1).astype(
            np.uint64
        )
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
