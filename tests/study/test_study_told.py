"""What is refused says what changed, what is not there, and what to do first."""

from __future__ import annotations

from typing import Any

import pytest
from tests.study.study_kit import PLANS, as_, new_study, panel, plan_item, rate_all, same

from calibrant import Study, StudyError, Submission
from calibrant.core.errors import Stale
from calibrant.core.study import Key
from calibrant.ports.store import Store

ANSWERS = dict.fromkeys(PLANS.criterion_ids, "3")


def opened(store: Store) -> Study:
    study = new_study(store)
    study.add_items([plan_item(number) for number in range(3)])
    panel(study, "ann", "bob")
    study.plan_round("main")
    study.open_round(1, override="for the test")
    return study


def handed(key: Key, form: dict[str, Any], request: str, **more: Any) -> Submission:
    return Submission(key=key, form=form, request=request, **more)


def test_a_stale_draft_says_when_and_what(store: Store) -> None:
    mine = as_(opened(store), "ann")
    mine.acknowledge()
    (task,) = mine.claim(token="tab")
    first = {
        "answers": {"realism": "2", "clarity": 4},
        "note": "PRIVATE",
        "notes": {"realism": "N"},
    }
    mine.save_draft(task.key, first, version=task.version, token="tab")
    draft = store.read(lambda tx: tx.draft(mine.number, task.key))
    assert draft is not None
    second = {"answers": {"realism": "5", "clarity": "4"}, "note": "OTHER", "edge_case": "E"}
    told = f"saved at {draft.saved_at}, which differs in answers.realism, notes.realism, note, edge"
    for act in (
        lambda: mine.save_draft(task.key, second, version=task.version, token="tab"),
        lambda: mine.submit(handed(task.key, second, "r", version=task.version)),
    ):
        with pytest.raises(Stale, match=told) as raised:
            act()
        assert "PRIVATE" not in str(raised.value) and "OTHER" not in str(raised.value)
    with pytest.raises(Stale, match="which says the same: load it again"):
        mine.save_draft(task.key, first, version=task.version, token="tab")
    with pytest.raises(Stale, match="by now there is version 1, of which nothing is saved"):
        (other,) = [one for one in mine.claim(token="tab", limit=2) if one.key != task.key]
        store.write(lambda tx: tx.set_assignment_state(mine.number, [other.key], "open"))
        mine.save_draft(other.key, {}, version=other.version, token="tab")


def test_a_second_rating_says_when_the_first_came_and_what_differs(store: Store) -> None:
    mine = as_(opened(store), "ann")
    mine.acknowledge()
    key = Key(round=1, item="plan-000", rater="ann")
    first = mine.submit(handed(key, {"answers": ANSWERS}, "a"))
    changed = {"answers": {**ANSWERS, "clarity": "1"}}
    told = f"handed in at {first.submitted_at}, which differs in answers.clarity"
    with pytest.raises(Stale, match=f"is rated already, {told}: correct"):
        mine.submit(handed(key, changed, "b"))
    second = mine.correct(handed(key, changed, "c"), revision=1)
    told = f"handed in at {second.submitted_at}, which says the same"
    with pytest.raises(Stale, match=f"by now there is revision 2, {told}"):
        mine.correct(handed(key, changed, "d"), revision=1)


def test_a_round_that_is_not_there_is_told(store: Store) -> None:
    study = opened(store)
    ann = as_(study, "ann")
    missing = r"has no round 7; there are: 1"
    with pytest.raises(StudyError, match=missing):
        ann.disputes(7)
    with pytest.raises(StudyError, match=missing):
        study.disputes(7)
    with pytest.raises(StudyError, match=missing):
        ann.ratings(round=7)
    with pytest.raises(StudyError, match=missing):
        ann.agreement(round=7)
    with pytest.raises(StudyError, match=missing):
        ann.discuss(7, "plan-000", "realism", outcome="x", participants=["ann"])
    with pytest.raises(StudyError, match="round 1 is not closed"):
        ann.disputes(1)


def test_a_reviewer_with_work_to_do_stays_one(store: Store) -> None:
    study = opened(store)
    with pytest.raises(StudyError, match="'bob' has 3 assignments to do"):
        study.set_roles("bob", ["viewer"])
    study.set_roles("bob", ["viewer", "reviewer"])
    rate_all(study, "bob", same("3"))
    study.set_roles("bob", ["viewer"])
    study.set_roles("bob", ["viewer", "reviewer"])
