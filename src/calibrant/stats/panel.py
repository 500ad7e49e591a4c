"""How many judges a panel is really worth, and how steady one judge is when asked again.

Answers come as one array a criterion, raters × items, NaN where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Answers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveNumber:
    """How many independent judges would tell as much as these do together."""

    value: float | None
    judges: int
    correlation: float | None
    """Mean of the pairs'."""
    pairs: int
    """Pairs of judges whose correlation is defined."""
    units: int
    """Answers to one criterion about one item that two judges or more have in common."""
    of: Literal["answers", "errors"]
    undefined: str | None = None
    """Why there is no value."""


def effective_number(
    tables: Sequence[Answers],
    ordered: Sequence[bool],
    references: Sequence[Answers] | None = None,
) -> EffectiveNumber:
    """``n / (1 + (n − 1) · r)``, where r is the mean correlation of pairs of n judges.

    It is what n judges are worth when their mean is taken and r is the correlation of their
    errors: 1 where they err as one, n where they err independently. Errors need the right answers:
    ``references``, one value an item for each table. Without them r is the correlation of the
    answers as they stand. That includes what judges rightly share because they look at the same
    items, so the number is then a lower limit, and a low one if judges are good.

    Answers are taken as deviations from each judge's mean on the criterion, so that easy and hard
    criteria do not look like agreement. Where answers have no order (``ordered`` is false) each is
    a column of noughts and ones, and an error is that the answer is not the right one; else an
    error is the difference. Kept within 1 and n; not defined where no two judges both vary.
    """
    judges = len(tables[0]) if tables else 0
    of: Literal["answers", "errors"] = "answers" if references is None else "errors"
    stacked, units = _stacked(tables, ordered, references)
    found = list(_correlations(stacked)) if judges > 1 else []
    if not found:
        return EffectiveNumber(
            value=None, judges=judges, correlation=None, pairs=0, units=units, of=of,
            undefined=_why_not(judges, units, of),
        )  # fmt: skip
    mean = float(np.mean(found))
    spread = 1 + (judges - 1) * mean
    value = judges if spread <= 1 else judges / spread
    return EffectiveNumber(
        value=float(min(max(value, 1.0), judges)), judges=judges, correlation=mean,
        pairs=len(found), units=units, of=of,
    )  # fmt: skip


def _why_not(judges: int, units: int, of: str) -> str:
    if judges < 2:
        return "it takes two judges"
    if units < 2:
        return "judges have fewer than two answers in common"
    return f"no two judges have {of} that vary"


def _stacked(
    tables: Sequence[Answers], ordered: Sequence[bool], references: Sequence[Answers] | None
) -> tuple[Answers, int]:
    """All criteria side by side, as numbers that may be correlated; and how many units they are."""
    columns: list[Answers] = []
    units = 0
    for at, table in enumerate(tables):
        right = None if references is None else references[at]
        known = ~np.isnan(table) if right is None else ~np.isnan(table) & ~np.isnan(right)
        units += int((known.sum(axis=0) > 1).sum())
        columns += [
            np.where(known, one, np.nan) for one in _numbers(table, right, ordered=ordered[at])
        ]
    width = len(tables[0]) if tables else 0
    return np.hstack([_centred(one) for one in columns] or [np.empty((width, 0))]), units


def _numbers(table: Answers, right: Answers | None, *, ordered: bool) -> Iterator[Answers]:
    """A table as numbers that may be correlated: answers, or errors where the truth is known."""
    if right is not None:
        yield table - right if ordered else (table != right) * 1.0
    elif ordered:
        yield table
    else:
        values = np.unique(table[~np.isnan(table)])
        # of two answers one says all: the other is its reverse
        for value in values[1:] if len(values) == 2 else values:
            yield (table == value) * 1.0


def _centred(columns: Answers) -> Answers:
    """As deviations from each judge's mean."""
    known = ~np.isnan(columns)
    counts = np.maximum(known.sum(axis=1, keepdims=True), 1)
    means: Answers = np.where(known, columns, 0.0).sum(axis=1, keepdims=True) / counts
    return columns - means


def _correlations(columns: Answers) -> Iterator[float]:
    """Of every pair of judges, over what both have answered; not of those who do not vary."""
    for one, other in combinations(columns, 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        if both.sum() < 2:
            continue
        first, second = one[both] - one[both].mean(), other[both] - other[both].mean()
        size = float(np.sqrt((first @ first) * (second @ second)))
        if size > 1e-12 * both.sum():
            yield float(np.clip(first @ second / size, -1.0, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How far one judge says the same again, on one criterion."""

    items: int
    """Items with two answers or more."""
    unanimous: float | None
    """Share of these items on which all its answers are the same."""
    pairwise: float | None
    """Share of pairs of answers that are the same, as the mean over items."""
    undefined: str | None = None


def repeat_stability(samples: Answers) -> Stability:
    """Stability of one judge's answers, samples × items; the numbers only tell answers apart."""
    known = ~np.isnan(samples)
    repeated = known.sum(axis=0) > 1
    items = int(repeated.sum())
    if not items:
        why = "no item has two answers of the judge"
        return Stability(items=0, unanimous=None, pairwise=None, undefined=why)
    same = np.zeros(items)
    pairs = np.zeros(items)
    for one, other in combinations(samples[:, repeated], 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        pairs += both
        same += both & (one == other)
    return Stability(
        items=items,
        unanimous=float((same == pairs).mean()),
        pairwise=float((same / pairs).mean()),
    )
