"""Who rates what, and in which order.

A *plan* says how items are shared out among raters; ``planned`` carries it out. All chance comes
from hashes of a seed and of names, so the same seed gives the same assignments on every machine,
however items and raters are listed. What was planned once stays put: items that come later are
placed behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from hashlib import blake2b
from itertools import pairwise
from math import ceil
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from calibrant.core.ids import canonical
from calibrant.core.process import Overlap
from calibrant.core.rubric import Rubric

Way: TypeAlias = Literal["everyone", "per_item", "overlap"]
WAYS: tuple[Way, ...] = get_args(Way)
USUAL_OVERLAP = Overlap(minimum=30, share=Decimal("0.20"))
"""Where a rubric states none."""
FEWEST_REPEATS, MOST_REPEATS = Decimal("0.05"), Decimal("0.10")
FEWEST_ITEMS = 4
"""Items of a rater from which one of them can come again without being noticed at once."""
_LOAD = 1 << 48
"""Weighs one assignment more than any number of meetings of two raters."""


class Placed(NamedTuple):
    """One assignment: an item for a rater, at a place in the rater's own order."""

    item: str
    rater: str
    occasion: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How items are shared out; raises ``ValueError`` with a sentence on one that makes no sense.

    ``everyone``: every rater rates every item. ``per_item``: each item goes to ``raters`` raters.
    ``overlap``: a ``share`` of the items, at least ``minimum``, goes to ``raters`` raters (to all
    of them where it is None) and every other item to one.
    """

    way: Way
    raters: int | None = None
    share: Decimal | None = None
    minimum: int | None = None
    repeats: Decimal = Decimal(0)
    """Share of a rater's items that silently come again, to see how far raters agree with
    themselves."""

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise ValueError(f"a plan is one of {', '.join(WAYS)}, not {self.way!r}")
        if self.repeats and not FEWEST_REPEATS <= self.repeats <= MOST_REPEATS:
            raise ValueError(
                f"repeats must be 0, or from {FEWEST_REPEATS} to {MOST_REPEATS}: fewer say little "
                "about a rater, and more cost time and are noticed"
            )
        if {self.share is not None, self.minimum is not None} != {self.way == "overlap"}:
            raise ValueError("share and minimum go with the plan overlap, and only with it")
        if self.share is not None and not 0 <= self.share <= 1:
            raise ValueError(f"the share of overlap lies from 0 to 1; it is {self.share}")
        if self.minimum is not None and self.minimum < 0:
            raise ValueError(f"the minimum of overlap is a number of items, not {self.minimum}")
        self._check_raters()

    def _check_raters(self) -> None:
        fewest = {"everyone": None, "per_item": 1, "overlap": 2}[self.way]
        if self.raters is None:
            if self.way == "per_item":
                raise ValueError("the plan per_item needs to know how many raters an item gets")
        elif fewest is None:
            raise ValueError("the plan everyone takes no number of raters an item")
        elif self.raters < fewest:
            raise ValueError(
                f"the plan {self.way} needs at least {fewest} raters an item, not {self.raters}"
            )

    def to_dict(self) -> dict[str, Any]:
        """For storing: only what is stated, decimals as texts."""
        stated = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: str(value) if isinstance(value, Decimal) else value
            for name, value in stated.items()
            if value is not None
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Plan:
        """The plan that was stored, or written by a person."""
        known = [one.name for one in fields(cls)]
        for name in stored:
            if name not in known:
                raise ValueError(f"a plan has no {name!r}: it has {', '.join(known)}")
        if "way" not in stored:
            raise ValueError(f"a plan needs its way: one of {', '.join(WAYS)}")
        share, minimum = stored.get("share"), stored.get("minimum")
        raters, repeats = stored.get("raters"), stored.get("repeats")
        return cls(
            way=stored["way"],
            raters=None if raters is None else _whole("raters", raters),
            share=None if share is None else _decimal("share", share),
            minimum=None if minimum is None else _whole("minimum", minimum),
            repeats=Decimal(0) if repeats is None else _decimal("repeats", repeats),
        )

    def overlapping(self, items: int) -> int:
        """How many of so many items go to several raters in the plan overlap."""
        if self.share is None or self.minimum is None:
            return 0
        return min(items, max(self.minimum, ceil(Fraction(self.share) * items)))

    def repeated(self, items: int) -> int:
        """How many of a rater's items come again."""
        if not self.repeats or items < FEWEST_ITEMS:
            return 0
        return max(1, round(Fraction(self.repeats) * items))


def _decimal(name: str, value: object) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise ValueError(f"{name} must be a number such as 0.05, not {value!r}")
    return number


def _whole(name: str, value: object) -> int:
    number = _decimal(name, value)
    if number != number.to_integral_value():
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    return int(number)


def overlap_plan(rubric: Rubric, *, repeats: Decimal = Decimal(0)) -> Plan:
    """The plan overlap as the rubric states it, or a fifth of the items and at least thirty."""
    stated = rubric.agreement.overlap if rubric.agreement is not None else None
    found = stated or USUAL_OVERLAP
    return Plan(way="overlap", share=found.share, minimum=found.minimum, repeats=repeats)


def planned(
    items: Collection[str],
    raters: Collection[str],
    plan: Plan,
    *,
    seed: int,
    loads: Mapping[str, int] | None = None,
    first_position: Mapping[str, int] | None = None,
    before: int = 0,
) -> list[Placed]:
    """Assignments of new items, by rater and position.

    Shares are levelled: with what raters have already (``loads``), their numbers of items come as
    near to one another as they can, and no two raters meet much more often than others.
    ``first_position`` says where each rater's order goes on (from 1 where it says nothing), and
    ``before`` how many items were shared out by this plan earlier, so that the overlap of all of
    them together is what the plan asks for.
    """
    known, people = _distinct("item", items), _distinct("rater", raters)
    _enough(plan, len(people))
    table = _Table(_shuffled(people, seed, "raters"), loads or {})
    shares = _shares(known, people, plan, seed=seed, table=table, before=before)
    first = first_position or {}
    out: list[Placed] = []
    for rater, mine in shares.items():
        order = _shuffled(mine, seed, "order", rater)
        listed = _with_repeats(order, plan.repeated(len(order)))
        start = first.get(rater, 1)
        out += [Placed(item, rater, time, at) for at, (item, time) in enumerate(listed, start)]
    return out


def _distinct(what: str, names: Collection[str]) -> list[str]:
    """The names in an order that does not depend on how they were listed."""
    listed = sorted(names)
    for one, following in pairwise(listed):
        if one == following:
            raise ValueError(f"{what} {one!r} is listed twice")
    return listed


def _shuffled(names: Sequence[str], seed: int, *about: str) -> list[str]:
    """The names in an order of chance; they come sorted, so that ties are no matter of luck."""
    start = blake2b(canonical([seed, *about]).encode("utf-8", "surrogatepass"), digest_size=16)

    def chance(name: str) -> bytes:
        drawn = start.copy()
        drawn.update(name.encode("utf-8", "surrogatepass"))
        return drawn.digest()

    return sorted(names, key=chance)


def _shares(
    items: list[str], raters: list[str], plan: Plan, *, seed: int, table: _Table, before: int
) -> dict[str, list[str]]:
    """The items of each rater, both by name."""
    many = plan.raters or len(raters)
    if plan.way != "overlap" and many == len(raters):
        return dict.fromkeys(raters, items)
    overlap = plan.overlapping(before + len(items)) - plan.overlapping(before)
    shared = len(items) if plan.way == "per_item" else overlap
    for at, item in enumerate(_shuffled(items, seed, "items")):
        table.give(item, many if at < shared else 1)
    return {rater: sorted(table.items[rater]) for rater in raters}


def _enough(plan: Plan, raters: int) -> None:
    needed = plan.raters or (2 if plan.way == "overlap" else 1)
    if raters < needed:
        raise ValueError(
            f"the plan {plan.way} needs {needed} {'rater' if needed == 1 else 'raters'}, "
            f"and there {'is' if raters == 1 else 'are'} {raters or 'none'}"
        )


class _Table:
    """Deals items out: to whoever has least, and of these to whoever has met the others least."""

    def __init__(self, raters: Sequence[str], loads: Mapping[str, int]) -> None:
        self.items: dict[str, list[str]] = {rater: [] for rater in raters}
        self._mine = list(self.items.values())
        self._load = [loads.get(rater, 0) * _LOAD for rater in raters]
        self._met = [[0] * len(raters) for _ in raters]

    def give(self, item: str, many: int) -> None:
        """The item to so many raters, who have met over it afterwards."""
        chosen = range(len(self._load)) if many == len(self._load) else self._least(many)
        for one in chosen:
            self._mine[one].append(item)
            self._load[one] += _LOAD
            for other in chosen:
                self._met[one][other] += 1

    def _least(self, many: int) -> list[int]:
        rank = self._load.copy()
        chosen: list[int] = []
        while len(chosen) < many:
            least = rank.index(min(rank))
            chosen.append(least)
            rank = [one + times for one, times in zip(rank, self._met[least], strict=True)]
            for one in chosen:
                rank[one] = _LOAD * _LOAD  # cannot be chosen again
        return chosen


def _with_repeats(order: Sequence[str], again: int) -> Iterator[tuple[str, int]]:
    """An order with its occasions, ``again`` of its items coming a second time.

    Repeats are items of the first third that come back in the last third, in the same order and
    evenly spread, so that more than a third of the list lies between and no repeat gives the
    next one away. Which items these are is chance already: the order is.
    """
    third = len(order) // 3
    back: dict[int, str] = {}
    for nth in range(again):
        after = len(order) - third + -(-third * (nth + 1) // again) - 1
        back[after] = order[third * nth // again]
    for at, item in enumerate(order):
        yield item, 1
        if at in back:
            yield back[at], 2


def reassigned(
    left: Iterable[tuple[str, int]],
    rated_by: Mapping[str, Collection[str]],
    raters: Collection[str],
    *,
    seed: int,
    loads: Mapping[str, int] | None = None,
    first_position: Mapping[str, int] | None = None,
) -> tuple[list[Placed], list[str]]:
    """What somebody who leaves has open, for those who stay, and the items nobody can take.

    ``left`` holds items and occasions, ``rated_by`` who rates each item in any case. An item goes
    to whoever of the others has least to do. Repeats lapse: they would have compared the leaver
    with nobody else.
    """
    people = _shuffled(_distinct("rater", raters), seed, "raters")
    load = {rater: (loads or {}).get(rater, 0) for rater in people}
    mine: dict[str, list[str]] = {rater: [] for rater in sorted(people)}
    nobody: list[str] = []
    first_times = _distinct("item", [item for item, occasion in left if occasion == 1])
    for item in _shuffled(first_times, seed, "items"):
        free = [rater for rater in people if rater not in rated_by.get(item, ())]
        if not free:
            nobody.append(item)
            continue
        taker = min(free, key=load.__getitem__)
        load[taker] += 1
        mine[taker].append(item)
    first = first_position or {}
    placed = [
        Placed(item, rater, 1, at)
        for rater, taken in mine.items()
        for at, item in enumerate(
            _shuffled(sorted(taken), seed, "order", rater), first.get(rater, 1)
        )
    ]
    return placed, sorted(nobody)
