"""Who rates what: balanced, seeded, and settled once and for all."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from itertools import combinations, pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import Rubric
from calibrant.core.plan import (
    Placed,
    Plan,
    overlap_plan,
    planned,
    reassigned,
)

RATERS = ["ada", "ben", "cleo", "dora", "emil"]
EVERYONE = Plan(way="everyone")
REPEATS = st.sampled_from([Decimal(0), Decimal("0.05"), Decimal("0.08"), Decimal("0.1")])


def names(count: int) -> list[str]:
    return [f"item {number}" for number in range(count)]


@st.composite
def plans_for(draw: st.DrawFn, raters: int) -> Plan:
    repeats = draw(REPEATS)
    way = draw(st.sampled_from(["everyone", "per_item", "overlap"]))
    if way == "overlap" and raters > 1:
        return Plan(
            way="overlap",
            raters=draw(st.none() | st.integers(2, raters)),
            share=draw(st.decimals(0, 1, places=2)),
            minimum=draw(st.integers(0, 40)),
            repeats=repeats,
        )
    if way == "per_item":
        return Plan(way="per_item", raters=draw(st.integers(1, raters)), repeats=repeats)
    return Plan(way="everyone", repeats=repeats)


def firsts(found: list[Placed]) -> list[Placed]:
    return [one for one in found if one.occasion == 1]


def by_item(found: list[Placed]) -> dict[str, set[str]]:
    out: dict[str, set[str]] = defaultdict(set)
    for one in firsts(found):
        assert one.rater not in out[one.item]
        out[one.item].add(one.rater)
    return out


# -- plans


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"way": "nobody"}, "one of everyone"),
        ({}, "needs its way"),
        ({"way": "everyone", "speed": 3}, "no 'speed'"),
        ({"way": "everyone", "repeats": "0.2"}, "noticed"),
        ({"way": "everyone", "repeats": 0.01}, "say little"),
        ({"way": "everyone", "repeats": "-0.05"}, "repeats must be"),
        ({"way": "everyone", "repeats": "often"}, "a number such as"),
        ({"way": "everyone", "repeats": "NaN"}, "a number such as"),
        ({"way": "everyone", "raters": 3}, "takes no number"),
        ({"way": "everyone", "share": "0.2"}, "only with it"),
        ({"way": "everyone", "share": "0.2", "minimum": 3}, "only with it"),
        ({"way": "per_item"}, "how many raters"),
        ({"way": "per_item", "raters": 0}, "at least 1"),
        ({"way": "per_item", "raters": "2.5"}, "whole number"),
        ({"way": "overlap"}, "only with it"),
        ({"way": "overlap", "share": "0.2"}, "only with it"),
        ({"way": "overlap", "share": "1.2", "minimum": 3}, "from 0 to 1"),
        ({"way": "overlap", "share": "0.2", "minimum": -3}, "a number of items"),
        ({"way": "overlap", "share": "0.2", "minimum": 3, "raters": 1}, "at least 2"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(stated: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Plan.from_dict(stated)


@given(data=st.data(), raters=st.integers(1, 6))
def test_a_stored_plan_is_the_plan(data: st.DataObject, raters: int) -> None:
    plan = data.draw(plans_for(raters))
    assert Plan.from_dict(plan.to_dict()) == plan


def test_a_plan_is_stored_as_plain_values(plans: Rubric) -> None:
    assert overlap_plan(plans).to_dict() == {
        "way": "overlap",
        "share": "0.20",
        "minimum": 30,
        "repeats": "0",
    }
    assert EVERYONE.to_dict() == {"way": "everyone", "repeats": "0"}


@pytest.mark.parametrize(
    ("items", "overlap"), [(0, 0), (10, 10), (30, 30), (150, 30), (151, 31), (1000, 200)]
)
def test_overlap_is_a_fifth_and_at_least_thirty(
    plans: Rubric, responses: Rubric, items: int, overlap: int
) -> None:
    for rubric in (plans, responses):  # one states it, for the other it is the usual
        assert overlap_plan(rubric).overlapping(items) == overlap
    found = by_item(planned(names(items), RATERS, overlap_plan(plans), seed=1))
    assert Counter(map(len, found.values())) == Counter({5: overlap, 1: items - overlap})


# -- sharing out


@given(data=st.data(), count=st.integers(0, 90), raters=st.integers(1, 5), seed=st.integers(0, 99))
def test_every_item_gets_its_raters_and_shares_are_level(
    data: st.DataObject, count: int, raters: int, seed: int
) -> None:
    plan = data.draw(plans_for(raters))
    found = planned(names(count), RATERS[:raters], plan, seed=seed)
    sizes = Counter(map(len, by_item(found).values()))
    many = plan.raters or raters
    overlap = plan.overlapping(count) if plan.way == "overlap" else count
    assert sizes == Counter({many: overlap}) + Counter({1: count - overlap})
    loads = Counter(one.rater for one in firsts(found))
    assert max(loads.values(), default=0) - min(loads[name] for name in RATERS[:raters]) <= 1


@given(
    count=st.integers(0, 80),
    loads=st.dictionaries(st.sampled_from(RATERS), st.integers(0, 30)),
    many=st.integers(1, 5),
)
def test_shares_are_levelled_with_what_raters_have(
    count: int, loads: dict[str, int], many: int
) -> None:
    plan = Plan(way="per_item", raters=many)
    found = planned(names(count), RATERS, plan, seed=5, loads=loads)
    got = Counter(one.rater for one in found)
    after = {name: loads.get(name, 0) + got[name] for name in RATERS}
    for name in RATERS:  # whoever got an item, and could have gone without, has not too many
        spare = [other for other in RATERS if got[other] < count]
        if got[name] and spare and many < len(RATERS):
            assert after[name] <= min(after[other] for other in spare) + 1


@pytest.mark.parametrize(("raters", "many"), [(3, 2), (4, 2), (5, 2), (5, 3), (4, 3)])
def test_pairs_of_raters_meet_about_equally_often(raters: int, many: int) -> None:
    people = RATERS[:raters]
    found = by_item(planned(names(600), people, Plan(way="per_item", raters=many), seed=3))
    met = Counter(pair for who in found.values() for pair in combinations(sorted(who), 2))
    counts = [met[pair] for pair in combinations(people, 2)]
    assert max(counts) - min(counts) <= 2


@given(data=st.data(), seed=st.integers(-5, 5), count=st.integers(0, 40))
def test_the_order_of_listing_does_not_matter(data: st.DataObject, seed: int, count: int) -> None:
    plan = data.draw(plans_for(4))
    items, people = names(count), RATERS[:4]
    found = planned(items, people, plan, seed=seed)
    mixed = data.draw(st.permutations(items)), data.draw(st.permutations(people))
    assert planned(*mixed, plan, seed=seed) == found


def test_everybody_has_an_order_of_their_own_and_another_seed_gives_others() -> None:
    found = planned(names(50), RATERS, EVERYONE, seed=1)
    orders = {tuple(one.item for one in found if one.rater == name) for name in RATERS}
    assert len(orders) == len(RATERS)
    other = planned(names(50), RATERS, EVERYONE, seed=2)
    assert not orders & {tuple(one.item for one in other if one.rater == name) for name in RATERS}


def test_the_same_seed_gives_the_same_for_ever() -> None:
    found = planned(["a", "b", "c", "d"], ["x", "y"], Plan(way="per_item", raters=1), seed=7)
    assert found == [
        Placed("b", "x", 1, 1),
        Placed("a", "x", 1, 2),
        Placed("d", "y", 1, 1),
        Placed("c", "y", 1, 2),
    ]


@given(data=st.data(), first=st.integers(0, 40), more=st.integers(0, 40))
def test_items_that_come_later_go_behind(data: st.DataObject, first: int, more: int) -> None:
    plan = data.draw(plans_for(4))
    people, items = RATERS[:4], names(first + more)
    old = planned(items[:first], people, plan, seed=1)
    ends = {name: 1 + sum(one.rater == name for one in old) for name in people}
    loads = Counter(one.rater for one in firsts(old))
    new = planned(
        items[first:], people, plan, seed=1, loads=loads, first_position=ends, before=first
    )
    for name in people:
        places = [one.position for one in (*old, *new) if one.rater == name]
        assert places == list(range(1, len(places) + 1))
    sizes = Counter(map(len, by_item([*old, *new]).values()))
    if plan.way == "overlap":
        assert sizes[1] == first + more - plan.overlapping(first + more)
    loads.update(one.rater for one in firsts(new))
    assert max(loads[name] for name in people) - min(loads[name] for name in people) <= 1


@pytest.mark.parametrize(
    ("items", "raters", "plan", "message"),
    [
        (["a"], [], EVERYONE, "needs 1 rater, and there are none"),
        (["a"], ["x"], Plan(way="per_item", raters=2), "needs 2 raters, and there is 1"),
        (["a"], ["x"], Plan(way="overlap", share=Decimal(1), minimum=0), "needs 2 raters"),
        (["a", "b", "a"], ["x"], EVERYONE, "item 'a' is listed twice"),
        (["a"], ["x", "x"], EVERYONE, "rater 'x' is listed twice"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(
    items: list[str], raters: list[str], plan: Plan, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        planned(items, raters, plan, seed=1)


# -- repeats


@given(count=st.integers(0, 300), repeats=REPEATS.filter(bool), seed=st.integers(0, 9))
def test_repeats_come_late(count: int, repeats: Decimal, seed: int) -> None:
    plan = Plan(way="everyone", repeats=repeats)
    found = planned(names(count), ["x"], plan, seed=seed)
    first = {one.item: one.position for one in found if one.occasion == 1}
    again = {one.item: one.position for one in found if one.occasion == 2}
    assert len(first) == count and len(found) == count + len(again)
    assert len(again) == plan.repeated(count)
    assert (count < 4) == (not again)
    assert abs(len(again) - repeats * count) <= 1
    for item, place in again.items():
        between = place - first[item] - 1
        assert between >= 2 and between * 3 >= len(found) - 3
    places = sorted(again.values())
    assert all(b - a > 1 for a, b in pairwise(places))


# -- somebody leaves


@given(data=st.data(), count=st.integers(1, 40), done=st.integers(0, 40))
def test_what_a_leaver_has_open_goes_to_others(data: st.DataObject, count: int, done: int) -> None:
    plan = data.draw(plans_for(4))
    people, items = RATERS[:4], names(count)
    found = planned(items, people, plan, seed=2)
    leaver = data.draw(st.sampled_from(people))
    rest = [name for name in people if name != leaver]
    mine = [one for one in found if one.rater == leaver]
    open_ = [(one.item, one.occasion) for one in mine if one.position > done]
    rated_by = by_item(found)
    loads = Counter(one.rater for one in found if one.rater in rest)
    ends = {name: 1 + loads[name] for name in rest}
    moved, stuck = reassigned(open_, rated_by, rest, seed=2, loads=loads, first_position=ends)
    wanted = [item for item, occasion in open_ if occasion == 1]
    assert sorted([*stuck, *(one.item for one in moved)]) == sorted(wanted)
    assert all(one.rater not in rated_by[one.item] and one.occasion == 1 for one in moved)
    assert all(set(rest) <= rated_by[item] for item in stuck)
    for name in rest:
        places = [one.position for one in moved if one.rater == name]
        assert places == list(range(ends[name], ends[name] + len(places)))


def test_the_least_loaded_take_over() -> None:
    left = [(item, 1) for item in names(9)]
    moved, stuck = reassigned(left, {}, ["x", "y"], seed=1, loads={"x": 5})
    assert not stuck
    assert Counter(one.rater for one in moved) == {"x": 2, "y": 7}
    assert reassigned(left, {}, [], seed=1) == ([], names(9))


@pytest.mark.parametrize(
    "plan",
    [
        Plan(way="everyone"),
        Plan(way="per_item", raters=3),
        Plan(way="overlap", share=Decimal("0.2"), minimum=30),
    ],
    ids=lambda plan: plan.way,
)
def test_a_hundred_thousand_items_are_shared_out_at_once(plan: Plan) -> None:
    items = names(100_000)
    before = perf_counter()
    planned(items, [f"r{n}" for n in range(10)], plan, seed=1)
    assert perf_counter() - before < 20  # two seconds on an idle machine
