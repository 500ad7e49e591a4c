"""Simulated panels of raters as tables that people have."""

from __future__ import annotations

import numpy as np
import polars as pl
from bench.panels import Panel, draw

from calibrant.stats.counts import ABSENT


def rows(
    seed: int = 1, panel: Panel = Panel(raters=4, items=60), planted: dict[int, str] | None = None  # noqa: B008
) -> pl.DataFrame:  # fmt: skip
    """A panel as long rows, with the position of each item."""
    table, visits = draw(np.random.default_rng(seed), panel, planted or {})
    assert visits.order is not None
    parts = []
    for one in table.criteria:
        rater, item = np.nonzero(one.codes != ABSENT)
        parts.append(
            pl.DataFrame(
                {
                    "item": table.units["item"].gather(item),
                    "rater": [table.raters[at] for at in rater],
                    "criterion": one.name,
                    "answer": [int(one.ruler.labels[at]) for at in one.codes[rater, item]],
                    "position": visits.order[rater, item].astype(int) + 1,
                }
            )
        )
    return pl.concat(parts)
