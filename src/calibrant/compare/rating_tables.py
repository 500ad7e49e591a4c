"""Tables of ratings as codes, by criterion, rater and item.

With a rubric, answers are read as
everywhere else; without one, the level of measurement is stated and the answers speak for
themselves: numbers order as numbers, other answers only in the order the user gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.places import Coder, Column, Places, coded, combined
from calibrant.compare.rating_columns import SLICES, Reading, long_form, named
from calibrant.compare.rulers import ALL, NA_MARK, WRONG, number_of, values_of
from calibrant.core.errors import Fault, RecordError, SourceError
from calibrant.core.ids import NAME_RULE, are_plain, read_name
from calibrant.stats.counts import ABSENT
from calibrant.stats.runs import Codes
from calibrant.stats.weights import Ruler

MOST_FAULTS = 20
"""Rows named of each mistake."""
MOST_CELLS = 1_000_000_000
"""The most cells of criteria by raters by items; 32 bits can count them."""
_THREADS = 2
"""Who read at a time; arithmetic on arrays lets others go on."""
MOST_RATERS = 200
"""Different raters from which a column of raters is doubted."""


@dataclass(slots=True)
class CriterionTable:
    """The ratings of one criterion."""

    name: str
    codes: Codes
    """Shape (R, N): the place of the answer on the scale, the number of places for NA, or
    ``ABSENT``."""
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


def rating_table(frames: Iterable[pl.DataFrame], how: Reading, source: str) -> RatingTable:
    """The ratings in frames that follow one another."""
    coders: list[Coder] = []
    records, record = [], 1
    with ThreadPoolExecutor(_THREADS) as pool:
        for frame in frames:
            if not frame.height:
                continue
            long, times = long_form(named(frame, how, source), how, source)
            records.append((record, frame.height, times))
            record += frame.height
            coders = coders or _coders(long.columns)
            list(pool.map(Coder.add, coders, [long] * len(coders)))
    if record == 1:
        raise SourceError(f"{source}: the table is empty")
    columns = {name: one for coder in coders for name, one in coder.columns().items()}
    return _Table(columns, how, source, records).build()


def _coders(names: Sequence[str]) -> list[Coder]:
    """Columns with few texts are looked up together, the others each by itself."""
    few = [name for name in names if name in ("rater", "criterion", "answer", "kind")]
    return [Coder(few), *(Coder([name]) for name in names if name not in few)]


class _Table:
    """Builds codes from long rows; whatever is wrong is told with its rows."""

    def __init__(
        self,
        columns: dict[str, Column],
        how: Reading,
        source: str,
        records: Sequence[tuple[int, int, int]],
    ) -> None:
        self.columns, self.how, self.source = columns, how, source
        self.anonymous = how.anonymous or "rater" not in columns
        self.excluded: list[dict[str, Any]] = []
        self._records = records
        self._kept: NDArray[np.intp] | None = None

    @property
    def height(self) -> int:
        """Rows."""
        return len(self.columns["answer"].rows)

    def _record(self, wrong: NDArray[np.bool_]) -> list[int]:
        """The records that some rows come from; made when asked, for most tables are in order."""
        parts = [
            np.tile(np.arange(first, first + height), times)
            for first, height, times in self._records
        ]
        record = np.concatenate(parts)
        if self._kept is not None:
            record = record[self._kept]
        return [int(one) for one in record[wrong]]

    def build(self) -> RatingTable:
        """The table of codes."""
        self._check_names()
        self._leave_out_empty()
        columns = self.columns
        if "criterion" not in columns:
            columns["criterion"] = coded([ALL], np.zeros(self.height, np.int32))
        self.unit_keys = ["item", *(name for name in SLICES[:2] if name in columns)]
        if "rater" not in columns:
            columns["rater"] = self._numbered()
        self._first_occasion()
        kinds = self._kinds()
        units, unit_of = self._units()
        cells = self._cells(unit_of, units.height)
        with ThreadPoolExecutor(_THREADS) as pool:
            tables = list(pool.map(self._criterion, columns["criterion"].texts, cells))
        raters = tuple(columns["rater"].texts)
        return RatingTable(raters, kinds, units, tables, self.anonymous, self.excluded)

    def _cells(self, unit_of: Places, units: int) -> NDArray[Any]:
        """Answers by criterion, rater and unit.

        An answer is its place among all answers, and the number of these where there is none.
        """
        criterion, rater, answer = (self.columns[key] for key in ("criterion", "rater", "answer"))
        answers = len(answer.texts)
        shape = len(criterion.texts), len(rater.texts), units
        if prod(shape) > MOST_CELLS:
            raise SourceError(
                f"{self.source}: {shape[0]:,} criteria by {shape[1]:,} raters by {shape[2]:,} "
                "items are more than can be held; compare fewer at a time"
            )
        cells = np.full(prod(shape), answers, np.min_scalar_type(answers))

        if criterion.rows is rater.rows is answer.rows:  # looked up together
            rows = answer.rows
            row_of = (criterion.of * np.int32(shape[1]) + rater.of) * np.int32(units)
            given = answer.of.astype(cells.dtype)
        else:
            rows = np.arange(len(unit_of))
            row_of = criterion.place.astype(np.int32) * np.int32(shape[1])
            row_of = (row_of + rater.place) * np.int32(units)
            given = answer.place.astype(cells.dtype)

        def fill(start: int) -> None:
            part = slice(start, start + _BLOCK)  # which stays near the processor
            cells[row_of.take(rows[part]) + unit_of[part]] = given.take(rows[part])

        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(fill, range(0, len(unit_of), _BLOCK)))
        if np.count_nonzero(cells != answers) < len(unit_of):
            self._refuse_repeats(unit_of)
        return cells.reshape(shape)

    def _criterion(self, name: str, places: NDArray[Any]) -> CriterionTable:
        """Places among all answers become codes on the scale of the criterion."""
        answers = self.columns["answer"].texts
        used = np.flatnonzero(
            np.bincount(places.reshape(-1), minlength=len(answers))[: len(answers)]
        )
        values = values_of(self.how, self.source, name, [answers[one] for one in used])
        code = np.full(len(answers) + 1, ABSENT, np.uint8)
        is_na = values.codes == NA_MARK
        code[used] = np.where(is_na, len(values.ruler.labels), values.codes)
        wrong = used[values.codes == WRONG]
        if len(wrong):
            self._refuse_answers(name, wrong)
        return CriterionTable(name, _mapped(places, code), values.ruler, bool(is_na.any()))

    # -- names

    def _check_names(self) -> None:
        for name in ("item", "rater"):
            if name in self.columns:
                found = self.columns[name]
                wrong = [] if are_plain(found.texts) else _no_names(found.texts)
                if wrong or found.empty:
                    self._refuse(np.isin(found.place, [*wrong, -1]), name, NAME_RULE)
        if "criterion" in self.columns and self.columns["criterion"].empty:
            nameless = self.columns["criterion"].place < 0
            self._refuse(nameless, "criterion", "required, but not there")
        if "rater" in self.columns:
            raters, rows = len(self.columns["rater"].texts), self.height
            if raters > MOST_RATERS and raters > rows // 2:
                raise SourceError(
                    f"{self.source}: {raters:,} different raters in {rows:,} rows; is "
                    "this the right column? Say --columns rater=NAME"
                )

    def _refuse(self, wrong: NDArray[np.bool_], path: str, message: str) -> None:
        """Name the first rows that are wrong, and how many more there are."""
        records = self._record(wrong)
        shown = [Fault(message, path, self.source, record=one) for one in records[:MOST_FAULTS]]
        if len(records) > MOST_FAULTS:
            more = f"and {len(records) - MOST_FAULTS:,} rows more"
            shown.append(Fault(more, path, self.source))
        raise RecordError(shown)

    def _keep(self, wanted: NDArray[np.bool_]) -> None:
        kept = np.flatnonzero(wanted)
        self._kept = kept if self._kept is None else self._kept[kept]
        self.columns = {name: one.only(wanted) for name, one in self.columns.items()}

    def _leave_out_empty(self) -> None:
        empty = self.columns["answer"].empty
        if empty:
            self.excluded.append({"reason": "no answer", "rows": empty})
            self._keep(self.columns["answer"].place >= 0)
        if not self.height:
            raise SourceError(f"{self.source}: there is no answer in it")

    def _kinds(self) -> dict[str, str]:
        if "kind" not in self.columns:
            return {}
        from calibrant.core.rating import RATER_KINDS

        rater, kind = self.columns["rater"], self.columns["kind"]
        kinds: dict[str, str] = {}
        for row in combined([rater, kind])[0]:
            name, written = rater.at(row), kind.at(row)
            if name is None or written is None:
                continue
            known = written.upper()
            if known not in RATER_KINDS:
                told = ", ".join(RATER_KINDS)
                raise SourceError(f"{self.source}: kind {known[:40]!r} is not one of {told}")
            if kinds.setdefault(name, known) != known:
                raise SourceError(f"{self.source}: rater {name!r} is {kinds[name]} and {known}")
        return kinds

    # -- units and repeats

    def _units(self) -> tuple[pl.DataFrame, Places]:
        """What was rated, and the unit of every row."""
        keys = [self.columns[name] for name in self.unit_keys]
        if len(keys) == 1 and "time" not in self.columns:
            return pl.DataFrame({"item": keys[0].texts}), keys[0].place
        first, place = combined(keys)
        texts = {name: [self.columns[name].at(row) for row in first] for name in self.unit_keys}
        if "time" in self.columns:
            texts["time"] = self._months(place, len(first))
        return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String)), place

    def _months(self, unit_of: Places, units: int) -> list[str | None]:
        """The month in which each unit was first rated; only days such as 2026-01-31 tell it."""
        time = self.columns["time"]
        order = sorted(range(len(time.texts)), key=time.texts.__getitem__)
        rank = np.full(len(order) + 1, len(order))  # the last is for no time at all
        rank[order] = np.arange(len(order))
        first = np.full(units, len(order))
        np.minimum.at(first, unit_of, rank[time.place])
        months = [time.texts[at][:7] if _DAY.match(time.texts[at]) else None for at in order]
        return [*map([*months, None].__getitem__, first)]

    def _numbered(self) -> Column:
        """Raters by their number among the answers to one criterion of a unit."""
        _, cell = combined([self.columns[name] for name in (*self.unit_keys, "criterion")])
        number = pl.int_range(pl.len(), dtype=pl.Int32).over("cell").alias("number")
        place = pl.DataFrame({"cell": cell}).select(number)["number"].to_numpy()
        return coded([f"rater {at + 1}" for at in range(int(place.max()) + 1)], place)

    def _first_occasion(self) -> None:
        """A rater's later answers to one item are for self-agreement, not for comparing raters."""
        if "occasion" not in self.columns:
            return
        occasion = self.columns["occasion"]
        keys = [self.columns[name] for name in (*self.unit_keys, "rater", "criterion")]
        _, cell = combined(keys)
        rank = _ranks(occasion.texts)[occasion.place]  # no occasion, at -1, comes first
        earliest = np.full(int(cell.max()) + 1, len(occasion.texts) + 1)
        np.minimum.at(earliest, cell, rank)
        first = rank == earliest[cell]
        later = len(first) - int(np.count_nonzero(first))
        if later:
            self.excluded.append({"reason": "a later occasion of the same rater", "rows": later})
            self._keep(first)

    def _refuse_repeats(self, unit_of: Places) -> None:
        columns = [coded([""] * (int(unit_of.max()) + 1), unit_of)]
        columns += [self.columns["rater"], self.columns["criterion"]]
        first, _ = combined(columns)
        again = np.ones(self.height, np.bool_)
        again[first] = False
        message = "a second answer by one rater to one item; tell repeats apart by `occasion`"
        self._refuse(again, "rater", message)

    def _refuse_answers(self, criterion: str, wrong: NDArray[np.intp]) -> None:
        """What is no answer, with its rows: nothing is computed from garbage."""
        answer, asked = self.columns["answer"], self.columns["criterion"]
        bad = np.isin(answer.place, wrong)
        bad &= asked.place == asked.texts.index(criterion)
        expected = (
            "is not an answer of the rubric"
            if self.how.rubric is not None
            else f"is not an answer on a scale at the {self.how.level} level"
        )
        where = "" if criterion == ALL else f" to {criterion}"
        told = ", ".join(repr(answer.texts[one][:40]) for one in wrong[:5])
        self._refuse(bad, "answer", f"{told} {expected}{where}")


_DAY = re.compile(r"\d{4}-\d{2}(-|$)")
_BLOCK = 1 << 18
_FEW = 32
"""Answers up to which looking for each is quicker than counting all."""


def _used(places: NDArray[Any], answers: int) -> NDArray[np.intp]:
    """Which answers were given."""
    if answers > _FEW:
        return np.flatnonzero(np.bincount(places.reshape(-1), minlength=answers)[:answers])
    return np.flatnonzero([(places == one).any() for one in range(answers)])


def _mapped(places: NDArray[Any], code: Codes) -> Codes:
    """The code of each place; bytes are translated quicker than they are looked up."""
    if places.dtype != np.uint8:
        return code.take(places)
    table = np.full(256, ABSENT, np.uint8)
    table[: len(code)] = code
    found = places.tobytes().translate(table.tobytes())
    return np.frombuffer(found, np.uint8).reshape(places.shape)


def _no_names(texts: Sequence[str]) -> list[int]:
    return [at for at, text in enumerate(texts) if not read_name(text)]


def _ranks(texts: Sequence[str]) -> NDArray[np.int64]:
    """From 1, by number where all are numbers; and 0 at the end, for no text at all."""
    numbers = [number_of(text) for text in texts]
    plain = all(number is not None for number in numbers)
    keys = numbers if plain else texts
    order = sorted(range(len(texts)), key=lambda at: keys[at])  # type: ignore[arg-type,return-value]
    ranks = np.zeros(len(texts) + 1, np.int64)
    ranks[order] = np.arange(1, len(texts) + 1)
    return ranks
