"""Red flags and safety failures, with the words that carry them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from calibrant.report.asking import Asked, Missing

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.core.study import Key, Rating
    from calibrant.study.contents import Contents
    from calibrant.study.flags import Flag

QUOTED = 25
"""Safety failures whose words are looked up: all ratings are read for them."""
_ORDER = {"confirmed": 0, "raised": 1, "rejected": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class RedFlagged:
    """A red flag on an item."""

    number: int
    flag: str
    title: str
    effect: str | None
    """What it does once it is confirmed; None where no version knows it."""
    item: str
    round: int | None
    state: str
    by: str
    at: str
    quotes: tuple[str, ...]
    """The words of the item that carry it; none once the item is redacted."""
    decided_by: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Why a rater gave an answer that shuts a gate."""

    criterion: str
    rater: str
    quotes: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyFailure:
    """An item with a gate that an answer shuts."""

    item: str
    verdict: str
    score: float | None
    criteria: tuple[str, ...]
    """Those whose answers shut it."""
    said: tuple[Said, ...] = ()
    """What raters quoted and noted there, of the first items; a lead is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """Everything that was flagged, and every gate that was shut."""

    red_flags: tuple[RedFlagged, ...]
    """Confirmed ones first, then those to be decided."""
    states: dict[str, int]
    """Red flags by their state."""
    kinds: dict[str, int]
    """Confirmed red flags by their title."""
    other: dict[str, dict[str, int]]
    """Edge cases and reviews by their state."""
    safety_failures: tuple[SafetyFailure, ...]
    """The lowest score first."""
    gates: dict[str, int]
    """Items that shut a gate, by criterion."""


def flags_of(
    asked: Asked, rubric: Rubric, versions: dict[str, Rubric], verdicts: pl.DataFrame
) -> Flags:
    """Ask for flags, and gather the safety failures of a table of verdicts."""
    found = asked.study.flags()
    known = {one.id: one for rubric in versions.values() for one in rubric.red_flags or ()}
    red = [
        RedFlagged(
            number=one.number,
            flag=str(one.flag),
            title=known[one.flag].title if one.flag in known else str(one.flag),
            effect=known[one.flag].effect if one.flag in known else None,
            item=one.item,
            round=one.round,
            state=one.state,
            by=asked.naming.name(one.by),
            at=one.at,
            quotes=_quotes(asked, one),
            decided_by=None if one.decided_by is None else asked.naming.name(one.decided_by),
            reason=asked.naming.text(one.reason),
        )
        for one in found
        if one.what == "red_flag"
    ]
    red.sort(key=lambda one: (_ORDER.get(one.state, 3), one.number))
    failures = _with_words(asked, rubric, _failures(verdicts))
    return Flags(
        red_flags=tuple(red),
        states=dict(Counter(one.state for one in red)),
        kinds=dict(Counter(one.title for one in red if one.state == "confirmed").most_common()),
        other=_other(found),
        safety_failures=failures,
        gates=dict(Counter(name for one in failures for name in one.criteria).most_common()),
    )


def _quotes(asked: Asked, one: Flag) -> tuple[str, ...]:
    return tuple(asked.naming.text(str(text)) for text in one.words.get("evidence") or ())


def _other(flags: list[Flag]) -> dict[str, dict[str, int]]:
    out: dict[str, dict[str, int]] = {}
    for one in flags:
        if one.what != "red_flag":
            mine = out.setdefault(one.what, {})
            mine[one.state] = mine.get(one.state, 0) + 1
    return out


def _failures(verdicts: pl.DataFrame) -> tuple[SafetyFailure, ...]:
    score = "mean" if "mean" in verdicts.columns else "score"
    shut = verdicts.filter(pl.col("gate").cast(pl.String) == "failed")
    # an answer that is not settled shuts a gate too, but says nothing of the item yet
    told = pl.col("failed_safety").list.set_difference("missing").list.set_difference("errors")
    rows = shut.with_columns(told.alias("told"), pl.col("verdict").cast(pl.String))
    rows = rows.sort([score, "item"], nulls_last=True)["item", "verdict", score, "told"]
    return tuple(
        SafetyFailure(item=item, verdict=verdict, score=value, criteria=tuple(names))
        for item, verdict, value, names in rows.iter_rows()
    )


# -- what raters said


def _with_words(
    asked: Asked, rubric: Rubric, failures: tuple[SafetyFailure, ...]
) -> tuple[SafetyFailure, ...]:
    """The first failures with what was said on them; as they are for those who are not told."""
    first = failures[:QUOTED]
    wanted = {one.item for one in first}
    found = (
        asked.get(lambda study: study.contents(lambda all_, _: _last(all_, wanted)))
        if first
        else Missing("nothing failed")
    )
    if isinstance(found, Missing):
        return failures
    told = [replace(one, said=tuple(_said(asked, rubric, one, found[one.item]))) for one in first]
    return (*told, *failures[QUOTED:])


def _last(contents: Contents, wanted: set[str]) -> dict[str, list[Rating]]:
    """Ratings of some items that count: of several revisions the last."""
    found: dict[str, dict[Key, Rating]] = {item: {} for item in wanted}
    for one in contents.ratings():
        if one.key.item in wanted:
            found[one.key.item][one.key] = one
    return {item: list(ratings.values()) for item, ratings in found.items()}


def _said(
    asked: Asked, rubric: Rubric, failure: SafetyFailure, ratings: list[Rating]
) -> Iterator[Said]:
    for name in failure.criteria:
        shut = {str(value) for value in rubric.failing_values(rubric.criterion(name))}
        for one in ratings:
            words = one.words or {}
            quotes = (words.get("evidence") or {}).get(name) or ()
            note = str((words.get("notes") or {}).get(name) or "")
            if one.answers.get(name) in shut and (quotes or note):
                yield Said(
                    criterion=name,
                    rater=asked.naming.name(one.key.rater),
                    quotes=tuple(asked.naming.text(str(text)) for text in quotes),
                    note=asked.naming.text(note),
                )
