"""Analyses of a study from its store, without a file in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from tests.study.study_kit import as_

from calibrant import Rubric, Study, Submission, create_study
from calibrant.cli.main import cli
from calibrant.core.ids import content_hash
from calibrant.core.item import FreeItem
from calibrant.formats.study_ratings import StudyRatings

RUBRIC = Rubric.model_validate(
    {
        "id": "notes",
        "version": "1.0",
        "title": "Notes",
        "item_type": "free",
        "summary": "Is the note good?",
        "scales": [
            {
                "kind": "choice",
                "id": "yes_no",
                "values": [
                    {"value": "YES", "meaning": "It is.", "points": "1"},
                    {"value": "NO", "meaning": "It is not.", "points": "0"},
                ],
            }
        ],
        "categories": [{"id": "all", "title": "All", "weight": "1"}],
        "criteria": [
            {
                "id": "good",
                "title": "Good",
                "category": "all",
                "scale": "yes_no",
                "question": "Is it good?",
                "na": {"policy": "valid"},
            }
        ],
        "red_flags": None,
        "aggregation": {
            "kind": "weighted_categories",
            "na_counts": "1",
            "invalid_na_counts": "0",
            "error_counts": "0",
            "missing": "error",
            "pass_mark": {"op": ">=", "value": "0.5"},
        },
        "agreement": {
            "targets": [
                {"coefficient": "percent", "op": ">=", "value": "0.5", "decided_on": "point"}
            ]
        },
        "resolution": {"metric": "difference"},
    }
)
PEOPLE = ("ann", "bob", "cy")
CARD = {"kind": "LLM", "model": "gpt-4o"}
WRITERS = ("gpt-4o-mini", "claude-3-opus")
ITEMS = 120


def answers(*raters: str, seed: int = 0) -> pl.DataFrame:
    """Three in four notes are good; the judge says YES to all that its family wrote."""
    random = np.random.default_rng(seed)
    rows = []
    for at in range(ITEMS):
        good = at % 4 > 0 and at % 3 > 0
        for who in raters:
            right = random.random() < 0.9
            yes = True if who == "gpt" and at % 2 == 0 else good == right
            rows.append((f"n{at:03}", who, "YES" if yes else "NO"))
    return pl.DataFrame(rows, schema=["item", "rater", "good"], orient="row")


def made(place: Path) -> Study:
    """A study with items, people and a judge, and nothing rated yet."""
    study = create_study(str(place), "notes", RUBRIC, lead="lena")
    study.add_items(
        FreeItem(id=f"n{at:03}", content={"note": f"note {at}"}, more={"model": WRITERS[at % 2]})
        for at in range(ITEMS)
    )
    for name in PEOPLE:
        study.add_member(name)
    study.add_member("gpt", kind="LLM", card=CARD)
    return study


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("analyses") / "notes.db"
    study = made(place)
    study.import_ratings(answers(*PEOPLE, "gpt"))
    study.store.close()
    return place


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, words)))


def told(place: Path, command: str, *words: object) -> Any:
    result = run(command, "--study", "notes", "--db", place, *words)
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout)


def refused(place: Path, command: str, *words: object) -> str:
    result = run(command, "--study", "notes", "--db", place, *words)
    assert result.exit_code != 0
    return result.output + str(result.exception)


def test_a_judge_of_a_study_is_held_beside_its_people(database: Path, tmp_path: Path) -> None:
    """The same as of the exported table; authors and models are known besides."""
    found = told(database, "validate-judge")
    assert found["judge"] == "gpt" and found["people"] == list(PEOPLE)
    assert found["authors"] == {"own": 0, "family": 60, "unclear": 0, "other": 60}
    (own,) = found["criteria"][0]["own_items"]
    assert own["what"] == "own family" and own["found"] and own["slope"]["value"] > 0.2
    table = tmp_path / "ratings.csv"
    rows = answers(*PEOPLE, "gpt").sort("item", "rater").rename({"good": "answer"})
    rows.with_columns(pl.lit("good").alias("criterion")).write_csv(table)
    rubric = tmp_path / "notes.yaml"
    rubric.write_text(json.dumps(RUBRIC.model_dump(mode="json", exclude_defaults=True)))
    same = run("validate-judge", table, "-r", rubric, "--judge", "gpt")
    exported = json.loads(same.stdout)["criteria"][0]
    for name in ("answer", "agreement", "confusion", "alternative_annotator_test"):
        assert found["criteria"][0][name] == exported[name]
    by = told(database, "validate-judge", "--by", "model")["criteria"][0]
    assert by["effects"][0]["column"] == "model"
    assert by["own_items"][0]["slope"]["undefined"] == "it goes along with what is held equal"


def test_what_people_said_is_combined_beside_the_final_answers(database: Path) -> None:
    found = told(database, "combine")
    assert found["raters"] == list(PEOPLE) and found["left_out"] == ["gpt"]
    (one,) = found["criteria"]
    assert one["n_items"] == ITEMS
    majority = {each["method"]: each for each in one["against_final"]}["majority"]
    assert majority["same"] == majority["decided"] == 82  # what all three agree on is final


def test_a_judged_study_is_corrected_system_by_system(database: Path) -> None:
    found = told(database, "estimate", "--system", "model")
    systems = {one["system"] for one in found["figures"]}
    assert set(WRITERS) <= systems
    assert "no column 'modle'" in refused(database, "estimate", "--cluster", "modle")


def test_a_judge_of_a_study_becomes_another_rater(database: Path, tmp_path: Path) -> None:
    mapping, out = tmp_path / "mapping.json", tmp_path / "calibrated.jsonl"
    found = told(database, "calibrate-judge", "-o", mapping)
    assert found["judge"] == "gpt"
    document = json.loads(mapping.read_text())
    assert document["card"] == content_hash(CARD)
    assert document["rubric_hash"] == RUBRIC.hash
    applied = run(
        "calibrate-judge", "--study", "notes", "--db", database, "--apply", mapping, "-o", out
    )
    assert applied.exit_code == 0, (applied.output, applied.exception)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == ITEMS and {one["rater"] for one in lines} == {document["rater"]}


def test_quality_is_of_people_or_of_a_rater_who_is_named(database: Path) -> None:
    found = told(database, "quality")
    assert {(one["field"], one["value"]) for one in found["slices"]} == {
        ("model", one) for one in WRITERS
    }
    people = answers(*PEOPLE, "gpt").filter(pl.col("rater") != "gpt")
    overall = {one["quantity"]: one for one in found["overall"]}
    assert overall["good"]["mean"] == pytest.approx((people["good"] == "YES").mean())
    judge = told(database, "quality", "--by", "model", "--rater", "gpt")
    assert "claude-3-opus (60 items): pass rate" in judge["findings"][0]
    assert "no rater 'gtp'" in refused(database, "quality", "--rater", "gtp")


def test_a_study_that_cannot_be_analysed_says_what_to_do(tmp_path: Path) -> None:
    place = tmp_path / "notes.db"
    study = made(place)
    assert "no main round of study 'notes' is closed" in refused(place, "validate-judge")
    study.import_ratings(answers("gpt"), kind="calibration")
    study.import_ratings(answers(*PEOPLE))
    alone = refused(place, "validate-judge")
    assert "no judge has rated in round 2 of study 'notes'" in alone and "there are: 1" in alone
    assert "no person has rated in round 1" in refused(place, "estimate", "--round", 1)
    assert "has no round 9" in refused(place, "combine", "--round", 9)
    study.add_member("llama", kind="LLM", card={"kind": "LLM", "model": "llama-3"})
    study.import_ratings(answers("gpt", "llama"))
    assert "Name one with --judge: gpt, llama" in refused(place, "calibrate-judge")
    assert "'gtp' is no judge" in refused(place, "validate-judge", "--judge", "gtp")
    study.plan_round("main", items=["n000", "n001"])
    study.open_round(4, override="a test")
    still = refused(place, "quality")
    assert "round 4 of study 'notes' is still open: close it first" in still
    assert told(place, "combine", "--round", 2)["raters"] == list(PEOPLE)
    study.redact("n003", reason="a name in it")
    found = told(place, "quality", "--round", 2)
    assert "redacted items are left out: 1" in found["notes"]
    assert {one["n"] for one in found["overall"]} == {ITEMS - 1}
    study.store.close()


def test_files_and_studies_are_not_mixed(database: Path) -> None:
    for command in ("combine", "estimate", "validate-judge", "calibrate-judge", "quality"):
        assert "leave the rest out" in refused(database, command, "ratings.csv")
        assert "leave the rest out" in refused(database, command, "--level", "nominal")
        assert "name a file of ratings, or a study" in run(command).stderr
        assert "--round goes with --study" in run(command, "r.csv", "--round", 1).stderr


def test_who_rates_is_not_told_where_items_come_from(database: Path) -> None:
    from calibrant import open_study

    assert "is reviewer: this takes a" in refused(database, "combine", "--as", "ann")
    study = open_study(str(database), "notes")
    study.add_member("vic", roles=("viewer",))
    found = StudyRatings(as_(study, "vic"))
    assert not set(found.rows["rater"]) & {*PEOPLE, "gpt"}  # masked
    assert "this takes a lead" in found.authorship().untold
    study.store.close()


def test_probabilities_of_a_judge_go_along(tmp_path: Path) -> None:
    study = made(tmp_path / "notes.db")
    study.plan_round("main", sample=2, raters=["gpt"])
    study.open_round(1, override="a test")
    mine = as_(study, "gpt")
    shares = {"good": {"YES": 0.7, "NO": 0.3}}
    for task in mine.claim(token="t", limit=5):
        form = {"answers": {"good": "YES"}, "probabilities": shares}
        mine.submit(
            Submission(
                key=task.key, form=form, request=task.key.item, version=task.version,
                lease=task.lease,
            )
        )  # fmt: skip
    study.close_round(1)
    sheets = StudyRatings(study).sheets("gpt")
    assert len(sheets) == 2
    assert all(one["metadata"]["probabilities"] == shares for one in sheets)
    study.store.close()
