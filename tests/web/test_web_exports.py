"""Exports: what comes out, under which name and type, for whom; nothing in it is run."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator

import polars as pl
import pytest
from tests.study.study_kit import rate_all, same
from tests.web.conftest import Signed
from tests.web.lively_kit import SECRET, lively

from calibrant import Study
from calibrant.web.export_files import KINDS
from calibrant.web.pages import exports as pages
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
API = "/api/v1/studies/1/exports"


@pytest.fixture
def closed(workspace: Workspace) -> Iterator[Study]:
    """Both rounds are closed; somebody's name and an item's flag would be formulas."""
    study = lively(workspace, 4)
    study.add_lesson("=cmd|' /C calc'!A0")
    for name in ("ann", "cat"):
        rate_all(study, name, same("3"))
    study.close_round(2)
    yield study


def test_every_export_comes_as_a_file_to_keep(closed: Study, client: Client) -> None:
    lena = client("lena")
    for kind in KINDS:
        sent = lena.send_form("/s/1/exports", what=kind.name)
        assert sent.status_code == 200, sent.text
        found = re.fullmatch(
            r'attachment; filename="(study-1-[a-z-]+\.[a-z]+)"', sent.headers["content-disposition"]
        )
        assert found is not None and found[1].endswith(kind.suffix)
        assert "html" not in sent.headers["content-type"]
        assert sent.headers["x-content-type-options"] == "nosniff"
        assert sent.content


def test_no_cell_of_a_spreadsheet_is_a_formula(closed: Study, client: Client) -> None:
    lena = client("lena")
    book = lena.send_form("/s/1/exports", what="tables")
    with zipfile.ZipFile(io.BytesIO(book.content)) as archive:
        sheets = [archive.read(one).decode() for one in archive.namelist() if "sheet" in one]
    assert not any("<f>" in one for one in sheets)
    for what in ("ratings", "ratings-wide", "finals", "verdicts", "agreement"):
        text = lena.send_form("/s/1/exports", what=what)
        frame = pl.read_csv(text.content, infer_schema=False)
        for cell in (cell for row in frame.rows() for cell in row if cell):
            assert not re.match(r"\s*[=+@]|-\D", cell), cell


def test_pseudonyms_name_nobody_and_the_log_says_who_took_them(
    workspace: Workspace, closed: Study, client: Client
) -> None:
    lena = client("lena")
    sent = lena.send_form("/s/1/exports", what="ratings", pseudonyms="on")
    assert "bob" not in sent.text and "member-" in sent.text
    assert "pseudonyms" in sent.headers["content-disposition"]
    taken = workspace.owners.last_events(1)[0]
    assert (taken.kind, taken.actor, taken.body["what"]) == ("exported", "lena", "ratings")
    none = lena.send_form("/s/1/exports", what="verdicts", pseudonyms="on")
    assert none.status_code == 422
    unknown = lena.send_form("/s/1/exports", what="../../etc/passwd")
    assert unknown.status_code == 422


def test_what_takes_long_is_fetched_later(
    closed: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PATIENCE", 0.0)
    lena = client("lena")
    sent = lena.send_form("/s/1/exports", what="bundle")
    if sent.status_code == 303:  # it was not there at once
        for _ in range(200):
            page = lena.get("/s/1/exports?part=true").text
            if "being made" not in page:
                break
        link = re.search(r'href="(/s/1/exports/[^"]+/file)"', page)
        assert link is not None
        sent = lena.get(link[1])
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert any(one.endswith("manifest.json") for one in archive.namelist())


def test_only_a_lead_takes_things_out_and_files_are_ones_own(closed: Study, client: Client) -> None:
    for name in ("ann", "ada", "vic"):
        somebody = client(name)
        assert somebody.get("/s/1/exports").status_code == 403
        sent = somebody.send_form("/s/1/exports", what="bundle")
        assert sent.status_code == 403
        assert somebody.get(API).status_code == 403
    closed.add_member("leo", roles=("lead",))
    lena, leo = client("lena"), client("leo")
    head = {"x-calibrant-csrf": lena.csrf}
    job = lena.post(API, json={"what": "verdicts"}, headers=head).json()["number"]
    assert leo.get(f"{API}/{job}").status_code == 404
    assert leo.get(f"/s/1/exports/{job}/file").status_code == 404
    assert leo.get(API).json() == {"jobs": []}


def test_a_lead_who_rates_takes_nothing_while_a_round_is_open(
    workspace: Workspace, client: Client
) -> None:
    lively(workspace).add_member("leo", roles=("lead", "reviewer"))
    leo = client("leo")
    for kind in KINDS:
        sent = leo.send_form("/s/1/exports", what=kind.name)
        assert SECRET not in sent.text
        if kind.name in {"bundle", "tables", "ratings", "ratings-wide"}:
            assert sent.status_code == 422 and "round 2 is open" in sent.text


def test_programs_begin_look_and_fetch(closed: Study, client: Client) -> None:
    lena = client("lena")
    head = {"x-calibrant-csrf": lena.csrf}
    begun = lena.post(API, json={"what": "finals-lines"}, headers=head)
    assert begun.status_code == 202
    job = begun.json()["number"]
    state = "running"
    while state == "running":
        state = lena.get(f"{API}/{job}").json()["state"]
    assert state == "done"
    lines = lena.get(f"{API}/{job}/file")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert len(lines.text.splitlines()) == closed.finals().height
    assert lena.get(f"{API}/none/file").status_code == 404
    assert lena.post(API, json={"what": "none"}, headers=head).status_code == 422
