"""How many items an agreement study needs, and what a number of items can show at best.

The model behind it: with a certain chance a rater sees what is there, otherwise answers as the
answers are spread; then Cohen's kappa of two raters is the square of that chance. All patterns of
answers get their exact probability, and the same influence functions as everywhere else give the
spread of one item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from statistics import NormalDist

import numpy as np

from calibrant.stats.bootstrap import CONFIDENCE, binomial, influences
from calibrant.stats.catalogue import Measure, measures
from calibrant.stats.counts import Patterns
from calibrant.stats.moments import Array, by_rater
from calibrant.stats.weights import Level

MOST_PATTERNS = 100_000
_SCALE = 1e9
"""Probabilities are counted in thousand-millionths."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is expected of a study."""

    raters: int
    shares: tuple[float, ...]
    """How often each answer is right, over all items."""
    level: Level
    expected: float
    """The agreement expected, as a kappa."""


def spread(plan: Plan, coefficient: str) -> tuple[float, float]:
    """The coefficient under the plan, and the standard error that a single item would have."""
    measure = _measure(plan, coefficient)
    rows = by_rater(_patterns(plan), len(plan.shares))
    value = float(measure.value(rows.read(rows.sums())))
    influence: Array = influences(rows, measure.value)
    return value, float(np.sqrt(influence**2 @ rows.times / rows.times.sum()))


def _measure(plan: Plan, coefficient: str) -> Measure:
    points = np.arange(len(plan.shares), dtype=np.float64)
    name = "conger_kappa" if coefficient == "cohen_kappa" else coefficient
    known = measures(plan.level, points, pair=False)
    found = [one for one in known if one.coefficient == name and one.weights is None]
    if not found:
        raise ValueError(f"{coefficient} cannot be planned for")
    return found[-1]


def _patterns(plan: Plan) -> Patterns:
    values, share = len(plan.shares), np.array(plan.shares)
    if values**plan.raters > MOST_PATTERNS:
        raise ValueError("too many raters and answers to plan for; plan for fewer raters")
    sees = max(0.0, plan.expected) ** 0.5
    codes = np.array(list(product(range(values), repeat=plan.raters)), np.uint8).T  # (R, U)
    likely = np.zeros(codes.shape[1])
    for right in range(values):
        one = np.where(codes == right, sees, 0) + (1 - sees) * share[codes]
        likely += share[right] * one.prod(axis=0)
    return Patterns(codes, np.rint(likely * _SCALE).astype(np.int64))


def items_for_width(plan: Plan, coefficient: str, half_width: float) -> int:
    """Items for an interval that reaches this far to each side."""
    _, single = spread(plan, coefficient)
    return max(2, ceil((_z((1 + CONFIDENCE) / 2) * single / half_width) ** 2))


def items_for_target(plan: Plan, coefficient: str, target: float, power: float) -> int | None:
    """Items to show a target with this power; None where what is expected does not exceed it."""
    value, single = spread(plan, coefficient)
    if value <= target:
        return None
    reach = (_z((1 + CONFIDENCE) / 2) + _z(power)) * single
    return max(2, ceil((reach / (value - target)) ** 2))


def best_case(items: int, shares: Sequence[float]) -> float:
    """The lower limit of kappa if every single item agrees, by the binomial distribution."""
    low, _ = binomial(items, items)
    chance = sum(share**2 for share in shares)
    return (low - chance) / (1 - chance)


def _z(share: float) -> float:
    return NormalDist().inv_cdf(share)
