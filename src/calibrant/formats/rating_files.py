"""Tables of ratings from files and from dataframes, for whoever compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from calibrant.compare.agreement import AgreementReport, report
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import rating_table
from calibrant.core.errors import Fault, RecordError
from calibrant.formats.ahead import ahead
from calibrant.formats.records import file_kind, parquet_parts, read_records
from calibrant.stats.estimate import Design, Method

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.stats.weights import Level

_ROWS = 1_000_000
"""Rows of a large file that are read at a time."""
_TOLD = 50_000
"""Records after which it is told how many have been read."""
SHEET_ONLY = ("answers", "flags")
"""Fields of a sheet that are no answers."""


def agreement(
    frame: Any,
    *,
    rubric: Rubric | None = None,
    level: Level | None = None,
    order: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    wide: bool = False,
    anonymous_raters: bool = False,
    targets: Iterable[str] = (),
    method: Method | None = None,
    seed: int = 0,
) -> AgreementReport:
    """Agreement of the raters in a polars or pandas frame or any Arrow table.

    With a ``rubric`` the level, the order and the targets come from it; without one ``level`` is
    required. ``columns`` maps our names to yours: ``{"rater": "who"}``.
    """
    how = Reading(
        rubric=rubric,
        level=level,
        order=tuple(order),
        columns=columns or {},
        wide=wide,
        anonymous=anonymous_raters,
    )
    from calibrant.formats.frames import to_polars

    table = rating_table([to_polars(frame)[0]], how, "frame")
    return report(table, rubric, targets, Design(method, seed))


def frames_of(
    path: Path,
    encoding: str | None = None,
    on_step: Callable[[str], None] = lambda step: None,
    *,
    flags: bool = False,
) -> Iterator[pl.DataFrame]:
    """A file as it is, every record a row; a large one in parts.

    Reading begins at once; ``on_step`` hears how many rows have been read. Red flags of sheets are
    no answers and are left out, unless ``flags`` asks for them.
    """

    def told(done: int) -> None:
        on_step(f"reading {path.name}: {done:,} rows")

    return ahead(_frames(path, encoding, told, flags))


def _frames(
    path: Path, encoding: str | None, on_rows: Callable[[int], None], flags: bool
) -> Iterator[pl.DataFrame]:
    if file_kind(path) == "parquet":
        done = 0
        for frame in parquet_parts(path, _ROWS):
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
            rows.append(_cells(record.value, flags))
        else:
            faults.append(Fault("must be an object", source=str(path), record=record.number))
    if faults:
        raise RecordError(faults)
    names = list(dict.fromkeys(name for row in rows for name in row))
    yield pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _cells(record: Mapping[str, Any], flags: bool) -> dict[str, str | None]:
    """The fields of a record as texts; the answers of a sheet become fields of their own."""
    answers = record.get("answers")
    sheet = isinstance(answers, Mapping) and "answer" not in record
    fields = {key: value for key, value in record.items() if not (sheet and key in SHEET_ONLY)}
    if flags and record.get("flags"):
        from calibrant.formats.coding import flag_list

        fields["flags"] = ";".join(map(str, _standing(flag_list(record["flags"]))))
    fields |= dict(answers) if sheet and isinstance(answers, Mapping) else {}
    return {str(key): _text(value) for key, value in fields.items()}


def _standing(flags: list[Any]) -> Iterator[Any]:
    """Names of the flags that were not rejected; what has no name stays as it is, to be refused."""
    for one in flags:
        if not isinstance(one, Mapping):
            yield one
        elif one.get("state") != "rejected":
            yield one.get("id", one.get("flag", one))


def _text(value: Any) -> str | None:
    """A cell as text; 4.0 of a spreadsheet is 4."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return None if value is None else str(value)
