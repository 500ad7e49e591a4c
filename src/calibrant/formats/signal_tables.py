"""Files of signals: lines and documents of records, tables of one row a signal.

Suggested answers become long rows of ratings by a rater of kind CODE, which agreement reads like
anybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from calibrant.core.errors import SourceError
from calibrant.formats.signals import Record, read_record_file
from calibrant.formats.writers import LINE_SUFFIXES, write_frames
from calibrant.raters.checks.card import KIND
from calibrant.raters.checks.signal import agreed_answers

ROWS = 5_000
"""Items whose rows make one frame."""
SIGNALS = pl.Schema(
    {
        "item": pl.String(),
        "kind": pl.String(),
        "card": pl.String(),
        "check": pl.String(),
        "signal": pl.String(),
        "criterion": pl.String(),
        "measured": pl.String(),
        "number": pl.Float64(),
        "threshold": pl.String(),
        "exceeded": pl.Boolean(),
        "suggests": pl.String(),
        "suggestion": pl.String(),
        "not_measured": pl.String(),
        "note": pl.String(),
        "places": pl.List(pl.String),
        "quotes": pl.List(pl.String),
    }
)
RATINGS = pl.Schema(
    {
        "item": pl.String,
        "rater": pl.String,
        "kind": pl.String,
        "criterion": pl.String,
        "answer": pl.String,
    }
)


def finish(partial: Path, out: Path) -> None:
    """Put what a complete run has written in its place, in the form that the name asks for."""
    try:
        if out.suffix.lower() in LINE_SUFFIXES:
            partial.replace(out)
            return
        write_frames(_frames(read_record_file(partial), signal_rows, SIGNALS), SIGNALS, out)
        partial.unlink()
    except OSError as error:
        raise SourceError(f"{out}: {error.strerror or error}") from error


def write_ratings(records: Path, out: Path) -> None:
    """The answers that checks suggest, as long rows of ratings."""
    write_frames(_frames(read_record_file(records), rating_rows, RATINGS), RATINGS, out)


def _frames(
    records: Iterator[Record], rows: Callable[[Record], Iterable[dict[str, Any]]], schema: pl.Schema
) -> Iterator[pl.DataFrame]:
    while some := list(islice(records, ROWS)):
        yield pl.DataFrame([row for one in some for row in rows(one)], schema=schema)


def signal_rows(record: Record) -> Iterator[dict[str, Any]]:
    """One row a signal."""
    for signal in record["signals"]:
        value, suggestion = signal.get("measured"), signal.get("suggestion") or {}
        number = isinstance(value, int | float) and not isinstance(value, bool)
        threshold = signal.get("threshold")
        spans = signal.get("spans", ())
        said = suggestion.get("answer") or suggestion.get("flag") or suggestion.get("text")
        yield {
            **{name: record[name] for name in ("item", "kind", "card")},
            **{name: signal.get(name) for name in ("check", "signal", "criterion", "exceeded")},
            "measured": None if value is None else _text(value),
            "number": float(value) if number else None,
            "threshold": None if threshold is None else _text(threshold),
            "suggests": suggestion.get("kind"),
            "suggestion": said,
            "not_measured": signal.get("not_measured"),
            "note": signal.get("note"),
            "places": [f"{one['part']}:{one['start']}-{one['end']}" for one in spans],
            "quotes": [one["text"] for one in spans],
        }


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def rating_rows(record: Record) -> Iterator[dict[str, str]]:
    """One row a criterion with a suggested answer."""
    suggestions = (signal.get("suggestion") or {} for signal in record["signals"])
    answers = agreed_answers(
        (one["criterion"], one["answer"], bool(one.get("decides")))
        for one in suggestions
        if one.get("kind") == "answer"
    )
    for criterion, answer in answers.items():
        yield {
            "item": record["item"],
            "rater": record["card"],
            "kind": KIND,
            "criterion": criterion,
            "answer": answer,
        }
