"""Many tests, few false alarms: Holm's procedure with weights, and Benjamini and Hochberg's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibrant.stats.rasch_design import Floats


def weighted_holm(p: Sequence[float], weights: Sequence[float]) -> Floats:
    """Adjusted p-values: in 95 of 100 panels without any effect none is below 0.05.

    A test with twice the weight may be found at twice the p-value, one without any never. Holds
    however tests depend on one another.
    """
    values, weight = np.asarray(p, np.float64), np.asarray(weights, np.float64)
    some = weight > 0
    order = np.argsort(np.divide(values, weight, out=np.full_like(values, np.inf), where=some))
    own = weight[order]
    left = own[::-1].cumsum()[::-1]  # weight of those not yet decided
    priced = np.divide(values[order] * left, own, out=np.ones_like(values), where=own > 0)
    stepped = np.maximum.accumulate(priced)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> Floats:
    """Adjusted p-values: of all tests below a rate, at most that share is expected to be false.

    Holds where tests are independent or tend to go together, as criteria of one item do.
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")[::-1]
    ranks = np.arange(len(values), 0, -1)
    stepped = np.minimum.accumulate(values[order] * len(values) / ranks)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
