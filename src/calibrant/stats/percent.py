"""Agreement as such: how often two answers to one item are the same."""

from __future__ import annotations

import numpy as np

from calibrant.stats.moments import Array, Moments, Table
from calibrant.stats.outer import Nearby
from calibrant.stats.weights import Matrix


def observed(sums: Moments, weights: Matrix) -> Array:
    """Weighted agreement of two raters drawn from those of an item, averaged over items, (...)."""
    return divided(total(sums.agreements, weights), sums.paired)


def total(table: Table, weights: Matrix) -> Array:
    """Sum of tables of shape (..., K, K), each cell by its weight, (...)."""
    if isinstance(table, Nearby):
        return table.total(weights)
    flat = table.reshape(*table.shape[:-2], weights.size)
    return np.asarray(flat @ weights.reshape(-1))


def chance_of(first: Array, second: Array, weights: Matrix) -> Array:
    """Weighted agreement of answers drawn apart, with shares of shape (..., K), (...)."""
    return np.asarray(((first @ weights) * second).sum(axis=-1))


def divided(top: Array, bottom: Array) -> Array:
    """The quotient; not a number where nothing stands below."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)


def corrected(agreed: Array, by_chance: Array) -> Array:
    """Agreement beyond chance: 1 is perfect, 0 is what chance gives."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance < 1 - 1e-12, (agreed - by_chance) / (1 - by_chance), np.nan)
