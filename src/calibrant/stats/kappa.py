"""The kappas: agreement corrected for what each rater's, or all raters', habits would give.

Cohen 1960 and 1968 for two raters; Conger 1980 for several known raters, which is Cohen's for
two; Fleiss 1971 for raters that are not told apart, with any number of answers an item;
Brennan and Prediger 1981 where chance means all answers alike.
"""

from __future__ import annotations

import numpy as np

from calibrant.stats.moments import Array, Moments
from calibrant.stats.percent import chance_of, corrected, divided, observed, total
from calibrant.stats.weights import Matrix


def cohen(table: Array, weights: Matrix) -> Array:
    """Of tables of two raters' answers, shape (..., K, K)."""
    n = table.sum(axis=(-2, -1))
    p = divided(table, n[..., None, None])
    return corrected(total(p, weights), _cohen_chance(p, weights))


def _cohen_chance(p: Array, weights: Matrix) -> Array:
    return chance_of(p.sum(axis=-1), p.sum(axis=-2), weights)


def cohen_error(table: Array, weights: Matrix) -> Array:
    """Standard error for large samples (Fleiss, Cohen and Everitt 1969), (...)."""
    n = table.sum(axis=(-2, -1))
    p = divided(table, n[..., None, None])
    kappa, chance = cohen(table, weights), _cohen_chance(p, weights)
    by_row = p.sum(axis=-2) @ weights.T  # what a rater would share with a row by chance
    by_column = p.sum(axis=-1) @ weights
    expected = by_row[..., :, None] + by_column[..., None, :]
    spread = (weights - expected * (1 - kappa)[..., None, None]) ** 2
    total = (p * spread).sum(axis=(-2, -1)) - (kappa - chance * (1 - kappa)) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(np.maximum(total, 0) / n) / (1 - chance))


def fleiss(sums: Moments, weights: Matrix) -> Array:
    """Chance is two answers drawn from all, each item worth one."""
    share = divided(sums.shares, sums.rated[..., None])
    return corrected(observed(sums, weights), chance_of(share, share, weights))


def conger(sums: Moments, weights: Matrix) -> Array:
    """Chance is two different raters each drawing from their own answers.

    A rater without an answer is no rater: one with few answers is absent from some resamples.
    """
    answered = sums.given.sum(axis=-1, keepdims=True)
    own = np.where(answered > 0, sums.given / np.maximum(answered, 1e-300), 0.0)  # (..., R, K)
    raters = (answered[..., 0] > 0).sum(axis=-1)
    everybody = own.sum(axis=-2)
    with_all = chance_of(everybody, everybody, weights)
    with_self = chance_of(own, own, weights).sum(axis=-1)
    chance = divided(with_all - with_self, raters * (raters - 1.0))
    return corrected(observed(sums, weights), chance)


def brennan_prediger(sums: Moments, weights: Matrix) -> Array:
    """Chance is every answer as likely as any other."""
    return corrected(observed(sums, weights), np.full(sums.paired.shape, weights.mean()))
