"""Questions on pages and by the API: asked, answered, shared."""

from __future__ import annotations

from collections.abc import Callable

from tests.study.study_kit import as_, new_study
from tests.web.conftest import Signed
from tests.web.lively_kit import lively

from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
API = "/api/v1/studies/1/questions"


def test_who_reads_which_question(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    lead = client("lena").get("/s/1/questions").text
    assert "Is a joke helpful?" in lead and "May tone be dry?" in lead and "by cat" in lead
    ann = client("ann").get("/s/1/questions").text
    assert "Is a joke helpful?" in ann and "May tone be dry?" not in ann
    cat = client("cat").get("/s/1/questions").text
    assert "Only where it helps." in cat and "by a rater" in cat and "ann" not in cat
    assert client("vic").get("/s/1/questions").status_code == 403


def test_a_question_is_asked_and_nothing_typed_is_lost(
    workspace: Workspace, client: Client
) -> None:
    study = lively(workspace)
    ann = client("ann")
    wrong = ann.send_form("/s/1/questions", text="what <is> it?", item="no-such")
    assert wrong.status_code == 422 and "what &lt;is&gt; it?" in wrong.text
    right = ann.send_form("/s/1/questions", text="what is it?", item="r-001")
    assert right.status_code == 303
    assert study.questions()[-1].text == "what is it?" and study.questions()[-1].by == "ann"


def test_the_lead_answers_and_shares(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    number = next(str(one.number) for one in study.questions() if not one.answers)
    lena = client("lena")
    empty = lena.send_form("/s/1/questions/answer", number=number, text=" ")
    assert empty.status_code == 422
    sent = lena.send_form("/s/1/questions/answer", number=number, text="Yes.", share="on")
    assert sent.status_code == 303
    assert "May tone be dry?" in client("ann").get("/s/1/questions").text
    refused = client("ann").send_form("/s/1/questions/answer", number=number, text="No.")
    assert refused.status_code == 403
    assert as_(study, "cat").questions()[-1].answers == ("Yes.",)


def test_programs_ask_and_answer(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    lena, ann = client("lena"), client("ann")
    asked = ann.post(API, json={"text": "why?"}, headers={"x-calibrant-csrf": ann.csrf})
    assert asked.status_code == 201
    part = lena.get(API, params={"limit": 1}).json()
    assert part["total"] == 3 and len(part["questions"]) == 1
    last = lena.get(API, params={"after": part["next"]}).json()["questions"][-1]
    answer = {"text": "because", "share": True}
    head = {"x-calibrant-csrf": lena.csrf}
    assert lena.post(f"{API}/{last['number']}/answer", json=answer, headers=head).is_success
    assert ann.get(API).json()["questions"][-1]["answers"] == ["because"]
    odd = {"text": "x", "odd": 1}
    assert ann.post(API, json=odd, headers={"x-calibrant-csrf": ann.csrf}).status_code == 422
    assert ann.post(API, json={"text": "x"}).status_code == 403


def test_an_empty_study_invites_questions(workspace: Workspace, client: Client) -> None:
    new_study(workspace.plain)
    assert "No questions yet" in client("lena").get("/s/1/questions").text
