"""Verdicts as a table: what ``calibrant score`` writes and ``score_table`` returns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.core.answer import ERROR, NA
from calibrant.core.scoring import rounded
from calibrant.formats.coding import Batch
from calibrant.stats.scorebook import (
    ERROR_CODE,
    MISSING_CODE,
    NA_CODE,
    Codes,
    Mask,
    Scorebook,
    Scored,
)

_OUTCOMES = pl.Series(["passed", "failed", "undecided"], dtype=pl.String)
_GATES = pl.Series(["passed", "failed", "unknown"], dtype=pl.String)
_STATUS = pl.Series(["complete", "incomplete"], dtype=pl.String)


class VerdictTable:
    """Turns scored batches into frames with one set of columns."""

    def __init__(self, book: Scorebook) -> None:
        self.book = book
        self.decimals = book.rubric.aggregation.decimals
        self._ids = _Lists(book.rubric.criterion_ids)
        self._flags = _Lists(tuple(flag.id for flag in book.rubric.red_flags or ()))
        self._shares: dict[int, pl.Series] = {}
        scales = [book.rubric.scale_of(one) for one in book.rubric.criteria]
        self._raw = [self._lookup(scale.points_of_scale, NA, None) for scale in scales]
        self._counted = [self._lookup(scale.points_of_scale, NA, ERROR) for scale in scales]

    @staticmethod
    def _lookup(points: tuple[Any, ...], na: str, error: str | None) -> pl.Series:
        """What to show for each code: NA, the points, error, missing."""
        if isinstance(points[0], int):
            return pl.Series([None, *points, None, None], dtype=pl.Int64)
        return pl.Series([na, *points, error, error], dtype=pl.String)

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
            "status": _STATUS.gather(scored.incomplete.view(np.uint8)),
            "verdict": _OUTCOMES.gather(scored.outcome),
            "passed": self._passed(scored, shut),
            **self._scores(scored),
            "failed_checks": self._ids.gather(scored.failed),
            "failed_safety": self._ids.gather(scored.shut),
            "safety_gate_failed": pl.Series(shut),
            "gate": self._gate(scored),
            "missing": self._ids.gather(scored.codes == MISSING_CODE),
            "errors": self._ids.gather(scored.codes == ERROR_CODE),
            "not_applicable": self._ids.gather(scored.codes == NA_CODE),
            "assessed_weight": self._share(scored.assessed_units, self.book.denominator),
            "flags": self._flags.gather(_bits(batch.flags, len(self.book.rubric.red_flags or ()))),
            "raw": self._answers(raw, self._raw, batch),
            "effective": self._answers(scored.counted, self._counted, None),
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
            return _GATES.gather(scored.gate)
        return pl.repeat(None, len(scored.gate), dtype=pl.String, eager=True)

    def _scores(self, scored: Scored) -> dict[str, Any]:
        """Score and categories, or mean and minimum of the dimensions."""
        if scored.units is not None and scored.category_units is not None:
            categories = [
                self._share(units, table.denominator).alias(table.id)
                for table, units in zip(self.book.categories, scored.category_units, strict=True)
            ]
            return {
                "score": self._share(scored.units, self.book.denominator),
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

    def _share(self, units: NDArray[Any] | None, denominator: int) -> Any:
        """``units/denominator`` rounded for display, by way of a table of all values."""
        if units is None:
            return None
        if denominator <= 65_536:
            if denominator not in self._shares:
                values = [self._rounded(unit, denominator) for unit in range(denominator + 1)]
                self._shares[denominator] = pl.Series(values, dtype=pl.Float64)
            return self._shares[denominator].gather(units)
        values = [self._rounded(int(unit), denominator) for unit in units]
        return pl.Series(values, dtype=pl.Float64)

    def _means(self, total: NDArray[np.int64], count: NDArray[np.int64]) -> pl.Series:
        pairs, inverse = np.unique(np.stack([total, count]), axis=1, return_inverse=True)
        values = [self._rounded(int(t), int(c)) if c else None for t, c in pairs.T]
        return pl.Series(values, dtype=pl.Float64).gather(inverse.reshape(-1))

    def _rounded(self, units: int, denominator: int) -> float | None:
        return rounded(Fraction(units, denominator), self.decimals)

    def _answers(self, codes: Codes, lookups: list[pl.Series], batch: Batch | None) -> pl.Series:
        """Answers by criterion; where ``batch`` is given, with what was handed in."""
        columns = []
        for row, name in enumerate(self.book.rubric.criterion_ids):
            lookup = lookups[row]
            # errors and missing answers stand behind the points of the scale
            place = np.where(codes[row] >= ERROR_CODE, codes[row] - (256 - len(lookup)), codes[row])
            columns.append(lookup.gather(place).alias(name))
        if batch is not None and batch.given:
            for row in {row for row, _ in batch.given}:
                at = [column for one, column in batch.given if one == row]
                texts = [batch.given[row, column] for column in at]
                columns[row] = columns[row].scatter(at, pl.Series(texts, dtype=pl.String))
        return pl.DataFrame(columns).to_struct()


class _Lists:
    """Lists of names by bit mask, each made once."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._place: dict[bytes, int] = {}
        self._lists = pl.Series(dtype=pl.List(pl.String))

    def gather(self, hits: Mask) -> pl.Series:
        """For each column of ``hits`` (names, n) the list of names that are hit."""
        n = hits.shape[1]
        if not hits.any():
            return pl.repeat([], n, dtype=pl.List(pl.String), eager=True)
        packed = np.ascontiguousarray(np.packbits(hits, axis=0, bitorder="little").T)
        width = packed.shape[1]
        if width <= 8:
            wide = np.zeros((n, 8), np.uint8)
            wide[:, :width] = packed
            keys, inverse = np.unique(wide.view(np.uint64).reshape(-1), return_inverse=True)
        else:
            keys, inverse = np.unique(packed.view(f"V{width}").reshape(-1), return_inverse=True)
        spelled = [key.tobytes() for key in keys]
        fresh = [key for key in spelled if key not in self._place]
        if fresh:
            self._place |= {key: len(self._place) + at for at, key in enumerate(fresh)}
            lists = [self._names_of(key) for key in fresh]
            self._lists = pl.concat([self._lists, pl.Series(lists, dtype=pl.List(pl.String))])
        places = np.array([self._place[key] for key in spelled])
        return self._lists.gather(places[inverse])

    def _names_of(self, key: bytes) -> list[str]:
        bits = int.from_bytes(key, "little")
        return [name for at, name in enumerate(self.names) if bits >> at & 1]


def _bits(flags: NDArray[np.uint64], count: int) -> Mask:
    """The bits of the flags as rows, shape (flags, n)."""
    shifts = np.arange(count, dtype=np.uint64)[:, None]
    return (flags[None, :] >> shifts & np.uint64(1)).astype(bool)
