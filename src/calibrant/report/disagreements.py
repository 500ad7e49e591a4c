"""Where answers lay apart, why, and how they were settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from calibrant.report.asking import Asked, Missing

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.core.study import Entry

WAYS = ("consensus", "adjudicated", "forced", "waiting")
"""What becomes of a disagreement; ``forced`` by a red flag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Disagreements of one cause, or on one criterion."""

    name: str
    count: int
    settled: dict[str, int]
    """By what became of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A disagreement and its final answer."""

    item: str
    criterion: str
    answer: str
    how: str
    by: tuple[str, ...]
    error: str | None
    """What went wrong, as the adjudicator sees it."""
    unclear: bool
    """Whether the rubric says too little here."""
    gap: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Journalled:
    """What only the journal tells of disagreements."""

    errors: dict[str, int]
    """How often each kind of error was found in settling."""
    unclear: dict[str, int]
    """How often somebody marked that the rubric says too little, by criterion."""
    questions: dict[str, int]
    """Asked about the rubric, by criterion; under "" about none."""
    discussions: int
    settled: tuple[Settled, ...]
    """The widest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements:
    """All disagreements about items in rounds that count."""

    answers: int
    """Final answers that are, or are to be."""
    provenance: dict[str, int]
    """How many came about in which way; ``waiting`` is to be settled."""
    causes: tuple[Apart, ...]
    criteria: tuple[Apart, ...]
    journal: Journalled | Missing

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(one.count for one in self.causes)

    @property
    def waiting(self) -> int:
        """How many nobody has settled."""
        return sum(one.settled["waiting"] for one in self.causes)


def disagreements_of(
    asked: Asked, rubric: Rubric, finals: pl.DataFrame, journal: Sequence[Entry] | Missing
) -> Disagreements:
    """Disagreements of a table of final answers, and what the journal says of them."""
    answered = finals.filter(pl.col("raters") > 0).with_columns(
        pl.col("criterion", "cause").cast(pl.String),
        pl.col("provenance").cast(pl.String).fill_null("waiting").alias("way"),
    )
    apart = answered.filter(pl.col("cause").is_not_null())
    order = {name: at for at, name in enumerate(rubric.criterion_ids)}
    by_criterion = _grouped(apart, "criterion")
    return Disagreements(
        answers=answered.height,
        provenance=_counted(answered, "way"),
        causes=tuple(sorted(_grouped(apart, "cause"), key=lambda one: (-one.count, one.name))),
        criteria=tuple(sorted(by_criterion, key=lambda one: (-one.count, order[one.name]))),
        journal=journal if isinstance(journal, Missing) else _journalled(asked, journal, apart),
    )


def _counted(frame: pl.DataFrame, column: str) -> dict[str, int]:
    counts = frame.group_by(column).len().sort(["len", column], descending=[True, False])
    return {str(name): int(count) for name, count in counts.iter_rows()}


def _grouped(apart: pl.DataFrame, column: str) -> list[Apart]:
    found: dict[str, Counter[str]] = {}
    for name, way, count in apart.group_by(column, "way").len().iter_rows():
        found.setdefault(str(name), Counter())[str(way)] += int(count)
    return [
        Apart(name=name, count=ways.total(), settled={way: ways[way] for way in WAYS})
        for name, ways in found.items()
    ]


def _journalled(asked: Asked, journal: Sequence[Entry], apart: pl.DataFrame) -> Journalled:
    last: dict[tuple[str, str], Entry] = {}
    unclear: Counter[str] = Counter()
    questions: Counter[str] = Counter()
    discussions = 0
    for one in journal:
        if one.kind == "settled":
            last[str(one.item), str(one.criterion)] = one
        elif one.kind == "asked":
            questions[one.criterion or ""] += 1
        discussions += one.kind == "discussed"
        if one.kind in ("settled", "discussed") and one.body.get("unclear"):
            unclear[str(one.criterion)] += 1
    errors = Counter(str(one.body["error"]) for one in last.values() if one.body.get("error"))
    gaps = _gaps(apart, last)
    told = [_settled(asked, one, gaps.get(key)) for key, one in last.items()]
    told.sort(key=lambda one: (-(one.gap or 0), one.item, one.criterion))
    return Journalled(
        errors=dict(errors.most_common()),
        unclear=dict(unclear.most_common()),
        questions=dict(questions.most_common()),
        discussions=discussions,
        settled=tuple(told),
    )


def _gaps(apart: pl.DataFrame, keys: dict[tuple[str, str], Any]) -> dict[tuple[str, str], int]:
    mine = apart.filter(pl.col("item").is_in([item for item, _ in keys])).drop_nulls("gap")
    return {(item, name): gap for item, name, gap in mine["item", "criterion", "gap"].iter_rows()}


def _settled(asked: Asked, one: Entry, gap: int | None) -> Settled:
    return Settled(
        item=str(one.item),
        criterion=str(one.criterion),
        answer=str(one.body["value"]),
        how=str(one.body["how"]),
        by=asked.names(one.body.get("participants", (one.actor,))),
        error=one.body.get("error"),
        unclear=bool(one.body.get("unclear")),
        gap=gap,
        reason=asked.naming.text(str((one.words or {}).get("reason", ""))),
    )
