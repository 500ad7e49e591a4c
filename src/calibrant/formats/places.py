"""Columns as their different texts and the place of each row among them.

Work on texts is done once for each different text, not once for each row. Texts are told apart by
their hashes where they are few or come in runs; the seed of the hash is a new one each time, so
that nobody can write texts that are taken for one another.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.core.errors import SourceError

Places = NDArray[np.int32]
NOWHERE = -1
"""The place of a row without a text."""
_BLOCK = 1 << 14
_SLOTS = 1 << 20
"""Slots of the table of keys: a thousand keys mostly have one each."""
_LONG = 1 << 20
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


def column(cells: pl.Series) -> Column:
    """A column of a frame by its texts."""
    cells = _as_text(cells)
    first, place = _of_texts(cells)
    found = cells.gather(first).to_list()
    plain = [(text or "").strip() for text in found]
    if plain == found:
        return Column(plain, place)
    texts = list(dict.fromkeys(text for text in plain if text))
    known = {text: at for at, text in enumerate(texts)}
    return Column(texts, np.array([known.get(text, NOWHERE) for text in plain], np.int32)[place])


def combined(columns: list[Column]) -> tuple[NDArray[np.intp], Places]:
    """The first row of each different combination of texts, and the combination of each row."""
    key = np.zeros(len(columns[0].place), np.uint64)
    for one in columns:
        key = key * np.uint64(len(one.texts) + 1) + (one.place + 1).astype(np.uint64)
    return _of_keys(key)


def _as_text(cells: pl.Series) -> pl.Series:
    if cells.dtype.is_nested() or cells.dtype == pl.Object:
        raise SourceError(f"column {cells.name!r} holds lists or objects, not names or answers")
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
        given = cells.drop_nulls()
        if bool((given == given.round()).all()):  # 4.0 is 4
            cells = cells.cast(pl.Int64, strict=False)
    return cells.cast(pl.String)


def _of_texts(cells: pl.Series) -> tuple[NDArray[np.intp], Places]:
    """The row in which each different text comes first, and the place of each row's text."""
    keys = cells.hash(secrets.randbits(64)).to_numpy()
    starts = _starts(keys)
    if starts is not None:
        first, place = _of_texts(cells.gather(starts)) if len(starts) > 1 else _only()
        return starts[first], _repeated(place, starts, len(keys))
    found = _few(keys) or _many(keys)
    if found is not None:
        return found
    codes = cells.cast(pl.Categorical).to_physical()
    size = (codes.max() or 0) + 1  # type: ignore[operator]
    return _in_order(codes.fill_null(size).to_numpy(), int(size) + 1)


def _of_keys(keys: NDArray[np.uint64]) -> tuple[NDArray[np.intp], Places]:
    """The same of numbers."""
    starts = _starts(keys)
    if starts is not None:
        first, place = _of_keys(keys[starts]) if len(starts) > 1 else _only()
        return starts[first], _repeated(place, starts, len(keys))
    found = _few(keys) or _many(keys)
    if found is not None:
        return found
    unique, codes = np.unique(keys, return_inverse=True)
    return _in_order(codes, len(unique))


def _only() -> tuple[NDArray[np.intp], Places]:
    return np.zeros(1, np.intp), np.zeros(1, np.int32)


def _starts(keys: NDArray[np.uint64]) -> NDArray[np.intp] | None:
    """Where runs of the same key begin, if runs are long."""
    other = keys[1:] != keys[:-1]
    if (np.count_nonzero(other) + 1) * _RUN > len(keys):
        return None
    return np.concatenate([[0], np.flatnonzero(other) + 1])


def _repeated(place: Places, starts: NDArray[np.intp], rows: int) -> Places:
    return np.repeat(place, np.diff(starts, append=rows))


def _few(keys: NDArray[np.uint64]) -> tuple[NDArray[np.intp], Places] | None:
    """Keys by a table in which each has a slot of its own; None if two would need the same one.

    Every row's key is compared with the one in its slot, a block at a time that stays near the
    processor.
    """
    in_slot = np.arange(_SLOTS, dtype=np.uint64) ^ np.uint64(1)  # no key that belongs there
    place_in_slot = np.full(_SLOTS, NOWHERE, np.int32)
    place, first = np.empty(len(keys), np.int32), np.zeros(0, np.intp)
    for start in range(0, len(keys), _BLOCK):
        mine = keys[start : start + _BLOCK]
        slots = (mine & np.uint64(_SLOTS - 1)).view(np.int64)
        new = np.flatnonzero(in_slot.take(slots) != mine)
        if len(new):
            rows = new[np.sort(np.unique(mine[new], return_index=True)[1])]
            if (place_in_slot[slots[rows]] >= 0).any() or len(np.unique(slots[rows])) < len(rows):
                return None
            in_slot[slots[rows]] = mine[rows]
            place_in_slot[slots[rows]] = np.arange(len(first), len(first) + len(rows))
            first = np.concatenate([first, rows + start])
        place_in_slot.take(slots, out=place[start : start + _BLOCK], mode="clip")
    return first, place


def _many(keys: NDArray[np.uint64]) -> tuple[NDArray[np.intp], Places] | None:
    """The same in three rounds: a key that lost its slot to another tries one of the next table."""
    if len(keys) < _LONG:  # the tables would be larger than the keys
        return None
    codes, size = np.empty(len(keys), np.int64), 1 << 21
    left = np.arange(len(keys))
    for number in range(3):
        mine = keys[left] if number else keys
        slots = (mine >> np.uint64(21 * number) & np.uint64(size - 1)).view(np.int64)
        in_slot = np.zeros(size, np.uint64)
        in_slot[slots] = mine
        won = in_slot.take(slots) == mine
        codes[left[won]] = number * size + slots[won]
        left = left[~won]
        if not len(left):
            return _in_order(codes, (number + 1) * size)
    return None


def _in_order(codes: NDArray[Any], size: int) -> tuple[NDArray[np.intp], Places]:
    """Places in the order in which codes come, of codes below ``size``."""
    first = np.full(size, -1, np.intp)
    # written backwards, what stays is where each code comes first
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    used = np.flatnonzero(first >= 0)
    used = used[np.argsort(first[used])]
    place = np.zeros(size, np.int32)
    place[used] = np.arange(len(used))
    return first[used], place.take(codes)
