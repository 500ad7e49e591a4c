"""Agreement as such: how often two answers to one item are the same."""

from __future__ import annotations

import numpy as np

from calibrant.stats.moments import Array, Moments
from calibrant.stats.weights import Matrix


def observed(sums: Moments, weights: Matrix) -> Array:
    """Weighted agreement of two raters drawn from those of an item, averaged over items, (...)."""
    agreed = np.einsum("...kl,kl->...", sums.agreements, weights)
    return divided(agreed, sums.paired)


def divided(top: Array, bottom: Array) -> Array:
    """The quotient; not a number where nothing stands below."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)


def corrected(agreed: Array, by_chance: Array) -> Array:
    """Agreement beyond chance: 1 is perfect, 0 is what chance gives."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance < 1 - 1e-12, (agreed - by_chance) / (1 - by_chance), np.nan)
