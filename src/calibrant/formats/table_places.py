"""Where in a file its table may stand: sheets, the first rows, and a guess at the header.

People put titles, dates and empty lines above a table. The guess passes over rows that are much
emptier than what follows; whoever uploads the file sees the rows, and can say otherwise.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from calibrant.formats.records import file_kind
from calibrant.formats.tables import Book, Place, delimiter_of, read_workbook
from calibrant.formats.text import detect_encoding, read_lines

LOOKED_AT = 25
"""Rows among which the header is looked for."""
MOST_CELLS, MOST_CELL = 12, 40
MOST_SHEETS, MOST_TRIED = 200, 10
Numbered: TypeAlias = list[tuple[int, Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Glance:
    """The first rows of a table, and where it was taken to begin."""

    rows: tuple[tuple[int, tuple[str, ...]], ...]
    """Rows with their numbers, as a spreadsheet counts; empty ones are left out."""
    header: int
    """The number of the row that looks like the header."""
    sheet: str | None = None
    sheets: tuple[str, ...] = ()
    """All sheets of a workbook in which anything stands."""

    @property
    def place(self) -> Place:
        """Where the table is read, unless somebody says otherwise."""
        return Place(self.sheet, self.header)


def glance_at(path: Path, sheet: str | None = None) -> Glance | None:
    """The first rows of a file, of that sheet in a workbook; None where it is no table."""
    match file_kind(path):
        case "csv":
            return _glance(_csv_rows(path))
        case "xlsx":
            book = read_workbook(path, sheet, LOOKED_AT)
            if sheet is None and not _is_wide(book):
                book = _wide_one(path, book)
            rows: Numbered = list(enumerate(book.rows, book.first_row))
            return _glance(rows, book.sheet, book.sheets[:MOST_SHEETS])
        case _:
            return None


def _is_wide(book: Book) -> bool:
    """Whether there are rows of several cells: a table, and not notes about one."""
    return sum(_filled(row) > 1 for row in book.rows) > 1


def _wide_one(path: Path, first: Book) -> Book:
    """The first sheet that looks like a table; where none does, the first of all."""
    for name in first.sheets[:MOST_TRIED]:
        book = read_workbook(path, name, LOOKED_AT)
        if _is_wide(book):
            return book
    return first


def _csv_rows(path: Path) -> Numbered:
    """Rows by the line on which each begins, read leniently: titles are no CSV.

    Of the delimiters that some line could be a header by, the one that cuts most rows alike:
    commas in sentences do not.
    """
    found = detect_encoding(path, None)
    lines = [line for _, line in islice(read_lines(path, found), LOOKED_AT)]
    delimiters = dict.fromkeys(delimiter_of(path, line) for line in lines)
    return max((_cut(lines, one) for one in delimiters), key=_alike, default=[])


def _cut(lines: Sequence[str], delimiter: str) -> Numbered:
    reader = csv.reader(lines, delimiter=delimiter)
    rows: Numbered = []
    try:
        while True:
            at = reader.line_num + 1
            rows.append((at, next(reader)))
    except (StopIteration, csv.Error):
        return rows


def _alike(rows: Numbered) -> int:
    widths = Counter(len(row) for _, row in rows if len(row) > 1)
    return max(widths.values(), default=0)


def _glance(
    rows: Numbered,
    sheet: str | None = None,
    sheets: tuple[str, ...] = (),
) -> Glance | None:
    shown = [(number, tuple(map(_short, row[:MOST_CELLS]))) for number, row in rows if _filled(row)]
    return Glance(tuple(shown), _header_in(rows), sheet, sheets) if shown else None


def _header_in(rows: Numbered) -> int:
    """The first row that is no title; where no row looks like a header, the first one."""
    left = [(number, row) for number, row in rows if _filled(row)]
    first = left[0][0] if left else 1
    while left:
        number, row = left.pop(0)
        wider = [other for _, other in left if _filled(other) >= 2 * _filled(row)]
        if not any(map(_may_head, wider)):
            return number
    return first


def _may_head(row: Sequence[Any]) -> bool:
    """Whether the cells of a row could be names: different texts, and no numbers."""
    names = [_text(cell) for cell in row if _text(cell)]
    return len(set(names)) == len(names) and not any(map(_is_number, names))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "", 1).lstrip("-").isdigit()


def _filled(row: Sequence[Any]) -> int:
    return sum(1 for cell in row if _text(cell))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _short(cell: Any) -> str:
    line = " ".join(_text(cell)[: 4 * MOST_CELL].split())
    return line if len(line) <= MOST_CELL else f"{line[: MOST_CELL - 1]}…"
