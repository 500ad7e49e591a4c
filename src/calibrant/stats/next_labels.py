"""Which items to label next: as many of each group as make the interval narrowest.

Groups are what the judge said. Where people disagree among items of one judge's answer, a label
tells much; where they always agree, it tells next to nothing (Neyman 1934). Within a group items
are drawn at random, so that labels stay a random sample of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.prediction_powered import Array, Sample
from calibrant.stats.shares import Z95

MOST_GROUPS = 6
_NONE = 1e-9
"""What stands for no label: a group without any comes first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many labels each of G groups gets."""

    judged: NDArray[np.int64]
    """Items of each group, shape (G,)."""
    labelled: NDArray[np.int64]
    spread: Array
    """Standard deviation of people's answers within each group, not quite as small as it looks."""
    more: NDArray[np.int64]
    """Labels to add."""
    half_width: float
    """Of the 95 % interval, expected with these labels."""
    half_width_at_random: float
    """The same with as many labels of items drawn from all groups alike."""


def groups_of(judged: Array) -> NDArray[np.int64]:
    """Items by what the judge said; of many different values, by ranges of them."""
    values, place = np.unique(judged, return_inverse=True)
    if len(values) <= MOST_GROUPS:
        return place.astype(np.int64)
    cuts = np.unique(np.quantile(judged, np.linspace(0, 1, MOST_GROUPS)[1:-1]))
    ranges = np.searchsorted(cuts, judged, side="right")
    return np.unique(ranges, return_inverse=True)[1].astype(np.int64)


def plan(sample: Sample, groups: NDArray[np.int64], more: int) -> Plan:
    """Share ``more`` labels out among groups, which are numbered from 0."""
    count = int(groups.max(initial=-1)) + 1
    judged = np.bincount(groups, minlength=count)
    lab = sample.labelled
    labelled = np.bincount(groups[lab], minlength=count)
    spread = _spread(sample, groups, count)
    total = int(labelled.sum()) + min(more, int((judged - labelled).sum()))
    wanted = _shared_out(judged * spread, labelled, judged, total)
    alike = _shared_out(judged.astype(np.float64), labelled, judged, total)
    share = judged / max(1, judged.sum())
    return Plan(
        judged,
        labelled,
        spread,
        wanted - labelled,
        _half_width(share, spread, wanted),
        _half_width(share, spread, alike),
    )


def draw(
    groups: NDArray[np.int64], labelled: NDArray[np.bool_], more: NDArray[np.int64], seed: int
) -> NDArray[np.int64]:
    """Items without a label, so many of each group, drawn at random; in the order of the items."""
    random = np.random.default_rng(seed)
    chosen = [
        random.choice(np.flatnonzero((groups == at) & ~labelled), int(n), replace=False)
        for at, n in enumerate(more)
        if n
    ]
    return np.sort(np.concatenate([np.empty(0, np.int64), *chosen]))


def _spread(sample: Sample, groups: NDArray[np.int64], count: int) -> Array:
    """Within each group; as if one label more lay off, for few labels look too much alike."""
    lab = sample.labelled
    out = np.empty(count)
    for at in range(count):
        y = sample.labels[lab & (groups == at)]
        squares = float(((y - y.mean()) ** 2).sum()) if len(y) else 0.0
        out[at] = sqrt((squares + sample.step**2 / 2) / (len(y) + 1))
    return out


def _shared_out(
    sizes: Array, least: NDArray[np.int64], most: NDArray[np.int64], total: int
) -> NDArray[np.int64]:
    """``total`` in proportion to ``sizes``, with no group below ``least`` or above ``most``.

    One by one, each where it takes most off the variance: nothing that can be shared out better.
    """
    out = least.copy()

    def ready(at: int) -> tuple[float, int]:
        n = int(out[at])
        return -(float(sizes[at]) ** 2) / (n * (n + 1) or _NONE), at

    queue = [ready(at) for at in range(len(out)) if out[at] < most[at]]
    heapify(queue)
    for _ in range(total - int(least.sum())):
        _, at = heappop(queue)
        out[at] += 1
        if out[at] < most[at]:
            heappush(queue, ready(at))
    return out


def _half_width(share: Array, spread: Array, labels: NDArray[np.int64]) -> float:
    there = share > 0
    if (labels[there] == 0).any():
        return float("inf")
    variance = (share[there] ** 2 * spread[there] ** 2 / labels[there]).sum()
    return float(Z95 * sqrt(variance))
