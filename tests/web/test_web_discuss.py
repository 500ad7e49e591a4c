"""Disagreements of a closed round are talked over: who may, what is shown, what is kept."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.study.study_kit import as_
from tests.web.conftest import Signed
from tests.web.disagreeing import ITEM, OTHER, STRICT, disagreeing

from calibrant.core.plan import Plan
from calibrant.web import kept
from calibrant.web.pages import discuss
from calibrant.web.refs import item_ref
from calibrant.web.workspace import Workspace

Enter = Callable[..., Signed]


def place(number: int, item: str = ITEM) -> str:
    return f"/s/{number}/discuss/1/{item_ref(item)}"


def masks(text: str) -> list[str]:
    return re.findall(r'name="participants" value="([^"]+)"', text)


def test_the_list_tells_what_waits(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain, kind="calibration")
    bob = client("bob")
    shown = bob.get(f"/s/{study.number}/discuss").text
    total = len(study.disputes(1))
    assert f"<strong>0 of {total}</strong>" in shown and "far apart" in shown
    assert not re.search(r"\bann\b", shown)
    study.discuss(1, ITEM, "realism", outcome="hours count", participants=["ann", "bob"])
    assert f"<strong>1 of {total}</strong>" in bob.get(f"/s/{study.number}/discuss").text
    only = bob.get(f"/s/{study.number}/discuss?round=1&only=open").text
    assert only.count("not yet") == total - 1 and ">noted<" not in only
    assert bob.get(f"/s/{study.number}/discuss?round=9").status_code == 404


def test_a_long_list_comes_in_pages(
    workspace: Workspace, client: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = disagreeing(workspace.plain, kind="calibration")
    study.discuss(1, ITEM, "realism", outcome="hours count", participants=["ann", "bob"])
    total = len(study.disputes(1))
    monkeypatch.setattr(discuss, "A_PAGE", 1)
    bob, here = client("bob"), f"/s/{study.number}/discuss?round=1"
    seen = [bob.get(f"{here}&at={at}").text for at in range(1, total + 1)]
    assert [text.count("not yet") + text.count(">noted<") for text in seen] == [1] * total
    assert all(f"<strong>1 of {total}</strong>" in text for text in seen)
    assert f"Page 1 of {total - 1}" in bob.get(f"{here}&only=open&at=0").text
    assert "at=2" in seen[0] and f"at={total - 1}" in seen[-1] and "Next page" not in seen[-1]


def test_on_a_large_study_what_waits_is_found_while_one_looks(
    workspace: Workspace, client: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = disagreeing(workspace.plain)
    monkeypatch.setattr(kept, "SMALL", 1)
    lena, here = client("lena"), f"/s/{study.number}"
    pages = {
        f"{here}/discuss": "disagreements have an outcome",
        place(study.number) + "?criterion=realism": "Who took part",
        f"{here}/adjudicate": "Cases that wait",
        f"{here}/adjudicate/{item_ref(ITEM)}?criterion=realism": "Cases that wait",
        f"{here}/rubric/troubles": "Trouble by criterion",
        f"{here}/people/{item_ref('ann')}/leave": "What will happen",
    }
    for address, says in pages.items():
        page = lena.get(address).text
        found = re.search(r'data-load="([^"]+now=true)" data-whole', page)
        assert (found is None) == (says in page), address  # kept for another page, or to come
        if found is not None:
            assert says in lena.get(found[1].replace("&amp;", "&")).text
        assert "data-load" not in lena.get(address).text
    study.add_lesson("an hour is short")  # something happened: what was kept serves no more
    assert "data-whole" in lena.get(f"{here}/adjudicate").text


def test_a_talk_has_a_thread_with_masked_names(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain, kind="calibration")
    ann, bob = client("ann"), client("bob")
    here = place(study.number)
    sent = ann.send_form(here, act="comment", criterion="realism", text="an <i>hour</i> a day?")
    assert sent.status_code == 303
    shown = bob.get(f"{here}?criterion=realism").text
    assert "an &lt;i&gt;hour&lt;/i&gt; a day?" in shown
    assert not re.search(r"\bann\b", shown)
    empty = ann.send_form(here, act="comment", criterion="realism", text="  ")
    assert empty.status_code == 422 and "needs a few words" in empty.text


def test_an_outcome_is_noted_and_the_next_one_comes(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain, kind="calibration")
    bob = client("bob")
    here = place(study.number)
    people = masks(bob.get(f"{here}?criterion=realism").text)
    assert "you" in people and len(people) == 2
    fields = {"act": "outcome", "criterion": "realism", "outcome": "hours count, travel too"}
    back = bob.send_form(here, **fields)
    assert back.status_code == 422 and "Say who took part" in back.text
    assert "hours count, travel too</textarea>" in back.text
    gone = bob.send_form(here, **fields, participants=people, unclear="yes", onward="yes")
    assert gone.status_code == 303 and gone.headers["location"] != f"{here}?criterion=realism"
    assert gone.headers["location"].startswith(f"/s/{study.number}/discuss/1/")
    (entry,) = [one for one in study.journal() if one.kind == "discussed"]
    assert entry.body == {"participants": ["ann", "bob"], "unclear": True}


def test_reviewers_settle_by_consensus_or_hand_on(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain, STRICT)
    bob = client("bob")
    here = place(study.number)
    shown = bob.get(f"{here}?criterion=realism").text
    assert "We agree: settle it" in shown
    people = masks(shown)
    none = bob.send_form(here, act="consensus", criterion="realism", outcome="so", value="",
                         participants=people)  # fmt: skip
    assert none.status_code == 422 and "Choose the answer" in none.text
    bob.send_form(
        here, act="consensus", criterion="realism", outcome="so", value="2", participants=people
    )
    bob.send_form(here, act="no_consensus", criterion="clarity", outcome="no", participants=people)
    kinds = [one.kind for one in study.journal() if one.item == ITEM and one.criterion]
    assert kinds == ["settled", "no_consensus"]
    after = bob.get(f"{here}?criterion=realism").text
    assert "We agree: settle it" not in after and "only an adjudicator changes that" in after
    assert bob.send_form(here, act="dance", criterion="realism").status_code == 422


def test_nobody_looks_before_they_may(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain, kind="calibration")
    study.plan_round("main", plan=Plan(way="everyone"), sample=2, raters=("cy",))
    study.open_round(2, override="for the test")
    cy = client("cy")  # both items are still on cy's list
    assert cy.get(f"{place(study.number)}?criterion=realism").status_code == 403
    shown = cy.get(f"/s/{study.number}/discuss").text
    assert "Nobody disagrees" in shown
    sent = cy.send_form(place(study.number), act="comment", criterion="realism", text="hm")
    assert sent.status_code == 403
    assert [one for one in study.journal() if one.kind == "comment"] == []
    assert client("vic").get(f"/s/{study.number}/discuss").status_code == 403
    assert (
        cy.get(f"/s/{study.number}/discuss/2/{item_ref(ITEM)}?criterion=realism").status_code == 404
    )
    assert cy.get(f"/s/{study.number}/discuss/x/{item_ref(ITEM)}").status_code == 404


def test_programs_do_the_same(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain, STRICT)
    bob = client("bob")
    root, head = f"/api/v1/studies/{study.number}", {"x-calibrant-csrf": bob.csrf}
    first = bob.get(f"{root}/rounds/1/disputes?limit=2").json()
    assert len(first["disputes"]) == 2 and first["next"] == 2
    assert first["total"] == len(as_(study, "bob").disputes(1))
    about = {"item": ITEM, "criterion": "realism"}
    for text in ("one", "two"):
        sent = bob.post(f"{root}/rounds/1/comments", json={**about, "text": text}, headers=head)
        assert sent.status_code == 201
    part = bob.get(f"{root}/rounds/1/comments?limit=1").json()
    rest = bob.get(f"{root}/rounds/1/comments?after={part['next']}").json()
    assert [one["text"] for one in part["comments"] + rest["comments"]] == ["one", "two"]
    file = bob.get(f"{root}/rounds/1/files/{item_ref(ITEM)}").json()
    people = [one["rater"] for one in file["voices"]]
    assert "you" in people and "ann" not in str(file)
    talk = {**about, "outcome": "so", "participants": people}
    assert bob.post(f"{root}/rounds/1/outcomes", json=talk, headers=head).status_code == 201
    no = {**about, "reason": "no", "participants": people}
    assert bob.post(f"{root}/no-consensus", json=no, headers=head).status_code == 201
    yes = {"item": OTHER, "criterion": "realism", "value": "2", "reason": "so",
           "participants": people}  # fmt: skip
    assert bob.post(f"{root}/consensus", json=yes, headers=head).status_code == 201
    assert bob.post(f"{root}/consensus", json=yes, headers=head).status_code == 422
    assert bob.get(f"{root}/rounds/7/disputes").status_code == 422
