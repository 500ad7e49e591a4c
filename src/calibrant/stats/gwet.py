"""Gwet's AC1 and AC2 (2008, 2014): chance only where an item is hard to tell.

They hold up where nearly all answers are the same and kappa collapses.
"""

from __future__ import annotations

import numpy as np

from calibrant.stats.moments import Array, Moments
from calibrant.stats.percent import corrected, divided, observed
from calibrant.stats.weights import Matrix


def gwet_ac(sums: Moments, weights: Matrix) -> Array:
    """AC1 with the identity as weights, AC2 with any others, (...)."""
    values = len(weights)
    share = divided(sums.shares, sums.rated[..., None])
    doubt = (share * (1 - share)).sum(axis=-1)
    chance = weights.sum() / max(1, values * (values - 1)) * doubt
    return corrected(observed(sums, weights), np.asarray(chance))
