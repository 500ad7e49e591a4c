"""The audit log is read from the store a page at a time: the journal and ratings, by time."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from sqlalchemy import Select
from tests.store.store_kit import a_key, a_rating, a_round, an_entry, assignments, at, begin

from calibrant.core.audit import RATED, Sought, order_of, place_of, rated, read_place
from calibrant.core.study import FROZEN_DATA, Entry, Key
from calibrant.ports.store import Store, Writing
from calibrant.store.audit import Log

ITEMS = 3_000
MINUTES = {"i1": (2, 3), "i2": (3, 3), "i3": (5, 4), "i4": (3, 9)}
"""When ann and bea handed in; three at the same moment, and lines of the journal with them."""


def filled(tx: Writing) -> int:
    """Ratings and entries whose times cross, of which some are no lines."""
    study = begin(tx)
    tx.add_round(study, a_round(2))
    tx.add_assignments(study, [replace(one, key=_second(one.key)) for one in assignments(["i1"])])
    ratings = [
        a_rating(item, rater, submitted_at=at(minute))
        for item, minutes in MINUTES.items()
        for rater, minute in zip(("ann", "bea"), minutes, strict=True)
    ]
    corrected = a_rating("i1", "ann", revision=2, submitted_at=at(6))
    other = a_rating(key=_second(a_key("i1", "ann")), submitted_at=at(3))
    tx.add_ratings(study, [*ratings, corrected, other])
    entries = [
        an_entry("study", actor="lena", at=at(0)),
        an_entry("flag", item="i1", round=1, at=at(3)),
        an_entry("flag", actor="bea", item="i2", round=1, at=at(3)),
        an_entry(FROZEN_DATA, actor="lena", at=at(4)),
        an_entry("corrected", item="i1", round=1, at=at(6)),
        an_entry("lesson", actor="lena", at=at(1)),  # by a clock that was set back
    ]
    tx.log(study, entries)
    return study


def _second(key: Key) -> Key:
    return replace(key, round=2)


def expected() -> list[Entry]:
    """All lines that there are, by the rule."""
    lines = [
        rated(at(minute), 1, item, rater, 1)
        for item, minutes in MINUTES.items()
        for rater, minute in zip(("ann", "bea"), minutes, strict=True)
    ]
    lines.append(rated(at(3), 2, "i1", "ann", 1))
    lines += [
        an_entry("study", actor="lena", at=at(0), number=1),
        an_entry("flag", item="i1", round=1, at=at(3), number=2),
        an_entry("flag", actor="bea", item="i2", round=1, at=at(3), number=3),
        an_entry("corrected", item="i1", round=1, at=at(6), number=5),
        an_entry("lesson", actor="lena", at=at(1), number=6),
    ]
    return sorted(lines, key=order_of)


def paged(
    store: Store, study: int, sought: Sought, size: int, *, newest_first: bool = False
) -> list[Entry]:
    lines: list[Entry] = []
    start: Entry | None = None
    while len(lines) < 100:
        part = store.read(
            lambda tx, start=start: tx.lines(  # type: ignore[misc]
                study, sought, start=start, newest_first=newest_first, limit=size
            )
        )
        if not part:
            break
        assert len(part) <= size
        lines += part
        start = part[-1]
    return lines


def test_ratings_stand_among_the_lines_of_the_journal_in_order_of_time(store: Store) -> None:
    study, lines = store.write(filled), expected()
    for size, newest_first in product((1, 2, 3, 5, 50), (False, True)):
        found = paged(store, study, Sought(), size, newest_first=newest_first)
        assert found == (lines[::-1] if newest_first else lines), (size, newest_first)
    assert store.read(lambda tx: tx.count_lines(study, Sought())) == len(lines)


@pytest.mark.parametrize(
    ("sought", "told"),
    [
        (Sought(kind=RATED), lambda one: one.kind == RATED),
        (Sought(kind="flag"), lambda one: one.kind == "flag"),
        (Sought(ratings=False), lambda one: one.number),
        (Sought(kind="nothing"), lambda one: False),
        (Sought(kind="\0"), lambda one: False),
        (Sought(actor="bea"), lambda one: one.actor == "bea"),
        (Sought(item="i1"), lambda one: one.item == "i1"),
        (
            Sought(kind=RATED, actor="ann", item="i3"),
            lambda one: (one.kind, one.actor, one.item) == (RATED, "ann", "i3"),
        ),
        (Sought(elsewhere=[2]), lambda one: (one.kind, one.round) != (RATED, 2)),
        (Sought(rounds=[]), lambda one: one.item is None),
        (
            Sought(rounds=[2], me="bea"),
            lambda one: one.item is None or one.round == 2 or one.actor == "bea",
        ),
        (
            Sought(rounds=[1, 2], hidden=["i1", "i2"]),
            lambda one: one.item not in ("i1", "i2"),
        ),
    ],
)
def test_lines_are_chosen_by_the_database(store: Store, sought: Sought, told: object) -> None:
    study = store.write(filled)
    lines = [one for one in expected() if told(one)]  # type: ignore[operator]
    for newest_first in (False, True):
        found = paged(store, study, sought, 2, newest_first=newest_first)
        assert found == (lines[::-1] if newest_first else lines)
    assert store.read(lambda tx: tx.count_lines(study, sought)) == len(lines)


def test_another_study_has_lines_of_its_own(store: Store) -> None:
    store.write(filled)
    other = store.write(lambda tx: begin(tx, name="another"))
    assert store.read(lambda tx: tx.lines(other, Sought(), limit=9)) == []


def test_a_line_is_found_again_by_its_place() -> None:
    for line in expected():
        found = read_place(place_of(line))
        assert found == (line.number or line)
    for wrong in ("", "r", "rr", "x1", "-1", "²", "r" + "A" * 30, "rWzEsMl0", "r\0", "é"):
        assert read_place(wrong) is None, wrong


def test_a_page_is_found_without_walking_through_the_study(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = store.write(lambda tx: begin(tx, ITEMS))
    ratings = [
        a_rating(f"i{number}", rater, submitted_at=f"2026-03-02T09:{number:09}Z")
        for number in range(1, ITEMS + 1)
        for rater in ("ann", "bea")
    ]
    store.write(lambda tx: tx.add_ratings(study, ratings))
    entries = [an_entry("lesson", at=f"2026-03-02T09:{n:09}Z") for n in range(ITEMS)]
    store.write(lambda tx: tx.log(study, entries))
    plans: list[str] = []
    run = Log._run

    def run_and_explain(log: Log, wanted: Select[Any]) -> Any:
        asked = wanted.compile(log.connection, compile_kwargs={"literal_binds": True})
        plan = "EXPLAIN QUERY PLAN" if log.dialect.name == "sqlite" else "EXPLAIN ANALYZE"
        found = log.connection.exec_driver_sql(f"{plan} {asked}".replace("%", "%%"))
        plans.append("\n".join(str(row[-1]) for row in found))
        return run(log, wanted)

    monkeypatch.setattr(Log, "_run", run_and_explain)
    middle = rated(f"2026-03-02T09:{ITEMS // 2:09}Z", 1, f"i{ITEMS // 2}", "ann", 1)
    for start, newest_first in product((None, middle), (False, True)):
        page = store.read(
            lambda tx, start=start, newest_first=newest_first: tx.lines(  # type: ignore[misc]
                study, Sought(), start=start, newest_first=newest_first, limit=20
            )
        )
        assert len(page) == 20
    assert len(plans) == 8
    for plan in plans:
        assert "ix_rating_handed_in" in plan or "ix_journal_study_at_number" in plan, plan
        assert "TEMP B-TREE" not in plan and "Sort" not in plan and "SCAN" not in plan, plan
        assert all(int(rows) <= 20 for rows in re.findall(r"actual.*rows=(\d+)", plan)), plan
