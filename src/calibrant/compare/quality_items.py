"""What was said of each item, as numbers: verdicts, scores, categories and criteria.

The item is what is counted. Several raters' answers to one item are averaged, so that many
answers to few items are not taken for many items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.judged import ALL_ANSWERS, long_rows, told_of_two
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import rating_table
from calibrant.core.answer import ERROR, NA
from calibrant.core.errors import SourceError, suggestion
from calibrant.stats.counts import ABSENT

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric

Array: TypeAlias = NDArray[np.float64]
Role: TypeAlias = Literal["verdict", "score", "category", "criterion"]
_UNDECIDED = "verdict undecided"


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something that items have more or less of."""

    name: str
    role: Role
    is_share: bool
    """Whether it is a share of answers, and not a mean of points."""
    values: Array
    """One an item; not a number where nobody answered, or it does not apply."""
    top: float = 1.0
    """The highest point: of the scale, or of the answers where nobody said what the scale is."""
    bounds: tuple[float, float] | None = None
    """What a mean cannot be beyond, where that is known."""
    answered: Array | None = None
    """The same as raters answered, where a red flag may have forced what counts."""
    of: str = ""
    """The criterion, where the name says more than that."""
    good: bool = True
    """Whether more of it is better; of a cat or a dog nobody can say."""

    @property
    def criterion(self) -> str:
        """The criterion it is about."""
        return self.of or self.name

    @property
    def plain(self) -> bool:
        """Whether every item has it or has it not: nobody's answers were averaged to a part."""
        known = self.values[~np.isnan(self.values)]
        return self.is_share and bool(np.isin(known, (0.0, 1.0)).all())


@dataclass(slots=True)
class Causes:
    """What speaks against an item."""

    sheets: int = 0
    failed: int = 0
    """Sheets with the verdict failed."""
    gate: Counter[str] = field(default_factory=Counter)
    """Criteria that shut a gate, with the number of sheets."""
    flags: Counter[str] = field(default_factory=Counter)
    criteria: Counter[str] = field(default_factory=Counter)
    """Criteria that failed."""


@dataclass(slots=True)
class Rated:
    """Everything that was said of M items."""

    items: list[str]
    quantities: list[Quantity]
    causes: list[Causes]
    sheets: int
    has_verdicts: bool
    notes: list[str] = field(default_factory=list)
    excluded: list[dict[str, Any]] = field(default_factory=list)


# -- verdicts


def of_verdicts(
    frame: pl.DataFrame, source: str, raters: Sequence[str] = (), rubric: Rubric | None = None
) -> Rated:
    """Verdicts as ``score`` writes them, with their nested columns or without.

    A ``rubric`` tells how far scales of points go.
    """
    rows = _only(as_texts(frame), raters, source)
    item = next((name for name in ("id", "item") if name in rows.columns), None)
    if item is None:
        raise SourceError(f"{source}: a table of verdicts needs a column `id`")
    known = ("passed", "failed", "undecided")
    strange = rows.filter(~pl.col("verdict").is_in(known))["verdict"].drop_nulls()
    if len(strange):
        told = ", ".join(known)
        raise SourceError(f"{source}: verdict {strange[0][:40]!r} is not one of {told}")
    items = rows[item].unique(maintain_order=True).to_list()
    place = {name: at for at, name in enumerate(items)}
    where = np.array([place[one] for one in rows[item]], np.intp)
    found = _Folded(rows, where, len(items))
    out = Rated(
        items=[str(one) for one in items],
        quantities=[],
        causes=_causes(rows, where, len(items)),
        sheets=rows.height,
        has_verdicts=True,
    )
    _add_verdicts(out, found)
    _add_scores(out, found, source, rubric)
    for name in [one for one in rows.columns if one.startswith("effective.")]:
        out.quantities.append(_criterion(found, name.removeprefix("effective."), rubric))
    return out


@dataclass(frozen=True, slots=True)
class _Folded:
    """Rows of sheets, to be averaged by item."""

    rows: pl.DataFrame
    where: NDArray[np.intp]
    count: int

    def by_item(self, values: Array) -> Array:
        """The mean of each item's sheets."""
        return averaged(values, self.where, self.count)

    def lists(self, name: str) -> list[tuple[str, ...]]:
        """The names that a column lists in each row."""
        return _lists(self.rows, name)

    def numbers(self, name: str, source: str) -> Array:
        """A column of numbers."""
        column = self.rows[name]
        found = column.cast(pl.Float64, strict=False)
        wrong = column.filter(found.is_null() & column.is_not_null())
        if len(wrong):
            raise SourceError(f"{source}: {name} {wrong[0][:40]!r} is no number")
        return found.fill_null(np.nan).to_numpy()


def averaged(values: Array, where: NDArray[np.intp], count: int) -> Array:
    """Means of the values that are there, by place."""
    there = ~np.isnan(values)
    n = np.bincount(where[there], minlength=count)
    total = np.bincount(where[there], weights=values[there], minlength=count)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _add_verdicts(out: Rated, found: _Folded) -> None:
    verdict = found.rows["verdict"].to_list()
    undecided = verdict.count("undecided")
    no_mark = "passed" in found.rows.columns and found.rows["passed"].null_count() > 0
    if no_mark:
        out.notes.append("no pass rate: the rubric states no pass mark")
        return
    if undecided:
        out.excluded.append({"reason": _UNDECIDED, "rows": undecided})
    decided = {"passed": 1.0, "failed": 0.0}
    values = np.array([decided.get(one, np.nan) for one in verdict], np.float64)
    out.quantities.append(Quantity("pass rate", "verdict", True, found.by_item(values)))


def _add_scores(out: Rated, found: _Folded, source: str, rubric: Rubric | None) -> None:
    """The score and its categories, or the mean of dimensions."""
    for name in ("score", "mean"):
        if name in found.rows.columns and found.rows[name].null_count() < found.rows.height:
            values = found.by_item(found.numbers(name, source))
            top = 1.0 if name == "score" else float(np.nanmax(values))
            bounds = (0.0, 1.0) if name == "score" else _all_bounds(rubric)
            out.quantities.append(Quantity(name, "score", False, values, top, bounds))
    for name in [one for one in found.rows.columns if one.startswith("category_scores.")]:
        values = found.by_item(found.numbers(name, source))
        called = name.removeprefix("category_scores.")
        out.quantities.append(Quantity(called, "category", False, values, 1.0, (0.0, 1.0)))


def _criterion(found: _Folded, name: str, rubric: Rubric | None) -> Quantity:
    """Points as they are; other answers by whether they failed the criterion."""
    answers = found.rows[f"effective.{name}"]
    given = answers.filter(~answers.is_in([NA, ERROR])).drop_nulls()
    numbers = given.cast(pl.Float64, strict=False)
    if len(given) and not numbers.null_count():
        points = answers.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        bounds = _bounds(name, rubric)
        top = float(np.nanmax(points)) if bounds is None else bounds[1]
        own = found.by_item(_as_answered(found.rows, name, points))
        return Quantity(name, "criterion", False, found.by_item(points), top, bounds, own)
    columns = zip(
        answers, found.lists("failed_checks"), found.lists("missing"), found.lists("errors"),
        strict=True,
    )  # fmt: skip
    values = [
        np.nan
        if name in missing or name in errors or (answer in (None, NA) and name not in failed)
        else float(name not in failed)
        for answer, failed, missing, errors in columns
    ]
    return Quantity(name, "criterion", True, found.by_item(np.array(values, np.float64)))


def _as_answered(rows: pl.DataFrame, name: str, points: Array) -> Array:
    """Points before red flags forced any; as they count where the file does not say."""
    if f"raw.{name}" not in rows.columns:
        return points
    raw = rows[f"raw.{name}"].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    return np.where(np.isnan(points), np.nan, raw)


def _all_bounds(rubric: Rubric | None) -> tuple[float, float] | None:
    """The lowest and the highest point of all criteria."""
    every = [_bounds(name, rubric) for name in rubric.criterion_ids] if rubric else []
    known = [one for one in every if one is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _bounds(name: str, rubric: Rubric | None) -> tuple[float, float] | None:
    """The lowest and the highest point of a criterion that a rubric has."""
    if rubric is None or name not in rubric.criterion_ids:
        return None
    points = rubric.scale_of(rubric.criterion(name)).points_of_scale
    whole = [float(one) for one in points if isinstance(one, int)]
    return (min(whole), max(whole)) if whole else None


def _causes(rows: pl.DataFrame, where: NDArray[np.intp], count: int) -> list[Causes]:
    """What speaks against each item; an absent answer is no failure of the item."""
    out = [Causes() for _ in range(count)]
    names = ("failed_checks", "failed_safety", "flags", "missing", "errors")
    lists = zip(*(_lists(rows, name) for name in names), strict=True)
    for place, verdict, said in zip(where, rows["verdict"], lists, strict=True):
        failed, shut, flags, *absent = said
        nothing = {name for some in absent for name in some}
        one = out[place]
        one.sheets += 1
        one.failed += verdict == "failed"
        one.gate.update(name for name in shut if name not in nothing)
        one.flags.update(flags)
        one.criteria.update(name for name in failed if name not in nothing)
    return out


def as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Every column as text: a record becomes a column a field, a list a text with semicolons."""
    for name, kind in frame.schema.items():
        if isinstance(kind, pl.Struct):
            fields = frame[name].struct.unnest()
            named = [one.alias(f"{name}.{one.name}") for one in fields]
            frame = frame.drop(name).with_columns(named)
    frame = frame.with_columns(pl.selectors.list().cast(pl.List(pl.String)).list.join(";"))
    return frame.cast(pl.String)


def _lists(rows: pl.DataFrame, name: str) -> list[tuple[str, ...]]:
    if name not in rows.columns:
        return [()] * rows.height
    return [tuple(filter(None, (text or "").split(";"))) for text in rows[name]]


def _only(rows: pl.DataFrame, raters: Sequence[str], source: str) -> pl.DataFrame:
    """Only the rows of some raters, where any are named."""
    if not raters:
        return rows
    there = rows["rater"].unique().to_list() if "rater" in rows.columns else []
    for name in raters:
        if name not in there:
            near = suggestion(name, [one for one in there if one is not None])
            raise SourceError(f"{source}: there is no rater {name!r}; {near}".rstrip("; "))
    return rows.filter(pl.col("rater").is_in(list(raters)))


# -- ratings without a rubric


def of_ratings(
    frames: Iterable[pl.DataFrame], how: Reading, source: str, raters: Sequence[str] = ()
) -> Rated:
    """Ratings on a scale whose level was stated: a mean, or the share of each answer."""
    if how.level is None:
        raise SourceError(f"{source}: say the level of measurement, or give a rubric")
    rows = pl.concat([long_rows(frame, how, source) for frame in frames])
    rows = _only(rows, raters, source)
    plain = replace(how, columns={}, wide=False)
    table = rating_table([rows], plain, source)
    names = [str(one) for one in table.units["item"].to_list()]
    items = list(dict.fromkeys(names))
    place = {name: at for at, name in enumerate(items)}
    where = np.array([place[one] for one in names], np.intp)
    out = Rated(items, [], [Causes() for _ in items], 0, False, excluded=list(table.excluded))
    rated = np.zeros((len(table.raters), len(names)), bool)
    for asked in table.criteria:
        rated |= asked.codes != ABSENT
        name = "" if asked.name in ("", ALL_ANSWERS) else asked.name
        for label, points in _worths(list(asked.ruler.labels), asked.ruler):
            told = ": ".join(filter(None, (name, label))) or "answer"
            applies = asked.codes < len(points)
            value = np.append(points, 0.0)[np.minimum(asked.codes, len(points))]
            by_rater = np.where(applies, value, np.nan).reshape(-1)
            values = averaged(by_rater, np.tile(where, len(table.raters)), len(items))
            top = float(points.max(initial=0.0))
            good = label is None or told_of_two((label, "")) == label  # it is a yes
            out.quantities.append(
                Quantity(
                    told,
                    "criterion",
                    label is not None,
                    values,
                    top,
                    of=name or ALL_ANSWERS,
                    good=good,
                )
            )
    out.sheets = int(rated.sum())
    return out


def _worths(labels: list[str], ruler: Any) -> list[tuple[str | None, Array]]:
    """Points by code; of answers without an order, one share each, of two only one."""
    if ruler.numeric:
        return [(None, np.asarray(ruler.points, np.float64))]
    shown = [told_of_two(labels)] if len(labels) == 2 else labels
    return [(one, np.array([label == one for label in labels], np.float64)) for one in shown]
