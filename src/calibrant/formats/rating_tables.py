"""Tables of ratings as codes, by criterion, rater and item.

With a rubric, answers are read as
everywhere else; without one, the level of measurement is stated and the answers speak for
themselves: numbers order as numbers, other answers only in the order the user gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
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
from calibrant.formats.coding import PLAIN_NAME
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
"""The most cells of criteria by raters by items."""
HUGE = 1e100
"""Numbers from here on are none: their squares are beyond all arithmetic."""
NOBODY = (1 << 16) - 1
"""The place of no answer, while a table is being read."""


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
        self.rows = _as_categories(rows)
        self.excluded: list[dict[str, Any]] = []

    def build(self) -> RatingTable:
        """The table of codes."""
        self._check_names()
        self._leave_out_empty()
        if "criterion" not in self.rows.columns:
            self.rows = self.rows.with_columns(criterion=pl.lit(ALL).cast(pl.Categorical))
        self.unit_keys = ["item", *(name for name in SLICES[:2] if name in self.rows.columns)]
        if "rater" not in self.rows.columns:
            slot = pl.int_range(pl.len()).over(*self.unit_keys, "criterion") + 1
            self.rows = self.rows.with_columns(
                rater=pl.format("rater {}", slot).cast(pl.Categorical)
            )
        self._first_occasion()
        kinds = self._kinds()
        units, unit_of = self._units()
        raters, rater_of = _index(self.rows["rater"])
        criteria, criterion_of = _index(self.rows["criterion"])
        answers, answer_of = _index(self.rows["answer"])
        shape = len(criteria), len(raters), len(units)
        if prod(shape) > MOST_CELLS:
            raise SourceError(
                f"{self.source}: {shape[0]:,} criteria by {shape[1]:,} raters by {shape[2]:,} "
                "items are more than can be held; compare fewer at a time"
            )
        cells = np.full(prod(shape), NOBODY, np.uint16)
        row = (criterion_of * np.int32(shape[1]) + rater_of).astype(np.int64)
        cells[row * shape[2] + unit_of] = answer_of
        if np.count_nonzero(cells != NOBODY) < self.rows.height:
            self._refuse_repeats()
        tables = [
            self._criterion(name, part, answers)
            for name, part in zip(criteria, cells.reshape(shape), strict=True)
        ]
        return RatingTable(tuple(raters), kinds, units, tables, self.anonymous, self.excluded)

    def _criterion(
        self, name: str, places: NDArray[np.uint16], answers: list[str]
    ) -> CriterionTable:
        """Places among all answers become codes on the scale of the criterion."""
        used = np.flatnonzero(np.bincount(places.reshape(-1), minlength=NOBODY + 1)[:NOBODY])
        values = _values(self, name, [answers[one] for one in used])
        code = np.full(NOBODY + 1, ABSENT, np.uint8)
        code[used] = values.codes
        wrong = [answers[at] for at in used if code[at] == WRONG]
        if wrong:
            self._refuse_answers(name, wrong)
        codes = code.take(places)
        return CriterionTable(name, codes, values.ruler, bool((values.codes == NA_MARK).any()))

    # -- names

    def _check_names(self) -> None:
        for name in ("item", "rater"):
            if name in self.rows.columns:
                found = self.rows[name].unique()
                texts = found.cast(pl.String)
                unsure = texts.filter(~texts.str.contains(PLAIN_NAME).fill_null(value=False))
                wrong = [text for text in unsure if not read_name(text or "")]
                if wrong:
                    bad = pl.col(name).is_null() | pl.col(name).cast(pl.String).is_in(wrong)
                    self._refuse(self.rows.filter(bad)["_record"].to_list(), name, NAME_RULE)
        if "criterion" in self.rows.columns and self.rows["criterion"].null_count():
            nameless = self.rows.filter(pl.col("criterion").is_null())["_record"].to_list()
            self._refuse(nameless, "criterion", "required, but not there")
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

    def _leave_out_empty(self) -> None:
        empty = self.rows["answer"].null_count()
        if empty:
            self.excluded.append({"reason": "no answer", "rows": empty})
            self.rows = self.rows.filter(pl.col("answer").is_not_null())
        if not self.rows.height:
            raise SourceError(f"{self.source}: there is no answer in it")

    def _kinds(self) -> dict[str, str]:
        if "kind" not in self.rows.columns:
            return {}
        pairs = self.rows.select("rater", "kind").unique().cast(pl.String).drop_nulls()
        kinds: dict[str, str] = {}
        for rater, written in pairs.sort("rater", "kind").iter_rows():
            kind = written.upper()
            if kind not in RATER_KINDS:
                told = ", ".join(RATER_KINDS)
                raise SourceError(f"{self.source}: kind {kind[:40]!r} is not one of {told}")
            if kinds.setdefault(rater, kind) != kind:
                raise SourceError(f"{self.source}: rater {rater!r} is {kinds[rater]} and {kind}")
        return kinds

    # -- units and repeats

    def _units(self) -> tuple[pl.DataFrame, NDArray[np.int32]]:
        """What was rated, and the unit of every row."""
        if self.unit_keys == ["item"]:
            names, place = _index(self.rows["item"])
            units = pl.DataFrame({"item": names})
        else:
            parts = pl.col(self.unit_keys).cast(pl.String).fill_null("")
            key = self.rows.select(unit=pl.concat_str(parts, separator="\x1f"))["unit"]
            place = _index(key)[1]
            different = self.rows.filter(key.is_first_distinct())
            units = different.select(pl.col(self.unit_keys).cast(pl.String))
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
        order = pl.col("occasion").cast(pl.String).fill_null("")
        first = order.rank("dense").over(keys) == 1
        later = int(self.rows.select((~first).sum()).item())
        if later:
            self.excluded.append({"reason": "a later occasion of the same rater", "rows": later})
            self.rows = self.rows.filter(first)

    def _refuse_repeats(self) -> None:
        again = ~pl.struct(*self.unit_keys, "rater", "criterion").is_first_distinct()
        message = "a second answer by one rater to one item; tell repeats apart by `occasion`"
        self._refuse(self.rows.filter(again)["_record"].to_list(), "rater", message)

    def _refuse_answers(self, criterion: str, wrong: list[str]) -> None:
        """What is no answer, with its rows: nothing is computed from garbage."""
        bad = pl.col("answer").cast(pl.String).is_in(wrong)
        bad &= pl.col("criterion").cast(pl.String) == criterion
        expected = (
            "is not an answer of the rubric"
            if self.how.rubric is not None
            else f"is not an answer on a scale at the {self.how.level} level"
        )
        where = "" if criterion == ALL else f" to {criterion}"
        told = ", ".join(repr(one[:40]) for one in wrong[:5])
        records = self.rows.filter(bad)["_record"].to_list()
        self._refuse(records, "answer", f"{told} {expected}{where}")


def _as_categories(rows: pl.DataFrame) -> pl.DataFrame:
    """Every column but the record's number as categories of texts without space around them.

    Work on texts is done once for each different text, not once for each row.
    """
    names = [name for name in rows.columns if name != "_record"]
    texts = rows.with_columns(_as_text(rows[name]) for name in names)
    found = texts.with_columns(pl.col(names).cast(pl.Categorical))
    for name in names:
        different = found[name].unique().cast(pl.String)
        plain = different.str.strip_chars()
        if bool((plain != different).any()) or bool((plain == "").any()):
            clean = texts[name].str.strip_chars()
            clean = clean.set(clean == "", None).cast(pl.Categorical)
            found = found.with_columns(clean.alias(name))
    return found


def _as_text(column: pl.Series) -> pl.Series:
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise SourceError(f"column {column.name!r} holds lists or objects, not names or answers")
    if column.dtype.is_float():
        column = column.fill_nan(None)
        given = column.drop_nulls()
        if bool((given == given.round()).all()):  # 4.0 is 4
            column = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String)


def _index(column: pl.Series) -> tuple[list[str], NDArray[np.int32]]:
    """The different texts in the order in which they come, and the place of each row's."""
    codes = column.cast(pl.Categorical).to_physical().to_numpy()
    first = np.full(int(codes.max(initial=0)) + 1, -1, np.int32)
    # written backwards, what stays is where each text comes first
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1, dtype=np.int32)
    used = np.flatnonzero(first >= 0)
    used = used[np.argsort(first[used])]
    place = np.zeros(len(first), np.int32)
    place[used] = np.arange(len(used))
    return column.gather(first[used]).cast(pl.String).to_list(), place.take(codes)


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
    return number if abs(number) < HUGE else None
