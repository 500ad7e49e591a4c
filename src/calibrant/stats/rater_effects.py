"""What is peculiar to a rater: severity, halo, central tendency, noise.

Every effect is a sum over items, and its error comes from these sums themselves: answers of one
rater to one item may go together in any way. Effects are held against the middle of the panel,
because a consensus that one rater pulls to a side makes all others look a little different, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtr

from calibrant.stats.rasch import Rasch, moments, tails
from calibrant.stats.rasch_design import Floats
from calibrant.stats.residuals import Residuals

MEDIAN_COST = 1.57
"""Variance of a median against that of a mean."""
_MIXED = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7])
"""Shares of answers at random that are tried."""
_LOOKED_FOR = 0.2
"""The share that is looked for: what shows it best shows others well."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One number about one rater."""

    value: float
    error: float
    items: int

    @property
    def z(self) -> float:
        """In standard errors."""
        return self.value / self.error if self.error > 0 else 0.0

    @property
    def p(self) -> float:
        """How often chance alone is as far off, either way."""
        return float(min(1.0, 2 * stdtr(max(self.items - 1, 1), -abs(self.z))))

    def upper(self) -> float:
        """How often chance alone is as far above."""
        return float(stdtr(max(self.items - 1, 1), -self.z))


def ratio(top: Floats, bottom: Floats) -> Effect:
    """Sum over sum, with the error of a ratio whose terms are independent."""
    total = float(bottom.sum())
    items = int(np.count_nonzero(bottom))
    if total <= 0 or items < 2:
        return Effect(0.0, 0.0, items)
    value = float(top.sum()) / total
    return Effect(value, float(np.sqrt(((top - value * bottom) ** 2).sum())) / total, items)


def against_panel(effects: list[Effect]) -> list[Effect]:
    """Each less the middle one, whose own error is taken into account."""
    known = [one for one in effects if one.error > 0]
    if len(known) < 2:
        return effects
    middle = float(np.median([one.value for one in known]))
    others = float(np.mean([one.error**2 for one in known])) * MEDIAN_COST / len(known)
    return [
        Effect(one.value - middle, float(np.sqrt(one.error**2 + others)), one.items)
        if one.error > 0
        else one
        for one in effects
    ]


# -- severity


def severity_effects(model: Rasch, of: list[Residuals]) -> list[Effect]:
    """Logits above the mean of the panel, with errors that allow for moods."""
    raters = [one.rater for one in of]
    size = len(model.severity)
    met = np.zeros((size, size))
    items = len(model.asked.groups.of)
    wide = max(1, (1 << 22) // len(raters))
    for start in range(0, items, wide):
        rows = np.zeros((size, min(wide, items - start)))
        for one in of:
            low, high = np.searchsorted(one.items, [start, start + wide])
            rows[one.rater, one.items[low:high] - start] = one.rows[low:high]
        met += rows @ rows.T
    inverse = model.inverse
    error = np.sqrt(np.maximum(np.diag(inverse @ met @ inverse), 0)) * model.factor
    error = np.maximum(error, model.contrast_errors)
    return [
        Effect(float(model.severities[one.rater]), float(error[one.rater]), len(one.items))
        for one in of
    ]


def criterion_effects(model: Rasch, one: Residuals) -> list[Effect]:
    """Logits by which a rater is more severe on each criterion than overall."""
    asked = max(1, int(one.there.any(axis=1).sum()))
    scale = model.factor / (one.left * max(1 - 1 / asked, 0.25))
    found = []
    for gap, spread in zip(one.gap, one.spread, strict=True):
        total = float(spread.sum())
        items = int(np.count_nonzero(spread))
        if total <= 0 or asked < 2:
            found.append(Effect(0.0, 0.0, items))
            continue
        error = float(np.sqrt((gap**2).sum())) / total
        found.append(Effect(-float(gap.sum()) / total * scale, error * scale, items))
    return found


# -- halo


def halo_effect(one: Residuals) -> Effect:
    """Mean correlation of the gaps of two criteria."""
    root = np.sqrt(one.spread)
    size = float((one.gap**2).sum() / max(one.spread.sum(), 1e-12))
    products = (one.rows**2 - (one.gap**2).sum(axis=0)) / 2
    pairs = size * (root.sum(axis=0) ** 2 - (root**2).sum(axis=0)) / 2
    return ratio(products, pairs)


def identical_effect(model: Rasch, one: Residuals) -> Effect:
    """Share of items with the same answer to every criterion, less what the model expects."""
    family = max(range(len(model.steps)), key=lambda at: len(model.asked.families[at]))
    rows = [one for one in model.asked.families[family] if model.asked.criteria[one]]
    full = one.there[rows].all(axis=0)
    if len(rows) < 2 or full.sum() < 2:
        return Effect(0.0, 0.0, 0)
    answer = one.answer[rows][:, full]
    same = (answer == answer[0]).all(axis=0)
    theta = one.theta[full]
    chance: Floats = np.ones((len(model.steps[family]) + 1, len(theta)))
    for criterion in rows:
        eta = theta - model.difficulty[criterion] - model.severity[one.rater]
        chance *= probabilities(tails(eta, model.steps[family]))
    return ratio(same - chance.sum(axis=0), np.ones(len(theta)))


def probabilities(tail: Floats) -> Floats:
    """Of each answer, from tails."""
    edge = np.ones((1, *tail.shape[1:]))
    return -np.diff(np.concatenate([edge, tail, 0 * edge]), axis=0)


# -- central tendency and noise


@dataclass(frozen=True, slots=True)
class Bent:
    """A rater's answers with a slope of their own."""

    slope: Effect
    """Less 1."""
    random: Effect
    """Share of answers given at random."""
    better_random: bool
    """Whether random answers explain more than a slope does."""


def bent(model: Rasch, one: Residuals) -> Bent:
    """How a rater's answers follow the items, and what is left then."""
    line = _Line(model, one)
    line.settle()
    rows = line.rows()
    away = line.centred.take(one.place)
    known = float(line.weight @ line.centred**2)
    error = float(np.sqrt(((rows * away) ** 2).sum())) / max(known, 1e-12)
    plain, own = line.plain(), [probabilities(tail) for tail in line.tail]
    mixed = max(line.likelihood(plain, float(share)) for share in _MIXED)
    better = mixed > line.likelihood(own)
    # whichever explains more has all that speaks for it; the other what is left then
    random = line.random_share(plain if better else own)
    return Bent(Effect(line.slope - 1, error, len(one.items)), random, better)


class _Line:
    """A slope and a shift of one rater's own, fitted to the groups that the rater saw."""

    def __init__(self, model: Rasch, one: Residuals) -> None:
        self.model, self.one = model, one
        size = len(one.groups)
        self.times = np.bincount(one.place, minlength=size)
        self.there = model.asked.groups.asked[:, one.rater, one.groups]
        self.score = np.bincount(one.place, (one.answer * one.there).sum(axis=0), size)
        self.theta = model.theta[one.groups]
        spread = np.bincount(one.place, one.row_spread, size)
        self.away = self.theta - (spread @ self.theta) / max(float(spread.sum()), 1e-12)
        self.slope, self.shift = 1.0, 0.0

    def settle(self) -> None:
        """Newton's method; a few steps are enough."""
        for _ in range(8):
            self._look()
            rows = self.score - self.times * self.mean.sum(axis=0)
            away, weight = self.away, self.weight
            cross = float(weight @ away)
            known = np.array([[weight @ away**2, cross], [cross, weight.sum()]])
            step = np.linalg.solve(known + 1e-9 * np.eye(2), [rows @ away, rows.sum()])
            if np.abs(step).max() < 1e-5:
                break
            self.slope += float(np.clip(step[0], -0.5, 0.5))
            self.shift += float(np.clip(step[1], -1, 1))

    def _look(self) -> None:
        self.tail = self.tails((self.slope - 1) * self.away + self.shift)
        pairs = [moments(one) for one in self.tail]
        self.mean = np.stack([mean for mean, _ in pairs]) * self.there
        self.spread = np.stack([spread for _, spread in pairs]) * self.there
        self.weight = self.times * self.spread.sum(axis=0)

    @property
    def centred(self) -> Floats:
        """How far groups lie from the middle of what the rater can tell apart."""
        middle = float(self.weight @ self.away) / max(float(self.weight.sum()), 1e-12)
        return np.asarray(self.away - middle)

    def tails(self, extra: Floats) -> list[Floats]:
        """Of each criterion, the places of all groups moved by ``extra``."""
        found: dict[int, Floats] = {}
        severity = self.model.severity[self.one.rater]
        for steps, family in zip(self.model.steps, self.model.asked.families, strict=True):
            for criterion in family:
                eta = self.theta + extra - self.model.difficulty[criterion] - severity
                found[criterion] = tails(np.nan_to_num(eta), steps)
        return [found[criterion] for criterion in sorted(found)]

    def rows(self) -> Floats:
        """Gaps of each item together."""
        one = self.one
        return np.asarray(
            (one.answer * one.there).sum(axis=0) - self.mean.sum(axis=0).take(one.place)
        )

    @cached_property
    def given(self) -> list[Floats]:
        """How often each answer was given in each group, by criterion, shape (K, g)."""
        one, size = self.one, len(self.theta)
        out = []
        for answer, there, tail in zip(one.answer, one.there, self.tail, strict=True):
            key = answer[there].astype(np.intp) * size + one.place[there]
            count = np.bincount(key, minlength=(len(tail) + 1) * size)
            out.append(count.reshape(len(tail) + 1, size).astype(np.float64))
        return out

    def likelihood(self, chances: list[Floats], share: float = 0.0) -> float:
        """Of the answers, if so many of them are given at random."""
        total = 0.0
        for given, chance in zip(self.given, chances, strict=True):
            mixed = (1 - share) * chance + share / len(chance)
            total += float((given * np.log(np.maximum(mixed, 1e-12))).sum())
        return total

    def plain(self) -> list[Floats]:
        """Chances of answers without a slope and a shift of their own."""
        return [probabilities(tail) for tail in self.tails(np.zeros(len(self.theta)))]

    def random_share(self, chances: list[Floats]) -> Effect:
        """Share of answers at random, from how much better a mixture tells what was answered.

        What each answer says for a mixture has a known mean without one, and a known mean if all
        answers were random; where the answers lie between the two is the share.
        """
        one = self.one
        says, between = np.zeros(len(one.items)), np.zeros(len(one.items))
        for answer, there, plain in zip(one.answer, one.there, chances, strict=True):
            chance = np.maximum(plain, 1e-12)
            worth = np.log1p(_LOOKED_FOR * (1 / len(chance) / chance - 1))  # (K, g)
            mean = (chance * worth).sum(axis=0)
            given = worth[answer * there, one.place] - mean.take(one.place)
            says += given * there
            between += (worth.mean(axis=0) - mean).take(one.place) * there
        return ratio(says, between)
