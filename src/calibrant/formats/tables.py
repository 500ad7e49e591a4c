"""Tables: CSV, XLSX and Parquet as a header and rows of cells.

An empty cell is ``None``. Everything else is what the file says it is: text in CSV; text,
numbers, truth values and dates in XLSX and Parquet.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from calibrant.core.errors import Fault, SourceError
from calibrant.formats.text import MAX_LINE, detect_encoding, read_lines
from calibrant.formats.workbook_guard import inspect_workbook

_DELIMITERS = (",", ";", "\t", "|")


class NoHeader(SourceError):
    """The row that was taken for the header is none: another one may be."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file its table stands."""

    sheet: str | None = None
    """None: the first sheet that holds more than a line."""
    header: int | None = None
    """The row of the header as a spreadsheet counts; None: the first that is not empty."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a table: as many cells as the header has names, or the fault it has."""

    number: int
    cells: Sequence[Any]
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A header and the rows below it, read one after the other."""

    names: tuple[str, ...]
    rows: Iterator[Row]
    notes: tuple[str, ...] = ()
    """What a user should know of how the file was read."""


def open_csv(path: Path, encoding: str | None = None, place: Place | None = None) -> Table:
    """A CSV file; comma, semicolon, tab or bar, whichever the header uses."""
    header = (place.header if place is not None else None) or 1
    found = detect_encoding(path, encoding)
    notes = tuple(found.notes(path))
    lines = (line for _, line in read_lines(path, found))
    first = next(islice(lines, header - 1, None), None)  # what stands above need not be CSV
    if first is None and header > 1:
        raise NoHeader(f"{path}: there is no row {header}")
    if first is None:
        raise SourceError(f"{path}: the file is empty")
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    delimiter = delimiter_of(path, first)
    reader = csv.reader(_chain(first, lines), delimiter=delimiter, strict=True)
    try:
        names = _header(path, next(reader))
    except csv.Error as error:
        raise SourceError(f"{path}: line {header}: not CSV: {error}") from error
    return Table(names, _csv_rows(path, reader, len(names)), notes)


def delimiter_of(path: Path, header: str) -> str:
    """What separates the cells of a table whose header is that line."""
    return "\t" if path.suffix.lower() == ".tsv" else max(_DELIMITERS, key=header.count)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _csv_rows(path: Path, reader: Any, width: int) -> Iterator[Row]:
    number = 0
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # the reader has lost its place: nothing after this is safe
            place = f"record {number}, near line {reader.line_num}"
            raise SourceError(f"{path}: {place}: not CSV: {error}") from error
        if not cells:
            number -= 1
            continue
        if len(cells) != width:
            message = f"has {len(cells)} cells where the header has {width}"
            yield Row(number, (), Fault(message, source=str(path), record=number))
            continue
        yield Row(number, [cell if cell.strip() else None for cell in cells])


def _header(path: Path, cells: Sequence[Any]) -> tuple[str, ...]:
    names = tuple("" if cell is None else str(cell).strip() for cell in cells)
    for index, name in enumerate(names):
        if not name:
            hint = "; from pandas: to_csv(index=False)" if index == 0 else ""
            raise NoHeader(
                f"{path}: column {index + 1} has no name "
                "(the first row holds the names: delete what stands above them, or say which "
                f"row it is{hint})"
            )
        if name in names[:index]:
            raise NoHeader(f"{path}: two columns are named {name!r}")
    if not names:
        raise NoHeader(f"{path}: the table has no header")
    return names


def open_xlsx(path: Path, place: Place | None = None) -> Table:
    """The first sheet of a workbook that holds more than a line; others are named in a note."""
    wanted = place or Place()
    book = read_workbook(path, wanted.sheet)
    notes: list[str] = []
    if len(book.sheets) > 1:
        others = ", ".join(name for name in book.sheets if name != book.sheet)
        notes.append(f"{path.name}: read sheet {book.sheet!r} only; not read: {others}")
    if book.has_errors:
        notes.append(f"{path.name}: error values (#N/A …) are read as empty cells")
    header = wanted.header or book.first_row
    grid = _cut(book.rows[max(0, header - book.first_row) :])
    if header < book.first_row or not grid:
        raise NoHeader(f"{path}: there is nothing in row {header}")
    return Table(_header(path, grid[0]), _xlsx_rows(grid[1:]), tuple(notes))


@dataclass(frozen=True, slots=True)
class Book:
    """A workbook, with the cells of one of its sheets."""

    sheets: tuple[str, ...]
    """Those in which anything stands."""
    sheet: str
    rows: Sequence[Sequence[Any]]
    first_row: int
    """The number of the first row in which anything stands."""
    has_errors: bool


def read_workbook(path: Path, sheet: str | None = None, rows: int | None = None) -> Book:
    """The first sheet of a workbook that holds more than a line, or the one that is named."""
    has_errors = inspect_workbook(path)
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        workbook = CalamineWorkbook.from_path(str(path))
        sheets = [(name, workbook.get_sheet_by_name(name)) for name in workbook.sheet_names]
        filled = {name: found for name, found in sheets if found.height}
        name = sheet or next((one for one in filled if filled[one].height > 1), None)
        name = name or next(iter(filled), "")
        read = filled.get(name)
        grid = read.to_python(skip_empty_area=True, nrows=rows) if read is not None else []
        start = read.start if read is not None else None
    except (CalamineError, OSError, ValueError) as error:
        raise SourceError(f"{path}: not a readable workbook: {error}") from error
    except BaseException as error:  # a panic of the reader is not an Exception
        if type(error).__name__ == "PanicException":
            raise SourceError(f"{path}: not a readable workbook") from error
        raise
    if sheet is not None and sheet not in filled:
        raise SourceError(f"{path}: no sheet {sheet!r} with anything in it")
    if not grid:
        raise SourceError(f"{path}: the workbook is empty")
    return Book(tuple(filled), name, grid, (start or (0, 0))[0] + 1, has_errors)


def _cut(grid: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """The rows from the header down, without columns at the sides in which nothing stands."""
    width = max((len(row) for row in grid), default=0)
    used = [at for at in range(width) if any(row[at] not in ("", None) for row in grid)]
    return [row[used[0] : used[-1] + 1] for row in grid] if used else []


def _xlsx_rows(grid: Sequence[Sequence[Any]]) -> Iterator[Row]:
    for number, cells in enumerate(grid, 1):
        row = [plain(cell) if str(cell).strip() else None for cell in cells]
        if any(cell is not None for cell in row):
            yield Row(number, row)


def plain(cell: Any) -> Any:
    """A cell without types that JSON does not know: days and times as ISO text, bytes as text."""
    if isinstance(cell, list):
        return [plain(one) for one in cell]
    if isinstance(cell, dict):
        return {str(key): plain(one) for key, one in cell.items()}
    match cell:
        case datetime() | date() | clock():
            cell = cell.isoformat()
        case timedelta() | Decimal():
            cell = str(cell)
        case bytes():
            cell = cell.decode("utf-8", "replace")
        case float() if not isfinite(cell):
            cell = None
    return cell
