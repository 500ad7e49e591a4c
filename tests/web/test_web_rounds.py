"""Rounds in the browser: the workload is seen first, and so is what closing would do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.study.study_kit import PLANS, RESPONSES, plan_item, rate_all, response_item, same
from tests.web.conftest import Signed
from tests.web.lead_kit import alert, path_of, send, study_of, words

from calibrant.study.handle import Study
from calibrant.web.workspace import Workspace

BASE = {"kind": "main", "way": "everyone", "which": "all", "repeats": "0"}


@pytest.fixture
def lena(client: Callable[..., Signed]) -> Signed:
    return client("lena")


@pytest.fixture
def study(workspace: Workspace) -> Study:
    made = study_of(workspace, RESPONSES, "answers")
    made.add_items([response_item(at) for at in range(1, 21)])
    for name in ("ann", "bob", "cora"):
        made.add_member(name, group="adviser")
    return made


def base(study: Study, rest: str = "") -> str:
    return f"/s/{study.number}/rounds{rest}"


def preview(who: Signed, study: Study, **fields: str | list[str]) -> str:
    return words(send(who, base(study, "/plan"), **(BASE | {"act": "preview"} | fields)))


def test_the_workload_is_seen_before_anything_is_kept(lena: Signed, study: Study) -> None:
    assert "20 items, 60 ratings: every rater rates every item." in preview(lena, study)
    two = preview(lena, study, way="per_item", per_item="2", repeats="5")
    assert "2 raters an item; 5 % come again" in two
    some = preview(lena, study, way="overlap", share="20", minimum="0")
    assert "20 items, 28 ratings: 20 % of the items (at least 0)" in some
    few = preview(lena, study, which="sample", sample="6", raters=["ann", "bob"])
    assert "6 items, 12 ratings" in few and "ann 6 " in few
    assert few.partition("Kind")[0].count("cora") == 0
    these = preview(lena, study, which="listed", listed="r-001\nr-002\n")
    assert "2 items, 6 ratings" in these
    assert study.rounds() == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"way": "per_item", "per_item": "9"}, "needs 9 raters"),
        ({"way": "per_item", "per_item": "two"}, "whole number, not 'two'"),
        ({"way": "overlap", "share": "150", "minimum": "0"}, "from 0 to 1"),
        ({"way": "overlap", "share": "x", "minimum": "0"}, "number of per cent"),
        ({"repeats": "50"}, "Repeats must be 0, or from 0.05"),
        ({"which": "sample", "sample": "900"}, "there are 20"),
        ({"which": "sample", "sample": ""}, "whole number"),
        ({"which": "listed", "listed": "nope"}, "'nope' is not in this study"),
        ({"which": "listed", "listed": " "}, "Write the ids"),
        ({"raters": "zoe"}, "'zoe' does not rate"),
        ({"kind": "party"}, "A round is one of"),
        ({"way": "magic"}, "no plan 'magic'"),
    ],
)
def test_plans_that_make_no_sense_are_told_and_kept_as_typed(
    lena: Signed, study: Study, fields: dict[str, str], said: str
) -> None:
    shown = send(lena, base(study, "/plan"), **(BASE | {"act": "keep"} | fields))
    assert shown.status_code == 422 and said in alert(shown)
    typed = next(iter(fields.values()))
    assert not typed.strip() or typed in shown.text or typed in ("party", "magic", "zoe")
    assert study.rounds() == []


def test_without_items_or_people_the_page_says_what_to_do(
    workspace: Workspace, lena: Signed
) -> None:
    empty = study_of(workspace, PLANS, "empty")
    shown = words(lena.get(base(empty, "/plan")))
    assert "There are no items yet" in shown and "Nobody rates in this study yet" in shown
    refused = send(lena, base(empty, "/plan"), **BASE, act="preview")
    assert refused.status_code == 422 and "add items" in alert(refused)


def test_the_form_begins_as_the_rubric_would_have_it(workspace: Workspace, lena: Signed) -> None:
    plans = study_of(workspace, PLANS, "plans")
    asked = PLANS.calibration
    assert asked is not None
    shown = lena.get(base(plans, "/plan")).text
    kind = "onboarding" if asked.onboarding else "calibration"
    assert f'name="kind" value="{kind}" checked' in shown
    main = lena.get(base(plans, "/plan?kind=main")).text
    assert 'name="way" value="overlap" checked' in main


def test_what_is_missing_is_told_and_can_be_overridden_with_a_reason(
    workspace: Workspace, lena: Signed
) -> None:
    plans = study_of(workspace, PLANS, "plans")
    plans.add_items([plan_item(at) for at in range(30)])
    plans.add_member("ann")
    plans.add_member("bob")
    plans.plan_round("main")
    shown = lena.get(base(plans, "/1"))
    assert "a calibration round" in words(shown)
    assert f"{base(plans, '/plan?kind=calibration')}" in shown.text
    refused = send(lena, base(plans, "/1/open"))
    assert refused.status_code == 422 and "cannot open yet" in alert(refused)
    assert plans.rounds()[0].state == "planned"
    opened = send(lena, base(plans, "/1/open"), override="they calibrated last month")
    assert "Round 1 is open." in words(opened)
    told = [one for one in plans.journal() if one.kind == "override"]
    assert told[0].words == {"reason": "they calibrated last month"}


def test_closing_shows_first_what_would_happen(lena: Signed, study: Study) -> None:
    study.plan_round("main", items=["r-001", "r-002"])
    study.open_round(1, override="a trial")
    rate_all(study, "ann", same("3"))
    first = words(lena.get(base(study, "/1/close")))
    assert "4 assignments not done are withdrawn: bob 2, cora 2" in first
    assert "2 ratings stay" in first and "cannot be opened again" in first
    silent = send(lena, base(study, "/1/close"))
    assert silent.status_code == 422 and study.rounds()[0].state == "open"
    done = send(lena, base(study, "/1/close"), reason="enough for now")
    assert "Round 1 is closed." in words(done)
    assert study.rounds()[0].state == "closed"
    assert "only an open one is closed" in words(lena.get(base(study, "/1/close")))
    assert send(lena, base(study, "/1/close"), reason="again").status_code == 422


def test_a_round_that_is_done_closes_without_a_reason(lena: Signed, study: Study) -> None:
    study.plan_round("main", items=["r-001"])
    study.open_round(1, override="a trial")
    for name in ("ann", "bob", "cora"):
        rate_all(study, name, same("3"))
    assert "Every rating is in" in words(lena.get(base(study, "/1/close")))
    assert "is closed" in words(send(lena, base(study, "/1/close")))


def test_a_planned_round_is_dropped_and_its_items_are_free(lena: Signed, study: Study) -> None:
    study.plan_round("main")
    assert "60 assignments are withdrawn" in words(lena.get(base(study, "/1/drop")))
    assert send(lena, base(study, "/1/drop"), reason=" ").status_code == 422
    dropped = send(lena, base(study, "/1/drop"), reason="planned by mistake")
    assert path_of(dropped) == base(study) and "its items are free again" in words(dropped)
    assert "dropped" in words(lena.get(base(study, "/1")))
    assert "20 items, 60 ratings" in preview(lena, study)


def test_a_round_takes_in_items_that_came_later(lena: Signed, study: Study) -> None:
    study.plan_round("main")
    assert "Give out" not in words(lena.get(base(study, "/1")))
    study.add_items([response_item(at) for at in range(30, 35)])
    assert "Give out 5 more items" in words(lena.get(base(study, "/1")))
    assert "5 more items in round 1." in words(send(lena, base(study, "/1/extend")))
    assert "of 75 ratings" in words(lena.get(base(study, "/1")))


def test_rounds_that_are_not_there(lena: Signed, study: Study) -> None:
    for path in ("/9", "/x", "/9/close", "/-1/drop", "/01"):
        assert lena.get(base(study, path)).status_code == 404
    for act in ("open", "close", "drop", "extend"):
        assert send(lena, base(study, f"/9/{act}")).status_code == 404


def test_programs_plan_open_and_close(lena: Signed, study: Study) -> None:
    head = {"x-calibrant-csrf": lena.csrf}
    api = f"/api/v1/studies/{study.number}/rounds"
    body = {"kind": "main", "plan": {"way": "per_item", "raters": 2, "repeats": 0.05}}
    dry = lena.post(api, json=body | {"dry_run": True}, headers=head).json()
    assert dry["kept"] is False and sum(dry["workload"].values()) >= 40
    assert lena.get(api).json() == {"rounds": [], "waiting": 20}
    kept = lena.post(api, json=body, headers=head)
    assert kept.status_code == 201 and kept.json()["workload"] == dry["workload"]
    missing = lena.get(f"{api}/1/blockers").json()["missing"]
    assert missing == kept.json()["missing"]
    opened = lena.post(f"{api}/1/open", json={"override": "a trial"}, headers=head)
    assert opened.json()["state"] == "open"
    assert lena.get(api).json()["rounds"][0]["raters"]["ann"]["done"] == 0
    assert lena.post(f"{api}/1/close", json={}, headers=head).status_code == 422
    study.add_items([response_item(50)])
    assert lena.post(f"{api}/1/extend", headers=head).json() == {"round": 1, "items": 1}
    closed = lena.post(f"{api}/1/close", json={"reason": "enough"}, headers=head)
    assert closed.json()["state"] == "closed"
    calibration = {"kind": "calibration", "sample": 3}
    assert lena.post(api, json=calibration, headers=head).json()["items"] == 3
    dropped = lena.post(f"{api}/2/drop", json={"reason": "no"}, headers=head)
    assert dropped.status_code == 200
    assert lena.get(api).json()["rounds"][1]["state"] == "dropped"
    for wrong in ({"kind": "party"}, {"plan": {"way": "per_item"}}, {"plan": {"way": "overlap"}}):
        assert lena.post(api, json=wrong, headers=head).status_code == 422
    assert lena.post(f"{api}/9/open", json={}, headers=head).status_code == 404
