"""The audit log: sentences, filters, pages, and no secret in it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.study.study_kit import RESPONSES, as_
from tests.web.conftest import Signed
from tests.web.lively_kit import SECRET, lively

from calibrant import Study
from calibrant.core.study import Entry
from calibrant.study.open import create
from calibrant.web.journal_words import LABELS, raw_of, said_of, sentence_of
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
API = "/api/v1/studies/1/journal"


def test_everything_that_happened_is_told_in_sentences(
    workspace: Workspace, client: Client
) -> None:
    study = lively(workspace)
    page = client("lena").get("/s/1/journal").text
    assert re.search(r"<b>lena</b> held a check-in with ann, lena", page)
    assert "answered question" in page and "shared it with all" in page
    lines = study.audit_log(limit=1000).lines
    assert {one.kind for one in lines} <= set(LABELS)
    for one in lines:
        assert sentence_of(one) and "None" not in sentence_of(one)


def test_lines_are_chosen_by_kind_person_and_item(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    lena = client("lena")
    rounds = lena.get("/s/1/journal", params={"kind": "round", "actor": "lena"}).text
    assert "opened round 2" in rounds and "closed round 1" in rounds
    assert "held a check-in" not in rounds
    ratings = lena.get("/s/1/journal", params={"kind": "rated", "actor": "bob"}).text
    version = re.escape(RESPONSES.version)
    said = rf"<b>bob</b> handed in a rating of r-\d+ in round 2, under version {version} of the"
    assert len(re.findall(said, ratings)) == 10 and SECRET not in ratings
    assert "15 lines" in ratings and "opened round" not in ratings
    acts = lena.get("/s/1/journal", params={"kind": "-"}).text
    assert "opened round" in acts and "handed in a rating" not in acts
    assert "rated" not in {
        one["kind"] for one in lena.get(API, params={"ratings": "false"}).json()["entries"]
    }
    assert "No such line" in lena.get("/s/1/journal", params={"item": "none"}).text


def test_older_lines_are_a_page_away(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    for number in range(70):
        study.add_lesson(f"lesson-{number:03}")
    lena = client("lena")
    first = lena.get("/s/1/journal?kind=lesson").text
    assert "lesson-069" in first and "lesson-001" not in first
    link = re.search(r'href="(/s/1/journal\?[^"]*before=[^"]*)"', first)
    assert link is not None
    older = lena.get(link[1].replace("&amp;", "&")).text
    assert "lesson-001" in older and "lesson-069" not in older


def test_only_a_lead_reads_it_and_one_who_rates_reads_no_secret(
    workspace: Workspace, client: Client
) -> None:
    study = lively(workspace)
    for name in ("ann", "ada", "vic"):
        assert client(name).get("/s/1/journal").status_code == 403
        assert client(name).get(API).status_code == 403
    study.add_member("leo", roles=("lead", "reviewer"))
    leo = client("leo")
    assert SECRET not in leo.get("/s/1/journal").text and SECRET not in leo.get(API).text
    assert as_(study, "leo").journal()


def test_keys_are_never_shown(workspace: Workspace, client: Client) -> None:
    made = create(
        workspace.plain, "secret", lively(workspace).rubric(), lead="lena",
        clock=workspace.clock, mask_key="mask-key-that-nobody-sees",
    )  # fmt: skip
    study = Study(made.store, made.number, made.record, made.actor, made.clock)
    study.keep_pseudonyms("pseudonym-key-nobody-sees")
    lena = client("lena")
    number = made.number
    for path in (f"/s/{number}/journal", f"/api/v1/studies/{number}/journal"):
        told = lena.get(path).text
        assert "nobody-sees" not in told and "not shown" in told


def test_programs_read_it_in_parts(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    lena, seen, after = client("lena"), [], "0"
    while after is not None:
        part = lena.get(API, params={"limit": 7, "after": after}).json()
        seen += part["entries"]
        after = part["next"]
    lines = study.audit_log(limit=1000).lines
    assert [one["at"] for one in seen] == [one.at for one in lines]
    assert [one["number"] for one in seen] == [one.number or None for one in lines]
    assert {None} == {one["number"] for one in seen if one["kind"] == "rated"}
    rated = lena.get(API, params={"kind": "rated", "item": "r-001", "limit": 1}).json()["entries"]
    assert rated[0]["item"] == "r-001" and rated[0]["words"] is None
    for path in (API + "?after=nothing", "/s/1/journal?before=nothing"):
        assert lena.get(path).status_code == 422


@pytest.mark.parametrize("kind", sorted(LABELS))
def test_a_line_without_anything_in_it_is_told_all_the_same(kind: str) -> None:
    entry = Entry(kind=kind, actor="x", at="2026-03-02T09:00:00.000000Z")
    assert sentence_of(entry) and raw_of(entry) and said_of(entry) == ""
