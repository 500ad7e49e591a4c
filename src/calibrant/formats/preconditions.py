"""What code counts in the items, joined to the sheets about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from calibrant.core.criterion import METRICS
from calibrant.formats.coding import Batch
from calibrant.stats.runs import Codes
from calibrant.stats.scorebook import Scorebook

Measures: TypeAlias = Mapping[str, Mapping[str, int]]
"""By item id, what code counted."""


def conditioned(
    book: Scorebook, batch: Batch, measures: Measures, on_unknown: Callable[[str, int], None]
) -> tuple[Batch, Codes]:
    """The sheets whose items are known, and their codes after the rubric's preconditions.

    ``on_unknown`` is told the id and the record of every sheet whose item is not there.
    """
    ids = batch.keys["id"].to_list()
    counted = [measures.get(name) for name in ids]
    known = np.array([one is not None for one in counted], bool)
    for at in np.flatnonzero(~known).tolist():
        on_unknown(ids[at], int(batch.numbers[at]))
    batch = batch.keep(known)
    columns = {
        metric: np.array([one[metric] for one in counted if one is not None], np.int64)
        for metric in METRICS[book.rubric.item_type]
    }
    return batch, book.apply_preconditions(batch.codes, columns)
