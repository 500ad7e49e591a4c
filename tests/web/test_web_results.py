"""Results, agreement, raters: on pages and by the API, for those who may see them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.study.study_kit import as_, new_study, rate_all, same
from tests.web.conftest import Signed
from tests.web.lively_kit import SECRET, lively

from calibrant import Study
from calibrant.web import kept
from calibrant.web.refs import item_ref
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
API = "/api/v1/studies/1"


def finished(workspace: Workspace) -> Study:
    """Both rounds are closed."""
    study = lively(workspace, 6)
    for name in ("ann", "cat"):
        rate_all(study, name, same("3"))
    study.close_round(2)
    return study


def test_verdicts_and_finals_are_paged_filtered_and_lead_to_items(
    workspace: Workspace, client: Client
) -> None:
    study = finished(workspace)
    lena = client("lena")
    page = lena.get("/s/1/results").text
    assert "6 items" in page and f"/s/1/items/{item_ref('r-001')}" in page
    assert "Nothing fits" in lena.get("/s/1/results?verdict=passed&item=none").text
    finals = lena.get("/s/1/results?show=finals&criterion=accuracy").text
    assert "6 final answers" in finals and "to settle" in finals
    assert study.finals().height == 18
    assert lena.get("/s/1/results?at=99999").status_code == 200


def test_agreement_and_raters_are_shown_in_full(workspace: Workspace, client: Client) -> None:
    finished(workspace)
    lena = client("lena")
    page = lena.get("/s/1/agreement?round=1").text
    assert (
        "krippendorff alpha" in page and "Cohen&#39;s kappa above 0.7" in page and "█" not in page
    )
    assert "-o keeps" not in page
    raters = lena.get("/s/1/raters").text
    assert "Severity" in raters and "bob" in raters and "-o " not in raters


def test_an_open_round_is_not_compared_for_those_who_may_not_see_it(
    workspace: Workspace, client: Client
) -> None:
    lively(workspace)
    ada, vic, ann = client("ada"), client("vic"), client("ann")
    for path in ("results", "agreement?round=2", "raters?round=2", "agreement"):
        for somebody in (ada, vic):
            told = somebody.get(f"/s/1/{path}")
            assert told.status_code == 200 and SECRET not in told.text
            assert ">bob<" not in told.text
        assert ann.get(f"/s/1/{path}").status_code == 403


READABLE = (
    "status", "progress", "ratings", "finals", "verdicts", "flags", "agreement", "phases",
    "questions", "troubles",
)  # fmt: skip
HIDDEN = (
    "journal", "raters", "report", "judges", "judge-runs", "exports", "check-ins",
    "lessons",
)  # fmt: skip


def test_a_reviewer_reads_nothing_of_others_from_any_route(
    workspace: Workspace, client: Client
) -> None:
    lively(workspace)
    ann = client("ann")
    for path in READABLE:
        told = ann.get(f"{API}/{path}")
        assert told.status_code in {200, 422}
        assert SECRET not in told.text and "bob" not in told.text and "dismissive" not in told.text
        if path in {"ratings", "finals", "verdicts"}:
            assert 2 not in {row.get("round") for row in told.json()["rows"]}
    for path in HIDDEN:
        assert ann.get(f"{API}/{path}").status_code == 403


def test_an_open_round_is_refused_by_number(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    for name in ("ann", "ada", "vic"):
        assert client(name).get(f"{API}/ratings?round=2").status_code == 403
        assert client(name).get(f"{API}/agreement?round=2").status_code == 403


def test_programs_read_tables_in_parts(workspace: Workspace, client: Client) -> None:
    study = finished(workspace)
    lena, rows, after = client("lena"), 0, 0
    while after is not None:
        part = lena.get(f"{API}/ratings", params={"limit": 10, "after": after}).json()
        rows += len(part["rows"])
        after = part["next"]
    assert rows == study.ratings().height
    assert lena.get(f"{API}/verdicts").json()["total"] == 6
    assert lena.get(f"{API}/agreement?round=1").json()["report"]["targets"]
    assert lena.get(f"{API}/raters").json()["report"]["raters"]
    assert lena.get(f"{API}/troubles").json()["troubles"]
    assert lena.get(f"{API}/status").json()["items"] == 6
    assert lena.get(f"{API}/ratings?limit=1001").status_code == 422


def test_what_was_seen_goes_when_the_role_goes(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    study.add_member("leo", roles=("lead",))
    leo = client("leo")
    assert leo.get(f"{API}/ratings?round=2").json()["total"] > 0
    study.set_roles("leo", ["lead", "reviewer"])
    assert leo.get(f"{API}/ratings?round=2").status_code == 403
    assert as_(study, "leo").ratings().filter(round=2).is_empty()


def test_a_study_without_results_says_so(workspace: Workspace, client: Client) -> None:
    new_study(workspace.plain)
    lena = client("lena")
    for path in ("results", "results?show=finals"):
        assert "No results yet" in lena.get(f"/s/1/{path}").text
    assert "Nothing to compare" in lena.get("/s/1/agreement").text
    assert "Nothing to tell yet" in lena.get("/s/1/raters").text


def test_on_a_large_study_pages_come_at_once_and_their_content_follows(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(workspace)
    monkeypatch.setattr(kept, "SMALL", 1)
    lena = client("lena")
    for path in ("results?show=finals&item=r-00", "agreement?round=1", "raters"):
        page = lena.get(f"/s/1/{path}").text
        found = re.search(r'data-load="([^"]+now=true)"', page)
        assert (
            found is not None and "<table" not in page.partition("<main")[2].partition("<dialog")[0]
        )
        address = found[1].replace("&amp;", "&")
        assert address.startswith("/s/1/") and "<table" in lena.get(address).text
        assert "data-load" not in lena.get(f"/s/1/{path}").text  # it is there by now
