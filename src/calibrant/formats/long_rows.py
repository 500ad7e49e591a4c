"""Long rows of answers, ``item, rater, criterion, answer``, folded into sheets.

Rows may come in any order. What is kept of a sheet while the file is read is its key and one
byte a criterion, so memory grows with the number of sheets and not with the number of rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import isnan
from typing import Any

import numpy as np

from calibrant.core.criterion import RECORD_FIELDS
from calibrant.core.errors import SourceError, UnknownName, nearest
from calibrant.core.ids import NAME_RULE, read_name
from calibrant.formats.coding import KEYS, Assembler, Batch, as_given, flag_list
from calibrant.formats.records import Record
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE

STRANGERS = 50
"""Rows with unknown criteria, and no other, after which reading on makes no sense."""
SHEETS = 32_768
"""Sheets in a batch."""


def misspelt(name: str, ignore: Collection[str]) -> str | None:
    """The field that a name was probably meant to be; other names are nobody's business here."""
    known = name in RECORD_FIELDS or name in ignore
    return None if known else nearest(name, (*KEYS, "flags"))


class LongRows:
    """Folds records into sheets and hands them out as batches."""

    def __init__(self, assembler: Assembler, table: bool) -> None:
        self.assembler, self.coder = assembler, assembler.coder
        self.table = table
        self.sheets: dict[tuple[str | None, ...], int] = {}
        self.codes: list[bytearray] = []
        self.answered: list[int] = []
        self.first: list[int] = []
        self.given: dict[tuple[int, int], str | None] = {}
        self.flags: dict[int, list[Any]] = {}
        self.thrown_out: set[int] = set()
        self._rows: dict[Any, int] = {}
        self._strangers = 0
        self._known: dict[str, str | None] = dict.fromkeys(RECORD_FIELDS)
        """Fields that have come up, and what a misspelt one was meant to be."""

    def fold(self, records: Iterator[Record]) -> None:
        """Take in all records."""
        for record in records:
            if record.fault is not None:
                self.assembler.on_fault(record.fault)
            elif not isinstance(record.value, Mapping):
                self.assembler.fault(record.number, "", "must be an object")
            else:
                self._take(record.number, record.value)

    def _take(self, number: int, value: Mapping[str, Any]) -> None:
        name = value.get("criterion")
        if isinstance(name, str) and name in self.assembler.ignore:
            return
        row = self._row(number, name)
        if row is None or not self._plain(number, value) or not self._spelled(number, value):
            return
        if "answer" not in value:
            self.assembler.fault(number, "answer", "required, but not there")
            return
        key = self._key(number, value)
        if key is None:
            return
        sheet = self.sheets.get(key)
        if sheet is None:
            sheet = self.sheets[key] = len(self.codes)
            self.codes.append(bytearray([MISSING_CODE]) * len(self.coder.rows))
            self.answered.append(0)
            self.first.append(number)
        if self.answered[sheet] >> row & 1:
            criterion = self.coder.rubric.criterion_ids[row]
            who = f" by {key[1]!r}" if key[1] is not None else ""
            message = f"a second answer to {criterion} of item {key[0]!r}{who}"
            self.assembler.fault(number, "criterion", message, "tell repeats apart by `occasion`")
            return
        self.answered[sheet] |= 1 << row
        self._answer(sheet, row, value["answer"])
        self._raise_flags(sheet, number, value.get("flags"))

    def _key(self, number: int, value: Mapping[str, Any]) -> tuple[str | None, ...] | None:
        """What tells the sheet of a row from all others; None where a name cannot be one."""
        ignore = self.assembler.ignore
        raw = [value.get("item", value.get("id"))]
        raw += [None if name in ignore else value.get(name) for name in KEYS]
        key = tuple(None if one is None else read_name(one) for one in raw)
        wrong = [name for name, one in zip(("id", *KEYS), key, strict=True) if one == ""]
        if key[0] is None:
            wrong = ["id", *wrong]
        for name in wrong:
            self.assembler.fault(number, name, NAME_RULE)
        return None if wrong else key

    def _raise_flags(self, sheet: int, number: int, flags: Any) -> None:
        """Flags of a row stand for its sheet; one that cannot be read throws the sheet out."""
        if flags is None or flags in ("", []) or "flags" in self.assembler.ignore:
            return
        if self.assembler.flag_bits(flags, number) is None:
            self.thrown_out.add(sheet)
        else:
            self.flags.setdefault(sheet, []).extend(flag_list(flags))

    def _answer(self, sheet: int, row: int, raw: Any) -> None:
        nothing = raw is None or (isinstance(raw, float) and isnan(raw))
        empty = self.table and nothing
        self.coder.saw_empty |= empty
        code = MISSING_CODE if empty else self.coder.code(row, raw)
        self.codes[sheet][row] = code
        if code == ERROR_CODE:
            self.given[row, sheet] = as_given(raw)

    def _row(self, number: int, name: Any) -> int | None:
        if name not in self._rows if isinstance(name, str) else True:
            try:
                self._rows[name] = self.assembler.criterion_row(str(name or ""))
            except UnknownName as error:
                self._unknown(number, name, error)
                return None
        return self._rows[name]

    def _unknown(self, number: int, name: Any, error: UnknownName) -> None:
        """Tell of a criterion that is not there; many and nothing else mean the wrong rubric."""
        if not name:
            self.assembler.fault(number, "criterion", "required, but not there")
            return
        hint = f"--ignore {str(name)[:80]} leaves it aside"
        self.assembler.fault(number, "criterion", str(error), hint)
        self._strangers += 1
        if self._strangers >= STRANGERS and not self.codes:
            raise SourceError(
                f"{self.assembler.source}: the first {STRANGERS} rows name no criterion of "
                f"{self.coder.rubric.name}; is it the right rubric?"
            )

    def _spelled(self, number: int, value: Mapping[str, Any]) -> bool:
        """Whether no field is a misspelt one: other fields are nobody's business here."""
        good = True
        for name in value:
            if name not in self._known:
                self._known[name] = misspelt(name, self.assembler.ignore)
            if self._known[name] is not None:
                hint = f"did you mean {self._known[name]!r}? --ignore {name} leaves it aside"
                self.assembler.fault(number, name, "unknown field", hint)
                good = False
        return good

    def _plain(self, number: int, value: Mapping[str, Any]) -> bool:
        """Whether kind and rubric of the record are right."""
        good = True
        for name, complaint in (("kind", self.assembler.kind), ("rubric", self.assembler.rubric)):
            field = value.get(name)
            if field is None or name in self.assembler.ignore:
                continue
            message = complaint(str(field))
            if message is not None:
                self.assembler.fault(number, name, message)
                good = False
        return good

    def batches(self) -> Iterator[Batch]:
        """The sheets, in the order in which their first rows came."""
        keys = list(self.sheets)
        kept = [at for at in range(len(keys)) if at not in self.thrown_out]
        named = [name for at, name in enumerate(KEYS, 1) if any(keys[one][at] for one in kept)]
        for start in range(0, len(kept), SHEETS):
            part = kept[start : start + SHEETS]
            fields: dict[str, list[Any]] = {"id": [keys[at][0] for at in part]}
            for name in named:
                fields[name] = [keys[at][1 + KEYS.index(name)] for at in part]
            fields["flags"] = [self.flags.get(at) for at in part]
            codes = np.frombuffer(b"".join(self.codes[at] for at in part), np.uint8)
            table = np.ascontiguousarray(codes.reshape(len(part), -1).T)
            place = {at: column for column, at in enumerate(part)}
            given = {
                (row, place[at]): text for (row, at), text in self.given.items() if at in place
            }
            yield self.assembler.batch([self.first[at] for at in part], fields, table, given)
