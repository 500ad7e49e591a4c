"""Broken files of answers: nothing is dropped in silence, and bulk equals one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.fuzz.answer_oracle import Sheet, folded_sheets, promise_sheets, scored, sheet_of, text_of
from tests.fuzz.fuzz_kit import (
    CHUNKS,
    ODD_TEXTS,
    Findings,
    broken_bytes,
    cases,
    deep_stack,
    dump,
    odd_node,
    odd_value,
    promise,
    promise_source_error,
    strict_json,
)
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
from tests.fuzz.test_fuzz_items import csv_rows

from calibrant import load_rubric
from calibrant.core.errors import SourceError
from calibrant.core.rubric import Rubric
from calibrant.formats.json_text import BadJson, parse_json
from calibrant.formats.tables import open_xlsx
from calibrant.formats.text import detect_encoding

RUBRICS = ("coaching-conversation", "smart-action-plan", "ai-response")
FLAGS: tuple[Any, ...] = (
    [], ["deception"], ["deception", "medical_advice"], "deception; lacked_resources", "", None,
    [{"id": "deception", "state": "rejected"}], [{"flag": "deception"}], ["nothing"], "a:b", 7, {},
)  # fmt: skip


def answer(rng: Random, rubric: Rubric, row: int) -> Any:
    """An answer, most often one of the scale."""
    if rng.random() < 0.05:
        return rng.choice(("NA", "na", " yes ", "ERROR", "", "5.0", 4.0, "3", True))
    return rng.choice(rubric.scale_of(rubric.criteria[row]).points_of_scale)


def sheets(rng: Random, rubric: Rubric) -> list[dict[str, Any]]:
    """Realistic sheets; all of a file have the same fields."""
    rated, flagged = rng.random() < 0.5, rng.random() < 0.3
    out: list[dict[str, Any]] = []
    for number in range(rng.randint(1, 5)):
        ids = list(enumerate(rubric.criterion_ids))
        if rng.random() < 0.2:
            ids = ids[:-1]
        record: dict[str, Any] = {"id": rng.choice((f"item-{number}", f"a:{number}", number))}
        if rated:
            record |= {"rater": rng.choice(("r1", "r2", 3)), "kind": rng.choice(("HUMAN", "LLM"))}
        record["answers"] = {name: answer(rng, rubric, row) for row, name in ids}
        if flagged:
            record["flags"] = rng.choice(FLAGS)
        if rng.random() < 0.05:
            record["rubric"] = rng.choice((rubric.id, rubric.name, "another@1.0"))
        if rng.random() < 0.1:
            answers = record.pop("answers")
            record |= answers
        out.append(record)
    return out


def long_rows(rng: Random, rubric: Rubric) -> list[dict[str, Any]]:
    """The same as rows of one answer each."""
    names = [rng.choice(rubric.criterion_ids) for _ in range(rng.randint(1, 4))]
    rows = [
        {
            "item": f"item-{number}",
            **({"rater": rater} if rater else {}),
            "criterion": name,
            "answer": answer(rng, rubric, rubric.criterion_ids.index(name)),
        }
        for number in range(2)
        for rater in rng.choice(((None,), ("r1", "r2")))
        for name in dict.fromkeys(names)
    ]
    for row in rows:
        if rng.random() < 0.1:
            row["flags"] = rng.choice(FLAGS)
    if rng.random() < 0.3:
        rng.shuffle(rows)
    return rows


def json_texts(rng: Random, records: list[dict[str, Any]]) -> list[str]:
    """Records as JSON texts, some of them broken."""
    out = []
    for record in records:
        node: Any = record
        for _ in range(rng.choice((0, 0, 1, 2))):
            if (
                rng.random() < 0.4
                and isinstance(node, dict)
                and isinstance(node.get("answers"), dict)
            ):
                name = rng.choice(list(node["answers"]) or ["CQ1"])
                node = {**node, "answers": {**node["answers"], name: odd_value(rng)}}
            else:
                node = odd_node(rng, node)
        out.append(dump(rng, node))
    return out


# -- JSON


def is_long(record: Any) -> bool:
    return isinstance(record, dict) and "criterion" in record and "answers" not in record


def first_readable(lines: list[str]) -> Any:
    """The record that decides the form of a file."""
    for line in lines:
        try:
            return parse_json(line)
        except BadJson:
            continue
    return None


def read_jsonl(rubric: Rubric, path: Path, data: bytes, pristine: set[str]) -> None:
    try:
        outcome = scored(rubric, path)
    except SourceError as error:
        promise_source_error(error)
        promise(not _readable(data), "plain UTF-8 is read line by line", error)
        return
    lines = data.decode(detect_encoding(path).name, "replace").split("\n")
    long = is_long(first_readable(lines))
    with deep_stack():
        records: dict[int, Any] = {}
        broken: set[int] = set()
        for number, line in enumerate(lines, 1):
            if line.encode("utf-8", "surrogatepass").strip():
                try:
                    records[number] = strict_json(line)
                except (ValueError, RecursionError):
                    records[number] = None
                    broken.add(number)
        promise(broken <= outcome.bad, "a line that is no JSON was read", broken - outcome.bad)
        promise(
            outcome.bad <= records.keys(), "a fault names a line that is not there", outcome.bad
        )
        if long:
            promise_long(rubric, outcome, records, table=False)
            return
        good = {number: records[number] for number in records if number not in outcome.bad}
        promise_pristine(lines, pristine, records, outcome.bad)
        promise_sheets(rubric, outcome, [sheet_of(number, one) for number, one in good.items()])


def promise_long(rubric: Rubric, outcome: Any, records: dict[int, Any], table: bool) -> None:
    rows = {
        number: record
        for number, record in records.items()
        if isinstance(record, dict) and ("answer" in record or number not in outcome.bad)
    }
    lost = set(records) - set(rows) - outcome.bad
    promise(not lost, "a row is neither in a sheet nor in a fault", lost)
    promise_sheets(rubric, outcome, folded_sheets(rows, outcome.faults, table))


def promise_pristine(
    lines: list[str], pristine: set[str], records: dict[int, Any], bad: set[int]
) -> None:
    """A line nobody touched is not refused, unless its sheet stands elsewhere too."""
    ids = [text_of(one.get("id")) for one in records.values() if isinstance(one, dict)]
    for number in bad:
        line = lines[number - 1].strip()
        if line in pristine and ids.count(text_of(records[number]["id"])) == 1:
            promise(False, "a whole line was refused", number, line)


def _readable(data: bytes) -> bool:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and bool(text.removeprefix("\ufeff").strip())


def whole(rubric: Rubric, record: dict[str, Any]) -> bool:
    """Whether a sheet has only fields that are right."""
    flags = record.get("flags", [])
    known = {flag.id for flag in rubric.red_flags or ()}
    right = isinstance(flags, list) and all(isinstance(one, str) and one in known for one in flags)
    return right and record.get("rubric") != "another@1.0" and "answers" in record


def jsonl_sheets(rng: Random, rubric: Rubric, path: Path) -> tuple[bytes, Callable[[], None]]:
    records = sheets(rng, rubric)
    pristine = {json.dumps(record) for record in records if whole(rubric, record)}
    texts = json_texts(rng, records)
    if rng.random() < 0.5:
        texts += [json.dumps(record) for record in records]
    data = rng.choice(("\n", "\n", "\r\n", "\n\n")).join(texts).encode()
    if rng.random() < 0.5:
        data = broken_bytes(rng, data)
    return data, lambda: read_jsonl(rubric, path, data, pristine)


def jsonl_long(rng: Random, rubric: Rubric, path: Path) -> tuple[bytes, Callable[[], None]]:
    data = "\n".join(json_texts(rng, long_rows(rng, rubric))).encode()
    if rng.random() < 0.4:
        data = broken_bytes(rng, data)
    return data, lambda: read_jsonl(rubric, path, data, set())


def json_document(rng: Random, rubric: Rubric, path: Path) -> tuple[bytes, Callable[[], None]]:
    texts = json_texts(rng, rng.choice((sheets, long_rows))(rng, rubric))
    text = texts[0] if len(texts) == 1 else "[" + ",\n".join(texts) + "]"
    data = broken_bytes(rng, text.encode()) if rng.random() < 0.3 else text.encode()

    def read() -> None:
        try:
            outcome = scored(rubric, path)
        except SourceError as error:
            promise_source_error(error)
            return
        with deep_stack():
            document = strict_json(data.decode(detect_encoding(path).name))
            listed = document if isinstance(document, list) else [document]
            records = dict(enumerate(listed, 1))
            promise(outcome.bad <= records.keys(), "a fault names no record", outcome.bad)
            if is_long(listed[0]):
                promise_long(rubric, outcome, records, table=False)
                return
            good = [(number, one) for number, one in records.items() if number not in outcome.bad]
            promise_sheets(rubric, outcome, [sheet_of(number, one) for number, one in good])

    return data, read


# -- tables


def wide_grid(rng: Random, rubric: Rubric) -> Grid:
    """Sheets as rows, without odd names."""
    rated, flagged = rng.random() < 0.5, bool(rubric.red_flags) and rng.random() < 0.5
    names = [
        "id",
        *(["rater"] if rated else []),
        *rubric.criterion_ids,
        *(["flags"] if flagged else []),
    ]
    rows: list[list[Any]] = []
    for number in range(rng.randint(1, 5)):
        keys: list[Any] = [f"i{number}", *([rng.choice(("r1", "r2"))] if rated else [])]
        given = [answer(rng, rubric, row) for row in range(len(rubric.criteria))]
        flags = [rng.choice((None, "deception", "deception;legal_advice"))] if flagged else []
        rows.append([*keys, *given, *flags])
    return Grid(names, rows)


def long_grid(rng: Random, rubric: Rubric) -> Grid:
    rows = long_rows(rng, rubric)
    names = ["item", "rater", "criterion", "answer"]
    flagged = any(isinstance(row.get("flags"), str) for row in rows)
    cells = [[row.get(name) for name in names] for row in rows]
    if flagged:
        names.append("flags")
        for line, row in zip(cells, rows, strict=True):
            line.append(row["flags"] if isinstance(row.get("flags"), str) else None)
    return Grid(names, cells)


def promise_table(rubric: Rubric, outcome: Any, names: list[str], rows: dict[int, Any]) -> None:
    """The verdicts of a table with these rows; None stands for a row that cannot be read."""
    for number, row in rows.items():
        promise(row is not None or number in outcome.bad, "a row is not named", number)
    promise(outcome.bad <= rows.keys(), "a fault names a row that is not there", outcome.bad)
    folded = [name.strip().lower() for name in names]
    if {"criterion", "answer"} <= set(folded):
        records = {
            number: dict(zip(folded, row, strict=True))
            for number, row in rows.items()
            if row is not None
        }
        promise_sheets(rubric, outcome, folded_sheets(records, outcome.faults, table=True))
        return
    good = [(number, row) for number, row in rows.items() if number not in outcome.bad]
    found: list[Sheet] = [
        sheet_of(number, dict(zip(names, row, strict=True)), empty_is_missing=True)
        for number, row in good
    ]
    promise_sheets(rubric, outcome, found)


def csv_table(
    rng: Random, rubric: Rubric, path: Path, make: Callable[[Random, Rubric], Grid]
) -> tuple[bytes, Callable[[], None]]:
    grid = make(rng, rubric)
    if rng.random() < 0.7:
        grid = broken_grid(rng, grid, TEXT_CELLS, ragged=True)
    data = csv_bytes(rng, grid)
    touched = rng.random() < 0.5
    if touched:
        data = broken_bytes(rng, data)

    def read() -> None:
        try:
            outcome = scored(rubric, path)
        except SourceError as error:
            promise_source_error(error)
            odd = touched or not grid.header_is_whole or b"\0" in data or "not CSV" in str(error)
            promise(odd or not grid.header_is_whole, "a whole header was refused", error)
            return
        text = data.decode(detect_encoding(path).name, "replace")
        names, rows, lost = csv_rows(text)
        if lost:
            promise(len(rows) in outcome.bad, "the place where CSV ends is not named", len(rows))
        promise_table(rubric, outcome, names, dict(rows))

    return data, read


@cache
def template(reader: str, name: str, at: int) -> bytes:
    """A whole file that is written once and broken often."""
    rng = Random(f"{reader} {name} {at}")
    make = long_grid if reader.endswith("long") else wide_grid
    grid = make(rng, load_rubric(name))
    return xlsx_bytes(grid) if reader.startswith("xlsx") else parquet_bytes(rng, grid)


def native_bytes(
    rng: Random, rubric: Rubric, path: Path, reader: str
) -> tuple[bytes, Callable[[], None]]:
    """Broken bytes of a workbook or a Parquet file."""
    spoil = broken_xlsx if reader.startswith("xlsx") else broken_parquet
    data = spoil(rng, template(reader, rubric.id, rng.randrange(4)))

    def read() -> None:
        try:
            scored(rubric, path)
        except SourceError as error:
            promise_source_error(error)

    return data, read


def xlsx_table(rng: Random, rubric: Rubric, path: Path) -> tuple[bytes, Callable[[], None]]:
    """A workbook with odd cells; the oracle takes them as the table reader hands them out."""
    grid = broken_grid(rng, wide_grid(rng, rubric), SHEET_CELLS)
    data = xlsx_bytes(grid)

    def read() -> None:
        try:
            outcome = scored(rubric, path)
        except SourceError as error:
            promise_source_error(error)
            empty = not any(any(cell is not None for cell in row) for row in grid.rows)
            promise(empty or not grid.header_is_whole, "a whole header was refused", error)
            return
        table = open_xlsx(path)
        rows = {row.number: row.cells for row in table.rows}
        promise_table(rubric, outcome, list(table.names), dict(rows))

    return data, read


def parquet_table(
    rng: Random, rubric: Rubric, path: Path, make: Callable[[Random, Rubric], Grid]
) -> tuple[bytes, Callable[[], None]]:
    """A Parquet file with odd cells of odd types."""
    grid = broken_grid(rng, make(rng, rubric), TYPED_CELLS)
    names = [name or "empty" for name in grid.names]
    grid.names = [
        name if name not in names[:at] else f"{name}{at}" for at, name in enumerate(names)
    ]
    data = parquet_bytes(rng, grid)

    def read() -> None:
        try:
            outcome = scored(rubric, path)
        except SourceError as error:
            promise_source_error(error)
            promise(not (grid.rows and grid.header_is_whole), "a whole header was refused", error)
            return
        rows = dict(enumerate(pl.read_parquet(path).rows(), 1))
        promise_table(rubric, outcome, grid.names, dict(rows))

    return data, read


def make_case(
    rng: Random, reader: str, rubric: Rubric, path: Path
) -> tuple[bytes, Callable[[], None]]:
    """The bytes of a case, and how it is read and looked at."""
    match reader:
        case "jsonl-sheets":
            return jsonl_sheets(rng, rubric, path)
        case "jsonl-long":
            return jsonl_long(rng, rubric, path)
        case "json":
            return json_document(rng, rubric, path)
        case "csv-wide":
            return csv_table(rng, rubric, path, wide_grid)
        case "csv-long":
            return csv_table(rng, rubric, path, long_grid)
    if rng.random() < 0.85:
        return native_bytes(rng, rubric, path, reader)
    if reader == "xlsx-wide":
        return xlsx_table(rng, rubric, path)
    return parquet_table(rng, rubric, path, wide_grid if reader == "parquet-wide" else long_grid)


READERS = (
    "jsonl-sheets", "jsonl-long", "json", "csv-wide", "csv-long", "xlsx-wide", "parquet-wide",
    "parquet-long",
)  # fmt: skip


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("reader", READERS)
def test_answers(reader: str, chunk: int, tmp_path: Path) -> None:
    findings = Findings(f"answers-{reader}")
    path = tmp_path / f"case.{reader.partition('-')[0]}"
    for number in cases(chunk):
        with findings.case(number):
            rng = findings.random(number)
            rubric = load_rubric(rng.choice(RUBRICS))
            data, read = make_case(rng, reader, rubric, path)
            findings.data = data
            path.write_bytes(data)
            read()
    findings.settle()


def test_odd_texts_meet_every_scale_alike(tmp_path: Path) -> None:
    """Each odd text as an answer, in each file form, gives the verdict it has by itself."""
    path = tmp_path / "answers.jsonl"
    for name in RUBRICS:
        rubric = load_rubric(name)
        first = rubric.criterion_ids[0]
        records = [{"id": str(at), "answers": {first: text}} for at, text in enumerate(ODD_TEXTS)]
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        outcome = scored(rubric, path)
        promise_sheets(rubric, outcome, [sheet_of(at, one) for at, one in enumerate(records, 1)])
