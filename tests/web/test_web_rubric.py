"""Rubrics to read, compare and change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.study.study_kit import PLANS, as_, new_study, panel, plan_item
from tests.web.conftest import Signed
from tests.web.disagreeing import FREE, ITEM, disagreeing, hand_in

from calibrant import Rubric, load_rubric
from calibrant.core.plan import Plan
from calibrant.formats.handbook import Grid, Heading
from calibrant.formats.rubric_file import builtin_names, parse_rubric
from calibrant.formats.rubric_text import rubric_yaml
from calibrant.web.handbook_view import handbook_view
from calibrant.web.workspace import Workspace

Enter = Callable[..., Signed]


def changed(rubric: Rubric, version: str = "1.1", **more: object) -> Rubric:
    first, *rest = rubric.criteria
    criteria = (first.model_copy(update={"question": "Is it of use?"}), *rest)
    return rubric.model_copy(update={"version": version, "criteria": criteria, **more})


@pytest.mark.parametrize("name", builtin_names())
def test_the_text_of_a_rubric_reads_back(name: str) -> None:
    rubric = load_rubric(name)
    assert parse_rubric(rubric_yaml(rubric)).hash == rubric.hash


@pytest.mark.parametrize("name", builtin_names())
def test_every_heading_and_anchor_has_a_place_of_its_own(name: str) -> None:
    rubric = load_rubric(name)
    view = handbook_view(rubric)
    ids = [one.block.id for one in view.blocks if isinstance(one.block, Heading) and one.block.id]
    places = [place for one in view.blocks for place in one.places]
    assert len({*ids, *places}) == len(ids) + len(places)
    for one in rubric.criteria:
        assert {f"anchor-{one.id}-{level}" for level in one.anchors} <= set(places)
    assert all(len(one.places) == len(one.block.rows) for one in view.blocks
               if isinstance(one.block, Grid) and one.places)  # fmt: skip


def test_built_in_handbooks_are_for_everybody_who_is_signed_in(client: Enter) -> None:
    zoe = client("zoe")
    listed = zoe.get("/rubrics").text
    for name in builtin_names():
        assert f'href="/rubrics/{name}"' in listed
        assert load_rubric(name).title in zoe.get(f"/rubrics/{name}").text
    assert zoe.get("/rubrics/nothing").status_code == 404
    assert zoe.get("/api/v1/rubrics/ai-response").json()["version"] == "1.0"
    assert zoe.get("/api/v1/rubrics/nothing").status_code == 404
    assert client().get("/rubrics", follow_redirects=False).status_code == 303


def test_a_version_is_replayed_and_then_adopted(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    lena = client("lena")
    here = f"/s/{study.number}/rubric/next"
    assert "Version 1.0 is in force" in lena.get(here).text
    text = rubric_yaml(changed(FREE))
    looked = lena.send_form(here, act="replay", yaml=text)
    name = FREE.criterion_ids[0]
    assert looked.status_code == 200 and "Is it of use?" in looked.text
    assert f"to be asked again: {name}" in looked.text.replace("\n", " ")
    assert study.rubric().version == "1.0"
    bare = lena.send_form(here, act="adopt", yaml=text, why="")
    assert bare.status_code == 422 and "choose a cause" in bare.text
    done = lena.send_form(
        here, act="adopt", yaml=text, cause="rater_feedback", why="too vague for career advice"
    )
    assert done.status_code == 303 and study.rubric().version == "1.1"
    for name in ("lena", "ann"):
        shown = client(name).get(f"/s/{study.number}/rubric/history").text
        assert "raters said so" in shown and "Is it of use?" in shown
        assert "too vague for career advice" in shown
    old = lena.get(f"/s/{study.number}/rubric?version=1.0").text
    assert "no longer in force" in old
    assert lena.get(f"/s/{study.number}/rubric?version=7").status_code == 404


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id: [", "has mistakes"),
        (rubric_yaml(changed(FREE, "1.0")), "needs a higher version"),
        (rubric_yaml(load_rubric("ai-response")), "is another rubric"),
    ],
)
def test_what_is_no_next_version_is_told_and_kept(
    workspace: Workspace, client: Enter, text: str, told: str
) -> None:
    study = disagreeing(workspace.plain)
    back = client("lena").send_form(f"/s/{study.number}/rubric/next", act="replay", yaml=text)
    assert back.status_code == 422 and told in back.text
    assert text[:40].strip().splitlines()[0] in back.text


def test_a_file_becomes_text_and_nothing_else(workspace: Workspace, client: Enter) -> None:
    study = new_study(workspace.plain)
    lena = client("lena")
    path = f"/s/{study.number}/rubric/next/upload"
    file = {"file": ("r.yaml", rubric_yaml(changed(PLANS, "2.0")).encode(), "text/html")}
    shown = lena.post(path, data={"csrf": lena.csrf}, files=file)
    assert "Is it of use?" in shown.text and study.rubric().version == PLANS.version
    broken = {"file": ("r.yaml", b"\xff\xfe\x00", "text/yaml")}
    assert lena.post(path, data={"csrf": lena.csrf}, files=broken).status_code == 422
    assert lena.send_form(path).status_code == 422


def test_who_sees_what_of_a_rubric(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    root = f"/s/{study.number}/rubric"
    for name in ("lena", "ann", "ada", "vic"):
        found = client(name)
        assert found.get(root).status_code == 200
        assert found.get(f"{root}/history").status_code == 200
        shown = found.get(f"{root}/troubles")
        assert shown.status_code == 200 and "Trouble by criterion" in shown.text
        assert ("/discuss" in shown.text.partition("<main")[2]) is (name != "vic")
        assert found.get(f"{root}/next").status_code == (200 if name == "lena" else 403)
    assert client("zoe").get(root).status_code == 404


def test_an_open_round_tells_nothing_of_where_raters_disagree(
    workspace: Workspace, client: Enter
) -> None:
    """Neither while no round is closed, nor by what comes in afterwards."""
    study = new_study(workspace.plain, FREE)
    study.add_items([plan_item(number) for number in range(2)])
    panel(study, "ann", "bob", "cy")
    study.add_member("vic", roles=("viewer",))
    study.plan_round("main", plan=Plan(way="everyone"), raters=("ann", "bob"))
    study.open_round(1, override="for the test")
    path = f"/s/{study.number}/rubric/troubles"
    for name in ("ann", "vic"):
        assert "Nothing to compare yet" in client(name).get(path).text
    for name, value in (("ann", "1"), ("bob", "4")):
        hand_in(study, name, "plan-000", value, edge_case="a near thing")
        as_(study, name).ask("What is clear?", criterion="clarity")
    for name in ("ann", "bob", "cy", "vic"):
        found = as_(study, name).troubles()
        assert not any(one.disagreements or one.unclear or one.edge_cases for one in found)
        asked = {one.criterion: one.questions for one in found if one.questions}
        assert asked == ({"clarity": 1} if name in ("ann", "bob") else {}), "one's own"
        assert "Nothing to compare yet" in client(name).get(path).text
    study.close_round(1, reason="time is up")
    seen = {one.criterion: one for one in as_(study, "vic").troubles()}
    assert (seen["clarity"].disagreements, seen["clarity"].edge_cases) == (1, 2)
    assert "Trouble by criterion" in client("ann").get(path).text


def test_trouble_is_counted_by_criterion(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    study.discuss(1, ITEM, "clarity", outcome="what is clear?", participants=["ann"], unclear=True)
    shown = client("ada").get(f"/s/{study.number}/rubric/troubles").text
    titles = [one.title for one in FREE.criteria]
    first = min(titles, key=lambda title: shown.index(f">{title}<"))
    assert first == FREE.criterion("clarity").title


def test_programs_read_and_refine(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    lena = client("lena")
    root, head = f"/api/v1/studies/{study.number}/rubric", {"x-calibrant-csrf": lena.csrf}
    text = rubric_yaml(changed(FREE))
    seen = lena.post(f"{root}/replay", json={"text": text}, headers=head).json()
    assert seen["diff"]["ask_again"] == [FREE.criterion_ids[0]]
    assert seen["flipped"] == len(seen["flips"])
    body = {"text": text, "cause": "rater_feedback", "why": "asked for"}
    assert lena.post(f"{root}/versions", json=body, headers=head).status_code == 201
    used = lena.get(f"{root}/versions").json()["versions"]
    assert [(one["version"], one["why"]) for one in used] == [("1.0", ""), ("1.1", "asked for")]
    found = lena.get(f"{root}/diff?old=1.1&new=1.0").json()
    assert (found["old"], found["new"]) == (FREE.name, changed(FREE).name)
    assert lena.get(root).json()["version"] == "1.1"
    assert lena.get(f"{root}?version=1.0").json()["hash"] == FREE.hash
    assert lena.get(f"{root}/troubles").json()["troubles"]
    wrong = lena.post(f"{root}/replay", json={"text": "id: ["}, headers=head)
    assert wrong.status_code == 422 and wrong.json()["error"]
