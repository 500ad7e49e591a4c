"""The true answers and every rater's errors together, after Dawid and Skene (1979).

An item has one true answer; a rater who meets it gives each answer with a probability of their own.
Both are found by expectation and maximisation on patterns, from the shares of the answers on. The
log likelihood never falls; the search ends when it no longer rises. Nothing here is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant.stats.counts import Patterns
from calibrant.stats.entries import Array, Entries, entries

MOST_ROUNDS = 2_000
_RISE = 1e-10
"""Rise of the log likelihood, relative to its size, at which the search ends."""


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """What the model makes of U patterns by R raters on K answers."""

    shares: Array
    """How frequent each true answer is, shape (K,)."""
    confusion: Array
    """What each rater answers, by the true answer, shape (R, K, K)."""
    posterior: Array
    """Probability of each true answer, shape (U, K); the shares where nobody answered."""
    log_likelihood: float
    rounds: int
    converged: bool

    @property
    def accuracy(self) -> Array:
        """How often each rater is right, over all items there could be, shape (R,)."""
        return np.asarray(np.einsum("k,rkk->r", self.shares, self.confusion))

    def bias(self, points: Array) -> Array:
        """How far above the truth each rater's answers lie on average, shape (R,)."""
        gap = points[None, :] - points[:, None]
        return np.asarray(np.einsum("k,rkl,kl->r", self.shares, self.confusion, gap))

    @property
    def turned(self) -> bool:
        """Whether some true answer is most often called by another's name: do not trust it then."""
        mean = self.confusion.mean(axis=0)
        held = self.shares > 1e-6
        return bool((mean.argmax(axis=1) != np.arange(len(mean)))[held].any())


def dawid_skene(
    found: Patterns,
    values: int,
    rater_of: Sequence[int] | None = None,
    *,
    smoothing: float = 0.0,
) -> DawidSkene:
    """Fit the model; ``rater_of`` tells whose each row of codes is, where a rater has several.

    Without ``smoothing`` the estimates are those of maximum likelihood, as published. With it,
    that many answers of every kind are added to each rater's, and what rises is the likelihood
    with this prior.
    """
    data = entries(found, values, rater_of)
    known = data.given()  # answers by patterns, as everything below
    total = known.sum(axis=0)
    posterior = np.divide(known, total, out=np.full(known.shape, 1 / values), where=total > 0)
    # a pattern that nobody answered says nothing, and must not move the shares
    weight = np.where(total > 0, data.times, 0.0)
    before, rounds, converged = -np.inf, 0, False
    while rounds < MOST_ROUNDS and not converged:
        shares, confusion = _learnt(data, posterior, weight, smoothing)
        posterior, likelihood = _seen(data, shares, confusion, weight)
        height = likelihood + smoothing * _finite_log(confusion).sum()
        converged = bool(height - before <= _RISE * max(1.0, abs(height)))
        before, rounds = height, rounds + 1
    return DawidSkene(shares, confusion, posterior.T, likelihood, rounds, converged)


def _learnt(
    data: Entries, posterior: Array, weight: Array, smoothing: float
) -> tuple[Array, Array]:
    """Shares and confusions from the true answers."""
    shares = posterior @ weight / weight.sum()
    by_cell = data.by_cell(posterior).reshape(data.raters, data.values, data.values)
    raw = by_cell.swapaxes(1, 2) + smoothing  # by rater, true answer and answer
    total = raw.sum(axis=2, keepdims=True)
    even = np.full(raw.shape, 1 / data.values)  # who never met an answer is not known there
    return shares, np.divide(raw, total, out=even, where=total > 0)


def _seen(data: Entries, shares: Array, confusion: Array, weight: Array) -> tuple[Array, float]:
    """The true answers from shares and confusions, and the log likelihood."""
    of_cell = _finite_log(confusion).swapaxes(0, 1).reshape(data.values, -1)  # by true answer
    logs = data.by_pattern(of_cell) + _finite_log(shares)[:, None]
    top = logs.max(axis=0)
    parts = np.exp(logs - top)
    total = parts.sum(axis=0)
    return parts / total, float((top + np.log(total)) @ weight)


def _finite_log(shares: Array) -> Array:
    """The logarithm; of nothing a number so low that it adds nothing in the end."""
    return np.log(np.maximum(shares, 1e-300))
