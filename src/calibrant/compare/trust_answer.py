"""The one-line answer about a judge, and the rules behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from calibrant.stats.alternative_annotator import LEAST_ITEMS, AlternativeTest, items_to_win
from calibrant.stats.estimate import Estimate
from calibrant.stats.shares import wilson

Word: TypeAlias = Literal[
    "may not be used", "needs more human labels", "may pre-sort", "may replace"
]
ORDER: tuple[Word, ...] = (
    "may not be used",
    "needs more human labels",
    "may pre-sort",
    "may replace",
)
"""The least trust first."""
LEAST_PEOPLE = 3
MOST_FALSE_PASSES = 0.10
"""Share of what people failed that a judge may let through a gate, at the upper limit."""
USEFUL = 0.4
"""Alpha with people, at its lower limit, from which a judge may at least pre-sort."""
MOST_MORE = 3
"""Times the labels there are, up to which more of them are asked for."""
_MOST_LABELS = 100_000


@dataclass(frozen=True, slots=True)
class FalsePasses:
    """Errors of a judge at a gate."""

    passed: int
    """Items that the judge lets through among those that people failed."""
    failed: int
    """Items that people failed."""
    stopped: int
    """Items that the judge fails among those that people let through."""
    let_through: int
    """Items that people let through."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the share of false passes."""
        return wilson(self.passed, self.failed) if self.failed else None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer rests on."""

    test: AlternativeTest
    alpha: Estimate | None
    """Agreement of the judge with people."""
    ceiling: tuple[Estimate, ...]
    """Agreement of people with each other: alpha, and AC, which many equal answers leave alone."""
    false_passes: FalsePasses | None
    people: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What may be done with a judge, and why."""

    word: Word
    why: str
    more_labels: int | None = None

    @property
    def rank(self) -> int:
        """From the least trust up."""
        return ORDER.index(self.word)

    def __str__(self) -> str:
        """In one line."""
        what: str = self.word
        if self.more_labels is not None:
            what = f"needs {self.more_labels:,} more human labels"
        return f"{what}: {self.why}"


def answer_of(found: Evidence) -> Answer:
    """Gates come first: what a judge lets through there is never made up for elsewhere."""
    few = _too_few(found)
    if few is not None:
        return few
    chance = _no_ceiling(found)
    if chance is not None:
        return chance
    if found.false_passes is not None:
        shut = _at_the_gate(found.false_passes)
        if shut is not None:
            return shut
    return _by_the_test(found)


def _too_few(found: Evidence) -> Answer | None:
    items = sorted((one.items for one in found.test.matches), reverse=True)[:LEAST_PEOPLE]
    missing = sum(max(0, LEAST_ITEMS - n) for n in items)
    missing += LEAST_ITEMS * max(0, LEAST_PEOPLE - len(items))
    if not missing:
        return None
    why = (
        f"the test asks for {LEAST_PEOPLE} people with {LEAST_ITEMS} shared items each; there are "
        f"{found.people} people, with {', '.join(map(str, items)) or 'no'} items"
    )
    return Answer("needs more human labels", why, missing)


def _no_ceiling(found: Evidence) -> Answer | None:
    """Where people agree by chance, being as close to them as they are means nothing."""
    low = {one.coefficient: one.interval[0] for one in found.ceiling if one.interval is not None}
    if low.get("krippendorff_alpha", 0.0) > 0 or low.get("gwet_ac", 0.0) >= USEFUL:
        return None
    called = {"krippendorff_alpha": "alpha", "gwet_ac": "AC"}
    known = [one for one in found.ceiling if one.value is not None]
    told = [f"{called.get(one.coefficient, one.coefficient)} {one.value:.2f}" for one in known]
    why = "people themselves hardly agree beyond chance"
    return Answer("may not be used", f"{why} ({', '.join(told) or 'no value'}): calibrate first")


def _at_the_gate(found: FalsePasses) -> Answer | None:
    """What errors at a gate alone decide; None where they are few enough."""
    limits = found.interval
    if limits is None:
        why = "people failed no item at this gate: what the judge lets through cannot be seen"
        return Answer("needs more human labels", why, _labels_for(0.0, 0))
    told = f"{found.passed} of {found.failed} items that people failed pass the judge's gate"
    if limits[1] <= MOST_FALSE_PASSES:
        return None
    share = found.passed / found.failed
    if share >= MOST_FALSE_PASSES:
        return Answer("may not be used", f"{told}; at most {MOST_FALSE_PASSES * 100:g} % may")
    possible = f"up to {limits[1] * 100:.0f} % is possible"
    why = f"{told}: {possible}; these must be labels of items that fail"
    return Answer("needs more human labels", why, _labels_for(share, found.failed))


def _labels_for(share: float, have: int) -> int:
    """Failed items more until the share is shown to be low enough."""
    n = max(have, 1)
    while wilson(share * n, n)[1] > MOST_FALSE_PASSES and n < _MOST_LABELS:
        n += max(1, n // 100)
    return n - have


def _unproven(alpha: Estimate | None, told: str) -> Answer | None:
    """Where nearly all answers are one, whoever always gives that one is as close as anybody.

    A judge that passes the test must be shown to agree with people beyond chance as well.
    """
    limits = None if alpha is None else alpha.interval
    if limits is not None and limits[0] > 0:
        return None
    if alpha is None or alpha.value is None:
        known = "has no value"
    else:
        known = f"is {alpha.value:.2f}"
        if limits is not None and limits[1] <= 0:
            why = f"{told}, but alpha with people {known}: it does not see what they tell apart"
            return Answer("may not be used", why)
    why = (
        f"{told}, but alpha with people {known}: so few answers differ that this shows nothing; "
        "these must be labels of items with the rarer answers"
    )
    return Answer("needs more human labels", why, LEAST_ITEMS)


def _by_the_test(found: Evidence) -> Answer:
    test = found.test
    tested = [one for one in test.matches if one.p is not None]
    wins = sum(one.won for one in tested)
    told = f"it matches {wins} of {len(tested)} people (advantage {test.advantage or 0:.2f})"
    if test.passed:
        return _unproven(found.alpha, told) or Answer("may replace", told)
    more, have = items_to_win(test), sum(one.items for one in tested)
    open_still = sum(one.lost for one in tested) * 2 < len(tested)
    if more is not None and more <= MOST_MORE * have and open_still:
        why = f"{told}; it is close, and so many more could show it"
        return Answer("needs more human labels", why, more)
    alpha = found.alpha
    if alpha is not None and alpha.interval is not None and alpha.interval[0] >= USEFUL:
        why = f"{told}, but agrees with people: alpha at least {alpha.interval[0]:.2f}"
        return Answer("may pre-sort", why)
    value = "has no value" if alpha is None or alpha.value is None else f"is {alpha.value:.2f}"
    return Answer("may not be used", f"{told}, and alpha with people {value}")
