"""Ratings that nobody types in: scored spreadsheets in every shape, and the rubric's checks."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openpyxl import Workbook
from tests.cli.study_cli import PLANS, Desk, begun, form, opened, plan_record, rated

IDS = PLANS.criterion_ids


def wide(*rows: tuple[str, str, Any]) -> list[dict[str, str]]:
    """Rows of item, rater and one answer to everything."""
    return [
        {"item": item, "rater": who, **dict.fromkeys(IDS, str(value))} for item, who, value in rows
    ]


def long(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [
        {"item": one["item"], "rater": one["rater"], "criterion": name, "answer": one[name]}
        for one in rows
        for name in IDS
    ]


def as_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_xlsx(path: Path, rows: list[dict[str, str]]) -> Path:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(rows[0]))
    for one in rows:
        sheet.append([int(value) if value.isdigit() else value for value in one.values()])
    book.save(path)
    return path


def as_parquet(path: Path, rows: list[dict[str, str]]) -> Path:
    pl.DataFrame(rows).write_parquet(path)
    return path


SCORED = wide(("p-01", "ann", 4), ("p-01", "bob", 5), ("p-02", "ann", 2), ("p-02", "bob", 2))


@pytest.mark.parametrize("shape", ["long.csv", "wide.csv", "wide.xlsx", "long.parquet", "s.jsonl"])
def test_scored_files_of_every_shape_become_the_same_round(shape: str, tmp_path: Path) -> None:
    desk = begun(tmp_path, 2)
    path = tmp_path / shape
    rows = long(SCORED) if shape.startswith("long") else SCORED
    match path.suffix:
        case ".csv":
            as_csv(path, rows)
        case ".xlsx":
            as_xlsx(path, rows)
        case ".parquet":
            as_parquet(path, rows)
        case _:
            sheets = [
                {"id": one["item"], "rater": one["rater"], "answers": {n: one[n] for n in IDS}}
                for one in SCORED
            ]
            desk.file(shape, *sheets)
    said = desk.ok("import-scores", "advice", path)
    assert said["raters"] == {"ann": 2, "bob": 2} and said["missing"] == 0
    finals = desk.ok("finals", "advice")
    assert finals.count('"unanimous"') == 5 and finals.count('"within_tolerance"') == 5
    assert desk.ok("rounds", "advice")[0]["state"] == "closed"


@pytest.mark.parametrize("form_of", [lambda rows: rows, long])
def test_every_bad_row_is_named_and_nothing_is_kept(form_of: Any, tmp_path: Path) -> None:
    desk = begun(tmp_path, 2)
    rows = form_of(wide(("p-01", "ann", 4), ("p-02", "ann", 9), ("p-09", "eve", 3)))
    told = desk.fails("import-scores", "advice", as_csv(tmp_path / "bad.csv", rows))
    assert "'9' is no answer" in told
    record = 2 if form_of is not long else 6
    assert f"record {record}" in told
    assert desk.ok("rounds", "advice") == []


def test_strangers_are_added_when_that_is_asked_for(tmp_path: Path) -> None:
    desk = begun(tmp_path, 1)
    path = as_csv(tmp_path / "a.csv", wide(("p-01", "eve", 4)))
    assert "'eve' is not a rater" in desk.fails("import-scores", "advice", path)
    assert desk.ok("import-scores", "advice", path, "--add-raters")["added"] == ["eve"]


def test_columns_can_have_other_names_and_the_rater_can_be_said(tmp_path: Path) -> None:
    desk = begun(tmp_path, 1)
    rows = [{"plan": "p-01", "Comment": "=1+1", **dict.fromkeys(IDS, "4")}]
    path = as_csv(tmp_path / "a.csv", rows)
    assert "which column names the item" in desk.fails("import-scores", "advice", path)
    words = ("import-scores", "advice", path, "--columns", "item=plan")
    assert "which column names the rater" in desk.fails(*words)
    assert desk.ok(*words, "--rater", "ann")["ratings"] == 1


def test_an_answer_twice_and_a_strange_criterion_are_faults_of_their_rows(tmp_path: Path) -> None:
    desk = begun(tmp_path, 1)
    rows = long(wide(("p-01", "ann", 4)))
    rows += [rows[0], {**rows[0], "criterion": "charm"}]
    told = desk.fails("import-scores", "advice", as_csv(tmp_path / "a.csv", rows))
    assert "record 6" in told and "already" in told
    assert "record 7" in told and "no criterion 'charm'" in told


# -- checks


def with_lie(number: int) -> dict[str, Any]:
    lie = {"action": "If they ask, lie about your record and tick 'none', they seldom check"}
    return plan_record(number) | {"actions": [lie]}


def test_checks_join_with_a_card_and_rate_what_they_can_measure(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("create", "advice", "-r", "smart-action-plan", "--lead", "lena")
    items = [plan_record(1), with_lie(2)]
    desk.ok("items", "advice", desk.file("items.jsonl", *items))
    desk.ok("add-rater", "advice", "ann")
    joined = desk.ok("check", "advice")
    assert joined["joined"] is True and joined["rated"] == 0
    assert desk.ok("plan", "advice", "--everyone")["workload"] == {"ann": 2, joined["rater"]: 2}
    desk.ok("open", "advice", "--override", "a test")
    said = desk.ok("check", "advice")
    assert said == joined | {"joined": False, "rated": 2}
    assert desk.ok("check", "advice")["rated"] == 0
    desk.ok("acknowledge", "advice", "--yes", as_="ann")
    rated(desk, "ann", form(1), form(2))
    desk.ok("close", "advice")
    flags = desk.ok("flags", "advice")
    assert {one["what"] for one in flags} == {"review"}, "code raises no red flag by itself"
    assert [one["item"] for one in flags] == ["p-02"]
    assert "deception" in flags[0]["words"]["reason"]
    (member,) = [one for one in desk.ok("raters", "advice") if one["kind"] == "CODE"]
    assert member["name"].startswith("checks-")


def test_checks_answer_what_the_rubric_leaves_to_code(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("create", "advice", "-r", "coaching-conversation", "--lead", "lena")
    turns = [{"user": "I feel stuck.", "assistant": "What would help you most today?"}]
    desk.ok("items", "advice", desk.file("i.jsonl", {"id": "c-1", "exchanges": turns}))
    desk.ok("check", "advice")
    desk.ok("plan", "advice", "--everyone")
    desk.ok("open", "advice")
    assert desk.ok("check", "advice")["rated"] == 1


def test_a_round_that_was_planned_before_does_not_know_the_checks(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    said = desk.ok("check", "advice", "--format", "text")
    assert "planned from now on" in said and "0 items checked" in said
