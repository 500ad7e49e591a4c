"""Where quality is low, in files and dataframes: verdicts or ratings, and fields of items."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from calibrant.compare.judged import Side
from calibrant.compare.places import plain
from calibrant.compare.quality import quality_report
from calibrant.compare.quality_items import Rated, of_ratings, of_verdicts
from calibrant.compare.quality_report import Ask, QualityReport
from calibrant.compare.quality_slices import worth_a_look
from calibrant.compare.rating_columns import Reading, long_form, named
from calibrant.core.errors import Fault, RecordError, SourceError, suggestion
from calibrant.core.item import FreeItem, Item, Plan, Response
from calibrant.formats.items import read_items
from calibrant.formats.rating_files import frames_of
from calibrant.formats.records import file_kind, read_records

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.stats.weights import Level

Fields: TypeAlias = dict[str, dict[str, tuple[str, ...]]]
QUESTION_TYPE = "question_type"
LONGEST = 60
"""Letters of a word that items are sliced by; what is longer is a text."""
_KEPT = ("item", "rater", "criterion", "answer", "kind", "round", "occasion", "rubric", "flags")
_PROFILE = ("hours_per_week", "timeframe_weeks", "confidence", "skills", "barriers", "lacks")


def quality(
    frame: Any,
    *,
    items: Iterable[Item] | None = None,
    by: Sequence[str] = (),
    rubric: Rubric | None = None,
    level: Level | None = None,
    order: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    raters: Sequence[str] = (),
    worst: int = 10,
    below: float | None = None,
    least: int = 10,
    rate: float = 0.05,
    seed: int = 0,
) -> QualityReport:
    """Where quality is low: the worst items, slices that differ, criteria that go together.

    ``frame`` is a polars or pandas frame or any Arrow table: verdicts, or ratings with a
    ``rubric`` or a ``level``. Slices are made ``by`` fields of the ``items`` or columns of the
    table; of the differences that are called findings, at most the share ``rate`` is expected to
    be false.
    """
    from calibrant.formats.frames import to_polars

    how = Reading(rubric=rubric, level=level, order=tuple(order), columns=columns or {})
    ask = Ask(tuple(by), worst, below, least, rate, seed)
    side = Side([to_polars(frame)[0]], "frame")
    return quality_of(side, how, None if items is None else list(items), ask, raters)


def quality_of(
    side: Side, how: Reading, items: Sequence[Item] | None, ask: Ask, raters: Sequence[str] = ()
) -> QualityReport:
    """The same from a table in parts."""
    side.refuse_empty()
    fields = _fields(side, how, items, ask.by)
    rated = _rated(side, how, items, raters)
    if not fields:
        rated.notes.append(
            "no slices: name a column with --by, or give --items"
            if items is None
            else "no slices: no field of the items says from 2 to 12 different things"
        )
    return quality_report(rated, fields, ask, side.name)


def _rated(side: Side, how: Reading, items: Sequence[Item] | None, raters: Sequence[str]) -> Rated:
    """What was said of each item; ratings with a rubric are scored first."""
    if side.holds_verdicts:
        whole = pl.concat(side.frames, how="diagonal_relaxed")
        return of_verdicts(whole, side.name, raters, how.rubric)
    if how.rubric is None:
        return of_ratings(side.frames, how, side.name, raters)
    from calibrant.formats.frames import CalibrantWarning, score_table

    parts = [_answers(one, how, how.rubric, side.name) for one in side.frames]
    whole = pl.concat(parts, how="diagonal_relaxed")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", CalibrantWarning)
        try:
            scored = score_table(how.rubric, whole, items=items)
        except RecordError as error:
            raise RecordError([replace(one, source=side.name) for one in error.faults]) from None
    out = of_verdicts(scored, side.name, raters, how.rubric)
    out.notes += [str(one.message) for one in warned]
    return out


def _answers(frame: pl.DataFrame, how: Reading, rubric: Rubric, source: str) -> pl.DataFrame:
    """What can be scored of a table; other columns may be there to slice by."""
    renamed = named(frame, how, source)
    if how.wide:
        return long_form(renamed, how, source)[0]
    names = {
        name.casefold() for one in rubric.criteria for name in (one.id, one.title, *one.aliases)
    }
    kept = [name for name in renamed.columns if name in _KEPT or name.casefold() in names]
    return renamed.select(kept)


# -- fields


def _fields(side: Side, how: Reading, items: Sequence[Item] | None, by: Sequence[str]) -> Fields:
    """The fields to slice by: those that were named, or those that say few different things."""
    known = fields_of(items or ())
    if not by:
        return {name: words for name, words in known.items() if worth_a_look(words)}
    columns = dict.fromkeys(name for frame in side.frames for name in frame.columns)
    out: Fields = {}
    for name in by:
        if name in known:
            out[name] = known[name]
        elif name in columns:
            out[name] = _column(side, how, name)
        else:
            there = [*known, *columns]
            near = suggestion(name, there) or f"there are: {', '.join(there[:12])}"
            raise SourceError(f"{side.name}: there is no field {name!r} to slice by; {near}")
    return out


def _column(side: Side, how: Reading, name: str) -> dict[str, tuple[str, ...]]:
    """What a column says of each item, which must be one thing."""
    out: dict[str, tuple[str, ...]] = {}
    for frame in side.frames:
        renamed = named(frame, how, side.name)
        if name not in frame.columns or "item" not in renamed.columns:
            continue
        cells = pl.DataFrame(
            {"item": plain(renamed["item"]), "word": plain(frame[name]).cast(pl.String)}
        )
        for item, word in cells.drop_nulls().unique(maintain_order=True).iter_rows():
            if out.setdefault(str(item), (word,)) != (word,):
                raise SourceError(
                    f"{side.name}: column {name!r} says several things of item {item!r}, "
                    "and slices are made of whole items"
                )
    return out


def fields_of(items: Iterable[Item]) -> Fields:
    """What items say of themselves in a word or a number, by field and item."""
    out: Fields = {}
    responses: list[Item] = []
    for item in items:
        said: dict[str, Any] = {**item.measures(), **item.more}
        if isinstance(item, Plan):
            profile = {name: getattr(item.profile, name) for name in _PROFILE}
            said["profile"] = {**profile, **item.profile.more}
        elif isinstance(item, FreeItem):
            said |= item.content
        elif isinstance(item, Response):
            responses.append(item)
        for name, value in said.items():
            parts = value.items() if isinstance(value, Mapping) else [("", value)]
            for inner, one in parts:
                words = _words(one)
                if words:
                    called = f"{name}.{inner}" if inner else name
                    out.setdefault(called, {})[item.id] = words
    if responses:
        out.setdefault(QUESTION_TYPE, {}).update(_question_types(responses))
    return out


def _words(value: Any) -> tuple[str, ...]:
    """A value as words to slice by; none where it is a text, or nothing."""
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(word for one in value for word in _words(one)))
    if value is None or isinstance(value, Mapping):
        return ()
    text = str(value).strip()
    return (text,) if text and len(text) <= LONGEST and "\n" not in text else ()


def _question_types(items: Sequence[Item]) -> dict[str, tuple[str, ...]]:
    """The type of each question, as a check tells it; none in a language it does not know."""
    from calibrant.raters.checks.reading import readings
    from calibrant.raters.checks.registry import checks_for
    from calibrant.raters.checks.shelf import Scanner, shelves

    known = {one.name: one for one in checks_for("response")}["response_question"]
    out: dict[str, tuple[str, ...]] = {}
    scanner = Scanner()
    for some in shelves(items):
        for reading in readings(some, scanner):
            for signal in known.function(reading, known.defaults):
                if signal.signal == QUESTION_TYPE and signal.measured is not None:
                    out[reading.item.id] = (str(signal.measured),)
    return out


# -- files


def read_side(path: Path, encoding: str | None = None) -> Side:
    """A file of verdicts or ratings."""
    if file_kind(path) != "parquet":
        first = next(iter(read_records(path, encoding).stream), None)
        value = None if first is None else first.value
        if isinstance(value, dict) and {"verdict", "status"} <= value.keys():
            return Side([_verdicts(path, encoding)], str(path))
    return Side(list(frames_of(path, encoding, flags=True)), str(path))


def _verdicts(path: Path, encoding: str | None) -> pl.DataFrame:
    """Verdicts from a file, every field a column of texts."""
    records = list(read_records(path, encoding).stream)
    faults = [
        one.fault or Fault("must be an object", source=str(path), record=one.number)
        for one in records
        if one.fault is not None or not isinstance(one.value, dict)
    ]
    if faults:
        raise RecordError(faults)
    rows = [_flat(one.value) for one in records]
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _flat(record: Mapping[str, Any]) -> dict[str, str | None]:
    out: dict[str, str | None] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            out |= {f"{name}.{key}": _text(one) for key, one in value.items()}
        elif isinstance(value, list):
            out[str(name)] = ";".join(map(str, value))
        else:
            out[str(name)] = _text(value)
    return out


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def read_all_items(path: Path, encoding: str | None = None) -> list[Item]:
    """The items of a file, or every bad record."""
    found = read_items(path, None, encoding)
    if found.faults:
        raise RecordError(found.faults)
    return found.items
