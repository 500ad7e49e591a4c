"""A study as tables for people: ratings, finals, verdicts, flags and the audit log."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from calibrant.core.errors import SourceError
from calibrant.core.study import Entry
from calibrant.formats.workbook_write import write_workbook
from calibrant.formats.writers import write_frames
from calibrant.study.contents import LONG, Contents, Tables

NAMES = ("ratings", "finals", "verdicts", "flags", "journal")
SIDES = ("round", "item", "occasion", "rubric", "criterion")
"""What tells the rows of a wide table apart."""


def check_tables(path: Path) -> None:
    """Raise at once what writing would raise at the end; nothing is written over."""
    if path.suffix.lower() not in ("", ".csv", ".xlsx"):
        raise SourceError(f"{path}: write a folder, .xlsx (all tables) or .csv (the ratings)")
    if path.exists():
        raise SourceError(f"{path}: is there already; name one that is not")
    if not path.parent.is_dir():
        raise SourceError(f"{path}: the folder {path.parent} does not exist")


def write_tables(contents: Contents, tables: Tables, path: Path, *, wide: bool = False) -> Path:
    """Write a folder of CSV files, a workbook with a sheet each, or the ratings as one CSV file.

    ``wide`` gives each rater a column. Cells that a spreadsheet would run are written as text.
    """
    check_tables(path)
    ratings = partial(_wide, tables) if wide else tables.ratings
    match path.suffix.lower():
        case ".xlsx":
            write_workbook(_all(contents, tables, ratings), path)
        case ".csv":
            _csv(ratings(), path)
        case _:
            _folder(contents, tables, ratings, path)
    return path


def _all(
    contents: Contents, tables: Tables, ratings: Callable[[], Iterator[pl.DataFrame]]
) -> Iterator[tuple[str, pl.DataFrame]]:
    yield "ratings", pl.concat(list(ratings()) or [pl.DataFrame(schema=LONG)])
    yield "finals", tables.finals()
    yield "verdicts", tables.verdicts()
    yield "flags", flags_table(contents)
    yield "journal", journal_table(tables)


def _csv(frames: Iterator[pl.DataFrame], path: Path) -> None:
    first = next(frames, pl.DataFrame(schema=LONG))

    def whole() -> Iterator[pl.DataFrame]:
        yield first
        yield from frames

    write_frames(whole(), first.schema, path)


def _folder(
    contents: Contents,
    tables: Tables,
    ratings: Callable[[], Iterator[pl.DataFrame]],
    path: Path,
) -> None:
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as name:
            made = Path(name) / "tables"
            made.mkdir()
            _csv(ratings(), made / "ratings.csv")
            _csv(iter([tables.finals()]), made / "finals.csv")
            _csv(iter([tables.verdicts()]), made / "verdicts.csv")
            _csv(iter([flags_table(contents)]), made / "flags.csv")
            _csv(iter([journal_table(tables)]), made / "journal.csv")
            made.rename(path)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error


def _wide(tables: Tables) -> Iterator[pl.DataFrame]:
    yield wide_ratings(tables)


def wide_ratings(tables: Tables) -> pl.DataFrame:
    """One row an item and criterion, one column a rater."""
    rows = pl.concat([pl.DataFrame(schema=LONG), *tables.ratings()])
    if rows.is_empty():
        return rows.select(SIDES)
    odd = {name: f"rater {name}" for name in SIDES}
    rows = rows.with_columns(pl.col("rater").replace(odd))
    sheet = rows.pivot("rater", index=list(SIDES), values="answer", sort_columns=True)
    return sheet.sort("round", "item", "occasion", maintain_order=True)


def flags_table(contents: Contents) -> pl.DataFrame:
    """Every flag with who raised it and what became of it."""
    rows: dict[int, dict[str, Any]] = {}
    for one in contents.journal():
        if one.kind == "flag":
            rows[one.number] = {
                "number": one.number,
                "at": one.at,
                "by": one.actor,
                "round": one.round,
                "item": one.item,
                "what": one.body["what"],
                "flag": one.body.get("flag"),
                "words": _text(one.words),
                "state": "raised",
                "decided_by": None,
                "reason": None,
            }
        elif one.kind == "flag_decided":
            for number in one.body["flags"]:
                rows[number]["state"] = one.body["state"]
                rows[number]["decided_by"] = one.actor
                rows[number]["reason"] = (one.words or {}).get("reason")
    texts = ("at", "by", "item", "what", "flag", "words", "state", "decided_by", "reason")
    schema = {"number": pl.Int64, "at": pl.String, "by": pl.String, "round": pl.Int64}
    return pl.DataFrame(
        list(rows.values()),
        schema={**schema, **{name: pl.String for name in texts if name not in schema}},
    )


def journal_table(tables: Tables) -> pl.DataFrame:
    """The audit log, one line each; what it says as JSON. A rating that came in has no number.

    What frozen reports said is left out: no cell holds so much, and a bundle has it.
    """
    schema = {
        "number": pl.Int64,
        "at": pl.String,
        "actor": pl.String,
        "kind": pl.String,
        "round": pl.Int64,
        "item": pl.String,
        "criterion": pl.String,
        "body": pl.String,
        "words": pl.String,
    }
    rows = [_entry(one) for one in tables.log()]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _entry(one: Entry) -> tuple[Any, ...]:
    body, words = _text(one.body), _text(one.words)
    said = (one.kind, one.round, one.item, one.criterion, body, words)
    return one.number or None, one.at, one.actor, *said


def _text(value: Mapping[str, Any] | None) -> str | None:
    """A document as JSON that any table can hold."""
    if not value:
        return None
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode()
