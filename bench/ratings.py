"""Seeded ratings for the agreement benchmark: arrays of codes, and a long file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench.sheets import SEED, Codes
from calibrant.stats.counts import ABSENT

WORDS = ("YES", "NO", "NA")
"""By code."""
SHARES = (0.80, 0.15, 0.05)
"""How often each word is the true answer."""
CARE = 0.85
"""How often a rater gives the true answer; otherwise any answer, all alike."""
ROW_GROUP = 1_000_000


def draw(
    random: np.random.Generator,
    raters: int,
    items: int,
    shares: Sequence[float] = SHARES,
    *,
    missing: float = 0.0,
) -> Codes:
    """Codes of raters who mostly give an item's true answer, shape (raters, items)."""
    truth = random.choice(len(shares), size=items, p=shares).astype(np.uint8)
    codes = np.empty((raters, items), np.uint8)
    for row in codes:
        row[:] = random.integers(0, len(shares), items, np.uint8)
        np.copyto(row, truth, where=random.random(items, np.float32) < CARE)
        row[random.random(items, np.float32) < missing] = ABSENT
    return codes


def seeded() -> np.random.Generator:
    """The same numbers every time."""
    return np.random.default_rng(SEED)


def write_long_parquet(path: Path, rows: int, criteria: int, raters: int) -> Path:
    """One row an answer: ``item, rater, criterion, answer``, item after item."""
    items = -(-rows // (criteria * raters))
    random = seeded()
    codes = np.stack([draw(random, raters, items) for _ in range(criteria)])  # (C, R, N)
    size = items * criteria * raters
    place = np.arange(size, dtype=np.uint32)
    columns = {
        "item": "c" + pl.Series(place // (criteria * raters)).cast(pl.String).str.zfill(8),
        "rater": _named([f"rater {number + 1}" for number in range(raters)], place % raters),
        "criterion": _named(
            [f"Q{number + 1:02d}" for number in range(criteria)], place // raters % criteria
        ),
        "answer": _named(WORDS, codes.transpose(2, 0, 1).reshape(-1)),
    }
    pl.DataFrame(columns).head(rows).write_parquet(path, row_group_size=ROW_GROUP)
    return path


def _named(words: Sequence[str], codes: NDArray[Any]) -> pl.Series:
    """Codes as words."""
    return pl.Series(words, dtype=pl.String).gather(codes.astype(np.uint32))
