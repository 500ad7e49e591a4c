"""Our verdicts beside those of the row function, field by field."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from bench.harness import Check
from bench.sheets import criteria
from calibrant.stats.scorebook import Scorebook, Scored

CATEGORIES = ("comprehension", "connection", "naturalness", "multi_topic", "context_use")
FIELDS: dict[str, pl.DataType] = {
    "id": pl.String(),
    "passed": pl.Boolean(),
    "score": pl.Float64(),
    "category_scores": pl.Struct({name: pl.Float64() for name in CATEGORIES}),
    "failed_checks": pl.List(pl.String()),
    "failed_safety": pl.List(pl.String()),
    "safety_gate_failed": pl.Boolean(),
}
PASS_MARK = 0.8
EXPLANATION = f"in `passed` at exactly {PASS_MARK:.2f}, where the peer's floats fall short"
EXAMPLES = 3


def read_results(path: Path) -> pl.DataFrame:
    """The fields both sides have, from a file of results of either side."""
    if path.suffix == ".parquet":
        return _fields(pl.read_parquet(path, columns=list(FIELDS)))
    return _fields(pl.read_ndjson(path, schema=FIELDS))


def from_arrays(book: Scorebook, scored: Scored, rows: int) -> pl.DataFrame:
    """The first rows of scored arrays in the same fields, by plain means."""
    assert scored.units is not None and scored.category_units is not None
    names = np.array(criteria(), object)
    gated = names[list(book.gated)]
    shares = {
        table.id: [round(int(unit) / table.denominator, 3) for unit in units[:rows]]
        for table, units in zip(book.categories, scored.category_units, strict=True)
    }
    columns = {
        "id": [f"c{number:08d}" for number in range(rows)],
        "passed": scored.passed[:rows].tolist(),
        "score": [round(int(unit) / book.denominator, 3) for unit in scored.units[:rows]],
        "category_scores": pl.DataFrame(shares).to_struct(),
        "failed_checks": [names[hit].tolist() for hit in scored.failed[:, :rows].T],
        "failed_safety": [gated[hit].tolist() for hit in scored.shut[:, :rows].T],
        "safety_gate_failed": scored.shut[:, :rows].any(axis=0).tolist(),
    }
    return _fields(pl.DataFrame(columns))


def _fields(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(kind) for name, kind in FIELDS.items())


def compare(ours: pl.DataFrame, peer: pl.DataFrame, *, exact: bool = False) -> Check:
    """All rows in their order.

    A difference at the pass mark is explained if ours is the exact one; none is where both
    sides are ``exact``.
    """
    if ours.height != peer.height:
        message = f"{ours.height:,} rows of ours, {peer.height:,} of the peer's"
        return Check(
            min(ours.height, peer.height), abs(ours.height - peer.height), 0, "", [message]
        )
    differs = {name: ours[name].ne_missing(peer[name]) for name in FIELDS}
    at_mark = (peer["score"] == PASS_MARK) & ours["passed"] & ~ours["safety_gate_failed"]
    explained = differs["passed"] & at_mark.fill_null(False) & (not exact)
    wrong = differs | {"passed": differs["passed"] & ~explained}
    anywhere = pl.DataFrame(wrong).select(pl.any_horizontal(pl.all())).to_series()
    return Check(
        ours.height,
        int(anywhere.sum()),
        int(explained.sum()),
        "" if exact else EXPLANATION,
        [_example(ours, peer, wrong, at) for at in anywhere.arg_true().head(EXAMPLES).to_list()],
    )


def _example(ours: pl.DataFrame, peer: pl.DataFrame, wrong: dict[str, pl.Series], at: int) -> str:
    mine, theirs = ours.row(at, named=True), peer.row(at, named=True)
    told = [
        f"{name}: ours {mine[name]!r}, peer {theirs[name]!r}" for name in FIELDS if wrong[name][at]
    ]
    return f"row {at} ({peer['id'][at]}): " + "; ".join(told)
