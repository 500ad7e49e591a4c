"""Standard errors and intervals of coefficients, from the patterns.

A resample of the items is a multinomial draw of the patterns, so ten thousand resamples of a
million items cost what they cost for a hundred. The influence of each pattern gives the standard
error and the acceleration of the corrected interval. A sample without disagreement resamples to
itself and would "prove" perfection; there the limit comes from the binomial distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.catalogue import Measure
from calibrant.stats.moments import Array, Moments, Rows

FEW, MANY = 2_000, 10_000
"""Resamples below and from a hundred items."""
LARGE = 1_000
"""Items from which the standard error serves on Fisher's scale."""
RARE = 2
"""Disagreeing, or agreeing, items up to which a limit from the binomial is asked too; with more,
`bench/run.py agree/coverage` finds intervals wider than they have to be."""
CONFIDENCE = 0.95
_STEP = 1e-4
"""Part of an item by which a sample is changed to see what changes."""
_CELLS = 4_000_000
"""Numbers held at a time."""
_NORMAL = NormalDist()


def influences(rows: Rows, functions: Sequence[Callable[[Moments], Array]]) -> Array:
    """What one more item of each pattern, for its share of all, would do to each function.

    The step is a part of an item, not of the sample: whoever gave a single answer among a million
    keeps it. Shape (functions, U).
    """
    n, total = rows.times.sum(), rows.sums()
    out = np.empty((len(functions), len(rows.terms)))
    step = max(1, _CELLS // rows.terms.shape[1])
    for start in range(0, len(rows.terms), step):
        part = slice(start, start + step)
        change = _STEP * (rows.terms[part] - total / n)
        more, less = rows.read(total + change), rows.read(total - change)
        with np.errstate(invalid="ignore", divide="ignore"):
            for at, function in enumerate(functions):
                out[at, part] = function(more) - function(less)
    return np.asarray(out * n / (2 * _STEP))


def standard_errors(influence: Array, times: NDArray[np.int64]) -> Array:
    """Infinitesimal jackknife, with the correction for small samples, shape (measures,)."""
    n = times.sum()
    return np.asarray(np.sqrt((influence**2 @ times) / n**2 * n / max(1, n - 1)))


def replicates(
    rows: Rows, chosen: Sequence[Measure], times: int, random: np.random.Generator
) -> Array:
    """Every measure of every resample, shape (measures, times)."""
    n, share = int(rows.times.sum()), rows.times / rows.times.sum()
    out = np.empty((len(chosen), times))
    step = max(1, _CELLS // len(share))
    for start in range(0, times, step):
        part = slice(start, min(times, start + step))
        drawn = random.multinomial(n, share, size=part.stop - part.start)
        sums = rows.read(drawn @ rows.terms)
        with np.errstate(invalid="ignore", divide="ignore"):
            for at, measure in enumerate(chosen):
                out[at, part] = measure.value(sums)
    return out


def bca(
    value: float, drawn: Array, influence: Array, times: NDArray[np.int64]
) -> tuple[float, float]:
    """Bias-corrected and accelerated limits (Efron 1987)."""
    drawn = np.sort(drawn[np.isfinite(drawn)])
    if not len(drawn):
        return value, value
    below = (np.sum(drawn < value) + np.sum(drawn <= value)) / 2
    share = min(max(below / len(drawn), 0.5 / len(drawn)), 1 - 0.5 / len(drawn))
    bias = _NORMAL.inv_cdf(float(share))
    square = float(influence**2 @ times)
    lean = float(influence**3 @ times) / (6 * square**1.5) if square > 0 else 0.0
    limits = []
    for tail in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2):
        z = bias + _NORMAL.inv_cdf(tail)
        limits.append(float(np.quantile(drawn, _NORMAL.cdf(bias + z / (1 - lean * z)))))
    return limits[0], limits[1]


def fisher(value: float, se: float) -> tuple[float, float]:
    """Limits from the standard error, on the scale on which a correlation is symmetric."""
    if abs(value) >= 1:
        return value, value
    z, half = np.arctanh(value), _NORMAL.inv_cdf((1 + CONFIDENCE) / 2) * se / (1 - value**2)
    return float(np.tanh(z - half)), float(np.tanh(z + half))


def normal(value: float, se: float, n: int | None = None) -> tuple[float, float]:
    """Limits from the standard error as it is; with Student's quantile where ``n`` is given."""
    if n is None:
        half = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2) * se
    else:
        from scipy.special import stdtrit

        half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * se
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
    if apart is None:
        return 0.0
    apart = apart / apart.sum()
    little = 1e-6
    disturbed = replace(
        sums,
        agreements=(1 - little) * sums.agreements + little * sums.agreements.sum() * apart,
        coincidences=(1 - little) * sums.coincidences + little * sums.coincidences.sum() * apart,
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return float((1 - measure.value(disturbed)) / little)
