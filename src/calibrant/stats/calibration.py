"""Which mapping of a judge suits people best, and how well it does on items held aside.

Every fold of items is predicted by a mapping that has not seen it. The kind of mapping and its
ridge are chosen anew in each fold, on the items it is fitted to, each left out in turn: what is
held aside has no say in the choice either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.calibration_fit import Array, Fit, Kind, fitted, left_out
from calibrant.stats.shares import Z95

LEAST_ITEMS = 50
"""Labelled items below which nothing is fitted."""
LEAST_EACH = 10
"""Labels of every answer of a choice below which nothing is fitted."""
MANY = 500
"""Items from which a mapping without a formula is tried: with fewer it follows chance."""
INNER = 5
"""Folds within the fitted items, by which a mapping without a formula is weighed."""
REPEATS = 5
"""Times that all items are dealt into folds: one deal alone is a matter of luck."""
_ALIKE = 1e-12
"""What is no difference but rounding."""
NEVER = 1e100
"""A cut beyond all predictions: people never give the answer on its other side."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to map."""

    name: str
    kind: Kind
    columns: tuple[int, ...]
    penalty: float = 1.0
    least: int = 0
    """Items from which it is tried."""

    def fit(self, features: Array, targets: Array) -> Fit:
        """Fitted to some items."""
        return fitted(self.kind, features, targets, self.columns, self.penalty)


@dataclass(frozen=True, slots=True)
class HeldAside:
    """What was said of every item by a mapping that has not seen it."""

    predicted: Array
    """Shape (REPEATS, N, T)."""
    constant: Array
    """The mean of the fitted items' labels, of the same shape: what is known without a judge."""
    answers: NDArray[np.int64]
    """Places of answers on the scale, shape (REPEATS, N)."""
    chosen: Mapping[str, int]
    """How often each way was chosen, over all folds."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A mapping, and where its answers are cut."""

    candidate: Candidate
    fit: Fit
    cuts: Array
    """Predictions from which the next answer is given; empty where the likeliest one is."""

    def answers(self, predicted: Array) -> NDArray[np.int64]:
        """Places of answers on the scale."""
        if predicted.shape[1] > 1:
            return np.asarray(predicted.argmax(axis=1), np.int64)
        return np.asarray(np.searchsorted(self.cuts, predicted[:, 0], side="right"), np.int64)


def folds_of(n: int, folds: int, seed: int | Sequence[int]) -> NDArray[np.int64]:
    """The fold of each item: sizes differ by at most one, chance decides the rest."""
    return np.random.default_rng(seed).permutation(np.arange(n) % folds)


def chosen(
    features: Array, targets: Array, shares: Array, candidates: Sequence[Candidate], seed: int
) -> Chosen:
    """The candidate with the least squared error on items left out in turn, fitted to all items.

    Of equals the first is taken: name the simplest first. ``shares`` is how often people give each
    answer to each item, in the order of the scale, shape (N, K).
    """
    tried = [one for one in candidates if len(features) >= one.least]
    best = min(tried, key=lambda one: _error(one, features, targets, seed))
    fit = best.fit(features, targets)
    cuts = cuts_of(fit(features)[:, 0], shares) if targets.shape[1] == 1 else np.empty(0)
    return Chosen(best, fit, cuts)


def _error(one: Candidate, features: Array, targets: Array, seed: int) -> float:
    """Squared error on items left out, rounded so that the last digits decide nothing."""
    if one.kind != "isotonic":
        predicted = left_out(one.fit(features, targets), features, targets)
    else:
        fold, predicted = folds_of(len(features), INNER, seed), np.empty_like(targets)
        for at in range(INNER):
            own, rest = fold == at, fold != at
            predicted[own] = one.fit(features[rest], targets[rest])(features[own])
    return round(float(((predicted - targets) ** 2).sum()) / len(features), 12)


def cuts_of(predicted: Array, shares: Array) -> Array:
    """Cuts that give each answer as often as people give it, as near as can be, shape (K - 1,).

    Equal predictions stay together. A cut lies beyond all of them only where people never give the
    answers on its other side, or where there is no other place.
    """
    values, times = np.unique(predicted, return_counts=True)
    n, below = len(predicted), np.cumsum(shares.mean(axis=0))[:-1]
    cuts = np.concatenate([[-NEVER], (values[:-1] + values[1:]) / 2, [NEVER]])
    under = np.concatenate([[0], np.cumsum(times)]) / n
    never, always = below < 0.5 / n, below > 1 - 0.5 / n
    inside = slice(1, -1) if len(values) > 1 else slice(None)
    nearest = np.abs(below[:, None] - under[inside]).argmin(axis=1)
    return np.asarray(np.where(never, -NEVER, np.where(always, NEVER, cuts[inside][nearest])))


def held_aside(
    features: Array,
    targets: Array,
    shares: Array,
    candidates: Sequence[Candidate],
    *,
    folds: int,
    seed: int,
) -> HeldAside:
    """Predict every item by mappings that were chosen and fitted without it."""
    shape = (REPEATS, *targets.shape)
    predicted, constant = np.empty(shape), np.empty(shape)
    answers = np.empty(shape[:2], np.int64)
    names = []
    for time in range(REPEATS):
        fold = folds_of(len(features), folds, [seed, time])
        for at in range(folds):
            own, rest = fold == at, fold != at
            found = chosen(features[rest], targets[rest], shares[rest], candidates, seed)
            predicted[time, own] = found.fit(features[own])
            answers[time, own] = found.answers(predicted[time, own])
            constant[time, own] = targets[rest].mean(axis=0)
            names.append(found.candidate.name)
    return HeldAside(predicted, constant, answers, Counter(names))


# -- figures


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval, or without one where none can be told."""

    value: float | None
    interval: tuple[float, float] | None = None


def squares(predicted: Array, targets: Array) -> Array:
    """The squared error of each item; on average, where it was predicted several times."""
    error = ((predicted - targets) ** 2).sum(axis=-1)
    return np.asarray(error.reshape(-1, len(targets)).mean(axis=0))


def rmse(predicted: Array, targets: Array) -> Figure:
    """The root of the mean squared error; its interval is that of the mean, under the root.

    Where all items are off alike, by nothing above all, they do not tell how far others are off.
    """
    mean, half = _mean(squares(predicted, targets))
    if half <= _ALIKE:
        return Figure(sqrt(mean))
    return Figure(sqrt(mean), (sqrt(max(0.0, mean - half)), sqrt(mean + half)))


def gain_of(before: Array, after: Array, targets: Array) -> Figure:
    """By how much the mean squared error is smaller after, item by item."""
    value, half = _mean(squares(before, targets) - squares(after, targets))
    return Figure(value, (value - half, value + half) if half > _ALIKE else None)


def _mean(values: Array) -> tuple[float, float]:
    return float(values.mean()), Z95 * float(values.std(ddof=1)) / sqrt(len(values))


def correlation(predicted: Array, targets: Array) -> Figure:
    """Pearson's of one target, with Fisher's interval; on average over several predictions."""
    rows = predicted.reshape(-1, len(targets))
    if len(targets) < 4 or min(rows.std(axis=1).min(), targets.std()) < 1e-12:
        return Figure(None)
    value = float(np.mean([np.corrcoef(one, targets)[0, 1] for one in rows]))
    if abs(value) > 1 - 1e-12:
        return Figure(value)
    z, half = np.arctanh(value), Z95 / sqrt(len(targets) - 3)
    return Figure(value, (float(np.tanh(z - half)), float(np.tanh(z + half))))
