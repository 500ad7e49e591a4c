"""From /studies/new to an open round by plain forms; rubrics chosen, written and brought."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.web.conftest import Signed
from tests.web.lead_kit import alert, path_of, send, send_file, settled, words

from calibrant.web.begin import proof_of, starting_text
from calibrant.web.refs import item_ref
from calibrant.web.workspace import Workspace

NEW, WRITE = "/studies/new", "/studies/new/rubric"
CSV = "id,question,response\n" + "".join(f"q-{at},What is {at}?,It is {at}.\n" for at in range(20))


@pytest.fixture
def lena(client: Callable[..., Signed]) -> Signed:
    """She looks after the workspace, and leads nothing yet."""
    return client("lena", owner=True)


def names(workspace: Workspace) -> list[str]:
    return [record.name for _, record in workspace.store.read(lambda tx: tx.studies())]


def test_a_study_from_nothing_to_an_open_round_by_plain_forms(
    lena: Signed, client: Callable[..., Signed]
) -> None:
    assert "Begin a study" in words(lena.get("/"))
    form = lena.get(NEW)
    assert "15 criteria" in words(form) and "Judges action plans" in words(form)
    here = send(lena, NEW, act="begin", title="Answers, spring", rubric="ai-response")
    assert path_of(here) == "/s/1/items" and "No items yet" in words(here)
    assert 'aria-current="step"' in here.text

    shown = send_file(lena, "/s/1/items/upload", "answers.csv", CSV.encode())
    here = settled(lena, send(lena, f"{path_of(shown)}/take", check="1"))
    assert "20 items taken in." in words(here) and "Next: people" in words(here)

    links = send(lena, "/s/1/people/many", lines="ann, adviser\nbob, annotator", invite="yes")
    assert links.text.count("/invite/") == 2

    plan = lena.get("/s/1/rounds/plan")
    assert 'value="onboarding" checked' in plan.text or 'value="main" checked' in plan.text
    fields = {"kind": "main", "way": "per_item", "per_item": "1", "which": "all", "repeats": "0"}
    seen = send(lena, "/s/1/rounds/plan", act="preview", **fields)
    assert "20 items, 20 ratings" in words(seen) and "ann 10" in words(seen)
    assert "No round yet" in words(lena.get("/s/1/rounds"))
    kept = send(lena, "/s/1/rounds/plan", act="keep", **fields)
    assert path_of(kept) == "/s/1/rounds/1" and "Round 1 is planned." in words(kept)

    opened = send(lena, "/s/1/rounds/1/open", override="a trial, all know the rubric")
    assert "Round 1 is open." in words(opened)
    assert "setup" not in lena.get("/s/1/rounds").text.partition("<main")[2]
    assert client("ann").get("/s/1/rate").status_code == 200


def test_the_strip_shows_what_is_done_and_what_is_next(lena: Signed) -> None:
    here = send(lena, NEW, act="begin", title="T", rubric="ai-response")
    strip = words(here).partition("Items 0")[0]
    assert "Rubric : done" in strip and "Items : next" in strip and "People : later" in strip


def test_nothing_typed_is_lost_when_a_study_cannot_begin(
    lena: Signed, workspace: Workspace
) -> None:
    here = send(lena, NEW, act="begin", title="My title", start_on="2026-05-04", name="short")
    assert here.status_code == 422 and "Choose a rubric, or write one." in alert(here)
    assert 'value="My title"' in here.text and 'value="short"' in here.text
    untitled = send(lena, NEW, act="begin", title=" ", rubric="ai-response")
    assert "Give the study a title" in alert(untitled)
    assert 'value="ai-response" checked' in untitled.text
    odd = send(lena, NEW, act="begin", title="T", rubric="ai-response", start_on="tomorrow")
    assert "looks like 2026-03-02" in alert(odd)
    assert names(workspace) == []


def test_names_follow_from_titles_and_stay_apart(lena: Signed, workspace: Workspace) -> None:
    for _ in range(2):
        send(lena, NEW, act="begin", title="Spring: advice!", rubric="ai-response")
    assert names(workspace) == ["spring-advice", "spring-advice-2"]
    taken = send(lena, NEW, act="begin", title="T", name="spring-advice", rubric="ai-response")
    assert "choose another name" in alert(taken)


def test_only_owners_and_leads_begin_studies(
    lena: Signed, client: Callable[..., Signed], workspace: Workspace
) -> None:
    ann = client("ann")
    for path in (NEW, WRITE):
        assert ann.get(path).status_code == 403
    assert send(ann, NEW, act="begin", title="T", rubric="ai-response").status_code == 403
    assert send(ann, "/rubrics/check", yaml="x").status_code == 403
    send(lena, NEW, act="begin", title="T", rubric="ai-response")
    send(lena, "/s/1/people", name="ann", roles="lead")
    assert ann.get(NEW).status_code == 200


# -- writing a rubric


def test_a_rubric_is_written_from_a_template_and_begins_a_study(
    lena: Signed, workspace: Workspace
) -> None:
    page = send(lena, NEW, act="write", title="Mine", start_on="2026-05-04")
    assert 'value="Mine"' in page.text and "Nothing written yet" in words(page)
    page = send(lena, WRITE, act="start", like="starter", title="Mine", yaml="")
    assert "no mistakes" in words(page) and "The form, as raters will see it" in words(page)
    assert "Solves the problem" in words(page) and 'value="Mine"' in page.text
    own = starting_text("").replace("support-reply", "my-own")
    here = send(lena, WRITE, act="begin", title="Mine", yaml=own)
    assert path_of(here) == "/s/1/items"
    assert workspace.store.read(lambda tx: tx.studies())[0][1].rubric_id == "my-own"


def test_templates_are_good_rubrics() -> None:
    for like in ("", "starter", "ai-response", "smart-action-plan", "coaching-conversation"):
        assert proof_of(starting_text(like)).faults == ()


def test_every_mistake_is_told_with_its_line(lena: Signed, workspace: Workspace) -> None:
    wrong = starting_text("").replace("item_type: response", "item_typ: respons")
    wrong = wrong.replace("kind: ordinal", "kind: ordnal")
    page = send(lena, WRITE, act="check", title="T", yaml=wrong)
    line = wrong[: wrong.index("item_typ")].count("\n") + 1
    assert f'data-line="{line}"' in page.text
    assert "did you mean 'item_type'" in words(page) and "did you mean 'ordinal'" in words(page)
    assert "item_typ: respons" in page.text, "what was written stands there again"
    refused = send(lena, WRITE, act="begin", title="T", yaml=wrong)
    assert refused.status_code == 422 and "has mistakes" in alert(refused)
    assert names(workspace) == []


def test_what_is_written_is_not_replaced_unasked(lena: Signed) -> None:
    mine = "title: half a rubric"
    kept = send(lena, WRITE, act="start", like="ai-response", yaml=mine)
    assert kept.status_code == 422 and "half a rubric" in kept.text
    gone = send(lena, WRITE, act="start", like="ai-response", yaml=mine, replace="yes")
    assert "half a rubric" not in gone.text and "id: ai-response" in gone.text
    other = send(lena, WRITE, act="start", like="starter", yaml=starting_text("ai-response"))
    assert "support-reply" in other.text, "an untouched copy may go"


def test_a_rubric_is_brought_from_a_file(lena: Signed) -> None:
    path = f"{WRITE}/upload"
    text = starting_text("").replace("support-reply", "from-file").encode()
    page = send_file(lena, path, "../../rubric.yaml", text, title="Kept")
    assert "id: from-file" in page.text and "no mistakes" in words(page)
    assert 'value="Kept"' in page.text
    broken = send_file(lena, path, "r.yaml", b"a: \xff\xfe\xfa", yaml="before: this")
    assert "not UTF-8" in alert(broken) and "before: this" in broken.text
    large = send_file(lena, path, "r.yaml", b"x" * 2_000_001)
    assert "larger than 2 MB" in alert(large)
    none = send(lena, path, yaml="before: this")
    assert "Choose a file first" in alert(none)


def test_checking_gives_a_piece_of_a_page(lena: Signed) -> None:
    good = send(lena, "/rubrics/check", yaml=starting_text(""))
    assert "<html" not in good.text and "no mistakes" in good.text
    bad = send(lena, "/rubrics/check", yaml="a: [")
    assert "not YAML" in bad.text
    hostile = "&a [*a]\n<script>alert(1)</script>: {{7*7}}"
    told = send(lena, "/rubrics/check", yaml=hostile)
    assert told.status_code == 200 and "<script>" not in told.text
    header = lena.post("/rubrics/check", data={"yaml": "x"})
    assert header.status_code == 403, "a page of another site cannot ask"


def test_a_version_that_means_something_else_is_refused(lena: Signed) -> None:
    own = starting_text("")
    send(lena, WRITE, act="begin", title="One", yaml=own)
    other = own.replace("Solves the problem", "Solves it all")
    refused = send(lena, WRITE, act="begin", title="Two", yaml=other)
    assert refused.status_code == 422 and "1.0" in alert(refused)
    assert "Solves it all" in refused.text


# -- programs


def test_programs_begin_studies_too(lena: Signed) -> None:
    head = {"x-calibrant-csrf": lena.csrf}
    rubrics = lena.get("/api/v1/rubrics").json()
    assert {one["id"] for one in rubrics} >= {"ai-response", "smart-action-plan"}
    check = lena.post("/api/v1/rubrics/check", json={"text": "a: ["}, headers=head).json()
    assert check["valid"] is False and check["mistakes"][0]["line"]
    body = {"title": "By a program", "rubric": "ai-response", "start_on": "2026-03-02"}
    made = lena.post("/api/v1/studies", json=body, headers=head)
    assert made.status_code == 201 and made.json()["roles"] == ["lead"]
    assert made.json()["name"] == "by-a-program"
    assert lena.get("/api/v1/studies").json()["studies"] == [made.json()]
    assert lena.get(f"/api/v1/studies/{made.json()['number']}").json() == made.json()
    for wrong in (
        {"title": "T"},
        {"title": "T", "rubric": "none-such"},
        {"title": "T", "rubric": "ai-response", "rubric_text": "x"},
        {"title": "T", "rubric_text": "a: ["},
        {"title": " ", "rubric": "ai-response"},
    ):
        refused = lena.post("/api/v1/studies", json=wrong, headers=head)
        assert refused.status_code == 422 and refused.json()["error"]


def test_programs_add_items(lena: Signed) -> None:
    head = {"x-calibrant-csrf": lena.csrf}
    send(lena, NEW, act="begin", title="T", rubric="ai-response")
    base = "/api/v1/studies/1/items"
    good = [{"id": f"q-{at}", "question": "Why?", "response": str(at)} for at in range(3)]
    made = lena.post(base, json={"items": good}, headers=head)
    assert made.status_code == 201 and made.json() == {"added": 3, "known": 0, "mistakes": []}
    more = [
        good[0],
        {"id": "q-1", "question": "Why?", "response": "other"},
        {"id": "q-9"},
        {"id": "q-5", "question": "When?", "response": "Now."},
        {"id": "q-5", "question": "Again?", "response": "Now."},
        {"question": "no id", "response": "none"},
    ]
    refused = lena.post(base, json={"items": more}, headers=head)
    assert refused.status_code == 422 and len(refused.json()["faults"]) >= 4
    taken = lena.post(base, json={"items": more, "skip_bad": True}, headers=head).json()
    assert (taken["added"], taken["known"]) == (1, 1)
    assert {one["record"] for one in taken["mistakes"]} == {2, 3, 5, 6}
    first = lena.get(f"{base}?limit=2").json()
    assert [one["id"] for one in first["items"]] == ["q-0", "q-1"]
    assert (first["total"], first["next"]) == (4, 2)
    rest = lena.get(f"{base}?limit=2&after=2").json()
    assert [one["id"] for one in rest["items"]] == ["q-2", "q-5"] and rest["next"] is None
    ref = first["items"][0]["ref"]
    assert lena.get(f"{base}/{ref}").json()["content"]["response"] == "0"
    gone = lena.post(f"{base}/{ref}/redact", json={"reason": "a name"}, headers=head)
    assert gone.status_code == 200
    assert lena.get(base).json()["items"][0]["redacted"] is True
    assert lena.get(f"{base}/{ref}").status_code == 422
    strange = f"{base}/{item_ref('strange')}"
    assert lena.get(strange).status_code == 404
    assert lena.post(f"{strange}/redact", json={"reason": "x"}, headers=head).status_code == 404
