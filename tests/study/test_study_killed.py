"""Workers are killed while they hand in through a study: nothing lost, nothing doubled."""

from __future__ import annotations

import multiprocessing
import random
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from tests.postgres import alone
from tests.store import kill_worker
from tests.study import handing_in
from tests.study.study_kit import PLANS, as_, new_study, panel, plan_item

from calibrant.core.plan import Plan
from calibrant.core.study import Progress
from calibrant.store.open import open_store

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(  # there is one server of forks: it loads for the other test too
    [
        handing_in.__name__,
        kill_worker.__name__,
        "calibrant.study.handle",
        "psycopg",
        "sqlalchemy.dialects.postgresql",
    ]
)
RATERS = ("ann", "bea")
WORKERS = 4
ITEMS = 200
KILLS = 6
DEADLINE = 60.0


class Workers:
    """Two for each rater; one that was killed begins again under its name."""

    def __init__(self, place: str, folder: Path) -> None:
        self.place, self.folder = place, folder
        self.processes = [self.start(number) for number in range(WORKERS)]
        self.kills = 0

    def start(self, number: int) -> BaseProcess:
        words = (self.place, RATERS[number % len(RATERS)], f"w{number}", self.folder)
        process = FORKS.Process(target=handing_in.work, args=words)
        process.start()
        return process

    def kill(self, number: int) -> None:
        process = self.processes[number]
        process.kill()
        process.join()
        self.kills += process.exitcode != 0
        self.processes[number] = self.start(number)

    def acknowledged(self) -> list[str]:
        found = [path.read_text().splitlines(keepends=True) for path in self.folder.glob("*.ok")]
        return [line.strip() for lines in found for line in lines if line.endswith("\n")]

    def errors(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.err")))


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_what_killed_workers_hand_in_again_is_rated_once(
    where: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place = str(request.getfixturevalue(f"{where}_place"))
    store = open_store(place, create=True)
    study = new_study(store, PLANS.model_copy(update={"calibration": None}))
    study.add_items(plan_item(number) for number in range(ITEMS))
    panel(study, *RATERS)
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(1, override="a test")
    for rater in RATERS:
        as_(study, rater).acknowledge()
    with alone("killed"):
        workers = handed_in(place, tmp_path)

    assert workers.errors() == ""
    assert workers.kills >= KILLS // 2, "killed in the middle of things"
    assert store.read(lambda tx: tx.progress(study.number)) == [
        Progress(1, rater, "done", ITEMS) for rater in RATERS
    ]
    kept = store.read(lambda tx: list(tx.ratings(study.number, all_revisions=True)))
    assert len(kept) == len(RATERS) * ITEMS
    assert {one.revision for one in kept} == {1}
    assert len({one.request for one in kept}) == len(kept)
    names = {f"{one.key.rater} {one.key.item}" for one in kept}
    assert set(workers.acknowledged()) <= names
    assert store.doctor() == []
    store.close()


def handed_in(place: str, folder: Path) -> Workers:
    """Let workers work till all is done, killing one now and then."""
    workers, chance = Workers(place, folder), random.Random(7)
    until = time.monotonic() + DEADLINE
    for turn in range(KILLS):
        wanted = len(RATERS) * ITEMS * (turn + 1) // (KILLS + 2)
        while len(workers.acknowledged()) < wanted and time.monotonic() < until:
            assert any(one.is_alive() for one in workers.processes), workers.errors()
            time.sleep(0.01)
        workers.kill(chance.randrange(WORKERS))
    for process in workers.processes:
        process.join(timeout=max(until - time.monotonic(), 1))
    for process in workers.processes:
        process.kill()
        process.join()
    return workers
