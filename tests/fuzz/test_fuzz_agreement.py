"""Broken tables of ratings: a clear error or a report, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.fuzz.fuzz_kit import (
    CHUNKS,
    Findings,
    broken_bytes,
    cases,
    dump,
    odd_node,
    promise,
    promise_fault,
    promise_source_error,
)
from tests.fuzz.table_kit import (
    Grid,
    broken_grid,
    broken_parquet,
    csv_bytes,
    parquet_bytes,
    xlsx_bytes,
)

from calibrant.compare.agreement import AgreementReport, agreement_of_frames
from calibrant.compare.rating_columns import Reading
from calibrant.core.errors import RecordError, SourceError
from calibrant.formats.rating_files import frames_of
from calibrant.stats.estimate import Design

QUICK = Design("fisher")
CELLS = ("1", "2", "5", "NA", "", " ", None, 3, 4.0, 2.5, "x" * 40, "ann", "é", "=1+1", True)
LEVELS = ("nominal", "ordinal", "interval", "ratio")


def grid(rng: Random) -> Grid:
    header = rng.choice((["item", "rater", "answer"], ["task", "annotator", "label"],
                         ["id", "rater", "criterion", "answer", "kind", "round"]))  # fmt: skip
    extra = {"criterion": ("c1", "c2"), "kind": ("HUMAN", "LLM"), "round": ("1", "2")}
    rows: list[list[object]] = []
    for item in range(rng.randint(1, 6)):
        for rater in ("ann", "bob", "cid")[: rng.randint(1, 3)]:
            row: list[object] = []
            for at, name in enumerate(header):
                value: object = rng.choice(extra.get(name, ("1", "2", "3")))
                row.append(
                    str(item) if at == 0 else rater if name in ("rater", "annotator") else value
                )
            rows.append(row)
    return Grid(list(header), rows)


def csv(rng: Random) -> bytes:
    data = csv_bytes(rng, broken_grid(rng, grid(rng), CELLS, ragged=True))
    return broken_bytes(rng, data) if rng.random() < 0.3 else data


def parquet(rng: Random) -> bytes:
    table = broken_grid(rng, grid(rng), CELLS)
    # no writer of Parquet takes a name twice
    table.names = [f"{name}{at}" if name in table.names[:at] else name
                   for at, name in enumerate(table.names)]  # fmt: skip
    data = parquet_bytes(rng, table)
    return broken_parquet(rng, data) if rng.random() < 0.3 else data


def xlsx(rng: Random) -> bytes:
    return xlsx_bytes(broken_grid(rng, grid(rng), CELLS))


def jsonl(rng: Random) -> bytes:
    lines = []
    for record in grid(rng).records():
        node: object = record
        lines.append(dump(rng, odd_node(rng, node) if rng.random() < 0.2 else node))
    data = "\n".join(lines).encode()
    return broken_bytes(rng, data) if rng.random() < 0.3 else data


READERS: dict[str, Callable[[Random], bytes]] = {
    "csv": csv, "parquet": parquet, "xlsx": xlsx, "jsonl": jsonl,
}  # fmt: skip


def read(path: Path, rng: Random) -> None:
    how = Reading(
        level=rng.choice(LEVELS),  # type: ignore[arg-type]
        wide=rng.random() < 0.2,
        order=("1", "2", "3") if rng.random() < 0.2 else (),
    )
    try:
        report = agreement_of_frames(frames_of(path), how, str(path), design=QUICK)
    except RecordError as error:
        for fault in error.faults:
            promise_fault(fault)
        return
    except SourceError as error:
        promise_source_error(error)
        return
    promise_report(report)


def promise_report(report: AgreementReport) -> None:
    """Every estimate has a value within its limits, or a reason."""
    for one in report.estimates:
        promise((one.value is None) == (one.undefined is not None), "a value or a reason", one)
        if one.value is not None and one.interval is not None:
            low, high = one.interval
            promise(low <= one.value <= high, "a value lies within its interval", one)
        if one.coefficient.startswith("percent") and one.value is not None:
            promise(-1e-9 <= one.value <= 1 + 1e-9, "a share lies within 0 and 1", one)


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("form", READERS)
def test_ratings(form: str, chunk: int, tmp_path: Path) -> None:
    findings = Findings(f"ratings-{form}")
    path = tmp_path / f"case.{form}"
    for number in cases(chunk):
        with findings.case(number):
            rng = findings.random(number)
            findings.data = data = READERS[form](rng)
            path.write_bytes(data)
            read(path, rng)
    findings.settle()
