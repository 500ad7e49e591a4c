"""Every diagnostic of every rater, with false alarms held down over all of them together.

A finding is *shown* and *not small*: its p-value, adjusted for everything else that was looked at,
is below 0.05, and the effect reaches the size from which it matters. Weights say how much of the
5 % goes where. What shows at a glance needs little; half a logit of drift shows in two hundred
items only if most of it goes there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, bdtri, stdtrit

from calibrant.compare.rater_model import NO_PLACE, Fitted
from calibrant.compare.rating_tables import RatingTable
from calibrant.compare.visits import Visits
from calibrant.stats.counts import ABSENT
from calibrant.stats.estimate import Estimate
from calibrant.stats.multiple import weighted_holm
from calibrant.stats.order_effects import recency_effect, repeat_effect, trend_effect
from calibrant.stats.rater_effects import (
    Effect,
    against_panel,
    bent,
    criterion_effects,
    halo_effect,
    identical_effect,
    severity_effects,
)
from calibrant.stats.residuals import Residuals, residuals

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]
FEWEST = 20
"""Items below which nothing but severity is said of a rater."""
FEWEST_REPEATS = 10
ALARM = 0.05
LEAST_SLOPE = 0.1
"""Below, the middle of the panel follows the items so little that nothing is a part of it."""
FAST = 1 / 3
"""Share of the usual time below which an item was hardly read."""
FAST_SHARE = 0.05
"""Share of such items that happens to anybody."""

Kind = Literal[
    "severity", "severity on a criterion", "halo", "identical rows", "central tendency",
    "carelessness", "drift", "fatigue", "recency", "straight-lining", "speeding",
    "self-agreement", "NA overuse",
]  # fmt: skip


class Rule(NamedTuple):
    """What is needed for a finding of a kind."""

    weight: float
    """The part of all false alarms that is spent on the kind."""
    matters: float
    """The size from which an effect matters."""
    side: Literal["both", "above", "below"] = "both"


RULES: dict[Kind, Rule] = {
    "severity": Rule(0.03, 0.3),
    "severity on a criterion": Rule(0.03, 0.3),
    "halo": Rule(0.06, 0.1, "above"),
    "identical rows": Rule(0.02, 0.05, "above"),
    "central tendency": Rule(0.05, 0.15),
    "carelessness": Rule(0.05, 0.05, "above"),
    "drift": Rule(0.6, 0.25),
    "fatigue": Rule(0.04, 0.25),
    "recency": Rule(0.08, 0.1),
    "straight-lining": Rule(0.02, 0.05, "above"),
    "speeding": Rule(0.01, 0.1, "above"),
    "self-agreement": Rule(0.02, 0.1, "below"),
    "NA overuse": Rule(0.02, 0.05, "above"),
}

_OF_SHARES = ("identical rows", "straight-lining", "self-agreement", "NA overuse")
"""Kinds whose size is a difference of two shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One effect of one rater: its size, or why it has none, and whether it is a finding."""

    rater: str
    kind: Kind
    estimate: Estimate
    criterion: str | None = None
    form: str | None = None
    """Of recency, central tendency, straight-lining and self-agreement: how it shows."""
    p: float | None = None
    adjusted: float | None = None
    """For everything else that was looked at."""
    found: bool = False


def diagnostics(look: Look) -> list[Diagnostic]:
    """All of them, those without a value included; findings are marked."""
    found = look.all()
    tested = [at for at, one in enumerate(found) if one.p is not None]
    often = {kind: sum(found[at].kind == kind for at in tested) for kind in RULES}
    weights = [RULES[found[at].kind].weight / often[found[at].kind] for at in tested]
    adjusted = weighted_holm([found[at].p or 0.0 for at in tested], weights)
    for at, p in zip(tested, adjusted, strict=True):
        one = found[at]
        size = one.estimate.value or 0.0
        rule = RULES[one.kind]
        large = {"both": abs(size), "above": size, "below": -size}[rule.side] >= rule.matters
        found[at] = replace(one, adjusted=float(p), found=bool(p < ALARM and large))
    return found


class Look:
    """Looks at one kind after the other."""

    def __init__(self, table: RatingTable, fit: Fitted, visits: Visits) -> None:
        self.table, self.fit, self.visits = table, fit, visits
        self.of: list[Residuals] = []
        """Of all raters who have a place."""
        self.severities: list[Effect] = []
        """Of the same, against the mean of the panel."""
        if fit.model is not None:
            placed = np.flatnonzero(fit.model.asked.raters)
            self.of = [residuals(fit.model, int(rater)) for rater in placed]
            self.severities = severity_effects(fit.model, self.of)

    def all(self) -> list[Diagnostic]:
        """Every kind of every rater, nothing decided yet."""
        return [
            *self._by_model(),
            *self._by_order(),
            *self._straight(),
            *self._speeding(),
            *self._self_agreement(),
            *self._not_applicable(),
        ]

    # -- how an effect is told

    def _told(
        self, rater: int, kind: Kind, effect: Effect, *, criterion: str | None = None,
        form: str | None = None, p: float | None = None, least: int = FEWEST,
    ) -> Diagnostic:  # fmt: skip
        if effect.items < least:
            return self._none(rater, kind, f"fewer than {least} items", criterion)
        if effect.error <= 0:
            return self._none(rater, kind, "the answers do not vary", criterion)
        if p is None:
            side = RULES[kind].side
            p = effect.p if side == "both" else effect.upper()
            p = 1 - p if side == "below" else p
        wide = float(stdtrit(max(effect.items - 1, 1), 0.975)) * effect.error
        low, high = effect.value - wide, effect.value + wide
        if kind in _OF_SHARES:
            low, high = max(low, -1.0), min(high, 1.0)
        name = self.table.raters[rater]
        estimate = Estimate(
            coefficient=kind, value=effect.value, se=effect.error, method="t",
            interval=(low, high), n_items=effect.items,
            raters=(name,), criterion=criterion,
        )  # fmt: skip
        return Diagnostic(
            rater=name, kind=kind, estimate=estimate, criterion=criterion, form=form, p=p
        )

    def _none(
        self, rater: int, kind: Kind, reason: str, criterion: str | None = None
    ) -> Diagnostic:
        name = self.table.raters[rater]
        estimate = Estimate(coefficient=kind, undefined=reason, raters=(name,), criterion=criterion)
        return Diagnostic(rater=name, kind=kind, estimate=estimate, criterion=criterion)

    def _nobody(self, kind: Kind, reason: str) -> list[Diagnostic]:
        return [self._none(rater, kind, reason) for rater in range(len(self.table.raters))]

    # -- kinds

    def _by_model(self) -> list[Diagnostic]:
        model, of = self.fit.model, self.of
        kinds: tuple[Kind, ...] = (
            "severity", "halo", "identical rows", "central tendency", "carelessness",
        )  # fmt: skip
        if model is None:
            return [one for kind in kinds for one in self._nobody(kind, self.fit.reason or "")]
        out = [
            self._told(one.rater, "severity", effect, least=2)
            for one, effect in zip(of, against_panel(self.severities), strict=True)
        ]
        names = [self.table.criteria[at].name for at in self.fit.criteria]
        if len(names) > 1:
            for one in of:
                for name, effect in zip(names, criterion_effects(model, one), strict=True):
                    told = self._told(one.rater, "severity on a criterion", effect, criterion=name)
                    out.append(told)
            out += self._panel("halo", [halo_effect(one) for one in of])
            out += self._panel("identical rows", [identical_effect(model, one) for one in of])
        else:
            out += self._nobody("halo", "there is one criterion only")
            out += self._nobody("identical rows", "there is one criterion only")
        out += self._slopes()
        placed = {one.rater for one in of}
        lost = [rater for rater in range(len(self.table.raters)) if rater not in placed]
        return out + [self._none(rater, kind, NO_PLACE) for rater in lost for kind in kinds]

    def _panel(self, kind: Kind, effects: list[Effect]) -> list[Diagnostic]:
        return [
            self._told(one.rater, kind, effect)
            for one, effect in zip(self.of, against_panel(effects), strict=True)
        ]

    def _slopes(self) -> list[Diagnostic]:
        assert self.fit.model is not None
        lines = [bent(self.fit.model, one) for one in self.of]
        slopes = self._panel("central tendency", _by_the_usual([line.slope for line in lines]))
        random = self._panel("carelessness", [line.random for line in lines])
        for at, line in enumerate(lines):
            slope = slopes[at].estimate.value or 0.0
            if line.better_random and slope < 0 and slopes[at].p is not None:
                # random answers flatten a slope, too, and explain these answers better
                slopes[at] = replace(slopes[at], p=1.0, form="random")
        return slopes + random

    # -- in order

    def _by_order(self) -> list[Diagnostic]:
        model, order = self.fit.model, self.visits.order
        kinds: tuple[Kind, ...] = ("drift", "fatigue", "recency")
        if model is None:
            return [one for kind in kinds for one in self._nobody(kind, self.fit.reason or "")]
        if order is None:
            why = "no time or position tells the order of items"
            return [one for kind in kinds for one in self._nobody(kind, why)]
        out = []
        for one in self.of:
            mine, known = _known(one, order)
            place = _ranks(mine) / max(len(mine) - 1, 1)
            out.append(self._told(one.rater, "drift", trend_effect(model, known, place)))
            out.append(self._tired(one))
            out.append(self._recent(one, known, mine))
        return out

    def _tired(self, one: Residuals) -> Diagnostic:
        sitting, within = self.visits.sitting, self.visits.within
        assert self.fit.model is not None
        if sitting is None or within is None:
            return self._none(one.rater, "fatigue", "nothing tells one sitting from the next")
        place, known = _known(one, within)
        if len(np.unique(sitting[one.rater, known.items])) < 2:
            return self._none(one.rater, "fatigue", "one sitting only: see drift")
        return self._told(one.rater, "fatigue", trend_effect(self.fit.model, known, place))

    def _recent(self, one: Residuals, known: Residuals, mine: Floats) -> Diagnostic:
        if not self.visits.order_is_fine:
            return self._none(one.rater, "recency", "times do not tell which item came before")
        sitting = np.zeros(len(mine), np.int64)
        if self.visits.sitting is not None:
            told = np.nan_to_num(self.visits.sitting[one.rater, known.items], nan=-1.0)
            sitting = told.astype(np.int64)
        found = recency_effect(known, mine, sitting)
        if found is None:
            return self._none(one.rater, "recency", "no two items follow one another")
        return self._told(one.rater, "recency", found.effect, form=found.form, p=found.p)

    def _straight(self) -> list[Diagnostic]:
        kind: Kind = "straight-lining"
        order = self.visits.order
        if order is None:
            return self._nobody(kind, "no time or position tells the order of items")
        if not self.visits.order_is_fine:
            return self._nobody(kind, "times do not tell which item came before")
        out = []
        for rater in range(len(self.table.raters)):
            rows = self._rows(rater)
            mine = np.flatnonzero((rows > 0) & ~np.isnan(order[rater]))
            line = mine[np.argsort(order[rater, mine], kind="stable")]
            if len(line) >= FEWEST and (rows[line] == rows[line[0]]).all():
                out.append(self._one_row(rater, line))
            else:
                effect, p = repeat_effect(rows[line])
                out.append(self._told(rater, kind, effect, p=p))
        return out

    def _rows(self, rater: int) -> Keys:
        """A number for each item that tells a rater's rows of answers apart; 0 without any."""
        marks = np.random.default_rng(20).integers(1, 1 << 63, len(self.table.criteria), np.uint64)
        out = np.zeros(self.table.units.height, np.uint64)
        for mark, one in zip(marks, self.table.criteria, strict=True):
            row = one.codes[rater]
            out += np.where(row != ABSENT, row.astype(np.uint64) + np.uint64(1), 0) * mark
        return out

    def _one_row(self, rater: int, line: NDArray[np.intp]) -> Diagnostic:
        """Who answers all items alike repeats no row by chance: others tell how they differ."""
        kind: Kind = "straight-lining"
        others = [self._rows(one)[line] for one in range(len(self.table.raters)) if one != rater]
        beside = np.concatenate([one[one > 0] for one in others] or [np.zeros(0, np.uint64)])
        if not len(beside):
            return self._none(rater, kind, "one row of answers, and nobody else's beside it")
        times = np.unique(beside, return_counts=True)[1] / len(beside)
        name = self.table.raters[rater]
        estimate = Estimate(
            coefficient=kind, value=1 - float(times @ times), n_items=len(line), raters=(name,)
        )
        # all rows alike: the sum of every share to the power of their number is no more than this
        p = float(times.max() ** (len(line) - 1))
        return Diagnostic(rater=name, kind=kind, estimate=estimate, form="one row", p=p)

    # -- beside the answers

    def _speeding(self) -> list[Diagnostic]:
        spent = self.visits.duration
        if spent is None:
            return self._nobody("speeding", "no durations")
        out = []
        usual = float(np.nanmedian(spent))
        for rater in range(len(spent)):
            times = spent[rater][~np.isnan(spent[rater])]
            if len(times) < FEWEST:
                out.append(self._none(rater, "speeding", f"fewer than {FEWEST} durations"))
                continue
            out.append(self._fast(rater, int((times < FAST * usual).sum()), len(times)))
        return out

    def _fast(self, rater: int, fast: int, items: int) -> Diagnostic:
        name = self.table.raters[rater]
        low = 0.0 if fast == 0 else float(bdtri(fast - 1, items, 0.975))
        high = 1.0 if fast == items else float(bdtri(fast, items, 0.025))
        estimate = Estimate(
            coefficient="speeding", value=fast / items, interval=(low, high),
            method="binomial", n_items=items, raters=(name,),
        )  # fmt: skip
        p = 1.0 if fast == 0 else float(bdtrc(fast - 1, items, FAST_SHARE))
        return Diagnostic(rater=name, kind="speeding", estimate=estimate, p=p)

    def _self_agreement(self) -> list[Diagnostic]:
        kind: Kind = "self-agreement"
        frame = self.visits.repeats
        if frame is None:
            return self._nobody(kind, "no item was rated twice by one rater")
        same = (frame["first"] == frame["second"]).to_numpy().astype(np.float64)
        who, item = frame["rater"].to_numpy(), frame["item"].to_numpy()
        out = []
        for rater, name in enumerate(self.table.raters):
            mine = who == name
            if not mine.any():
                out.append(self._none(rater, kind, "no item was rated twice by this rater"))
            elif mine.all():
                why = f"{same.mean():.0%} the same, and nobody else's repeats beside it"
                out.append(self._none(rater, kind, why))
            else:
                effect = _less(_share(same[mine], item[mine]), _share(same[~mine], item[~mine]))
                told = self._told(rater, kind, effect, least=FEWEST_REPEATS)
                out.append(replace(told, form=f"{same[mine].mean():.0%}"))
        return out

    def _not_applicable(self) -> list[Diagnostic]:
        kind: Kind = "NA overuse"
        asked = [one for one in self.table.criteria if one.has_na]
        if not asked:
            return self._nobody(kind, "nobody answered NA")
        units, size = self.table.units.height, len(self.table.raters)
        more, cells = np.zeros((size, units)), np.zeros((size, units))
        for one in asked:
            there = one.codes != ABSENT
            na = one.codes == len(one.ruler.labels)
            others = there.sum(axis=0) - there
            usual = (na.sum(axis=0) - na) / np.maximum(others, 1)
            count = there & (others > 0)
            more += (na - usual) * count
            cells += count
        return [self._told(rater, kind, _rate(more[rater], cells[rater])) for rater in range(size)]


def _by_the_usual(slopes: list[Effect]) -> list[Effect]:
    """Slopes less 1, in parts of the middle one: whoever is far off flattens or bends them all."""
    known = [one.value for one in slopes if one.error > 0]
    usual = 1 + float(np.median(known)) if known else 1.0
    if usual < LEAST_SLOPE:
        return slopes
    return [
        replace(one, value=(1 + one.value) / usual - 1, error=one.error / usual) for one in slopes
    ]


def _rate(top: Floats, bottom: Floats) -> Effect:
    """Sum over sum, the item being what is drawn."""
    there = bottom > 0
    total = float(bottom.sum())
    if total <= 0:
        return Effect(0.0, 0.0, 0)
    value, items = float(top.sum()) / total, int(there.sum())
    squares = float(((top - value * bottom)[there] ** 2).sum())
    # items that are all alike look surer than they are: as if one of them lay off
    error = float(np.sqrt(max(squares, (total / items) ** 2))) / total
    return Effect(value, error, items)


def _share(same: Floats, item: NDArray[np.object_]) -> Effect:
    """Share of the same answers, the item being what is drawn."""
    at = np.unique(item, return_inverse=True)[1]
    return _rate(np.bincount(at, same).astype(np.float64), np.bincount(at).astype(np.float64))


def _less(mine: Effect, others: Effect) -> Effect:
    error = float(np.hypot(mine.error, others.error))
    return Effect(mine.value - others.value, error, mine.items)


def _known(one: Residuals, order: Floats) -> tuple[Floats, Residuals]:
    """Where a rater's items stand in an order, and what is left of those that stand in it."""
    mine = order[one.rater, one.items]
    there = ~np.isnan(mine)
    if there.all():
        return mine, one
    chosen = replace(
        one, items=one.items[there], there=one.there[:, there], answer=one.answer[:, there],
        theta=one.theta[there], gap=one.gap[:, there], spread=one.spread[:, there],
        place=one.place[there],
    )  # fmt: skip
    return mine[there], chosen


def _ranks(values: Floats) -> Floats:
    """From 0, equal ones alike."""
    different, at, times = np.unique(values, return_inverse=True, return_counts=True)
    first = np.concatenate([[0], np.cumsum(times)[:-1]])
    return np.asarray((first + (times - 1) / 2)[at], np.float64) if len(different) else values
