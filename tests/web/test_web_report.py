"""The report on its page and as a file."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.study.study_kit import new_study
from tests.web.conftest import Signed
from tests.web.lively_kit import SECRET, lively

from calibrant.web import kept
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
