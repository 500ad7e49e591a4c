"""The report on its page and as a file."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from tests.study.study_kit import new_study
from tests.web.conftest import Signed
from tests.web.lively_kit import SECRET, lively

from calibrant import Study
from calibrant.report import frozen
from calibrant.report.findings import Findings, findings
from calibrant.web import freezing, kept
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]


def test_the_report_stands_on_a_page_of_ours(workspace: Workspace, client: Client) -> None:
    study = lively(workspace, 4)
    study.add_lesson("<script>alert(1)</script>")
    page = client("lena").get("/s/1/report").text
    assert '<div class="report">' in page and "&lt;div" not in page.partition("<main")[2]
    assert "<script>alert" not in page and " style=" not in page
    assert client("lena").get("/report.css").headers["content-type"].startswith("text/css")


def test_it_can_be_kept_and_is_never_served_as_a_page(workspace: Workspace, client: Client) -> None:
    lively(workspace, 4)
    lena = client("lena")
    for kind, begins in (("html", "<!doctype html>"), ("md", "# "), ("json", "{")):
        sent = lena.get(f"/s/1/report/file?kind={kind}")
        assert sent.text.startswith(begins)
        assert "html" not in sent.headers["content-type"]
        assert sent.headers["content-disposition"] == (
            f'attachment; filename="study-1-report.{kind}"'
        )


def test_others_see_no_more_in_it_than_elsewhere(workspace: Workspace, client: Client) -> None:
    lively(workspace, 4)
    for name in ("ada", "vic"):
        told = client(name).get("/s/1/report").text
        assert SECRET not in told and "bob" not in told
        assert "bob" not in client(name).get("/s/1/report/file?kind=json").text
    assert client("ann").get("/s/1/report").status_code == 403
    assert client("ann").get("/s/1/report/file").status_code == 403


def test_on_a_large_study_it_comes_later(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lively(workspace, 4)
    monkeypatch.setattr(kept, "SMALL", 1)
    lena = client("lena")
    page = lena.get("/s/1/report").text
    assert 'data-load="/s/1/report?part=true"' in page and '<div class="report">' not in page
    assert '<div class="report">' in lena.get("/s/1/report?part=true").text
    assert '<div class="report">' in lena.get("/s/1/report?now=true").text


def test_a_study_without_anything_has_a_report_too(workspace: Workspace, client: Client) -> None:
    new_study(workspace.plain)
    assert client("lena").get("/s/1/report").status_code == 200
    assert client("lena").get("/api/v1/studies/1/report").json()["report"]["format"]


def test_a_check_in_has_the_report_of_its_day(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezing, "PATIENCE", 60.0)
    study, lena = lively(workspace, 4), client("lena")
    sent = lena.send_form("/s/1/check-ins", attendees="ann", decisions="go on")
    assert "is frozen with it" in unquote(sent.headers["set-cookie"])
    number = study.check_ins()[-1].number
    link = f'href="/s/1/report/frozen/{number}"'
    assert link in lena.get("/s/1/check-ins").text and link in lena.get("/s/1/report").text
    at = f"/s/1/report/frozen/{number}"
    kinds = ("html", "md", "json")
    then = [lena.get(f"{at}/file?kind={kind}").text for kind in kinds]
    study.add_lesson("learned later")
    assert [lena.get(f"{at}/file?kind={kind}").text for kind in kinds] == then
    assert (
        "learned later" not in lena.get(at).text and "learned later" in lena.get("/s/1/report").text
    )
    assert lena.get("/api/v1/studies/1/reports").json()["reports"][0]["what"] == "check_in"
    told = lena.get(f"/api/v1/studies/1/reports/{number}").json()["report"]
    assert told == json.loads(then[2])
    assert "check-in" in lena.get(at).text and lena.get("/s/1/report/frozen/1").status_code == 422
    for name in ("ada", "vic", "ann"):
        assert client(name).get(at).status_code == 403
        assert client(name).get(f"{at}/file").status_code == 403
        assert "report/frozen" not in client(name).get("/s/1/report").text


def test_a_phase_ends_with_its_report_and_without_one_where_there_is_none(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezing, "PATIENCE", 60.0)
    study, lena = lively(workspace, 4), client("lena")
    move = {"move": "finish", "phase": "initial_annotation", "override": "a pilot"}
    assert lena.send_form("/s/1/phases", **move).status_code == 303
    assert "end of phase initial annotation" in lena.get("/s/1/report").text
    monkeypatch.setattr(frozen, "findings", lambda *_, **__: 1 / 0)
    head = {"x-calibrant-csrf": lena.csrf}
    held = {"attendees": ["ann"], "decisions": "go on"}
    sent = lena.post("/api/v1/studies/1/check-ins", json=held, headers=head)
    assert sent.status_code == 201 and "no report was frozen: something" in sent.json()["report"]
    assert len(study.check_ins()) == 2 and len(study.frozen_reports()) == 1
    assert "No report was frozen: something went wrong" in lena.get("/s/1/check-ins").text


def test_nobody_waits_long_for_the_report_of_a_large_study(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezing, "PATIENCE", 0.0)
    go = threading.Event()

    def slow(study: Study, **more: Any) -> Findings:
        go.wait(60)
        return findings(study, **more)

    monkeypatch.setattr(frozen, "findings", slow)
    study, lena = lively(workspace, 4), client("lena")
    sent = lena.send_form("/s/1/check-ins", attendees="ann", decisions="go on")
    assert sent.status_code == 303 and study.frozen_reports() == []
    assert "The report of now is being put together" in lena.get("/s/1/check-ins").text
    (job,) = lena.app.state.jobs.of(1, "report")  # type: ignore[attr-defined]
    go.set()
    assert job.over.wait(60)
    assert "report/frozen" in lena.get("/s/1/check-ins").text
