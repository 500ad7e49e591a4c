"""Some items against the rest: means with intervals, their difference, and an honest p-value.

Answers pile up at the ends of their scale, and slices are small: a t test finds a slice without a
single bad answer far too often. What is asked here instead is how often items drawn at random
differ as far from the rest; the answer is exact for shares, and drawn for means.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.shares import wilson

Values: TypeAlias = NDArray[np.float64]
Test: TypeAlias = Literal["fisher", "permutation", "normal"]

NO_VARIATION = "no variation"
LARGE = 100
"""Items on both sides from which the mean of a random draw is as good as normal."""
_FIRST, _MORE = 1_999, 99_999
"""Random draws, and those where the first ones hardly ever differ as far."""
_ENOUGH = 20
_TINY = 1e-300
"""The least p-value that is told: smaller ones are no numbers, and nothing is impossible."""
_CELLS = 2_000_000
"""Counts that are held at a time."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Two limits, or why there are none."""

    limits: tuple[float, float] | None = None
    undefined: str | None = None


def mean_interval(values: Values, *, is_share: bool) -> Interval:
    """The 95 % interval of a mean: Wilson's where answers are 0 or 1, Student's elsewhere."""
    n, mean = len(values), float(values.mean())
    if is_share:
        return Interval(wilson(float(values.sum()), n))
    spread = float(values.std(ddof=1)) if n > 1 else 0.0
    if spread == 0.0:
        return Interval(undefined=NO_VARIATION if n > 1 else "one item")
    half = _t(n - 1) * spread / sqrt(n)
    return Interval((mean - half, mean + half))


def difference_interval(inside: Values, rest: Values, *, is_share: bool) -> Interval:
    """The 95 % interval of a difference of means: Newcombe's for shares, Welch's elsewhere."""
    difference = float(inside.mean() - rest.mean())
    if is_share:
        (low, high), (rest_low, rest_high) = (
            wilson(float(one.sum()), len(one)) for one in (inside, rest)
        )
        below = sqrt((inside.mean() - low) ** 2 + (rest_high - rest.mean()) ** 2)
        above = sqrt((high - inside.mean()) ** 2 + (rest.mean() - rest_low) ** 2)
        return Interval((difference - below, difference + above))
    parts = [float(one.var(ddof=1)) / len(one) if len(one) > 1 else 0.0 for one in (inside, rest)]
    if min(parts) == 0.0:
        return Interval(undefined=NO_VARIATION)
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(one) - 1) for part, one in zip(parts, (inside, rest), strict=True)
    )
    half = _t(freedom) * sqrt(sum(parts))
    return Interval((difference - half, difference + half))


def difference_p(
    inside: Values, rest: Values, random: np.random.Generator, *, is_share: bool
) -> tuple[float, Test]:
    """How often a random draw of as many items differs as far from the rest, on either side."""
    if is_share:
        hits = round(float(inside.sum()))
        return fisher_exact(hits, len(inside), round(float(rest.sum())), len(rest)), "fisher"
    if min(len(inside), len(rest)) >= LARGE:
        return _normal_p(inside, rest), "normal"
    return _drawn_p(inside, rest, random), "permutation"


def fisher_exact(hits: int, items: int, rest_hits: int, rest_items: int) -> float:
    """Fisher's exact test of two shares, two-sided."""
    from scipy.special import gammaln

    def ways(n: int, k: NDArray[np.int64]) -> Values:
        logs: Values = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        return logs

    all_hits = hits + rest_hits
    possible = np.arange(max(0, all_hits - rest_items), min(items, all_hits) + 1)
    logs = ways(items, possible) + ways(rest_items, all_hits - possible)
    chances = np.exp(logs - logs.max())
    seen = chances[hits - possible[0]]
    found = float(chances[chances <= seen * (1 + 1e-7)].sum() / chances.sum())
    return min(1.0, max(found, _TINY))


def _normal_p(inside: Values, rest: Values) -> float:
    from scipy.special import ndtr

    both = np.concatenate([inside, rest])
    error = both.std(ddof=1) * sqrt(1 / len(inside) + 1 / len(rest))
    if error == 0.0:
        return 1.0
    return max(float(2 * ndtr(-abs(inside.mean() - rest.mean()) / error)), _TINY)


def _drawn_p(inside: Values, rest: Values, random: np.random.Generator) -> float:
    """Few draws where they are enough, many where p is small."""
    both = np.concatenate([inside, rest])
    points, counts = np.unique(both - both.mean(), return_counts=True)
    if len(points) == 1:
        return 1.0
    items = min(len(inside), len(rest))
    seen = abs(float(inside.sum()) - both.mean() * len(inside)) - 1e-9 * float(np.ptp(points))

    # one takes time by item, the other by point; both draw the same
    method: Literal["count", "marginals"] = "count" if items < 4 * len(points) else "marginals"

    def hits(draws: int) -> int:
        """Draws without replacement whose sum is as far from what is expected."""
        step, found = max(1, _CELLS // len(points)), 0
        for start in range(0, draws, step):
            size = min(step, draws - start)
            drawn = random.multivariate_hypergeometric(counts, items, size, method)
            found += int(np.count_nonzero(np.abs(drawn @ points) >= seen))
        return found

    first = hits(_FIRST)
    if first >= _ENOUGH:
        return (first + 1) / (_FIRST + 1)
    return (hits(_MORE) + 1) / (_MORE + 1)


def _t(freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))
