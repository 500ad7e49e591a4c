"""Who knows and who guesses, after Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013): MACE.

A rater either knows the true answer and gives it, or guesses in a way of their own. Competence is
how often they know. Few parameters: it needs fewer answers of each rater than a table of errors
for each. Fitted by variational Bayes on patterns, from several random starts; the best bound wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant.stats.counts import Patterns
from calibrant.stats.entries import Array, Entries, entries

STARTS = 10
KNOWING_PRIOR, GUESSING_PRIOR = 0.5, 10.0
"""Of knowing and not knowing, and of every guess, as published."""
_FIRST_ROUNDS, MOST_ROUNDS = 50, 2_000
"""Rounds of every start, and of the best one after that."""
_RISE = 1e-9


@dataclass(frozen=True, slots=True)
class Mace:
    """What the model makes of U patterns by R raters on K answers."""

    competence: Array
    """How often each rater knows, shape (R,)."""
    guesses: Array
    """What each rater answers when guessing, shape (R, K)."""
    posterior: Array
    """Probability of each true answer, shape (U, K)."""
    bound: float
    """Lower bound of the log evidence, which the search raises."""
    rounds: int
    converged: bool
    starts: int
    seed: int

    @property
    def entropy(self) -> Array:
        """How unsure the answer to each pattern is, in nats, shape (U,)."""
        sure = np.where(self.posterior > 0, self.posterior, 1.0)
        return np.asarray(-(self.posterior * np.log(sure)).sum(axis=1))


@dataclass(frozen=True, slots=True)
class _State:
    """Expected counts, priors included: knowing (R, 2), guessing (R, K)."""

    knowing: Array
    guessing: Array


def mace(
    found: Patterns,
    values: int,
    rater_of: Sequence[int] | None = None,
    *,
    seed: int = 0,
) -> Mace:
    """Fit the model; ``rater_of`` tells whose each row of codes is, where a rater has several."""
    data = entries(found, values, rater_of)
    random = np.random.default_rng(seed)
    runs = [_search(data, _start(data, random), _FIRST_ROUNDS) for _ in range(STARTS)]
    state, _, done, _ = max(runs, key=lambda run: run[1])
    state, bound, rounds, converged = _search(data, state, MOST_ROUNDS)
    posterior = _step(data, state)[1].T
    return Mace(
        state.knowing[:, 0] / state.knowing.sum(axis=1),
        state.guessing / state.guessing.sum(axis=1, keepdims=True),
        posterior,
        bound,
        done + rounds,
        converged,
        STARTS,
        seed,
    )


def _start(data: Entries, random: np.random.Generator) -> _State:
    """Raters who know more often than not, each somewhat differently, and guess anyhow."""
    labels = np.maximum(1.0, data.labels)[:, None]
    share = random.uniform(0.4, 0.95, (data.raters, 1))
    knowing = KNOWING_PRIOR + labels * np.hstack([share, 1 - share])
    guess = random.dirichlet(np.ones(data.values), data.raters)
    return _State(knowing, GUESSING_PRIOR + labels * (1 - share) * guess)


def _search(data: Entries, state: _State, most: int) -> tuple[_State, float, int, bool]:
    """Raise the bound until it no longer rises."""
    before, rounds = -np.inf, 0
    for rounds in range(1, most + 1):
        risen, _, bound = _step(data, state)
        if bound - before <= _RISE * max(1.0, abs(bound)):
            return state, bound, rounds, True
        before, state = bound, risen
    return state, before, rounds, False


def _step(data: Entries, state: _State) -> tuple[_State, Array, float]:
    """The next state, the true answers under this one, and the bound of this one."""
    knows, not_knows = _expected(state.knowing).T
    guess = not_knows[:, None] * _expected(state.guessing)  # (R, K): a guess gives the answer
    hit = knows[:, None] + guess  # the true answer was given, known or guessed
    # all answers by guessing, and what it adds that the given ones may have been known
    of_cell = np.log(guess).reshape(-1) + _on_own(np.log(hit / guess))
    logs = data.by_pattern(of_cell) - np.log(data.values)  # by true answer and pattern
    top = logs.max(axis=0)
    parts = np.exp(logs - top)
    total = parts.sum(axis=0)
    posterior = parts / total
    likelihood = float((top + np.log(total)) @ data.times)
    counted = data.by_cell(posterior)  # by rater and answer, and by true answer
    right = counted.reshape(data.raters, data.values, data.values).diagonal(axis1=1, axis2=2)
    known = right * knows[:, None] / hit
    guessed = counted.sum(axis=1).reshape(known.shape) - known
    knew = known.sum(axis=1)
    risen = _State(
        KNOWING_PRIOR + np.stack([knew, guessed.sum(axis=1)], axis=1), GUESSING_PRIOR + guessed
    )
    bound = likelihood - _divergence(state.knowing, KNOWING_PRIOR)
    return risen, posterior, bound - _divergence(state.guessing, GUESSING_PRIOR)


def _on_own(of_cell: Array) -> Array:
    """What each answer of each rater says for itself and for no other answer, (K, R K)."""
    values = of_cell.shape[1]
    return np.asarray((np.eye(values)[:, None] * of_cell).reshape(values, -1))


def _expected(counts: Array) -> Array:
    """The exponential of the expected logarithm of shares with these Dirichlet counts."""
    from scipy.special import digamma

    out: Array = np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))
    return np.maximum(out, 1e-300)


def _divergence(counts: Array, prior: float) -> float:
    """How far Dirichlet distributions with these counts are from the prior, summed over raters."""
    from scipy.special import digamma, gammaln

    total, width = counts.sum(axis=1), counts.shape[1]
    out = gammaln(total) - gammaln(counts).sum(axis=1)
    out -= gammaln(prior * width) - width * gammaln(prior)
    out += ((counts - prior) * (digamma(counts) - digamma(total)[:, None])).sum(axis=1)
    return float(out.sum())
