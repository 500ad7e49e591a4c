"""Verdicts as a table: what ``calibrant score`` writes and ``score_table`` returns."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.core.answer import ERROR, NA
from calibrant.core.scoring import rounded
from calibrant.formats.coding import Batch
from calibrant.formats.pieces import LookUp
from calibrant.stats.runs import Codes, Mask
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE, NA_CODE, Scorebook, Scored

_OUTCOMES = pl.Enum(["passed", "failed", "undecided"])
_GATES = pl.Enum(["passed", "failed", "unknown"])
_STATUS = pl.Enum(["complete", "incomplete"])
MOST_LISTED = 16
"""Names whose lists are found by one bit mask."""


class VerdictTable:
    """Turns scored batches into frames with one set of columns."""

    def __init__(self, book: Scorebook) -> None:
        self.book = book
        self.decimals = book.rubric.aggregation.decimals
        self.listed = _Lists(book.rubric.criterion_ids)
        self.gated = _Lists(tuple(book.rubric.criterion_ids[row] for row in book.gated))
        self._flags = _Lists(tuple(flag.id for flag in book.rubric.red_flags or ()))
        self._shares: dict[int, pl.Series] = {}
        self._points = [book.rubric.scale_of(one).points_of_scale for one in book.rubric.criteria]
        self.whole = [isinstance(points[0], int) for points in self._points]
        """Which criteria are answered by a whole number."""
        rows = range(len(self._points))
        self._raw_of = [self.raw_values(row) for row in rows]
        self._effective_of = [self.effective_values(row) for row in rows]

    def schema(self, keys: tuple[str, ...]) -> pl.Schema:
        """The columns of every frame, for a file whose sheets have these keys."""
        empty = Batch(
            pl.DataFrame(schema=dict.fromkeys(("id", *keys), pl.String)),
            np.empty((len(self.book.values), 0), np.uint8),
            np.empty(0, np.uint64),
        )
        return self.frame(empty, self.book.score(empty.codes, empty.flags), empty.codes).schema

    def frame(self, batch: Batch, scored: Scored, raw: Codes) -> pl.DataFrame:
        """One row a sheet; ``raw`` holds the codes as they were before preconditions."""
        shut = np.asarray(scored.shut.any(axis=0), bool)
        columns: dict[str, pl.Series] = {
            **batch.keys.to_dict(),
            "status": _named(scored.incomplete.view(np.uint8), _STATUS),
            "verdict": _named(scored.outcome, _OUTCOMES),
            "passed": self._passed(scored, shut),
            **self._scores(scored),
            "failed_checks": self.listed.gather(scored.failed),
            "failed_safety": self.gated.gather(scored.shut),
            "safety_gate_failed": pl.Series(shut),
            "gate": self._gate(scored),
            "missing": self.listed.gather(scored.codes == MISSING_CODE),
            "errors": self.listed.gather(scored.codes == ERROR_CODE),
            **({"unread": self._unread(batch)} if any(self.whole) else {}),
            "not_applicable": self.listed.gather(scored.codes == NA_CODE),
            "assessed_weight": self._assessed(scored),
            "flags": self._flags.gather(_bits(batch.flags, len(self.book.rubric.red_flags or ()))),
            "raw": self._raw(raw, batch),
            "effective": self._effective(scored.counted),
        }
        length = len(batch.flags)
        return pl.DataFrame(
            [
                pl.repeat(None, length, dtype=pl.Float64, eager=True).alias(name)
                if column is None
                else column.alias(name)
                for name, column in columns.items()
            ]
        )

    def _passed(self, scored: Scored, shut: Mask) -> pl.Series:
        """The rubric's rule; null where it has no pass mark and nothing fails the sheet."""
        passed = pl.Series("passed", scored.passed)
        if self.book.rubric.aggregation.pass_mark is not None:
            return passed
        decided = pl.Series(shut | scored.flagged)
        return pl.select(pl.when(decided).then(pl.lit(passed))).to_series()

    def _gate(self, scored: Scored) -> pl.Series:
        if self.book.rubric.gates:
            return _named(scored.gate, _GATES)
        return pl.repeat(None, len(scored.gate), dtype=pl.String, eager=True).cast(_GATES)

    def _scores(self, scored: Scored) -> dict[str, Any]:
        """Score and categories, or mean and minimum of the dimensions."""
        if scored.units is not None and scored.category_units is not None:
            categories = [
                self.share(units, table.denominator).alias(table.id)
                for table, units in zip(self.book.categories, scored.category_units, strict=True)
            ]
            return {
                "score": self.share(scored.units, self.book.denominator),
                "category_scores": pl.DataFrame(categories).to_struct(),
            }
        assert scored.total is not None and scored.count is not None and scored.minimum is not None
        none = pl.repeat(None, len(scored.total), dtype=pl.Float64, eager=True)
        answered = pl.Series(scored.count > 0)
        minimum = pl.Series(np.where(scored.count > 0, scored.minimum, 0))
        return {
            "score": none,
            "mean": self._means(scored.total, scored.count),
            "minimum": pl.select(pl.when(answered).then(minimum)).to_series(),
            "category_scores": pl.Series([{}] * len(none), dtype=pl.Struct({})),
        }

    def share(self, units: NDArray[Any], denominator: int) -> pl.Series:
        """``units/denominator`` rounded for display, by way of a table of all values."""
        if denominator <= 65_536:
            if denominator not in self._shares:
                values = [self._rounded(unit, denominator) for unit in range(denominator + 1)]
                self._shares[denominator] = pl.Series(values, dtype=pl.Float64)
            return self._shares[denominator].gather(units)
        values = [self._rounded(int(unit), denominator) for unit in units]
        return pl.Series(values, dtype=pl.Float64)

    def _assessed(self, scored: Scored) -> Any:
        if not self.book.categories:
            return None
        return self.share(self.book.assessed_units(scored.counted), self.book.denominator)

    def _means(self, total: NDArray[np.int64], count: NDArray[np.int64]) -> pl.Series:
        pairs, inverse = np.unique(np.stack([total, count]), axis=1, return_inverse=True)
        values = [self._rounded(int(t), int(c)) if c else None for t, c in pairs.T]
        return pl.Series(values, dtype=pl.Float64).gather(inverse.reshape(-1))

    def _rounded(self, units: int, denominator: int) -> float | None:
        return rounded(Fraction(units, denominator), self.decimals)

    def raw_values(self, row: int) -> pl.Series:
        """What ``raw`` shows of the answers to a criterion: NA, the points, errors, absences."""
        whole = self.whole[row]
        shown = [None if whole else NA, *self._points[row], None, None]
        return pl.Series(shown, dtype=pl.Int64 if whole else pl.String)

    def effective_values(self, row: int) -> pl.Series:
        """What ``effective`` shows of them; an error and a missing answer count alike."""
        points = self._points[row]
        if self.whole[row]:
            return pl.Series([None, *points, None, None], dtype=pl.Int64)
        names = [NA, *map(str, points), ERROR]
        return pl.Series([*names, ERROR], dtype=pl.Enum(names))

    def _raw(self, codes: Codes, batch: Batch) -> pl.Series:
        """Answers as they came in; what was handed in, where it is no answer."""
        columns = []
        for row, name in enumerate(self.book.rubric.criterion_ids):
            places = pl.Series(_close(codes[row], len(self._points[row]))).cast(pl.UInt32)
            columns.append(self._raw_of[row].gather(places).alias(name))
        for row in {row for row, _ in batch.given if not self.whole[row]}:
            at = [column for one, column in batch.given if one == row]
            texts = pl.Series([batch.given[row, column] for column in at], dtype=pl.String)
            columns[row] = columns[row].scatter(at, texts)
        return pl.DataFrame(columns).to_struct()

    def _unread(self, batch: Batch) -> pl.Series:
        """What was handed in where a whole number is wanted, each with its criterion."""
        found: dict[int, list[str]] = {}
        for (row, column), text in sorted(batch.given.items()):
            if self.whole[row] and text is not None:
                told = f"{self.book.rubric.criterion_ids[row]}: {text}"
                found.setdefault(column, []).append(told)
        if not found:
            return _empty_lists(len(batch.flags))
        every = [found.get(column, []) for column in range(len(batch.flags))]
        return pl.Series(every, dtype=pl.List(pl.String))

    def _effective(self, codes: Codes) -> pl.Series:
        """Answers as they count."""
        columns = []
        for row, name in enumerate(self.book.rubric.criterion_ids):
            places, values = _close(codes[row], len(self._points[row])), self._effective_of[row]
            if isinstance(values.dtype, pl.Enum):
                column = _named(np.minimum(places, np.uint8(len(values) - 2)), values.dtype)
            else:
                column = values.gather(pl.Series(places).cast(pl.UInt32))
            columns.append(column.alias(name))
        return pl.DataFrame(columns).to_struct()


@lru_cache(maxsize=4)
def _empty_lists(count: int) -> pl.Series:
    """Lists without names; nearly all batches are of one length."""
    return pl.repeat([], count, dtype=pl.List(pl.String), eager=True)


class _Lists:
    """Lists of names, from what is hit; sixteen names at a time."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._parts = [
            _ShortLists(names[at : at + MOST_LISTED]) for at in range(0, len(names), MOST_LISTED)
        ]

    def gather(self, hits: Mask) -> pl.Series:
        """For each column of ``hits`` (names, n) the list of names that are hit."""
        out: pl.Series | None = None
        for at, part in enumerate(self._parts):
            chosen = hits[MOST_LISTED * at : MOST_LISTED * (at + 1)]
            if chosen.any():
                places = part.places(chosen)  # may add to the lists
                found = part.lists.gather(places)
                out = found if out is None else out.list.concat(found)
        return _empty_lists(hits.shape[1]) if out is None else out

    def texts(self, hits: Mask) -> LookUp | str:
        """The same lists as JSON; of sixteen names at most."""
        if not self._parts or not hits.any():
            return "[]"
        (part,) = self._parts
        places = part.places(hits)  # may add to the texts
        return LookUp(part.texts, places)


class _ShortLists:
    """Lists of up to sixteen names by their bit mask, each list made once."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.lists = pl.Series([[]], dtype=pl.List(pl.String))
        self.texts = pl.Series(["[]"])
        """The lists as JSON; the names are ids, which need no escaping."""
        self._place = np.full(1 << len(names), -1, np.int32)
        """Where the list of each mask stands, -1 where it has not come up yet."""
        self._place[0] = 0

    def places(self, hits: Mask) -> NDArray[np.uint32]:
        """For each column of ``hits`` where the list of names that are hit stands."""
        bits = (1 << np.arange(len(hits))).astype(np.uint16)
        masks = np.einsum("i,ij->j", bits, hits.view(np.uint8))
        places = self._place[masks]
        if places.min(initial=0) < 0:
            self._add(np.unique(masks[places < 0]))
            places = self._place[masks]
        found: NDArray[np.uint32] = places.view(np.uint32)
        return found

    def _add(self, masks: NDArray[np.uint16]) -> None:
        joined = pl.Series([self._names_of(int(mask)) for mask in masks], dtype=pl.String)
        texts = '["' + joined.str.replace_all(" ", '","', literal=True) + '"]'
        self._place[masks] = len(self.lists) + np.arange(len(masks))
        self.lists = pl.concat([self.lists, joined.str.split(" ")], rechunk=True)
        self.texts = pl.concat([self.texts, texts], rechunk=True)

    def _names_of(self, mask: int) -> str:
        return " ".join(name for at, name in enumerate(self.names) if mask >> at & 1)


def _close(codes: Codes, points: int) -> NDArray[np.uint8]:
    """Codes without the gap between the points of a scale and errors and missing answers."""
    if codes.max(initial=0) < ERROR_CODE:
        return codes
    return np.where(codes >= ERROR_CODE, codes - np.uint8(253 - points), codes)


def _named(places: NDArray[np.uint8], names: pl.Enum) -> pl.Series:
    """The names at these places; no text is copied."""
    return pl.Series(places).cat.to(names)


def _bits(flags: NDArray[np.uint64], count: int) -> Mask:
    """The bits of the flags as rows, shape (flags, n)."""
    shifts = np.arange(count, dtype=np.uint64)[:, None]
    return (flags[None, :] >> shifts & np.uint64(1)).astype(bool)
