"""Sheets as JSON: one object an item, ``{"id", "answers": {…}, "flags": […]}``.

Lines of the expected form are decoded in bulk. A line that is not (an unknown field, an answer
off the scale, a repeated key, broken JSON) is read again with care, by itself. Bulk decoding
keeps the last of repeated keys, so a repetition must not get past: every key is followed by a
colon, and a block with more colons than decoded keys and values account for is read with care.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from calibrant.core.errors import UnknownName
from calibrant.formats.coding import KEYS, KNOWN, Assembler, Batch, as_given, unknown_field
from calibrant.formats.records import Record, parse_line
from calibrant.formats.text import Block
from calibrant.stats.runs import Codes
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE

_FIELDS = ("id", *KEYS, "kind", "rubric")
"""Text fields that bulk decoding knows."""


class SheetRecords:
    """Reads blocks of lines, or single records, into batches."""

    def __init__(self, assembler: Assembler, path: Path) -> None:
        self.assembler, self.coder, self.path = assembler, assembler.coder, path
        self._decoder: msgspec.json.Decoder[Any] | None = None
        self._fields: tuple[str, ...] = ()
        self._codes = self._plain_answers()
        self._answers_of = [attrgetter(f"c{row}") for row in range(len(self._codes))]

    def _plain_answers(self) -> list[dict[Any, int]]:
        """By criterion, the answers that need no care, and their codes."""
        tables: list[dict[Any, int]] = []
        for row, criterion in enumerate(self.coder.rubric.criteria):
            points = self.coder.rubric.scale_of(criterion).points_of_scale
            words = [*map(str, points), "NA"]
            plain = [*words, *map(str.lower, words), *(one for one in points if type(one) is int)]
            codes = {word: self.coder.code(row, word) for word in plain}
            tables.append({word: code for word, code in codes.items() if code != ERROR_CODE})
        return tables

    def _compile(self, first: Any) -> None:
        """A decoder for lines with the same fields as the first and answers that are all plain."""
        known = {*_FIELDS, "flags"} - self.assembler.ignore
        given = first if isinstance(first, Mapping) else {}
        self._fields = ("id", *sorted(known.intersection(given) - {"id"}))
        answers = [
            (f"c{row}", Literal[tuple(table)] | msgspec.UnsetType, msgspec.UNSET)
            for row, table in enumerate(self._codes)
        ]
        rename = {f"c{row}": name for row, name in enumerate(self.coder.rubric.criterion_ids)}
        for table in self._codes:
            table[msgspec.UNSET] = MISSING_CODE
        kinds: list[tuple[str, Any]] = [
            (name, list[str] if name == "flags" else str | int) for name in self._fields
        ]
        sheet = msgspec.defstruct(
            "Answers", answers, rename=rename, forbid_unknown_fields=True, gc=False
        )
        line = msgspec.defstruct(
            "Line", [*kinds, ("answers", sheet)], forbid_unknown_fields=True, gc=False
        )
        self._decoder = msgspec.json.Decoder(line)

    def block(self, block: Block) -> Batch | None:
        """The sheets of a block of lines."""
        if self._decoder is None:
            first = next((line for line in block.lines() if line.strip()), b"null")
            self._compile(parse_line(self.path, 1, first).value)
        try:
            lines = self._decoder.decode_lines(block.data)  # type: ignore[union-attr]
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._with_care(block)
        ends = block.count(b"\n") + (not block.data.endswith(b"\n"))
        if b"\\" in block.data or len(lines) != ends:
            return self._with_care(block)
        fields, codes, keys = self._coded(lines)
        if block.count(b":") != keys:
            return self._with_care(block)
        numbers = range(block.first_line, block.first_line + len(lines))
        return self.assembler.batch(numbers, fields, codes, {})

    def _with_care(self, block: Block) -> Batch | None:
        """Line by line: in bulk what is plain, through the careful reader what is not."""
        plain: list[tuple[int, Any]] = []
        careful: list[tuple[int, Mapping[str, Any]]] = []
        numbers: list[int] = []
        for offset, line in enumerate(block.lines()):
            number = block.first_line + offset
            decoded = self._plain(line) if line.strip() else None
            if decoded is not None:
                plain.append((len(numbers), decoded))
            elif line.strip():
                record = self.record(parse_line(self.path, number, line))
                if record is None:
                    continue
                careful.append((len(numbers), record))
            else:
                continue
            numbers.append(number)
        return self._batch(numbers, plain, careful) if numbers else None

    def _plain(self, line: bytes) -> Any | None:
        """The line decoded, if it is plain beyond doubt."""
        if b"\\" in line or self._decoder is None:
            return None
        try:
            decoded = self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        answered = sum(get(decoded.answers) is not msgspec.UNSET for get in self._answers_of)
        return decoded if line.count(b":") == self._keys([decoded], answered) else None

    def _keys(self, lines: list[Any], answered: int) -> int:
        """How many colons the decoded lines account for."""
        inside = sum(_colons(list(map(attrgetter(name), lines))) for name in self._fields)
        return answered + len(lines) * (len(self._fields) + 1) + inside

    def _coded(self, lines: list[Any]) -> tuple[dict[str, list[Any]], Codes, int]:
        """Fields and codes of decoded lines; how many colons they account for."""
        codes = np.empty((len(self._codes), len(lines)), np.uint8)
        answers = [line.answers for line in lines]
        for row, (table, answer) in enumerate(zip(self._codes, self._answers_of, strict=True)):
            found = map(table.__getitem__, map(answer, answers))
            codes[row] = np.fromiter(found, np.uint8, len(lines))
        fields = {name: list(map(attrgetter(name), lines)) for name in self._fields}
        return fields, codes, self._keys(lines, int(np.count_nonzero(codes != MISSING_CODE)))

    def _batch(
        self,
        numbers: list[int],
        plain: list[tuple[int, Any]],
        careful: list[tuple[int, Mapping[str, Any]]],
    ) -> Batch:
        """Plain and careful records together, in their order."""
        n = len(numbers)
        codes = np.full((len(self._codes), n), MISSING_CODE, np.uint8)
        fields: dict[str, list[Any]] = {"id": [None] * n}
        given: dict[tuple[int, int], str | None] = {}
        if plain:
            places = [at for at, _ in plain]
            read, coded, _ = self._coded([line for _, line in plain])
            codes[:, places] = coded
            for name, values in read.items():
                column = fields.setdefault(name, [None] * n)
                for at, value in zip(places, values, strict=True):
                    column[at] = value
        for at, record in careful:
            for name in (*_FIELDS, "flags"):
                if record.get(name) is not None:
                    fields.setdefault(name, [None] * n)[at] = record[name]
            for row, raw in record["answers"].items():
                codes[row, at] = self.coder.code(row, raw)
                if codes[row, at] == ERROR_CODE and self.coder.shows_given[row]:
                    given[row, at] = as_given(raw)
        return self.assembler.batch(numbers, fields, codes, given)

    def records(self, records: Iterator[Record], size: int = 16_384) -> Iterator[Batch]:
        """Batches from parsed records."""
        numbers: list[int] = []
        careful: list[tuple[int, Mapping[str, Any]]] = []
        for parsed in records:
            record = self.record(parsed)
            if record is not None:
                careful.append((len(numbers), record))
                numbers.append(parsed.number)
            if len(numbers) == size:
                yield self._batch(numbers, [], careful)
                numbers, careful = [], []
        if numbers:
            yield self._batch(numbers, [], careful)

    def record(self, record: Record) -> dict[str, Any] | None:
        """One record read with care: fields by name, answers by row; None where it is faulty."""
        if record.fault is not None:
            self.assembler.on_fault(record.fault)
            return None
        value, number, faulty = record.value, record.number, False
        if not isinstance(value, Mapping):
            self.assembler.fault(number, "", "must be an object with id and answers")
            return None
        ignore = self.assembler.ignore
        sheet = {key: one for key, one in value.items() if key not in ignore}
        answers = sheet.pop("answers", None)
        if answers is None and "answers" not in value:
            # a row of a wide table: what is not a known field is a criterion
            answers = {key: one for key, one in sheet.items() if key not in KNOWN}
            sheet = {key: one for key, one in sheet.items() if key in KNOWN}
            answers = answers or None
        if not isinstance(answers, Mapping):
            self.assembler.fault(number, "answers", "must be an object of answers by criterion")
            return None
        for key in sheet:
            if key not in KNOWN:
                hint = unknown_field(key, self.coder.rubric)
                self.assembler.fault(number, key, "unknown field", hint)
                faulty = True
        by_row: dict[int, Any] = {}
        for name, raw in answers.items():
            if name in ignore:
                continue
            try:
                row = self.assembler.criterion_row(name)
            except UnknownName as error:
                self.assembler.fault(number, f"answers.{name[:80]}", str(error))
                faulty = True
                continue
            if row in by_row:
                criterion = self.coder.rubric.criterion_ids[row]
                self.assembler.fault(number, f"answers.{name}", f"{criterion} is answered twice")
                faulty = True
            by_row[row] = raw
        if faulty:
            return None
        sheet["id"] = sheet.get("id", sheet.get("item"))
        return {**sheet, "answers": by_row}


def _colons(values: list[Any]) -> int:
    """Colons inside the values of a text field, or of a list of texts."""
    try:
        return " ".join(values).count(":")
    except TypeError:  # whole numbers among the names, or lists of flags
        texts = (" ".join(value) if isinstance(value, list) else str(value) for value in values)
        return " ".join(texts).count(":")
