"""The many-facet Rasch model: how severe each rater is, all else being equal.

    log P(k) / P(k-1) = theta(item) - difficulty(criterion) - severity(rater) - step(k)

Joint maximum likelihood by Newton's method: places of items are eliminated from every step, so
that a handful of steps is enough however raters and items are linked. Estimates of this kind lie
too far apart by a known factor; what is reported is drawn together again by (L-1)/L, L being the
ratings of an item. Refuses designs in which some raters share no item with the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.rasch_design import Asked, Floats

MOST_ROUNDS = 100
NEAR = 1e-9
"""Logits that do not matter."""
_CELLS = 1 << 21
"""Raters by groups that are looked at together."""
_LONGEST = 1.0
"""Logits that one step may take anything."""
_ADJUST = 0.3
"""How far from the end the sum of an item at the end is taken to lie."""
_SINGULAR = 1e-9


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
    def contrast_errors(self) -> Floats:
        """Standard errors of the severities against their mean, as far as the model is right."""
        spread = np.linalg.pinv(self.information, hermitian=True)
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
    mean = tail.sum(axis=0)
    odd = 2 * np.arange(1, len(tail) + 1) - 1
    return mean, np.tensordot(odd, tail, 1) - mean**2


def fit(asked: Asked) -> Rasch:
    """The most likely severities; raises :class:`NoFit` with the reason where there are none."""
    if asked.raters.sum() < 2:
        raise NoFit("fewer than two raters gave answers that differ")
    if not asked.middle.any():
        raise NoFit("no item has two answers that differ")
    return _Newton(asked).run()


_Place = tuple[int, int, NDArray[np.intp], NDArray[np.bool_] | None]


class _Newton:
    """Places, and sums over all ratings of what the model expects."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.used = np.flatnonzero(asked.middle)
        groups = asked.groups
        self.times = groups.times[self.used].astype(np.float64)
        self.score = groups.score[self.used].astype(np.float64)
        self.there = groups.asked[:, :, self.used]  # (C, R, G)
        criteria, raters = self.there.shape[:2]
        self.present = self.there.any(axis=0)
        self.first = np.cumsum([raters + criteria, *(len(one) - 1 for one in asked.values)])
        self.size = int(self.first[-1])
        self.blocks: dict[int, list[_Place]] = {}
        self.beta = np.zeros(self.size)
        best = np.einsum("crg,c->g", self.there, asked.tops().astype(np.float64))
        self.theta = np.log((self.score + 0.5) / (best - self.score + 0.5))
        self.seen = self._seen()
        for at, family in enumerate(asked.families):
            count = asked.counts[list(family)].sum(axis=(0, 1))[: len(asked.values[at])]
            ratio = np.log(np.maximum(count[:-1], 0.5) / np.maximum(count[1:], 0.5))
            self.beta[self.first[at] : self.first[at + 1]] = ratio - ratio.mean()

    def _seen(self) -> Floats:
        """What the answers add up to, for every parameter."""
        asked = self.asked
        tail = asked.counts[:, :, ::-1].cumsum(axis=2)[:, :, ::-1][:, :, 1:]  # (C, R, K-1)
        alone = asked.groups.asked.sum(axis=(0, 1)) == 1
        alone &= ~(asked.low | asked.high)
        for group in np.flatnonzero(alone):  # an item with one answer says nothing of anybody
            criterion, rater = (int(one[0]) for one in np.nonzero(asked.groups.asked[:, :, group]))
            step = asked.groups.score[group]
            tail[criterion, rater, :step] -= asked.groups.times[group]
        total = tail.sum(axis=2)
        parts = [total.sum(axis=0), total.sum(axis=1)]
        for family, values in zip(asked.families, asked.values, strict=True):
            parts.append(tail[list(family)].sum(axis=(0, 1))[: len(values) - 1])
        return np.concatenate(parts).astype(np.float64)

    def run(self) -> Rasch:
        for _ in range(MOST_ROUNDS):
            gradient, hessian, back = self._sums()
            step = np.linalg.solve(hessian + self._fixed(), gradient)
            moved = self._move(step, back)
            if moved < NEAR:
                return self._done(hessian)
        raise NoFit("the estimates do not settle: the ratings hardly link the raters")

    def _move(self, step: Floats, back: list[tuple[slice, Floats, Floats, Floats]]) -> float:
        longest = float(np.abs(step).max(initial=0.0))
        short = min(1.0, _LONGEST / longest) if longest else 1.0
        self.beta += short * step
        for part, gap, cross, weight in back:
            own = (gap - cross.T @ (short * step)) / weight
            self.theta[part] += np.clip(own, -_LONGEST, _LONGEST)
            longest = max(longest, float(np.abs(own).max(initial=0.0)))
        self._centre()
        if np.abs(self.beta).max() > 50:
            raise NoFit("the estimates run away: the ratings hardly link the raters")
        return longest

    def _centre(self) -> None:
        """Severities, difficulties and the steps of each family have mean 0."""
        raters = self.asked.raters
        criteria = len(self.asked.criteria)
        severity, difficulty = self._split()
        for at, family in enumerate(self.asked.families):
            steps = self.beta[self.first[at] : self.first[at + 1]]
            shift = steps.mean() if len(steps) else 0.0
            steps -= shift
            difficulty[list(family)] += shift
        for part, kept in ((severity, raters), (difficulty, self.asked.criteria)):
            shift = part[kept].mean()
            part -= shift
            part[~kept] = 0.0
            self.theta -= shift
        assert len(difficulty) == criteria

    def _split(self) -> tuple[Floats, Floats]:
        raters = len(self.asked.raters)
        return self.beta[:raters], self.beta[raters : self.first[0]]

    def _fixed(self) -> Floats:
        """Directions in which nothing changes, and parameters of nobody: held where they are."""
        raters, size = len(self.asked.raters), self.size
        severity, difficulty = np.zeros(size), np.zeros(size)
        severity[:raters][self.asked.raters] = 1
        difficulty[raters : self.first[0]][self.asked.criteria] = 1
        held = [severity, difficulty]
        for at, family in enumerate(self.asked.families):
            if self.first[at + 1] > self.first[at]:
                shift = np.zeros(size)
                shift[self.first[at] : self.first[at + 1]] = 1
                shift[raters + np.array(family)] = -1.0
                shift[raters : self.first[0]][~self.asked.criteria] = 0
                held.append(shift)
        unit = np.linalg.qr(np.stack(held, axis=1))[0]
        scale = max(1.0, float(self.times.sum()))
        nobody = np.concatenate([~self.asked.raters, ~self.asked.criteria])
        lone = np.zeros(size)
        lone[: len(nobody)][nobody] = 1
        return np.asarray(scale * (unit @ unit.T + np.diag(lone)))

    def _sums(self) -> tuple[Floats, Floats, list[tuple[slice, Floats, Floats, Floats]]]:
        """Gradient and information of all but the items, and the way back to these."""
        gradient = -self.seen
        self.joint = np.zeros(len(self.asked.raters))
        hessian = np.zeros((self.size, self.size))
        back = []
        wide = max(1, _CELLS // max(self.size, self.present.shape[0]))
        for start in range(0, len(self.theta), wide):
            part = slice(start, start + wide)
            cross, weight, mean = self._part(part, gradient, hessian)
            gap = self.score[part] - mean
            often = self.times[part] / weight
            gradient += cross @ (often * gap)
            hessian -= (cross * often) @ cross.T
            back.append((part, gap, -cross, weight))
        return gradient, hessian, back

    def _part(
        self, part: slice, gradient: Floats, hessian: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Some groups: adds to the sums; gives what links them to the parameters."""
        theta, times = self.theta[part], self.times[part]
        severity, difficulty = self._split()
        raters = len(severity)
        cross = np.zeros((self.size, len(theta)))
        mean = np.zeros(len(theta))
        for rater, at, here, there in self._blocks(part):
            rows = list(self.asked.families[at])
            weight = times[here]
            eta = theta[here] - (difficulty[rows] + severity[rater])[:, None]
            steps = self.beta[self.first[at] : self.first[at + 1]]
            tail = tails(eta, steps if len(steps) else np.zeros(1))
            if there is not None:
                tail *= there
            mine = _Block(tail, weight)
            own = raters + np.array(rows)
            mean[here] += mine.mean.sum(axis=0)
            cross[rater, here] += mine.spread.sum(axis=0)
            for row, spread in zip(own, mine.spread, strict=True):
                cross[row, here] += spread
            gradient[rater] += mine.total.sum()
            gradient[own] += mine.total
            both = mine.spread @ weight
            self.joint[rater] += both.sum()
            hessian[rater, rater] += both.sum()
            hessian[own, own] += both
            hessian[rater, own] += both
            hessian[own, rater] += both
            if len(steps):
                self._steps_of(mine, at, rater, own, here, cross, gradient, hessian)
        return cross, cross[:raters].sum(axis=0), mean

    def _blocks(self, part: slice) -> list[_Place]:
        """Who rated what in some groups: which rater, family, groups, and where it is not all."""
        if part.start not in self.blocks:
            found = []
            for rater in np.flatnonzero(self.present[:, part].any(axis=1)):
                here = np.flatnonzero(self.present[rater, part])
                for at, family in enumerate(self.asked.families):
                    there = self.there[list(family), rater, part][:, here]
                    if there.any():
                        found.append((int(rater), at, here, None if there.all() else there))
            self.blocks[part.start] = found
        return self.blocks[part.start]

    def _steps_of(
        self, mine: _Block, at: int, rater: int, own: NDArray[np.intp], here: NDArray[np.intp],
        cross: Floats, gradient: Floats, hessian: Floats,
    ) -> None:  # fmt: skip
        """What the steps of a family add."""
        place = np.arange(self.first[at], self.first[at + 1])
        with_score = mine.step_spread()  # (K-1, C, G)
        for row, spread in zip(place, with_score.sum(axis=1), strict=True):
            cross[row, here] += spread
        gradient[place] += mine.step_totals()
        both = with_score @ mine.times  # (K-1, C)
        hessian[np.ix_(place, own)] += both
        hessian[np.ix_(own, place)] += both.T
        hessian[place, rater] += both.sum(axis=1)
        hessian[rater, place] += both.sum(axis=1)
        hessian[np.ix_(place, place)] += mine.step_products()

    def _done(self, hessian: Floats) -> Rasch:
        asked = self.asked
        raters = len(asked.raters)
        values = np.linalg.eigvalsh(hessian + self._fixed())
        if values[0] < _SINGULAR * values[-1]:
            raise NoFit("raters and criteria cannot be told apart in this design")
        rest = (hessian + self._fixed())[raters:, raters:]
        side = hessian[:raters, raters:]
        information = hessian[:raters, :raters] - side @ np.linalg.solve(rest, side.T)
        severity, difficulty = (part.copy() for part in self._split())
        severity[~asked.raters] = np.nan
        difficulty[~asked.criteria] = np.nan
        steps = tuple(
            self.beta[self.first[at] : self.first[at + 1]].copy()
            if self.first[at + 1] > self.first[at]
            else np.zeros(1)
            for at in range(len(asked.families))
        )
        long = float(self.there.sum(axis=(0, 1)) @ self.times / self.times.sum())
        theta = self._all_places(severity, difficulty, steps)
        factor = (long - 1) / long
        return Rasch(
            asked, severity, difficulty, steps, theta, factor, information, self.joint
        )

    def _all_places(
        self, severity: Floats, difficulty: Floats, steps: tuple[Floats, ...]
    ) -> Floats:
        """Places of all groups; those at an end as if they lay a little inside."""
        asked, groups = self.asked, self.asked.groups
        theta = np.zeros(len(groups.score))
        theta[self.used] = self.theta
        rest = np.setdiff1d(np.arange(len(theta)), self.used)
        there = groups.asked[:, :, rest]
        best = np.einsum("crg,c->g", there, asked.tops().astype(np.float64))
        score = np.clip(groups.score[rest], _ADJUST, np.maximum(best - _ADJUST, _ADJUST))
        found = np.zeros(len(rest))
        for _ in range(50):
            gap, weight = score.copy(), np.full(len(rest), 1e-9)
            for at, family in enumerate(asked.families):
                for criterion in family:
                    for rater in np.flatnonzero(there[criterion].any(axis=1)):
                        eta = found - difficulty[criterion] - severity[rater]
                        mean, spread = moments(tails(eta, steps[at]))
                        gap -= mean * there[criterion, rater]
                        weight += spread * there[criterion, rater]
            step = np.clip(gap / weight, -1, 1)
            found += step
            if np.abs(step).max(initial=0.0) < 1e-6:
                break
        theta[rest] = np.where(best > 0, found, 0.0)
        return theta


class _Block:
    """One rater's answers to the criteria of a family in some groups."""

    def __init__(self, tail: Floats, times: Floats) -> None:
        self.tail, self.times = tail, times
        self.mean, self.spread = moments(tail)
        self.total = self.mean @ times

    def step_totals(self) -> Floats:
        """How often each step is expected to be taken."""
        return np.asarray((self.tail @ self.times).sum(axis=1))

    def step_spread(self) -> Floats:
        """How each step goes with the answer as a whole, (K-1, C, G)."""
        number = np.arange(1, len(self.tail) + 1)[:, None, None]
        above = self.tail[::-1].cumsum(axis=0)[::-1] - self.tail
        return np.asarray(number * self.tail + above - self.mean * self.tail)

    def step_products(self) -> Floats:
        """How steps go with one another, (K-1, K-1)."""
        totals = self.step_totals()
        higher = np.maximum.outer(np.arange(len(totals)), np.arange(len(totals)))
        flat = self.tail.reshape(len(self.tail), -1)
        weight = np.broadcast_to(self.times, self.tail.shape[1:]).reshape(-1)
        return np.asarray(totals[higher] - (flat * weight) @ flat.T)
