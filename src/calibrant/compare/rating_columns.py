"""Columns of a table of ratings: by their usual names, by names of the user, long or wide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from calibrant.compare.places import plain
from calibrant.core.errors import SourceError, UnknownName, suggestion

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.stats.weights import Level

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
SLICES = ("round", "rubric", "time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read a table."""

    rubric: Rubric | None = None
    level: Level | None = None
    order: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    wide: bool = False
    anonymous: bool = False


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


def long_form(frame: pl.DataFrame, how: Reading, source: str) -> tuple[pl.DataFrame, int]:
    """One row an answer, and how often the records come round again in these rows."""
    if "item" not in frame.columns:
        raise SourceError(
            f"{source}: which column names the item? Say --columns item=NAME (there are: "
            f"{', '.join(frame.columns[:8])})"
        )
    if how.wide and {"rater", "answer"} <= set(frame.columns):
        raise SourceError(f"{source}: it names raters and answers in rows; leave --wide out")
    if how.wide:
        keys = [name for name in ("item", "criterion", *SLICES) if name in frame.columns]
        raters = [name for name in frame.columns if name not in keys]
        if len(raters) < 2:
            raise SourceError(f"{source}: a wide table needs two columns of raters or more")
        return _unpivoted(frame, raters, keys, "rater"), len(raters)
    criteria = _criteria(frame, how.rubric) if "answer" not in frame.columns else []
    known = [name for name in ALIASES if name in frame.columns]
    if criteria:
        return _unpivoted(frame, criteria, known, "criterion"), len(criteria)
    if "answer" not in frame.columns:
        raise SourceError(
            f"{source}: which column holds the answers? Say --columns answer=NAME, or --wide "
            "where every rater has a column"
        )
    return frame.select(known), 1


def _criteria(frame: pl.DataFrame, rubric: Rubric | None) -> list[str]:
    """The columns that are named after a criterion."""
    criteria = []
    for name in frame.columns if rubric is not None else ():
        with suppress(UnknownName):
            rubric.criterion(name)  # type: ignore[union-attr]
            criteria.append(name)
    return criteria


def _unpivoted(frame: pl.DataFrame, columns: list[str], keys: list[str], name: str) -> pl.DataFrame:
    """One row for each of the columns, whatever these are called, one column after the other."""
    frame = frame.with_columns(plain(frame[name]).cast(pl.String) for name in columns)
    kept = [key for key in keys if key not in columns]
    long = frame.unpivot(columns, index=kept, variable_name="_name", value_name="_answer")
    return long.drop(name, "answer", strict=False).rename({"_name": name, "_answer": "answer"})


def folded(source: str, names: Sequence[str]) -> list[str]:
    """Column names without case and surrounding space; refuses two that are then the same."""
    bare = [name.strip().lower() for name in names]
    for at, name in enumerate(bare):
        if name in bare[:at]:
            raise SourceError(f"{source}: two columns are named {name!r}")
    return bare
