"""Standard errors and intervals of coefficients, from the patterns.

A resample of the items is a multinomial draw of the patterns, so ten thousand resamples of a
million items cost what they cost for a hundred. The influence of each pattern gives the standard
error and the acceleration of the corrected interval. A sample without disagreement resamples to
itself and would "prove" perfection; there the limit comes from the binomial distribution.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.catalogue import Measure
from calibrant.stats.moments import CELLS, Array, Moments, Rows

FEW, MANY = 2_000, 10_000
"""Resamples below and from a hundred items."""
LARGE = 1_000
"""Items from which the standard error serves on Fisher's scale."""
RARE = 2
"""Disagreeing, or agreeing, items up to which a limit from the binomial is asked too; with more,
`bench/run.py agree/coverage` finds intervals wider than they have to be."""
CALM = 15
"""Items that lean to neither side, taken as seen too where the acceleration is estimated. Few items
tell little about skew: without these, intervals of thirty items hold the true alpha too often
(.97), with them .96, and nothing changes from a hundred items on."""
CONFIDENCE = 0.95
_STEP = 1e-4
"""Part of an item by which a sample is changed to see what changes."""
_BLOCK = 1_000
"""Resamples that are made at a time."""
_NORMAL = NormalDist()
QUANTILE = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2)
"""Standard errors from the middle to a limit."""


def influences(rows: Rows, function: Callable[[Moments], Array]) -> Array:
    """What one more item of each pattern, for its share of all, would do to each of F figures.

    ``function`` gives figures of shape (F, ...). The step is a part of an item, not of the sample:
    whoever gave a single answer among a million keeps it. Shape (F, ..., U) for samples of shape
    (..., U).
    """
    n, sums = rows.times.sum(axis=-1), rows.sums()
    with np.errstate(invalid="ignore", divide="ignore"):
        both = zip(rows.near(sums, _STEP), rows.near(sums, -_STEP), strict=True)
        parts = [function(more) - function(less) for (_, more), (_, less) in both]
    return np.asarray(np.concatenate(parts, axis=-1) * n[..., None] / (2 * _STEP))


def standard_errors(influence: Array, times: NDArray[np.int64]) -> Array:
    """Infinitesimal jackknife, with the correction for small samples, shape (measures, ...)."""
    n = times.sum(axis=-1)
    squares = (np.where(times > 0, influence, 0) ** 2 * times).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(squares / n / np.maximum(1, n - 1)))


def replicates(
    rows: Rows, chosen: Sequence[Measure], times: int, random: np.random.Generator
) -> Array:
    """Every measure of every resample of one sample, shape (measures, times).

    Blocks of resamples have a stream of numbers each, so that it does not matter who draws which.
    """
    kept = np.flatnonzero(rows.times)
    share = rows.times[kept] / rows.times.sum()
    out = np.empty((len(chosen), times))
    size = max(1, min(_BLOCK, CELLS // max(len(kept), rows.width)))
    blocks = [slice(at, min(times, at + size)) for at in range(0, times, size)]

    def draw(block: slice, own: np.random.Generator) -> None:
        sums = _resampled(rows, kept, share, block.stop - block.start, own)
        with np.errstate(invalid="ignore", divide="ignore"):
            for at, measure in enumerate(chosen):
                out[at, block] = measure.value(sums)

    streams = random.spawn(len(blocks))
    if times * len(kept) < _BLOCK * 100:  # sooner done than shared out
        for block, own in zip(blocks, streams, strict=True):
            draw(block, own)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(draw, blocks, streams))
    return out


def _resampled(
    rows: Rows, kept: NDArray[np.intp], share: Array, times: int, random: np.random.Generator
) -> Moments:
    drawn = random.multinomial(int(rows.times.sum()), share, size=times).astype(np.float64)
    sums = np.zeros((times, rows.width))
    step = max(1, CELLS // rows.width)
    for start in range(0, len(kept), step):
        part = slice(start, start + step)
        sums += drawn[:, part] @ rows.make(kept[part])
    return rows.read(sums)


def bca(
    value: float, drawn: Array, influence: Array, times: NDArray[np.int64]
) -> tuple[float, float]:
    """Bias-corrected and accelerated limits (Efron 1987); for the acceleration see ``CALM``."""
    drawn = np.sort(drawn[np.isfinite(drawn)])
    if not len(drawn):
        return value, value
    below = (np.sum(drawn < value) + np.sum(drawn <= value)) / 2
    share = min(max(below / len(drawn), 0.5 / len(drawn)), 1 - 0.5 / len(drawn))
    bias = _NORMAL.inv_cdf(float(share))
    square = float(influence**2 @ times)
    lean = float(influence**3 @ times) / (6 * square**1.5) if square > 0 else 0.0
    lean *= times.sum() / (times.sum() + CALM)
    limits = []
    for tail in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2):
        z = bias + _NORMAL.inv_cdf(tail)
        limits.append(float(np.quantile(drawn, _NORMAL.cdf(bias + z / (1 - lean * z)))))
    return limits[0], limits[1]


def fisher(value: Array, se: Array) -> tuple[Array, Array]:
    """Limits from the standard error, on the scale on which a correlation is symmetric."""
    inside = np.abs(value) < 1 - 1e-12  # what rounding leaves of perfection is perfection
    safe = np.where(inside, value, 0.0)
    z, half = np.arctanh(safe), QUANTILE * se / (1 - safe**2)
    low, high = np.tanh(z - half), np.tanh(z + half)
    return np.where(inside, low, value), np.where(inside, high, value)


def normal(value: Array, se: Array, n: NDArray[np.int64] | None = None) -> tuple[Array, Array]:
    """Limits from the standard error as it is; with Student's quantile where ``n`` is given."""
    if n is None:
        half = QUANTILE * se
    else:
        from scipy.special import stdtrit

        half = stdtrit(np.maximum(1, n - 1), (1 + CONFIDENCE) / 2) * se
    return value - half, value + half


def binomial(hits: float, n: float) -> tuple[float, float]:
    """Limits of a share by Clopper and Pearson."""
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


def from_share(agreed: float, n: float, slope: float) -> tuple[float, float]:
    """Limits by what the binomial allows for the share of agreement, chance held fixed.

    A coefficient then is ``1 - slope * (1 - agreed)``.
    """
    low, high = binomial(agreed * n, n)
    return 1 - slope * (1 - low), 1 - slope * (1 - high)


def slope_at_perfection(sums: Moments, measure: Measure) -> float:
    """How much a coefficient loses for each share of disagreement, chance held fixed.

    Disagreement is taken to fall where chance would put it; where answers that disagree were
    never given, between the usual answer and any other, or else any two. On a scale on which no
    two answers disagree, nothing is lost.
    """
    share = sums.shares / sums.shares.sum()
    usual = share == share.max()
    places = np.outer(share, share), usual[:, None] ^ usual[None, :], np.ones_like(measure.same)
    apart = next((one for place in places if (one := place * (measure.same <= 0)).any()), None)
    if apart is None:  # a scale of which one answer is known may have others
        return 1.0 if len(measure.same) == 1 else 0.0
    apart = apart / apart.sum()
    little = 1e-6
    tables = {
        name: (1 - little) * table + little * table.sum() * apart
        for name, table in (
            ("agreements", np.asarray(sums.agreements)),
            ("coincidences", np.asarray(sums.coincidences)),
        )
    }
    disturbed = replace(sums, **tables)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float((1 - measure.value(disturbed)) / little)
