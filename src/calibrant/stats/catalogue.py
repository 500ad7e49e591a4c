"""The coefficients: names, what they need, where they come from, how they are computed.

The command's help, the reference and the property tests are made from this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from calibrant.stats.alpha import alpha
from calibrant.stats.gwet import gwet_ac
from calibrant.stats.kappa import brennan_prediger, conger, fleiss
from calibrant.stats.moments import Array, Moments
from calibrant.stats.percent import observed, total
from calibrant.stats.weights import (
    LEVELS,
    Level,
    Matrix,
    Weights,
    agreement_weights,
    identity,
    within_one,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One coefficient with its weights or its level, ready to be computed."""

    coefficient: str
    level: Level | None
    weights: Weights | None
    value: Callable[[Moments], Array]
    """Of moments with any leading axes."""
    held: Callable[[Moments, Moments, Array], Array]
    """What published standard errors are taken of: the same, with the number of items that have
    two answers held as in the whole sample (Gwet 2014). Takes the whole sample, moments near it
    and their values. Where most
    items have a single answer it is far too wide, so intervals are not made from it."""
    same: Matrix
    """1 where two answers count as agreement, 0 elsewhere, shape (K, K)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A coefficient of the catalogue."""

    name: str
    title: str
    reference: str
    since: Level
    """The lowest level of measurement at which it means something."""
    weighted: bool = False
    """Whether it comes with linear and quadratic weights on ordered scales."""
    by_rater: bool = False
    """Whether it needs to know who gave which answer."""


CATALOGUE: tuple[Entry, ...] = (
    Entry("percent", "percent agreement", "two answers to one item are the same", "nominal"),
    Entry(
        "percent_within_one",
        "agreement within one",
        "two answers are at most one step of the scale apart",
        "ordinal",
    ),
    Entry("cohen_kappa", "Cohen's kappa", "Cohen 1960, 1968; two raters", "nominal", True, True),
    Entry(
        "fleiss_kappa", "Fleiss' kappa", "Fleiss 1971; unequal numbers: Gwet 2014", "nominal", True
    ),
    Entry("conger_kappa", "Conger's kappa", "Conger 1980", "nominal", True, True),
    Entry(
        "krippendorff_alpha",
        "Krippendorff's alpha",
        "Krippendorff 2011; at its own and every lower level",
        "nominal",
    ),
    Entry("gwet_ac", "Gwet's AC1 and AC2", "Gwet 2008, 2014", "nominal", True),
    Entry(
        "brennan_prediger",
        "Brennan–Prediger (PABAK with two answers)",
        "Brennan and Prediger 1981",
        "nominal",
        True,
    ),
    Entry("icc", "intraclass correlation", "Shrout and Fleiss 1979", "ordinal", False, True),
)
NAMES = tuple(entry.name for entry in CATALOGUE)


def measures(level: Level, points: Matrix, pair: bool) -> list[Measure]:
    """All that is computed from moments at a level; of a pair, Cohen's kappa for Conger's."""
    out: list[Measure] = []
    for entry in CATALOGUE:
        if LEVELS.index(level) < LEVELS.index(entry.since) or entry.name == "icc":
            continue
        if entry.name == ("conger_kappa" if pair else "cohen_kappa"):
            continue
        if entry.name == "krippendorff_alpha":
            lower = LEVELS[: LEVELS.index(level) + 1]
            same = identity(len(points))
            out += [Measure(entry.name, one, None, *_alpha(one, points), same) for one in lower]
            continue
        kinds: tuple[Weights | None, ...] = (None,)
        if entry.weighted and level != "nominal":
            kinds = (None, "linear", "quadratic")
        for kind in kinds:
            within = entry.name == "percent_within_one"
            same = within_one(points) if within else identity(len(points))
            weights = same if within else agreement_weights(kind, points)
            functions = _weighted(entry.name, weights)
            out.append(Measure(entry.name, level, kind, *functions, same))
    return out


Functions: TypeAlias = tuple[Callable[[Moments], Array], Callable[[Moments, Moments, Array], Array]]


def _alpha(level: Level, points: Matrix) -> Functions:
    """Held is the number of answers that corrects the value for small samples."""

    def value(sums: Moments) -> Array:
        return alpha(sums, level, points)

    def held(whole: Moments, sums: Moments, values: Array) -> Array:
        plain = alpha(sums, level, points, exact=False)
        answers = total(whole.coincidences, np.ones((len(points), len(points))))
        return np.asarray(values + plain / answers)

    return value, held


def _weighted(name: str, weights: Matrix) -> Functions:
    """Held is the number of items with two answers."""
    function = {
        "percent": observed,
        "percent_within_one": observed,
        "cohen_kappa": conger,  # which is Cohen's for two
        "conger_kappa": conger,
        "fleiss_kappa": fleiss,
        "gwet_ac": gwet_ac,
        "brennan_prediger": brennan_prediger,
    }[name]

    def value(sums: Moments) -> Array:
        return function(sums, weights)

    def held(whole: Moments, sums: Moments, values: Array) -> Array:
        return np.asarray(values * sums.paired / whole.paired)

    return value, held
