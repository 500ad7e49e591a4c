"""What can be taken out of a study as a file: by whom it may be asked, and how it is made.

Every table goes through the writers of ``formats``, which write what a spreadsheet would run as
text. Files have fixed names, and none of them is a page.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from calibrant.compose import export_study, export_tables
from calibrant.formats.writers import write_document, write_frames
from calibrant.study.handle import Study
from calibrant.web.jobs import Job

TYPES = {
    ".zip": "application/zip",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".csv": "text/csv; charset=utf-8",
    ".jsonl": "application/x-ndjson",
    ".json": "application/json",
    ".md": "text/plain; charset=utf-8",
    ".html": "application/octet-stream",
}
"""What a browser is told: to keep a file, never to show it as a page."""


@dataclass(frozen=True, slots=True)
class ExportKind:
    """One thing to take out."""

    name: str
    suffix: str
    title: str
    what: str
    can_rename: bool
    """Whether members can go by other names in it."""
    make: Callable[[Study, Path, bool, Job], None]


def _bundle(study: Study, path: Path, pseudonyms: bool, job: Job) -> None:
    def told(count: int) -> None:
        job.count = count

    export_study(study, path, pseudonyms=pseudonyms, on_record=told)


def _tables(study: Study, path: Path, pseudonyms: bool, job: Job) -> None:
    export_tables(study, path, pseudonyms=pseudonyms)


def _wide(study: Study, path: Path, pseudonyms: bool, job: Job) -> None:
    export_tables(study, path, wide=True, pseudonyms=pseudonyms)


def _frame(of: Callable[[Study], pl.DataFrame]) -> Callable[[Study, Path, bool, Job], None]:
    def make(study: Study, path: Path, pseudonyms: bool, job: Job) -> None:
        frame = of(study)
        write_frames([frame], frame.schema, path)

    return make


def _agreement(study: Study, path: Path, pseudonyms: bool, job: Job) -> None:
    report = study.agreement()
    if path.suffix == ".json":
        text = json.dumps(report.to_dict(), ensure_ascii=False, indent=1)
        write_document(text.encode("utf-8", "replace"), path)
        return
    frame = report.to_frame()
    write_frames([frame], frame.schema, path)


KINDS: tuple[ExportKind, ...] = (
    ExportKind(
        "bundle", ".zip", "The whole study",
        "Everything there is, with checksums and one hash: it can be taken to another database "
        "and comes back the same.", True, _bundle,
    ),
    ExportKind(
        "tables", ".xlsx", "Workbook of tables",
        "Ratings, final answers, verdicts, flags and the journal, a sheet each.", True, _tables,
    ),
    ExportKind(
        "ratings", ".csv", "Ratings, one answer a row", "For analysis elsewhere.", True, _tables
    ),
    ExportKind(
        "ratings-wide", ".csv", "Ratings, one column a rater", "For reading side by side.", True,
        _wide,
    ),
    ExportKind(
        "ratings-lines", ".jsonl", "Ratings as JSON lines", "For programs.", False,
        _frame(lambda study: study.ratings()),
    ),
    ExportKind(
        "finals", ".csv", "Final answers", "Each with how it came about.", False,
        _frame(lambda study: study.finals()),
    ),
    ExportKind(
        "finals-lines", ".jsonl", "Final answers as JSON lines", "For programs.", False,
        _frame(lambda study: study.finals()),
    ),
    ExportKind(
        "verdicts", ".csv", "Verdicts", "One row an item, with everything behind it.", False,
        _frame(lambda study: study.verdicts()),
    ),
    ExportKind(
        "verdicts-lines", ".jsonl", "Verdicts as JSON lines", "For programs.", False,
        _frame(lambda study: study.verdicts()),
    ),
    ExportKind(
        "agreement", ".csv", "Agreement", "Every coefficient of the rounds that count.", False,
        _agreement,
    ),
    ExportKind(
        "agreement-whole", ".json", "Agreement in full", "With targets and what drives it.", False,
        _agreement,
    ),
)  # fmt: skip
BY_NAME = {one.name: one for one in KINDS}


def file_name(study: int, kind: ExportKind, *, pseudonyms: bool) -> str:
    """What the file is called: the same for every study but for its number."""
    other = "-pseudonyms" if pseudonyms else ""
    return f"study-{study}-{kind.name}{other}{kind.suffix}"
