"""The many-facet Rasch model: how severe each rater is, all else being equal.

    log P(k) / P(k-1) = theta(item) - difficulty(criterion) - severity(rater) - step(k)

Joint estimates of this kind lie too far apart by a known factor; what is reported is drawn together
again by (L-1)/L, L being the ratings of an item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.rasch_design import Asked, Floats


class NoFit(Exception):
    """Why there is no estimate."""


@dataclass(frozen=True, slots=True)
class Rasch:
    """A fitted model."""

    asked: Asked
    severity: Floats
    """By rater, mean 0; nan for raters without a place."""
    difficulty: Floats
    """By criterion, mean 0."""
    steps: tuple[Floats, ...]
    """By family, mean 0."""
    theta: Floats
    """By group, those at either end included."""
    factor: float
    """By which estimates of severity are drawn together."""
    information: Floats
    """Of the severities, places of items eliminated, shape (R, R)."""
    joint: Floats
    """Of each severity by itself, all else known."""

    @property
    def severities(self) -> Floats:
        """By rater, drawn together."""
        return self.severity * self.factor

    @property
    def errors(self) -> Floats:
        """Standard errors of the severities, all else known: what programs for this model print."""
        return np.asarray(self.factor / np.sqrt(np.where(self.joint > 0, self.joint, np.nan)))

    @property
    def inverse(self) -> Floats:
        """Of the information, leaving out the direction in which all raters move together."""
        return np.asarray(np.linalg.pinv(self.information, rcond=1e-8, hermitian=True))

    @property
    def contrast_errors(self) -> Floats:
        """Standard errors of the severities against their mean, as far as the model is right."""
        spread = self.inverse
        return np.asarray(np.sqrt(np.maximum(np.diag(spread), 0)) * self.factor)

    def tails(self, criterion: int, rater: float, theta: Floats) -> Floats:
        """P(x >= k) of an answer by a rater of that severity, for k from 1 on."""
        at = next(at for at, one in enumerate(self.asked.families) if criterion in one)
        return tails(theta - self.difficulty[criterion] - rater, self.steps[at])

    def expected(self, rater: int, groups: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Mean and variance of a rater's answers by criterion and group, shape (C, g)."""
        mean = np.zeros((len(self.difficulty), len(groups)))
        spread = np.zeros_like(mean)
        for family, steps in zip(self.asked.families, self.steps, strict=True):
            for criterion in family:
                if not self.asked.criteria[criterion]:
                    continue
                eta = self.theta[groups] - self.difficulty[criterion] - self.severity[rater]
                mean[criterion], spread[criterion] = moments(tails(eta, steps))
        return mean, spread


class Separation(NamedTuple):
    """How well raters can be told apart."""

    separation: float
    reliability: float
    chi2: float
    degrees: int


def separation(severity: Floats, errors: Floats) -> Separation:
    """Of severities, against their errors."""
    known = np.isfinite(severity) & (errors > 0)
    severity, errors = severity[known], errors[known]
    if len(severity) < 2:
        raise NoFit("fewer than two raters have a place")
    rmse2 = float(np.mean(errors**2))
    true = max(0.0, float(np.var(severity, ddof=1)) - rmse2)
    index = float(np.sqrt(true / rmse2))
    weight = 1 / errors**2
    chi2 = float(weight @ severity**2 - (weight @ severity) ** 2 / weight.sum())
    return Separation(index, index**2 / (1 + index**2), chi2, len(severity) - 1)


def tails(eta: Floats, steps: Floats) -> Floats:
    """P(x >= k) for k from 1 on, shape (K-1, ...)."""
    if len(steps) == 1:
        return np.asarray(1 / (1 + np.exp(-np.clip(eta - steps[0], -500, 500))))[None]
    most = 600 / len(steps)
    once = np.exp(np.clip(eta, -most, most))
    out = np.empty((len(steps), *np.shape(eta)))
    power: Floats = np.ones(np.shape(eta))
    for at, step in enumerate(steps):
        power = power * (once * np.exp(-step))
        out[at] = power
    for at in range(len(steps) - 2, -1, -1):
        out[at] += out[at + 1]
    out /= 1 + out[0]
    return out


def moments(tail: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of an answer from its tails."""
    mean = tail.sum(axis=0) if len(tail) > 1 else tail[0]
    spread = mean - mean**2
    for at in range(1, len(tail)):
        spread += 2 * at * tail[at]
    return mean, spread
