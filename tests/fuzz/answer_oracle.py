"""What a file of answers should come to, sheet by sheet, by ``core.scoring`` alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

import polars as pl
from tests.fuzz.fuzz_kit import promise, promise_fault

from calibrant.core.errors import Fault, RecordError
from calibrant.core.rubric import Rubric
from calibrant.core.scoring import score
from calibrant.formats.coding import KNOWN
from calibrant.formats.score_file import ScoreRun

KEYS = ("rater", "round", "occasion")
OF_A_SHEET = ("id", *KEYS, "flags")
"""Fields whose faults are about a whole sheet, also where the sheet is made of long rows."""


@dataclass
class Outcome:
    """What scoring one file gave."""

    rows: list[dict[str, Any]]
    faults: list[Fault]
    bad: set[int] = field(default_factory=set)


def scored(rubric: Rubric, path: Path) -> Outcome:
    """Score a file, leaving bad records out; raises ``SourceError``."""
    faults: list[Fault] = []
    run = ScoreRun(rubric, path, skip_bad=True, on_fault=faults.append)
    frames = list(run.frames())
    rows = pl.concat(frames).to_dicts() if frames else []
    bad: set[int] = set()
    for fault in faults:
        promise_fault(fault)
        promise(fault.source == str(path), "a fault names its file", fault)
        promise(fault.record is not None, "a fault names its record", fault)
        assert fault.record is not None
        bad.add(fault.record)
    promise(run.summary.bad_records == len(bad), "bad records are counted", run.summary, bad)
    promise(run.summary.sheets == len(rows), "sheets are counted", run.summary.sheets, len(rows))
    return Outcome(rows, faults, bad)


@dataclass
class Sheet:
    """One sheet as the oracle sees it."""

    number: int
    keys: tuple[str | None, ...]
    answers: dict[str, Any]
    flags: list[Any]


def promise_sheets(rubric: Rubric, outcome: Outcome, sheets: Iterable[Sheet]) -> None:
    """Exactly these sheets came out, in this order, each with its own verdict."""
    expected = list(sheets)
    told = ([sheet.number for sheet in expected], len(outcome.rows), sorted(outcome.bad))
    promise(
        len(expected) == len(outcome.rows), "a record is neither sheet nor fault, or both", *told
    )
    for sheet, row in zip(expected, outcome.rows, strict=True):
        keys = tuple(row.pop(name, None) for name in ("id", *KEYS))
        promise(keys == sheet.keys, "a sheet has other keys than its record", keys, sheet.keys)
        try:
            verdict = score(rubric, sheet.answers, flags=sheet.flags).to_dict()
        except RecordError as error:
            promise(False, "a faulty record was scored", sheet, error)
            raise
        differs = {
            name: (row.get(name), verdict[name])
            for name in verdict
            if row.get(name) != verdict[name]
        }
        promise(
            not differs, f"in bulk and one by one differ in {', '.join(differs)}", differs, sheet
        )
        promise(row.keys() == verdict.keys(), "a verdict has other fields", row.keys())


def sheet_of(number: int, record: Mapping[str, Any], empty_is_missing: bool = False) -> Sheet:
    """A record of the sheet form, or a row of a wide table, that was found good."""
    folded = {
        str(name).strip().lower(): name for name in record if str(name).strip().lower() in KNOWN
    }
    fields = {plain: record[name] for plain, name in folded.items()}
    if "answers" in record and not empty_is_missing:
        answers = record["answers"]
        promise(isinstance(answers, Mapping), "a sheet without answers was scored", record)
    else:
        answers = {name: raw for name, raw in record.items() if name not in folded.values()}
    if empty_is_missing:
        answers = {name: raw for name, raw in answers.items() if not is_empty(raw)}
    keys = (text_of(fields.get("id", fields.get("item"))), *(text_of(fields.get(k)) for k in KEYS))
    return Sheet(number, keys, dict(answers), flags_of(fields.get("flags")))


def folded_sheets(
    records: Mapping[int, Mapping[str, Any]], faults: list[Fault], table: bool
) -> list[Sheet]:
    """Sheets from long rows that were found good, without those that a fault throws out whole."""
    bad_rows = {fault.record for fault in faults if fault.path not in OF_A_SHEET}
    bad_sheets = {fault.record for fault in faults if fault.path in OF_A_SHEET}
    thrown_out = {_keys_of(record) for number, record in records.items() if number in bad_sheets}
    sheets: dict[tuple[str | None, ...], Sheet] = {}
    for number, record in records.items():
        if number in bad_rows:
            continue
        keys = _keys_of(record)
        sheet = sheets.setdefault(keys, Sheet(number, keys, {}, []))
        answer = record["answer"]
        if not (table and is_empty(answer)):
            sheet.answers[str(record["criterion"])] = answer
        sheet.flags += flags_of(record.get("flags"))
    return [sheet for keys, sheet in sheets.items() if keys not in thrown_out]


def _keys_of(record: Mapping[str, Any]) -> tuple[str | None, ...]:
    """What tells the sheet of a long row from all others."""
    name = record.get("item", record.get("id"))
    return (text_of(name), *(text_of(record.get(key)) for key in KEYS))


def is_empty(cell: Any) -> bool:
    """Whether a cell of a table holds nothing."""
    return cell is None or (isinstance(cell, float) and isnan(cell))


def text_of(value: Any) -> str | None:
    """A name as text; what cannot be a name is empty, and never equal to one."""
    match value:
        case None:
            return None
        case str():
            return value.strip()
        case bytes():
            return text_of(value.decode("utf-8", "replace"))
        case bool():
            return ""
        case int():
            return str(value)
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return ""


def flags_of(value: Any) -> list[Any]:
    """Flags as a list."""
    if value is None or value == "" or value == []:
        return []
    if isinstance(value, str):
        return [part.strip() for part in re.split("[;,|]", value) if part.strip()]
    return list(value) if isinstance(value, list) else [value]
