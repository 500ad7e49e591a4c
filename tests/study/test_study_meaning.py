"""What results rest on: versions, rounds that count, judges that count, loops that end."""

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

from calibrant import Rubric, Study, StudyError, Submission
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.store.open import open_store

BARE = PLANS.model_copy(update={"calibration": None})
EVERYONE = Plan(way="everyone")


def rated(*answers: str, items: int = 3) -> Study:
    """A closed main round in which each rater gives one answer to everything."""
    study = new_study(open_store(":memory:"), BARE)
    study.add_items([plan_item(number) for number in range(items)])
    names = ("ann", "bob", "cy")[: len(answers)]
    panel(study, *names)
    study.plan_round("main", plan=EVERYONE)
    study.open_round(1)
    for name, answer in zip(names, answers, strict=True):
        rate_all(study, name, same(answer))
    study.close_round(1)
    return study


def reworded(rubric: Rubric, criterion: str) -> Rubric:
    tree = rubric.model_dump()
    for one in tree["criteria"]:
        if one["id"] == criterion:
            one["question"] = "Asked in quite another way?"
    return Rubric.model_validate({**tree, "version": "1.1"})


def final(study: Study, criterion: str) -> dict[str, Any]:
    found = study.finals().filter(pl.col("criterion") == criterion)
    return dict(found.select("item", "answer").rows())


def test_a_settlement_does_not_outlive_the_text_it_was_about() -> None:
    study = rated("1", "5")
    for criterion in ("realism", "clarity"):
        study.settle(
            "plan-000", criterion, "4", how="consensus", participants=["ann", "bob"], reason="x"
        )
    study.refine(reworded(BARE, "realism"), cause="edge_case", text="it was unclear")
    assert final(study, "realism")["plan-000"] is None
    assert final(study, "clarity")["plan-000"] == "4"


def test_items_asked_again_count_once_in_agreement() -> None:
    study = rated("2", "2")
    study.refine(reworded(BARE, "realism"), cause="edge_case", text="it was unclear")
    study.plan_round("main", plan=EVERYONE, items=[f"plan-{at:03}" for at in range(3)])
    study.open_round(2)
    for name in ("ann", "bob"):
        rate_all(study, name, same("3"))
    study.close_round(2)
    assert study.agreement().find("percent", criterion="realism").n_items == 3
    assert set(final(study, "realism").values()) == {"3"}
    study.check_in(attendees=["lena"], decisions="go on")


def test_a_later_table_with_gaps_does_not_hide_earlier_answers() -> None:
    study = rated("2", "2")
    table = pl.DataFrame({"item": ["plan-000"], "rater": ["ann"], "realism": ["5"]})
    study.import_ratings(table)
    assert final(study, "clarity")["plan-000"] == "2"
    assert final(study, "realism")["plan-000"] is None  # 5 and 2 are apart


def calibrated(answer: Any) -> Study:
    study = new_study(open_store(":memory:"))
    study.add_items([plan_item(number) for number in range(12)])
    panel(study, "ann", "bob")
    study.add_member("gpt", kind="LLM", card={"model": "m"})
    study.plan_round("calibration")
    study.open_round(1)
    for name in ("ann", "bob"):
        rate_all(study, name, same("3"))
    rate_all(study, "gpt", answer)
    study.close_round(1)
    return study


def test_a_judge_is_not_admitted_on_a_few_answers() -> None:
    seen: list[str] = []

    def mostly_out(key: Key, rubric: Rubric) -> dict[str, Any]:
        seen.append(key.item)
        return {"answers": dict.fromkeys(rubric.criterion_ids, "3" if len(seen) == 1 else "ERROR")}

    study = calibrated(mostly_out)
    with pytest.raises(StudyError, match="too few calibration items"):
        study.admit_judge("gpt")


def test_an_admission_ends_with_the_text_it_was_given_for() -> None:
    from calibrant.study.admit import admitted

    study = calibrated(same("3"))
    study.admit_judge("gpt")
    assert study.store.read(lambda tx: admitted(tx, study)) == {"gpt"}
    study.refine(reworded(PLANS, "realism"), cause="edge_case", text="it was unclear")
    assert study.store.read(lambda tx: admitted(tx, study)) == frozenset()


def test_a_flag_by_a_judge_that_does_not_count_only_proposes() -> None:
    study = new_study(open_store(":memory:"), BARE)
    study.add_items([plan_item(0)])
    panel(study, "ann")
    study.add_member("gpt", kind="LLM", card={"model": "m"})
    study.plan_round("main", plan=EVERYONE)
    study.open_round(1)
    rate_all(study, "ann", same("4"))
    flags = [{"flag": "medical_advice", "evidence": ["visit 0 nurseries"]}]
    rate_all(study, "gpt", lambda key, rubric: {**same("4")(key, rubric), "flags": flags})
    study.close_round(1)
    assert study.verdicts()["blocked"].to_list() == [False]
    assert study.queue()[0].safety


def test_a_round_in_which_nobody_rated_ends_no_loop() -> None:
    rubric = RESPONSES.model_copy(update={"phases": None, "calibration": None})
    study = new_study(open_store(":memory:"), rubric)
    study.add_items([response_item(number) for number in range(12)])
    panel(study, "ann", "bob")
    study.plan_round("main", plan=EVERYONE, sample=6)
    study.open_round(1)
    rate_all(study, "ann", lambda key, _: same(str(int(key.item[-3:]) % 6))(key, rubric))
    rate_all(study, "bob", lambda key, _: same(str((int(key.item[-3:]) + 2) % 6))(key, rubric))
    study.close_round(1)
    assert study.status().loops
    study.plan_round("recalibration", sample=1)
    study.open_round(2)
    study.close_round(2, reason="nobody came")
    study.plan_round("main", plan=EVERYONE)
    with pytest.raises(StudyError, match="low in round 1"):
        study.open_round(3)


def test_a_rubric_refined_meanwhile_locks_nobody_out() -> None:
    study = new_study(open_store(":memory:"), BARE)
    study.add_items([plan_item(0)])
    panel(study, "ann")
    study.plan_round("main", plan=EVERYONE)
    study.open_round(1)
    study.refine(reworded(BARE, "realism"), cause="edge_case", text="it was unclear")
    assert rate_all(study, "ann", same("3")) == 1


def test_items_of_a_dropped_round_are_given_out_again() -> None:
    study = new_study(open_store(":memory:"), BARE)
    study.add_items([plan_item(number) for number in range(3)])
    panel(study, "ann")
    study.plan_round("main", plan=EVERYONE)
    study.refine(reworded(BARE, "realism"), cause="edge_case", text="it was unclear")
    with pytest.raises(StudyError, match="drop the round"):
        study.open_round(1)
    study.drop_round(1, reason="an older version")
    with pytest.raises(StudyError, match="only a planned one"):
        study.drop_round(1, reason="again")
    assert study.plan_round("main", plan=EVERYONE).items == 3
    study.open_round(2)
    mine = as_(study, "ann")
    mine.acknowledge()
    (task,) = mine.claim(token="t")
    mine.submit(Submission(key=task.key, form=same("3")(task.key, BARE), request="r"))
    study.close_round(2, reason="early")
    assert study.plan_round("main", plan=EVERYONE).items == 2


def test_what_was_withdrawn_is_not_rated() -> None:
    study = new_study(open_store(":memory:"), RESPONSES)
    study.add_items([response_item(number) for number in range(4)])
    panel(study, "ann", "bob")
    for phase in ("initial_annotation", "calibration"):
        study.start_phase(phase, override="for a test")
        study.finish_phase(phase, override="for a test")
    study.start_phase("main_annotation")
    study.plan_round("main", plan=EVERYONE)
    study.open_round(1, override="for a test")
    study.close_round(1, reason="nobody came")
    with pytest.raises(StudyError, match="0 items rated in full, of 4"):
        study.finish_phase("main_annotation")


def test_calibration_is_counted_in_items() -> None:
    study = new_study(open_store(":memory:"))
    study.add_items([plan_item(number) for number in range(12)])
    panel(study, "ann")
    some = [f"plan-{number:03}" for number in range(5)]
    for number in (1, 2):
        study.plan_round("calibration", items=some)
        study.open_round(number)
        rate_all(study, "ann", same("3"))
        study.close_round(number)
    study.plan_round("main", plan=EVERYONE)
    assert study.blockers(3) == ["ann has calibrated on 5 of 10 items"]
