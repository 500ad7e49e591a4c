"""Tables as one workbook: a sheet each, texts as texts, so that nothing in them is run."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

from calibrant.core.errors import SourceError
from calibrant.formats.writers import flat, replacing

MAX_ROWS = 1_048_576
MAX_CELL = 32_767
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_ODD = re.compile("[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
"""Signs that XML cannot hold, and what would be read as one of them."""


def write_workbook(tables: Iterable[tuple[str, pl.DataFrame]], path: Path) -> None:
    """Write tables to the sheets of a new workbook, whole or not at all.

    Cells that would be formulas are written as ``writers.flat`` writes them.
    """
    names: list[str] = []
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as out:
        for name, frame in tables:
            names.append(name)
            info = zipfile.ZipInfo(f"xl/worksheets/sheet{len(names)}.xml", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            with out.open(info, "w", force_zip64=True) as file:
                for piece in _sheet(path, name, flat(frame)):
                    file.write(piece.encode())
        for part, text in _parts(names):
            out.writestr(zipfile.ZipInfo(part, (1980, 1, 1, 0, 0, 0)), _HEAD + text)


def _sheet(path: Path, name: str, frame: pl.DataFrame) -> Iterator[str]:
    if frame.height >= MAX_ROWS:
        raise SourceError(
            f"{path}: {name} has {frame.height:,} rows, a sheet holds {MAX_ROWS:,}; write .csv"
        )
    yield f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'
    yield _row(path, name, frame.columns)
    for row in frame.iter_rows():
        yield _row(path, name, row)
    yield "</sheetData></worksheet>"


def _row(path: Path, name: str, cells: Iterable[object]) -> str:
    return f"<row>{''.join(_cell(path, name, cell) for cell in cells)}</row>"


def _cell(path: Path, name: str, value: object) -> str:
    match value:
        case None:
            return "<c/>"
        case bool():
            return f'<c t="b"><v>{int(value)}</v></c>'
        case int() | float():
            return f"<c><v>{value!r}</v></c>"
    text = str(value)
    if len(text) > MAX_CELL:
        raise SourceError(
            f"{path}: a cell of {name} has {len(text):,} characters, a workbook takes "
            f"{MAX_CELL:,}; write .csv"
        )
    kept = escape(_ODD.sub(lambda sign: f"_x{ord(sign[0]):04X}_", text))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{kept}</t></is></c>'


def _parts(names: list[str]) -> Iterator[tuple[str, str]]:
    """What makes sheets a workbook."""
    numbers = range(1, len(names) + 1)
    sheets = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>'
        for at, name in zip(numbers, names, strict=True)
    )
    yield (
        "xl/workbook.xml",
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>',
    )
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in numbers
    )
    yield (
        "xl/_rels/workbook.xml.rels",
        f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
    )
    yield (
        "_rels/.rels",
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    )
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        for at in numbers
    )
    yield (
        "[Content_Types].xml",
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f"{overrides}</Types>",
    )
