"""Where tables stand in files: titles above a header, sheets of a workbook, and odd delimiters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest

from calibrant.core.errors import SourceError
from calibrant.formats.items import stream_items
from calibrant.formats.table_places import glance_at
from calibrant.formats.tables import NoHeader, Place, open_csv, open_xlsx


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("id,question,response\n1,Why?,So.\n", 1),
        ("Export of May\n\nid,question,response\n1,Why?,So.\n", 3),
        ("Export, all of it\nfor;all\nid;question;response;more\n1;Why?;So.;x\n", 3),
        # commas in sentences separate nothing
        ("id;text\n1;One, two, three, four\n2;Well, yes, no\n3;So, so\n", 1),
        # a stray cell makes no header of a row, nor do numbers
        ("id,question\n1,Why?,stray,stray\n2,When?\n", 1),
        ("id\n1,2\n3,4\n", 1),
        ("id\n1\n2\n", 1),
        ('id,text\n1,"two\nlines, and, more"\n2,x\n', 1),
        ("a title\n1,2,3\n4,5,6\n", 1),  # nothing looks like a header: the first row, as ever
    ],
)
def test_the_header_is_guessed(tmp_path: Path, text: str, header: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = glance_at(path)
    assert found is not None and found.header == header


def test_what_stands_above_a_header_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('Said "so", by all\n\nid;question;response\n1;Why?;So.\n2;"a;b"\n')
    found = list(stream_items(path, "response", place=Place(header=3)))
    assert [str(one) for one in found[1:]] and getattr(found[0], "id", "") == "1"
    with pytest.raises(NoHeader, match="no row 9"):
        open_csv(path, place=Place(header=9))


def written(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


def test_sheets_and_rows_of_a_workbook(tmp_path: Path) -> None:
    table: list[list[object]] = [
        ["Plans"], [], [None, "id", "goal", "action"], [None, 1, "Bake", "Ask"],
    ]  # fmt: skip
    path = written(tmp_path / "t.xlsx", Notes=[["read me"], ["twice"]], Plans=table, Empty=[])
    first = glance_at(path)
    assert first is not None and (first.sheet, first.sheets) == ("Plans", ("Notes", "Plans"))
    found = glance_at(path, "Plans")
    assert found is not None and found.place == Place("Plans", 3)
    assert found.rows[0] == (1, ("Plans", "", "", ""))
    read = open_xlsx(path, found.place)
    assert read.names == ("id", "goal", "action")  # empty columns at the sides are no columns
    assert [row.cells for row in read.rows] == [[1, "Bake", "Ask"]]
    assert open_xlsx(path).names == ("read me",), "where nobody looks at it, the first sheet"
    with pytest.raises(NoHeader, match="row 40"):
        open_xlsx(path, Place("Plans", 40))
    with pytest.raises(SourceError, match="no sheet 'Empty'"):
        open_xlsx(path, Place("Empty"))


def test_rows_are_counted_as_the_spreadsheet_does(tmp_path: Path) -> None:
    path = written(tmp_path / "t.xlsx", Plans=[[], [], ["id", "goal"], [1, "Bake"]])
    found = glance_at(path)
    assert found is not None and found.header == 3
    assert open_xlsx(path).names == open_xlsx(path, found.place).names == ("id", "goal")
    with pytest.raises(NoHeader, match="row 2"):
        open_xlsx(path, Place(header=2))
