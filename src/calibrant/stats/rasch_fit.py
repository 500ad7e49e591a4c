"""The most likely severities, difficulties and steps: joint maximum likelihood by Newton's method.

Places of items are eliminated from every step, so that a handful of steps is enough however raters
and items are linked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.rasch import NoFit, Rasch, moments, tails
from calibrant.stats.rasch_design import Asked, Floats, subsets

MOST_ROUNDS = 100
NEAR = 1e-5
"""Logits of a step after which there is none to come: what is left is about their square."""
_CELLS = 1 << 20
"""Ratings, or parameters by groups, that are looked at together."""
_DENSE = 0.5
"""Share of raters an item from which all are looked at together."""
_LONGEST = 1.0
"""Logits that one step may take anything."""
_FAR = 50.0
"""Logits at which an estimate has run away."""
HOLD = 0.001
"""Information that holds every estimate near 0. Ratings outweigh it by far; in a few of them it
keeps what would run away."""
_ADJUST = 0.3
"""How far from the end the sum of an item at the end is taken to lie."""
_SINGULAR = 1e-9
Places = NDArray[np.intp]


def fit(asked: Asked) -> Rasch:
    """The most likely severities; raises :class:`NoFit` with the reason where there are none."""
    if asked.raters.sum() < 2:
        raise NoFit("fewer than two raters gave answers that differ")
    if not asked.middle.any():
        raise NoFit("no item has two answers that differ")
    parts = subsets((asked.groups.asked.any(axis=0) & asked.middle)[asked.raters])
    if len(parts) > 1:
        raise NoFit(f"items with answers that differ link the raters in {len(parts)} sets only")
    return _Newton(asked).run()


_Place = tuple[Places, int, slice | Places, NDArray[np.bool_] | None]


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
        self.present = np.asarray(self.there.any(axis=0), np.bool_)
        self.dense = bool(self.present.mean() > _DENSE)
        # one step alone is no parameter: the difficulty says it
        steps = [len(one) - 1 if len(one) > 2 else 0 for one in asked.values]
        self.first = np.cumsum([raters + criteria, *steps])
        self.size = int(self.first[-1])
        self.blocks: dict[int, list[_Place]] = {}
        self.beta = np.zeros(self.size)
        best = np.einsum("crg,c->g", self.there, asked.tops().astype(np.float64))
        self.theta = np.log((self.score + 0.5) / (best - self.score + 0.5))
        self.seen = self._seen()
        self._fix()
        for at, family in enumerate(asked.families):
            count = asked.counts[list(family)].sum(axis=(0, 1))[: len(asked.values[at])]
            ratio = np.log(np.maximum(count[:-1], 0.5) / np.maximum(count[1:], 0.5))
            if steps[at]:
                self.beta[self.first[at] : self.first[at + 1]] = ratio - ratio.mean()

    def _seen(self) -> Floats:
        """What the answers add up to, for every parameter."""
        asked = self.asked
        tail = asked.counts[:, :, ::-1].cumsum(axis=2)[:, :, ::-1][:, :, 1:]  # (C, R, K-1)
        total = tail.sum(axis=2)
        parts = [total.sum(axis=0), total.sum(axis=1)]
        for family, values in zip(asked.families, asked.values, strict=True):
            if len(values) > 2:
                parts.append(tail[list(family)].sum(axis=(0, 1))[: len(values) - 1])
        return np.concatenate(parts).astype(np.float64)

    def run(self) -> Rasch:
        """Step by step until nothing moves."""
        for _ in range(MOST_ROUNDS):
            sums = self._sums()
            sums.gradient -= self.hold @ self.beta
            sums.hessian += self.hold
            step = np.linalg.solve(sums.hessian + self.fixed, sums.gradient)
            if self._move(np.asarray(step, np.float64), sums) < NEAR:
                return self._done(sums)
        raise NoFit("the estimates do not settle: the ratings hardly link the raters")

    def _move(self, step: Floats, sums: _Sums) -> float:
        """Go there, but not too far at once; how far it would have been."""
        longest = float(np.abs(step).max(initial=0.0))
        short = min(1.0, _LONGEST / longest) if longest else 1.0
        self.beta += short * step
        for part, gap, cross, known in sums.back:
            own = (gap + cross.T @ (short * step)) / known
            self.theta[part] += np.clip(own, -_LONGEST, _LONGEST)
            longest = max(longest, float(np.abs(own).max(initial=0.0)))
        self._centre()
        if np.abs(self.beta).max() > _FAR:
            raise NoFit("the estimates run away: the ratings hardly link the raters")
        return longest

    def _centre(self) -> None:
        """Severities, difficulties and the steps of each family have mean 0."""
        severity, difficulty = self.split()
        for at, family in enumerate(self.asked.families):
            steps = self.steps_of(at)
            if len(steps):
                difficulty[list(family)] += steps.mean()
                steps -= steps.mean()
        for places, kept in ((severity, self.asked.raters), (difficulty, self.asked.criteria)):
            shift = places[kept].mean()
            places[kept] -= shift
            places[~kept] = 0.0
            self.theta -= shift

    def split(self) -> tuple[Floats, Floats]:
        """Severities and difficulties, in place."""
        raters = len(self.asked.raters)
        return self.beta[:raters], self.beta[raters : self.first[0]]

    def steps_of(self, at: int) -> Floats:
        """Steps of a family, in place; none where there is one alone."""
        return self.beta[self.first[at] : self.first[at + 1]]

    def _fix(self) -> None:
        """Directions in which nothing changes, and parameters of nobody, stay where they are."""
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
        self.fixed = scale * (unit @ unit.T + np.diag(lone))
        self.hold = HOLD * (np.diag(1 - lone) - unit @ unit.T)

    def _sums(self) -> _Sums:
        """Gradient and information of all but the items, and the way back to these."""
        sums = _Sums(self)
        each = self.there.shape[0] * self.there.shape[1] if self.dense else self.size
        wide = max(1, _CELLS // each)
        for start in range(0, len(self.theta), wide):
            sums.add(slice(start, start + wide))
        return sums

    def blocks_of(self, part: slice) -> list[_Place]:
        """Who rated what in some groups: raters, family, groups, and where it is not all."""
        if part.start not in self.blocks:
            present = self.present[:, part]
            some = np.flatnonzero(present.any(axis=1))
            found: list[_Place] = []
            for who in [some] if self.dense else list(some[:, None]):
                here = np.flatnonzero(present[who, :].any(axis=0))
                place = slice(None) if len(here) == present.shape[1] else here
                for at, family in enumerate(self.asked.families):
                    chosen = np.ix_(np.array(family), who, here)
                    there = self.there[:, :, part][chosen].swapaxes(0, 1)
                    if there.any():
                        found.append((who, at, place, None if there.all() else there))
            self.blocks[part.start] = found
        return self.blocks[part.start]

    def _done(self, sums: _Sums) -> Rasch:
        asked = self.asked
        raters = len(asked.raters)
        hessian = sums.hessian
        values = np.linalg.eigvalsh(hessian - self.hold + self.fixed)
        if values[0] < _SINGULAR * values[-1]:
            raise NoFit("raters and criteria cannot be told apart in this design")
        rest = (hessian + self.fixed)[raters:, raters:]
        side = hessian[:raters, raters:]
        information = hessian[:raters, :raters] - side @ np.linalg.solve(rest, side.T)
        severity, difficulty = (part.copy() for part in self.split())
        severity[~asked.raters] = np.nan
        difficulty[~asked.criteria] = np.nan
        steps = tuple(
            one.copy() if len(one := self.steps_of(at)) else np.zeros(1)
            for at in range(len(asked.families))
        )
        long = float(self.there.sum(axis=(0, 1)) @ self.times / self.times.sum())
        theta = self._all_places(severity, difficulty, steps)
        factor = (long - 1) / long
        return Rasch(asked, severity, difficulty, steps, theta, factor, information, sums.joint)

    def _all_places(
        self, severity: Floats, difficulty: Floats, steps: tuple[Floats, ...]
    ) -> Floats:
        """Places of all groups; those at an end as if they lay a little inside."""
        asked, groups = self.asked, self.asked.groups
        theta = np.zeros(len(groups.score))
        theta[self.used] = self.theta
        places = np.nan_to_num(difficulty)[:, None] + np.nan_to_num(severity)  # (C, R)
        rest = np.setdiff1d(np.arange(len(theta)), self.used)
        wide = max(1, _CELLS // places.size)
        for start in range(0, len(rest), wide):
            some = rest[start : start + wide]
            there = groups.asked[:, :, some]
            best = np.einsum("crg,c->g", there, asked.tops().astype(np.float64))
            score = np.clip(groups.score[some], _ADJUST, np.maximum(best - _ADJUST, _ADJUST))
            found = np.zeros(len(some))
            for _ in range(50):
                gap, known = score.copy(), np.full(len(some), 1e-9)
                for family, mine in zip(asked.families, steps, strict=True):
                    rows = list(family)
                    mean, spread = moments(tails(found - places[rows, :, None], mine))
                    gap -= (mean * there[rows]).sum(axis=(0, 1))
                    known += (spread * there[rows]).sum(axis=(0, 1))
                step = np.clip(gap / known, -1, 1)
                found += step
                if np.abs(step).max(initial=0.0) < 1e-6:
                    break
            theta[some] = np.where(best > 0, found, 0.0)
        return theta


class _Sums:
    """Sums over ratings: gradient and information of all but the items."""

    def __init__(self, state: _Newton) -> None:
        self.state = state
        self.raters = len(state.asked.raters)
        self.gradient = -state.seen
        self.hessian = np.zeros((state.size, state.size))
        self.joint = np.zeros(self.raters)
        """Information about each severity, all else known."""
        self.back: list[tuple[slice, Floats, Floats, Floats]] = []
        """Of each part: gaps of its groups, what links them to the parameters, information."""

    def add(self, part: slice) -> None:
        """Some groups, whose places are eliminated."""
        state = self.state
        theta, times = state.theta[part], state.times[part]
        self.cross = np.zeros((state.size, len(theta)))
        mean = np.zeros(len(theta))
        severity, difficulty = state.split()
        for who, at, here, there in state.blocks_of(part):
            rows = np.array(state.asked.families[at])
            steps = state.steps_of(at)
            places = severity[who][:, None] + difficulty[rows]
            tail = tails(theta[here] - places[..., None], steps if len(steps) else np.zeros(1))
            if there is not None:
                tail *= there
            block = _Block(tail, times[here])
            mean[here] += block.mean.sum(axis=(0, 1))
            self._places(block, who, self.raters + rows, here)
            if len(steps):
                self._steps(block, at, who, here)
        gap = state.score[part] - mean
        known = self.cross[: self.raters].sum(axis=0)
        often = times / known
        self.gradient += self.cross @ (often * gap)
        self.hessian -= (self.cross * often) @ self.cross.T
        self.back.append((part, gap, self.cross, known))

    def _places(self, block: _Block, who: Places, own: Places, here: slice | Places) -> None:
        """What raters and criteria add."""
        for row, spread in zip(who, block.spread.sum(axis=1), strict=True):
            self.cross[row, here] += spread
        for row, spread in zip(own, block.spread.sum(axis=0), strict=True):
            self.cross[row, here] += spread
        total, both = block.mean @ block.times, block.spread @ block.times  # (r, c)
        self.gradient[who] += total.sum(axis=1)
        self.gradient[own] += total.sum(axis=0)
        self.joint[who] += both.sum(axis=1)
        self.hessian[who, who] += both.sum(axis=1)
        self.hessian[own, own] += both.sum(axis=0)
        self.hessian[np.ix_(who, own)] += both
        self.hessian[np.ix_(own, who)] += both.T

    def _steps(self, block: _Block, at: int, who: Places, here: slice | Places) -> None:
        """What the steps of a family add."""
        state = self.state
        own = self.raters + np.array(state.asked.families[at])
        place = np.arange(state.first[at], state.first[at + 1])
        with_score = block.step_spread()  # (K-1, r, c, g)
        for row, spread in zip(place, with_score.sum(axis=(1, 2)), strict=True):
            self.cross[row, here] += spread
        self.gradient[place] += block.step_totals()
        both = with_score @ block.times  # (K-1, r, c)
        self.hessian[np.ix_(place, own)] += both.sum(axis=1)
        self.hessian[np.ix_(own, place)] += both.sum(axis=1).T
        self.hessian[np.ix_(place, who)] += both.sum(axis=2)
        self.hessian[np.ix_(who, place)] += both.sum(axis=2).T
        self.hessian[np.ix_(place, place)] += block.step_products()


class _Block:
    """Answers of some raters to the criteria of a family in some groups, (r, c, g)."""

    def __init__(self, tail: Floats, times: Floats) -> None:
        self.tail, self.times = tail, times
        self.mean, self.spread = moments(tail)

    def step_totals(self) -> Floats:
        """How often each step is expected to be taken."""
        return np.asarray((self.tail @ self.times).sum(axis=(1, 2)))

    def step_spread(self) -> Floats:
        """How each step goes with the answer as a whole, (K-1, r, c, g)."""
        out = np.empty_like(self.tail)
        above: Floats = np.zeros_like(self.mean)
        for at in range(len(self.tail) - 1, -1, -1):
            out[at] = (at + 1 - self.mean) * self.tail[at] + above
            above += self.tail[at]
        return out

    def step_products(self) -> Floats:
        """How steps go with one another, (K-1, K-1)."""
        totals = self.step_totals()
        higher = np.maximum.outer(np.arange(len(totals)), np.arange(len(totals)))
        flat = self.tail.reshape(len(self.tail), -1)
        weight = np.broadcast_to(self.times, self.tail.shape[1:]).reshape(-1)
        return np.asarray(totals[higher] - (flat * weight) @ flat.T)
