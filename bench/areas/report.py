"""The report of a large study: how long it takes, and how large the page is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from bench.areas.study import RATERS, conversations, ratings_table
from bench.harness import (
    PYTHON,
    Band,
    Context,
    Part,
    Quantity,
    Report,
    Row,
    Run,
    best,
    cpu,
    run_process,
    timed,
)
from bench.sheets import SEED
from calibrant import compose
from calibrant.core.rubric import Rubric
from calibrant.formats.rubric_file import load_rubric
from calibrant.study.table import rated

TITLE = "reports: seconds and bytes"

JUDGE = "judge-1"
OTHERWISE = 0.1
"""How often the judge says NO where the first rater said anything."""
READINGS = 6
"""Times that a report reads all ratings."""
MOST_SECONDS, MOST_BYTES = 10.0, 2e6


def scale(ctx: Context) -> Report:
    """A report of 100,000 ratings of 15 criteria by three people and a judge."""
    items = 2_500 if ctx.quick else 25_000
    rubric = load_rubric("coaching-conversation")
    place = str(ctx.work / "study.db")
    ctx.say("a study")
    _fill(place, rubric, items)
    out = {name: ctx.work / f"report.{name}" for name in ("html", "json")}
    runs: dict[str, list[Run]] = {name: [] for name in out}
    for _ in range(3):
        for name, path in out.items():
            ctx.say(f"report as {name}")
            runs[name].append(_reported(place, path))
    ctx.say("reading alone")
    reading = cpu([_reading(place, rubric) for _ in range(3)])
    sizes = {name: path.stat().st_size for name, path in out.items()}
    beyond = cpu(runs["html"]) - READINGS * reading
    rows = [
        Row("a page, whole process", Quantity(best(runs["html"]), "s"), runs=runs),
        Row("the same, processor time", Quantity(cpu(runs["html"]), "s")),
        Row("reading all ratings once, processor time", Quantity(reading, "s")),
        Row("work beyond reading", Quantity(beyond, "s"), floor=Band(0, MOST_SECONDS)),
        Row("size of the page", Quantity(sizes["html"], "B"), floor=Band(0, MOST_BYTES)),
        Row("size of the data as JSON", Quantity(sizes["json"], "B")),
    ]
    return Report(
        f"{items * (len(RATERS) + 1):,} ratings × {len(rubric.criteria)} criteria",
        rows,
        notes=[
            f"all ratings are read {READINGS} times: for verdicts, final answers, agreement, "
            "raters, judges and quotations; start-up counts as work",
        ],
    )


def _fill(place: str, rubric: Rubric, items: int) -> None:
    study = compose.create_study(place, "large", rubric, lead="lena")
    study.add_items(conversations(items))
    for name in RATERS:
        study.add_member(name)
    study.add_member(JUDGE, kind="LLM", card={"model": "none"})
    table = ratings_table(rubric, items)
    random = np.random.default_rng(SEED)
    first = table.filter(pl.col("rater") == RATERS[0])
    judged = first.with_columns(
        pl.lit(JUDGE).alias("rater"),
        *(
            pl.when(pl.Series(random.random(items) < OTHERWISE))
            .then(pl.lit("NO"))
            .otherwise(name)
            .alias(name)
            for name in rubric.criterion_ids
        ),
    )
    study.import_ratings(pl.concat([table, judged]))
    study.store.close()


def _reported(place: str, path: Path) -> Run:
    command: list[str | Path] = [
        PYTHON,
        "-m",
        "calibrant",
        "report",
        "large",
        "-o",
        path,
        "--force",
        "--db",
        place,
    ]
    return run_process(command)


def _reading(place: str, rubric: Rubric) -> Run:
    """All ratings as a table, once."""
    study = compose.open_study(place, "large")
    try:
        return timed(lambda: study.store.read(lambda tx: rated(tx, study, [1], rubric)))
    finally:
        study.store.close()


PARTS: dict[str, Part] = {"scale": scale}
