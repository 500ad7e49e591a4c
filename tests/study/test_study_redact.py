"""Redaction in the middle of a round: nobody is held up by an item without words."""

from __future__ import annotations

import pytest
from tests.study.study_kit import as_, new_study, panel, plan_item, rate_all, same

from calibrant import StudyError
from calibrant.ports.store import Store


def test_raters_go_on_when_an_item_of_theirs_is_redacted(store: Store) -> None:
    study = new_study(store)
    study.add_items(map(plan_item, range(4)))
    panel(study, "ann", "bob")
    study.plan_round("main", items=["plan-000", "plan-001", "plan-002"])
    study.open_round(1, override="a test")
    mine = as_(study, "ann")
    mine.acknowledge()
    (task,) = mine.claim(token="t")
    mine.save_draft(task.key, {"note": "words"}, version=task.version, token="t")
    study.redact(task.item.id, reason="asked for")
    assert rate_all(study, "ann", same("4")) == 2
    assert rate_all(study, "bob", same("4")) == 2
    assert study.close_round(1).state == "closed"


def test_what_has_no_words_is_not_planned(store: Store) -> None:
    study = new_study(store)
    study.add_items(map(plan_item, range(3)))
    panel(study, "ann", "bob")
    study.redact("plan-001", reason="asked for")
    with pytest.raises(StudyError, match="'plan-001' has been redacted"):
        study.plan_round("main", items=["plan-001"])
    assert study.plan_round("main").items == 2
