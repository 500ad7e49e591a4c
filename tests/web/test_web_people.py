"""People of a study: added, invited by a link that is shown once, given roles, leaving."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.study.study_kit import PLANS, as_, plan_item
from tests.web.conftest import Signed
from tests.web.lead_kit import alert, path_of, send, study_of, words

from calibrant.core.plan import Plan
from calibrant.study.handle import Study
from calibrant.web.people import read_people
from calibrant.web.refs import item_ref
from calibrant.web.workspace import Workspace


@pytest.fixture
def lena(client: Callable[..., Signed]) -> Signed:
    return client("lena")


@pytest.fixture
def study(workspace: Workspace) -> Study:
    return study_of(workspace, PLANS, "plans")


def base(study: Study, name: str = "") -> str:
    return f"/s/{study.number}/people" + (f"/{item_ref(name)}" if name else "")


def people(study: Study) -> dict[str, tuple[tuple[str, ...], str | None]]:
    return {one.name: (one.roles, one.group) for one in study.members()}


def link_in(text: str) -> str:
    found = re.search(r'value="http://[^"/]+(/invite/[^"]+)"', text)
    assert found is not None
    return found[1]


def test_a_person_is_added(lena: Signed, study: Study) -> None:
    here = send(lena, base(study), name=" ann ", group="adviser", roles=["reviewer", "viewer"])
    assert "ann takes part now." in words(here)
    assert people(study)["ann"] == (("reviewer", "viewer"), "adviser")
    again = send(lena, base(study), name="ann", group="x y", roles="reviewer")
    assert again.status_code == 422 and "member already" in alert(again)
    assert 'value="x y"' in again.text
    none = send(lena, base(study), name="bob")
    assert "without a role" in alert(none) and "bob" not in people(study)
    strange = send(lena, base(study), name="bob", roles="king")
    assert "'king' is no role" in alert(strange)


def test_several_are_added_or_nobody_is(lena: Signed, study: Study) -> None:
    bad = "ann, adviser\nann\nbob, annotator, king\nlena\na, b, c, d"
    refused = send(lena, f"{base(study)}/many", lines=bad)
    assert refused.status_code == 422
    for said in ("Line 2:", "Line 3: 'king'", "'lena' takes part already", "Line 5:"):
        assert said in alert(refused)
    assert "bob, annotator, king" in refused.text
    assert set(people(study)) == {"lena"}
    lines = "ann, adviser\n\nbob\tannotator\nvera, viewer\ncora;adviser;reviewer+adjudicator"
    assert "4 people take part now." in words(send(lena, f"{base(study)}/many", lines=lines))
    assert people(study) == {
        "lena": (("lead",), None),
        "ann": (("reviewer",), "adviser"),
        "bob": (("reviewer",), "annotator"),
        "vera": (("viewer",), None),
        "cora": (("reviewer", "adjudicator"), "adviser"),
    }
    assert "Write one person a line" in alert(send(lena, f"{base(study)}/many", lines=" "))


def test_a_list_has_an_end() -> None:
    wanted, wrong = read_people("\n".join(f"p{at}" for at in range(500)))
    assert len(wanted) == 200 and wrong == ["Line 201: at most 200 people at once."]


def test_a_link_is_shown_once_and_leads_in(
    lena: Signed, client: Callable[..., Signed], study: Study
) -> None:
    shown = send(lena, base(study), name="ann", roles="reviewer", invite="yes")
    link = link_in(shown.text)
    assert "shown once" in words(shown)
    listed = lena.get(base(study))
    assert "invited" in words(listed) and link not in listed.text
    ann = client()
    assert ann.get(link).status_code == 200
    done = ann.post(
        link, data={"password": "a long enough phrase", "again": "a long enough phrase"}
    )
    assert path_of(done) == f"/s/{study.number}"
    assert "account" in words(lena.get(base(study)))
    again = send(lena, f"{base(study, 'ann')}/invite")
    assert again.status_code == 422 and "has an account" in words(again)


def test_a_new_link_ends_the_old_and_links_are_taken_back(
    lena: Signed, client: Callable[..., Signed], study: Study
) -> None:
    first = link_in(send(lena, base(study), name="ann", roles="reviewer", invite="y").text)
    second = link_in(send(lena, f"{base(study, 'ann')}/invite").text)
    assert client().get(first).status_code == 404
    assert client().get(second).status_code == 200
    assert "is taken back" in words(send(lena, f"{base(study, 'ann')}/take-back"))
    assert client().get(second).status_code == 404
    assert "has none" in words(send(lena, f"{base(study, 'ann')}/take-back"))
    assert send(lena, f"{base(study, 'nobody')}/invite").status_code == 404


def test_a_lead_cannot_take_over_somebody_of_another_study(
    workspace: Workspace, lena: Signed, study: Study
) -> None:
    other = study_of(workspace, PLANS, "others", lead="otto")
    other.add_member("ann")
    shown = send(lena, base(study), name="ann", roles="reviewer", invite="yes")
    assert "takes part in another study" in words(shown) and "/invite/" not in shown.text


def test_roles_change_and_a_study_keeps_its_lead(lena: Signed, study: Study) -> None:
    study.add_member("ann")
    assert "ann is reviewer, adjudicator now" in words(
        send(lena, f"{base(study, 'ann')}/roles", roles=["adjudicator", "reviewer"])
    )
    only = send(lena, f"{base(study, 'lena')}/roles", roles=["viewer"])
    assert only.status_code == 422 and "only lead" in alert(only)
    none = send(lena, f"{base(study, 'ann')}/roles")
    assert none.status_code == 422
    study.set_roles("ann", ["lead"])
    gone = send(lena, f"{base(study, 'lena')}/roles", roles=["viewer"])
    assert path_of(gone) == f"/s/{study.number}"
    assert lena.get(base(study)).status_code == 403


def test_leaving_shows_what_becomes_of_the_work(
    workspace: Workspace, lena: Signed, client: Callable[..., Signed], study: Study
) -> None:
    study.add_items([plan_item(at) for at in range(6)])
    for name in ("ann", "bob", "cora"):
        study.add_member(name, group="adviser")
    study.plan_round("calibration", items=[f"plan-{at:03}" for at in range(3)])
    send(lena, f"{base(study, 'ann')}/invite")
    first = words(lena.get(f"{base(study, 'ann')}/leave"))
    assert "Round 1 (calibration): 0 done, 3 open." in first
    assert "3 items of it nobody else can take" in first
    assert study.members()[1].left_at is None
    silent = send(lena, f"{base(study, 'ann')}/leave", reason="")
    assert silent.status_code == 422 and study.members()[1].left_at is None
    done = send(lena, f"{base(study, 'ann')}/leave", reason="moved away")
    assert "ann has left. Nobody else can take 3 of their items." in words(done)
    assert workspace.links.waiting(study.number) == []
    assert client("ann").get(f"/s/{study.number}").status_code == 404
    assert "left already" in words(lena.get(f"{base(study, 'ann')}/leave"))


def test_what_leaving_would_do_is_what_it_does(lena: Signed, study: Study) -> None:
    study.add_items([plan_item(at) for at in range(9)])
    for name in ("ann", "bob", "cora"):
        study.add_member(name)
    study.plan_round("main", plan=Plan(way="per_item", raters=1))
    told = study.leave("ann", reason="", dry_run=True)
    shown = words(lena.get(f"{base(study, 'ann')}/leave"))
    moved = ", ".join(f"{name} {count}" for name, count in sorted(told.moved.items()))
    assert sum(told.moved.values()) == 3 and f"Open work goes to others: {moved}." in shown
    done = words(send(lena, f"{base(study, 'ann')}/leave", reason="moved away"))
    assert f"taken over: {moved}." in done
    only = lena.get(f"{base(study, 'lena')}/leave")
    assert only.status_code == 200 and "only lead" in alert(only)


def test_judges_and_checks_stand_apart_with_their_cards(lena: Signed, study: Study) -> None:
    study.add_member("judge-1", kind="LLM", card={"model": "tiny", "temperature": 0})
    shown = lena.get(base(study))
    assert "Judges and checks" in words(shown) and "tiny" in words(shown)
    card = lena.get(base(study, "judge-1"))
    assert "temperature" in words(card) and "Change the roles" not in words(card)


def test_names_are_text(lena: Signed, study: Study) -> None:
    bad = "<img src=x onerror=alert(1)>"
    send(lena, base(study), name=bad, group="<b>group</b>", roles="reviewer", invite="yes")
    for path in (base(study), base(study, bad), f"{base(study, bad)}/leave"):
        shown = lena.get(path)
        assert shown.status_code == 200
        assert "<img src=x" not in shown.text and "<b>group" not in shown.text
        assert bad in words(shown)


def test_only_leads_see_who_takes_part(
    lena: Signed, client: Callable[..., Signed], study: Study
) -> None:
    study.add_member("ann")
    assert client("ann").get(base(study)).status_code == 403
    assert client("zoe").get(base(study)).status_code == 404
    assert send(client("ann"), base(study), name="x", roles="lead").status_code == 403
    assert as_(study, "lena").members()[-1].name == "ann"


def test_programs_lead_people_too(
    lena: Signed, client: Callable[..., Signed], study: Study
) -> None:
    head = {"x-calibrant-csrf": lena.csrf}
    api = f"/api/v1/studies/{study.number}/members"
    made = lena.post(api, json={"name": "ann", "group": "adviser"}, headers=head)
    assert made.status_code == 201 and made.json()["roles"] == ["reviewer"]
    ref = made.json()["ref"]
    link = lena.post(f"{api}/{ref}/invitation", headers=head).json()
    assert client().get(link["address"]).status_code == 200
    assert lena.get(api).json()["members"][1]["invited_until"]
    taken = lena.delete(f"{api}/{ref}/invitation", headers=head)
    assert taken.json() == {"said": "it is taken back"}
    roles = lena.put(f"{api}/{ref}/roles", json={"roles": ["viewer"]}, headers=head)
    assert roles.json()["roles"] == ["viewer"]
    left = lena.post(f"{api}/{ref}/leave", json={"reason": "done"}, headers=head)
    assert left.json() == {"moved": {}, "left_over": []}
    assert lena.get(api).json()["members"][1]["left_at"]
    assert lena.post(api, json={"name": "ann"}, headers=head).status_code == 422
    assert lena.post(f"{api}/{item_ref('no')}/invitation", headers=head).status_code == 404
