"""Columns as their different texts and the place of each row among them.

Work on texts is done once for each different text, not once for each row. Texts are told apart by
their hashes where they are few or come in runs; the seed of the hash is a new one each time, so
that nobody can write texts that are taken for one another.
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

Places = NDArray[np.int32]
Keys = NDArray[np.uint64]
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


class Coder:
    """Takes the parts of a column one after the other; nothing else is kept of them than places."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._places: list[Places] = []
        self._seed = secrets.randbits(64)
        self._slots: _Slots | None = _Slots()

    def add(self, cells: pl.Series) -> None:
        """The next rows."""
        if cells.dtype.is_nested() or cells.dtype == pl.Object:
            raise SourceError(f"column {cells.name!r} holds lists or objects, not names or answers")
        numbers = cells.dtype.is_float()
        cells = (cells.fill_nan(None) if numbers else cells).cast(pl.String)
        keys = cells.hash(self._seed).to_numpy()
        self._places.append(self._of(cells, keys, numbers))

    def column(self) -> Column:
        """All rows so far."""
        return Column(list(self._known), np.concatenate(self._places))

    def _of(self, cells: pl.Series, keys: Keys, numbers: bool) -> Places:
        starts = _starts(keys)
        if starts is not None:
            of_runs = self._of(cells.gather(starts), keys[starts], numbers)
            return np.repeat(of_runs, np.diff(starts, append=len(keys)))
        if self._slots is not None:
            found = self._slots.places(keys, lambda rows: self._named(cells.gather(rows), numbers))
            if found is not None:
                return found
            self._slots = None
        first, place = _many(keys) or _of_categories(cells)
        return self._named(cells.gather(first), numbers).take(place)

    def _named(self, texts: pl.Series, numbers: bool) -> Places:
        """The place of each of these texts, the new ones among them at the end."""
        known, out = self._known, []
        for text in texts.to_list():
            plain = (text or "").strip()
            if numbers:  # 4.0 is 4
                plain = "0" if plain == "-0.0" else plain.removesuffix(".0")
            out.append(known.setdefault(plain, len(known)) if plain else NOWHERE)
        return np.array(out, np.int32)


def combined(columns: list[Column]) -> tuple[NDArray[np.intp], Places]:
    """The first row of each different combination of texts, and the combination of each row."""
    key = np.zeros(len(columns[0].place), np.uint64)
    for one in columns:
        key = key * np.uint64(len(one.texts) + 1) + (one.place + 1).astype(np.uint64)
    first: list[int] = []

    def note(rows: NDArray[np.intp]) -> Places:
        first.extend(rows.tolist())
        return np.arange(len(first) - len(rows), len(first), dtype=np.int32)

    place = _Slots().places(key, note)
    if place is not None:
        return np.array(first, np.intp), place
    found = _many(key)
    if found is None:
        unique, codes = np.unique(key, return_inverse=True)
        found = _in_order(codes, len(unique))
    return found


# -- how rows with the same text are found


class _Slots:
    """A table in which each key has a slot of its own, as long as no two need the same one."""

    def __init__(self) -> None:
        self._key = np.arange(_SLOTS, dtype=np.uint64) ^ np.uint64(1)  # none that belongs there
        self._place = np.full(_SLOTS, NOWHERE, np.int32)
        self._taken = np.zeros(_SLOTS, np.bool_)

    def places(self, keys: Keys, name: Callable[[NDArray[np.intp]], Places]) -> Places | None:
        """The place of each row; ``name`` gives places to rows with a key that is new.

        Every key is compared with the one in its slot, a block at a time that stays near the
        processor. None if two keys would need the same slot.
        """
        out = np.empty(len(keys), np.int32)
        for start in range(0, len(keys), _BLOCK):
            mine = keys[start : start + _BLOCK]
            slots = (mine & np.uint64(_SLOTS - 1)).view(np.int64)
            new = np.flatnonzero(self._key.take(slots) != mine)
            if len(new):
                rows = new[np.sort(np.unique(mine[new], return_index=True)[1])]
                at = slots[rows]
                if self._taken[at].any() or len(np.unique(at)) < len(at):
                    return None
                self._key[at], self._place[at] = mine[rows], name(rows + start)
                self._taken[at] = True
            self._place.take(slots, out=out[start : start + _BLOCK], mode="clip")
        return out


def _starts(keys: Keys) -> NDArray[np.intp] | None:
    """Where runs of the same key begin, if runs are long."""
    other = keys[1:] != keys[:-1]
    if (np.count_nonzero(other) + 1) * _RUN > len(keys):
        return None
    return np.concatenate([[0], np.flatnonzero(other) + 1])


def _many(keys: Keys) -> tuple[NDArray[np.intp], Places] | None:
    """Where each key comes first, and the place of each row.

    In three rounds: a key that lost its slot to another tries one of the next table.
    """
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


def _of_categories(cells: pl.Series) -> tuple[NDArray[np.intp], Places]:
    codes = cells.cast(pl.Categorical).to_physical()
    size = (codes.max() or 0) + 1  # type: ignore[operator]
    return _in_order(codes.fill_null(size).to_numpy(), int(size) + 1)


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
