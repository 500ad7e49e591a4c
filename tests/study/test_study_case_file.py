"""What was said about an item, and the thread beside it: for whoever may see, and nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from tests.study.study_kit import PLANS, as_, new_study, panel, plan_item

from calibrant import Study, StudyError, Submission
from calibrant.core.errors import Refused
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.ports.store import Store
from calibrant.store.open import open_store

BARE = PLANS.model_copy(update={"calibration": None})
RED = next(one.id for one in PLANS.red_flags or () if one.evidence != "item_and_profile")
ITEM, OTHER = "plan-000", "plan-001"
QUOTE = "visit 0 nurseries"


def hand_in(study: Study, rater: str, value: str, item: str = ITEM, **form: Any) -> None:
    mine = as_(study, rater)
    mine.acknowledge()
    answers = dict.fromkeys(PLANS.criterion_ids, value)
    key = Key(round=1, item=item, rater=rater)
    mine.submit(Submission(key=key, form={"answers": answers, **form}, request=f"{rater}/{item}"))


def opened(store: Store) -> Study:
    study = new_study(store, BARE)
    study.add_items([plan_item(number) for number in range(2)])
    panel(study, "ann", "bob")
    study.add_member("cy", group="adviser")
    study.add_member("ada", roles=("adjudicator",))
    study.add_member("vic", roles=("viewer",))
    study.plan_round("main", plan=Plan(way="everyone"), raters=("ann", "bob"))
    study.open_round(1)
    return study


def closed(store: Store) -> Study:
    """Ann and bob rated the first item apart; ann never rated the second."""
    study = opened(store)
    hand_in(study, "ann", "1", notes={"realism": "five hours are few"}, borderline=["realism"])
    flags = [{"flag": RED, "evidence": [QUOTE]}]
    hand_in(study, "bob", "4", evidence={"realism": [QUOTE]}, note="a good plan", flags=flags)
    hand_in(study, "bob", "4", OTHER)
    study.close_round(1, reason="time is up")
    return study


def test_a_file_holds_what_each_rater_said(store: Store) -> None:
    study = closed(store)
    found = as_(study, "ada").case_file(ITEM)
    low, high = sorted(found.voices, key=lambda one: one.answers["realism"])
    assert (low.answers["realism"], high.answers["realism"]) == ("1", "4")
    assert low.notes == {"realism": "five hours are few"}
    assert low.borderline == {"realism"}
    assert high.evidence == {"realism": (QUOTE,)}
    assert high.note == "a good plan"
    assert {low.rater, high.rater}.isdisjoint({"ann", "bob"})
    assert [one.flag for one in found.flags] == [RED]
    assert found.flags[0].by == high.rater
    assert found.content == plan_item(0).__class__(
        id=ITEM, profile=plan_item(0).profile, actions=plan_item(0).actions
    )
    assert found.refusal == "" and found.first == "consensus"


def test_whoever_settles_sees_no_names_and_whoever_leads_a_discussion_does(store: Store) -> None:
    study = closed(store)
    assert {one.rater for one in study.case_file(ITEM, round=1).voices} == {"ann", "bob"}
    assert all(one.rater.startswith("rater ") for one in study.case_file(ITEM).voices)
    mine = as_(study, "ann").case_file(ITEM, round=1)
    assert "you" in {one.rater for one in mine.voices}
    assert "decision takes an adjudicator" in mine.refusal


def test_a_file_is_closed_before_its_time(store: Store) -> None:
    study = opened(store)
    hand_in(study, "bob", "4", notes={"realism": "SECRET"})
    for actor in ("ann", "bob", "cy", "ada"):
        with pytest.raises(Refused, match="not closed"):
            as_(study, actor).case_file(ITEM, round=1)
    for actor in ("ann", "bob", "cy"):
        with pytest.raises((StudyError, Refused), match=r"rate item|no ratings"):
            as_(study, actor).case_file(ITEM)
    assert as_(study, "ada").case_file(ITEM).voices == ()
    study.close_round(1, reason="time is up")
    for round in (None, 1):
        with pytest.raises(Refused, match="rate item 'plan-000' first"):
            as_(study, "ann").case_file(ITEM, round=round)
    with pytest.raises(Refused, match="this takes a"):
        as_(study, "vic").case_file(ITEM)


def test_what_nobody_rated_has_no_file(store: Store) -> None:
    study = closed(store)
    with pytest.raises(StudyError, match="no item"):
        as_(study, "ada").case_file("plan-999")
    with pytest.raises(StudyError, match="no round 7"):
        as_(study, "ada").case_file(ITEM, round=7)


def test_outcomes_are_kept_in_order_with_masks(store: Store) -> None:
    study = closed(store)
    study.discuss(1, ITEM, "realism", outcome="hours count", participants=["ann"], unclear=True)
    ann = as_(study, "ann")
    others = [one.rater for one in ann.case_file(ITEM).voices if one.rater != "you"]
    ann.no_consensus(ITEM, "realism", participants=["you", *others], reason="we read it apart")
    assert ann.case_file(ITEM).tried("realism")
    ada = as_(study, "ada")
    ada.settle(ITEM, "realism", "2", how="adjudicated", reason="few hours", error="slip")
    found = ada.case_file(ITEM).outcomes
    assert [one.what for one in found] == ["discussed", "no_consensus", "settled"]
    assert found[0].unclear and found[0].text == "hours count"
    assert len(found[1].participants) == 2
    assert (found[2].value, found[2].error, found[2].by) == ("2", "slip", "you")
    told = {name for one in found for name in (*one.participants, one.by)}
    assert told.isdisjoint({"ann", "bob", "lena", "ada"})


def test_masks_name_who_took_part(store: Store) -> None:
    study = closed(store)
    ann = as_(study, "ann")
    (bob,) = [one.rater for one in ann.case_file(ITEM).voices if one.rater != "you"]
    ann.settle(ITEM, "realism", "2", how="consensus", participants=["you", bob], reason="agreed")
    entry = next(one for one in study.journal() if one.kind == "settled")
    assert entry.body["participants"] == ["ann", "bob"]
    with pytest.raises(StudyError, match="'rater Q' is not a member"):
        ann.no_consensus(ITEM, "clarity", participants=["rater Q"], reason="no")
    with pytest.raises(StudyError, match="say who took part"):
        ann.discuss(1, ITEM, "clarity", participants=[], outcome="no")


def test_a_thread_is_read_by_those_who_see_the_answers(store: Store) -> None:
    study = closed(store)
    bob = as_(study, "bob")
    bob.comment(1, ITEM, "realism", " an hour a day is enough ")
    bob.comment(1, OTHER, "clarity", "SECRET of the second")
    ann = as_(study, "ann")
    (found,) = ann.comments(round=1)
    assert (found.text, found.item, found.criterion) == (
        "an hour a day is enough", ITEM, "realism"
    )  # fmt: skip
    assert found.by.startswith("rater ")
    assert ann.case_file(ITEM, round=1).comments == (found,)
    with pytest.raises(StudyError, match="rate item 'plan-001' first"):
        ann.comment(1, OTHER, "clarity", "me too")
    assert [one.by for one in bob.comments(item=OTHER)] == ["you"]
    assert [one.by for one in study.comments()] == ["bob", "bob"]


def test_comments_are_words_about_something(store: Store) -> None:
    study = closed(store)
    for text, told in (("  ", "needs a few words"), ("x" * 20_001, "at most 20,000")):
        with pytest.raises(StudyError, match=told):
            study.comment(1, ITEM, "realism", text)
    with pytest.raises(StudyError, match="nobody rated item 'nothing'"):
        study.comment(1, "nothing", "realism", "hm")


def test_nobody_comments_on_an_open_round() -> None:
    study = opened(open_store(":memory:"))
    hand_in(study, "bob", "4")
    with pytest.raises(Refused, match="not closed"):
        as_(study, "bob").comment(1, ITEM, "realism", "hm")
    with pytest.raises(Refused, match="not closed"):
        as_(study, "bob").comments(round=1)
    assert as_(study, "bob").comments() == []


def test_a_redacted_item_has_no_words_left(store: Store) -> None:
    study = closed(store)
    as_(study, "bob").comment(1, ITEM, "realism", "SECRET words")
    study.redact(ITEM, reason="asked for")
    found = as_(study, "ada").case_file(ITEM)
    assert found.content is None
    assert "SECRET" not in repr(found) and QUOTE not in repr(found)
    assert [one.text for one in found.comments] == [""]
