"""Flags on pages and by the API: who sees which, raised and decided."""

from __future__ import annotations

from collections.abc import Callable

from tests.study.study_kit import as_, new_study
from tests.web.conftest import Signed
from tests.web.lively_kit import SECRET, lively

from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
API = "/api/v1/studies/1/flags"


def test_flags_stand_in_lists_of_their_own(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    lena = client("lena")
    red = lena.get("/s/1/flags").text
    assert "Preachy" in red and "It is" in red and "Confirm: it stands" in red
    edge = lena.get("/s/1/flags?what=edge_case").text
    assert "two questions in one" in edge and SECRET in edge  # a lead who does not rate
    assert "Nothing is open here" in lena.get("/s/1/flags?what=review").text


def test_nobody_reads_flags_of_an_open_round(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    for name in ("ann", "ada", "vic"):
        somebody = client(name)
        for what in ("red_flag", "edge_case", "review"):
            page = somebody.get(f"/s/1/flags?what={what}").text
            assert SECRET not in page and "Dismissive" not in page.partition("Flag an item")[0]
            assert "bob" not in page
        told = somebody.get(API).text
        assert SECRET not in told and "bob" not in told and "dismissive" not in told


def test_a_flag_is_decided_with_a_reason(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    flag = next(one for one in study.flags() if one.flag == "preachy")
    ada = client("ada")
    without = ada.send_form(
        "/s/1/flags/decide",
        number=str(flag.number),
        what="red_flag",
        decision="confirm",
        reason=" ",
    )
    assert without.status_code == 422 and "say why" in without.text
    done = ada.send_form(
        "/s/1/flags/decide",
        number=str(flag.number),
        what="red_flag",
        decision="reject",
        reason="mild",
    )
    assert done.status_code == 303
    assert "mild" in ada.get("/s/1/flags?what=red_flag&state=decided").text
    assert next(one for one in study.flags() if one.number == flag.number).state == "rejected"


def test_a_flag_of_an_open_round_waits(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    flag = next(one for one in study.flags() if one.flag == "dismissive")
    lena = client("lena")
    sent = lena.send_form(
        "/s/1/flags/decide",
        number=str(flag.number),
        what="red_flag",
        decision="confirm",
        reason="x",
    )
    assert sent.status_code == 422 and "is open" in sent.text


def test_an_item_is_flagged_and_what_was_typed_is_kept(
    workspace: Workspace, client: Client
) -> None:
    study = lively(workspace)
    ann = client("ann")
    wrong = ann.send_form(
        "/s/1/flags", item="r-003", what="red_flag", flag="preachy", evidence="not <there>"
    )
    assert wrong.status_code == 422 and "not &lt;there&gt;" in wrong.text
    right = ann.send_form("/s/1/flags", item="r-003", what="review", reason="odd")
    assert right.status_code == 303
    assert [one.item for one in as_(study, "ann").flags() if one.what == "review"] == ["r-003"]
    assert client("vic").post("/s/1/flags", data={}).status_code == 403


def test_programs_list_raise_and_decide(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    lena = client("lena")
    first = lena.get(API, params={"limit": 5}).json()
    assert len(first["flags"]) == 5 and first["total"] > 5
    rest = lena.get(API, params={"limit": 1000, "after": first["next"]}).json()
    assert len(rest["flags"]) == first["total"] - 5 and rest["next"] is None
    head = {"x-calibrant-csrf": lena.csrf}
    made = lena.post(API, json={"item": "r-004", "what": "review", "reason": "odd"}, headers=head)
    assert made.status_code == 201
    number = lena.get(API, params={"limit": 1000}).json()["flags"][-1]["number"]
    body = {"confirm": True, "reason": "seen"}
    other = next(
        one["number"] for one in first["flags"] + rest["flags"] if one["flag"] == "preachy"
    )
    assert lena.post(f"{API}/{other}/decision", json=body, headers=head).status_code == 200
    refused = lena.post(f"{API}/{number}/decision", json=body, headers=head)
    assert refused.status_code == 422 and "round 2 is open" in refused.json()["error"]
    assert lena.post(f"{API}/999/decision", json=body, headers=head).status_code == 422


def test_an_empty_study_has_an_empty_list(workspace: Workspace, client: Client) -> None:
    new_study(workspace.plain)
    assert "Nothing is open here" in client("lena").get("/s/1/flags").text
