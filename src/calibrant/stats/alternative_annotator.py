"""May a judge take a person's place? The alternative annotator test, and the judge among people.

The test (Calderon, Reichart and Dror 2025) leaves out one person at a time: who stands closer to
the others, item by item, that person or the judge? The person may be ahead by ``epsilon``, the
price of asking people. The judge passes if it is no further behind than that against at least half
of them, false discoveries being controlled (Benjamini and Yekutieli).

The verdict on judges (Judge's Verdict, 2025) asks whether the judge's kappa with people lies where
people's kappas with each other lie.

Both work on patterns: who answered what, and how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.counts import ABSENT, Patterns, counts_of
from calibrant.stats.kappa import cohen
from calibrant.stats.weights import identity

Array = NDArray[np.float64]
LEAST_ITEMS = 30
"""Items of a person below which the test says nothing of them."""
RATE = 0.05
"""False discoveries among the people that the judge is told to match."""
_REPLICATES = 1_000
_MOST_CELLS = 20_000_000
"""Cells of a table of resampling, at most."""


@dataclass(frozen=True, slots=True)
class Match:
    """The judge against one person, in the eyes of the others."""

    items: int
    advantage: float | None = None
    """How often the judge is at least as close to the others as the person is."""
    behind: float | None = None
    """How much more often the person is at least as close."""
    spread: float | None = None
    """Standard deviation of that over items."""
    p: float | None = None
    """Of the judge being behind by ``epsilon`` or more."""
    won: bool = False
    """Whether the judge is shown to be no further behind than ``epsilon``."""
    lost: bool = False
    """Whether it is shown to be further behind."""


@dataclass(frozen=True, slots=True)
class AlternativeTest:
    """The test over all people."""

    matches: tuple[Match, ...]
    epsilon: float
    winning_rate: float | None = None
    """Share of the people tested against whom the judge wins."""
    advantage: float | None = None
    """Mean over these people: what judges are ranked by."""
    undefined: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the judge may take a person's place."""
        return self.winning_rate is not None and self.winning_rate >= 0.5


def alternative_annotator(
    found: Patterns,
    judge: int,
    people: Sequence[int],
    epsilon: float,
    points: Array | None = None,
) -> AlternativeTest:
    """Run the test: close is the same answer, or with ``points`` the least distance from them.

    ``judge`` and ``people`` are rows of the codes; items count that the judge and two people or
    more have answered.
    """
    codes = found.codes[list(people)]
    given = codes != ABSENT
    used = (found.codes[judge] != ABSENT) & (given.sum(axis=0) >= 2)
    closeness = (
        _same(found, judge, people) if points is None else _near(found, judge, people, points)
    )
    matches = [
        _match(theirs - judges, found.times, used & mine, epsilon)
        for (judges, theirs), mine in zip(closeness, given, strict=True)
    ]
    tested = [at for at, one in enumerate(matches) if one.p is not None]
    if not tested:
        most = max((one.items for one in matches), default=0)
        why = f"nobody shares {LEAST_ITEMS} items with the judge and others; {most} at most"
        return AlternativeTest(tuple(matches), epsilon, undefined=why)
    p = np.array([matches[at].p for at in tested], np.float64)
    for at, won, lost in zip(tested, discoveries(p), discoveries(1 - p), strict=True):
        matches[at] = replace(matches[at], won=bool(won), lost=bool(lost))
    wins = sum(matches[at].won for at in tested)
    advantage = float(np.mean([matches[at].advantage for at in tested]))
    return AlternativeTest(tuple(matches), epsilon, wins / len(tested), advantage)


def _same(found: Patterns, judge: int, people: Sequence[int]) -> list[tuple[Array, Array]]:
    """How many of the others answer as the judge does, and as each person does."""
    values = int(found.codes[found.codes != ABSENT].max(initial=0)) + 1
    theirs = Patterns(found.codes[list(people)], found.times)
    counts = counts_of(theirs, values).counts.astype(np.float64)
    rows = np.arange(len(counts))

    def of(codes: NDArray[np.uint8]) -> Array:
        return counts[rows, np.minimum(codes, values - 1)]

    said = found.codes[judge]
    with_judge = of(said)
    return [(with_judge - (own == said), of(own) - 1) for own in theirs.codes]


def _near(
    found: Patterns, judge: int, people: Sequence[int], points: Array
) -> list[tuple[Array, Array]]:
    """Minus the squared distances from the others' answers, summed."""
    place = np.append(points, np.zeros(ABSENT + 1 - len(points)))
    codes = found.codes[list(people)]
    given = codes != ABSENT
    value = np.where(given, place[codes], 0.0)
    said = place[found.codes[judge]]
    m, first, second = given.sum(axis=0), value.sum(axis=0), (value**2).sum(axis=0)

    def far(at: Array, own: Array) -> Array:
        others = (m - 1) * at**2 - 2 * at * (first - own) + (second - own**2)
        return np.asarray(-others.round(9))

    return [(far(said, own), far(own, own)) for own in value]


def _match(
    ahead: Array, times: NDArray[np.int64], used: NDArray[np.bool_], epsilon: float
) -> Match:
    """From how far a person is ahead of the judge in each pattern."""
    n = int(times[used].sum())
    if n < LEAST_ITEMS:
        return Match(n)
    sign, weight = np.sign(ahead[used]), times[used]
    advantage = float(weight @ (sign <= 0)) / n
    behind = float(weight @ sign) / n
    spread = sqrt(max(0.0, float(weight @ (sign - behind) ** 2)) / (n - 1))
    if spread == 0:
        p = float(behind >= epsilon)
    else:
        from scipy.special import stdtr

        p = float(stdtr(n - 1, (behind - epsilon) / (spread / sqrt(n))))
    return Match(n, advantage, behind, spread, p)


def discoveries(p: Array, rate: float = RATE) -> NDArray[np.bool_]:
    """Which hypotheses fall, false discoveries controlled under any dependence."""
    m = len(p)
    order = np.argsort(p, kind="stable")
    limits = np.arange(1, m + 1) / m * rate / (1 / np.arange(1, m + 1)).sum()
    below = np.flatnonzero(p[order] <= limits)
    out = np.zeros(m, bool)
    if len(below):
        out[order[: below[-1] + 1]] = True
    return out


def items_to_win(test: AlternativeTest) -> int | None:
    """How many items more, over all people, would show the judge to be close enough.

    None where more items would not: where the judge is further behind than ``epsilon``.
    """
    from scipy.special import ndtri

    tested = [one for one in test.matches if one.p is not None]
    half = ceil(len(tested) / 2)
    level = RATE * half / len(tested) / sum(1 / k for k in range(1, len(tested) + 1))
    wanted = []
    for one in tested:
        assert one.behind is not None and one.spread is not None
        gap = test.epsilon - one.behind
        if one.won:
            wanted.append(0)
        elif gap > 0:
            needed = ceil((float(ndtri(level)) * one.spread / gap) ** 2)
            wanted.append(max(1, needed - one.items))
    wanted.sort()
    return sum(wanted[:half]) if len(wanted) >= half else None


# -- the judge among people


@dataclass(frozen=True, slots=True)
class AmongPeople:
    """The judge's mean kappa with people, beside each person's with the others."""

    judge: float | None = None
    people: tuple[float, ...] = ()
    z: float | None = None
    """Standard deviations of people that the judge lies above their mean."""
    interval: tuple[float, float] | None = None
    reading: str | None = None
    undefined: str | None = None


def among_people(
    found: Patterns, judge: int, people: Sequence[int], values: int, seed: int = 0
) -> AmongPeople:
    """Where the judge stands among people, with an interval by resampling items."""
    if len(people) < 3:
        return AmongPeople(undefined="fewer than three people: they have no spread")
    rows = [judge, *people]
    pairs = list(combinations(range(len(rows)), 2))
    hits = found.codes[rows][:, None] == np.arange(values, dtype=np.uint8)[:, None]  # (R, K, U)
    sums = np.stack(
        [(hits[a][:, None] & hits[b][None]).reshape(values * values, -1) for a, b in pairs]
    ).reshape(len(pairs) * values * values, -1)
    judges, own, z = _placed(sums @ found.times.astype(np.float64), pairs, values)
    met = own[np.isfinite(own)]
    if len(met) < 3:
        return AmongPeople(undefined="fewer than three people share items with others")
    if not np.isfinite(z) or np.ptp(met) < 1e-12:  # rounding is no variation
        return AmongPeople(undefined="no variation among people's kappas")
    interval = None
    cells = sums.size + _REPLICATES * (len(found.times) + len(sums))
    if cells <= _MOST_CELLS:
        drawn = np.random.default_rng(seed).multinomial(
            int(found.times.sum()), found.times / found.times.sum(), _REPLICATES
        )
        spread = _placed(np.asarray(drawn @ sums.T, np.float64), pairs, values)[2]
        known = spread[np.isfinite(spread)]  # a sample may leave people no spread
        if known.size:
            low, high = np.quantile(known, (0.025, 0.975))
            interval = (float(low), float(high))
    reading = "human-like" if abs(z) <= 1 else "above people" if z > 0 else "below people"
    return AmongPeople(float(judges), tuple(map(float, met)), float(z), interval, reading)


def _placed(
    sums: Array, pairs: Sequence[tuple[int, int]], values: int
) -> tuple[Array, Array, Array]:
    """The judge's mean kappa, every person's (..., people), and z, from tables of pairs."""
    tables = sums.reshape(*sums.shape[:-1], len(pairs), values, values)
    kappa = cohen(tables, identity(values))
    raters = pairs[-1][1] + 1
    # a judge is compared with people, a person with the other people
    with_judge = [at for at, pair in enumerate(pairs) if pair[0] == 0]
    of_person = [
        [at for at, pair in enumerate(pairs) if who in pair and pair[0] != 0]
        for who in range(1, raters)
    ]
    judge = _mean(kappa[..., with_judge])
    own = np.stack([_mean(kappa[..., at]) for at in of_person], axis=-1)
    middle = _mean(own)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = _mean((own - middle[..., None]) ** 2)
        known = np.isfinite(own).sum(axis=-1)
        z = (judge - middle) / np.sqrt(squares * known / (known - 1))
    return judge, own, z


def _mean(values: Array) -> Array:
    """Of the last axis, of what has a value: some pairs share no item."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1))
