"""Tables: header and rows as they stand in the file, whichever program wrote it."""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.formats.workbooks import HEADER, cell, save_rows, sheet_xml, write_workbook

from calibrant.core.errors import SourceError
from calibrant.formats.tables import Row, Table, open_csv, open_xlsx


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8", newline="")
    return path


def cells(table: Table) -> list[list[Any]]:
    return [list(row.cells) for row in table.rows]


def rows(table: Table) -> list[Row]:
    return list(table.rows)


# -- CSV


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_and_line_ends(tmp_path: Path, delimiter: str, end: str) -> None:
    lines = [["id", "text", "n"], ["a", "one, two; three | four\tfive", "1"], ["b", "", " "]]
    path = tmp_path / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(lines)
    table = open_csv(path)
    assert table.names == ("id", "text", "n")
    assert cells(table) == [["a", "one, two; three | four\tfive", "1"], ["b", None, None]]


def test_a_tsv_is_divided_by_tabs_whatever_its_header(tmp_path: Path) -> None:
    table = open_csv(write(tmp_path / "t.tsv", "id,x,y\ttext\na,b,c\td\n"))
    assert table.names == ("id,x,y", "text")
    assert cells(table) == [["a,b,c", "d"]]


def test_quotes_hold_line_breaks_and_quotes(tmp_path: Path) -> None:
    text = 'id,text\r\na,"one\r\ntwo\n\nthree"\r\nb,"say ""yes"""\r\nc,"\n"\r\n'
    table = open_csv(write(tmp_path / "t.csv", text))
    found = rows(table)
    assert [row.number for row in found] == [1, 2, 3]
    assert [list(row.cells) for row in found] == [
        ["a", "one\r\ntwo\n\nthree"],
        ["b", 'say "yes"'],
        ["c", None],
    ]


def test_one_column_is_a_table(tmp_path: Path) -> None:
    assert cells(open_csv(write(tmp_path / "t.csv", "id\na\n\nb\n"))) == [["a"], ["b"]]


def test_blank_lines_are_no_records(tmp_path: Path) -> None:
    found = rows(open_csv(write(tmp_path / "t.csv", "id,x\n\na,1\n\n\nb,2\n\n")))
    assert [(row.number, list(row.cells)) for row in found] == [(1, ["a", "1"]), (2, ["b", "2"])]


def test_rows_of_another_width_are_named_and_nothing_else_is(tmp_path: Path) -> None:
    found = rows(open_csv(write(tmp_path / "t.csv", "id,x\na\nb,1\nc,1,2\nd,2\n")))
    assert [row.number for row in found] == [1, 2, 3, 4]
    told = {row.number: row.fault.message for row in found if row.fault}
    assert told == {
        1: "has 1 cells where the header has 2",
        3: "has 3 cells where the header has 2",
    }
    assert [list(row.cells) for row in found if row.fault is None] == [["b", "1"], ["d", "2"]]


@pytest.mark.parametrize("broken", ['"b"x,1', 'b,"1', 'b,"1"x'])
def test_a_quote_that_is_wrong_is_told_where_it_is(tmp_path: Path, broken: str) -> None:
    table = open_csv(write(tmp_path / "t.csv", f"id,x\na,1\n{broken}\nc,2\n"))
    assert list(next(table.rows).cells) == ["a", "1"]
    with pytest.raises(SourceError, match=r"record 2, near line [34]: not CSV"):
        next(table.rows)


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("id,x,id", "two columns are named 'id'"),
        ("id,x, id ", "two columns are named 'id'"),
        (",x", "column 1 has no name .*pandas"),
        ("id,,x", "column 2 has no name"),
        ('id,"x', "line 1: not CSV"),
        ("", "no header|has no name|empty"),
    ],
)
def test_headers_that_will_not_do(tmp_path: Path, header: str, told: str) -> None:
    with pytest.raises(SourceError, match=told):
        open_csv(write(tmp_path / "t.csv", f"{header}\na,b,c\n"))


def test_names_lose_the_space_around_them(tmp_path: Path) -> None:
    assert open_csv(write(tmp_path / "t.csv", " id , a b \n1,2\n")).names == ("id", "a b")


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbf"id";x\na;1\n')
    assert open_csv(path).names == ("id", "x")


def test_a_table_may_end_after_its_header(tmp_path: Path) -> None:
    assert cells(open_csv(write(tmp_path / "t.csv", "id,x"))) == []


# -- XLSX


def test_cells_keep_their_types(tmp_path: Path) -> None:
    path = save_rows(
        tmp_path / "t.xlsx",
        ["id", "n", "share", "truth", "day", "blank"],
        ["a", 5, 0.5, True, dt.date(2025, 10, 17), "x"],
        [12, None, 1, False, None, "  "],
    )
    table = open_xlsx(path)
    assert table.names == ("id", "n", "share", "truth", "day", "blank")
    assert cells(table) == [
        ["a", 5, 0.5, True, "2025-10-17", "x"],
        [12, None, 1, False, None, None],
    ]


def test_text_is_kept_as_it_is(tmp_path: Path) -> None:
    told = ["1+1 is two", "NA", "  spaces  ", "line\nbreak", "é ü 日本", "<b>&amp;</b>", "007"]
    path = save_rows(
        tmp_path / "t.xlsx", ["id", "text"], *([n, text] for n, text in enumerate(told))
    )
    assert [row[1] for row in cells(open_xlsx(path))] == told


def test_empty_rows_are_no_records_but_count(tmp_path: Path) -> None:
    path = save_rows(tmp_path / "t.xlsx", ["id", "x"], ["a", 1], [], [None, " "], ["b", 2])
    assert [(row.number, list(row.cells)) for row in rows(open_xlsx(path))] == [
        (1, ["a", 1]),
        (4, ["b", 2]),
    ]


def test_empty_columns_at_the_right_are_left_out(tmp_path: Path) -> None:
    path = save_rows(tmp_path / "t.xlsx", ["id", "x", None, ""], ["a", 1, None, ""])
    table = open_xlsx(path)
    assert table.names == ("id", "x")
    assert cells(table) == [["a", 1]]
    unnamed = save_rows(tmp_path / "u.xlsx", ["id", None, "x"], ["a", 1, 2])
    with pytest.raises(SourceError, match="column 2 has no name"):
        open_xlsx(unnamed)


def test_a_table_may_begin_anywhere(tmp_path: Path) -> None:
    path = save_rows(tmp_path / "t.xlsx", [], [], [None, None, "id", "x"], [None, None, "a", 1])
    table = open_xlsx(path)
    assert table.names == ("id", "x")
    assert cells(table) == [["a", 1]]


def test_the_first_sheet_that_holds_anything_is_read_and_the_others_are_named(
    tmp_path: Path,
) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.title = "Empty"
    for title, value in (("Round 1", "a"), ("Round 2", "b")):
        sheet = book.create_sheet(title)
        sheet.append(["id"])
        sheet.append([value])
    path = tmp_path / "t.xlsx"
    book.save(path)
    table = open_xlsx(path)
    assert cells(table) == [["a"]]
    assert table.notes == ("t.xlsx: read sheet 'Round 1' only; not read: Round 2",)


def test_workbooks_without_a_table(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="empty"):
        open_xlsx(save_rows(tmp_path / "t.xlsx"))
    with pytest.raises(SourceError, match="column 1 has no name"):
        open_xlsx(save_rows(tmp_path / "u.xlsx", [None, "x"], ["a", 1]))
    with pytest.raises(SourceError, match="two columns"):
        open_xlsx(save_rows(tmp_path / "v.xlsx", ["id", "id"], ["a", 1]))


def test_a_formula_without_a_stored_result_is_an_empty_cell(tmp_path: Path) -> None:
    row = f'<row r="2">{cell("A2", "a")}<c r="B2"><f>1+1</f></c></row>'
    path = write_workbook(tmp_path / "t.xlsx", [sheet_xml(HEADER, row)])
    assert cells(open_xlsx(path)) == [["a", None]]


def test_a_formula_is_read_by_its_stored_result(tmp_path: Path) -> None:
    row = f'<row r="2">{cell("A2", "a")}<c r="B2" t="str"><f>A1</f><v>YES</v></c></row>'
    path = write_workbook(tmp_path / "t.xlsx", [sheet_xml(HEADER, row)])
    assert cells(open_xlsx(path)) == [["a", "YES"]]


@pytest.mark.parametrize("error", ["#N/A", "#DIV/0!", "#REF!", "#VALUE!"])
def test_an_error_of_the_spreadsheet_is_told(tmp_path: Path, error: str) -> None:
    """The reader hides it as an empty cell; whoever owns the sheet must hear of it."""
    row = f'<row r="2">{cell("A2", "a")}<c r="B2" t="e"><v>{error}</v></c></row>'
    path = write_workbook(tmp_path / "t.xlsx", [sheet_xml(HEADER, row)])
    assert any("error values" in note for note in open_xlsx(path).notes)
