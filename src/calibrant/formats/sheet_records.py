"""Sheets as JSON: one object an item, ``{"id", "answers": {…}, "flags": […]}``.

Blocks of lines that all look like the first are read without a parser (``regular_lines``).
Other lines of the expected form are decoded in bulk, and answers spelled alike are read only
once: in any real file few patterns of answers make up most of the lines. A line that is not of
the expected form (an unknown field, an answer off the scale, a repeated key, broken JSON) is read
again with care, by itself. Bulk decoding keeps the last of repeated keys, so a repetition must
not get past: every key is followed by a colon, and a block with more colons than its keys and
values account for is read with care.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from calibrant.core.answer import NA
from calibrant.core.errors import UnknownName
from calibrant.formats.coding import KEYS, KNOWN, Assembler, Batch, Coder, as_given, unknown_field
from calibrant.formats.records import Record, parse_line
from calibrant.formats.regular_lines import RegularLines
from calibrant.formats.text import Block
from calibrant.stats.runs import Codes
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE

_FIELDS = ("id", *KEYS, "kind", "rubric")
"""Text fields that bulk decoding knows."""
MAX_SEEN = 100_000
"""Spellings of answers to remember."""
_Read: TypeAlias = tuple[bytes, int]
"""Codes of a sheet's answers, and how many there are."""


class SheetRecords:
    """Reads blocks of lines, or single records, into batches."""

    def __init__(self, assembler: Assembler, path: Path) -> None:
        self.assembler, self.coder, self.path = assembler, assembler.coder, path
        self._decoder: msgspec.json.Decoder[Any] | None = None
        self._regular: RegularLines | None = None
        self._fields: tuple[str, ...] = ()
        self._answers = _PlainAnswers(self.coder)

    def _compile(self, first: Any) -> msgspec.json.Decoder[Any]:
        """A decoder for lines with the same fields as the first."""
        known = {*_FIELDS, "flags"} - self.assembler.ignore
        given = first if isinstance(first, Mapping) else {}
        self._fields = ("id", *sorted(known.intersection(given) - {"id"}))
        kinds: list[tuple[str, Any]] = [
            (name, list[str] if name == "flags" else str | int) for name in self._fields
        ]
        line = msgspec.defstruct(
            "Line", [*kinds, ("answers", msgspec.Raw)], forbid_unknown_fields=True, gc=False
        )
        return msgspec.json.Decoder(line)

    def block(self, block: Block) -> Batch | None:
        """The sheets of a block of lines."""
        if self._decoder is None or self._regular is None:
            first = next((line for line in block.lines() if line.strip()), b"null")
            self._decoder = self._compile(parse_line(self.path, 1, first).value)
            known = frozenset(_FIELDS) - self.assembler.ignore
            self._regular = RegularLines(self.coder, first, known)
        numbers = range(block.first_line, block.first_line + block.line_count)
        regular = self._regular.read(block)
        if regular is not None:
            return self.assembler.batch(numbers, regular.fields, regular.codes, {})
        try:
            lines = self._decoder.decode_lines(block.data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._with_care(block)
        if b"\\" in block.data or not _one_each(block, len(lines)):
            return self._with_care(block)
        read = [self._answers.read(bytes(line.answers)) for line in lines]
        if None in read or block.count(b":") != self._keys(lines, read):
            return self._with_care(block)
        return self.assembler.batch(numbers, self._fields_of(lines), self._codes_of(read), {})

    def _with_care(self, block: Block) -> Batch | None:
        """Line by line: as it is what is plain, through the careful reader what is not."""
        plain: list[tuple[int, Any, _Read]] = []
        careful: list[tuple[int, Mapping[str, Any]]] = []
        numbers: list[int] = []
        for offset, line in enumerate(block.lines()):
            number = block.first_line + offset
            if not line.strip():
                continue
            decoded = self._plain(line)
            if decoded is not None:
                plain.append((len(numbers), *decoded))
            else:
                record = self.record(parse_line(self.path, number, line))
                if record is None:
                    continue
                careful.append((len(numbers), record))
            numbers.append(number)
        return self._batch(numbers, plain, careful) if numbers else None

    def _plain(self, line: bytes) -> tuple[Any, _Read] | None:
        """The line decoded, if it is plain beyond doubt."""
        if b"\\" in line or self._decoder is None:
            return None
        try:
            decoded = self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        read = self._answers.read(bytes(decoded.answers))
        if read is None or line.count(b":") != self._keys([decoded], [read]):
            return None
        return decoded, read

    def _keys(self, lines: list[Any], read: list[Any]) -> int:
        """How many colons the decoded lines account for."""
        inside = sum(_colons(list(map(attrgetter(name), lines))) for name in self._fields)
        answered = sum(map(itemgetter(1), read))
        return int(answered) + len(lines) * (len(self._fields) + 1) + inside

    def _fields_of(self, lines: list[Any]) -> dict[str, list[Any]]:
        return {name: list(map(attrgetter(name), lines)) for name in self._fields}

    def _codes_of(self, read: list[Any]) -> Codes:
        codes = np.frombuffer(b"".join(map(itemgetter(0), read)), np.uint8)
        return np.ascontiguousarray(codes.reshape(len(read), -1).T)

    def _batch(
        self,
        numbers: list[int],
        plain: list[tuple[int, Any, _Read]],
        careful: list[tuple[int, Mapping[str, Any]]],
    ) -> Batch:
        """Plain and careful records together, in their order."""
        n = len(numbers)
        codes = np.full((len(self.coder.rows), n), MISSING_CODE, np.uint8)
        fields: dict[str, list[Any]] = {"id": [None] * n}
        given: dict[tuple[int, int], str | None] = {}
        if plain:
            places = [at for at, _, _ in plain]
            codes[:, places] = self._codes_of([read for _, _, read in plain])
            for name, values in self._fields_of([line for _, line, _ in plain]).items():
                column = fields.setdefault(name, [None] * n)
                for at, value in zip(places, values, strict=True):
                    column[at] = value
        for at, record in careful:
            for name in (*_FIELDS, "flags"):
                if record.get(name) is not None:
                    fields.setdefault(name, [None] * n)[at] = record[name]
            for row, raw in record["answers"].items():
                codes[row, at] = self.coder.code(row, raw)
                if codes[row, at] == ERROR_CODE:
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
                hint = f"--ignore {name[:80]} leaves it aside"
                self.assembler.fault(number, f"answers.{name[:80]}", str(error), hint)
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


def _one_each(block: Block, records: int) -> bool:
    """Whether each line is one record: the decoder takes any white space between records."""
    data = block.data
    seams = data.count(b"}\n{") + data.count(b"}\r\n{")
    return block.line_count == records == seams + 1 and data.startswith(b"{")


class _PlainAnswers:
    """Codes of answers that need no care, remembered by their spelling in the file."""

    def __init__(self, coder: Coder) -> None:
        self._seen: dict[bytes, _Read | None] = {}
        self._codes = [self._table(coder, row) for row in range(len(coder.rows))]
        fields = [
            (f"c{row}", Literal[tuple(table)] | msgspec.UnsetType, msgspec.UNSET)
            for row, table in enumerate(self._codes)
        ]
        rename = {f"c{row}": name for row, name in enumerate(coder.rows)}
        sheet = msgspec.defstruct("Answers", fields, rename=rename, forbid_unknown_fields=True)
        self._decoder = msgspec.json.Decoder(sheet)
        for table in self._codes:
            table[msgspec.UNSET] = MISSING_CODE

    @staticmethod
    def _table(coder: Coder, row: int) -> dict[Any, int]:
        """The plain answers of a criterion and their codes."""
        points = coder.book.values[row]
        words = [*map(str, points), NA]
        plain = [*words, *map(str.lower, words), *(one for one in points if type(one) is int)]
        codes = {word: coder.code(row, word) for word in plain}
        return {word: code for word, code in codes.items() if code != ERROR_CODE}

    def read(self, raw: bytes) -> _Read | None:
        """Codes and number of keys of one sheet's answers; None where they need care."""
        if raw not in self._seen:
            if len(self._seen) >= MAX_SEEN:
                self._seen.clear()
            self._seen[raw] = self._decode(raw)
        return self._seen[raw]

    def _decode(self, raw: bytes) -> _Read | None:
        try:
            values = msgspec.structs.astuple(self._decoder.decode(raw))
        except (msgspec.DecodeError, RecursionError):
            return None
        codes = bytes(table[value] for table, value in zip(self._codes, values, strict=True))
        keys = len(codes) - codes.count(MISSING_CODE)
        return (codes, keys) if raw.count(b":") == keys else None


def _colons(values: list[Any]) -> int:
    """Colons inside the values of a text field, or of a list of texts."""
    try:
        return " ".join(values).count(":")
    except TypeError:  # whole numbers among the names, or lists of flags
        texts = (" ".join(value) if isinstance(value, list) else str(value) for value in values)
        return " ".join(texts).count(":")
