"""However large a study is, the rows of a batch are found by their own names."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection
from tests.store.store_kit import (
    a_draft,
    a_key,
    a_rating,
    a_rubric,
    a_study,
    an_entry,
    at,
    begin,
    put_draft,
)

from calibrant.core.errors import StoreError
from calibrant.ports.store import Store, Writing
from calibrant.store import dialect, quick
from calibrant.store.open import open_store

ITEMS = 10_000
BATCH = [a_key(f"i{number}") for number in range(700, 725)]


def a_large_study(store: Store) -> int:
    study = store.write(lambda tx: begin(tx, ITEMS))
    made = [a_rating(f"i{number}", "bea") for number in range(1, ITEMS + 1)]
    for first in range(0, ITEMS, 500):
        some = made[first : first + 500]
        store.write(lambda tx, some=some: tx.add_ratings(study, some))  # type: ignore[misc]
    return study


def a_batch(tx: Writing, study: int) -> None:
    """Whatever handing in asks of the store."""
    tx.lease(study, rater="ann", token="t", now=at(1), until=at(31), limit=25)
    tx.lease(study, rater="ann", token="t", now=at(1), until=at(31), key=a_key("i900"))
    put_draft(tx, study, a_draft("i900"), "t")
    tx.member(study, "ann")
    tx.hold_assignments(study, BATCH)
    list(tx.items(study, {key.item for key in BATCH}))
    tx.ratings_by_request(study, [f"1/{key.item}/ann/1/1" for key in BATCH])
    tx.rating_by_request(study, "1/i7/ann/1/1")
    tx.hold_assignment(study, BATCH[0])
    tx.set_assignment_state(study, BATCH, "done")
    list(tx.journal(study, kinds=("acknowledged",)))


class Explained:
    """How a database goes about every statement, and how many rows it looks at for nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wasted: dict[str, int] = {}
        run = quick.run

        def run_and_explain(connection: Connection, statement: Any, asked: Any) -> Any:
            cursor = run(connection, statement, asked)
            ready = quick._ready(statement, connection.dialect)
            self.explain(connection, ready.text, ready.bound(asked))
            return cursor

        monkeypatch.setattr(quick, "run", run_and_explain)

    def explain(self, connection: Connection, statement: str, asked: Any) -> None:
        if not statement.startswith(("SELECT", "UPDATE")):
            return
        if connection.dialect.name == "sqlite":
            found = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", asked)
            told = [str(row[3]) for row in found]
            large = [one for one in told if "SCAN" in one or one.endswith("(study=?)")]
            known = ("VIRTUAL TABLE", " member ", " round ")
            self.wasted[statement] = ITEMS * sum(not any(k in one for k in known) for one in large)
        elif statement.startswith("SELECT"):
            how = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
            plan = json.dumps(connection.exec_driver_sql(how, asked).scalar_one())
            removed = re.findall(r'"Rows Removed by Filter": (\d+)', plan)
            self.wasted[statement] = sum(map(int, removed))
        else:  # not analyzed: that would do it once more
            plan = "".join(connection.exec_driver_sql(f"EXPLAIN {statement}", asked).scalars())
            self.wasted[statement] = 0 if "pk_assignment" in plan else ITEMS


def test_no_statement_of_a_batch_walks_through_the_study(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = a_large_study(store)
    told = Explained(monkeypatch)
    store.write(lambda tx: a_batch(tx, study))
    assert len(told.wasted) >= 8
    assert {text: rows for text, rows in told.wasted.items() if rows > 30} == {}


def test_the_server_knows_the_size_of_what_was_loaded(postgres_place: str) -> None:
    store = open_store(postgres_place, create=True)
    a_large_study(store)
    with psycopg.connect(postgres_place) as server:
        asked = "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'"
        known: dict[str, float] = dict(server.execute(asked).fetchall())
    assert known["item"] == ITEMS
    assert known["assignment"] == 2 * ITEMS
    assert known["rating"] > ITEMS / 2, "looked at again whenever it has doubled"
    assert known["member"] == -1, "a few rows are not worth a look"
    store.close()


def test_a_look_that_fails_loses_nothing(
    postgres_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(postgres_place, create=True)

    def broken(*_: object) -> None:
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(dialect.Postgres, "learn", broken)
    study = store.write(begin)
    assert store.read(lambda tx: tx.count_items(study)) == 4
    store.close()


def test_a_long_journal_is_read_in_parts_without_a_gap(store: Store) -> None:
    study = store.write(lambda tx: tx.add_study(a_study()))
    store.write(lambda tx: tx.add_rubric(a_rubric()))
    kinds = ["flag", "asked", "flag"]
    made = [an_entry(kinds[number % 3]) for number in range(3_500)]
    store.write(lambda tx: tx.log(study, made))

    def numbers(**asked: Any) -> list[int]:
        return store.read(lambda tx: [one.number for one in tx.journal(study, **asked)])

    assert numbers() == list(range(1, 3_501))
    assert numbers(after=1_500) == list(range(1_501, 3_501))
    assert numbers(kinds=["asked"]) == list(range(2, 3_501, 3))
    assert numbers(kinds=["flag", "asked"], after=2_500) == list(range(2_501, 3_501))
    late = store.read(lambda tx: tx.journal(study))
    with pytest.raises(StoreError, match="before it ends"):
        next(late)
