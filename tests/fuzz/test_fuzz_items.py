"""Broken files of items: every record becomes an item or is named in a fault."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from tests.fuzz.fuzz_kit import (
    CHUNKS,
    Findings,
    broken_bytes,
    cases,
    deep_stack,
    dump,
    odd_node,
    promise,
    promise_fault,
    promise_source_error,
    strict_json,
)
from tests.fuzz.item_seeds import GRIDS, RECORDS
from tests.fuzz.table_kit import (
    SHEET_CELLS,
    TEXT_CELLS,
    TYPED_CELLS,
    Grid,
    broken_grid,
    broken_parquet,
    broken_xlsx,
    csv_bytes,
    parquet_bytes,
    xlsx_bytes,
)

from calibrant.core.criterion import ItemType
from calibrant.core.errors import Fault, SourceError
from calibrant.core.item import Conversation, FreeItem, Item, Plan, Response
from calibrant.formats.items import COLUMNS, Duplicate, stream_items
from calibrant.formats.text import detect_encoding

KINDS: tuple[ItemType, ...] = get_args(ItemType)


class Read:
    """What reading one file gave."""

    def __init__(self, path: Path, kind: ItemType | None) -> None:
        self.items: list[Item] = []
        self.faults: list[Fault] = []
        for entry in stream_items(path, kind):
            match entry:
                case Fault():
                    promise_fault(entry)
                    promise(entry.source == str(path), "a fault names its file", entry)
                    self.faults.append(entry)
                case Duplicate():
                    promise(entry.first_record < entry.record, "a duplicate comes later", entry)
                    promise(len(str(entry).splitlines()) == 1, "a duplicate is one line", entry)
                case _:
                    promise(entry.kind == kind or kind is None, "an item is of its kind", entry)
                    self.items.append(entry)
        self.bad = {fault.record for fault in self.faults}

    def promise_all(self, records: Mapping[int, Any]) -> None:
        """One item or at least one fault for each of the numbered records."""
        promise(self.bad <= records.keys(), "a fault names a record that is not there", self.bad)
        good = [number for number in records if number not in self.bad]
        told = (len(self.items), sorted(self.bad, key=str), len(records))
        promise(len(self.items) == len(good), "a record is neither item nor fault, or both", told)
        for number, item in zip(good, self.items, strict=True):
            promise_same(item, records[number], number)


def promise_same(item: Item, record: Any, number: int) -> None:
    """The item says what its record says."""
    given: dict[str, Any] = {"exchanges": record} if isinstance(record, list) else record
    name = given.get("id", given.get("item", f"record-{number}"))
    name = int(name) if isinstance(name, float) else name
    promise(item.id == str(name).strip(), "an item has another id than its record", item.id, name)
    match item:
        case Response():
            same = (item.question, item.response) == (given["question"], given["response"])
            promise(same, "question and response are as written", item, record)
            promise(item.reference == given.get("reference"), "unstated stays None", item, record)
        case FreeItem():
            rest = {key: value for key, value in given.items() if key not in ("id", "item")}
            promise(item.content == rest, "a free item keeps its fields", item, record)
        case Plan():
            told = [action["action"] for action in given["actions"]]
            read = [action.action for action in item.actions]
            texts = [one if isinstance(one, str) else None for one in told]
            same = all(text in (None, one) for one, text in zip(read, texts, strict=True))
            promise(same, "actions are as written", item, record)
            promise(item.profile.goal == given["profile"]["goal"], "a goal is as written", record)
        case Conversation():
            promise(len(item.exchanges) > 0, "a conversation has an exchange", item)


def lines_of(path: Path, data: bytes) -> list[str]:
    """The lines of a text file, by way of the standard library."""
    return data.decode(detect_encoding(path).name).split("\n")


# -- JSONL and JSON


def json_records(rng: Random, kind: ItemType) -> list[str]:
    """Records as JSON texts, some of them broken."""
    out = []
    for record in rng.choices(RECORDS[kind], k=rng.randint(1, 4)):
        node = record
        for _ in range(rng.choice((0, 1, 1, 2))):
            node = odd_node(rng, node)
        out.append(dump(rng, node))
    return out


def jsonl(rng: Random, kind: ItemType) -> bytes:
    data = rng.choice(("\n", "\n", "\r\n", "\n\n")).join(json_records(rng, kind)).encode()
    return broken_bytes(rng, data) if rng.random() < 0.4 else data


def read_jsonl(path: Path, kind: ItemType | None, data: bytes) -> None:
    try:
        read = Read(path, kind)
    except SourceError as error:
        promise_source_error(error)
        empty = not data.decode("utf-8-sig", "replace").strip()
        promise(empty or not _plain_text(data), "plain UTF-8 is read line by line", error)
        return
    with deep_stack():
        records: dict[int, Any] = {}
        for number, line in enumerate(lines_of(path, data), 1):
            if line.strip():
                try:
                    records[number] = strict_json(line)
                except (ValueError, RecursionError):
                    records[number] = None
                    promise(number in read.bad, "a line that is no JSON was read", number, line)
        read.promise_all(records)


def _plain_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


def json_document(rng: Random, kind: ItemType) -> bytes:
    records = json_records(rng, kind)
    text = records[0] if len(records) == 1 else "[" + ", ".join(records) + "]"
    return broken_bytes(rng, text.encode()) if rng.random() < 0.3 else text.encode()


def read_json(path: Path, kind: ItemType | None, data: bytes) -> None:
    try:
        read = Read(path, kind)
    except SourceError as error:
        promise_source_error(error)
        return
    with deep_stack():
        document = strict_json(data.decode(detect_encoding(path).name))
        listed = document if isinstance(document, list) else [document]
        read.promise_all(dict(enumerate(listed, 1)))


# -- tables


def in_small_letters(names: list[str]) -> list[str]:
    """Known columns are known in any case, unless two would then be one."""
    small = [name.strip().lower() for name in names]
    return [
        plain if plain in COLUMNS and small.count(plain) == 1 else name
        for name, plain in zip(names, small, strict=True)
    ]


def gathers(names: list[str]) -> bool:
    """Whether rows with one id are one item."""
    present = set(in_small_letters(names))
    return "action" in present or {"role", "content"} <= present or {"user", "assistant"} <= present


def promise_rows(read: Read, names: list[str], rows: Mapping[int, list[Any] | None]) -> None:
    """Every row is in an item, or a fault names it or a row with the same id."""
    promise(read.bad <= rows.keys(), "a fault names a row that is not there", read.bad)
    names = in_small_letters(names)
    if not gathers(names):
        records = {
            number: None
            if row is None
            else {name: cell for name, cell in zip(names, row, strict=True) if cell is not None}
            for number, row in rows.items()
        }
        read.promise_all(records)
        return
    groups: dict[str, list[int]] = {}
    for number, row in rows.items():
        if row is None:
            promise(number in read.bad, "a row that cannot be read is not named", number)
            continue
        record = dict(zip(names, row, strict=True))
        name = record.get("id", record.get("item"))
        if name is None:
            promise(number in read.bad, "a row without an id is not named", number, read.faults)
            continue
        name = int(name) if isinstance(name, float) and name.is_integer() else name
        groups.setdefault(str(name).strip(), []).append(number)
    found = {item.id for item in read.items}
    promise(len(found) == len(read.items), "two items have one id", read.items)
    promise(found <= groups.keys(), "an item comes from nowhere", found - groups.keys())
    for name, numbers in groups.items():
        named = not read.bad.isdisjoint(numbers)
        promise(name in found or named, "rows are neither item nor fault", name, numbers)


def csv_file(rng: Random, kind: ItemType) -> bytes:
    grid = rng.choice(GRIDS[kind])
    if rng.random() < 0.7:
        grid = broken_grid(rng, grid, TEXT_CELLS, ragged=True)
    data = csv_bytes(rng, grid)
    return broken_bytes(rng, data) if rng.random() < 0.5 else data


def read_csv(path: Path, kind: ItemType | None, data: bytes) -> None:
    try:
        read = Read(path, kind)
    except SourceError as error:
        promise_source_error(error)
        return
    # where the reader loses its place it does not get to see a broken end
    text = data.decode(detect_encoding(path).name, "replace")
    names, rows, lost = csv_rows(text)
    if lost:
        promise(len(rows) in read.bad, "the place where CSV ends is not named", len(rows))
    promise_rows(read, names, rows)


def csv_rows(text: str) -> tuple[list[str], dict[int, list[Any] | None], bool]:
    """Header and numbered rows by the standard library; whether it lost its place at the last."""
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True)
    names = [name.strip() for name in next(reader)]
    rows: dict[int, list[Any] | None] = {}
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return names, rows, False
        except csv.Error:
            rows[len(rows) + 1] = None
            return names, rows, True
        if cells:
            whole = len(cells) == len(names)
            row = [cell if cell.strip() else None for cell in cells]
            rows[len(rows) + 1] = row if whole else None


@cache
def template(suffix: str, kind: ItemType, at: int) -> bytes:
    """A whole file that is written once and broken often."""
    grid = GRIDS[kind][at % len(GRIDS[kind])]
    return xlsx_bytes(grid) if suffix == "xlsx" else parquet_bytes(Random(1), grid)


def native_file(rng: Random, suffix: str, kind: ItemType) -> tuple[bytes, Grid | None]:
    """A workbook or a Parquet file; with the grid, where it is whole and only its cells are odd."""
    if rng.random() < 0.9:
        data = template(suffix, kind, rng.randrange(2))
        return (broken_xlsx if suffix == "xlsx" else broken_parquet)(rng, data), None
    cells = SHEET_CELLS if suffix == "xlsx" else TYPED_CELLS
    grid = broken_grid(rng, rng.choice(GRIDS[kind]), cells)
    if suffix == "xlsx":
        return xlsx_bytes(grid), grid if grid.rows else None
    names = [name or "empty" for name in grid.names]
    grid.names = [
        name if name not in names[:at] else f"{name}{at}" for at, name in enumerate(names)
    ]
    return parquet_bytes(rng, grid), grid if grid.rows else None


def read_native(path: Path, kind: ItemType | None, grid: Grid | None) -> None:
    try:
        read = Read(path, kind)
    except SourceError as error:
        promise_source_error(error)
        whole = grid is not None and grid.header_is_whole and any(map(any, grid.rows))
        promise(not whole, "a whole table is refused", error)
        return
    if grid is None:
        return
    rows = {
        number: None
        for number, row in enumerate(grid.rows, 1)
        if path.suffix == ".parquet" or any(not _blank(cell) for cell in row)
    }
    promise(read.bad <= rows.keys(), "a fault names a row that is not there", read.bad)
    if not gathers([name.strip() for name in grid.names]):
        count = len(read.items) + len(read.bad)
        promise(count == len(rows), "a row is neither item nor fault, or both", count, len(rows))


def _blank(cell: Any) -> bool:
    """Whether a workbook holds nothing here; its error values are read as nothing."""
    return cell is None or cell in ("#N/A", "#DIV/0!") or not str(cell).strip(" \x00\x1b")


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "xlsx", "parquet"])
def test_items(suffix: str, kind: ItemType, chunk: int, tmp_path: Path) -> None:
    findings = Findings(f"{suffix}-{kind}")
    path = tmp_path / f"case.{suffix}"
    for number in cases(chunk):
        with findings.case(number):
            rng = findings.random(number)
            told = kind if rng.random() < 0.8 else None
            grid: Grid | None = None
            match suffix:
                case "jsonl":
                    data = jsonl(rng, kind)
                case "json":
                    data = json_document(rng, kind)
                case "csv":
                    data = csv_file(rng, kind)
                case _:
                    data, grid = native_file(rng, suffix, kind)
            findings.data = data
            path.write_bytes(data)
            match suffix:
                case "jsonl":
                    read_jsonl(path, told, data)
                case "json":
                    read_json(path, told, data)
                case "csv":
                    read_csv(path, told, data)
                case _:
                    read_native(path, told, grid)
    findings.settle()
