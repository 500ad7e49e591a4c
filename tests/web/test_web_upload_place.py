"""Files whose table does not begin in the first row: the row and the sheet are guessed and told."""

from __future__ import annotations

import io
from collections.abc import Callable

import openpyxl
import pytest
from tests.study.study_kit import RESPONSES
from tests.web.conftest import Signed
from tests.web.lead_kit import (
    alert,
    chosen,
    path_of,
    rows_of,
    send,
    send_file,
    settled,
    study_of,
    words,
)
from tests.web.test_web_upload_api import ended

from calibrant.study.handle import Study
from calibrant.web.workspace import Workspace

TITLED = b"Answers of May,\n,\nid,question,response\nq-1,Why?,Because.\nq-2,,Now.\n"


@pytest.fixture
def lena(client: Callable[..., Signed]) -> Signed:
    return client("lena")


@pytest.fixture
def study(workspace: Workspace) -> Study:
    return study_of(workspace, RESPONSES, "answers")


def up(who: Signed, study: Study, name: str, content: bytes):  # type: ignore[no-untyped-def]
    return send_file(who, f"/s/{study.number}/items/upload", name, content)


def book() -> bytes:
    made = openpyxl.Workbook()
    notes, table = made.worksheets[0], made.create_sheet("Answers & <more>")
    for row in (["About this file"], ["Made by hand"]):
        notes.append(row)
    rows = ["q-1", "Why?", "Because."], ["q-2", "When?", "Now."]
    for row in (["Answers"], [], ["id", "question", "response"], *rows):
        table.append(row)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def test_a_title_above_the_header_is_passed_over_and_told(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "answers.csv", TITLED)
    assert "row 3 looks like the header, and what stands above it like a title" in words(shown)
    assert chosen(shown) == {"id": "id", "question": "question", "response": "response"}
    assert "1 new item" in words(shown)
    ((row, *_),) = rows_of(shown)
    assert row == "Row 5", "rows are counted as in the spreadsheet"
    done = settled(lena, send(lena, f"{path_of(shown)}/take", check="1"))
    assert "1 item taken in." in words(done)
    assert study.items()["item"].to_list() == ["q-1"]


def test_the_lead_chooses_sheet_and_row(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "answers.xlsx", book())
    path = path_of(shown)
    assert "sheet “Answers & <more>”, names of columns in row 3" in words(shown)
    shown = settled(lena, send(lena, f"{path}/place", sheet="Sheet"))
    assert "No column is the question" in alert(shown), "notes about the table"
    # of another sheet the row is guessed, whatever row was chosen of the one before
    shown = settled(lena, send(lena, f"{path}/place", sheet="Answers & <more>", header="2"))
    assert "names of columns in row 3" in words(shown)
    assert "2 new items" in words(shown)
    shown = settled(lena, send(lena, f"{path}/place", header="4"))
    assert "As you chose." in words(shown)
    assert "No column is the question" in alert(shown)
    shown = settled(lena, send(lena, f"{path}/place", header="3"))
    assert "2 new items" in words(shown)


def test_a_row_that_is_no_header_is_told_and_another_can_be_chosen(
    lena: Signed, study: Study
) -> None:
    shown = up(lena, study, "answers.csv", b"id,id,x\nid,question,response\nq-1,Why?,So.\n")
    assert "Two columns are named 'id'. Choose the row in which the names" in alert(shown)
    assert "calibrant-uploads" not in shown.text and "upload.csv" not in shown.text
    shown = settled(lena, send(lena, f"{path_of(shown)}/place", header="2"))
    assert "1 new item" in words(shown)
    shown = settled(lena, send(lena, f"{path_of(shown)}/place", header="900"))
    assert "There is no row 900." in alert(shown)


def test_json_has_no_header(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "a.jsonl", b'{"id": 1, "question": "Why?", "response": "So."}\n')
    assert "Where the table stands" not in words(shown)
    shown = settled(lena, send(lena, f"{path_of(shown)}/place", header="2"))
    assert "1 new item" in words(shown)


def test_programs_choose_the_place_as_well(lena: Signed, study: Study) -> None:
    lena.headers["x-calibrant-csrf"] = lena.csrf
    at = f"/api/v1/studies/{study.number}"
    sent = lena.post(f"{at}/items/upload?name=a.xlsx", content=book())
    path = f"{at}/uploads/{sent.json()['upload']}"
    assert ended(lena, path)["place"]["sheets"] == ["Sheet", "Answers & <more>"]
    assert lena.put(f"{path}/place", json={"sheet": "none"}).status_code == 422
    lena.put(f"{path}/place", json={"sheet": "Answers & <more>"})
    found = ended(lena, path)
    assert (found["place"]["header_row"], found["place"]["is_guess"]) == (3, True)
    assert found["place"]["rows"][0] == {"row": 1, "cells": ["Answers", "", ""]}
    assert found["checked"]["good"] == 2
    lena.put(f"{path}/place", json={"header_row": 4})
    assert ended(lena, path)["troubles"]
