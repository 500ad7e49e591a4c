"""The loop of a rater that is a program: everything once, faults set aside, others let through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.study.study_kit import as_, new_study, plan_item

from calibrant.core.errors import StudyError
from calibrant.engine.worker import work_off
from calibrant.ports.store import Store
from calibrant.study.claim import Task
from calibrant.study.handle import Study


@pytest.fixture
def study(store: Store) -> Study:
    """An open round of 23 items for a judge."""
    lead = new_study(store)
    lead.add_items(map(plan_item, range(23)))
    lead.add_member("gpt", kind="LLM", card={"model": "m"})
    lead.plan_round("main")
    lead.open_round(1, override="a test")
    return as_(lead, "gpt")


def fours(task: Task) -> Mapping[str, Any]:
    return {"answers": dict.fromkeys(task.rubric.criterion_ids, "4")}


def test_everything_is_rated_once_and_told_part_by_part(study: Study) -> None:
    told: list[int] = []
    done = work_off(study, fours, token="w", part=5, on_part=told.append)
    assert (done.rated, done.faults) == (23, []) and told == [5, 10, 15, 20, 23]
    assert len(study.my_ratings()) == 23
    assert work_off(study, fours, token="w").rated == 0


def test_a_form_with_faults_holds_up_nobody(study: Study) -> None:
    def some(task: Task) -> Mapping[str, Any]:
        return {"answers": {}} if task.item.id.endswith(("3", "7")) else fours(task)

    done = work_off(study, some, token="w", part=4)
    assert done.rated == 19
    assert {item for item, _ in done.faults} == {f"plan-0{n:02}" for n in (3, 7, 13, 17)}
    assert work_off(study, fours, token="w").rated == 4


def test_two_workers_share_the_work(study: Study) -> None:
    shared = iter(range(100))

    def one_part(task: Task) -> Mapping[str, Any]:
        if next(shared) == 5:  # in the middle of it, another worker takes all that is free
            assert work_off(study, fours, token="second").rated == 13
        return fours(task)

    assert work_off(study, one_part, token="first", part=10).rated == 10
    assert len(study.my_ratings()) == 23


def test_a_worker_that_breaks_off_keeps_what_it_handed_in(study: Study) -> None:
    def breaks(task: Task) -> Mapping[str, Any]:
        if task.position > 10:
            raise StudyError("no more money")
        return fours(task)

    with pytest.raises(StudyError, match="no more money"):
        work_off(study, breaks, token="w", part=5)
    assert len(study.my_ratings()) == 10
