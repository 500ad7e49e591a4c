"""From a file of answers to verdicts: read, apply preconditions, score, hand out, sum up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from calibrant.core.errors import Fault, RecordError
from calibrant.core.rubric import Rubric
from calibrant.formats.ahead import ahead
from calibrant.formats.coding import Batch, Coder, OnFault
from calibrant.formats.preconditions import Measures, conditioned
from calibrant.formats.ratings import Progress, read_answers
from calibrant.formats.verdict_lines import VerdictLines
from calibrant.formats.verdicts import VerdictTable
from calibrant.formats.writers import (
    LINE_SUFFIXES,
    check_output,
    write_frames,
    write_line_file,
)
from calibrant.stats.runs import Mask
from calibrant.stats.scorebook import (
    ERROR_CODE,
    FAILED,
    MISSING_CODE,
    NA_CODE,
    PASSED,
    UNDECIDED,
    UNKNOWN,
    Scored,
)

MAX_FAULTS = 10_000
"""Faults kept for the error at the end; ``on_fault`` is told of every one."""


@dataclass(slots=True)
class Summary:
    """What a run of scoring found, in numbers."""

    rubric: str
    rubric_hash: str
    sheets: int = 0
    complete: int = 0
    passed: int = 0
    """Of the complete ones."""
    failed: int = 0
    undecided: int = 0
    gate_failed: int = 0
    gate_unknown: int = 0
    flagged: int = 0
    bad_records: int = 0
    left_out: int = 0
    """Bad records among the answers; those of the items are not sheets."""
    failed_checks: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    sums: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Sum and number of the answers to each ordinal criterion, as counted."""
    has_pass_mark: bool = False
    has_na: bool = False
    """Whether any answer is NA as it came in."""
    notes: list[str] = field(default_factory=list)

    @property
    def incomplete(self) -> int:
        """Sheets with missing answers or errors."""
        return self.sheets - self.complete

    @property
    def pass_rate(self) -> float | None:
        """Share passed of the complete sheets; None without a pass mark or without sheets."""
        return self.passed / self.complete if self.has_pass_mark and self.complete else None

    @property
    def pass_interval(self) -> tuple[float, float] | None:
        """95 % interval of the pass rate (Wilson)."""
        if self.pass_rate is None:
            return None
        return wilson(self.passed, self.complete)

    @property
    def strict_rate(self) -> float | None:
        """Share passed of all sheets, incomplete and left out ones counted as not passed."""
        everything = self.sheets + self.left_out
        return self.passed / everything if self.has_pass_mark and everything else None

    def means(self) -> dict[str, float]:
        """Mean answer to each ordinal criterion."""
        return {name: total / count for name, (total, count) in self.sums.items() if count}

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        interval = self.pass_interval
        return {
            "rubric": self.rubric,
            "rubric_hash": self.rubric_hash,
            "sheets": self.sheets,
            "complete": self.complete,
            "incomplete": self.incomplete,
            "passed": self.passed,
            "failed": self.failed,
            "undecided": self.undecided,
            "pass_rate": None if self.pass_rate is None else round(self.pass_rate, 6),
            "pass_interval": None if interval is None else [round(limit, 6) for limit in interval],
            "gate_failed": self.gate_failed,
            "gate_unknown": self.gate_unknown,
            "flagged": self.flagged,
            "bad_records": self.bad_records,
            "failed_checks": dict(self.failed_checks),
            "missing": dict(self.missing),
            "errors": dict(self.errors),
            "flags": dict(self.flags),
            "means": {name: round(mean, 6) for name, mean in self.means().items()},
            "notes": self.notes,
        }

    def add(self, table: VerdictTable, batch: Batch, scored: Scored) -> None:
        """Count one batch in."""
        self.has_na = self.has_na or bool((batch.codes == NA_CODE).any())
        names = table.book.rubric.criterion_ids
        self.sheets += len(scored.outcome)
        self.complete += int((~scored.incomplete).sum())
        self.passed += int((scored.outcome == PASSED).sum())
        self.failed += int((scored.outcome == FAILED).sum())
        self.undecided += int((scored.outcome == UNDECIDED).sum())
        self.gate_failed += int((scored.gate == FAILED).sum())
        self.gate_unknown += int((scored.gate == UNKNOWN).sum())
        self.flagged += int(scored.flagged.sum())
        self.failed_checks += _counts(names, scored.failed)
        self.missing += _counts(names, scored.codes == MISSING_CODE)
        self.errors += _counts(names, scored.codes == ERROR_CODE)
        for bit, flag in enumerate(table.book.rubric.red_flags or ()):
            hits = int((batch.flags >> np.uint64(bit) & np.uint64(1)).sum())
            self.flags += Counter({flag.id: hits})
        for row, name in enumerate(names):
            lowest = table.book.values[row][0]
            if isinstance(lowest, int):
                codes = scored.counted[row]
                given = codes[(codes > NA_CODE) & (codes < ERROR_CODE)].astype(np.int64)
                total, count = self.sums.get(name, (0, 0))
                added = int(given.sum()) + (lowest - 1) * len(given)
                self.sums[name] = (total + added, count + len(given))


def lost_na(rubric: Rubric) -> list[str]:
    """What to say of a table in which answers are missing and none is NA."""
    if all(one.na.policy == "excluded" for one in rubric.criteria):
        return []
    return [
        "answers are missing and none is NA: a reader may have taken NA for an empty cell "
        "(pandas.read_csv does, unless keep_default_na=False)"
    ]


def _place(fault: Fault) -> int:
    return fault.record or 0


def _counts(names: tuple[str, ...], hits: Mask) -> Counter[str]:
    totals = hits.sum(axis=1).tolist()
    return Counter({name: total for name, total in zip(names, totals, strict=True) if total})


def wilson(hits: int, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Interval of a share that stays within 0 and 1 and holds its level in small samples."""
    share = hits / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


class ScoreRun:
    """One run over a file of answers; iterate ``frames`` to make it happen.

    Unless ``skip_bad`` is set, the frames end in a ``RecordError`` when any record was bad, so
    that whoever writes them can throw the file away.
    """

    def __init__(
        self,
        rubric: Rubric,
        answers: Path,
        *,
        items: Path | None = None,
        skip_bad: bool = False,
        encoding: str | None = None,
        ignore: Iterable[str] = (),
        on_fault: OnFault = lambda fault: None,
        on_progress: Callable[[Progress, int], None] = lambda progress, sheets: None,
    ) -> None:
        self._coder = coder = Coder(rubric)
        self.rubric, self.answers, self.items, self.skip_bad = rubric, answers, items, skip_bad
        self.encoding = encoding
        self.table = VerdictTable(coder.book)
        self.summary = Summary(rubric.name, rubric.hash)
        self.summary.has_pass_mark = rubric.aggregation.pass_mark is not None
        self._on_fault, self._on_progress = on_fault, on_progress
        self._faults: list[Fault] = []
        self._waiting: list[Fault] = []
        self._bad: set[tuple[str, int | None]] = set()
        self._file = read_answers(answers, coder, self._fault, encoding=encoding, ignore=ignore)
        self.summary.notes += self._file.notes
        self._batches = self._file.batches
        self._first = next(self._batches, None)

    def _fault(self, fault: Fault) -> None:
        self._waiting.append(fault)
        place = (fault.source, fault.record)
        if place not in self._bad:
            self._bad.add(place)
            self.summary.bad_records += 1
            self.summary.left_out += fault.source == str(self.answers)
        if len(self._faults) < MAX_FAULTS:
            self._faults.append(fault)

    def _tell(self) -> None:
        """Hand on what is wrong with the records read so far, in their order."""
        waiting, self._waiting = self._waiting, []
        for fault in sorted(waiting, key=_place):
            self._on_fault(fault)

    @property
    def schema(self) -> pl.Schema:
        """The columns of the frames."""
        keys = self._first.keys.columns[1:] if self._first is not None else []
        return self.table.schema(tuple(keys))

    def frames(self) -> Iterator[pl.DataFrame]:
        """Verdicts, batch by batch."""
        for batch, scored in self._scored():
            yield self.table.frame(batch, scored, batch.codes)

    def lines(self) -> Iterator[pl.Series]:
        """Verdicts as lines of JSON, batch by batch."""
        writer = VerdictLines(self.table)
        for batch, scored in self._scored():
            yield writer.lines(batch, scored)

    def write(self, path: Path) -> None:
        """The whole run into one file, or no file."""
        check_output(path, self.answers, self.items)
        if path.suffix.lower() in LINE_SUFFIXES:
            write_line_file(ahead(self.lines()), path)
        else:
            write_frames(self.frames(), self.schema, path)

    def _scored(self) -> Iterator[tuple[Batch, Scored]]:
        """Batches with their scores; raises at the end if any record was bad."""
        measures = self._measures()
        batches = chain([] if self._first is None else [self._first], self._batches)
        for batch in ahead(batches):
            kept, codes = batch, batch.codes
            if measures is not None:
                kept, codes = conditioned(self.table.book, batch, measures, self._unknown_item)
            scored = self.table.book.score(codes, kept.flags)
            self.summary.add(self.table, kept, scored)
            if kept.keys.height:
                yield kept, scored
            self._tell()
            self._on_progress(self._file.progress, self.summary.sheets)
        self._tell()
        if self._coder.saw_empty and not self.summary.has_na:
            self.summary.notes += lost_na(self.rubric)
        if self._bad and not self.skip_bad:
            raise RecordError(sorted(self._faults, key=_place))

    def _measures(self) -> Measures | None:
        """What code counts in each item, where an items file was given."""
        conditions = [one.precondition for one in self.rubric.criteria if one.precondition]
        if self.items is None:
            if conditions:
                told = "; ".join(f"{one.metric} {one.op} {one.value}" for one in conditions)
                self.summary.notes.append(
                    f"preconditions not applied ({told}): give the items with --items"
                )
            return None
        from calibrant.formats.items import Duplicate, stream_items  # not needed by most runs

        found: dict[str, Mapping[str, int]] = {}
        stream = stream_items(self.items, self.rubric.item_type, self.encoding, self.summary.notes)
        for entry in stream:
            match entry:
                case Fault():
                    self._fault(entry)
                case Duplicate():
                    self.summary.notes.append(f"{self.items}: {entry}")
                case _:
                    found[entry.id] = entry.measures()
        return found

    def _unknown_item(self, name: str, record: int) -> None:
        message = f"item {name!r} is not in {self.items}"
        self._fault(Fault(message, "id", str(self._file.path), record=record))


def score_file(
    rubric: Rubric, answers: str | Path, out: str | Path, *, items: str | Path | None = None
) -> Summary:
    """Score a file of answers into a file of verdicts; raises ``RecordError`` on bad records."""
    run = ScoreRun(rubric, Path(answers), items=None if items is None else Path(items))
    run.write(Path(out))
    return run.summary
