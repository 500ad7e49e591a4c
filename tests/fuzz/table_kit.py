"""Small tables, whole or broken, and their text as CSV, XLSX and Parquet."""

from __future__ import annotations

import csv
import datetime as dt
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any, Literal

import openpyxl
import polars as pl
from tests.fuzz.fuzz_kit import ODD_TEXTS, broken_bytes

Cell = Any


@dataclass(slots=True)
class Grid:
    """A header and rows; a cell that is None is empty."""

    names: list[str]
    rows: list[list[Cell]]
    header_is_whole: bool = True

    def copy(self) -> Grid:
        """Another grid with the same cells."""
        return Grid(list(self.names), [list(row) for row in self.rows], self.header_is_whole)

    def records(self) -> list[dict[str, Cell]]:
        """Each row by name."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]


def broken_grid(rng: Random, grid: Grid, cells: Sequence[Cell], ragged: bool = False) -> Grid:
    """A copy with a few things changed."""
    out = grid.copy()
    for _ in range(rng.randint(1, 4)):
        _break(rng, out, cells, ragged)
    return out


def _break(rng: Random, grid: Grid, cells: Sequence[Cell], ragged: bool) -> None:
    row = rng.randrange(len(grid.rows)) if grid.rows else None
    column = rng.randrange(len(grid.names)) if grid.names else None
    if row is None or column is None:
        return
    match rng.randrange(12):
        case 0:
            grid.rows.insert(rng.randrange(len(grid.rows) + 1), list(grid.rows[row]))
        case 1:
            del grid.rows[row]
        case 2:
            rng.shuffle(grid.rows)
        case 3 if rng.random() < 0.5:
            _break_header(rng, grid, column)
        case 4 if ragged:
            line = grid.rows[row]
            grid.rows[row] = line[:-1] if rng.random() < 0.5 else [*line, rng.choice(cells)]
        case 5:
            grid.rows[row] = [None] * len(grid.names)
        case _ if column < len(grid.rows[row]):
            grid.rows[row][column] = rng.choice(cells)


def _break_header(rng: Random, grid: Grid, column: int) -> None:
    grid.header_is_whole = False
    name = grid.names[column]
    match rng.randrange(6):
        case 0:
            grid.names[column] = rng.choice(ODD_TEXTS)
        case 1:
            grid.names[column] = rng.choice(grid.names)
        case 2:
            grid.names[column] = rng.choice((name.upper(), f" {name} ", name.replace("_", " ")))
        case 3:
            del grid.names[column]
            grid.rows = [row[:column] + row[column + 1 :] for row in grid.rows]
        case 4:
            grid.names.append(
                rng.choice((*ODD_TEXTS, "note", "model", "round", "occasion", "kind"))
            )
            grid.rows = [[*row, None] for row in grid.rows]
        case 5:
            rng.shuffle(grid.names)


TEXT_CELLS: tuple[Cell, ...] = (None, *ODD_TEXTS)
SHEET_CELLS: tuple[Cell, ...] = (
    None, True, False, 0, 1, 3, 5, 6, -1, 2.5, 3.0, 1e300, dt.date(2024, 5, 1),
    dt.datetime(2024, 5, 1, 12, 30), dt.time(8, 15), dt.timedelta(hours=30), "#N/A", "#DIV/0!",
    "=1+1", *(text for text in ODD_TEXTS if text.isprintable()),
)  # fmt: skip
TYPED_CELLS: tuple[Cell, ...] = (
    None, True, 0, 3, 5, -1, 2**40, 2.5, 3.0, float("nan"), float("inf"), dt.date(2024, 5, 1),
    dt.datetime(2024, 5, 1, 12), dt.time(8), dt.timedelta(hours=30), b"\xff\x00", b"YES",
    Decimal("3.0"), Decimal("2.50"), ["YES"], [], [1, 2], {"id": "x"}, *ODD_TEXTS,
)  # fmt: skip


def csv_bytes(rng: Random, grid: Grid) -> bytes:
    """The grid as CSV; quoting, delimiter and line ends as they come."""
    buffer = io.StringIO()
    counts = [sum(name.count(sign) for name in grid.names) for sign in ",;\t|"]
    delimiter = rng.choice(",;\t|") if not any(counts) and len(grid.names) > 1 else ","
    quoting: Literal[0, 1] = 1 if rng.random() < 0.5 else 0
    end = rng.choice(("\n", "\r\n"))
    writer = csv.writer(buffer, delimiter=delimiter, quoting=quoting, lineterminator=end)
    for row in (grid.names, *grid.rows):
        writer.writerow(["" if cell is None else cell for cell in row])
    return buffer.getvalue().encode("utf-8", "replace")


def xlsx_bytes(grid: Grid) -> bytes:
    """The grid as the one sheet of a workbook."""
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet()
    for row in (grid.names, *grid.rows):
        sheet.append([_for_xlsx(cell) for cell in row])
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def _for_xlsx(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return "".join(sign for sign in cell if sign >= " " or sign in "\t\n")[:32_000]
    return cell


def parquet_bytes(rng: Random, grid: Grid) -> bytes:
    """The grid as Parquet; a column whose cells are of one type keeps it."""
    columns = []
    for at, name in enumerate(grid.names):
        cells = [row[at] for row in grid.rows]
        columns.append(typed_column(rng, name, cells))
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(
        buffer, compression=rng.choice(("zstd", "uncompressed", "snappy")), statistics=False
    )
    return buffer.getvalue()


def typed_column(rng: Random, name: str, cells: list[Cell]) -> pl.Series:
    """A column of the type its cells have in common, or of text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) == 1 and rng.random() < 0.9:
        try:
            return pl.Series(name, cells)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            pass
    if kinds == {int, float}:
        return pl.Series(name, [None if cell is None else float(cell) for cell in cells])
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], pl.String)


@cache
def _members(data: bytes) -> tuple[tuple[str, bytes], ...]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return tuple((name, archive.read(name)) for name in archive.namelist())


def broken_xlsx(rng: Random, data: bytes) -> bytes:
    """A workbook with broken bytes, in the archive itself or in what it holds."""
    if rng.random() < 0.5:
        return broken_bytes(rng, data, text=False)
    parts = ("sheet1.xml", "sheet1.xml", "workbook.xml", "workbook.xml.rels", "styles.xml", "Types")
    wanted = rng.choice(parts)
    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    ) as out:
        for name, content in _members(data):
            if wanted not in name:
                out.writestr(name, content)
            elif rng.random() < 0.95:
                out.writestr(name, broken_bytes(rng, content, text=rng.random() < 0.3))
    return buffer.getvalue()


def broken_parquet(rng: Random, data: bytes) -> bytes:
    """A Parquet file with broken bytes; most of them in its footer, where its structure is."""
    size = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - size
    if rng.random() < 0.7 and 0 < start < len(data):
        footer = broken_bytes(rng, data[start:-8], text=False)
        length = len(footer).to_bytes(4, "little") if rng.random() < 0.9 else data[-8:-4]
        return data[:start] + footer + length + data[-4:]
    return broken_bytes(rng, data, text=False)
