"""What a judge's error depends on: least squares with errors that may differ from item to item.

Standard errors are those of MacKinnon and White (1985), HC3, which hold where some items are
harder than others.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEAST_ITEMS = 20
"""Items below which no dependence is told."""


@dataclass(frozen=True, slots=True)
class Slope:
    """How far an error changes with one unit of something."""

    value: float | None = None
    se: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    n_items: int = 0
    undefined: str | None = None


def slope(error: Array, cause: Array) -> Slope:
    """Of the error on one cause, with an intercept."""
    n = len(error)
    if n < LEAST_ITEMS:
        return Slope(n_items=n, undefined=f"{n} items: too few, {LEAST_ITEMS} at least")
    if cause.std() == 0:
        return Slope(n_items=n, undefined="no variation in it")
    design = np.column_stack([np.ones(n), cause])
    inverse = np.linalg.inv(design.T @ design)
    value = inverse @ design.T @ error
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    residual = (error - design @ value) / np.maximum(1 - leverage, 1e-9)
    spread = inverse @ (design.T * residual**2) @ design @ inverse
    se = sqrt(max(0.0, float(spread[1, 1])))
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(n - 2, 0.975)) * se
    found = float(value[1])
    p = 2 * float(stdtr(n - 2, -abs(found) / se)) if se > 0 else float(found == 0)
    return Slope(found, se, (found - half, found + half), p, n)
