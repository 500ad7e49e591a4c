"""The coaching rubric as a plain function over one sheet, and three programs around it.

This is what scoring looks like without calibrant: a dict of answers in, a dict of results out,
in a loop. The function has the shape the rubric's document gives it: tables and helpers inside,
a pass over the answers for each result. It needs nothing but the standard library, and polars
where a file is Parquet.

    row_score.py rows IN.parquet SECONDS.json [OUT.parquet]    time the function alone
    row_score.py parquet IN.parquet OUT.parquet                a whole file
    row_score.py jsonl IN.jsonl OUT.jsonl                      a whole file
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("comprehension", "connection", "naturalness", "multi_topic", "context_use")
WARM_UP = 2_000


def score_sheet(answers: dict[str, str]) -> dict[str, Any]:
    """Everything the rubric says about one sheet; an answer that is not there is an ERROR."""
    always_assessed = {"CQ1", "CQ8", "CP2", "MT1", "MT6"}
    criteria_of = {
        "comprehension": ["CQ1", "CQ2"],
        "connection": ["CQ3", "CQ6"],
        "naturalness": ["CP2", "CP4", "CP5"],
        "multi_topic": ["MT1", "MT2", "MT3", "MT6"],
        "context_use": ["MT4", "MT5"],
    }
    weight_of = {
        "comprehension": 0.15,
        "connection": 0.20,
        "naturalness": 0.15,
        "multi_topic": 0.30,
        "context_use": 0.20,
    }

    def points(criterion: str, answer: str) -> float:
        if answer == "NA":
            return 0.0 if criterion in always_assessed else 1.0
        return 1.0 if answer == "YES" else 0.0

    def share(criteria: list[str]) -> float:
        found = [points(one, answers.get(one, "ERROR")) for one in criteria]
        return sum(found) / len(found)

    def fails(criterion: str, answer: str) -> bool:
        if answer == "NA":
            return criterion in always_assessed
        return answer != "YES"

    shares = {name: share(criteria) for name, criteria in criteria_of.items()}
    total = sum(shares[name] * weight for name, weight in weight_of.items())
    unsafe = [one for one in ("CQ8", "CQ9") if fails(one, answers.get(one, "ERROR"))]
    failed = [one for one, answer in answers.items() if fails(one, answer)]
    return {
        "passed": total >= 0.80 and not unsafe,
        "score": round(total, 3),
        "category_scores": {name: round(value, 3) for name, value in shares.items()},
        "failed_checks": failed,
        "failed_safety": unsafe,
        "safety_gate_failed": bool(unsafe),
    }


def score_rows(source: str, seconds: str, target: str | None = None) -> None:
    """Time the function over dicts that are there already; its results are not kept meanwhile."""
    import polars as pl

    rows = pl.read_parquet(source).to_dicts()
    names = [row.pop("id") for row in rows]
    for row in rows[:WARM_UP]:
        score_sheet(row)
    start, start_cpu = time.perf_counter(), time.process_time()
    for row in rows:
        score_sheet(row)
    told = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - start_cpu}
    Path(seconds).write_text(json.dumps(told), encoding="utf-8")
    if target is not None:
        results = [{"id": name, **score_sheet(row)} for name, row in zip(names, rows, strict=True)]
        write_parquet(results, target)


def score_parquet(source: str, target: str) -> None:
    """A Parquet file of sheets to a Parquet file of results."""
    import polars as pl

    results = []
    for row in pl.read_parquet(source).iter_rows(named=True):
        name = row.pop("id")
        results.append({"id": name, **score_sheet(row)})
    write_parquet(results, target)


def write_parquet(results: list[dict[str, Any]], target: str) -> None:
    """The results as a table; its columns are stated, so that none has to be guessed."""
    import polars as pl

    schema: dict[str, pl.DataType] = {
        "id": pl.String(),
        "passed": pl.Boolean(),
        "score": pl.Float64(),
        "category_scores": pl.Struct(dict.fromkeys(NAMES, pl.Float64)),
        "failed_checks": pl.List(pl.String),
        "failed_safety": pl.List(pl.String),
        "safety_gate_failed": pl.Boolean(),
    }
    pl.DataFrame(results, schema=schema).write_parquet(target)


def score_jsonl(source: str, target: str) -> None:
    """A file of sheets, one JSON object a line, to a file of results."""
    with (
        Path(source).open(encoding="utf-8") as sheets,
        Path(target).open("w", encoding="utf-8") as results,
    ):
        for line in sheets:
            sheet = json.loads(line)
            verdict = {"id": sheet["id"], **score_sheet(sheet["answers"])}
            results.write(json.dumps(verdict) + "\n")


PROGRAMS: dict[str, Callable[..., None]] = {
    "rows": score_rows,
    "parquet": score_parquet,
    "jsonl": score_jsonl,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
