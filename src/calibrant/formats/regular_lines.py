"""Sheets as lines that all look like the first: read by columns, proved by writing them again.

Programs write sheets in one form: the same fields in the same order, then ``answers`` with the
same criteria in the same order, every answer in its canonical spelling. Such a block is read
without a parser: names are cut out between the texts that surround them, and each answer is told
from its first two bytes. That alone would believe anything, so the lines are written again from
what was read: only a block that comes out the same, byte for byte, was read right. Any other
block is left to the parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.core.answer import NA
from calibrant.formats.coding import Coder
from calibrant.formats.json_text import BadJson, parse_json
from calibrant.formats.pieces import Line, Pieces
from calibrant.formats.text import Block
from calibrant.stats.runs import Codes
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE

PATIENCE = 3
"""How many more blocks may fail than succeed before no more are tried."""


@dataclass(frozen=True, slots=True)
class Regular:
    """A block that was read: its fields, and the codes of its answers."""

    fields: dict[str, pl.Series]
    codes: Codes


@dataclass(frozen=True, slots=True)
class _Answer:
    """Where an answer stands in a line, and what it can be."""

    row: int
    before: str
    """The text between the answer before and this one."""
    values: list[str]
    codes: NDArray[np.uint8]
    """By value."""
    lengths: NDArray[np.int64]
    """Bytes of each value."""
    by_signs: NDArray[np.uint8]
    """Which value begins with these two bytes."""


class RegularLines:
    """Reads blocks whose lines look like the first one; says None to all others."""

    def __init__(self, coder: Coder, first: bytes, fields: frozenset[str]) -> None:
        self._width = len(coder.rows)
        self._befores: dict[str, str] = {}
        self._answers: list[_Answer] = []
        self._patience = 0
        try:
            record = parse_json(first)
            if isinstance(record, dict) and isinstance(record.get("answers"), dict):
                self._compile(coder, first.decode("utf-8"), record, fields)
                self._patience = PATIENCE
        except (BadJson, ValueError, KeyError):
            pass  # not a form that is known here

    def _compile(
        self, coder: Coder, line: str, record: dict[str, Any], fields: frozenset[str]
    ) -> None:
        """Take the texts around names and answers from the line itself."""
        *names, last = record
        answers = record["answers"]
        texts = [*(record[name] for name in names), *answers.values()]
        if last != "answers" or not answers or not fields.issuperset(names):
            raise ValueError("other fields")
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("other values")
        rest = line.rstrip("\n")
        for name in names:
            self._befores[name], rest = _cut(rest, name)
        skipped, rest = rest.split('"answers"', 1)
        for name in answers:
            before, rest = _cut(rest, name)
            first = f'{skipped}"answers"{before}' if not self._answers else before
            self._answers.append(_answer(coder, coder.rows[name], first))
        self._after = rest
        starts = ["", *(answer.before for answer in self._answers[1:])]
        self._pieces = Pieces(
            [
                [start + value for value in answer.values]
                for start, answer in zip(starts, self._answers, strict=True)
            ]
        )

    def read(self, block: Block) -> Regular | None:
        """The sheets of a block, if it is regular beyond doubt."""
        if self._patience <= 0 or b"\\" in block.data:
            return None
        try:
            read = self._read(block)
        except (pl.exceptions.PolarsError, IndexError):  # not text, or lines that are too short
            read = None
        self._patience += 1 if read else -1
        return read

    def _read(self, block: Block) -> Regular | None:
        lines = pl.read_csv(
            block.data,
            has_header=False,
            separator="\x01",
            quote_char=None,
            schema={"line": pl.String},
        )["line"]
        if lines.null_count() or len(lines) != block.line_count:
            return None
        fields, place = self._names(lines)
        if any(column.str.contains('"', literal=True).any() for column in fields.values()):
            return None  # cut in the wrong place
        codes, digits = self._codes(np.frombuffer(block.data, np.uint8), place)
        line = Line()
        for name, column in fields.items():
            line.add(self._befores[name], column)
        line.add(self._answers[0].before, *self._pieces.found(digits), self._after)
        return Regular(fields, codes) if line.texts().equals(lines) else None

    def _names(self, lines: pl.Series) -> tuple[dict[str, pl.Series], NDArray[np.int64]]:
        """The fields of each line, and the byte of the block at which its answers begin."""
        sizes = lines.str.len_bytes().cast(pl.Int64) + 1
        place = (sizes.cum_sum() - sizes).to_numpy(writable=True)
        befores = [*self._befores.values(), self._answers[0].before]
        fields: dict[str, pl.Series] = {}
        rest = lines.to_frame("rest")
        for at, name in enumerate(self._befores):
            end = pl.col("rest").str.find(befores[at + 1], literal=True).cast(pl.Int64)
            begin = len(befores[at])
            cut = pl.col("rest").str.slice(begin, end - begin).alias(name)
            fields[name], ends = rest.select(cut, end.alias("end")).get_columns()
            place += ends.fill_null(0).to_numpy()
            if at + 1 < len(self._befores):
                rest = rest.select(pl.col("rest").str.slice(end))
        place += len(befores[-1].encode())
        return fields, place

    def _codes(
        self, signs: NDArray[np.uint8], place: NDArray[np.int64]
    ) -> tuple[Codes, list[NDArray[np.uint8]]]:
        """The codes of all answers; and which of its values each answer is, in their order."""
        codes = np.full((self._width, len(place)), MISSING_CODE, np.uint8)
        digits = []
        for at, answer in enumerate(self._answers):
            if at:
                place += len(answer.before.encode())
            begins = signs.take(place).astype(np.uint16) << np.uint16(8)
            begins |= signs.take(place + 1)
            digit = answer.by_signs.take(begins)
            place += answer.lengths.take(digit)
            codes[answer.row] = answer.codes.take(digit)
            digits.append(digit)
        return codes, digits


def _cut(text: str, name: str) -> tuple[str, str]:
    """The text up to the value of a field, and the text that follows the value."""
    after_name = text.index(f'"{name}"') + len(name) + 2
    begin = text.index('"', after_name) + 1
    return text[:begin], text[text.index('"', begin) :]


def _answer(coder: Coder, row: int, before: str) -> _Answer:
    """What can be told of an answer without parsing."""
    spelled = [NA, *map(str, coder.book.values[row])]
    codes = {value: coder.code(row, value) for value in spelled}
    values = [value for value in spelled if codes[value] != ERROR_CODE]
    begins = [int.from_bytes(f'{value}"'.encode()[:2]) for value in values]
    if len(set(begins)) < len(values):
        raise ValueError("two answers begin alike")
    by_signs = np.zeros(1 << 16, np.uint8)
    by_signs[begins] = np.arange(len(values))
    return _Answer(
        row,
        before,
        values,
        np.array([codes[value] for value in values], np.uint8),
        np.array([len(value.encode()) for value in values], np.int64),
        by_signs,
    )
