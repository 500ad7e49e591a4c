"""What a judge's error depends on, and whether it says the same twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.judged import Array, Side, long_rows
from calibrant.compare.own_items import OwnEffect
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rulers import as_places, number_of
from calibrant.stats.alternative_annotator import discoveries
from calibrant.stats.error_regression import Slope, slope
from calibrant.stats.shares import wilson

MOST_WORDS = 6
"""Different words of a column up to which each is looked at; of more, the most frequent."""
FEW_NUMBERS = 2


@dataclass(frozen=True, slots=True)
class Effect:
    """How the judge's error changes with something about the items."""

    column: str
    word: str | None
    """Items with this word against all others; None for numbers, one standard deviation apart."""
    slope: Slope
    found: bool = False
    """Whether it stands when all effects are looked at together."""


@dataclass(frozen=True, slots=True)
class Stability:
    """How often a judge says the same when it is asked again."""

    same: int
    items: int

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share of items with the same answer on all occasions."""
        return wilson(self.same, self.items)


def effects(
    gap: Array, items: Sequence[str], columns: Mapping[str, Mapping[str, str]]
) -> list[Effect]:
    """Of each column on the gap between judge and people, one at a time."""
    out = []
    for name, by_item in columns.items():
        known = np.array([item in by_item for item in items], bool)
        words = [by_item[item] for item in items if item in by_item]
        for word, cause in _causes(words):
            out.append(Effect(name, word, slope(gap[known], cause)))
    return out


def _causes(words: Sequence[str]) -> list[tuple[str | None, Array]]:
    """A column as causes: a number in standard deviations, or one word against the others."""
    numbers = [number_of(word) for word in words]
    often = Counter(words)
    different = sorted(often, key=lambda word: (-often[word], word))
    if len(different) > FEW_NUMBERS and all(number is not None for number in numbers):
        values = np.array(numbers, np.float64)
        spread = values.std()
        return [(None, (values - values.mean()) / (spread or 1.0))]
    shown = [min(different)] if len(different) == FEW_NUMBERS else different[:MOST_WORDS]
    return [(word, np.array([one == word for one in words], np.float64)) for word in shown]


def held_equal(
    items: Sequence[str], columns: Mapping[str, Mapping[str, str]]
) -> NDArray[np.float64] | None:
    """Columns as causes of one design, shape (N, K); not a number where a column says nothing."""
    parts = []
    for by_item in columns.values():
        known = np.array([item in by_item for item in items], bool)
        for _, cause in _causes([by_item[item] for item in items if item in by_item]):
            part = np.full(len(items), np.nan)
            part[known] = cause
            parts.append(part)
    return np.column_stack(parts) if parts else None


def stand_together(
    depends: Sequence[Sequence[Effect]], own: Sequence[Sequence[OwnEffect]]
) -> tuple[list[list[Effect]], list[list[OwnEffect]]]:
    """Which effects stand when those of all criteria are looked at together."""
    flat = [one.slope.p for some in depends for one in some]
    flat += [one.slope.p for some in own for one in some]
    told = [p for p in flat if p is not None]
    kept = iter(discoveries(np.array(told, np.float64)) if told else ())
    stands = iter([p is not None and bool(next(kept)) for p in flat])
    return (
        [[replace(one, found=next(stands)) for one in some] for some in depends],
        [[replace(one, found=next(stands)) for one in some] for some in own],
    )


def stability(side: Side, how: Reading, judge: str) -> dict[str, Stability]:
    """By criterion, of the items that the judge answered on several occasions."""
    rows = pl.concat([long_rows(one, how, side.name) for one in side.frames])
    own = as_places(rows.filter(pl.col("rater") == judge), how, side.name)
    by_item = own.group_by("criterion", "item").agg(
        pl.len().alias("times"), pl.col("answer").n_unique().alias("answers")
    )
    again = by_item.filter(pl.col("times") > 1)
    found = again.group_by("criterion").agg((pl.col("answers") == 1).sum(), pl.len())
    return {name: Stability(same, items) for name, same, items in found.iter_rows()}
