"""Spreadsheets that are scored already, as one row a rating, ready for a study.

They come as long rows (item, rater, criterion, answer), as wide tables (item, rater, a column for
each criterion) or as sheets (JSONL with ``answers``), under the usual names of columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from calibrant.compare.rating_columns import Reading, named
from calibrant.core.errors import Fault, RecordError, SourceError, UnknownName
from calibrant.core.rubric import Rubric
from calibrant.formats.rating_files import frames_of

KEYS = ("item", "rater", "occasion")
_TIME = "submitted_at"


def read_scores(
    path: Path,
    rubric: Rubric,
    *,
    columns: Mapping[str, str] | None = None,
    rater: str | None = None,
    encoding: str | None = None,
) -> pl.DataFrame:
    """One row a rating: item, rater, occasion, kind and flags where told, a column a criterion.

    ``rater`` is who rated, where no column says so. Raises ``RecordError`` with every fault.
    """
    how = Reading(rubric=rubric, columns=columns or {})
    parts = list(frames_of(path, encoding, flags=True))
    if not parts or all(part.is_empty() for part in parts):
        raise SourceError(f"{path}: holds no ratings")
    table = named(pl.concat(parts, how="diagonal_relaxed"), how, str(path))
    table = _keyed(table, path, rater)
    if "answer" in table.columns and "criterion" in table.columns:
        return _folded(table, path, rubric)
    return _picked(table, path, rubric)


def _keyed(table: pl.DataFrame, path: Path, rater: str | None) -> pl.DataFrame:
    """The table with item, rater and occasion as what they are."""
    if "item" not in table.columns:
        raise SourceError(f"{path}: which column names the item? Say --columns item=NAME")
    if "rater" not in table.columns:
        if rater is None:
            raise SourceError(
                f"{path}: which column names the rater? Say --columns rater=NAME, or --rater WHO "
                "where one person has scored all of it"
            )
        table = table.with_columns(pl.lit(rater).alias("rater"))
    if "occasion" not in table.columns:
        table = table.with_columns(pl.lit(1).alias("occasion"))
    text = pl.col("item", "rater").cast(pl.String).str.strip_chars()
    number = pl.col("occasion").cast(pl.Int64, strict=False).fill_null(1)
    kept = table.with_columns(text, number).with_row_index("record", offset=1)
    blank = kept.filter(pl.any_horizontal(pl.col("item", "rater").fill_null("") == ""))
    if not blank.is_empty():
        raise RecordError(
            [
                Fault("names no item or no rater", "", str(path), record=row)
                for row in blank["record"]
            ]
        )
    return kept.rename({"time": _TIME}) if "time" in kept.columns else kept


def _rest(table: pl.DataFrame) -> list[str]:
    return [name for name in (_TIME, "kind", "flags") if name in table.columns]


def _picked(table: pl.DataFrame, path: Path, rubric: Rubric) -> pl.DataFrame:
    """A wide table: columns that are named after a criterion; others are left aside."""
    names: dict[str, str] = {}
    for column in table.columns:
        criterion = _criterion(rubric, column)
        if criterion is not None and column not in (*KEYS, "record"):
            if criterion in names.values():
                raise SourceError(f"{path}: two columns stand for {criterion}")
            names[column] = criterion
    if not names:
        raise SourceError(
            f"{path}: has no column for a criterion of {rubric.name} "
            f"({', '.join(rubric.criterion_ids[:5])}, …)"
        )
    text = pl.col(list(names)).cast(pl.String)
    return table.select(*KEYS, *_rest(table), text).rename(names)


def _criterion(rubric: Rubric, name: str) -> str | None:
    try:
        return rubric.criterion(name).id
    except UnknownName:
        return None


def _folded(table: pl.DataFrame, path: Path, rubric: Rubric) -> pl.DataFrame:
    """Long rows: one row a rating, every fault with its own row."""
    known = {name: _criterion(rubric, str(name)) for name in table["criterion"].unique()}
    table = table.with_columns(
        pl.col("criterion").replace_strict(known, return_dtype=pl.String).alias("asked"),
        pl.col("answer").cast(pl.String),
    )
    faults = [*_strange(table, path, rubric), *_twice(table, path)]
    if faults:
        raise RecordError(sorted(faults, key=lambda one: one.record or 0))
    key = [pl.first(name) for name in _rest(table) if name != "flags"]
    if "flags" in table.columns:  # whichever rows of a rating name them
        text = pl.col("flags").cast(pl.String)
        key.append(text.drop_nulls().unique(maintain_order=True).str.join(";"))
    heads = table.group_by(*KEYS, maintain_order=True).agg(key)
    wide = table.pivot("asked", index=list(KEYS), values="answer", aggregate_function="first")
    return heads.join(wide, on=list(KEYS), how="left", maintain_order="left")


def _strange(table: pl.DataFrame, path: Path, rubric: Rubric) -> Iterator[Fault]:
    from calibrant.core.answer import Given, NotApplicable
    from calibrant.core.rating import read_answer

    unknown = table.filter(pl.col("asked").is_null())
    for row, name in unknown.select("record", "criterion").iter_rows():
        yield Fault(f"{rubric.name} has no criterion {name!r}", "criterion", str(path), record=row)
    pairs = table.drop_nulls("asked").select("asked", "answer").unique().drop_nulls()
    wrong = [
        pair
        for pair in pairs.iter_rows()
        if pair[1].strip()
        and not isinstance(
            read_answer(rubric, rubric.criterion(pair[0]), pair[1]), Given | NotApplicable
        )
    ]
    if wrong:
        bad = pl.DataFrame(wrong, schema=["asked", "answer"], orient="row")
        for row, name, text in (
            table.join(bad, on=["asked", "answer"]).select("record", "asked", "answer").iter_rows()
        ):
            yield Fault(f"{text[:60]!r} is no answer to {name}", "answer", str(path), record=row)


def _twice(table: pl.DataFrame, path: Path) -> Iterator[Fault]:
    keys = [*KEYS, "asked"]
    again = table.drop_nulls("asked").filter(~pl.struct(keys).is_first_distinct())
    for row, item, rater, name in again.select("record", "item", "rater", "asked").iter_rows():
        message = f"{rater!r} has answered {name} about {item!r} already, on the same occasion"
        yield Fault(message, "", str(path), record=row)
