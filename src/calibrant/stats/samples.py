"""Estimates of one or many samples from their rows of sums.

A sample is a table of ratings: a criterion, a pair of raters, a slice of the items. Samples that
share their patterns are computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.stats import bootstrap
from calibrant.stats.bootstrap import FEW, LARGE, MANY, RARE, slope_at_perfection
from calibrant.stats.catalogue import Measure
from calibrant.stats.estimate import Design, Estimate, Method
from calibrant.stats.moments import WIDE, Array, Moments, Rows
from calibrant.stats.percent import total

NO_PAIRS = "no item has two answers"
NO_VARIATION = "no variation: all answers are the same"


@dataclass(frozen=True, slots=True)
class Given:
    """Which answers were given, in each of P samples."""

    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    """Shape (P, K)."""
    about: Sequence[Mapping[str, Any]] = ()
    """What else an estimate is to tell of each sample, where there is more."""

    def of(self, sample: int) -> dict[str, Any]:
        """Their number and shares, as an estimate tells them."""
        mine = self.counts[sample].tolist()
        ratings = int(sum(mine))
        shares = {label: n / max(1, ratings) for label, n in zip(self.labels, mine, strict=True)}
        more = self.about[sample] if self.about else {}
        return {"n_ratings": ratings, "prevalence": shares, **more}


@dataclass(frozen=True, slots=True)
class _Samples:
    """What the estimates of P samples have in common; M measures were asked for."""

    rows: Rows
    sums: Array
    """Shape (P, d)."""
    methods: list[Method]
    """Of each sample, before anything is asked of the binomial."""
    values: Array
    """Shape (M, P)."""
    errors: Array
    """As published, shape (M, P)."""
    low: Array
    high: Array
    """Limits, shape (M, P)."""
    rare: NDArray[np.bool_]
    """Whether resampling sees too little, shape (M, P)."""
    items: NDArray[np.int64]
    """Items with an answer, shape (P,)."""
    draws: NDArray[np.float64]
    """Items that tell something; of several criteria an item counts once, shape (P,)."""


def estimates(
    rows: Rows,
    chosen: Sequence[Measure],
    design: Design,
    given: Given,
    *,
    drawn: Sequence[Array | None] | None = None,
    errors: Callable[[Array], Array] | None = None,
    most: int | None = None,
) -> list[list[Estimate]]:
    """Every measure of every sample.

    ``drawn`` holds resamples of each, made before; where rows are not what was drawn, ``errors``
    makes standard errors of influences, and ``most`` says how many items there were.
    """
    times = np.atleast_2d(rows.times)
    rows = rows.sample(times)
    sums = rows.sums()
    paired = rows.read(sums).paired
    errors = errors or partial(bootstrap.standard_errors, times=times)
    found = (
        _samples(rows, sums, chosen, design, drawn=drawn, errors_of=errors, most=most)
        if paired.any()
        else None
    )
    out = []
    for sample, n in enumerate(paired):
        about = {"n_items": int(n), **given.of(sample)}
        out.append([_estimate(one, (at, sample), found, about) for at, one in enumerate(chosen)])
    return out


def _samples(
    rows: Rows,
    sums: Array,
    chosen: Sequence[Measure],
    design: Design,
    *,
    drawn: Sequence[Array | None] | None,
    errors_of: Callable[[Array], Array],
    most: int | None,
) -> _Samples:
    moments, whole = rows.read(sums), rows.read(sums[:, None, :])
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.stack([one.value(moments) for one in chosen])

    def figures(near: Moments) -> Array:
        found = [one.value(near) for one in chosen]
        held = [one.held(whole, near, value) for one, value in zip(chosen, found, strict=True)]
        return np.stack(np.broadcast_arrays(*found, *held))  # on a wide scale, of one sample

    both = bootstrap.influences(rows, figures)
    influence = both[: len(chosen)]
    spread, errors = np.split(errors_of(both), 2)
    items = rows.times.sum(axis=-1)
    errors *= _as_published(chosen, items)
    draws = np.minimum(moments.paired, items if most is None else most)
    methods = [_method(rows, design, int(n)) for n in draws]
    if methods[0] in ("t", "normal"):  # which the user asked for
        low, high = bootstrap.normal(values, errors, items if methods[0] == "t" else None)
    else:
        low, high = bootstrap.fisher(values, spread)
    for sample, method in enumerate(methods):
        own = rows.sample(rows.times[sample])
        if method != "bca":
            continue
        found = resampled(own, chosen, design) if drawn is None else drawn[sample]
        for at, value in enumerate(values[:, sample]):
            if found is not None and np.isfinite(value):
                low[at, sample], high[at, sample] = bootstrap.bca(
                    value, found[at], influence[at, sample], own.times
                )
    return _Samples(
        rows, sums, methods, values, errors, low, high, _rare(rows, chosen), items, draws
    )


def _method(rows: Rows, design: Design, paired: int) -> Method:
    resampled = paired < LARGE and rows.values <= WIDE
    return design.method or ("bca" if resampled else "fisher")


def resampled(rows: Rows, chosen: Sequence[Measure], design: Design) -> Array | None:
    """Resampled values of one sample, shape (measures, resamples), where they are wanted."""
    if _method(rows, design, 0) != "bca":
        return None  # however few there are
    n = min(int(rows.read(rows.sums()).paired), int(rows.times.sum()))  # an item counts once
    if not n or _method(rows, design, n) != "bca":
        return None
    random = np.random.default_rng(design.seed)
    return bootstrap.replicates(rows, chosen, FEW if n < 100 else MANY, random)


def _as_published(chosen: Sequence[Measure], items: NDArray[np.int64]) -> Array:
    """Fleiss, Cohen and Everitt divide by n where others divide by n - 1, shape (M, P)."""
    cohen = np.array([[one.coefficient == "cohen_kappa"] for one in chosen])
    return np.where(cohen, np.sqrt(np.maximum(0, items - 1) / np.maximum(1, items)), 1.0)


def _rare(rows: Rows, chosen: Sequence[Measure]) -> NDArray[np.bool_]:
    """Where so few items disagree, or agree, that resampling sees too little, shape (M, P)."""
    agreeing = np.zeros((len(chosen), len(rows.times)), np.int64)
    apart = np.zeros_like(agreeing)
    everything = rows.agreeing(np.ones((rows.values, rows.values)))  # 1 where there is a pair
    for at, one in enumerate(chosen):
        same = rows.agreeing(one.same)
        agreeing[at] = rows.times @ (same > 1e-9)
        apart[at] = rows.times @ (everything - same > 1e-9)
    return np.minimum(agreeing, apart) <= RARE


def _estimate(
    measure: Measure, at: tuple[int, int], found: _Samples | None, about: dict[str, Any]
) -> Estimate:
    about = about | {
        "coefficient": measure.coefficient,
        "level": measure.level,
        "weights": measure.weights,
    }
    if found is None or not about["n_items"]:
        return Estimate(**about, undefined=NO_PAIRS)
    value, se = float(found.values[at]), float(found.errors[at])
    if not isfinite(value):
        return Estimate(**about, undefined=NO_VARIATION)
    known = int(found.items[at[1]]) > 1 and isfinite(se)
    limits = (float(found.low[at]), float(found.high[at])) if known else (value, value)
    chosen = found.methods[at[1]]
    method: Method | None = chosen if known else None
    if chosen in ("bca", "fisher") and found.rare[at]:
        limits, method = _beside_binomial(limits, value, measure, found, at[1])
    about |= {"value": value, "se": se if known else None}
    if method is None:
        return Estimate(**about)
    least = 0.0 if measure.coefficient.startswith("percent") else -1.0
    low, high = max(least, limits[0]), min(1.0, limits[1])
    return Estimate(**about, interval=(min(low, value), max(high, value)), method=method)


def _beside_binomial(
    limits: tuple[float, float], value: float, measure: Measure, found: _Samples, sample: int
) -> tuple[tuple[float, float], Method]:
    """The wider limits of two methods; only the binomial's where nothing disagrees."""
    sums = found.rows.read(found.sums[sample])
    paired = float(sums.paired)
    agreed = float(total(sums.agreements, measure.same)) / paired
    disagree = 1 - agreed > 1e-12
    slope = (1 - value) / (1 - agreed) if disagree else slope_at_perfection(sums, measure)
    low, high = bootstrap.from_share(agreed, float(found.draws[sample]), slope)
    both: Method = "bca+binomial" if found.methods[sample] == "bca" else "fisher+binomial"
    wider = min(limits[0], low), max(limits[1], high)
    return wider, both if disagree else "binomial"
