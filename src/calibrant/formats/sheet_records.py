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
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE

_FIELDS = ("id", *KEYS, "kind", "rubric")
"""Text fields that bulk decoding knows."""


class SheetRecords:
    """Reads blocks of lines, or single records, into batches."""

    def __init__(self, assembler: Assembler, path: Path) -> None:
        self.assembler, self.coder, self.path = assembler, assembler.coder, path
        self._fields = tuple(name for name in _FIELDS if name not in assembler.ignore)
        self._decoder, self._codes = self._compile()
        names = [f"c{row}" for row in range(len(self.coder.rows))]
        self._answers_of = [attrgetter(name) for name in names]

    def _compile(self) -> tuple[msgspec.json.Decoder[Any], list[dict[Any, int]]]:
        """A decoder of lines whose answers are all plain, and the codes of those answers."""
        rubric, codes, answers = self.coder.rubric, [], []
        for row, criterion in enumerate(rubric.criteria):
            words = [str(value) for value in rubric.scale_of(criterion).points_of_scale] + ["NA"]
            plain: list[Any] = [one for word in words for one in (word, word.lower())]
            plain += [one for one in self.coder.book.values[row] if isinstance(one, int)]
            table = {word: self.coder.code(row, word) for word in dict.fromkeys(plain)}
            table = {word: code for word, code in table.items() if code != ERROR_CODE}
            codes.append({**table, msgspec.UNSET: MISSING_CODE})
            kind = Literal[tuple(table)]  # type: ignore[valid-type]
            answers.append((f"c{row}", kind | msgspec.UnsetType, msgspec.UNSET))
        rename = {f"c{row}": name for row, name in enumerate(rubric.criterion_ids)}
        sheet = msgspec.defstruct(
            "Answers", answers, rename=rename, forbid_unknown_fields=True, gc=False
        )
        text = str | int | msgspec.UnsetType
        others = [(name, text, msgspec.UNSET) for name in self._fields if name != "id"]
        flags = ("flags", list[str] | msgspec.UnsetType, msgspec.UNSET)
        line = msgspec.defstruct(
            "Line",
            [("id", str | int), ("answers", sheet), *others, flags],
            forbid_unknown_fields=True,
            gc=False,
        )
        return msgspec.json.Decoder(line), codes

    def block(self, block: Block) -> Batch | None:
        """The sheets of a block of lines."""
        lines: list[Any]
        try:
            lines = self._decoder.decode_lines(block.data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._with_care(block)
        if b"\\" in block.data or len(lines) != len(block.lines()):
            return self._with_care(block)
        batch, keys = self._coded(
            lines, list(range(block.first_line, block.first_line + len(lines)))
        )
        if block.data.count(b":") != keys:
            return self._with_care(block)
        return self.assembler.batch(*batch)

    def _with_care(self, block: Block) -> Batch | None:
        """Line by line: in bulk what is plain, through the careful reader what is not."""
        plain: list[Any] = []
        numbers: list[int] = []
        records: list[tuple[int, Mapping[str, Any]]] = []
        for offset, line in enumerate(block.lines()):
            number = block.first_line + offset
            if not line.strip():
                continue
            decoded = self._plain(line)
            if decoded is None:
                record = self.record(parse_line(self.path, number, line))
                if record is None:
                    continue
                records.append((len(plain), record))
                decoded = self._decoder.decode(b'{"id":"","answers":{}}')
            plain.append(decoded)
            numbers.append(number)
        if not plain:
            return None
        (_, fields, codes, given), _ = self._coded(plain, numbers)
        return self.assembler.batch(numbers, *self._amend(fields, codes, given, records))

    def _plain(self, line: bytes) -> Any | None:
        """The line decoded, if it is plain beyond doubt."""
        if b"\\" in line:
            return None
        try:
            decoded = self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        answered = sum(answer(decoded.answers) is not msgspec.UNSET for answer in self._answers_of)
        keys = (
            2
            + answered
            + sum(
                1 + _colons([value])
                for value in map(decoded.__getattribute__, (*self._fields[1:], "flags"))
                if value is not msgspec.UNSET
            )
        )
        return decoded if line.count(b":") == keys + _colons([decoded.id]) else None

    def _coded(self, lines: list[Any], numbers: list[int]) -> tuple[tuple[Any, ...], int]:
        """Fields and codes of decoded lines; how many colons they account for."""
        answers = [line.answers for line in lines]
        codes = np.empty((len(self._codes), len(lines)), np.uint8)
        for row, (table, answer) in enumerate(zip(self._codes, self._answers_of, strict=True)):
            codes[row] = np.fromiter(
                map(table.__getitem__, map(answer, answers)), np.uint8, len(lines)
            )
        keys = int((codes != MISSING_CODE).sum()) + 2 * len(lines)
        fields: dict[str, list[Any]] = {}
        for name in (*self._fields, "flags"):
            values = list(map(attrgetter(name), lines))
            unset = values.count(msgspec.UNSET) if name != "id" else 0
            keys += (len(values) - unset if name != "id" else 0) + _colons(values)
            if unset < len(values):
                fields[name] = [None if value is msgspec.UNSET else value for value in values]
        return (numbers, fields, codes, {}), keys

    def _amend(
        self,
        fields: dict[str, list[Any]],
        codes: Any,
        given: dict[tuple[int, int], str | None],
        records: list[tuple[int, Mapping[str, Any]]],
    ) -> tuple[Any, ...]:
        """Put the carefully read records in their places among the plain ones."""
        for at, record in records:
            for name in (*_FIELDS, "flags"):
                if record.get(name) is not None:
                    fields.setdefault(name, [None] * codes.shape[1])[at] = record[name]
                elif name == "id":
                    fields["id"][at] = None
            for row, raw in record["answers"].items():
                codes[row, at] = self.coder.code(row, raw)
                if codes[row, at] == ERROR_CODE and self.coder.shows_given[row]:
                    given[row, at] = as_given(raw)
        return fields, codes, given

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
                yield self._batch(numbers, careful)
                numbers, careful = [], []
        if numbers:
            yield self._batch(numbers, careful)

    def _batch(self, numbers: list[int], careful: list[tuple[int, Mapping[str, Any]]]) -> Batch:
        codes = np.full((len(self._codes), len(numbers)), MISSING_CODE, np.uint8)
        fields: dict[str, list[Any]] = {"id": [None] * len(numbers)}
        return self.assembler.batch(numbers, *self._amend(fields, codes, {}, careful))

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
    texts = (" ".join(value) if isinstance(value, list) else str(value) for value in values)
    return " ".join(texts).count(":")
