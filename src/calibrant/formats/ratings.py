"""Files of answers, in any of their forms, as batches of coded sheets.

Forms: *long* rows (``item, rater, criterion, answer``), *sheets* (one JSON object an item with
``answers``), *wide* tables (one column a criterion). The form is told from the first record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.rating_columns import folded
from calibrant.core.errors import SourceError, UnknownName, one_line
from calibrant.formats.coding import Assembler, Batch, Coder, OnFault
from calibrant.formats.long_rows import LongRows, misspelt
from calibrant.formats.records import (
    Record,
    Records,
    file_kind,
    parquet_frames,
    parse_line,
    read_records,
    require_file,
)
from calibrant.formats.sheet_records import SheetRecords
from calibrant.formats.tables import Table, open_csv, open_xlsx
from calibrant.formats.text import Encoding, detect_encoding, read_blocks
from calibrant.formats.wide_tables import WideTable


@dataclass(slots=True)
class Progress:
    """How far reading has come."""

    total: int
    """Size of the file in bytes."""
    done: int = 0


@dataclass(slots=True)
class AnswerFile:
    """A file of answers that is being read."""

    path: Path
    batches: Iterator[Batch]
    progress: Progress
    notes: list[str] = field(default_factory=list)


def read_answers(
    path: Path,
    coder: Coder,
    on_fault: OnFault,
    *,
    encoding: str | None = None,
    ignore: Iterable[str] = (),
) -> AnswerFile:
    """Batches of the sheets in a file; ``on_fault`` is told of every bad record."""
    require_file(path)
    assembler = Assembler(coder, str(path), on_fault, ignore)
    progress = Progress(path.stat().st_size)
    match file_kind(path):
        case "jsonl":
            file = _lines(path, assembler, progress, encoding)
        case "json":
            file = _document(path, assembler, progress, encoding)
        case "csv":
            file = _table(path, open_csv(path, encoding), assembler, progress)
        case "xlsx":
            file = _table(path, open_xlsx(path), assembler, progress)
        case "parquet":
            file = _parquet(path, assembler, progress)
    file.batches = once(file.batches, assembler)
    return file


def _lines(
    path: Path, assembler: Assembler, progress: Progress, encoding: str | None
) -> AnswerFile:
    found = detect_encoding(path, encoding)
    notes = found.notes(path)
    first = _first_record(path, found)
    if _is_long(first):
        records = read_records(path, encoding)
        return AnswerFile(path, _folded(records, assembler), progress, notes)
    _same_rubric(path, first, assembler)

    def batches() -> Iterator[Batch]:
        sheets = SheetRecords(assembler, path)
        for block in read_blocks(path, found):
            progress.done = block.end
            batch = sheets.block(block)
            if batch is not None:
                yield batch

    return AnswerFile(path, batches(), progress, notes)


def _first_record(path: Path, encoding: Encoding) -> object:
    """The first record that can be read; a broken line does not decide the form of a file."""
    empty = True
    for block in read_blocks(path, encoding):
        for line in block.lines()[:10_000]:
            if line.strip():
                empty = False
                record = parse_line(path, 1, line)
                if record.fault is None:
                    return record.value
        if not empty:
            return None
    raise SourceError(f"{path}: the file is empty")


def _document(
    path: Path, assembler: Assembler, progress: Progress, encoding: str | None
) -> AnswerFile:
    records = read_records(path, encoding)
    listed = list(records.stream)
    if not listed:
        raise SourceError(f"{path}: the file is empty")
    stream: Iterator[Record] = iter(listed)
    if _is_long(listed[0].value):
        records = Records("json", stream)
        return AnswerFile(path, _folded(records, assembler), progress, records.notes)
    _same_rubric(path, listed[0].value, assembler)
    return AnswerFile(path, SheetRecords(assembler, path).records(stream), progress, records.notes)


def _same_rubric(path: Path, first: object, assembler: Assembler) -> None:
    """Whether the first sheet answers any criterion at all: otherwise none of them will."""
    answers = first.get("answers") if isinstance(first, dict) else None
    if not isinstance(answers, dict) or len(answers) < 2:
        return
    for name in answers:
        with suppress(UnknownName):
            assembler.criterion_row(name)
            return
    names = ", ".join(list(answers)[:3])
    raise SourceError(
        f"{path}: none of the answers of its first sheet ({one_line(names[:80])} …) is to a "
        f"criterion of {assembler.coder.rubric.name}; is it the right rubric?"
    )


def _table(path: Path, table: Table, assembler: Assembler, progress: Progress) -> AnswerFile:
    names = folded(str(path), table.names)
    notes = list(table.notes)
    if not {"criterion", "answer"} <= set(names):
        batches = WideTable(assembler, table.names).rows(table.rows)
        return AnswerFile(path, batches, progress, notes)

    _spelled(path, names, assembler)

    def records() -> Iterator[Record]:
        for row in table.rows:
            value = dict(zip(names, row.cells, strict=True)) if row.fault is None else None
            yield Record(row.number, value, row.fault)

    return AnswerFile(
        path, _folded(Records("csv", records(), table=True), assembler), progress, notes
    )


def _spelled(path: Path, names: list[str], assembler: Assembler) -> None:
    """A misspelt column of a long table is one mistake, not one for each row."""
    meant = {name: misspelt(name, assembler.ignore) for name in names}
    wrong = [
        f"{path}: column {name!r} is not known (did you mean {near!r}? --ignore {name} leaves it "
        "aside)"
        for name, near in meant.items()
        if near is not None
    ]
    if wrong:
        raise SourceError("\n".join(wrong))


def _parquet(path: Path, assembler: Assembler, progress: Progress) -> AnswerFile:
    frames = parquet_frames(path)
    first = next(frames, None)
    if first is None or first.width == 0:
        raise SourceError(f"{path}: the file is empty")
    names = folded(str(path), first.columns)
    if {"criterion", "answer"} <= set(names):
        _spelled(path, names, assembler)
        rows = (
            Record(number, value)
            for number, value in enumerate(_frame_rows(first, frames, names), 1)
        )
        return AnswerFile(path, _folded(Records("parquet", rows, table=True), assembler), progress)

    def batches() -> Iterator[Batch]:
        wide = WideTable(assembler, first.columns)
        number = 1
        for frame in _chain(first, frames):
            if frame.height:
                yield wide.frame(frame, number)
            number += frame.height

    return AnswerFile(path, batches(), progress)


def _chain(first: pl.DataFrame, rest: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    yield first
    yield from rest


def _frame_rows(
    first: pl.DataFrame, rest: Iterator[pl.DataFrame], names: list[str]
) -> Iterator[dict[str, object]]:
    for frame in _chain(first, rest):
        yield from frame.rename(dict(zip(frame.columns, names, strict=True))).iter_rows(named=True)


def _folded(records: Records, assembler: Assembler) -> Iterator[Batch]:
    rows = LongRows(assembler, records.table)
    rows.fold(records.stream)
    yield from rows.batches()


def _is_long(record: object) -> bool:
    return isinstance(record, dict) and "criterion" in record and "answers" not in record


class _Seen:
    """Which keys have come before, at eight bytes a key.

    While ids come in ascending order none can be a repetition, and hashes are only laid by.
    After that, hashes of earlier batches are kept sorted; a handful of recent batches wait
    beside the main array, so that merging stays cheap.
    """

    def __init__(self) -> None:
        self.main: NDArray[np.uint64] = np.empty(0, np.uint64)
        self.recent: list[NDArray[np.uint64]] = []
        self._last: str | None = ""
        """The greatest id so far; None once the order was broken."""

    def repeated(self, keys: pl.DataFrame) -> NDArray[np.bool_]:
        """Which of these keys stood before, here or in an earlier batch."""
        hashes = keys.hash_rows(seed=7).to_numpy()
        if self._ascends(keys):
            self.recent.append(hashes)
            return np.zeros(len(hashes), bool)
        return self._looked_up(hashes)

    def _ascends(self, keys: pl.DataFrame) -> bool:
        """Whether every id is greater than all before it."""
        if self._last is None:
            return False
        ids = keys["id"]
        ordered = bool((ids.gather_every(1, 1) > ids.head(-1)).all()) and ids[0] > self._last
        self._last = ids[-1] if ordered else None
        if not ordered:
            self._merge()
        return ordered

    def _merge(self) -> None:
        self.main = np.sort(np.concatenate([self.main, *self.recent]))
        self.recent = []

    def _looked_up(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        again = np.zeros(len(hashes), bool)
        again[1:] = ordered[1:] == ordered[:-1]
        for known in (self.main, *self.recent):
            if len(known):  # looking up in ascending order walks through memory, not across it
                place = np.minimum(np.searchsorted(known, ordered), len(known) - 1)
                again |= known[place] == ordered
        self.recent.append(ordered)
        if len(self.recent) > 8:
            self._merge()
        unsorted = np.empty_like(again)
        unsorted[order] = again
        return unsorted


def once(batches: Iterator[Batch], assembler: Assembler) -> Iterator[Batch]:
    """The batches without sheets that stood before; each of those is told."""
    seen = _Seen()
    for batch in batches:
        if not batch.keys.height:
            continue
        again = seen.repeated(batch.keys)
        for at in np.flatnonzero(again).tolist():
            key = ", ".join(
                f"{name} {value!r}" for name, value in batch.keys.row(at, named=True).items()
            )
            hint = "tell repeats apart by `occasion`"
            assembler.fault(int(batch.numbers[at]), "id", f"a second sheet for {key}", hint)
        kept = batch.keep(~again)
        if kept.keys.height:
            yield kept
