"""When a rater took up an item, after what, and for how long: what is told beside the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.places import plain
from calibrant.compare.rating_columns import ALIASES, SLICES, Reading, folded, long_form, named
from calibrant.compare.rating_tables import RatingTable
from calibrant.compare.rulers import ALL, as_places, number_of

Floats = NDArray[np.float64]
BESIDE: dict[str, tuple[str, ...]] = {
    "position": ("position", "order", "sequence", "item_position"),
    "sitting": ("sitting", "session", "session_id"),
    "duration": ("duration", "seconds", "duration_seconds", "duration_s", "time_spent"),
}
"""What columns about a visit may be called, the first name being ours."""
PAUSE = 30 * 60
"""Seconds without an answer after which a new sitting begins."""
_TIED = 0.1
"""Share of visits at the same moment from which times do not tell what came after what."""


@dataclass(frozen=True, slots=True)
class Visits:
    """Facts about visits of items by raters, shape (R, N), nan where nothing is told."""

    order: Floats | None = None
    """Any number that grows from visit to visit."""
    order_is_fine: bool = True
    """Whether it tells which item came right before."""
    sitting: Floats | None = None
    within: Floats | None = None
    """Place in the sitting, from 0 to 1."""
    duration: Floats | None = None
    repeats: pl.DataFrame | None = None
    """Answers that a rater gave twice, as places: rater, item, criterion, first, second."""


class Watcher:
    """Looks at the parts of a table as they go by, and keeps what is told of visits."""

    def __init__(self, how: Reading, source: str, *, in_order: bool = False) -> None:
        mine = {ours: theirs for ours, theirs in how.columns.items() if ours in BESIDE}
        rest = {ours: theirs for ours, theirs in how.columns.items() if ours not in BESIDE}
        self.how = replace(how, columns=rest)
        self._columns: Mapping[str, str] = mine
        self._source, self._in_order = source, in_order
        self._visits: list[pl.DataFrame] = []
        self._answers: list[pl.DataFrame] = []
        self._rows = 0

    def watch(self, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """The same frames."""
        for frame in frames:
            if frame.height and not self.how.wide:
                self._note(frame)
            yield frame

    def _note(self, frame: pl.DataFrame) -> None:
        beside = self._beside(frame)
        ours = named(frame, self.how, self._source)
        wanted = [name for name in ("item", "rater", *SLICES, "occasion") if name in ours.columns]
        if not {"item", "rater"} <= set(wanted):
            return
        columns = [_clean(ours[name]) for name in wanted]
        columns += [_clean(frame[theirs]).alias(f"_{name}") for name, theirs in beside.items()]
        row = pl.int_range(self._rows, self._rows + frame.height, eager=True).alias("_row")
        self._rows += frame.height
        keys = [name for name in wanted if name != "time"]
        self._visits.append(
            pl.DataFrame([*columns, row]).unique(keys, keep="first", maintain_order=True)
        )
        if "occasion" in wanted:
            long = long_form(ours, self.how, self._source)[0]
            kept = [name for name in (*keys, "criterion", "answer") if name in long.columns]
            self._answers.append(long.select(_clean(long[name]) for name in kept))

    def _beside(self, frame: pl.DataFrame) -> dict[str, str]:
        bare = folded(self._source, frame.columns)
        found = dict(self._columns)
        for ours, names in BESIDE.items():
            at = next((bare.index(name) for name in names if name in bare), None)
            if at is not None and ours not in found:
                found[ours] = frame.columns[at]
        return {ours: theirs for ours, theirs in found.items() if theirs in frame.columns}

    def visits(self, table: RatingTable) -> Visits:
        """What was told, by rater and unit of the table."""
        if not self._visits:
            return Visits()
        frame = pl.concat(self._visits, how="diagonal")
        if "occasion" in frame.columns:
            frame = frame.sort(_occasion(frame["occasion"]), maintain_order=True)
        keys = [name for name in ("item", *SLICES[:2]) if name in frame.columns]
        frame = frame.unique(["rater", *keys], keep="first", maintain_order=True)
        units = table.units.select(keys).with_row_index("_unit")
        raters = pl.DataFrame({"rater": table.raters}).with_row_index("_rater")
        frame = frame.join(units, on=keys, nulls_equal=True).join(raters, on="rater")
        shape = len(table.raters), table.units.height
        return _Told(frame, shape, self._in_order).visits(self._repeats(keys))

    def _repeats(self, keys: list[str]) -> pl.DataFrame | None:
        """Answers of one rater on two occasions, the first two of each, as places on the scale."""
        if not self._answers:
            return None
        frame = pl.concat(self._answers, how="diagonal").drop_nulls("answer")
        if frame.is_empty():
            return None
        if "criterion" not in frame.columns:
            frame = frame.with_columns(pl.lit(ALL).alias("criterion"))
        frame = frame.with_columns(pl.col("criterion").fill_null(ALL))
        frame = as_places(frame, self.how, self._source)
        frame = frame.sort(_occasion(frame["occasion"]), maintain_order=True)
        cell = ["rater", *keys, "criterion"]
        twice = frame.group_by(cell, maintain_order=True).agg(pl.col("answer").head(2))
        twice = twice.filter(pl.col("answer").list.len() == 2)
        if not twice.height:
            return None
        answer = pl.col("answer").list
        return twice.select(*cell, answer.get(0).alias("first"), answer.get(1).alias("second"))


class _Told:
    """Visits, one a row, as arrays by rater and unit."""

    def __init__(self, frame: pl.DataFrame, shape: tuple[int, int], in_order: bool) -> None:
        self._frame, self._shape, self._in_order = frame, shape, in_order
        self._at = frame["_rater"].to_numpy().astype(np.intp), frame["_unit"].to_numpy()

    def visits(self, repeats: pl.DataFrame | None) -> Visits:
        time = self._moments()
        position, duration = self._numbers("_position"), self._numbers("_duration")
        told = self._sittings(time)
        order, fine = time, True
        if time is not None and _ties(time, self._at[0]) > _TIED:
            fine = False
        if position is not None and (time is None or not fine):
            order, fine = self._by_position(position, told), True
        if order is None and self._in_order:
            order, fine = self._frame["_row"].to_numpy().astype(np.float64), True
        within = None
        if told is not None and order is not None:
            within = _within(self._at[0], told, position if position is not None else order)
        spread = [self._spread(one) for one in (order, told, within, duration)]
        return Visits(spread[0], fine, spread[1], spread[2], spread[3], repeats)

    def _spread(self, values: Floats | None) -> Floats | None:
        if values is None or np.isnan(values).all():
            return None
        out = np.full(self._shape, np.nan)
        out[self._at] = values
        return out

    def _numbers(self, name: str) -> Floats | None:
        if name not in self._frame.columns:
            return None
        values = self._frame[name].cast(pl.Float64, strict=False)
        return values.fill_null(float("nan")).to_numpy()

    def _moments(self) -> Floats | None:
        """Times in seconds: numbers as they are, days and hours as they are usually written."""
        if "time" not in self._frame.columns:
            return None
        texts = self._frame["time"].to_list()
        known = {text: _moment(text) for text in set(texts)}
        return np.array([known[text] for text in texts], np.float64)

    def _sittings(self, time: Floats | None) -> Floats | None:
        """A number for each sitting of each rater: as told, or from pauses."""
        if "_sitting" in self._frame.columns:
            names = self._frame["_sitting"]
            ranks = names.cast(pl.Float64, strict=False)
            if ranks.null_count() > names.null_count():
                ranks = names.rank("dense")
            return ranks.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        if time is None or np.isnan(time).all():
            return None
        rater = self._at[0]
        line = np.lexsort((time, rater))
        new = (np.diff(time[line], prepend=-np.inf) > PAUSE) | (
            np.diff(rater[line], prepend=-1) > 0
        )
        out = np.empty(len(time))
        out[line] = np.cumsum(new)
        return np.where(np.isnan(time), np.nan, out)

    def _by_position(self, position: Floats, sitting: Floats | None) -> Floats:
        if sitting is None or "_sitting" not in self._frame.columns:
            return position
        line = np.lexsort((position, sitting))
        out = np.empty(len(line))
        out[line] = np.arange(len(line))
        return np.where(np.isnan(position), np.nan, out)


def _within(rater: NDArray[np.intp], sitting: Floats, order: Floats) -> Floats:
    """The place of each visit in its sitting, from 0 to 1."""
    frame = pl.DataFrame({"rater": rater, "sitting": sitting, "order": order})
    rank = pl.col("order").rank("average").over("rater", "sitting") - 1
    last = (pl.len().over("rater", "sitting") - 1).clip(lower_bound=1)
    return frame.select((rank / last).alias("x"))["x"].fill_null(float("nan")).to_numpy()


def _ties(time: Floats, rater: NDArray[np.intp]) -> float:
    """Share of visits that share their moment with another of the same rater."""
    frame = pl.DataFrame({"rater": rater, "time": time}).filter(pl.col("time").is_not_nan())
    return 1 - frame.n_unique() / max(frame.height, 1)


def _moment(text: str | None) -> float:
    number = number_of(text)
    if number is not None:
        return number
    try:
        when = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return float("nan")
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _occasion(column: pl.Series) -> pl.Series:
    """A rank that sorts occasions: none first, numbers as numbers."""
    numbers = column.cast(pl.Float64, strict=False)
    ranks = numbers if numbers.null_count() == column.null_count() else column.rank("dense")
    return ranks.cast(pl.Float64).fill_null(float("-inf")).alias("_occasion")


def _clean(column: pl.Series) -> pl.Series:
    """As the table of ratings reads it."""
    text = plain(column).cast(pl.String).str.strip_chars()
    return text.set(text == "", None)


assert not set(BESIDE) & set(ALIASES)
