"""Workbooks written by hand, for what no spreadsheet program would write."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import openpyxl

_SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
SHEET = "xl/worksheets/sheet1.xml"


def cell(place: str, text: str) -> str:
    """A cell that holds its text itself."""
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'


HEADER = f'<row r="1">{cell("A1", "id")}{cell("B1", "CQ1")}</row>'
FIRST = f'<row r="2">{cell("A2", "a")}{cell("B2", "YES")}</row>'


def sheet_xml(*rows: str) -> bytes:
    """A sheet of these rows."""
    text = f'<worksheet xmlns="{_SPREADSHEET}"><sheetData>{"".join(rows)}</sheetData></worksheet>'
    return text.encode("utf-8")


def shared_strings(texts: Sequence[str]) -> bytes:
    """The table of texts that cells refer to."""
    inner = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    return f'<sst xmlns="{_SPREADSHEET}">{inner}</sst>'.encode()


def write_workbook(
    path: Path, pieces: Iterable[bytes], *, sheet: str = SHEET, shared: bytes | None = None
) -> Path:
    """A workbook with one sheet whose XML comes piece by piece."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("[Content_Types].xml", _content_types(sheet))
        archive.writestr("_rels/.rels", _relations("officeDocument", "xl/workbook.xml"))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_SPREADSHEET}" xmlns:r="{_OFFICE}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
        )
        both = [("worksheet", f"/{sheet}")]
        if shared is not None:
            both.append(("sharedStrings", "/xl/sharedStrings.xml"))
            archive.writestr("xl/sharedStrings.xml", shared)
        inner = "".join(_relation(f"rId{n}", kind, to) for n, (kind, to) in enumerate(both, 1))
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>',
        )
        with archive.open(sheet, "w", force_zip64=True) as stream:
            for piece in pieces:
                stream.write(piece)
    return path


def _relation(name: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def _relations(kind: str, target: str) -> str:
    inner = _relation("rId1", kind, target)
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>'


def _content_types(sheet: str) -> str:
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/{sheet}" ContentType="{_TYPE}.worksheet+xml"/></Types>'
    )


def save_rows(path: Path, *rows: Sequence[object], title: str = "Sheet") -> Path:
    """A workbook as a spreadsheet program writes it."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    book.save(path)
    return path
