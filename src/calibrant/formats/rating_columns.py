"""Columns of a table of ratings: by their usual names, by names of the user, long or wide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from calibrant.core.errors import Fault, RecordError, SourceError, UnknownName, suggestion
from calibrant.formats.records import file_kind, parquet_frames, read_records
from calibrant.formats.tables import folded
from calibrant.stats.weights import Level

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric

ALIASES: dict[str, tuple[str, ...]] = {
    "item": ("item", "id", "item_id", "task", "task_id", "unit", "subject", "example", "document"),
    "rater": ("rater", "annotator", "coder", "judge", "worker", "reviewer", "participant",
              "rater_id", "annotator_id", "worker_id", "user"),
    "criterion": ("criterion", "dimension", "metric", "aspect", "question"),
    "answer": ("answer", "label", "rating", "score", "value", "annotation"),
    "kind": ("kind", "rater_kind"),
    "round": ("round",),
    "occasion": ("occasion", "repeat"),
    "rubric": ("rubric", "rubric_version", "version"),
    "time": ("time", "timestamp", "created_at", "date"),
}  # fmt: skip
"""What a column may be called, the first name being ours."""
_ROWS = 4_000_000
"""Rows of a large file that are read at a time."""
_TOLD = 50_000
"""Records after which it is told how many have been read."""
SLICES = ("round", "rubric", "time")
SHEET_ONLY = ("answers", "flags")
"""Fields of a sheet that are no answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read a table."""

    rubric: Rubric | None = None
    level: Level | None = None
    order: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    wide: bool = False
    anonymous: bool = False


def frames_of(
    path: Path, encoding: str | None, on_rows: Callable[[int], None] = lambda rows: None
) -> Iterator[pl.DataFrame]:
    """A file as it is, every record a row; a large one in parts."""
    if file_kind(path) == "parquet":
        done = 0
        for frame in parquet_frames(path, rows=_ROWS):
            done += frame.height
            on_rows(done)
            yield frame
        return
    records = read_records(path, encoding)
    rows: list[dict[str, Any]] = []
    faults = []
    for done, record in enumerate(records.stream):
        if done % _TOLD == 0:
            on_rows(done)
        if record.fault is not None:
            faults.append(record.fault)
        elif isinstance(record.value, dict):
            rows.append(_cells(record.value))
        else:
            faults.append(Fault("must be an object", source=str(path), record=record.number))
    if faults:
        raise RecordError(faults)
    names = list(dict.fromkeys(name for row in rows for name in row))
    yield pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _cells(record: Mapping[str, Any]) -> dict[str, str | None]:
    """The fields of a record as texts; the answers of a sheet become fields of their own."""
    answers = record.get("answers")
    sheet = isinstance(answers, Mapping) and "answer" not in record
    fields = {key: value for key, value in record.items() if not (sheet and key in SHEET_ONLY)}
    fields |= dict(answers) if sheet and isinstance(answers, Mapping) else {}
    return {str(key): _text(value) for key, value in fields.items()}


def _text(value: Any) -> str | None:
    """A cell as text; 4.0 of a spreadsheet is 4."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return None if value is None else str(value)


def named(frame: pl.DataFrame, how: Reading, source: str) -> pl.DataFrame:
    """The frame with its known columns under our names."""
    wanted = dict(how.columns)
    for ours, theirs in wanted.items():
        if ours not in ALIASES:
            raise SourceError(f"--columns: there is no {ours!r}; {suggestion(ours, ALIASES)}")
        if theirs not in frame.columns:
            near = suggestion(theirs, frame.columns)
            raise SourceError(f"{source}: there is no column {theirs!r}; {near}".rstrip("; "))
    plain = folded(source, frame.columns)
    for ours, names in ALIASES.items():
        free = [at for at, name in enumerate(plain) if name in names]
        free.sort(key=lambda at: names.index(plain[at]))
        if ours not in wanted and free and frame.columns[free[0]] not in wanted.values():
            wanted[ours] = frame.columns[free[0]]
    clashing = [name for name in wanted if name in frame.columns and wanted[name] != name]
    return frame.rename({name: f"_{name}" for name in clashing}).rename(
        {theirs: ours for ours, theirs in wanted.items() if ours != theirs}
    )


def long_form(frame: pl.DataFrame, how: Reading, source: str, record: int = 1) -> pl.DataFrame:
    """One row an answer, with the number of its record, of which the first is ``record``."""
    frame = frame.with_row_index("_record", record)
    if "item" not in frame.columns:
        raise SourceError(
            f"{source}: which column names the item? Say --columns item=NAME (there are: "
            f"{', '.join(frame.columns[1:9])})"
        )
    if how.wide and {"rater", "answer"} <= set(frame.columns):
        raise SourceError(f"{source}: it names raters and answers in rows; leave --wide out")
    if how.wide:
        keys = [name for name in ("_record", "item", "criterion", *SLICES) if name in frame.columns]
        raters = [name for name in frame.columns if name not in keys]
        if len(raters) < 2:
            raise SourceError(f"{source}: a wide table needs two columns of raters or more")
        frame = frame.with_columns(pl.col(raters).cast(pl.String, strict=False))
        return _unpivoted(frame, raters, keys, "rater")
    if "answer" not in frame.columns and how.rubric is not None:
        frame = _by_criterion(frame, how.rubric)
    if "answer" not in frame.columns:
        raise SourceError(
            f"{source}: which column holds the answers? Say --columns answer=NAME, or --wide "
            "where every rater has a column"
        )
    known = [name for name in ("_record", *ALIASES) if name in frame.columns]
    return frame.select(known)


def _by_criterion(frame: pl.DataFrame, rubric: Rubric) -> pl.DataFrame:
    """A wide table with one column a criterion as long rows; any other table as it is."""
    criteria = []
    for name in frame.columns:
        with suppress(UnknownName):
            rubric.criterion(name)
            criteria.append(name)
    if not criteria:
        return frame
    keys = [name for name in ("_record", *ALIASES) if name in frame.columns]
    frame = frame.with_columns(pl.col(criteria).cast(pl.String, strict=False))
    return _unpivoted(frame, criteria, keys, "criterion")


def _unpivoted(frame: pl.DataFrame, columns: list[str], keys: list[str], name: str) -> pl.DataFrame:
    """One row for each of the columns, whatever these are called."""
    kept = [key for key in keys if key not in columns]
    long = frame.unpivot(columns, index=kept, variable_name="_name", value_name="_answer")
    return long.drop(name, "answer", strict=False).rename({"_name": name, "_answer": "answer"})
