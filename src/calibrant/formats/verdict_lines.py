"""Verdicts as lines of JSON, put together from ready-made pieces.

A verdict under weighted categories is a handful of *digits*: the verdict itself, the units of
each category, the answer to each criterion, and so on, each with few values. The text of every
value is written once, by the same writer that writes whole frames; neighbouring digits are
joined to pieces while the combinations are few; and a line is a look-up of its pieces. What does
not fit (junk that has to be shown, red flags, names with signs that JSON escapes) is written as
a frame. The lines are those that the frame would give, byte for byte.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from calibrant.core.criterion import WeightedCategories
from calibrant.formats.coding import Batch
from calibrant.formats.pieces import MOST_VALUES, Line, Pieces
from calibrant.formats.verdicts import MOST_LISTED, VerdictTable
from calibrant.stats.runs import Codes, Mask
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE, NA_CODE, Scored

_PLAIN = r"^[ !#-\[\]-~]*$"
"""Names that stand in JSON as they are."""


class VerdictLines:
    """Writes scored batches as lines; knows beforehand what a rubric can say."""

    def __init__(self, table: VerdictTable) -> None:
        self.table, self.book = table, table.book
        rule = self.book.rubric.aggregation
        self.applies = (
            isinstance(rule, WeightedCategories)
            and rule.pass_mark is not None
            and bool(self.book.rubric.gates)
            and len(self.book.values) <= MOST_LISTED
            and self.book.denominator < MOST_VALUES
            and all(table.denominator < MOST_VALUES for table in self.book.categories)
        )
        if self.applies:
            self._first = Pieces([*self._outcome(), *self._categories()])
            self._gate = Pieces([["false", "true"], [f',"gate":{one}' for one in _GATES]])
            self._assessed = Pieces([self._units(self.book.denominator)])
            self._answers = Pieces([*self._raw(), *self._effective()])

    def lines(self, batch: Batch, scored: Scored) -> pl.Series:
        """One line a sheet."""
        unusual = self._unusual(batch)
        if unusual.all():
            return self._by_frame(batch, scored)
        lines = self._by_pieces(batch, scored)
        if unusual.any():
            some = self._by_frame(batch.keep(unusual), self._only(scored, batch, unusual))
            lines = lines.scatter(np.flatnonzero(unusual), some)
        return lines

    def _only(self, scored: Scored, batch: Batch, wanted: Mask) -> Scored:
        codes = np.ascontiguousarray(scored.codes[:, wanted])
        return self.book.score(codes, batch.flags[wanted])

    def _by_frame(self, batch: Batch, scored: Scored) -> pl.Series:
        text = self.table.frame(batch, scored, batch.codes).write_ndjson()
        return pl.Series(text.splitlines(), dtype=pl.String)

    def _unusual(self, batch: Batch) -> Mask:
        """Sheets that the pieces cannot tell."""
        if not self.applies:
            return np.ones(len(batch.flags), bool)
        unusual = np.asarray(batch.flags != 0, bool)
        unusual[[column for _, column in batch.given]] = True
        for name in batch.keys:
            plain = name.str.contains(_PLAIN)
            if not plain.all(ignore_nulls=False):
                unusual |= ~plain.fill_null(False).to_numpy()
        return unusual

    def _by_pieces(self, batch: Batch, scored: Scored) -> pl.Series:
        assert scored.units is not None and scored.category_units is not None
        listed, codes = self.table.listed, scored.codes
        shut = np.asarray(scored.shut.any(axis=0), bool)
        outcome = [scored.incomplete, scored.outcome, scored.passed, scored.units]
        assessed = self.book.assessed_units(scored.counted)
        line = Line()
        for name in batch.keys:
            line.add(f'{"," if line else "{"}"{name.name}":"', name, '"')
        line.add(*self._first.found([*outcome, *scored.category_units]))
        line.add('},"failed_checks":', listed.texts(scored.failed))
        line.add(',"failed_safety":', self.table.gated.texts(scored.shut))
        line.add(',"safety_gate_failed":', *self._gate.found([shut, scored.gate]))
        line.add(',"missing":', listed.texts(codes == MISSING_CODE))
        line.add(',"errors":', listed.texts(codes == ERROR_CODE))
        if any(self.table.whole):
            line.add(',"unread":[]')  # what is handed in and not read makes a sheet unusual
        line.add(',"not_applicable":', listed.texts(codes == NA_CODE))
        line.add(',"assessed_weight":', *self._assessed.found([assessed]))
        raw, effective = self._close_gap(batch.codes), self._close_gap(codes)
        line.add(',"flags":[],"raw":{', *self._answers.found([*raw, *effective]), "}}")
        return line.texts()

    def _close_gap(self, codes: Codes) -> Codes:
        """Codes without the gap between the points of a scale and errors and missing answers."""
        if codes.max(initial=0) < ERROR_CODE:
            return codes
        points = np.array([len(values) for values in self.book.values], np.uint8)[:, None]
        return np.where(codes >= ERROR_CODE, codes - (np.uint8(253) - points), codes)

    # -- the digits and their texts, in the order of the columns

    def _outcome(self) -> list[list[str]]:
        score = [f',"score":{text}' for text in self._units(self.book.denominator)]
        return [
            [f',"status":"{one}"' for one in ("complete", "incomplete")],
            [f',"verdict":"{one}"' for one in ("passed", "failed", "undecided")],
            [f',"passed":{one}' for one in ("false", "true")],
            score,
        ]

    def _categories(self) -> list[list[str]]:
        digits: list[list[str]] = []
        for table in self.book.categories:
            before = "," if digits else ',"category_scores":{'
            units = self._units(table.denominator)
            digits.append([f'{before}"{table.id}":{text}' for text in units])
        return digits

    def _units(self, denominator: int) -> list[str]:
        return _texts(self.table.share(np.arange(denominator + 1), denominator))

    def _raw(self) -> list[list[str]]:
        """The texts of every answer as it came in."""
        shown = [self.table.raw_values(row) for row in range(len(self.book.values))]
        return self._by_criterion(shown, "")

    def _effective(self) -> list[list[str]]:
        shown = [self.table.effective_values(row) for row in range(len(self.book.values))]
        return self._by_criterion(shown, '},"effective":{')

    def _by_criterion(self, shown: list[pl.Series], before: str) -> list[list[str]]:
        digits = []
        for name, values in zip(self.book.rubric.criterion_ids, shown, strict=True):
            digits.append([f'{before}"{name}":{text}' for text in _texts(values)])
            before = ","
        return digits


_GATES = ('"passed"', '"failed"', '"unknown"')


def _texts(values: pl.Series) -> list[str]:
    """How the writer of frames writes each of these values."""
    lines = pl.DataFrame({"x": values}).write_ndjson().splitlines()
    return [line.removeprefix('{"x":').removesuffix("}") for line in lines]
