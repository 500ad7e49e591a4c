"""The walk of a datum through a study, from a file of items to an export: one test, every store.

The steps are those of the table in ARCHITECTURE.md, in its order.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.study.study_kit import (
    PLANS,
    Form,
    Ticking,
    as_,
    new_study,
    panel,
    plan_item,
    rate_all,
)

from calibrant import Rubric, StudyError
from calibrant.core.errors import Refused
from calibrant.core.study import Key
from calibrant.formats.items import read_items
from calibrant.ports.store import Store

ITEMS = 12


def scored(shift: int) -> Form:
    """Answers that vary with the item; every fourth item is seen ``shift`` points higher."""

    def form(key: Key, rubric: Rubric) -> dict[str, object]:
        number = int(key.item[-3:])
        far = shift if number % 4 == 0 else 0
        answers = {
            name: str(min(5, (number + at) % 3 + 1 + far))
            for at, name in enumerate(rubric.criterion_ids)
        }
        return {"answers": answers}

    return form


def items_file(path: Path) -> Path:
    lines = [
        f'{{"id": "plan-{number:03}", "model": "m-1", "profile": {{"goal": "gardener {number}", '
        f'"lacks": ["a computer"]}}, "actions": [{{"action": "visit {number + 1} nurseries"}}]}}'
        for number in range(ITEMS)
    ]
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_the_walk(store: Store, tmp_path: Path) -> None:
    # 1 import
    read = read_items(items_file(tmp_path / "items.jsonl"), "plan")
    assert not read.faults
    study = new_study(store)
    # 2 take in
    assert study.add_items(read.items).added == ITEMS
    panel(study, "ann", "bob", "cy")
    study.add_member("ada", roles=("adjudicator",))
    # 3 assign: first the calibration that the rubric asks for
    made = study.plan_round("calibration")
    assert made.workload == {"ann": 10, "bob": 10, "cy": 10}
    study.open_round(1)
    # 4 to 6 claim, rate, submit
    for name, shift in (("ann", 0), ("bob", 0), ("cy", 2)):
        assert rate_all(study, name, scored(shift)) == 10
    study.close_round(1)
    # 11 of the calibration: every disagreement is discussed before the main round opens
    study.plan_round("main")
    with pytest.raises(StudyError, match="not discussed"):
        study.open_round(2)
    for dispute in study.disputes(1):
        study.discuss(
            1, dispute.item, dispute.criterion, outcome="read the anchor", participants=["ann"]
        )
    study.open_round(2)
    for name, shift in (("ann", 0), ("bob", 1), ("cy", 2)):
        assert rate_all(study, name, scored(shift)) == ITEMS
    with pytest.raises(Refused, match="not closed"):
        as_(study, "ada").ratings(round=2)
    study.close_round(2)
    # 7, 8 tabulate and score
    table = study.ratings(round=2)
    assert table.height == ITEMS * 3 * len(PLANS.criteria)
    # 9 compare
    report = study.agreement(round=2)
    assert {one.criterion for one in report.targets} == set(PLANS.criterion_ids)
    # 10 find disagreements: 0, 1, 2 above is 2 apart, which is more than one
    cases = study.queue(limit=1000)
    wide = table.group_by("item", "criterion").agg(
        (pl.col("answer").cast(int).max() - pl.col("answer").cast(int).min()).alias("gap")
    )
    expected = set(wide.filter(pl.col("gap") > 1).select("item", "criterion").rows())
    assert {(case.item, case.criterion) for case in cases} == expected
    assert len(expected) > 0
    # 11 adjudicate: reviewers first, then somebody who has not rated the item
    ada = as_(study, "ada")
    for case in cases:
        assert case.criterion is not None
        study.no_consensus(
            case.item, case.criterion, participants=["ann", "cy"], reason="no common ground"
        )
        ada.settle(case.item, case.criterion, "2", how="adjudicated", reason="the second anchor")
    assert study.queue() == []
    # 12 final verdicts
    finals = study.finals()
    assert finals["answer"].null_count() == 0
    decided = finals.filter(pl.col("provenance") == "adjudicated")
    assert decided.height == len(expected) and set(decided["answer"]) == {"2"}
    verdicts = study.verdicts()
    assert verdicts.height == ITEMS and set(verdicts["status"]) == {"complete"}
    # agreement stays what it was before adjudication
    assert study.agreement(round=2).to_dict() == report.to_dict()
    # 13 refine
    new = PLANS.model_copy(update={"version": "1.1", "summary": "In other words."})
    assert study.replay(new).flips.is_empty()
    study.refine(new, cause="disagreement_pattern", text="anchors of level 2 were read in two ways")
    assert study.rubric().version == "1.1"
    # 14, 15 the study can say how it stands
    status = study.status()
    assert status.disagreements == 0
    assert [one.state for one in status.rounds] == ["closed", "closed"]


def test_what_was_rated_outlives_the_process(tmp_path: Path) -> None:
    from calibrant.store.open import open_store

    place = str(tmp_path / "study.db")
    first = open_store(place, create=True)
    study = new_study(first, clock=Ticking())
    study.add_items([plan_item(number) for number in range(10)])
    panel(study, "ann", "bob")
    study.plan_round("calibration")
    study.open_round(1)
    rate_all(study, "ann", scored(0))
    first.close()
    again = open_store(place)
    number, _ = again.read(lambda tx: tx.study("gardeners")) or (0, None)
    assert len(list(again.read(lambda tx: list(tx.ratings(number, rater="ann"))))) == 10
    again.close()
