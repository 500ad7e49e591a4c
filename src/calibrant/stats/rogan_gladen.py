"""A share corrected by the judge's known error rates, after Rogan and Gladen (1978).

For labels that come from another mix of items than the judged ones: only the judge's error rates
are carried over, not the share itself. Where labels are a random sample of the judged items,
``stats.prediction_powered`` is narrower. The interval is that of Lee and others (2025), with
shrunken shares.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np

from calibrant.stats.prediction_powered import Array, Figure
from calibrant.stats.shares import Z95

LEAST_OF_EACH = 5
"""Labels of each answer below which an error rate is not known."""


def rogan_gladen(people: Array, judge: Array, target: Array) -> Figure:
    """The share of 1 among the items of ``target``, of which only the judge's answers are known.

    ``judge`` holds answers of 0 or 1 to the labelled items, ``people`` the share of people who
    answer 1: where they differ, an item counts in part for either rate.
    """
    if not all(np.isin(one, (0.0, 1.0)).all() for one in (judge, target)):
        return Figure(undefined="the judge's answers are not all yes or no")
    found = Figure(n_labels=len(people), n_judged=len(target))
    right, wrong = float(people.sum()), float((1 - people).sum())
    if min(right, wrong) < LEAST_OF_EACH:
        return _none(found, f"{right:g} and {wrong:g} labels of the two answers, {LEAST_OF_EACH} "
                            "of each at least")  # fmt: skip
    if not len(target):
        return _none(found, "no judged item is without a label")
    q1 = float(judge @ people) / right
    q0 = float((1 - judge) @ (1 - people)) / wrong
    beyond = q1 + q0 - 1
    rates = (q1, right), (q0, wrong)
    # few labels can all be right by luck: what is left when they are shrunken must suffice, too
    if _by_chance(rates) or _by_chance([_shrunken(*one) for one in rates]):
        return _none(found, f"the judge hardly beats chance: sensitivity {q1:.2f}, specificity "
                            f"{q0:.2f}")  # fmt: skip
    p = float(target.mean())
    value = min(1.0, max(0.0, (p + q0 - 1) / beyond))
    low, high, se = _limits((p, len(target)), (q0, wrong), (q1, right))
    return Figure(value, se, (low, high), "shifted", None, len(people), len(target))


def _by_chance(rates: Iterable[tuple[float, float]]) -> bool:
    """Whether sensitivity and specificity, each with its labels, are not clearly above 1."""
    rates = list(rates)
    error = sqrt(sum(rate * (1 - rate) / labels for rate, labels in rates))
    return sum(rate for rate, _ in rates) - 1 <= 2 * error


def _shrunken(rate: float, labels: float) -> tuple[float, float]:
    """A rate and its labels as if one more were right, and one more wrong."""
    return (labels * rate + 1) / (labels + 2), labels + 2


def _limits(
    judged: tuple[float, float], failed: tuple[float, float], passed: tuple[float, float]
) -> tuple[float, float, float]:
    """The interval of Lee and others, and the standard error behind it, from shares of numbers."""
    (p, n), (q0, m0), (q1, m1) = judged, failed, passed
    square = Z95 * Z95
    p, n_more = (n * p + square / 2) / (n + square), n + square
    (q0, m0_more), (q1, m1_more) = _shrunken(q0, m0), _shrunken(q1, m1)
    beyond = q0 + q1 - 1
    share = min(1.0, max(0.0, (p + q0 - 1) / beyond))
    of_failed = q0 * (1 - q0) / m0_more
    of_passed = q1 * (1 - q1) / m1_more
    shift = 2 * square * (-(1 - share) * of_failed + share * of_passed)
    variance = p * (1 - p) / n_more + (1 - share) ** 2 * of_failed + share**2 * of_passed
    se = sqrt(variance) / beyond
    middle = share + shift
    return max(0.0, middle - Z95 * se), min(1.0, middle + Z95 * se), se


def _none(found: Figure, why: str) -> Figure:
    return Figure(n_labels=found.n_labels, n_judged=found.n_judged, undefined=why)
