"""Mappings from what a judge says to what people say: each kind fitted, and applied.

Features have shape (N, F), not a number where the judge said nothing; targets have shape (N, T):
the mean of a scale, or the shares of answers. Fits are of targets one by one. What is unknown of an
item counts as the mean of the items that the mapping was fitted to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Kind: TypeAlias = Literal["constant", "linear", "logistic", "isotonic"]
_ROUNDS = 60
"""Steps of Newton's method at most; a ridge keeps it from running away."""
_DONE = 1e-10
_EDGE = 1e-3
"""How near to 0 and 1 a constant share may come."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted mapping of F features to T targets."""

    kind: Kind
    columns: tuple[int, ...]
    """Which features it looks at."""
    penalty: float
    centre: Array
    """Mean of each of its features among the fitted items, shape (C,)."""
    spread: Array
    """Standard deviation of each, shape (C,); 1 where there is none."""
    intercept: Array
    """Shape (T,)."""
    weights: Array
    """Of features in standard deviations, shape (C, T)."""
    knots: tuple[Array, Array] | None = None
    """Of an isotonic mapping: values of the feature, and the target at each."""

    def __call__(self, features: Array) -> Array:
        """What people say of items with these features, shape (N, T)."""
        if self.knots is not None:
            found = features[:, self.columns[0]]
            known = np.where(np.isnan(found), self.centre[0], found)
            at, level = self.knots
            return np.interp(known, at, level)[:, None]
        units = _standard(features[:, list(self.columns)], self.centre, self.spread)
        linear = self.intercept + units @ self.weights
        if self.kind != "logistic":
            return linear
        shares = logistic(linear)  # several answers come to 1 together
        return shares if shares.shape[1] == 1 else shares / shares.sum(axis=1, keepdims=True)


def logistic(value: Array) -> Array:
    """The share that log-odds stand for."""
    from scipy.special import expit

    return np.asarray(expit(value))


def log_odds(share: Array, edge: float = _EDGE) -> Array:
    """Of shares that are kept off 0 and 1."""
    from scipy.special import logit

    return np.asarray(logit(np.clip(share, edge, 1 - edge)))


def fitted(
    kind: Kind, features: Array, targets: Array, columns: tuple[int, ...], penalty: float
) -> Fit:
    """The mapping of one kind that suits these items best."""
    used = features[:, list(columns)]
    centre, spread = _moments(used)
    if kind == "isotonic":
        known = np.where(np.isnan(used[:, 0]), centre[0], used[:, 0])
        knots = isotonic(known, targets[:, 0])
        nothing = np.zeros((1, 1))
        return Fit(kind, columns, 0.0, centre, spread, nothing[0], nothing, knots)
    units = _standard(used, centre, spread)
    if kind == "logistic":
        both = [_logistic(units, one, penalty) for one in targets.T]
        intercept = np.array([one[0] for one in both])
        weights = np.array([one[1:] for one in both]).T
    else:
        intercept = targets.mean(axis=0)
        square = units.T @ units + penalty * np.eye(units.shape[1])
        weights = np.linalg.solve(square, units.T @ (targets - intercept))
    return Fit(kind, columns, penalty, centre, spread, intercept, weights)


def left_out(fit: Fit, features: Array, targets: Array) -> Array:
    """What the mapping would say of each of its own items, had it been fitted without it.

    Exact for a ridge whose features stay centred; for log-odds after one step of Newton's method.
    """
    units = _standard(features[:, list(fit.columns)], fit.centre, fit.spread)
    design = np.column_stack([np.ones(len(units)), units])
    ridge = np.full(design.shape[1], fit.penalty)
    ridge[0] = 0.0
    linear = fit.intercept + units @ fit.weights
    out = np.empty_like(linear)
    for at in range(targets.shape[1]):
        share = logistic(linear[:, at])
        is_share = fit.kind == "logistic"
        bend = np.maximum(share * (1 - share), 1e-9) if is_share else np.ones(len(units))
        inverse = np.linalg.inv((design.T * bend) @ design + np.diag(ridge))
        reach = np.einsum("ij,jk,ik->i", design, inverse, design)
        gap = targets[:, at] - (share if is_share else linear[:, at])
        out[:, at] = linear[:, at] - reach * gap / np.maximum(1 - reach * bend, 1e-6)
    return logistic(out) if fit.kind == "logistic" else out


def _moments(used: Array) -> tuple[Array, Array]:
    known = ~np.isnan(used)
    n = np.maximum(1, known.sum(axis=0))
    centre = np.where(known, used, 0).sum(axis=0) / n
    square = np.where(known, (used - centre) ** 2, 0).sum(axis=0) / n
    spread = np.sqrt(square)
    return centre, np.where(spread > 1e-9, spread, 1.0)


def _standard(used: Array, centre: Array, spread: Array) -> Array:
    """Features in standard deviations; what is unknown lies at the mean."""
    return np.where(np.isnan(used), 0.0, (used - centre) / spread)


def _logistic(units: Array, shares: Array, penalty: float) -> Array:
    """Intercept and weights of a ridge on log-odds, by Newton's method; shares may be fractions."""
    n = len(units)
    design = np.column_stack([np.ones(n), units])
    ridge = np.full(design.shape[1], penalty)
    ridge[0] = 0.0
    value = np.zeros(design.shape[1])
    value[0] = float(log_odds(shares.mean()[None])[0])
    best = _misfit(design, shares, value, ridge)
    for _ in range(_ROUNDS):
        share = logistic(design @ value)
        slope = design.T @ (shares - share) - ridge * value
        bend = (design.T * np.maximum(share * (1 - share), 1e-9)) @ design + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        while (now := _misfit(design, shares, value + step, ridge)) > best + _DONE:
            step = step / 2
        value, gain, best = value + step, best - now, now
        if gain < _DONE:
            break
    return value


def _misfit(design: Array, shares: Array, value: Array, ridge: Array) -> float:
    """Minus the log-likelihood, with the price of the weights."""
    linear = design @ value
    likely = shares @ linear - np.logaddexp(0, linear).sum()
    return float(ridge @ value**2 / 2 - likely)


def isotonic(feature: Array, target: Array) -> tuple[Array, Array]:
    """The closest mapping that never falls, by pooling neighbours: its knots and their values."""
    at, place, times = np.unique(feature, return_inverse=True, return_counts=True)
    mean = np.bincount(place, target) / times
    sums: list[list[float]] = []
    for value, weight in zip(mean, times, strict=True):
        block = [float(value), float(weight), 1.0]
        while sums and sums[-1][0] >= block[0]:
            last = sums.pop()
            weight_of_both = last[1] + block[1]
            value_of_both = (last[0] * last[1] + block[0] * block[1]) / weight_of_both
            block = [value_of_both, weight_of_both, last[2] + block[2]]
        sums.append(block)
    level = np.repeat([one[0] for one in sums], [int(one[2]) for one in sums])
    corner = np.ones(len(at), np.bool_)  # the inside of a flat stretch tells nothing
    corner[1:-1] = (level[1:-1] != level[:-2]) | (level[1:-1] != level[2:])
    return at[corner], level[corner]
