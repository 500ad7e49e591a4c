"""Check-ins, lessons, the rubric kept or final; phases by the API."""

from __future__ import annotations

from collections.abc import Callable

from tests.study.study_kit import new_study
from tests.web.conftest import Signed
from tests.web.lively_kit import lively

from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
API = "/api/v1/studies/1"


def test_a_check_in_is_recorded_and_nothing_typed_is_lost(
    workspace: Workspace, client: Client
) -> None:
    study = lively(workspace)
    lena = client("lena")
    nobody = lena.send_form("/s/1/check-ins", decisions="go <on>")
    assert nobody.status_code == 422 and "go &lt;on&gt;" in nobody.text
    form = {"csrf": lena.csrf, "decisions": "go on", "actions": "write"}
    came = {"attendees": ["ann", "bob"]}
    sent = lena.post("/s/1/check-ins", data={**form, **came}, follow_redirects=False)
    assert sent.status_code == 303
    assert study.check_ins()[-1].attendees == ("ann", "bob")
    page = lena.get("/s/1/check-ins").text
    assert "go on" in page and "Ten items were too few." in page


def test_a_viewer_reads_with_masked_names_and_a_reviewer_does_not_read(
    workspace: Workspace, client: Client
) -> None:
    lively(workspace)
    page = client("vic").get("/s/1/check-ins").text
    assert "Read hours" in page and "rater " in page and "with ann" not in page
    assert client("ann").get("/s/1/check-ins").status_code == 403
    assert client("ann").get(f"{API}/check-ins").status_code == 403


def test_a_reviewer_writes_a_lesson_down(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    sent = client("ann").send_form("/s/1/lessons", text="read twice")
    assert (sent.status_code, sent.headers["location"]) == (303, "/s/1")
    assert study.lessons()[-1] == "read twice"
    empty = client("ann").send_form("/s/1/lessons", text=" ")
    assert empty.status_code == 422 and "Ten items" not in empty.text


def test_the_rubric_stays_and_is_final(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    lena = client("lena")
    empty = lena.send_form("/s/1/rubric-stays", reason="")
    assert empty.status_code == 422
    assert lena.send_form("/s/1/rubric-stays", reason="clear").status_code == 303
    assert lena.send_form("/s/1/rubric-final").status_code == 303
    kinds = [one.kind for one in study.journal()]
    assert kinds[-2:] == ["override", "finalised"]


def test_programs_move_phases_and_record(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    lena = client("lena")
    head = {"x-calibrant-csrf": lena.csrf}
    phases = lena.get(f"{API}/phases").json()["phases"]
    assert phases[0]["state"] == "open" and phases[0]["exit"][0]["met"] is False
    finish = f"{API}/phases/{phases[0]['id']}/finish"
    assert lena.post(finish, json={}, headers=head).status_code == 422
    assert lena.post(finish, json={"override": "few"}, headers=head).is_success
    loop = lena.get(f"{API}/status").json()["loops"][0]
    step = {"criterion": loop["criterion"], "step": loop["next"], "note": "met"}
    assert lena.post(f"{API}/steps", json=step, headers=head).is_success
    held = {"attendees": ["ann"], "decisions": "go on"}
    assert lena.post(f"{API}/check-ins", json=held, headers=head).json()["decisions"] == "go on"
    assert len(lena.get(f"{API}/check-ins").json()["check_ins"]) == 2
    assert lena.post(f"{API}/lessons", json={"text": "x"}, headers=head).status_code == 201
    assert lena.get(f"{API}/lessons").json()["lessons"][-1] == "x"
    assert lena.post(f"{API}/rubric-stays", json={"reason": "x"}, headers=head).is_success
    assert lena.post(f"{API}/rubric-final", headers=head).is_success


def test_an_empty_study_says_what_a_check_in_is(workspace: Workspace, client: Client) -> None:
    new_study(workspace.plain)
    assert "None yet" in client("lena").get("/s/1/check-ins").text
