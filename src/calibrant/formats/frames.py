"""Dataframes at the edge: polars, pandas, or anything that speaks Arrow."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from calibrant.compare.rating_columns import folded
from calibrant.core.errors import Fault, RecordError, SourceError
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.formats.coding import Assembler, Coder
from calibrant.formats.long_rows import LongRows
from calibrant.formats.preconditions import conditioned
from calibrant.formats.ratings import once
from calibrant.formats.records import Record
from calibrant.formats.score_file import lost_na
from calibrant.formats.verdicts import VerdictTable
from calibrant.formats.wide_tables import WideTable
from calibrant.stats.scorebook import NA_CODE


class CalibrantWarning(UserWarning):
    """Something in the data that may not be what its owner thinks."""


def score_table(rubric: Rubric, frame: Any, *, items: Iterable[Item] | None = None) -> pl.DataFrame:
    """Verdicts of a table of answers, wide or long, one row a sheet.

    ``frame`` is a polars or pandas frame or any Arrow table: ``id`` and one column a criterion,
    or long rows ``item, rater, criterion, answer``. Give the ``items`` to have the rubric's
    preconditions applied. Raises ``RecordError`` with every bad record.
    """
    _is_rubric(rubric)
    table, was_nan = to_polars(frame)
    faults: list[Fault] = []
    coder = Coder(rubric)
    if isinstance(items, str | Path):
        raise TypeError(f"items are wanted, not {str(items)!r}: calibrant.read_items reads a file")
    measures = None if items is None else {item.id: item.measures() for item in items}
    assembler = Assembler(coder, "frame", faults.append, ())
    names = dict(zip(folded("frame", table.columns), table.columns, strict=True))
    if {"criterion", "answer"} <= names.keys():
        _warn(was_nan, [names["answer"]])
        rows = LongRows(assembler, table=True)
        renamed = table.rename({name: plain for plain, name in names.items()})
        records = enumerate(renamed.iter_rows(named=True), 1)
        rows.fold(Record(number, value) for number, value in records)
        batches = rows.batches()
    else:
        wide = WideTable(assembler, table.columns)
        _warn(was_nan, wide.criterion_columns)
        batches = iter([wide.frame(table, 1)] if table.height else [])
    verdicts = VerdictTable(coder.book)

    def unknown(name: str, record: int) -> None:
        assembler.fault(record, "id", f"item {name!r} is not among the items")

    out: list[pl.DataFrame] = []
    has_na = False
    for batch in once(batches, assembler):
        has_na = has_na or bool((batch.codes == NA_CODE).any())
        kept, codes = batch, batch.codes
        if measures is not None:
            kept, codes = conditioned(coder.book, batch, measures, unknown)
        scored = coder.book.score(codes, kept.flags)
        out.append(verdicts.frame(kept, scored, kept.codes))
    if faults:
        raise RecordError(faults)
    if coder.saw_empty and not has_na and not was_nan:
        for note in lost_na(rubric):
            warnings.warn(note, CalibrantWarning, stacklevel=2)
    return pl.concat(out) if out else pl.DataFrame(schema=verdicts.schema(()))


def _is_rubric(rubric: object) -> None:
    """A name is not a rubric yet."""
    if not isinstance(rubric, Rubric):
        raise TypeError(f"a Rubric is wanted, not {rubric!r}: calibrant.load_rubric reads one")


def to_polars(frame: Any) -> tuple[pl.DataFrame, dict[str, int]]:
    """The frame in polars, and how many cells of each column were NaN."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if hasattr(frame, "__arrow_c_stream__") and not _is_pandas(frame):
        with suppress(pl.exceptions.PolarsError):
            frame = pl.DataFrame(frame)
    if isinstance(frame, pl.DataFrame):
        nans = {one.name: int(one.is_nan().sum()) for one in frame if one.dtype.is_float()}
        return frame, {name: count for name, count in nans.items() if count}
    if _is_pandas(frame):
        return _from_pandas(frame)
    raise SourceError(f"cannot read {type(frame).__name__!r} as a table of answers")


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns")


def _from_pandas(frame: Any) -> tuple[pl.DataFrame, dict[str, int]]:
    """Column by column, so that no Arrow package is needed; NaN and its kin are empty cells."""
    folded("frame", [str(name) for name in frame.columns])
    columns: dict[str, pl.Series] = {}
    nans: dict[str, int] = {}
    for name in frame.columns:
        empty = frame[name].isna().tolist()
        cells = [
            None if gone else cell for cell, gone in zip(frame[name].tolist(), empty, strict=True)
        ]
        kinds = {type(cell) for cell in cells if cell is not None}
        # a column of mixed cells is kept as it is: polars would turn a truth value into a number
        mixed = pl.Object if len(kinds) > 1 else None
        columns[str(name)] = pl.Series(str(name), cells, dtype=mixed, strict=False)
        if any(empty):
            nans[str(name)] = sum(empty)
    return pl.DataFrame(list(columns.values())), nans


def _warn(was_nan: dict[str, int], columns: list[str]) -> None:
    """Pandas reads the text NA as NaN unless told not to: an answer becomes a missing one."""
    hit = {name: was_nan[name] for name in columns if name in was_nan}
    if hit:
        told = ", ".join(f"{name} ({count})" for name, count in hit.items())
        warnings.warn(
            f"answers that are NaN are scored as missing: {told}. If they were NA, read the file "
            "with pandas.read_csv(..., keep_default_na=False)",
            CalibrantWarning,
            stacklevel=3,
        )
