"""Simulated panels of raters: honest ones, and ones with a bias planted in one rater or several.

Answers come from the many-facet model; a bias changes what one rater does, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr

from calibrant.compare.rating_tables import CriterionTable, RatingTable
from calibrant.compare.visits import Visits
from calibrant.stats.counts import ABSENT
from calibrant.stats.weights import Ruler

Floats = NDArray[np.float64]
FIVE = (-0.7, -0.2, 0.5, 0.4)
"""Steps of a scale of five answers, as they are in published ratings of stories (HANNA)."""
APART = (-1.5, -0.5, 0.5, 1.5)
"""Steps that lie a logit apart: answers tell less, because most fall on the middle of the scale."""
YES_NO = (0.0,)
PLANTED: dict[str, str] = {
    "severe": "severity",
    "lenient": "severity",
    "central": "central tendency",
    "halo": "halo",
    "drifting": "drift",
    "recency-bound": "recency",
    "careless": "carelessness",
}
"""Biases, and the diagnostic that should name each."""
_COPULA = 0.45
"""Correlation of the normal variables behind a halo; that of the answers is about 0.4."""


@dataclass(frozen=True, slots=True)
class Panel:
    """How a panel is simulated."""

    raters: int = 8
    items: int = 200
    criteria: int = 5
    steps: tuple[float, ...] = FIVE
    asked: int | None = None
    """Raters of each item, where not all rate all."""
    spread: float = 0.0
    """Standard deviation of honest severities, in logits."""
    same_order: bool = False
    """Whether all raters take the items in one order."""


def draw(
    random: np.random.Generator, panel: Panel, planted: Mapping[int, str]
) -> tuple[RatingTable, Visits]:
    """Ratings of a panel, and the order in which each rater took the items."""
    theta = random.normal(0, 1, panel.items)
    base = theta - np.linspace(-0.5, 0.5, panel.criteria)[:, None]
    codes = np.empty((panel.criteria, panel.raters, panel.items), np.uint8)
    order = np.empty((panel.raters, panel.items))
    for rater in range(panel.raters):
        line = np.arange(panel.items) if panel.same_order else random.permutation(panel.items)
        order[rater, line] = np.arange(panel.items)
        eta = base - random.normal(0, panel.spread)
        codes[:, rater] = _answers(random, panel, eta, line, planted.get(rater, "honest"))
    if panel.asked is not None:
        rank = random.random((panel.raters, panel.items)).argsort(axis=0)
        codes[:, rank >= panel.asked] = ABSENT
    return _table(codes, len(panel.steps) + 1), Visits(order=order)


def _answers(
    random: np.random.Generator, panel: Panel, eta: Floats, line: NDArray[np.intp], bias: str
) -> NDArray[np.uint8]:
    """One rater's answers, shape (criteria, items)."""
    place = np.empty(panel.items)
    place[line] = np.linspace(-0.5, 0.5, panel.items)
    moved = {"severe": eta - 0.5, "lenient": eta + 0.5, "central": 0.6 * eta}
    eta = moved.get(bias, eta - 0.5 * place if bias == "drifting" else eta)
    chance = random.random(eta.shape)
    if bias == "halo":
        shared, own = random.normal(size=panel.items), random.normal(size=eta.shape)
        chance = ndtr(np.sqrt(_COPULA) * shared + np.sqrt(1 - _COPULA) * own)
    if bias == "recency-bound":
        return _carried(panel, eta, line, chance)
    found = _picked(eta, panel.steps, chance)
    if bias == "careless":
        blind = random.integers(0, len(panel.steps) + 1, eta.shape)
        found = np.where(random.random(eta.shape) < 0.2, blind, found).astype(np.uint8)
    return found


def _carried(
    panel: Panel, eta: Floats, line: NDArray[np.intp], chance: Floats
) -> NDArray[np.uint8]:
    """Answers whose gaps go on to the next item at a correlation of about 0.3."""
    out = np.empty(eta.shape, np.uint8)
    steps = np.arange(len(panel.steps) + 1)
    shares = _shares(eta, panel.steps)
    mean = shares @ steps
    spread = shares @ steps**2 - mean**2
    carried = np.zeros(len(eta))
    for item in line:
        moved = eta[:, item] + 0.3 * carried / np.sqrt(spread[:, item])
        out[:, item] = _picked(moved, panel.steps, chance[:, item])
        carried = (out[:, item] - mean[:, item]) / np.sqrt(spread[:, item])
    return out


def _shares(eta: Floats, steps: tuple[float, ...]) -> Floats:
    """How often each answer is given, shape (..., K)."""
    sums = np.concatenate([[0.0], np.cumsum(steps)])
    logits = eta[..., None] * np.arange(len(sums)) - sums
    chance = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=-1, keepdims=True))


def _picked(eta: Floats, steps: tuple[float, ...], chance: Floats) -> NDArray[np.uint8]:
    edges = _shares(eta, steps).cumsum(axis=-1)[..., :-1]
    return np.asarray((chance[..., None] > edges).sum(axis=-1), np.uint8)


def _table(codes: NDArray[np.uint8], values: int) -> RatingTable:
    labels = tuple(str(value + 1) for value in range(values))
    ruler = Ruler(labels, "ordinal", np.arange(1.0, values + 1), True)
    criteria = [CriterionTable(f"Q{at + 1}", mine, ruler, False) for at, mine in enumerate(codes)]
    units: dict[str, Any] = {"item": [f"item {at + 1}" for at in range(codes.shape[2])]}
    raters = tuple(f"rater {at + 1}" for at in range(codes.shape[1]))
    return RatingTable(raters, {}, pl.DataFrame(units), criteria)
