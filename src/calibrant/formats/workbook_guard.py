"""What a workbook would become, told before anything holds it in memory.

A small archive can unpack to gigabytes, a single far cell can span thousands of millions of empty
ones, and one long text can be shared by a million cells. The reader of workbooks allocates all of
that before it can be asked; so the archive is unpacked once, piece by piece, and refused here.
"""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO
from xml.parsers import expat

from calibrant.core.errors import SourceError

MEGABYTE = 1024 * 1024
MAX_UNPACKED = 512 * MEGABYTE
"""What a workbook may unpack to, in bytes; and its cells, in characters of text."""
MAX_CELLS = 50_000_000
"""The largest rectangle of cells a sheet may span, empty ones included."""
_SHARED = "xl/sharedstrings.xml"
_PLACE = re.compile(r"([A-Za-z]{0,4})([0-9]{0,9})")
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OverflowError,
)
"""What the standard library raises at archives that are none."""


def inspect_workbook(path: Path) -> bool:
    """Refuse a workbook that is too large; tell whether cells hold error values.

    The reader shows an error value (#N/A) as an empty cell, so the user has to be told.
    """
    guard = _Guard(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in _members(path, archive):
                with archive.open(member) as stream:
                    guard.member(member.filename.lower(), stream)
    except SourceError:
        raise
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except BROKEN as error:
        raise SourceError(f"{path}: not a readable workbook: {error}") from error
    return guard.has_errors


def _members(path: Path, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The members, shared texts first; two of one name could show us one and the reader another."""
    members = archive.infolist()
    if len({member.filename.lower() for member in members}) < len(members):
        raise SourceError(f"{path}: not a readable workbook: two parts of one name")
    return sorted(members, key=lambda member: member.filename.lower() != _SHARED)


class _Guard:
    """What has been seen of a workbook so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.has_errors = False
        self._unpacked = 0
        self._text = 0
        self._shared: list[int] = []
        """Lengths of the shared texts."""

    def member(self, name: str, stream: IO[bytes]) -> None:
        """Look through one part of the archive; what is not XML cannot be a sheet."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        if name == _SHARED:
            self._watch_texts(parser)
        else:
            self._watch_cells(parser)
        tail, fault = b"", ""
        while piece := stream.read(MEGABYTE):
            self._unpacked += len(piece)
            self._bound(self._unpacked, "unpacks to")
            try:
                if not fault:
                    parser.Parse(piece)
            except expat.ExpatError as error:
                fault = str(error)
            seen = tail + piece
            if fault and (name == _SHARED or b"sheetData" in seen):
                raise SourceError(f"{self.path}: not a readable workbook: {name}: {fault}")
            tail = seen[-16:]

    def _bound(self, size: int, does: str) -> None:
        if size > MAX_UNPACKED:
            limit = MAX_UNPACKED // MEGABYTE
            raise SourceError(f"{self.path}: {does} more than {limit} MB; refused")

    def _watch_texts(self, parser: expat.XMLParserType) -> None:
        """Lengths of the shared texts, whatever stands between their tags."""

        def start(name: str, _: dict[str, str]) -> None:
            if name.rpartition(":")[2] == "si":
                self._shared.append(0)

        def text(value: str) -> None:
            if self._shared:
                self._shared[-1] += len(value)

        parser.StartElementHandler = start
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = self._no_doctype

    def _watch_cells(self, parser: expat.XMLParserType) -> None:
        """The rectangle a sheet spans, and the text its cells share."""
        row = column = 0
        rows = columns = 1
        shares = False

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal row, column, rows, columns, shares
            match name.rpartition(":")[2]:
                case "row":
                    row, column = _place(attributes.get("r", ""), row + 1, 0)
                case "c":
                    row, column = _place(attributes.get("r", ""), row, column + 1)
                    kind = attributes.get("t")
                    shares = kind == "s"
                    self.has_errors |= kind == "e"
                case _:
                    return
            rows, columns = max(rows, row), max(columns, column)
            if rows * columns > MAX_CELLS:
                span = f"{rows:,} rows by {columns:,} columns"
                raise SourceError(f"{self.path}: a sheet spans {span}; refused")

        def text(value: str) -> None:
            nonlocal shares
            if shares and value.strip().isdecimal():
                shares = False
                index = int(value[:20])
                self._text += self._shared[index] if index < len(self._shared) else 0
                self._bound(self._text, "holds texts of")

        parser.StartElementHandler = start
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = self._no_doctype

    def _no_doctype(self, *_: object) -> None:
        """A document type can show one parser what another does not see; no workbook has one."""
        raise SourceError(f"{self.path}: not a readable workbook: it declares a document type")


def _place(written: str, row: int, column: int) -> tuple[int, int]:
    """Where a row or a cell stands; what it does not say follows from the one before."""
    match = _PLACE.fullmatch(written.strip())
    if match is None:
        return row, column
    letters, digits = match.groups()
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return int(digits or row), number or column
