"""One commit for all that waits: nobody is told before it is durable, nobody harms another."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection
from tests.store import grouped_worker
from tests.store.store_kit import (
    a_draft,
    a_key,
    a_rating,
    a_study,
    an_entry,
    an_item,
    begin,
    put_draft,
)

from calibrant.core.errors import Doubled, StoreError
from calibrant.ports.store import Reading, Store, Writing
from calibrant.store import dialect
from calibrant.store.grouped import MOST, SIDE_BY_SIDE, Grouped, for_threads
from calibrant.store.open import open_store
from calibrant.store.sql import SqlStore

FORKS = multiprocessing.get_context("forkserver")


@pytest.fixture
def grouped(store: SqlStore) -> Iterator[Grouped]:
    made = Grouped(store)
    yield made
    made.close()


@contextmanager
def held(grouped: Grouped) -> Iterator[None]:
    """The writer is busy, so that whatever is handed over meanwhile is one batch."""
    busy, go = threading.Event(), threading.Event()

    def wait(_: Writing) -> None:
        busy.set()
        go.wait(30)

    answer = grouped.later(wait)
    busy.wait(30)
    try:
        yield
    finally:
        go.set()
        answer.result(30)


class Acts:
    """How many transactions are begun for writing."""

    def __init__(self, store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        act = store.act

        def counted(work: Callable[[Connection], Any]) -> Any:
            self.count += 1
            return act(work)

        monkeypatch.setattr(store, "act", counted)


def marks(store: Store, study: int) -> list[int]:
    return store.read(lambda tx: [one.body["mark"] for one in tx.journal(study)])


def noting(study: int, mark: int) -> Callable[[Writing], int]:
    def work(tx: Writing) -> int:
        tx.log(study, [an_entry(body={"mark": mark})])
        return mark

    return work


def test_it_is_a_store(grouped: Grouped, tmp_path: Path) -> None:
    kept: Store = grouped
    study = kept.write(begin)
    kept.write(lambda tx: put_draft(tx, study, a_draft()))
    assert kept.read(lambda tx: tx.draft(study, a_key())) == a_draft()
    assert kept.place == grouped.store.place
    assert kept.doctor() == []
    kept.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").exists()


def test_a_file_has_one_writer_and_a_server_its_own_many(store: SqlStore) -> None:
    writer = Grouped(store)
    shared = for_threads(writer)
    assert isinstance(shared, Grouped) == (store.dialect.name == "sqlite")
    study = shared.write(begin)
    assert shared.write(noting(study, 1)) == 1
    writer.close()


def test_what_waits_is_one_transaction_and_everybody_gets_their_own_answer(
    grouped: Grouped, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = grouped.write(begin)
    with held(grouped):
        acts = Acts(grouped.store, monkeypatch)
        answers = [grouped.later(noting(study, number)) for number in range(MOST + 10)]
        assert not any(one.done() for one in answers)
    assert [one.result(30) for one in answers] == list(range(MOST + 10))
    assert acts.count == 2
    assert marks(grouped, study) == list(range(MOST + 10))


def test_a_piece_that_raises_leaves_nothing_and_harms_nobody(grouped: Grouped) -> None:
    study = grouped.write(begin)
    grouped.write(lambda tx: tx.add_ratings(study, [a_rating("i1")]))

    def raises(tx: Writing) -> None:
        tx.log(study, [an_entry(body={"mark": 99})])
        tx.add_items(study, [an_item(99)])
        raise ValueError("mine")

    def doubled(tx: Writing) -> None:
        tx.log(study, [an_entry(body={"mark": 98})])
        tx.add_ratings(study, [a_rating("i2"), a_rating("i1")])

    def ends(tx: Writing) -> None:
        tx.log(study, [an_entry(body={"mark": 97})])
        raise SystemExit

    def recovers(tx: Writing) -> int:
        with pytest.raises(Doubled):
            tx.add_ratings(study, [a_rating("i2"), a_rating("i1")])
        return noting(study, 3)(tx)

    with held(grouped):
        answers: list[Future[Any]] = [
            grouped.later(work)
            for work in (noting(study, 1), raises, doubled, noting(study, 2), ends, recovers)
        ]
    told = [type(one.exception(30)) for one in answers]
    assert told == [type(None), ValueError, Doubled, type(None), SystemExit, type(None)]
    assert marks(grouped, study) == [1, 2, 3]
    assert grouped.read(lambda tx: tx.count_items(study)) == 4
    assert len(grouped.read(lambda tx: list(tx.ratings(study)))) == 1


def test_trouble_of_one_piece_with_the_database_is_its_own(grouped: Grouped) -> None:
    study = grouped.write(begin)

    def broken(tx: Any) -> None:
        tx.log(study, [an_entry(body={"mark": 99})])
        tx.connection.exec_driver_sql("SELECT 1 FROM nowhere")

    with held(grouped):
        answers: list[Future[Any]] = [
            grouped.later(work)
            for work in (noting(study, 1), broken, noting(study, 2), broken, noting(study, 3))
        ]
    told = [type(one.exception(30)) for one in answers]
    assert told == [type(None), StoreError, type(None), StoreError, type(None)]
    assert "nowhere" in str(answers[1].exception())
    assert marks(grouped, study) == [1, 2, 3]


def test_a_transaction_that_is_gone_is_noticed(sqlite_place: str) -> None:
    """SQLite gives the whole transaction up on some errors: nothing may be written after it."""
    grouped = Grouped(open_store(sqlite_place, create=True))
    study = grouped.write(begin)

    def gives_up(tx: Any) -> None:
        tx.connection.connection.driver_connection.execute("ROLLBACK")
        raise ValueError("and says nothing of it")

    with held(grouped):
        answers: list[Future[Any]] = [
            grouped.later(work) for work in (noting(study, 1), gives_up, noting(study, 2))
        ]
    assert [type(one.exception(30)) for one in answers] == [type(None), ValueError, type(None)]
    assert marks(grouped, study) == [1, 2]
    grouped.close()


def test_whoever_writes_alone_is_alone_and_the_order_stays(
    grouped: Grouped, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = grouped.write(begin)
    seen: list[list[int]] = []

    def alone(tx: Writing) -> None:
        tx.hold_study(study, alone=True)
        seen.append([one.body["mark"] for one in tx.journal(study)])
        noting(study, 3)(tx)

    def beside(mark: int) -> Callable[[Writing], int]:
        def work(tx: Writing) -> int:
            tx.hold_study(study, alone=False)
            return noting(study, mark)(tx)

        return work

    with held(grouped):
        acts = Acts(grouped.store, monkeypatch)
        pieces: list[Callable[[Writing], Any]] = [
            *(beside(1), beside(2), alone),
            *(beside(4), beside(5)),
        ]
        answers = [grouped.later(work) for work in pieces]
    for one in answers:
        one.result(30)
    assert marks(grouped, study) == [1, 2, 3, 4, 5]
    assert seen == [[1, 2]]
    assert acts.count == 4  # the first found that somebody must be alone


def test_an_acknowledgement_that_was_lost_doubles_nothing(
    postgres_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grouped = Grouped(open_store(postgres_place, create=True))
    study = grouped.write(begin)
    commit, broken = Connection.commit, list[int]()

    def lost(connection: Connection) -> None:
        commit(connection)
        if broken:
            broken.pop()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(Connection, "commit", lost)
    with held(grouped):
        answers = [grouped.later(noting(study, number)) for number in range(5)]
        broken.append(1)
        broken.append(1)
    assert [one.result(30) for one in answers] == [0, 1, 2, 3, 4]
    assert not broken
    assert marks(grouped, study) == [0, 1, 2, 3, 4]
    grouped.close()


def test_two_processes_that_block_each_other_both_get_through(postgres_place: str) -> None:
    """Batches over two studies in opposite orders: a server breaks the tie, the store tries on."""
    stores = [Grouped(open_store(postgres_place, create=True)) for _ in range(2)]
    studies = [stores[0].write(lambda tx, n=n: tx.add_study(a_study(n))) for n in ("one", "two")]  # type: ignore[misc]
    answers: list[Future[int]] = []
    for turn in range(5):
        with held(stores[0]), held(stores[1]):
            for grouped, order in zip(stores, (studies, studies[::-1]), strict=True):
                answers += [grouped.later(noting(study, turn)) for study in order]
    for one in answers:
        one.result(60)
    for study in studies:
        assert sorted(marks(stores[0], study)) == sorted([*range(5), *range(5)])
    for grouped in stores:
        grouped.close()


def test_trouble_that_lasts_is_told_to_all(
    sqlite_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialect, "PRAGMAS", ("busy_timeout = 5", *dialect.PRAGMAS[1:]))
    grouped = Grouped(open_store(sqlite_place, create=True, patience=0.1))
    study = grouped.write(begin)
    other = sqlite3.connect(sqlite_place, isolation_level=None, check_same_thread=False)
    act = grouped.store.act

    def too_late(work: Callable[[Connection], Any]) -> Any:
        monkeypatch.setattr(grouped.store, "act", act)
        other.execute("BEGIN IMMEDIATE")
        return act(work)

    with held(grouped):
        monkeypatch.setattr(grouped.store, "act", too_late)
        answers = [grouped.later(noting(study, number)) for number in range(4)]
    for one in answers:
        assert "another program is writing" in str(one.exception(30))
    other.execute("ROLLBACK")
    other.close()
    assert marks(grouped, study) == []
    assert grouped.write(noting(study, 7)) == 7
    grouped.close()


def _started(thread: threading.Thread) -> threading.Thread:
    thread.start()
    return thread


def test_work_within_work_is_refused(grouped: Grouped) -> None:
    study = grouped.write(begin)
    inner: dict[str, Callable[[], Any]] = {
        "write": lambda: grouped.write(lambda tx: None),
        "later": lambda: grouped.later(lambda tx: None),
        "read": lambda: grouped.read(lambda tx: None),
        "plain": lambda: grouped.store.write(lambda tx: None),
    }

    def trying(tx: Reading) -> list[str]:
        told = []
        for name, attempt in inner.items():
            try:
                attempt()
            except StoreError as error:
                assert "work within work" in str(error)
                told.append(name)
        return told

    assert grouped.write(trying) == list(inner)
    assert grouped.read(trying) == list(inner)
    grouped.write(noting(study, 1))


def test_closing_does_what_waits_and_takes_nothing_more(sqlite_place: str) -> None:
    grouped = Grouped(open_store(sqlite_place, create=True))
    study = grouped.write(begin)
    with held(grouped):
        answers = [grouped.later(noting(study, number)) for number in range(200)]
        closing_ = _started(threading.Thread(target=grouped.close))
        while not grouped._closed:
            time.sleep(0.001)
        with pytest.raises(StoreError, match="is closed"):
            grouped.write(noting(study, 999))
    closing_.join()
    assert [one.result(0) for one in answers] == list(range(200))
    grouped.close()
    again = open_store(sqlite_place)
    assert marks(again, study) == list(range(200))
    again.close()


def test_what_was_given_up_before_its_turn_is_not_done(grouped: Grouped) -> None:
    study = grouped.write(begin)
    with held(grouped):
        answers = [grouped.later(noting(study, number)) for number in range(4)]
        assert answers[1].cancel()
    for number in (0, 2, 3):
        assert answers[number].result(30) == number
    assert marks(grouped, study) == [0, 2, 3]


def test_nobody_waits_for_ever_whatever_goes_wrong(
    grouped: Grouped, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = grouped.write(begin)

    def broken(_: object) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(grouped, "_serve", broken)
        with pytest.raises(MemoryError):
            grouped.write(noting(study, 1))
    assert grouped.write(noting(study, 2)) == 2


@pytest.mark.parametrize("writers", [1, SIDE_BY_SIDE])
def test_many_threads_lose_nothing(store: SqlStore, writers: int) -> None:
    grouped = Grouped(store, writers=writers)
    study = grouped.write(begin)
    faults: list[BaseException] = []

    def go_on(thread: int) -> None:
        try:
            for number in range(15):
                mark = thread * 100 + number
                if number % 5 == 4:
                    with pytest.raises(ZeroDivisionError):
                        grouped.write(lambda tx, m=mark: noting(study, m)(tx) // 0)  # type: ignore[misc]
                else:
                    assert grouped.write(noting(study, mark)) == mark
                    assert mark in marks(grouped, study)
        except BaseException as fault:
            faults.append(fault)

    threads = [_started(threading.Thread(target=go_on, args=(n,))) for n in range(16)]
    for one in threads:
        one.join()
    assert faults == []
    kept = marks(grouped, study)
    assert sorted(kept) == [t * 100 + n for t in range(16) for n in range(15) if n % 5 != 4]
    assert [one.number for one in grouped.read(lambda tx: list(tx.journal(study)))] == list(
        range(1, len(kept) + 1)
    )
    grouped.close()


@given(st.lists(st.sampled_from(["good", "raises", "alone", "broken", "doubled"]), max_size=12))
def test_any_batch_comes_to_what_its_pieces_come_to_alone(kinds: list[str]) -> None:
    grouped = Grouped(open_store(":memory:"))
    study = grouped.write(begin)
    grouped.write(lambda tx: tx.add_ratings(study, [a_rating()]))

    def piece(kind: str, mark: int) -> Callable[[Any], int]:
        def work(tx: Any) -> int:
            tx.hold_study(study, alone=kind == "alone")
            noting(study, mark)(tx)
            if kind == "raises":
                raise KeyError(mark)
            if kind == "broken":
                tx.connection.exec_driver_sql("SELECT 1 FROM nowhere")
            if kind == "doubled":
                tx.add_ratings(study, [a_rating()])
            return mark

        return work

    with held(grouped):
        answers = [grouped.later(piece(kind, mark)) for mark, kind in enumerate(kinds)]
    expected = {"raises": KeyError, "broken": StoreError, "doubled": Doubled}
    for kind, one in zip(kinds, answers, strict=True):
        assert type(one.exception(30)) is expected.get(kind, type(None))
    good = [mark for mark, kind in enumerate(kinds) if kind in ("good", "alone")]
    assert marks(grouped, study) == good
    grouped.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_was_acknowledged_outlives_a_killed_process(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place = str(request.getfixturevalue(f"{kind}_place"))
    store = open_store(place, create=True)
    study = store.write(begin)
    for turn in range(3):
        told = tmp_path / f"w{turn}.ok"
        words = (place, study, f"w{turn}", tmp_path)
        process = FORKS.Process(target=grouped_worker.work, args=words)
        process.start()
        until = time.monotonic() + 60
        while not (told.exists() and told.read_bytes().count(b"\n") > 300):
            assert process.is_alive() and time.monotonic() < until
            time.sleep(0.005)
        process.kill()
        process.join()
    kept = store.read(lambda tx: [one.body["mark"] for one in tx.journal(study)])
    acknowledged = [
        line for path in tmp_path.glob("*.ok") for line in path.read_text().split("\n")[:-1]
    ]
    assert len(acknowledged) > 900
    assert set(acknowledged) <= set(kept)
    assert len(set(kept)) == len(kept), "nothing twice"
    assert store.doctor() == []
    store.close()
