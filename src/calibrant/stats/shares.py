"""Shares of items, with intervals that stay between 0 and 1."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959963984540054
"""The normal quantile of a 95 % interval."""


def wilson(hits: float, items: float, z: float = Z95) -> tuple[float, float]:
    """Wilson's interval of a share; there is none without items."""
    if items <= 0:
        raise ValueError("a share of no items has no interval")
    share, extra = hits / items, z * z / items
    middle = (share + extra / 2) / (1 + extra)
    half = z * sqrt(share * (1 - share) / items + extra / (4 * items)) / (1 + extra)
    low = 0.0 if hits <= 0 else max(0.0, middle - half)
    return low, 1.0 if hits >= items else min(1.0, middle + half)
