"""Seeded answer sheets for the coaching rubric, as arrays and as files of every form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.formats.rubric_file import load_rubric

Codes: TypeAlias = NDArray[np.uint8]

RUBRIC = "coaching-conversation"
SEED = 20_251_115
WORDS = ("NA", "YES", "NO")
"""By code."""
SHARES = (0.05, 0.80, 0.15)
"""How often each word is given."""
STEP = 250_000
"""Sheets made at a time."""
ROW_GROUP = 100_000


def criteria() -> tuple[str, ...]:
    """The criteria, in the rubric's order."""
    return load_rubric(RUBRIC).criterion_ids


def parts(rows: int) -> Iterator[Codes]:
    """Codes of the first sheets of an endless seeded sequence, part by part."""
    generator = np.random.default_rng(SEED)
    limits = np.cumsum(SHARES)[:-1]
    width = len(criteria())
    for start in range(0, rows, STEP):
        draws = generator.random((STEP, width))
        codes = np.searchsorted(limits, draws, side="right").astype(np.uint8)
        yield np.ascontiguousarray(codes[: rows - start].T)


def codes(rows: int) -> Codes:
    """Codes of that many sheets, shape (criteria, rows)."""
    return np.concatenate(list(parts(rows)), axis=1)


def frames(rows: int) -> Iterator[pl.DataFrame]:
    """The sheets as wide tables: ``id`` and a column of words a criterion."""
    first, words = 0, pl.Enum(WORDS)
    for part in parts(rows):
        number = pl.Series(np.arange(first, first + part.shape[1]))
        columns = {"id": "c" + number.cast(pl.String).str.zfill(8)}
        for name, row in zip(criteria(), part, strict=True):
            columns[name] = pl.Series(row).cat.to(words).cast(pl.String)
        yield pl.DataFrame(columns)
        first += part.shape[1]


def write_parquet(path: Path, rows: int) -> Path:
    """A wide table, in row groups of a usual size."""
    pl.concat(frames(rows)).write_parquet(path, row_group_size=ROW_GROUP)
    return path


def write_jsonl(path: Path, rows: int) -> Path:
    """One object a line: ``{"id", "answers": {…}}``."""
    with path.open("wb") as file:
        for frame in frames(rows):
            frame.select("id", answers=pl.struct(criteria())).write_ndjson(file)
    return path


def write_csv(path: Path, rows: int) -> Path:
    """A wide table."""
    with path.open("wb") as file:
        for number, frame in enumerate(frames(rows)):
            frame.write_csv(file, include_header=number == 0)
    return path


def write_long_csv(path: Path, rows: int) -> Path:
    """One row an answer: ``item, rater, criterion, answer``, sheet after sheet."""
    order = pl.Enum(criteria())
    with path.open("wb") as file:
        for number, frame in enumerate(frames(rows)):
            long = frame.unpivot(index="id", variable_name="criterion", value_name="answer")
            long = long.with_columns(pl.col("criterion").cast(order)).sort("id", "criterion")
            long.select(
                item="id", rater=pl.lit("ann"), criterion="criterion", answer="answer"
            ).write_csv(file, include_header=number == 0)
    return path
