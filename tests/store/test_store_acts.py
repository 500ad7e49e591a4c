"""A commit nobody heard of is not done twice; moves that rest on what they read take turns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection
from tests.study.study_kit import PLANS, as_, new_study, panel, plan_item, same

from calibrant import StudyError, Submission
from calibrant.core.plan import Plan
from calibrant.core.study import Entry, Key
from calibrant.ports.store import Writing
from calibrant.store.open import open_store
from calibrant.store.sql import SqlStore

STILL = PLANS.model_copy(update={"calibration": None})


def test_a_lost_acknowledgement_does_not_double_an_act(
    postgres_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(postgres_place, create=True)
    study = new_study(store)
    commit, broken = Connection.commit, [1]

    def lost(connection: Connection) -> None:
        commit(connection)
        if broken:
            broken.pop()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(Connection, "commit", lost)

    def work(tx: Writing) -> str:
        tx.log(study.number, [Entry(kind="lesson", actor="lena", at="2026-03-02T09:30:00.000000Z")])
        return "told"

    assert store.write(work) == "told"
    assert not broken
    kinds = [one.kind for one in study.journal()]
    assert kinds.count("lesson") == 1
    store.close()


def test_a_commit_that_failed_is_done_again(
    postgres_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(postgres_place, create=True)
    study = new_study(store)
    commit, broken = Connection.commit, [1]

    def lost(connection: Connection) -> None:
        if broken:
            broken.pop()
            connection.rollback()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        commit(connection)

    monkeypatch.setattr(Connection, "commit", lost)
    study.add_lesson("once")
    assert study.lessons() == ["once"]
    store.close()


def beside(first: Callable[[], Any], second: Callable[[], Any]) -> list[Any]:
    """Two moves at once; what each came to."""
    came: list[Any] = [None, None]
    start = threading.Barrier(2)

    def run(at: int, move: Callable[[], Any]) -> None:
        start.wait()
        try:
            came[at] = move()
        except StudyError as error:
            came[at] = error

    threads = [
        threading.Thread(target=run, args=(at, move)) for at, move in enumerate((first, second))
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return came


@pytest.mark.parametrize("turn", range(4))
def test_leaving_and_handing_in_at_once_never_lose_or_double(store: SqlStore, turn: int) -> None:
    study = new_study(store, STILL)
    study.add_items([plan_item(0)])
    panel(study, "ann", "bob")
    study.plan_round("main", plan=Plan(way="per_item", raters=1), raters=["ann"])
    study.open_round(1)
    ann = as_(study, "ann")
    ann.acknowledge()
    one = Submission(
        key=Key(round=1, item="plan-000", rater="ann"),
        form=same("3")(Key(round=1, item="plan-000", rater="ann"), STILL),
        request="r",
    )
    came = beside(lambda: ann.submit(one), lambda: study.leave("ann", reason="gone"))
    states = store.read(
        lambda tx: {(a.key.rater, a.state) for a in tx.assignments(study.number, item="plan-000")}
    )
    rated = store.read(lambda tx: list(tx.ratings(study.number)))
    if isinstance(came[0], StudyError):
        assert states == {("ann", "withdrawn"), ("bob", "open")} and not rated
    else:
        assert states == {("ann", "done")} and len(rated) == 1


@pytest.mark.parametrize("turn", range(3))
def test_two_leads_who_plan_at_once_do_not_give_an_item_out_twice(
    store: SqlStore, turn: int
) -> None:
    study = new_study(store, STILL)
    study.add_items([plan_item(number) for number in range(4)])
    panel(study, "ann", "bob")
    plan = Plan(way="everyone")
    beside(lambda: study.plan_round("main", plan=plan), lambda: study.plan_round("main", plan=plan))
    keys = store.read(lambda tx: [one.key for one in tx.assignments(study.number)])
    assert len(keys) == 8
    assert len({(one.item, one.rater) for one in keys}) == 8
