"""Leases and numbers, when many ask at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from tests.store.store_kit import (
    a_key,
    a_rating,
    a_round,
    a_rubric,
    an_entry,
    assignments,
    at,
    begin,
)

from calibrant.core.errors import Doubled
from calibrant.core.study import Assignment, Entry
from calibrant.ports.store import Reading, Store, Writing


@pytest.fixture
def study(store: Store) -> int:
    return store.write(begin)


@pytest.fixture
def lease(store: Store, study: int) -> Callable[..., list[str]]:
    """Lease for ann and tell the items."""

    def ask(token: str, now: str = at(0), until: str = at(10), **asked: Any) -> list[str]:
        asked = {"rater": "ann"} | asked
        taken = store.write(lambda w: w.lease(study, token=token, now=now, until=until, **asked))
        assert all(one.lease == token and one.leased_until == until for one in taken)
        kept = store.read(lambda r: [r.assignment(study, one.key) for one in taken])
        assert kept == taken
        return [one.key.item for one in taken]

    return ask


def test_leases_go_by_position_and_pass_over_what_is_held(lease: Callable[..., list[str]]) -> None:
    assert lease("a") == ["i1"]
    assert lease("b") == ["i2"]
    assert lease("c", limit=9) == ["i3", "i4"]
    assert lease("d") == []
    assert lease("d", rater="bea", limit=2) == ["i1", "i2"]


def test_the_same_token_gets_what_it_holds_first(lease: Callable[..., list[str]]) -> None:
    assert lease("b") == ["i1"]
    assert lease("a", limit=2) == ["i2", "i3"]
    assert lease("a", until=at(20)) == ["i2"]
    assert lease("a", until=at(20), limit=3) == ["i2", "i3", "i4"]
    assert lease("b", now=at(11), until=at(20)) == ["i1"], "its time is over, but nobody took it"


def test_a_lease_ends_with_its_time(lease: Callable[..., list[str]]) -> None:
    assert lease("a", limit=4, until=at(10)) == ["i1", "i2", "i3", "i4"]
    assert lease("b", now=at(9)) == []
    assert lease("b", now=at(10), until=at(20)) == ["i1"]
    assert lease("a", now=at(11), until=at(21), limit=9) == ["i2", "i3", "i4"]


def test_one_assignment_can_be_asked_for(lease: Callable[..., list[str]]) -> None:
    assert lease("a", key=a_key("i3")) == ["i3"]
    assert lease("a", key=a_key("i3"), until=at(15)) == ["i3"]
    assert lease("b", key=a_key("i3")) == []
    assert lease("b", key=a_key("i1", "bea")) == []
    assert lease("b", key=a_key("none")) == []


def test_only_open_assignments_of_open_rounds_are_leased(
    store: Store, study: int, lease: Callable[..., list[str]]
) -> None:
    store.write(lambda w: w.set_assignment_state(study, [a_key("i1")], "done"))
    store.write(lambda w: w.set_assignment_state(study, [a_key("i2")], "withdrawn"))
    assert lease("a", limit=1) == ["i3"]
    store.write(lambda w: w.set_round_state(study, 1, "closed", at(5)))
    assert lease("a", limit=9) == []
    store.write(lambda w: w.add_round(study, a_round(2, state="planned")))
    second = Assignment(key=a_key("i1", round=2), position=1)
    store.write(lambda w: w.add_assignments(study, [second]))
    assert lease("a", limit=9) == []
    store.write(lambda w: w.set_round_state(study, 2, "open", at(5)))
    assert lease("a", limit=9) == ["i1"]


def test_a_lease_is_given_back_by_its_holder_only(
    store: Store, study: int, lease: Callable[..., list[str]]
) -> None:
    lease("a")
    assert not store.write(lambda w: w.release(study, a_key("i1"), "b"))
    assert store.write(lambda w: w.release(study, a_key("i1"), "a"))
    assert not store.write(lambda w: w.release(study, a_key("i1"), "a"))
    assert store.read(lambda r: r.assignment(study, a_key("i1"))) == assignments(["i1"])[0]
    assert lease("b") == ["i1"]


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    ready = threading.Barrier(count)

    def begin_together(number: int) -> Any:
        ready.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin_together, range(count)))


def test_two_at_once_never_get_the_same(store: Store) -> None:
    study = store.write(lambda w: begin(w, items=200))

    def ask(token: str) -> list[Assignment]:
        asked: dict[str, Any] = {"rater": "ann", "now": at(0), "until": at(9), "limit": 7}
        return store.write(lambda w: w.lease(study, token=token, **asked))

    def take(number: int) -> list[str]:
        taken: list[str] = []
        while got := ask(f"t{number}/{len(taken)}"):
            taken += [one.key.item for one in got]
        return taken

    taken = in_threads(6, take)
    assert Counter(item for part in taken for item in part) == Counter(
        f"i{n}" for n in range(1, 201)
    )


def test_entries_are_numbered_without_gaps_by_many_at_once(store: Store, study: int) -> None:
    def log(entries: list[Entry], writing: Writing) -> None:
        writing.log(study, entries)

    def write(number: int) -> None:
        for turn in range(10):
            entries = [an_entry(f"k{number}", body={"turn": turn, "n": n}) for n in range(3)]
            store.write(partial(log, entries))

    in_threads(6, write)
    found = store.read(lambda r: list(r.journal(study)))
    assert [entry.number for entry in found] == list(range(1, 181))
    for number in range(6):
        mine = [dict(entry.body) for entry in found if entry.kind == f"k{number}"]
        assert mine == [{"turn": turn, "n": n} for turn in range(10) for n in range(3)]


def test_the_same_rubric_and_the_same_request_by_many_at_once_is_one(
    store: Store, study: int
) -> None:
    def write(number: int) -> bool:
        store.write(lambda w: w.add_rubric(a_rubric("3.0", hash="sha256:3")))

        def hand_in(writing: Writing) -> bool:
            if writing.rating_by_request(study, "the one") is not None:
                return False
            writing.add_ratings(study, [a_rating(request="the one")])
            return True

        try:
            return store.write(hand_in)
        except Doubled:
            return False

    assert sum(in_threads(6, write)) == 1
    assert [one.version for one in store.read(lambda r: r.rubrics("small"))] == ["1.0", "3.0"]
    assert store.read(lambda r: sum(1 for _ in r.ratings(study))) == 1


@pytest.mark.parametrize("store_place", ["sqlite", "postgres"], indirect=True)
def test_reading_is_as_of_one_moment(store: Store, study: int) -> None:
    """In memory, writers wait for readers; elsewhere they do not, and are not seen."""

    def look(reading: Reading) -> tuple[int, int]:
        before = reading.count_items(study)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(store.write, lambda w: begin(w, items=2, name="other")).result()
            pool.submit(store.write, lambda w: w.redact_item(study, "i1")).result()
        return before, sum(item.content is not None for item in reading.items(study))

    assert store.read(look) == (4, 4)
    assert store.read(lambda r: sum(one.content is None for one in r.items(study))) == 1
