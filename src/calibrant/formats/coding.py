"""Raw answers become codes: the one place where files meet the scorebook.

Whatever the file, an answer is read by ``core.rating.read_answer`` and nothing else; what is
kept here is only the memory of what each spelling turned out to be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.core.answer import NA
from calibrant.core.criterion import RECORD_FIELDS
from calibrant.core.errors import Fault, suggestion
from calibrant.core.ids import NAME_RULE, PLAIN_NAME, read_name
from calibrant.core.rating import RATER_KINDS, as_text, read_answer, read_flags
from calibrant.core.rubric import Rubric
from calibrant.stats.runs import Codes
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE, NA_CODE, Scorebook

KEYS = ("rater", "round", "occasion")
"""What tells apart several sheets about one item."""
KNOWN = RECORD_FIELDS
"""Fields of a sheet or columns of a wide table that are not criteria."""

OnFault: TypeAlias = Callable[[Fault], None]


@dataclass(slots=True)
class Batch:
    """Coded sheets: one column of ``codes`` and one row of ``keys`` each."""

    keys: pl.DataFrame
    """``id``, and those of ``KEYS`` that the file has."""
    codes: Codes
    flags: NDArray[np.uint64]
    given: dict[tuple[int, int], str | None] = field(default_factory=dict)
    """What was handed in where it was no answer, by row and column of ``codes``."""
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """The record each sheet comes from."""

    def keep(self, wanted: NDArray[np.bool_]) -> Batch:
        """The sheets that are wanted."""
        if wanted.all():
            return self
        place = np.cumsum(wanted) - 1
        given = {(r, int(place[c])): text for (r, c), text in self.given.items() if wanted[c]}
        return Batch(
            self.keys.filter(pl.Series(wanted)),
            np.ascontiguousarray(self.codes[:, wanted]),
            self.flags[wanted],
            given,
            self.numbers[wanted],
        )


class Coder:
    """Codes of raw answers under one rubric, remembered by type and spelling."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self.book = Scorebook(rubric)
        self.saw_empty = False
        """Whether any cell of an answer was empty."""
        self.rows = {name: row for row, name in enumerate(rubric.criterion_ids)}
        self._seen: list[dict[tuple[type, Any], int]] = [{} for _ in rubric.criteria]
        self._plain = [self._spellings(row) for row in range(len(rubric.criteria))]

    def _spellings(self, row: int) -> tuple[pl.Enum, int]:
        """The canonical spellings in the order of their codes, and the code of the first."""
        values = [str(value) for value in self.book.values[row]]
        takes_na = self.code(row, NA) == NA_CODE
        return (pl.Enum([NA, *values]), NA_CODE) if takes_na else (pl.Enum(values), NA_CODE + 1)

    def code(self, row: int, raw: Any) -> int:
        """The code of one raw answer; ``None`` is JSON's null here, an error."""
        try:
            known = self._seen[row].get((raw.__class__, raw))
        except TypeError:  # a list or an object cannot be remembered, and is never an answer
            return ERROR_CODE
        if known is None:
            answer = read_answer(self.rubric, self.rubric.criteria[row], raw)
            known = self.book.encode(row, answer)
            if len(self._seen[row]) < 10_000:
                self._seen[row][raw.__class__, raw] = known
        return known

    def cells(self, row: int, cells: Sequence[Any]) -> Codes:
        """Codes of a table's column; ``None`` is an empty cell, a missing answer."""
        codes = (MISSING_CODE if cell is None else self.code(row, cell) for cell in cells)
        out = np.fromiter(codes, np.uint8, len(cells))
        self.saw_empty = self.saw_empty or bool((out == MISSING_CODE).any())
        return out

    def column(self, row: int, column: pl.Series) -> Codes:
        """Codes of a frame's column; null and NaN are empty cells."""
        if column.dtype.is_float():
            column = column.fill_nan(None)
        self.saw_empty = self.saw_empty or column.null_count() > 0
        if column.dtype.is_nested() or column.dtype == pl.Object:
            return self.cells(row, column.to_list())
        if isinstance(column.dtype, pl.Categorical | pl.Enum):
            column = column.cast(pl.String)
        if column.dtype == pl.String:
            spelled, first = self._plain[row]
            plain = column.cast(spelled, strict=False)
            if plain.null_count() == column.null_count():
                codes = plain.to_physical().cast(pl.UInt8) + first
                return codes.fill_null(MISSING_CODE).to_numpy()
        spellings = column.unique()
        if len(spellings) > len(column) // 2:
            return self.cells(row, column.to_list())
        found = pl.Series(self.cells(row, spellings.to_list()))
        return (
            column.replace_strict(spellings, found, return_dtype=pl.UInt8)
            .to_numpy()
            .astype(np.uint8, copy=False)
        )

    def given_in(
        self, row: int, codes: Codes, raw: Sequence[Any]
    ) -> dict[tuple[int, int], str | None]:
        """What was handed in where it is no answer."""
        if codes.max(initial=0) < ERROR_CODE:
            return {}
        wrong = np.flatnonzero(codes == ERROR_CODE).tolist()
        listed = _listed(raw)
        return {(row, at): as_given(listed[at]) for at in wrong}


class Assembler:
    """Coded answers and the fields around them become batches; what is wrong is told."""

    def __init__(self, coder: Coder, source: str, on_fault: OnFault, ignore: Iterable[str]) -> None:
        self.coder, self.source, self.on_fault = coder, source, on_fault
        self.ignore = frozenset(ignore)
        self.key_names: tuple[str, ...] | None = None
        self._flags: dict[str, int] = {}

    def fault(self, number: int | None, path: str, message: str, hint: str = "") -> None:
        """Tell what is wrong with a record."""
        self.on_fault(Fault(message, path, self.source, record=number, hint=hint))

    def criterion_row(self, name: str) -> int:
        """The row of a criterion by any of its names; raises ``UnknownName`` with a suggestion."""
        return self.coder.rows[self.coder.rubric.criterion(name).id]

    def batch(
        self,
        numbers: Sequence[int],
        fields: Mapping[str, Sequence[Any] | pl.Series],
        codes: Codes,
        given: dict[tuple[int, int], str | None],
    ) -> Batch:
        """A batch of the sheets whose fields are right."""
        good = np.ones(len(numbers), bool)
        columns = {"id": self._texts("id", fields.get("id", fields.get("item")), numbers, good)}
        for name in KEYS:
            if name in fields:
                columns[name] = self._texts(name, fields[name], numbers, good, optional=True)
        self._same_keys(columns, numbers, good)
        self._each("kind", fields, numbers, good, self.kind)
        self._each("rubric", fields, numbers, good, self.rubric)
        flags = np.zeros(len(numbers), np.uint64)
        if "flags" in fields:
            for at, value in enumerate(_listed(fields["flags"])):
                if value is not None and value not in ("", []):
                    bits = self.flag_bits(value, numbers[at])
                    good[at] &= bits is not None
                    flags[at] = bits or 0
        out = Batch(pl.DataFrame(columns), codes, flags, given, np.asarray(numbers, np.int64))
        return out.keep(good)

    # -- fields

    def _texts(
        self,
        name: str,
        values: Sequence[Any] | pl.Series | None,
        numbers: Sequence[int],
        good: NDArray[np.bool_],
        optional: bool = False,
    ) -> pl.Series:
        """A column of names as text; whole numbers are names too."""
        if isinstance(values, pl.Series) and _names(values.dtype):
            column = values.cast(pl.String)
        else:
            listed = [None] * len(numbers) if values is None else list(values)
            if not {type(value) for value in listed} <= {str, type(None)}:
                listed = [None if value is None else read_name(value) for value in listed]
            column = pl.Series(name, listed, dtype=pl.String)
        unsure = ~column.str.contains(PLAIN_NAME)
        if unsure.any():
            places = unsure.arg_true()
            read = [read_name(value) for value in column.gather(places).to_list()]
            column = column.scatter(places, pl.Series(read, dtype=pl.String))
        wrong = (column == "").fill_null(not optional)
        for at in wrong.arg_true().to_list():
            good[at] = False
            self.fault(numbers[at], name, NAME_RULE)
        return column.alias(name)

    def _same_keys(
        self, columns: dict[str, pl.Series], numbers: Sequence[int], good: NDArray[np.bool_]
    ) -> None:
        """Either all sheets of a file have a rater (a round, an occasion) or none has."""
        if self.key_names is None:
            self.key_names = tuple(name for name in KEYS if name in columns)
        for name in KEYS:
            column = columns.pop(name, None)
            if name in self.key_names:
                nobody = pl.repeat(None, len(numbers), dtype=pl.String, eager=True)
                columns[name] = nobody.alias(name) if column is None else column
            elif column is not None:
                for at in column.is_not_null().arg_true().to_list():
                    good[at] = False
                    self.fault(numbers[at], name, f"has a {name}, but earlier records have none")

    def _each(
        self,
        name: str,
        fields: Mapping[str, Sequence[Any] | pl.Series],
        numbers: Sequence[int],
        good: NDArray[np.bool_],
        complaint: Callable[[str], str | None],
    ) -> None:
        """Check a field that has few different values."""
        values = fields.get(name)
        if values is None:
            return
        verdicts: dict[str, str | None] = {}
        for at, value in enumerate(_listed(values)):
            if value is None:
                continue
            text = str(value)
            if text not in verdicts:
                verdicts[text] = complaint(text)
            message = verdicts[text]
            if message is not None:
                good[at] = False
                self.fault(numbers[at], name, message)

    @staticmethod
    def kind(text: str) -> str | None:
        """What is wrong with a rater's kind."""
        if text.strip().upper() in RATER_KINDS:
            return None
        return f"{text[:40]!r} is not one of {', '.join(RATER_KINDS)}"

    def rubric(self, text: str) -> str | None:
        """What is wrong with the rubric a record names."""
        rubric = self.coder.rubric
        if text.strip() in (rubric.id, rubric.name, rubric.hash):
            return None
        return (
            f"answered under {text[:80]!r}, scored under {rubric.name!r}: see "
            "`calibrant rubric diff`, and `--ignore rubric` to score all the same"
        )

    def flag_bits(self, value: Any, number: int) -> int | None:
        """Red flags of a record as bits; None where one cannot be read, which is told."""
        key = value if isinstance(value, str) else None
        if key is not None and key in self._flags:
            return self._flags[key]
        standing, faults = read_flags(self.coder.rubric, flag_list(value))
        for fault in faults:
            self.fault(number, "flags", fault.message)
        if faults:
            return None
        bits = self.coder.book.flag_bits(standing)
        if key is not None and len(self._flags) < 10_000:
            self._flags[key] = bits
        return bits


def as_given(raw: Any) -> str | None:
    """What was handed in, as text of bearable length."""
    return None if raw is None else as_text(raw)


def _listed(values: Sequence[Any] | pl.Series) -> Sequence[Any]:
    return values.to_list() if isinstance(values, pl.Series) else values


def _names(kind: pl.DataType) -> bool:
    """Whether a column of this type holds names: texts or whole numbers."""
    return kind.is_integer() or isinstance(kind, pl.String | pl.Categorical | pl.Enum)


def flag_list(value: Any) -> list[Any]:
    """Flags as a list; in one cell they stand between semicolons, commas or bars."""
    if isinstance(value, str):
        return [part.strip() for part in re.split("[;,|]", value) if part.strip()]
    return list(value) if isinstance(value, list | tuple) else [value]


def unknown_field(name: str, rubric: Rubric) -> str:
    """The hint for a field or column that is neither known nor a criterion."""
    near = suggestion(name, [*rubric.criterion_ids, *KNOWN])
    return "; ".join(filter(None, (near, f"--ignore {name} leaves it aside")))
