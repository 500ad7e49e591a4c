"""What people who tried the pages ran into: plans kept unseen, cases out of reach, odd words."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.study.study_kit import COACHING, RESPONSES, as_, response_item
from tests.web.conftest import Signed
from tests.web.disagreeing import FREE, ITEM, OTHER, disagreeing
from tests.web.lead_kit import alert, path_of, send, send_file, settled, study_of, words, workbook

from calibrant.core.errors import StudyError
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.study.handle import Study
from calibrant.web.form_fields import sentence
from calibrant.web.refs import item_ref
from calibrant.web.workspace import Workspace

Enter = Callable[..., Signed]
FINDINGS = ("Results", "Agreement", "Raters", "Report")
PLAN = {"kind": "main", "way": "everyone", "which": "sample", "sample": "9", "repeats": "0"}


@pytest.fixture
def study(workspace: Workspace) -> Study:
    made = study_of(workspace, RESPONSES, "answers")
    made.add_items([response_item(at) for at in range(1, 21)])
    for name in ("ann", "bob"):
        made.add_member(name, group="adviser")
    return made


def test_a_plan_that_was_changed_is_shown_before_it_is_kept(client: Enter, study: Study) -> None:
    lena, path = client("lena"), f"/s/{study.number}/rounds/plan"
    seen = re.search(r'name="seen" value="(\w+)"', send(lena, path, **PLAN, act="preview").text)
    assert seen is not None
    changed = PLAN | {"act": "keep", "seen": seen[1], "sample": "3"}
    again = send(lena, path, **changed)
    assert "changed the plan" in alert(again) and "3 items, 6 ratings" in words(again)
    assert study.rounds() == []
    now = re.search(r'name="seen" value="(\w+)"', again.text)
    assert now is not None
    kept = send(lena, path, **(changed | {"seen": now[1], "sample": " 3 "}))
    assert path_of(kept) == f"/s/{study.number}/rounds/1"
    assert "0 of 6 ratings" in words(kept)


def test_a_settled_case_is_named_and_can_be_looked_at_again(
    workspace: Workspace, client: Enter
) -> None:
    number, ada = disagreeing(workspace.plain).number, client("ada")
    case = {"criterion": "realism", "value": "2", "source": "new", "reason": "few hours", "at": "0"}
    after = send(ada, f"/s/{number}/adjudicate/{item_ref(ITEM)}", **case)
    assert f"Settled: {FREE.criterion('realism').title} of {ITEM} is 2." in words(after)
    back = re.search(r'href="([^"]+)">Look again', after.text)
    assert back is not None
    assert "Decide anew" in ada.get(back[1].replace("&amp;", "&")).text


def test_who_decides_a_flag_can_see_the_item(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    as_(study, "ann").raise_flag(ITEM, what="review", reason="have a look")
    listed = client("ada").get(f"/s/{study.number}/flags?what=review")
    link = re.search(rf'href="(/s/\d+/adjudicate/{item_ref(ITEM)}\?flag=\d+)"', listed.text)
    assert link is not None
    assert client("ada").get(link[1]).status_code == 200


def test_a_title_above_the_names_of_columns_is_told_in_words(client: Enter, study: Study) -> None:
    lena, path = client("lena"), f"/s/{study.number}/items"
    found = send_file(lena, f"{path}/upload", "answers.csv", b"Export,,\nid,question,response\n")
    told = words(settled(lena, found))
    assert "row 2 looks like the header, and what stands above it like a title" in told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("messy.xlsx: no rows", "messy.xlsx: no rows."),
        ("the round is open.", "The round is open."),
        ("no.", "No."),
        ("", "That did not work."),
    ],
)
def test_a_sentence_leaves_the_name_of_a_file_alone(said: str, told: str) -> None:
    assert sentence(said) == told


def test_own_answers_are_not_shown_while_the_item_is_asked_again(
    workspace: Workspace, client: Enter
) -> None:
    made, ann = disagreeing(workspace.plain), client("ann")
    listed = f"/s/{made.number}/past"
    made.plan_round("recalibration", plan=Plan(way="everyone"), items=[ITEM], raters=["ann", "bob"])
    assert ITEM in ann.get(listed).text  # a round that is not open asks nothing
    made.open_round(2, override="for the test")
    again = ann.get(listed).text
    assert ITEM not in again and OTHER in again
    mine = ann.get(f"/api/v1/studies/{made.number}/ratings/mine").json()
    assert [one["item"] for one in mine["ratings"]] == [OTHER]
    with pytest.raises(StudyError, match="no rating"):
        as_(made, "ann").take_up(Key(round=1, item=ITEM, rater="ann"))


@pytest.mark.parametrize(("name", "sees"), [("lena", 4), ("ada", 4), ("vic", 4), ("ann", 0)])
def test_findings_are_one_step_away_for_those_who_may_see_them(
    workspace: Workspace, client: Enter, name: str, sees: int
) -> None:
    number, somebody = disagreeing(workspace.plain).number, client(name)
    shown = somebody.get(f"/s/{number}").text
    places = dict(re.findall(r'<li><a href="([^"]+)"[^>]*>(\w+)</a></li>', shown))
    found = [path for path, label in places.items() if label in FINDINGS]
    assert len(found) == sees
    for path in found:
        assert f'<a href="{path}" aria-current="page">' in somebody.get(path).text


def test_an_overview_without_targets_says_so_and_leads_on(
    workspace: Workspace, client: Enter
) -> None:
    made = study_of(workspace, COACHING, "talks")
    shown = client("lena").get(f"/s/{made.number}")
    assert "states no target" in words(shown) and "Nothing to compare" not in words(shown)
    assert f'href="/s/{made.number}/agreement"' in shown.text


def test_disagreements_about_one_criterion_are_a_link_away(
    workspace: Workspace, client: Enter
) -> None:
    number, ada = disagreeing(workspace.plain).number, client("ada")
    troubles = ada.get(f"/s/{number}/rubric/troubles").text
    assert f'href="/s/{number}/discuss?criterion=realism"' in troubles
    shown = ada.get(f"/s/{number}/discuss?criterion=realism").text
    linked = re.findall(rf'href="/s/{number}/discuss/1/\w+\?criterion=(\w+)"', shown)
    assert set(linked) == {"realism"}


def test_an_error_of_the_api_has_the_same_shape_at_the_door(client: Enter) -> None:
    refused = client().get("/api/v1/studies")
    assert refused.status_code == 401 and sorted(refused.json()) == ["error", "faults"]


def test_no_two_shapes_of_the_api_share_a_name(client: Enter) -> None:
    named = client("lena").get("/api/v1/openapi.json").json()["components"]["schemas"]
    assert [name for name in named if "__" in name] == []


def test_a_sheet_that_is_not_read_is_told_where_columns_are_missing(
    client: Enter, study: Study
) -> None:
    lena, path = client("lena"), f"/s/{study.number}/items/upload"
    book = workbook(("About this file",), ("two exports",), beside="Answers")
    found = settled(lena, send_file(lena, path, "export.xlsx", book))
    assert "No column is the question" in alert(found)
    assert "export.xlsx: read sheet 'Sheet' only; not read: Answers" in words(found)
