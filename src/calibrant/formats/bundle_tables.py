"""The tables of a bundle held against those that follow from its records."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import polars as pl

from calibrant.core.errors import SourceError
from calibrant.formats import bundle
from calibrant.formats.bundle_read import Verified
from calibrant.formats.bundle_source import Source, readable
from calibrant.formats.records import guarded
from calibrant.study.contents import LONG, Tables

MOST_RATINGS = 1_000_000
"""Above that many, both sides of the comparison would take too much memory."""
_ORDER = ("round", "item", "rater", "occasion", "criterion")
"""Columns that tell rows apart, as far as a table has them."""


def check_tables(found: Verified, tables: Tables) -> None:
    """Raise ``SourceError`` unless each table says what ``tables`` say, in whatever order."""
    ratings = list(tables.ratings()) or [pl.DataFrame(schema=LONG)]
    made = {"ratings": pl.concat(ratings)}
    made |= {"finals": tables.finals(), "verdicts": tables.verdicts()}
    assert set(made) == set(bundle.TABLES)
    for kind, right in made.items():
        name = bundle.table_name(kind)
        if not _same(found.source, name, right):
            older = found.manifest.calibrant
            other = older != version("calibrant")
            hint = f" (it was written by calibrant {older[:20]!r})" if other else ""
            raise SourceError(f"{found.path}: {name} does not follow from the records{hint}")


def _same(source: Source, name: str, right: pl.DataFrame) -> bool:
    path = Path(f"{source.path}: {name}")
    with readable(path), source.open(name) as file:
        data = io.BytesIO(file.read())

    def frames() -> Iterator[pl.DataFrame | None]:
        # rows are counted before any is unpacked
        whole = pl.scan_parquet(data)
        names = whole.collect_schema().names()
        alike = names == right.columns and whole.select(pl.len()).collect().item() == right.height
        yield whole.collect() if alike else None

    left = next(guarded(frames(), path, "Parquet"))
    return left is not None and _plain(left).equals(_plain(right))


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts as texts, and rows in one order."""
    frame = frame.with_columns((pl.selectors.enum() | pl.selectors.categorical()).cast(pl.String))
    return frame.sort([name for name in _ORDER if name in frame.columns])
