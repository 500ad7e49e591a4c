"""What changes from one item to the next: drift, fatigue, recency and contrast, straight lines.

All of them need the order in which a rater took the items.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, pdtrc

from calibrant.stats.rasch import Rasch
from calibrant.stats.rasch_design import Floats
from calibrant.stats.rater_effects import Effect
from calibrant.stats.residuals import Residuals

Whole = NDArray[np.int64]


def trend_effect(model: Rasch, one: Residuals, place: Floats) -> Effect:
    """Logits by which a rater grows more severe while ``place`` goes from 0 to 1."""
    weight = one.row_spread
    centred = place - (weight @ place) / max(float(weight.sum()), 1e-12)
    known = float(weight @ centred**2)
    if known <= 0:
        return Effect(0.0, 0.0, 0)
    terms = one.rows * centred
    scale = model.factor / one.left
    error = float(np.sqrt((terms**2).sum())) / known
    return Effect(-float(terms.sum()) / known * scale, error * scale, len(one.items))


class Recency(NamedTuple):
    """How an answer depends on the item before."""

    effect: Effect
    form: Literal["criterion", "item", "contrast"]
    """Gaps of one criterion go on; gaps of a whole item go on; answers lean on the item before."""
    p: float


def recency_effect(one: Residuals, order: Floats, sitting: Whole) -> Recency | None:
    """The strongest of three forms, its p-value paid for having looked at three."""
    line = np.argsort(order, kind="stable")
    next_to = sitting[line][1:] == sitting[line][:-1]
    gap, spread = one.gap[:, line], one.spread[:, line]
    if next_to.sum() < 2:
        return None
    trend = np.linspace(-0.5, 0.5, len(line))
    rows = gap.sum(axis=0)
    weight = spread.sum(axis=0)
    centred = trend - (weight @ trend) / max(float(weight.sum()), 1e-12)
    rise = (rows @ centred) / max(float(weight @ centred**2), 1e-12)
    gap = gap - spread * rise * centred
    rows = gap.sum(axis=0)
    theta = one.theta[line] - (weight @ one.theta[line]) / max(float(weight.sum()), 1e-12)
    now, before = slice(1, None), slice(None, -1)
    unit = gap / np.sqrt(np.where(spread > 0, spread, 1))
    same = (unit[:, now] * unit[:, before]).sum(axis=0)
    size = float((unit**2).sum() / max(int((spread > 0).sum()), 1))
    pairs = ((spread[:, now] > 0) & (spread[:, before] > 0)).sum(axis=0)
    whole = rows / np.sqrt(np.maximum(weight, 1e-12))
    forms: list[tuple[Literal["criterion", "item", "contrast"], Effect]] = [
        ("criterion", _product(same[next_to], size * pairs[next_to])),
        ("item", _product((whole[now] * whole[before])[next_to], (whole[before] ** 2)[next_to])),
        ("contrast", _product(
            (rows[now] * theta[before])[next_to], (weight[now] * theta[before] ** 2)[next_to],
        )),
    ]  # fmt: skip
    form, effect = max(forms, key=lambda pair: abs(pair[1].z))
    return Recency(effect, form, min(1.0, len(forms) * effect.p))


def _product(top: Floats, bottom: Floats) -> Effect:
    """A coefficient whose terms have mean 0 where there is no dependence."""
    total = float(bottom.sum())
    if total <= 0:
        return Effect(0.0, 0.0, 0)
    error = float(np.sqrt((top**2).sum())) / total
    return Effect(float(top.sum()) / total, error, len(top))


def repeat_effect(rows: Whole | NDArray[np.uint64]) -> tuple[Effect, float]:
    """Share of items answered exactly like the item before, less what chance gives; one-sided p.

    ``rows`` tells answers apart, in the order of rating. The error is that of the number of runs
    among all orders of these answers.
    """
    n = len(rows)
    times = np.unique(rows, return_counts=True)[1].astype(np.float64)
    if n < 3 or len(times) < 2:
        return Effect(0.0, 0.0, n), 1.0
    same = float((rows[1:] == rows[:-1]).mean())
    squares, cubes = float((times**2).sum()), float((times**3).sum())
    chance = (squares - n) / (n * (n - 1))
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * (n - 1))
    error = float(np.sqrt(max(variance, 0.0))) / (n - 1)
    effect = Effect(same - chance, error, n)
    again = round(same * (n - 1))
    if error <= 0 or again == 0:
        return effect, 1.0
    # where repeats are rare, their number is far from normal
    return effect, max(float(ndtr(-effect.z)), float(pdtrc(again - 1, chance * (n - 1))))
