"""Whatever pages show before something is done, programs can ask for as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from httpx2 import Response
from tests.study.study_kit import RESPONSES
from tests.web.conftest import Signed
from tests.web.lively_kit import lively

from calibrant import Study, parse_rubric
from calibrant.web.export_files import BY_NAME
from calibrant.web.refs import item_ref
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]


class Asking:
    """Somebody at the API of a study."""

    def __init__(self, who: Signed, study: Study) -> None:
        self.who, self.study = who, study

    def __call__(self, path: str) -> Any:
        found = self.who.get(f"/api/v1/studies/{self.study.number}{path}")
        assert found.status_code == 200, found.text
        return found.json()

    def act(self, method: str, path: str, body: Any = None) -> Response:
        address = f"/api/v1/studies/{self.study.number}{path}"
        headers = {"x-calibrant-csrf": self.who.csrf}
        return self.who.request(method, address, json=body, headers=headers)


@pytest.fixture
def study(workspace: Workspace) -> Study:
    return lively(workspace, items=4)


@pytest.fixture
def lena(study: Study, client: Client) -> Asking:
    return Asking(client("lena"), study)


def test_one_round_and_what_ending_it_would_take_back(lena: Asking, study: Study) -> None:
    assert lena("/rounds/2") == lena("/rounds")["rounds"][1]
    assert lena("/rounds")["waiting"] == 0
    ending = lena("/rounds/2/ending")
    assert (ending["undone"], ending["needs_reason"]) == ({"ann": 4, "cat": 4}, True)
    assert lena("/rounds/1/ending")["undone"] == {}
    assert lena.act("POST", "/rounds/2/close", {}).status_code == 422
    assert lena.act("GET", "/rounds/9").status_code == 404


def test_people_are_added_together_or_not_at_all(lena: Asking, study: Study) -> None:
    before = len(study.members())
    wanted = [{"name": "dee"}, {"name": "ann"}, {"name": "dee"}]
    refused = lena.act("POST", "/members/many", {"members": wanted})
    assert (refused.status_code, len(refused.json()["faults"])) == (422, 2)
    assert len(study.members()) == before
    fitting = [{"name": "dee", "group": "adviser"}, {"name": "eva", "roles": ["viewer"]}]
    added = lena.act("POST", "/members/many", {"members": fitting}).json()["members"]
    assert [(one["name"], one["roles"]) for one in added] == [
        ("dee", ["reviewer"]), ("eva", ["viewer"]),
    ]  # fmt: skip
    ann = lena(f"/members/{item_ref('ann')}")
    assert (ann["name"], ann["open"], ann["done"]) == ("ann", 4, 2)


def test_what_leaving_would_do_is_what_it_does(lena: Asking, study: Study) -> None:
    path = f"/members/{item_ref('ann')}/leave"
    foreseen = lena(path)
    assert lena(path) == foreseen and "ann" in [one.name for one in study.members()]
    done = lena.act("POST", path, {"reason": "a new job"}).json()
    assert done == foreseen and lena.act("GET", path).status_code == 422


def test_a_rating_of_ones_own_is_read_again(study: Study, client: Client) -> None:
    ann, bob = Asking(client("ann"), study), Asking(client("bob"), study)
    first = bob("/ratings/mine")["ratings"][0]
    found = bob(f"/ratings/mine/{first['task']}")
    assert (found["item"], found["revision"], found["is_open"]) == (first["item"], 1, True)
    assert found["form"]["answers"] == first["answers"]
    assert ann.act("GET", f"/ratings/mine/{first['task']}").status_code == 404
    task = ann("/tasks/next")["task"]
    assert (task["shown"], task["measured"]) == ([], [])


def test_items_are_found_and_erasing_is_foreseen(lena: Asking) -> None:
    found = lena("/items?find=r-002")
    assert ([one["id"] for one in found["items"]], found["total"]) == (["r-002"], 1)
    assert lena(f"/items/{item_ref('r-002')}/redact")["open"] == 2
    assert lena.act("GET", f"/items/{item_ref('r-999')}/redact").status_code == 404


def test_results_flags_and_disputes_are_narrowed_as_pages_narrow_them(
    lena: Asking, study: Study
) -> None:
    study.close_round(2, reason="enough")
    every = lena("/verdicts")
    for verdict in ("passed", "failed", "undecided"):
        alike = [one for one in every["rows"] if one["verdict"] == verdict]
        assert lena(f"/verdicts?verdict={verdict}")["rows"] == alike
    assert every["rows"] and lena("/verdicts?item=r-001")["total"] == 1
    assert {one["item"] for one in lena("/finals?item=r-001")["rows"]} == {"r-001"}
    assert {one["criterion"] for one in lena("/finals?criterion=helpfulness")["rows"]} == {
        "helpfulness"
    }
    assert {one["what"] for one in lena("/flags?what=red_flag")["flags"]} == {"red_flag"}
    disputes = lena("/rounds/1/disputes")["disputes"]
    one = disputes[0]["criterion"]
    narrowed = lena(f"/rounds/1/disputes?criterion={one}")
    assert narrowed["total"] == sum(each["criterion"] == one for each in disputes)


def test_files_of_reports_are_those_of_the_pages(lena: Asking, study: Study) -> None:
    held = {"attendees": ["lena"], "decisions": "Go on."}
    frozen = lena.act("POST", "/check-ins", held).json()["number"]
    pairs = [(f"/report/file?kind={kind}", f"/report/file?kind={kind}") for kind in ("md", "html")]
    pairs.append((f"/reports/{frozen}/file?kind=md", f"/report/frozen/{frozen}/file?kind=md"))
    for call, page in pairs:
        one, two = lena.act("GET", call), lena.who.get(f"/s/{study.number}{page}")
        assert (one.status_code, one.headers["content-disposition"]) == (
            200, two.headers["content-disposition"],
        )  # fmt: skip
        assert one.content == two.content


def test_rubrics_are_read_as_texts(lena: Asking, study: Study) -> None:
    text = lena("/rubric/text")["text"]
    assert parse_rubric(text, "text").hash == study.rubric().hash
    handbook = lena("/rubric/handbook")
    assert handbook["version"] == RESPONSES.version and "helpful" in handbook["markdown"]
    assert lena.act("GET", "/rubric/handbook?version=99").status_code == 404
    assert "helpful" in lena.who.get("/api/v1/rubrics/ai-response/handbook").json()["markdown"]
    for path in ("/rubric-template", "/rubrics/ai-response/text"):
        written = lena.who.get(f"/api/v1{path}").json()["text"]
        headers = {"x-calibrant-csrf": lena.who.csrf}
        sent = lena.who.post("/api/v1/rubrics/check", json={"text": written}, headers=headers)
        checked = sent.json()
        assert checked["valid"], checked["mistakes"]
        rubric = parse_rubric(written, "text")
        assert [one["id"] for one in checked["asked"]] == list(rubric.criterion_ids)
        assert checked["asked"][0]["answers"]


def test_what_can_be_taken_out_is_listed(lena: Asking) -> None:
    assert [one["name"] for one in lena("/exports/kinds")["kinds"]] == list(BY_NAME)
