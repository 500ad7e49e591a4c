"""Tables of ratings as codes, by criterion, rater and item.

With a rubric, answers are read as
everywhere else; without one, the level of measurement is stated and the answers speak for
themselves: numbers order as numbers, other answers only in the order the user gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.core.answer import ERROR, NA, Given, NotApplicable
from calibrant.core.errors import Fault, RecordError, SourceError, UnknownName
from calibrant.core.ids import NAME_RULE, read_name
from calibrant.core.rating import RATER_KINDS, read_answer
from calibrant.core.rubric import Rubric
from calibrant.formats.rating_columns import SLICES, Reading, frame_of, long_form, named
from calibrant.stats.agreement import Ruler
from calibrant.stats.counts import ABSENT, MOST_VALUES
from calibrant.stats.runs import Codes
from calibrant.stats.weights import Level

MOST_FAULTS = 20
"""Rows named of each mistake."""
ALL = "all"
"""The one criterion of a table that names none."""
NA_MARK, WRONG = 254, 253
"""Codes of NA, and of what is no answer, while a table is being read."""
MOST_CELLS = 1_000_000_000
"""The largest rectangle of raters by items, in bytes."""


@dataclass(slots=True)
class CriterionTable:
    """The ratings of one criterion."""

    name: str
    codes: Codes
    """Shape (R, N): the place of the answer on the scale, ``NA_MARK``, or ``ABSENT``."""
    ruler: Ruler
    has_na: bool


@dataclass(slots=True)
class RatingTable:
    """Everything a table of ratings says, ready for counting."""

    raters: tuple[str, ...]
    kinds: dict[str, str]
    """HUMAN, LLM or CODE by rater, where the table says so."""
    units: pl.DataFrame
    """What was rated: an item, in a round and under a version where the table names those."""
    criteria: list[CriterionTable]
    anonymous: bool = False
    """Whether a rater's name does not stand for one rater throughout."""
    excluded: list[dict[str, Any]] = field(default_factory=list)
    """What was left out, and why."""

    def slices(self) -> dict[str, NDArray[np.bool_]]:
        """The units of each round, version and month, where there are several."""
        out: dict[str, NDArray[np.bool_]] = {}
        for name in SLICES:
            if name in self.units.columns and self.units[name].n_unique() > 1:
                for value in self.units[name].drop_nulls().unique().sort().to_list():
                    out[f"{name} {value}"] = (self.units[name] == value).fill_null(False).to_numpy()
        return out


def read_rating_file(path: Path, how: Reading, encoding: str | None = None) -> RatingTable:
    """The ratings in a file."""
    return rating_table(frame_of(path, encoding), how, str(path))


def rating_table(frame: pl.DataFrame, how: Reading, source: str) -> RatingTable:
    """The ratings in a frame."""
    if not frame.height:
        raise SourceError(f"{source}: the table is empty")
    long = long_form(named(frame, how, source), how, source)
    return _Table(long, how, source).build()


class _Table:
    """Builds codes from long rows; whatever is wrong is told with its rows."""

    def __init__(self, rows: pl.DataFrame, how: Reading, source: str) -> None:
        self.how, self.source = how, source
        self.anonymous = how.anonymous or "rater" not in rows.columns
        self.rows = _as_texts(rows)
        self.excluded: list[dict[str, Any]] = []

    def build(self) -> RatingTable:
        """The table of codes."""
        self._check_names()
        self._leave_out(pl.col("answer").is_null(), "no answer")
        if "criterion" not in self.rows.columns:
            self.rows = self.rows.with_columns(criterion=pl.lit(ALL))
        self.unit_keys = ["item", *(name for name in SLICES[:2] if name in self.rows.columns)]
        if "rater" not in self.rows.columns:
            slot = pl.int_range(pl.len()).over(*self.unit_keys, "criterion") + 1
            self.rows = self.rows.with_columns(rater=pl.format("rater {}", slot))
        self._first_occasion()
        kinds = self._kinds()
        units, unit_of = self._units()
        raters, rater_of = _index(self.rows["rater"])
        criteria, criterion_of = _index(self.rows["criterion"])
        answers, answer_of = _index(self.rows["answer"])
        if len(raters) * len(units) > MOST_CELLS:
            raise SourceError(
                f"{self.source}: {len(raters):,} raters by {len(units):,} items are more than "
                "can be held; leave the rater column out, or compare fewer at a time"
            )
        tables = []
        for at, name in enumerate(criteria):
            mine = np.flatnonzero(criterion_of == at) if len(criteria) > 1 else slice(None)
            given = answer_of[mine]
            used = np.unique(given)
            values = _values(self, name, [answers[one] for one in used])
            code = np.full(len(answers), ABSENT, np.uint8)
            code[used] = values.codes
            self._check_answers(name, mine, code[given] == WRONG, answers, given)
            codes = np.full((len(raters), len(units)), ABSENT, np.uint8)
            codes[rater_of[mine], unit_of[mine]] = code[given]
            if int((codes != ABSENT).sum()) < len(given):
                self._refuse_repeats(name)
            tables.append(CriterionTable(name, codes, values.ruler, bool((codes == NA_MARK).any())))
        return RatingTable(tuple(raters), kinds, units, tables, self.anonymous, self.excluded)

    # -- names

    def _check_names(self) -> None:
        for name in ("item", "rater"):
            if name in self.rows.columns:
                plain = pl.col(name).str.contains(r"^[!-~]{1,500}$").fill_null(value=False)
                unsure = self.rows.filter(~plain).select("_record", name)
                wrong = [one for one, text in unsure.iter_rows() if not read_name(text or "")]
                self._refuse(wrong, name, NAME_RULE)
        if "rater" in self.rows.columns:
            raters = self.rows["rater"].n_unique()
            if raters > 200 and raters > self.rows.height // 2:
                raise SourceError(
                    f"{self.source}: {raters:,} different raters in {self.rows.height:,} rows; is "
                    "this the right column? Say --columns rater=NAME"
                )

    def _refuse(self, records: Sequence[int], path: str, message: str) -> None:
        """Name the first rows that are wrong, and how many more there are."""
        if not records:
            return
        shown = [Fault(message, path, self.source, record=one) for one in records[:MOST_FAULTS]]
        if len(records) > MOST_FAULTS:
            more = f"and {len(records) - MOST_FAULTS:,} rows more"
            shown.append(Fault(more, path, self.source))
        raise RecordError(shown)

    def _leave_out(self, which: pl.Expr, reason: str) -> None:
        count = int(self.rows.select(which.sum()).item())
        if count:
            self.excluded.append({"reason": reason, "rows": count})
            self.rows = self.rows.filter(~which)
        if not self.rows.height:
            raise SourceError(f"{self.source}: there is no answer in it")

    def _kinds(self) -> dict[str, str]:
        if "kind" not in self.rows.columns:
            return {}
        pairs = self.rows.select("rater", pl.col("kind").str.to_uppercase()).unique()
        kinds: dict[str, str] = {}
        for rater, kind in pairs.drop_nulls().sort("rater", "kind").iter_rows():
            if kind not in RATER_KINDS:
                told = ", ".join(RATER_KINDS)
                raise SourceError(f"{self.source}: kind {kind[:40]!r} is not one of {told}")
            if kinds.setdefault(rater, kind) != kind:
                raise SourceError(f"{self.source}: rater {rater!r} is {kinds[rater]} and {kind}")
        return kinds

    # -- units and repeats

    def _units(self) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        """What was rated, and the unit of every row."""
        if self.unit_keys == ["item"]:
            names, place = _index(self.rows["item"])
            units = pl.DataFrame({"item": names})
        else:
            joined = pl.concat_str(pl.col(self.unit_keys).fill_null(""), separator="\x1f")
            key = self.rows.select(joined.alias("unit"))["unit"]
            place = _index(key)[1]
            units = self.rows.filter(key.is_first_distinct()).select(self.unit_keys)
        if "time" in self.rows.columns:
            months = self.rows.select(pl.col("time").cast(pl.String).str.slice(0, 7))["time"]
            first = np.unique(place, return_index=True)[1]
            units = units.with_columns(time=months.gather(first))
        return units, place

    def _first_occasion(self) -> None:
        """A rater's later answers to one item are for self-agreement, not for comparing raters."""
        if "occasion" not in self.rows.columns or self.rows["occasion"].n_unique() < 2:
            return
        keys = [*self.unit_keys, "rater", "criterion"]
        first = pl.col("occasion").fill_null("").rank("dense").over(keys) == 1
        later = int(self.rows.select((~first).sum()).item())
        if later:
            self.excluded.append({"reason": "a later occasion of the same rater", "rows": later})
            self.rows = self.rows.filter(first)

    def _refuse_repeats(self, criterion: str) -> None:
        keys = [*self.unit_keys, "rater"]
        mine = self.rows.filter(pl.col("criterion") == criterion)
        again = mine.filter(~pl.struct(keys).is_first_distinct())
        message = "a second answer by one rater to one item; tell repeats apart by `occasion`"
        self._refuse(again["_record"].to_list(), "rater", message)

    # -- answers

    def _check_answers(
        self,
        criterion: str,
        mine: NDArray[np.intp] | slice,
        wrong: NDArray[np.bool_],
        answers: list[str],
        given: NDArray[np.int64],
    ) -> None:
        if not wrong.any():
            return
        records = self.rows["_record"].to_numpy()[mine][wrong].tolist()
        kinds = [answers[at] for at in np.unique(given[wrong])[:5]]
        told = ", ".join(repr(one[:40]) for one in kinds)
        expected = (
            "is not an answer of the rubric"
            if self.how.rubric is not None
            else f"is not an answer on a scale at the {self.how.level} level"
        )
        where = "" if criterion == ALL else f" of {criterion}"
        self._refuse(records, "answer", f"{told} {expected}{where}")


def _as_texts(rows: pl.DataFrame) -> pl.DataFrame:
    """Every cell but the record's number as text without space around it; empty is null."""
    return rows.select(
        column if column.name == "_record" else _as_text(column) for column in rows.get_columns()
    )


def _as_text(column: pl.Series) -> pl.Series:
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise SourceError(f"column {column.name!r} holds lists or objects, not names or answers")
    if column.dtype.is_float():
        column = column.fill_nan(None)
        given = column.drop_nulls()
        if bool((given == given.round()).all()):  # 4.0 is 4
            column = column.cast(pl.Int64, strict=False)
    text = column.cast(pl.String).str.strip_chars()
    return text.set(text == "", None)


def _index(column: pl.Series) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts in the order in which they come, and the place of each row's."""
    codes = column.cast(pl.Categorical).to_physical()
    first = codes.arg_unique().sort()
    used = codes.gather(first).to_numpy()
    place = np.zeros(int(used.max(initial=0)) + 1, np.int64)
    place[used] = np.arange(len(used))
    return column.gather(first).to_list(), place[codes.to_numpy()]


@dataclass(frozen=True, slots=True)
class _Values:
    """What the answers of a criterion are."""

    codes: NDArray[np.uint8]
    """Of each text that was asked about."""
    ruler: Ruler


def _values(table: _Table, criterion: str, texts: list[str]) -> _Values:
    """The scale of a criterion, and where each of these texts stands on it."""
    rubric = table.how.rubric
    if rubric is not None:
        return _by_rubric(rubric, criterion, texts, table.source)
    words = [text for text in texts if text.upper() != NA]
    numbers = {text: _number(text) for text in words}
    match table.how.level:
        case "nominal":
            values = sorted(
                words, key=lambda text: (numbers[text] is None, numbers[text] or 0, text)
            )
        case "ordinal" if table.how.order:
            values = list(table.how.order)
        case "ordinal" | "interval" | "ratio":
            values = _in_order(table, words, numbers)
        case _:
            raise SourceError("without a rubric, say --level nominal, ordinal, interval or ratio")
    if len(values) > MOST_VALUES:
        raise SourceError(
            f"{table.source}: {len(values):,} different answers to {criterion}; at most "
            f"{MOST_VALUES} can be compared: round them"
        )
    return _placed(table.how, texts, values, numbers)


def _in_order(table: _Table, words: list[str], numbers: Mapping[str, float | None]) -> list[str]:
    """Answers as numbers; the alphabet is no order."""
    good = [word for word in words if numbers[word] is not None]
    if not good and table.how.level == "ordinal":
        told = ", ".join(repr(word[:30]) for word in words[:5])
        raise SourceError(
            f"{table.source}: in which order are {told}? Say --order low,…,high: order never "
            "comes from the alphabet"
        )
    if table.how.level == "ratio" and any((numbers[word] or 0) < 0 for word in good):
        raise SourceError(f"{table.source}: a ratio scale has no numbers below 0")
    distinct: dict[float, str] = {}
    for word in good:
        distinct.setdefault(float(numbers[word] or 0), word)
    return [distinct[number] for number in sorted(distinct)]


def _placed(
    how: Reading, texts: list[str], values: list[str], numbers: Mapping[str, float | None]
) -> _Values:
    known: dict[Any, int] = {value: at for at, value in enumerate(values)}
    numeric = all(_number(value) is not None for value in values)
    if how.level != "nominal" and numeric:  # 4 and 4.0 are one answer
        known |= {_number(value): at for at, value in enumerate(values)}
    codes = []
    for text in texts:
        found = known.get(text, known.get(numbers.get(text)))
        is_na = text.upper() == NA and text not in known
        codes.append(NA_MARK if is_na else WRONG if found is None else found)
    level: Level = how.level or "nominal"
    # numbers as they are: a value that nobody gave still lies between its neighbours
    counted = numeric and level != "nominal"
    points = [_number(value) or 0.0 for value in values] if counted else range(len(values))
    ruler = Ruler(tuple(values), level, np.array(points, np.float64), counted)
    return _Values(np.array(codes, np.uint8), ruler)


def _by_rubric(rubric: Rubric, criterion: str, texts: list[str], source: str) -> _Values:
    if criterion == ALL and len(rubric.criteria) != 1:
        raise SourceError(f"{source}: which criterion? {rubric.name} has {len(rubric.criteria)}")
    try:
        asked = rubric.criteria[0] if criterion == ALL else rubric.criterion(criterion)
    except UnknownName as error:
        raise SourceError(f"{source}: {error}") from error
    scale = rubric.scale_of(asked)
    values = scale.points_of_scale
    codes = []
    for text in texts:
        match read_answer(rubric, asked, text):
            case Given(value):
                codes.append(values.index(value))
            case NotApplicable():
                codes.append(NA_MARK)
            case _:
                codes.append(ABSENT if text.upper() == ERROR else WRONG)
    numeric = scale.level == "ordinal"
    points = [float(value) for value in values] if numeric else range(len(values))
    ruler = Ruler(tuple(map(str, values)), scale.level, np.array(points, np.float64), numeric)
    return _Values(np.array(codes, np.uint8), ruler)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) else None
