"""Nothing lost, nothing doubled: workers and servers are killed while ratings are handed in."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from tests.postgres import Cluster, alone
from tests.store import kill_worker
from tests.store.store_kit import a_key, a_member, a_round, a_rubric, a_study, an_item

from calibrant.core.study import Assignment, Progress
from calibrant.ports.store import Writing
from calibrant.store.open import open_store

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([kill_worker.__name__, "psycopg", "sqlalchemy.dialects.postgresql"])
WORKERS = 8
RATERS = 4
ITEMS = 4000
KILLS = 8
DEADLINE = 150.0
"""Seconds after which the run is given up; it takes a small part of that."""


def fill(writing: Writing) -> int:
    study = writing.add_study(a_study())
    writing.add_rubric(a_rubric())
    writing.add_items(study, (an_item(n) for n in range(1, ITEMS + 1)))
    for rater in range(RATERS):
        writing.add_member(study, a_member(f"r{rater}"))
    writing.add_round(study, a_round())
    writing.add_assignments(
        study,
        (
            Assignment(key=a_key(f"i{n}", f"r{rater}"), position=n)
            for rater in range(RATERS)
            for n in range(1, ITEMS + 1)
        ),
    )
    return study


class Workers:
    """Eight processes; two share a rater, so that leases matter."""

    def __init__(self, place: str, study: int, folder: Path) -> None:
        self.place, self.study, self.folder = place, study, folder
        self.started = 0
        self.processes = [self.start(number) for number in range(WORKERS)]

    def start(self, number: int) -> BaseProcess:
        self.started += 1
        name = f"w{self.started}"
        words = (self.place, self.study, f"r{number % RATERS}", name, self.folder)
        process = FORKS.Process(target=kill_worker.work, args=words)
        process.start()
        return process

    def kill(self, number: int) -> None:
        """Kill one in the middle of things, and put another in its place."""
        process = self.processes[number]
        if process.is_alive():
            process.kill()
            process.join()
            self.processes[number] = self.start(number)

    def done(self) -> int:
        return sum(path.read_bytes().count(b"\n") for path in self.folder.glob("*.ok"))

    def finish(self, until: float) -> None:
        try:
            for process in self.processes:
                process.join(timeout=max(until - time.monotonic(), 1))
                assert process.exitcode == 0, self.errors()
        finally:
            for process in self.processes:
                process.kill()
                process.join()

    def errors(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.err")))

    def acknowledged(self) -> set[str]:
        """Whole lines only: a worker may have been killed while it wrote one."""
        return {
            line.rstrip("\n")
            for path in self.folder.glob("*.ok")
            for line in path.read_text("utf-8").splitlines(keepends=True)
            if line.endswith("\n")
        }


def run(place: str, folder: Path, disturb: Callable[[int], None]) -> None:
    store = open_store(place, create=True)
    study = store.write(fill)
    until = time.monotonic() + DEADLINE
    workers = Workers(place, study, folder)
    chance = random.Random(7)
    total = RATERS * ITEMS
    for turn in range(KILLS):
        while workers.done() < total * (turn + 1) // (KILLS + 2) and time.monotonic() < until:
            assert any(process.is_alive() for process in workers.processes), workers.errors()
            time.sleep(0.02)
        workers.kill(chance.randrange(WORKERS))
        disturb(turn)
    workers.finish(until)
    assert workers.errors() == "", "no worker saw an error, least of all one of locking"
    assert store.read(lambda r: r.progress(study)) == [
        Progress(1, f"r{rater}", "done", ITEMS) for rater in range(RATERS)
    ]
    kept = store.read(lambda r: [one.request for one in r.ratings(study, all_revisions=True)])
    assert sorted(kept) == sorted(f"r{r}/i{n}" for r in range(RATERS) for n in range(1, ITEMS + 1))
    assert workers.acknowledged() <= set(kept)
    assert len(workers.acknowledged()) > total // 2
    assert store.doctor() == []
    store.close()


def test_killed_workers_lose_and_double_nothing_in_a_file(tmp_path: Path) -> None:
    run(str(tmp_path / "study.db"), tmp_path, lambda _: None)


@pytest.fixture(autouse=True)
def one_at_a_time() -> Iterator[None]:
    with alone("killed"):
        yield


@pytest.fixture
def own_server() -> Iterator[Cluster]:
    cluster = Cluster.make()
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def test_killed_workers_and_servers_lose_and_double_nothing(
    own_server: Cluster, tmp_path: Path
) -> None:
    def disturb(turn: int) -> None:
        if turn in (2, 5):
            own_server.kill()
            own_server.start()

    run(f"{own_server.url}/postgres", tmp_path, disturb)
