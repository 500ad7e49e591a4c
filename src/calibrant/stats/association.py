"""How far two criteria go together: Spearman's correlation, and phi for yes and no."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, sqrt, tanh
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.shares import Z95, wilson

Values: TypeAlias = NDArray[np.float64]
Coefficient: TypeAlias = Literal["spearman", "phi"]


@dataclass(frozen=True, slots=True)
class Association:
    """A correlation with its interval, or why one of them is not there."""

    coefficient: Coefficient
    n: int
    value: float | None = None
    interval: tuple[float, float] | None = None
    undefined: str | None = None


def associated(one: Values, other: Values, *, shares: bool, least: int = 10) -> Association:
    """Two criteria over the items that both apply to; not a number where one does not.

    Phi where both are yes or no, with an error from what each item contributes; else Spearman's
    correlation with Bonett and Wright's error. Both intervals are made on Fisher's scale.
    """
    both = ~(np.isnan(one) | np.isnan(other))
    one, other, n = one[both], other[both], int(both.sum())
    name: Coefficient = "phi" if shares else "spearman"
    if n < least:
        return Association(name, n, undefined=f"{n} items answered on both, fewer than {least}")
    if not shares:
        one, other = ranks(one), ranks(other)
    if one.min() == one.max() or other.min() == other.max():
        return Association(name, n, undefined="no variation")
    x, y = ((side - side.mean()) / side.std() for side in (one, other))
    value = float(np.clip((x * y).mean(), -1.0, 1.0))
    if 1 - abs(value) < 1e-12:
        return Association(name, n, round(value), _never_part(one, round(value)))
    if shares:
        error = float((x * y - value * (x**2 + y**2) / 2).std()) / sqrt(n) / (1 - value**2)
    else:
        error = sqrt((1 + value**2 / 2) / (n - 3))
    centre, half = atanh(value), Z95 * error
    return Association(name, n, value, (tanh(centre - half), tanh(centre + half)))


def _never_part(values: Values, sign: int) -> tuple[float, float]:
    """The limits of a perfect correlation: how often the two may part all the same.

    Where two answers have the same shares, p and 1 - p, and part on a share d of the items, phi
    is 1 - d / (2 p (1 - p)); none of n items may still be Wilson's upper limit of all.
    """
    common = float(np.unique(values, return_counts=True)[1].max()) / len(values)
    parting = wilson(0, len(values))[1]
    least = max(-1.0, 1 - parting / (2 * common * (1 - common)))
    return (least, 1.0) if sign > 0 else (-1.0, -least)


def ranks(values: Values) -> Values:
    """Places in order, from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle: Values = counts.cumsum() - (counts - 1) / 2
    return middle[place]
