"""A large judged set and the people's labels of some of it: what can be estimated from both.

Ratings give a quantity for each criterion: the mean of an ordered scale, the share of an answer of
a choice. Verdicts give the share that passed, and the mean score. Several people's answers to one
item are averaged: what is estimated is what a person says on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.places import plain
from calibrant.compare.rating_columns import Reading, long_form, named
from calibrant.compare.rating_tables import CriterionTable, RatingTable, rating_table
from calibrant.compare.rulers import ALL
from calibrant.core.errors import RecordError, SourceError, suggestion
from calibrant.stats.counts import ABSENT

Array = NDArray[np.float64]
PEOPLE, JUDGE = "people", "judge"
"""Names of raters of a file that names none."""
ALL_ANSWERS = "all answers"
"""The one criterion of a table that names none."""
_COLUMNS = ("item", "rater", "criterion", "answer", "kind", "occasion")
_YES = ("YES", "PASS", "PASSED", "TRUE", "1", "Y")
"""Answers that say yes."""


@dataclass(frozen=True, slots=True)
class Side:
    """A table in parts, and what it is called."""

    frames: Sequence[pl.DataFrame]
    name: str

    @property
    def holds_verdicts(self) -> bool:
        """Whether it holds verdicts, and not ratings."""
        return all({"verdict", "status"} <= set(one.columns) for one in self.frames)

    def refuse_empty(self) -> None:
        """Raise where there is no row."""
        if not any(one.height for one in self.frames):
            raise SourceError(f"{self.name}: the table is empty")


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says of M items on average; not a number where they said nothing."""

    total: Array
    """The value, times how far it applies."""
    applies: Array
    """Share of those who answered to whom it applies: 1 where nobody said NA."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something to be estimated."""

    name: str
    criterion: str | None
    is_share: bool
    bounds: tuple[float, float]
    step: float
    judge: Said
    people: Said


@dataclass(slots=True)
class Judged:
    """Everything that judge and people said, item by item."""

    items: list[str]
    quantities: list[Quantity]
    judge: str
    people: tuple[str, ...]
    excluded: list[dict[str, Any]]


def judged_set(
    judged: Side, labels: Side | None, how: Reading, *, judge: str | None = None
) -> Judged:
    """What there is to estimate in two tables, or in one that tells judge and people apart."""
    sides = [judged] if labels is None else [judged, labels]
    for side in sides:
        side.refuse_empty()
    if judged.holds_verdicts:
        for side in sides:
            if not side.holds_verdicts:
                raise SourceError(f"{side.name}: holds ratings where verdicts are wanted")
        return _verdicts(judged, labels, judge)
    table, name, people = rated_by_both(judged, labels, how, judge=judge)
    quantities = [
        one for asked in table.criteria for one in _quantities(table, asked, how, name, people)
    ]
    items = [str(one) for one in table.units["item"].to_list()]
    return Judged(items, quantities, name, people, table.excluded)


def rated_by_both(
    judged: Side, labels: Side | None, how: Reading, *, judge: str | None = None
) -> tuple[RatingTable, str, tuple[str, ...]]:
    """The ratings of judge and people in one table; who the judge is, and who the people are."""
    sides = [judged] if labels is None else [judged, labels]
    for side in sides:
        side.refuse_empty()
        if side.holds_verdicts:
            raise SourceError(f"{side.name}: holds verdicts where ratings are wanted")
    if how.rubric is None and how.level is None:
        raise SourceError(f"{judged.name}: say the level of measurement, or give a rubric")
    parts = [
        [long_rows(one, how, side.name, nobody) for one in side.frames]
        for side, nobody in zip(sides, (JUDGE, PEOPLE), strict=False)
    ]
    source = " and ".join(side.name for side in sides)
    try:
        table = rating_table(chain(*parts), replace(how, columns={}, wide=False), source)
    except RecordError:
        for side in sides:  # each by itself: it knows its own records
            rating_table(side.frames, how, side.name)
        raise
    _order(table)
    kinds = {one: table.kinds.get(one) for one in table.raters}
    own, theirs = ([*map(_raters_of, parts), None])[:2]
    assert own is not None
    return table, *_sides(kinds, own, theirs, judge, source)


def _order(table: RatingTable) -> None:
    """Raters and items by name: what is drawn must not hang on the order of rows in a file."""
    raters = np.argsort(np.array(table.raters, np.object_), kind="stable")
    items = table.units["item"].cast(pl.String).arg_sort().to_numpy()
    table.raters = tuple(table.raters[at] for at in raters)
    table.units = table.units[items]
    for one in table.criteria:
        one.codes = one.codes[np.ix_(raters, items)]


def _raters_of(frames: Sequence[pl.DataFrame]) -> list[str]:
    return pl.concat(frames)["rater"].drop_nulls().unique().to_list()


def item_column(
    frames: Sequence[pl.DataFrame], how: Reading, column: str, *, one_word: bool = False
) -> dict[str, str]:
    """What a column says of each item; the first word counts, or ``one_word`` is asked for."""
    known: dict[str, str] = {}
    for frame in frames:
        names = named(frame, how, "table")
        if column not in names.columns:
            continue
        pairs = names.select(
            plain(names["item"]).cast(pl.String), plain(names[column]).cast(pl.String)
        )
        for item, value in pairs.drop_nulls().unique(maintain_order=True).iter_rows():
            if known.setdefault(item, value) != value and one_word:
                raise SourceError(
                    f"column {column!r} says {known[item]!r} and {value!r} of item {item!r}: it is "
                    "of the ratings, and not of the items"
                )
    if not known:
        columns = sorted({name for frame in frames for name in frame.columns})
        near = suggestion(column, columns)
        raise SourceError(f"there is no column {column!r}; {near}".rstrip("; "))
    return known


# -- who is who


def _sides(
    kinds: dict[str, str | None],
    own: Sequence[str],
    theirs: Sequence[str] | None,
    judge: str | None,
    source: str,
) -> tuple[str, tuple[str, ...]]:
    """The judge, and the people it is corrected by: the judge is never one of them.

    ``kinds`` names every rater; ``own`` those of the first table, ``theirs`` of the second.
    """
    raters = list(kinds)
    if judge is not None and judge not in raters:
        near = suggestion(judge, raters)
        raise SourceError(f"{source}: there is no rater {judge!r}; {near}".rstrip("; "))
    if theirs is None:
        machines = [one for one in raters if (kinds[one] or "HUMAN") != "HUMAN"]
    else:
        machines = [one for one in own if one in kinds and one not in theirs]
    if judge is None:
        if len(machines) != 1:
            told = ", ".join(sorted(machines)[:6]) or "none is told from people"
            raise SourceError(f"{source}: which rater is the judge? Name one ({told})")
        judge = machines[0]
    among = list(raters) if theirs is None else list(theirs)
    people = tuple(one for one in raters if one in among and one not in (judge, *machines))
    if not people:
        raise SourceError(f"{source}: there are no people's answers beside those of {judge!r}")
    return judge, people


# -- ratings


def long_rows(frame: pl.DataFrame, how: Reading, source: str, nobody: str = JUDGE) -> pl.DataFrame:
    """Long rows with the same columns whatever the file has."""
    rows, _ = long_form(named(frame, how, source), how, source)
    texts = [plain(rows[name]).cast(pl.String) for name in _COLUMNS if name in rows.columns]
    defaults = {"rater": nobody, "criterion": None, "kind": None, "occasion": None}
    out = pl.DataFrame(texts).with_columns(
        pl.lit(value, pl.String).alias(name)
        for name, value in defaults.items()
        if name not in rows.columns
    )
    if "criterion" not in rows.columns:
        out = out.with_columns(pl.lit(_only_criterion(how, source)).alias("criterion"))
    return out.select(_COLUMNS)


def _only_criterion(how: Reading, source: str) -> str:
    """What a table answers that names no criterion."""
    if how.rubric is None:
        return ALL_ANSWERS
    if len(how.rubric.criteria) != 1:
        count = len(how.rubric.criteria)
        raise SourceError(f"{source}: which criterion? {how.rubric.name} has {count}")
    return how.rubric.criteria[0].id


def _quantities(
    table: RatingTable, asked: CriterionTable, how: Reading, judge: str, people: Sequence[str]
) -> list[Quantity]:
    ruler = asked.ruler
    codes = asked.codes
    judge_rows = codes[[table.raters.index(judge)]]
    people_rows = codes[[table.raters.index(one) for one in people]]
    name = None if asked.name in (ALL, ALL_ANSWERS) else asked.name
    out = []
    for label, points in _worths(asked, how):
        called = name or "answer"
        title = called if label is None else f"{called}: {label}"
        if label is None and name is None:
            title = "mean"
        span = (float(points.min(initial=0)), float(points.max(initial=1)))
        gaps = np.diff(np.unique(points))
        step = float(gaps.min()) if len(gaps) else 1.0
        sides = [_said(rows, points, len(ruler.labels)) for rows in (judge_rows, people_rows)]
        out.append(Quantity(title, name, label is not None, span, step, *sides))
    return out


def _worths(asked: CriterionTable, how: Reading) -> list[tuple[str | None, Array]]:
    """What is told of a criterion: points by code, named by an answer where it is a share."""
    ruler = asked.ruler
    if ruler.numeric:
        return [(None, ruler.points)]
    labels = list(ruler.labels)
    if how.rubric is not None and asked.name not in (ALL, ALL_ANSWERS):
        failing = {str(one) for one in how.rubric.failing_values(how.rubric.criterion(asked.name))}
        good = [label not in failing for label in labels]
        if any(good) and not all(good):
            return [("passes", np.array(good, np.float64))]
    shown = labels
    if len(labels) == 2:
        shown = [told_of_two(labels)]
    return [(one, np.array([label == one for label in labels], np.float64)) for one in shown]


def told_of_two(labels: Sequence[str]) -> str:
    """Of two answers, the one whose share is told."""
    return next((one for one in labels if one.upper() in _YES), labels[-1])


def _said(codes: NDArray[Any], points: Array, na: int) -> Said:
    """Answers of some raters on average; ``na`` is the code of NA."""
    given = codes != ABSENT
    applies = given & (codes != na)
    value = np.append(points, 0.0)[np.minimum(codes, len(points))] * applies
    with np.errstate(invalid="ignore", divide="ignore"):
        m = given.sum(axis=0)
        return Said(
            np.where(m > 0, value.sum(axis=0) / m, np.nan),
            np.where(m > 0, applies.sum(axis=0) / m, np.nan),
        )


# -- verdicts


def _verdicts(judged: Side, labels: Side | None, judge: str | None) -> Judged:
    own = pl.concat([_verdict_rows(one, judged.name, JUDGE) for one in judged.frames])
    both, theirs = own, None
    if labels is not None:
        more = pl.concat([_verdict_rows(one, labels.name, PEOPLE) for one in labels.frames])
        both, theirs = pl.concat([own, more]), more["rater"].unique().to_list()
    kinds = dict(both.select("rater", "kind").unique("rater", maintain_order=True).iter_rows())
    name, people = _sides(kinds, own["rater"].unique().to_list(), theirs, judge, judged.name)
    excluded = []
    undecided = int((both["verdict"] == "undecided").sum())
    if undecided:
        excluded.append({"reason": "verdict undecided", "rows": undecided})
    items = both["item"].unique().sort().to_list()
    sides = [both.filter(pl.col("rater") == name), both.filter(pl.col("rater").is_in(people))]
    quantities = []
    for column, title in (("passed", "pass rate"), ("score", "score"), ("mean", "mean")):
        values = both[column].drop_nulls()
        if values.is_empty():
            continue
        said = [_averaged(side, column, items) for side in sides]
        span = (0.0, 1.0) if column != "mean" else (float(values.min()), float(values.max()))  # type: ignore[arg-type]
        gaps = np.diff(values.unique().sort().to_numpy())
        step = 1.0 if column == "passed" else float(gaps.min(initial=1.0))
        quantities.append(Quantity(title, None, column == "passed", span, step, *said))
    return Judged([str(one) for one in items], quantities, name, people, excluded)


def _verdict_rows(frame: pl.DataFrame, source: str, nobody: str) -> pl.DataFrame:
    """Item, rater, whether it passed, and what it scored."""
    item = next((name for name in ("id", "item") if name in frame.columns), None)
    if item is None:
        raise SourceError(f"{source}: a table of verdicts needs a column `id`")
    decided = {"passed": 1.0, "failed": 0.0}
    columns = [
        plain(frame[item]).cast(pl.String).alias("item"),
        frame["verdict"].cast(pl.String),
        *(
            frame[name].cast(pl.String)
            if name in frame.columns
            else pl.Series(name, [other] * frame.height, dtype=pl.String)
            for name, other in (("rater", nobody), ("kind", None))
        ),
        *(
            _numbers(frame[name], source)
            if name in frame.columns
            else pl.Series(name, [None] * frame.height, dtype=pl.Float64)
            for name in ("score", "mean")
        ),
    ]
    out = pl.DataFrame(columns)
    known = [*decided, "undecided"]
    strange = out.filter(~pl.col("verdict").is_in(known))["verdict"].drop_nulls()
    if len(strange):
        told = ", ".join(known)
        raise SourceError(f"{source}: verdict {strange[0][:40]!r} is not one of {told}")
    passed = pl.col("verdict").replace_strict(decided, default=None, return_dtype=pl.Float64)
    return out.with_columns(passed.alias("passed"), pl.col("rater").fill_null(nobody))


def _numbers(column: pl.Series, source: str) -> pl.Series:
    found = column.cast(pl.Float64, strict=False)
    wrong = column.filter(found.is_null() & column.is_not_null())
    if len(wrong):
        raise SourceError(f"{source}: {column.name} {str(wrong[0])[:40]!r} is no number")
    return found


def _averaged(rows: pl.DataFrame, column: str, items: list[Any]) -> Said:
    found = rows.drop_nulls(column).group_by("item").agg(pl.col(column).mean())
    by_item = dict(found.iter_rows())
    total = np.array([by_item.get(one, np.nan) for one in items], np.float64)
    return Said(total, np.where(np.isnan(total), np.nan, 1.0))
