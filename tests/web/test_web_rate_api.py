"""The API of rating: versions, faults by path, acts that are sent twice, drafts of any shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from httpx2 import Response
from tests.study.study_kit import PLANS, as_
from tests.web.conftest import Signed
from tests.web.rate_kit import rating_study

from calibrant import Study
from calibrant.core.study import Key
from calibrant.web.refs import task_ref
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
ANSWERS = dict.fromkeys(PLANS.criterion_ids, "4")


class Program:
    """Somebody's program, at one study."""

    def __init__(self, client: Signed, study: Study) -> None:
        self.client, self.root = client, f"/api/v1/studies/{study.number}"

    def call(self, method: str, path: str, body: Any = None) -> Response:
        headers = {"x-calibrant-csrf": self.client.csrf}
        return self.client.request(method, f"{self.root}/{path}", json=body, headers=headers)

    def next(self) -> dict[str, Any]:
        return dict(self.call("GET", "tasks/next").json()["task"])


@pytest.fixture
def plans(workspace: Workspace) -> Study:
    return rating_study(workspace.plain, clock=workspace.clock)


@pytest.fixture
def ann(plans: Study, client: Client) -> Program:
    return Program(client("ann"), plans)


def test_a_program_rates_one_item_after_the_other(plans: Study, ann: Program) -> None:
    seen = []
    for _ in range(3):
        task = ann.next()
        body = {"form": {"answers": ANSWERS}, "request": f"act-{task['item']}", "version": 0}
        answer = ann.call("POST", f"tasks/{task['task']}/rating", body)
        assert answer.status_code == 201, answer.text
        seen.append(answer.json()["item"])
    assert sorted(seen) == ["plan-001", "plan-002", "plan-003"]
    assert answer.json()["next"] == ""
    assert ann.call("GET", "tasks/next").json() == {"task": None}
    (duty,) = ann.call("GET", "duties").json()["duties"]
    assert (duty["done"], duty["open"]) == (3, 0)
    listed = ann.call("GET", "ratings/mine?limit=2").json()
    assert (len(listed["ratings"]), listed["total"], listed["after"]) == (2, 3, 2)
    assert ann.call("GET", "ratings/mine?after=2").json()["after"] is None


def test_a_form_sent_twice_is_one_rating(plans: Study, ann: Program) -> None:
    task = ann.next()["task"]
    body = {"form": {"answers": ANSWERS}, "request": "the-same-act", "version": 0}
    first = ann.call("POST", f"tasks/{task}/rating", body)
    second = ann.call("POST", f"tasks/{task}/rating", body)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["submitted_at"] == second.json()["submitted_at"]
    other = ann.call("POST", f"tasks/{task}/rating", {**body, "request": "another-act"})
    assert other.status_code == 409 and other.json()["state"] == "done"
    assert len(as_(plans, "ann").my_ratings()) == 1


def test_a_stale_version_is_refused_with_both_versions(ann: Program) -> None:
    task = ann.next()["task"]
    path = f"tasks/{task}/draft"
    saved = ann.call("PUT", path, {"form": {"answers": {"realism": "2"}}, "version": 0})
    assert (saved.status_code, saved.json()["version"]) == (200, 1)
    mine = {"answers": {"realism": "5"}, "notes": {"clarity": "plain"}}
    stale = ann.call("PUT", path, {"form": mine, "version": 0})
    assert stale.status_code == 409
    told = stale.json()
    assert (told["state"], told["version"]) == ("open", 1)
    assert told["form"] == {"answers": {"realism": "2"}}
    assert [(one["field"], one["mine"], one["theirs"]) for one in told["differences"]] == [
        ("answers.realism", "5", "2"),
        ("notes.clarity", "plain", ""),
    ]
    handed = {"form": {"answers": ANSWERS}, "request": "an-act-of-old", "version": 0}
    assert ann.call("POST", f"tasks/{task}/rating", handed).status_code == 409
    assert ann.call("GET", f"tasks/{task}").json()["draft"] == {"answers": {"realism": "2"}}


def test_faults_name_their_paths_and_fields(ann: Program) -> None:
    task = ann.next()["task"]
    form = {
        "answers": {**ANSWERS, "clarity": "9"},
        "borderline": ["realism"],
        "flags": [{"flag": "medical_advice", "evidence": ["never said"]}],
        "sub_answers": {"realism": {"none": "x"}},
    }
    body = {"form": form, "request": "a-first-act", "version": 0}
    answer = ann.call("POST", f"tasks/{task}/rating", body)
    assert answer.status_code == 422
    faults = {one["path"]: one["field"] for one in answer.json()["faults"]}
    assert faults == {
        "answers.clarity": "answers.clarity",
        "notes.realism": "notes.realism",
        "flags[1].evidence": "flags.medical_advice",
        "sub_answers.realism.none": "sub_answers.realism.none",
    }


def test_a_correction_rests_on_the_revision_that_was_seen(plans: Study, ann: Program) -> None:
    task = ann.next()["task"]
    body: dict[str, Any] = {"form": {"answers": ANSWERS}, "request": "first-act"}
    ann.call("POST", f"tasks/{task}/rating", body)
    new = {"form": {"answers": {**ANSWERS, "realism": "1"}}, "request": "second-act"}
    answer = ann.call("POST", f"tasks/{task}/correction", {**new, "revision": 1, "reason": "again"})
    assert (answer.status_code, answer.json()["revision"]) == (201, 2)
    again = ann.call("POST", f"tasks/{task}/correction", {**new, "revision": 1})
    assert again.json()["revision"] == 2, "the same act: nothing new"
    stale = {**new, "request": "third-act", "revision": 1}
    assert ann.call("POST", f"tasks/{task}/correction", stale).status_code == 409
    plans.close_round(1, reason="time is up")
    late = {**stale, "revision": 2}
    assert ann.call("POST", f"tasks/{task}/correction", late).status_code == 422


def test_what_is_not_ones_own_is_not_found(plans: Study, ann: Program, client: Client) -> None:
    plans.add_member("eve")
    eve = Program(client("eve"), plans)
    task = task_ref(Key(round=1, item="plan-001", rater="eve"))
    form = {"form": {"answers": ANSWERS}, "version": 0}
    act = {**form, "request": "an-act-of-eve"}
    assert eve.call("GET", f"tasks/{task}").status_code == 404
    assert eve.call("PUT", f"tasks/{task}/draft", form).status_code == 404
    assert eve.call("POST", f"tasks/{task}/rating", act).status_code == 404
    changed = {**act, "revision": 1}
    assert eve.call("POST", f"tasks/{task}/correction", changed).status_code == 404
    assert eve.call("POST", f"tasks/{task}/release").status_code == 404
    assert eve.call("POST", f"tasks/{task}/question", {"text": "why?"}).status_code == 404
    assert ann.call("GET", "tasks/AAAA").status_code == 404
    assert as_(plans, "ann").my_ratings() == []


def test_a_request_without_the_token_of_the_page_changes_nothing(ann: Program) -> None:
    task = ann.next()["task"]
    ann.client.csrf = "wrong"
    answer = ann.call("PUT", f"tasks/{task}/draft", {"form": {}, "version": 0})
    assert answer.status_code == 403
    assert ann.next()["version"] == 0


def test_an_item_given_back_can_be_taken_elsewhere(plans: Study, ann: Program) -> None:
    task = ann.next()
    key = Key(round=1, item=task["item"], rater="ann")
    assert as_(plans, "ann").claim(token="terminal", key=key) == []
    assert ann.call("POST", f"tasks/{task['task']}/release").json()["said"] == "given back"
    assert as_(plans, "ann").claim(token="terminal", key=key)
    elsewhere = ann.call("PUT", f"tasks/{task['task']}/draft", {"form": {}, "version": 0})
    assert elsewhere.status_code == 409 and elsewhere.json()["state"] == "elsewhere"


def test_the_rubric_is_acknowledged_by_a_program_too(workspace: Workspace, client: Client) -> None:
    study = rating_study(workspace.plain, clock=workspace.clock, ready=False)
    ann = Program(client("ann"), study)
    assert ann.call("GET", "tasks/next").status_code == 422
    assert "smart-action-plan@1.0" in ann.call("POST", "acknowledge").json()["said"]
    assert ann.next()["criteria"] == list(PLANS.criterion_ids)


ODD: list[dict[str, Any]] = [
    {"answers": [1, 2], "notes": "x", "flags": 3, "borderline": {"a": 1}},
    {"answers": {"realism": {"deep": ["er"]}}, "tags": {"realism": 5}, "evidence": {"realism": 7}},
    {"flags": [["medical_advice"], {"flag": ["x"]}, None], "sub_answers": {"realism": "x"}},
    {"note": 12, "edge_case": [1], "review": {"x": 1}, "sitting": "no"},
]


@pytest.mark.parametrize("form", ODD)
def test_a_draft_of_any_shape_breaks_no_page(ann: Program, plans: Study, form: Any) -> None:
    task = ann.next()["task"]
    assert ann.call("PUT", f"tasks/{task}/draft", {"form": form, "version": 0}).status_code == 200
    page = ann.client.get(f"/s/{plans.number}/rate/{task}")
    assert page.status_code == 200
    answer = ann.call("PUT", f"tasks/{task}/draft", {"form": {}, "version": 0})
    assert answer.status_code == 409
    body = {"form": form, "request": "an-odd-form", "version": 1}
    assert ann.call("POST", f"tasks/{task}/rating", body).status_code == 422
    unknown = ann.call("PUT", f"tasks/{task}/draft", {"form": {"scores": 1}, "version": 1})
    assert unknown.status_code == 422
