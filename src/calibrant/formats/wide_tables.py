"""Wide tables of answers: one row a sheet, one column a criterion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from calibrant.core.errors import SourceError, UnknownName
from calibrant.formats.coding import KNOWN, Assembler, Batch, unknown_field
from calibrant.formats.tables import Row
from calibrant.stats.scorebook import MISSING_CODE

ROWS = 32_768


class WideTable:
    """Reads rows or frames of one table into batches."""

    def __init__(self, assembler: Assembler, names: Sequence[str]) -> None:
        self.assembler, self.coder = assembler, assembler.coder
        self.names = tuple(names)
        self._fields, self._criteria = self._columns()

    def _columns(self) -> tuple[dict[str, int], dict[int, int]]:
        """Known fields by column, and the column of each criterion's row."""
        fields: dict[str, int] = {}
        criteria: dict[int, int] = {}
        wrong: list[str] = []
        for at, name in enumerate(self.names):
            if name in self.assembler.ignore:
                continue
            folded = name.strip().lower()
            try:
                row = self.assembler.criterion_row(name)
            except UnknownName:
                if folded in KNOWN and folded not in fields:
                    fields[folded] = at
                else:
                    hint = unknown_field(name, self.coder.rubric)
                    wrong.append(
                        f"column {name!r} is neither a criterion nor a known field ({hint})"
                    )
                continue
            if row in criteria:
                wrong.append(
                    f"columns {self.names[criteria[row]]!r} and {name!r} are one criterion"
                )
            criteria[row] = at
        if "id" not in fields and "item" not in fields:
            wrong.append("a column `id` is needed")
        if not criteria:
            wrong.append(f"no column is a criterion of {self.coder.rubric.name}")
        if wrong:
            raise SourceError("\n".join(f"{self.assembler.source}: {line}" for line in wrong))
        return fields, criteria

    @property
    def criterion_columns(self) -> list[str]:
        """The columns that hold answers."""
        return [self.names[at] for at in self._criteria.values()]

    def rows(self, rows: Iterator[Row]) -> Iterator[Batch]:
        """Batches from rows of cells."""
        numbers: list[int] = []
        cells: list[Sequence[Any]] = []
        for row in rows:
            if row.fault is not None:
                self.assembler.on_fault(row.fault)
                continue
            numbers.append(row.number)
            cells.append(row.cells)
            if len(cells) == ROWS:
                yield self._batch(numbers, list(zip(*cells, strict=True)))
                numbers, cells = [], []
        if cells:
            yield self._batch(numbers, list(zip(*cells, strict=True)))

    def frame(self, frame: pl.DataFrame, first: int) -> Batch:
        """A batch from a frame whose first row is record ``first``."""
        columns = [frame.to_series(at) for at in range(frame.width)]
        return self._batch(range(first, first + frame.height), columns)

    def _batch(self, numbers: Sequence[int], columns: Sequence[Any]) -> Batch:
        codes = np.full((len(self.coder.rows), len(numbers)), MISSING_CODE, np.uint8)
        given: dict[tuple[int, int], str | None] = {}
        for row, at in self._criteria.items():
            column = columns[at]
            is_series = isinstance(column, pl.Series)
            codes[row] = (
                self.coder.column(row, column) if is_series else self.coder.cells(row, column)
            )
            given |= self.coder.given_in(row, codes[row], column)
        fields = {name: columns[at] for name, at in self._fields.items()}
        return self.assembler.batch(numbers, fields, codes, given)
