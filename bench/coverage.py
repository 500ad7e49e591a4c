"""How often an interval holds the true value, by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench import ratings
from bench.sheets import SEED
from calibrant.stats.agreement import of_pair, of_set
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.weights import Ruler

Table = NDArray[np.float64]


def ruler(labels: Sequence[str]) -> Ruler:
    """Names without order."""
    return Ruler(tuple(labels), "nominal", np.arange(len(labels), dtype=np.float64), numeric=False)


def truth(joint: Table) -> dict[str, float]:
    """What the coefficients are of all items there could be, from how two raters answer one.

    All raters answer alike, so that Cohen's kappa and alpha are the same.
    """
    use, agreed = joint.sum(axis=0), float(np.trace(joint))
    chance = float((use**2).sum())
    gwet = float((use * (1 - use)).sum()) / (len(use) - 1)
    alpha = (agreed - chance) / (1 - chance)
    return {
        "krippendorff_alpha:nominal": alpha,
        "cohen_kappa": alpha,
        "gwet_ac": (agreed - gwet) / (1 - gwet),
    }


@dataclass(slots=True)
class Tally:
    """What became of the intervals of one coefficient."""

    samples: int = 0
    held: int = 0
    below: int = 0
    """Intervals that lie below the true value."""
    none: int = 0
    """Samples without a value."""
    point: int = 0
    """Intervals of no width."""
    widths: list[float] = field(default_factory=list)

    def add(self, one: Estimate, true: float) -> None:
        """Count one sample."""
        self.samples += 1
        if one.interval is None:
            self.none += 1
            return
        low, high = one.interval
        self.held += low <= true <= high
        self.below += high < true
        self.point += low == high
        self.widths.append(high - low)

    @property
    def with_value(self) -> int:
        """Samples with an interval."""
        return self.samples - self.none

    @property
    def coverage(self) -> float:
        """Of the samples with an interval."""
        return self.held / max(1, self.with_value)

    @property
    def error(self) -> float:
        """What the coverage found may be off by, one standard error."""
        share = min(max(self.coverage, 0.5 / self.with_value), 1 - 0.5 / self.with_value)
        return float((share * (1 - share) / self.with_value) ** 0.5)


# -- designs

MISSING = 0.05


def ordinary_joint() -> Table:
    """How two raters of the ordinary design answer one item, shape (3, 3)."""
    share, care = np.array(ratings.SHARES), ratings.CARE
    answers = care * np.eye(len(share)) + (1 - care) / len(share)  # by true answer
    return np.asarray(np.einsum("t,tk,tl->kl", share, answers, answers))


def ordinary(items: int, random: np.random.Generator, design: Design) -> list[Estimate]:
    """Three raters, three answers, some missing."""
    codes = ratings.draw(random, 3, items, missing=MISSING)
    return of_set(codes, ruler(ratings.WORDS), design)


def hard_joint(kappa: float = 0.9, usual: float = 0.95) -> Table:
    """How two raters answer who nearly always give the same answer, shape (2, 2)."""
    use = np.array([usual, 1 - usual])
    return np.asarray(kappa * np.diag(use) + (1 - kappa) * np.outer(use, use))


def hard(items: int, random: np.random.Generator, design: Design) -> list[Estimate]:
    """Two raters with next to no disagreement and next to no variation."""
    table = random.multinomial(items, hard_joint().reshape(-1)).reshape(2, 2)
    return of_pair(table, ruler(("YES", "NO")), design)


Sampler = Callable[[int, np.random.Generator, Design], list[Estimate]]


def tallies(
    sampler: Sampler,
    true: dict[str, float],
    items: int,
    samples: Iterable[int],
    methods: dict[str, Design],
) -> dict[tuple[str, str], Tally]:
    """By coefficient and method; both methods see the same samples."""
    found: dict[tuple[str, str], Tally] = {}
    for number in samples:
        for method, design in methods.items():
            random = np.random.default_rng([SEED, items, number])
            for one in sampler(items, random, design):
                if one.name in true:
                    found.setdefault((one.name, method), Tally()).add(one, true[one.name])
    return found
