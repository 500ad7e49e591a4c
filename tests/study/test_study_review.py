"""What one member could learn of another or do in their place, and must not: case by case."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.study.study_kit import (
    PLANS,
    RESPONSES,
    as_,
    new_study,
    panel,
    plan_item,
    rate_all,
    response_item,
    same,
)

import calibrant
from calibrant import RecordError, Study, StudyError, Submission
from calibrant.core.errors import Refused
from calibrant.core.ids import content_hash
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.ports.store import Store
from calibrant.store.open import open_store

BARE = PLANS.model_copy(update={"calibration": None})
RED = next(one.id for one in PLANS.red_flags or () if one.evidence != "item_and_profile")
BOTH = next(one.id for one in PLANS.red_flags or () if one.evidence == "item_and_profile")
QUOTE = "visit 0 nurseries"
FIRST = "plan-000"


@pytest.fixture
def study() -> Study:
    """A main round is open, in which ann and bob rate everything; lena leads, ada adjudicates."""
    return opened(open_store(":memory:"))


def opened(store: Store, raters: tuple[str, ...] = ("ann", "bob")) -> Study:
    made = new_study(store, BARE)
    made.add_items([plan_item(number) for number in range(3)])
    panel(made, "ann", "bob", "cy")
    made.add_member("ada", roles=("adjudicator",))
    made.plan_round("main", plan=Plan(way="everyone"), raters=raters)
    made.open_round(1)
    return made


def sent(rater: str, item: str = FIRST, request: str = "once", **form: Any) -> Submission:
    answers = dict.fromkeys(PLANS.criterion_ids, "3")
    key = Key(round=1, item=item, rater=rater)
    return Submission(key=key, form={"answers": answers, **form}, request=request)


def hand_in(study: Study, rater: str, item: str = FIRST, request: str = "once", **form: Any) -> Any:
    mine = as_(study, rater)
    mine.acknowledge()
    return mine.submit(sent(rater, item, request, **form))


def closed(study: Study, ann: str = "1", bob: str = "4") -> Study:
    rate_all(study, "ann", same(ann))
    rate_all(study, "bob", same(bob))
    study.close_round(1)
    return study


# -- requests


def test_requests_are_their_raters_own(store: Store) -> None:
    study = opened(store)
    bobs = hand_in(study, "bob", "plan-001", request="guess")
    anns = hand_in(study, "ann", FIRST, request="guess")
    assert anns.key.rater == "ann" and anns.request != bobs.request
    assert hand_in(study, "ann", FIRST, request="guess") == anns
    with pytest.raises(StudyError, match="another rating"):
        hand_in(study, "ann", "plan-002", request="guess")


def test_a_request_of_another_cannot_be_told_from_a_new_one(study: Study) -> None:
    hand_in(study, "bob", request="guess")
    as_(study, "ann").acknowledge()
    told = []
    for request in ("guess", "never used"):
        with pytest.raises(RecordError) as raised:
            as_(study, "ann").submit(
                Submission(key=Key(round=1, item=FIRST, rater="ann"), form={}, request=request)
            )
        told.append(str(raised.value))
    assert told[0] == told[1]


# -- leads who rate


def test_a_lead_who_may_rate_sees_what_a_rater_sees(study: Study) -> None:
    hand_in(study, "ann")
    assert study.ratings(round=1).height
    study.set_roles("lena", ["lead", "reviewer"])
    with pytest.raises(Refused, match="not closed"):
        study.ratings(round=1)
    with pytest.raises(Refused, match="round 1 is open"):
        study.contents(lambda contents, tables: None)


def test_work_of_an_open_round_is_not_handed_to_a_lead_who_has_looked_on(study: Study) -> None:
    study.set_roles("lena", ["lead", "reviewer"])
    moved = study.leave("bob", reason="another job")
    assert set(moved.moved) == {"cy"}


def test_work_is_handed_to_a_lead_who_rated_from_the_start() -> None:
    study = new_study(open_store(":memory:"), BARE)
    study.set_roles("lena", ["lead", "reviewer"])
    study.add_items([plan_item(0)])
    panel(study, "ann", "bob")
    study.plan_round("main", plan=Plan(way="everyone"), raters=["ann", "bob"])
    study.open_round(1)
    assert study.leave("bob", reason="another job").moved == {"lena": 1}


def test_where_items_come_from_is_kept_from_a_lead_who_still_rates() -> None:
    study = new_study(open_store(":memory:"), BARE)
    study.add_items([plan_item(0)])
    panel(study, "ann")
    assert study.items()["source"].null_count() == 0
    study.set_roles("lena", ["lead", "reviewer"])
    study.plan_round("main", plan=Plan(way="everyone"))
    assert study.items()["source"].null_count() == 1
    study.open_round(1)
    for name in ("ann", "lena"):
        rate_all(study, name, same("3"))
    assert study.items()["source"].null_count() == 1
    study.close_round(1)
    assert study.items()["source"].null_count() == 0


# -- flags


def test_a_flag_that_may_not_be_seen_is_not_there_to_be_decided(study: Study) -> None:
    study.set_roles("ann", ["reviewer", "adjudicator"])
    as_(study, "bob").raise_flag("plan-001", what="edge_case", reason="hm")
    (flag,) = study.flags()
    for state in ("before", "after"):
        with pytest.raises(StudyError, match=f"there is no flag {flag.number}$"):
            as_(study, "ann").decide_flag(flag.number, confirm=True, reason=state)
        rate_all(study, "ann", same("3"))


def test_flags_of_an_open_round_wait_till_it_is_closed(study: Study) -> None:
    hand_in(study, "bob", flags=[{"flag": RED, "evidence": [QUOTE]}])
    (flag,) = study.flags()
    with pytest.raises(StudyError, match="round 1 is open"):
        study.decide_flag(flag.number, confirm=True, reason="yes")
    assert not study.queue() and not [one for one in study.status().next if "decide" in one]
    closed(study)
    assert [one for one in study.status().next if "decide 1 red flag" in one]
    study.decide_flag(flag.number, confirm=True, reason="yes")


def test_a_flag_from_outside_belongs_to_the_round_that_has_the_item(study: Study) -> None:
    rate_all(study, "ann", same("3"))
    as_(study, "cy").raise_flag(FIRST, reason="look at it")
    assert as_(study, "ann").flags() == [] and as_(study, "ada").flags() == []
    assert [one.round for one in as_(study, "cy").flags()] == [1]
    rate_all(study, "bob", same("3"))
    study.close_round(1)
    assert len(as_(study, "ann").flags()) == 1
    study.raise_flag(FIRST, reason="once more")
    assert study.flags()[-1].round is None


def test_phases_count_no_flags_that_the_reader_may_not_see() -> None:
    study = new_study(open_store(":memory:"), RESPONSES)
    study.add_items([response_item(number) for number in range(2)])
    panel(study, "ann", "bob")
    study.plan_round("main")
    study.open_round(1, override="for the test")
    ann = as_(study, "ann")
    before = ann.phases(), ann.status().phases, study.phases()
    as_(study, "bob").raise_flag("r-000", reason="odd")
    assert (ann.phases(), ann.status().phases) == before[:2]
    assert study.phases() != before[2]
    study.start_phase("final_review", override="for the test")
    study.set_roles("lena", ["lead", "reviewer"])
    with pytest.raises(StudyError, match="1 unreviewed case"):  # the rule counts what is there
        study.finish_phase("final_review")


def test_who_raised_a_flag_or_rated_does_not_decide_it_where_another_can(study: Study) -> None:
    study.set_roles("ann", ["reviewer", "adjudicator"])
    hand_in(study, "bob", flags=[{"flag": RED, "evidence": [QUOTE]}])
    closed(study)
    study.raise_flag("plan-001", reason="odd")
    red, odd = study.flags()
    with pytest.raises(Refused, match="you rated item 'plan-000'"):
        as_(study, "ann").decide_flag(red.number, confirm=False, reason="mine")
    with pytest.raises(Refused, match="you raised this"):
        study.decide_flag(odd.number, confirm=False, reason="mine")
    study.leave("ada", reason="moved away")
    study.set_roles("ann", ["reviewer"])
    study.decide_flag(odd.number, confirm=False, reason="nobody else is there")


def test_a_red_flag_by_itself_needs_the_quotations_of_a_form(study: Study) -> None:
    ann = as_(study, "ann")
    with pytest.raises(RecordError, match="quotation from the profile"):
        ann.raise_flag(FIRST, what="red_flag", flag=BOTH, evidence=[QUOTE])
    with pytest.raises(RecordError, match="does not stand in the item"):
        ann.raise_flag(FIRST, what="red_flag", flag=RED, evidence=["fly there"])
    with pytest.raises(RecordError, match="needs the words that carry it"):
        ann.raise_flag(FIRST, what="red_flag", flag=RED)
    ann.raise_flag(FIRST, what="red_flag", flag=BOTH, evidence=[QUOTE, "no computer"])


def test_a_correction_keeps_flags_once_and_takes_back_what_it_lacks(store: Store) -> None:
    study = opened(store)
    flags = [{"flag": RED, "evidence": [QUOTE]}]
    hand_in(study, "ann", flags=flags, edge_case="odd")
    ann = as_(study, "ann")
    ann.raise_flag(FIRST, reason="by itself")

    def states() -> list[tuple[str, str]]:
        return [(one.what, one.state) for one in ann.flags()]

    raised = [("red_flag", "raised"), ("edge_case", "raised"), ("review", "raised")]
    ann.correct(sent("ann", request="c1", flags=flags, edge_case="odd"), revision=1, reason="x")
    assert states() == raised
    ann.correct(sent("ann", request="c2", edge_case="odd"), revision=2, reason="no flag")
    assert states() == [("red_flag", "rejected"), *raised[1:]]
    (back,) = [one for one in study.journal() if one.kind == "flag_decided"]
    assert (back.actor, back.round, back.body["before"]) == ("ann", 1, "raised")
    assert back.words == {"reason": "taken back in a correction"}
    ann.correct(sent("ann", request="c3", flags=flags, edge_case="very"), revision=3, reason="y")
    assert states() == [
        ("red_flag", "rejected"),
        ("edge_case", "rejected"),
        ("review", "raised"),
        ("red_flag", "raised"),
        ("edge_case", "raised"),
    ]


# -- masks


def test_masks_cannot_be_worked_out_from_names() -> None:
    guessed, kept = [], []
    for _ in range(5):
        study = calibrant.create_study(":memory:", "s", BARE, lead="lena")
        names = [f"rater-{at}" for at in range(8)]
        study.add_items([plan_item(0)])
        panel(study, *names)
        study.add_member("ada", roles=("adjudicator",))
        study.plan_round("main", plan=Plan(way="everyone"))
        study.open_round(1)
        for name in names:
            rate_all(study, name, same("1" if name == "rater-3" else "4"))
        study.close_round(1)
        answers = as_(study, "ada").queue()[0].answers
        kept.append(next(name for name, answer in answers.items() if answer == "1"))
        everybody = ["lena", "ada", *names]
        order = sorted(everybody, key=lambda name: content_hash([0, name]))
        guessed.append(f"rater {chr(ord('A') + order.index('rater-3'))}")
        assert list(answers) == sorted(answers)
        shown = as_(study, "ada").ratings()
        first = shown.filter(pl.col("criterion") == "realism")["rater"].to_list()
        assert first == sorted(first)
    assert kept != guessed  # the same five times over is one in a hundred thousand


def test_the_secret_of_masks_stays_with_leads(tmp_path: Any) -> None:
    study = calibrant.create_study(":memory:", "s", BARE, lead="lena")
    panel(study, "ann")
    secret = study.journal()[0].body["mask_key"]
    assert len(secret) == 64
    calibrant.export_study(study, tmp_path / "p", pseudonyms=True)
    calibrant.export_study(study, tmp_path / "n")
    assert secret not in (tmp_path / "p" / "journal.jsonl").read_text("utf-8")
    back = calibrant.import_study(":memory:", tmp_path / "n")
    assert back.journal()[0].body["mask_key"] == secret
    with pytest.raises(Refused):
        as_(study, "ann").journal()


def test_check_ins_and_imports_name_nobody_to_viewers(study: Study) -> None:
    study.add_member("vic", roles=("viewer",))
    study.check_in(attendees=["ann", "bob"], decisions="go on")
    (shown,) = as_(study, "vic").check_ins()
    assert all(name.startswith("rater ") for name in shown.attendees)
    assert study.check_ins()[0].attendees == ("ann", "bob")
    row = {"item": [FIRST], "rater": ["ann"], **{name: ["3"] for name in PLANS.criterion_ids}}
    study.import_ratings(pl.DataFrame(row), source="scores of ann.csv")
    assert study.rounds()[-1].plan["source"] == "scores of ann.csv"
    assert as_(study, "vic").rounds()[-1].plan == {"way": "imported"}


def test_nobody_gives_back_what_another_holds(study: Study) -> None:
    bob = as_(study, "bob")
    bob.acknowledge()
    (task,) = bob.claim(token="tab")
    with pytest.raises(StudyError, match="no such assignment"):
        as_(study, "ann").release(task.key, token="tab")
    assert bob.release(task.key, token="tab")


# -- settling


def test_a_settlement_is_a_consensus_of_raters_or_a_decision_about_a_disagreement(
    store: Store,
) -> None:
    study = closed(opened(store))

    def settle(value: str, item: str = FIRST, **more: Any) -> None:
        study.settle(item, "realism", value, reason="talked over", **more)

    with pytest.raises(StudyError, match="one of consensus, adjudicated"):
        settle("2", how="banana")
    for names in (["ann"], ["ann", "ann"], ["ann", "cy"], ["lena", "ada"]):
        with pytest.raises(StudyError, match="two or more of those who rated"):
            settle("2", how="consensus", participants=names)
    settle("2", how="consensus", participants=["ann", "bob", "lena"])
    with pytest.raises(StudyError, match="only a decision changes it"):
        settle("3", how="consensus", participants=["ann", "bob"])
    study.no_consensus(FIRST, "realism", participants=["ann", "bob"], reason="after all")
    settle("4", how="adjudicated")
    settle("1", how="adjudicated")


def test_what_nobody_disagrees_about_is_not_settled(study: Study) -> None:
    closed(study, "3", "4")
    with pytest.raises(StudyError, match="nobody disagrees"):
        study.settle(
            FIRST, "realism", "2", how="consensus", participants=["ann", "bob"], reason="x"
        )
    study.no_consensus(FIRST, "realism", participants=["ann", "bob"], reason="x")
    with pytest.raises(StudyError, match="nobody disagrees"):
        study.settle(FIRST, "realism", "2", how="adjudicated", reason="x")
