"""What a study allows and refuses, verb by verb, on every store where the store matters."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from tests.study.study_kit import (
    PLANS,
    RESPONSES,
    Ticking,
    as_,
    new_study,
    panel,
    plan_item,
    rate_all,
    response_item,
    same,
)

from calibrant import CalibrantError, RecordError, Rubric, Study, StudyError, Submission
from calibrant.core.errors import Refused, Stale, VersionError
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.ports.store import Store
from calibrant.store.open import open_store

BARE = PLANS.model_copy(update={"calibration": None})
"""The plans' rubric without calibration, where a test is about something else."""


def bare(store: Store, *names: str, items: int = 4) -> Study:
    study = new_study(store, BARE)
    study.add_items([plan_item(number) for number in range(items)])
    panel(study, *(names or ("ann", "bob")))
    return study


def opened(store: Store, *names: str, items: int = 4, **plan: Any) -> Study:
    study = bare(store, *names, items=items)
    study.plan_round("main", plan=Plan(way="everyone", **plan))
    study.open_round(1)
    return study


@pytest.fixture
def memory() -> Store:
    return open_store(":memory:")


def hand_in(study: Study, rater: str, item: str, request: str = "", **form: Any) -> Any:
    mine = as_(study, rater)
    mine.acknowledge()
    answers = dict.fromkeys(PLANS.criterion_ids, "3")
    return mine.submit(
        Submission(
            key=Key(round=1, item=item, rater=rater),
            form={"answers": answers, **form},
            request=request or f"{rater}/{item}",
        )
    )


# -- items


def test_the_same_item_twice_is_one(store: Store) -> None:
    study = bare(store)
    again = study.add_items([plan_item(0), plan_item(9)])
    assert (again.added, again.known) == (1, 1)
    assert study.items().height == 5


def test_an_id_keeps_its_content(memory: Store) -> None:
    study = bare(memory)
    other = plan_item(1)
    changed = type(other)(id="plan-000", profile=other.profile, actions=other.actions)
    with pytest.raises(StudyError, match="another content"):
        study.add_items([changed])


def test_a_study_judges_one_kind_of_item(memory: Store) -> None:
    with pytest.raises(StudyError, match="this study judges plans"):
        bare(memory).add_items([response_item(1)])


def test_a_redacted_item_keeps_hash_ratings_and_the_act(store: Store) -> None:
    study = opened(store)
    hand_in(study, "ann", "plan-000", notes={"realism": "a nursery is near"}, edge_case="odd")
    before = study.items().filter(pl.col("item") == "plan-000")["hash"].item()
    study.redact("plan-000", reason="asked for by the person")
    kept = study.items().filter(pl.col("item") == "plan-000")
    assert kept["redacted"].item() and kept["hash"].item() == before
    assert kept["source"].item() is None
    (rating,) = as_(study, "ann").my_ratings()
    assert rating.answers == dict.fromkeys(PLANS.criterion_ids, "3") and rating.words is None
    told = [one for one in study.journal() if one.kind == "redacted"]
    assert told[0].body["hash"] == before
    words = [one.words for one in study.journal() if one.item == "plan-000"]
    assert words and all(one is None for one in words)
    with pytest.raises(StudyError, match="no such assignment"):  # it has been withdrawn
        hand_in(study, "bob", "plan-000")


# -- handing in


def test_nothing_is_rated_before_the_rubric_is_read(memory: Store) -> None:
    study = opened(memory)
    with pytest.raises(StudyError, match="acknowledge"):
        as_(study, "ann").claim(token="t")


def test_every_fault_of_a_form_is_told_at_once(store: Store) -> None:
    study = opened(store)
    with pytest.raises(RecordError) as raised:
        hand_in(
            study,
            "ann",
            "plan-000",
            answers={"realism": "7", "clarity": "4", "nonsense": "3"},
            borderline=["clarity"],
            flags=[{"flag": "medical_advice", "evidence": ["see a doctor"]}],
            surprise=1,
        )
    text = str(raised.value)
    for part in (
        "'7' is no answer",
        "usefulness is not answered",
        "unknown criterion 'nonsense'",
        "borderline and has no note",
        "does not stand in the item",
        "no field 'surprise'",
    ):
        assert part in text, part
    assert as_(study, "ann").my_ratings() == []


def test_a_flag_on_something_lacked_quotes_the_profile_too(memory: Store) -> None:
    study = opened(memory)
    name = next(one.id for one in PLANS.red_flags or () if one.evidence == "item_and_profile")
    with pytest.raises(RecordError, match="quotation from the profile"):
        hand_in(study, "ann", "plan-000", flags=[{"flag": name, "evidence": ["visit 0 nurseries"]}])
    hand_in(
        study,
        "ann",
        "plan-000",
        flags=[{"flag": name, "evidence": ["visit 0  nurseries", "no computer"]}],
    )


def test_the_same_act_of_handing_in_twice_is_one_rating(store: Store) -> None:
    study = opened(store)
    first = hand_in(study, "ann", "plan-000", request="once")
    again = hand_in(study, "ann", "plan-000", request="once")
    assert first == again
    with pytest.raises(Stale, match="rated already"):
        hand_in(study, "ann", "plan-000", request="twice")
    with pytest.raises(StudyError, match="another rating"):
        hand_in(study, "ann", "plan-001", request="once")
    assert len(as_(study, "ann").my_ratings()) == 1


def test_a_correction_supersedes_and_the_first_one_stays(store: Store) -> None:
    study = opened(store)
    first = hand_in(study, "ann", "plan-000")
    mine = as_(study, "ann")
    better = Submission(
        key=first.key, form={"answers": dict.fromkeys(PLANS.criterion_ids, "4")}, request="better"
    )
    second = mine.correct(better, revision=1, reason="misread it")
    assert (second.revision, second.answers["realism"]) == (2, "4")
    assert mine.correct(better, revision=1) == second
    with pytest.raises(Stale, match="by now there is revision 2"):
        mine.correct(
            Submission(key=first.key, form=better.form, request="late"), revision=1, reason="x"
        )
    kept = store.read(lambda tx: list(tx.ratings(study.number, all_revisions=True)))
    assert [one.revision for one in kept] == [1, 2] and kept[0] == first
    study.close_round(1, reason="enough")
    with pytest.raises(StudyError, match="closed"):
        mine.correct(Submission(key=first.key, form=better.form, request="after"), revision=2)


def test_a_stale_page_is_refused_and_told_what_changed(store: Store) -> None:
    study = opened(store)
    mine = as_(study, "ann")
    mine.acknowledge()
    (task,) = mine.claim(token="tab 1")
    version = mine.save_draft(
        task.key, {"answers": {"realism": "2"}}, version=task.version, token="tab 1"
    )
    with pytest.raises(Stale, match=f"by now there is version {version}"):
        mine.save_draft(task.key, {}, version=task.version, token="tab 1")
    with pytest.raises(Stale, match="open in another place"):
        mine.save_draft(task.key, {}, version=version, token="tab 2")
    (again,) = mine.claim(token="tab 1")
    assert again.key == task.key and again.draft == {"answers": {"realism": "2"}}


def test_a_lease_ends_and_the_draft_stays(store: Store) -> None:
    clock = Ticking()
    study = new_study(store, BARE, clock)
    study.add_items([plan_item(0)])
    panel(study, "ann")
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(1)
    mine = as_(study, "ann")
    mine.acknowledge()
    (task,) = mine.claim(token="laptop")
    mine.save_draft(task.key, {"note": "half done"}, version=task.version, token="laptop")
    assert mine.claim(token="phone") == []
    clock.later(hours=2)
    (again,) = mine.claim(token="phone")
    assert again.draft == {"note": "half done"}


def test_nobody_hands_in_for_another(store: Store) -> None:
    study = opened(store)
    mine = as_(study, "ann")
    mine.acknowledge()
    with pytest.raises(StudyError, match="no such assignment"):
        mine.submit(
            Submission(
                key=Key(round=1, item="plan-000", rater="bob"),
                form=same("3")(None, PLANS),  # type: ignore[arg-type]
                request="r",
            )
        )


# -- who takes part


def test_open_work_goes_to_the_others_when_somebody_leaves(store: Store) -> None:
    study = bare(store, "ann", "bob", "cy", items=6)
    study.plan_round("main", plan=Plan(way="per_item", raters=2))
    study.open_round(1)
    hand = as_(study, "ann")
    hand.acknowledge()
    (task,) = hand.claim(token="t")
    hand.submit(Submission(key=task.key, form=same("3")(task.key, PLANS), request="one"))
    moved = study.leave("ann", reason="another job")
    assert sum(moved.moved.values()) + len(moved.left_over) == 3
    with pytest.raises(Refused, match="not a member"):
        hand.claim(token="t")
    rated = rate_all(study, "bob", same("3")) + rate_all(study, "cy", same("3"))
    assert rated == 8 + sum(moved.moved.values())
    study.close_round(1)
    assert study.ratings()["item"].n_unique() == 6


def test_a_study_keeps_a_lead(memory: Store) -> None:
    study = bare(memory)
    with pytest.raises(StudyError, match="only lead"):
        study.leave("lena", reason="gone")
    with pytest.raises(StudyError, match="only lead"):
        study.set_roles("lena", ["viewer"])
    study.set_roles("ann", ["lead", "reviewer"])
    study.leave("lena", reason="gone")


# -- plans


def test_orders_stay_put_when_items_are_added(store: Store) -> None:
    study = bare(store, "ann", "bob", items=10)
    study.plan_round("main", plan=Plan(way="per_item", raters=1))

    def orders() -> dict[str, list[str]]:
        found = store.read(lambda tx: list(tx.assignments(study.number, round=1)))
        return {
            name: [one.key.item for one in found if one.key.rater == name]
            for name in ("ann", "bob")
        }

    before = orders()
    study.add_items([plan_item(number) for number in range(10, 16)])
    assert study.extend_round(1) == 6
    after = orders()
    for name, order in before.items():
        assert after[name][: len(order)] == order
        assert len(after[name]) == 8


def test_silent_repeats_come_again_and_count_for_nobody_but_oneself(store: Store) -> None:
    study = opened(store, items=20, repeats=Decimal("0.1"))
    assert rate_all(study, "ann", same("2")) == 22
    assert rate_all(study, "bob", same("2")) == 22
    study.close_round(1)
    assert study.verdicts().height == 20
    report = study.agreement(round=1)
    assert report.find("percent", criterion="realism").n_items == 20


# -- flags


def test_one_raised_red_flag_blocks_the_item_until_it_is_decided(store: Store) -> None:
    study = opened(store)
    flags = [{"flag": "medical_advice", "evidence": ["visit 0 nurseries"]}]
    hand_in(study, "ann", "plan-000", flags=flags)
    rate_all(study, "ann", same("4"))
    rate_all(study, "bob", same("4"))
    study.close_round(1)

    def verdict() -> dict[str, Any]:
        return study.verdicts().filter(pl.col("item") == "plan-000").to_dicts()[0]

    assert verdict()["blocked"] and verdict()["passed"] is False
    assert verdict()["verdict"] == "undecided"
    assert "forced" not in set(study.finals()["provenance"])
    assert study.queue()[0].flags and study.queue()[0].safety
    (flag,) = study.flags(state="raised")
    study.decide_flag(flag.number, confirm=False, reason="a nursery is no doctor")
    assert not verdict()["blocked"] and verdict()["verdict"] == "undecided"
    study.decide_flag(flag.number, confirm=True, reason="on second thoughts")
    forced = study.finals().filter(pl.col("item") == "plan-000")
    assert set(forced["provenance"]) == {"forced"} and set(forced["answer"]) == {"1"}
    assert set(study.ratings().filter(pl.col("item") == "plan-000")["answer"]) == {"3", "4"}


# -- judges


def judged(store: Store, answer: str) -> Study:
    study = new_study(store)
    study.add_items([plan_item(number) for number in range(12)])
    panel(study, "ann", "bob")
    study.add_member("gpt", kind="LLM", card={"model": "m"})
    study.plan_round("calibration")
    study.open_round(1)

    def form(key: Key, rubric: Rubric) -> dict[str, Any]:
        value = str(int(key.item[-3:]) % 5 + 1)
        return {"answers": dict.fromkeys(rubric.criterion_ids, value)}

    rate_all(study, "ann", form)
    rate_all(study, "bob", form)
    rate_all(study, "gpt", same(answer) if answer else form)
    study.close_round(1)
    return study


def test_a_judge_counts_once_it_agrees_with_people(store: Store) -> None:
    study = judged(store, "")
    assert not study.admit_judge("gpt").overridden


def test_a_judge_that_disagrees_counts_only_by_an_override(store: Store) -> None:
    study = judged(store, "1")
    with pytest.raises(StudyError, match="below target on usefulness"):
        study.admit_judge("gpt")
    assert study.admit_judge("gpt", override="it is all we have").overridden
    study.dismiss_judge("gpt", reason="people are back")


def test_an_outage_is_an_abstention_of_a_judge_and_a_fault_of_a_person(memory: Store) -> None:
    study = new_study(memory, BARE)
    study.add_items([plan_item(0)])
    panel(study, "ann")
    study.add_member("gpt", kind="LLM", card={"model": "m"})
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(1)
    broken = {"answers": dict.fromkeys(PLANS.criterion_ids, "ERROR")}
    rating = as_(study, "gpt").submit(
        Submission(key=Key(round=1, item="plan-000", rater="gpt"), form=broken, request="g")
    )
    assert set(rating.answers.values()) == {"ERROR"} and rating.facts["reasons"]
    with pytest.raises(RecordError, match="is no answer"):
        hand_in(study, "ann", "plan-000", answers=broken["answers"])


# -- versions


def test_an_edit_without_a_new_version_is_refused(store: Store) -> None:
    study = bare(store)
    edited = BARE.model_copy(update={"summary": "Other words."})
    with pytest.raises(VersionError):
        study.refine(edited, cause="edge_case", text="x")
    with pytest.raises(VersionError):
        new_study_named(store, "second", edited)


def new_study_named(store: Store, name: str, rubric: Rubric) -> None:
    from calibrant.study.open import create

    create(store, name, rubric, lead="lena", clock=Ticking())


def test_answers_are_not_pooled_where_the_text_has_changed(store: Store) -> None:
    study = opened(store)
    for name in ("ann", "bob"):
        rate_all(study, name, same("3"))
    study.close_round(1)
    tree = BARE.model_dump()
    tree["criteria"][0]["question"] = "Something else altogether?"
    new = Rubric.model_validate({**tree, "version": "1.1"})
    replay = study.replay(new)
    assert replay.ask_again == ("usefulness",)
    study.refine(new, cause="disagreement_pattern", text="it was read in two ways")
    finals = study.finals()
    assert set(finals.filter(pl.col("criterion") == "usefulness")["answer"]) == {None}
    assert set(finals.filter(pl.col("criterion") == "realism")["answer"]) == {"3"}
    assert set(study.verdicts()["status"]) == {"incomplete"}


# -- tables that come in


def test_scored_tables_come_in_as_a_closed_round(store: Store) -> None:
    study = bare(store)
    table = pl.DataFrame(
        {
            "item": ["plan-000", "plan-000", "plan-001"],
            "rater": ["ann", "bob", "ann"],
            **{
                name: ["3", "4", None if name == "realism" else "2"] for name in PLANS.criterion_ids
            },
        }
    )
    loaded = study.import_ratings(table)
    assert (loaded.round, loaded.ratings, loaded.missing) == (1, 3, 1)
    assert study.ratings(round=1).height == 3 * len(PLANS.criteria) - 1
    assert study.rounds()[0].state == "closed"


def test_red_flags_of_a_table_are_raised_and_block(store: Store) -> None:
    study = bare(store)
    answers = {name: ["3", "3", "3"] for name in PLANS.criterion_ids}
    keys = {"item": ["plan-000", "plan-000", "plan-001"], "rater": ["ann", "bob", "ann"]}
    table = pl.DataFrame({**keys, **answers, "flags": ["deception; legal_advice", "", None]})
    assert study.import_ratings(table).flags == 2
    assert {(one.by, one.flag) for one in study.flags(state="raised")} == {
        ("ann", "deception"),
        ("ann", "legal_advice"),
    }
    blocked = dict(study.verdicts().select("item", "blocked").rows())
    assert blocked == {"plan-000": True, "plan-001": False}
    wrong = table.with_columns(pl.lit("no_such_flag").alias("flags"))
    with pytest.raises(RecordError, match="unknown red flag 'no_such_flag'"):
        study.import_ratings(wrong)


def test_faults_of_a_table_are_told_together_and_nothing_is_kept(store: Store) -> None:
    study = bare(store)
    table = pl.DataFrame(
        {
            "item": ["plan-000", "plan-000", "strange"],
            "rater": ["ann", "ann", "who"],
            **{name: ["3", "9", "x"] for name in PLANS.criterion_ids},
        }
    )
    with pytest.raises(RecordError) as raised:
        study.import_ratings(table)
    text = str(raised.value)
    for part in ("'strange' is not an item", "'who' is not a rater", "rated 'plan-000' already",
                 "'9' is no answer", "record 3"):  # fmt: skip
        assert part in text, part
    assert study.rounds() == [] and study.ratings().is_empty()


# -- phases


def test_the_phases_of_the_responses_document(store: Store) -> None:
    clock = Ticking()
    study = new_study(store, RESPONSES, clock)
    study.add_items([response_item(number) for number in range(60)])
    panel(study, "ann", "bob")
    assert [one.state for one in study.phases()] == ["waiting"] * 4
    with pytest.raises(StudyError, match="not done"):
        study.start_phase("main_annotation")
    study.start_phase("initial_annotation")
    study.plan_round("onboarding", sample=2)
    study.open_round(1)
    for name in ("ann", "bob"):
        rate_all(study, name, same("4"))
    study.close_round(1)
    made = study.plan_round("calibration")
    assert made.items == 50 and made.round.phase == "initial_annotation"
    study.open_round(2)

    def varied(key: Key, rubric: Rubric) -> dict[str, Any]:
        value = str(int(key.item[-3:]) % 6)
        return {"answers": dict.fromkeys(rubric.criterion_ids, value)}

    rate_all(study, "ann", varied)
    with pytest.raises(StudyError, match="0 items rated by everybody"):
        study.finish_phase("initial_annotation")
    rate_all(study, "bob", varied)
    study.close_round(2)
    study.finish_phase("initial_annotation")
    study.start_phase("calibration")
    with pytest.raises(StudyError, match="guidelines"):
        study.finish_phase("calibration")
    study.keep_guidelines(reason="nobody disagreed")
    study.finish_phase("calibration")
    study.start_phase("main_annotation")
    study.plan_round("main")
    study.open_round(3)
    clock.later(weeks=9)
    assert any("behind" in one.warnings[0] for one in study.phases() if one.warnings)
    study.check_in(attendees=["lena", "ann"], decisions="go on")
    for name in ("ann", "bob"):
        rate_all(study, name, varied)
    study.close_round(3)
    study.finish_phase("main_annotation")
    study.start_phase("final_review")
    as_(study, "ann").add_lesson("short answers are hard")
    with pytest.raises(StudyError, match="final rubric"):
        study.finish_phase("final_review")
    study.finalise_rubric()
    study.finish_phase("final_review")
    assert [one.state for one in study.phases()] == ["done"] * 4


def test_low_agreement_goes_through_the_loop(store: Store) -> None:
    rubric = RESPONSES.model_copy(update={"phases": None, "calibration": None})
    study = new_study(store, rubric)
    study.add_items([response_item(number) for number in range(24)])
    panel(study, "ann", "bob")
    study.plan_round("calibration", sample=12)
    study.open_round(1)

    def varied(shift: int) -> Any:
        def form(key: Key, rubric: Rubric) -> dict[str, Any]:
            answers = {
                name: str((int(key.item[-3:]) + (shift if name == "accuracy" else 0)) % 6)
                for name in rubric.criterion_ids
            }
            return {"answers": answers}

        return form

    rate_all(study, "ann", varied(0))
    rate_all(study, "bob", varied(3))
    study.close_round(1)
    study.plan_round("main", plan=Plan(way="everyone"))
    with pytest.raises(StudyError, match="accuracy is low in round 1: next comes discuss"):
        study.open_round(2)
    study.plan_round("test", sample=12)
    with pytest.raises(StudyError, match="next step is discuss, not retrain"):
        study.take_step("accuracy", "retrain", note="x")
    for step in ("discuss", "clarify", "retrain"):
        with pytest.raises(StudyError, match="low in round 1"):
            study.open_round(3)
        study.take_step("accuracy", step, note=f"did {step}")
    study.open_round(3)
    for name in ("ann", "bob"):
        rate_all(study, name, varied(0))
    study.close_round(3)
    study.open_round(2)


def test_an_override_is_recorded_with_what_was_missing(memory: Store) -> None:
    study = new_study(memory)
    study.add_items([plan_item(number) for number in range(12)])
    panel(study, "ann", "bob")
    study.plan_round("main")
    with pytest.raises(StudyError, match="same 10 items first"):
        study.open_round(1)
    with pytest.raises(StudyError, match="say why"):
        study.open_round(1, override=" ")
    study.open_round(1, override="they calibrated last month")
    (told,) = [one for one in study.journal() if one.kind == "override"]
    assert told.body["missing"] and told.words == {"reason": "they calibrated last month"}


# -- settling


def test_somebody_who_rated_an_item_decides_it_only_where_nobody_else_can(store: Store) -> None:
    study = bare(store, "ann", "bob")
    study.set_roles("bob", ["reviewer", "adjudicator"])
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(1)
    rate_all(study, "ann", same("1"))
    rate_all(study, "bob", same("4"))
    study.close_round(1)
    bob = as_(study, "bob")
    bob.no_consensus("plan-000", "realism", participants=["ann", "bob"], reason="no")
    with pytest.raises(Refused, match="somebody who has not"):
        bob.settle("plan-000", "realism", "2", how="adjudicated", reason="x")
    with pytest.raises(Refused, match="by consensus"):
        as_(study, "ann").settle("plan-000", "realism", "2", how="adjudicated", reason="x")
    with pytest.raises(StudyError, match="is no answer"):
        study.settle("plan-000", "realism", "9", how="adjudicated", reason="x")
    study.settle("plan-000", "realism", "2", how="adjudicated", reason="the second anchor")
    as_(study, "ann").settle(
        "plan-001", "realism", "3", how="consensus", participants=["ann", "bob"], reason="agreed"
    )
    finals = study.finals().filter(pl.col("criterion") == "realism")
    found = dict(finals.select("item", "provenance").rows())
    assert (found["plan-000"], found["plan-001"]) == ("adjudicated", "consensus")


def test_questions_go_to_the_lead_and_answers_may_be_shared(memory: Store) -> None:
    study = opened(memory)
    as_(study, "ann").ask("what counts as a metric?", item="plan-000", criterion="smart_adherence")
    assert as_(study, "bob").questions() == []
    (asked,) = study.questions()
    study.answer_question(asked.number, "anything that can be counted", share=True)
    (shared,) = as_(study, "bob").questions()
    assert shared.item is None and shared.by == "a rater"
    assert shared.answers == ("anything that can be counted",)


def test_errors_are_of_the_family(memory: Store) -> None:
    with pytest.raises(CalibrantError, match="no round 5; plan one first"):
        bare(memory).open_round(5)
