"""Rating in a browser without scripts: forms, drafts, faults at their fields, corrections."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from importlib import resources
from typing import Any

import pytest
from tests.study.study_kit import COACHING, RESPONSES, as_
from tests.web.conftest import Signed
from tests.web.rate_kit import a_conversation, rating_study

from calibrant import Study, Submission
from calibrant.core.study import Key
from calibrant.web.refs import task_ref
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
PLAN_ANSWERS = {
    f"answers.{one}": "4"
    for one in ("usefulness", "smart_adherence", "realism", "inclusivity", "clarity")
}


def hidden(page: str) -> dict[str, str]:
    """What the form on a page sends of itself."""
    form = page[page.index('id="rating"') :]
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in found}


def task_of(page: str) -> str:
    found = re.search(r'data-task="([^"]+)"', page)
    assert found is not None
    return found[1]


def started(client: Client, study: Study, name: str = "ann") -> tuple[Signed, str, dict[str, str]]:
    """Somebody at their first item: who, its reference, and the fields that are sent along."""
    one = client(name)
    page = one.get(f"/s/{study.number}/rate")
    assert page.status_code == 200, page.text
    return one, task_of(page.text), hidden(page.text)


@pytest.fixture
def plans(workspace: Workspace) -> Study:
    return rating_study(workspace.plain, clock=workspace.clock)


def test_a_form_without_scripts_goes_round(plans: Study, client: Client) -> None:
    ann, task, sent = started(client, plans)
    at = f"/s/{plans.number}/rate/{task}"
    page = ann.get(at).text
    assert "The person" in page and "not stated" in page and "2 of 5: rather anxious" in page
    assert "Think of a competent career adviser" in page

    item = re.search(r'data-item="([^"]+)"', page)
    assert item is not None
    typed = {
        **sent,
        **PLAN_ANSWERS,
        "notes.clarity": "short\r\nand plain",
        "borderline.clarity": "1",
        "evidence.clarity": ["Write a short CV", ""],
        "flags.lacked_resources": "1",
        "flag_evidence.lacked_resources": ["Write a short CV", "a computer at home"],
        "edge_case": "no dates at all",
        "action": "submit",
    }
    answer = ann.post(at, data=typed, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    following = answer.headers["location"]
    assert following.startswith(f"/s/{plans.number}/rate/") and "sitting=" in following
    assert f"{item[1]} is handed in." in ann.get(following).text

    (rating,) = as_(plans, "ann").my_ratings()
    assert rating.key.item == item[1]
    assert rating.words is not None
    assert rating.words["notes"] == {"clarity": "short\nand plain"}
    assert rating.words["evidence"] == {"clarity": ["Write a short CV"]}
    assert rating.facts["flags"] == ["lacked_resources"]
    assert rating.facts["sitting"] == {"id": sent["sitting.id"], "position": 1}
    assert rating.started_at == sent["started_at"]
    # the same form once more, by the button Back: it is one rating
    assert ann.post(at, data=typed, follow_redirects=False).headers["location"].endswith(task)
    assert len(as_(plans, "ann").my_ratings()) == 1


def test_a_page_that_is_read_ahead_is_as_it_will_be(plans: Study, client: Client) -> None:
    """What is handed in by then is done, and beside nothing; by reading alone nothing is done."""
    ann, task, _ = started(client, plans)
    first = f"/s/{plans.number}/rate/{task}"
    (after,) = re.findall('data-after="([^"]+)"', ann.get(first).text)

    def place(page: str) -> list[tuple[str, str]]:
        return re.findall(r'data-before="([^"]*)"|class="numbers">(\d+) of', page)[:2]

    assert place(ann.get(f"{after}?leaving={task}").text) == [("", ""), ("", "2")]
    assert place(ann.get(after).text) == [(first, ""), ("", "1")]
    assert ann.get(f"{after}?leaving=nothing").status_code == 404


def test_a_draft_is_saved_and_shown_again(plans: Study, client: Client) -> None:
    ann, task, sent = started(client, plans)
    at = f"/s/{plans.number}/rate/{task}"
    typed = {**sent, "answers.realism": "2", "notes.realism": "too <much>", "action": "save"}
    assert ann.post(at, data=typed, follow_redirects=False).headers["location"] == at
    page = ann.get(at).text
    assert re.search(r'name="answers.realism" value="2"[^>]* checked', page)
    assert "too &lt;much&gt;" in page
    assert hidden(page)["version"] == "1"
    # the next page is still this one: it is held
    assert task_of(ann.get(f"/s/{plans.number}/rate").text) == task


def test_faults_stand_at_their_fields_and_nothing_typed_is_lost(
    plans: Study, client: Client
) -> None:
    ann, task, sent = started(client, plans)
    typed = {
        **sent,
        **PLAN_ANSWERS,
        "answers.clarity": "",
        "borderline.realism": "1",
        "evidence.realism": "never said",
        "flags.medical_advice": "1",
        "note": "kept all the same",
    }
    answer = ann.post(f"/s/{plans.number}/rate/{task}", data=typed)
    assert answer.status_code == 422
    wrong = {
        name: re.sub("<[^>]+>", "", text)
        for name, text in re.findall(r'id="wrong-([^"]+)">(.*?)</div>', answer.text)
        if text
    }
    assert "Not answered" in wrong["answers.clarity"]
    assert "has no note" in wrong["notes.realism"]
    assert "does not stand in the item" in wrong["evidence.realism"]
    assert "Needs the words" in wrong["flags.medical_advice"]
    assert set(wrong) == {
        "answers.clarity", "notes.realism", "evidence.realism", "flags.medical_advice"
    }  # fmt: skip
    assert "kept all the same" in answer.text and "never said" in answer.text
    assert hidden(answer.text)["request"] == sent["request"]
    assert as_(plans, "ann").my_ratings() == []


def test_tags_and_sub_questions(workspace: Workspace, client: Client) -> None:
    study = rating_study(workspace.plain, "response", clock=workspace.clock)
    ann, task, sent = started(client, study)
    answers = {f"answers.{one}": "3" for one in RESPONSES.criterion_ids}
    typed = {**sent, **answers, "tags.tone_bias": ["political", "selection"]}
    answer = ann.post(f"/s/{study.number}/rate/{task}", data=typed, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    (rating,) = as_(study, "ann").my_ratings()
    assert rating.facts["tags"] == {"tone_bias": ["political", "selection"]}

    coaching = rating_study(workspace.plain, "conversation", clock=workspace.clock)
    ann, task, sent = started(client, coaching)
    page = ann.get(f"/s/{coaching.number}/rate/{task}").text
    ruled = re.findall(r"decided: NA</span> because ([^<]+)<", page)
    assert ruled, "two exchanges leave nothing to say about some criteria"
    answers = {
        f"answers.{one}": "YES" for one in COACHING.criterion_ids if f'"answers.{one}"' in page
    }
    assert len(answers) == len(COACHING.criteria) - len(ruled)
    typed = {**sent, **answers, "sub_answers.CQ9.crisis_signals": "NO"}
    answer = ann.post(f"/s/{coaching.number}/rate/{task}", data=typed, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    (rating,) = as_(coaching, "ann").my_ratings()
    assert rating.words is not None
    assert rating.words["sub_answers"] == {"CQ9": {"crisis_signals": "NO"}}
    assert len(rating.facts["reasons"]) == len(ruled)


def test_two_tabs_without_scripts_are_shown_both_versions(plans: Study, client: Client) -> None:
    ann, task, sent = started(client, plans)
    at = f"/s/{plans.number}/rate/{task}"
    ann.post(at, data={**sent, "answers.realism": "2", "action": "save"})
    other = ann.post(at, data={**sent, "answers.realism": "5", "action": "save"})
    assert other.status_code == 409
    row = re.search(r'<th scope="row">Realism</th><td[^>]*>(\d)</td><td[^>]*>(\d)</td>', other.text)
    assert row is not None and row.groups() == ("5", "2")
    again = {**hidden(other.text), "answers.realism": "5", "action": "save"}
    assert ann.post(at, data=again, follow_redirects=False).status_code == 303


def test_nothing_to_rate_is_said_in_words(
    plans: Study, workspace: Workspace, client: Client
) -> None:
    plans.add_member("eve")
    assert "Nothing to rate yet" in client("eve").get(f"/s/{plans.number}/rate").text
    ann = as_(plans, "ann")
    for task in ann.claim(token="terminal", limit=9):
        assert task.lease == "terminal"
    assert "open in another program" in client("ann").get(f"/s/{plans.number}/rate").text


def test_an_item_open_in_a_terminal_is_not_taken_away(plans: Study, client: Client) -> None:
    (task,) = as_(plans, "ann").claim(token="terminal")
    answer = client("ann").get(f"/s/{plans.number}/rate/{task_ref(task.key)}")
    assert answer.status_code == 409 and "open in another program until" in answer.text


def test_the_rubric_is_read_first(workspace: Workspace, client: Client) -> None:
    study = rating_study(workspace.plain, clock=workspace.clock, ready=False)
    ann = client("ann")
    page = ann.get(f"/s/{study.number}/rate").text
    assert "Read the rubric first" in page and "SMART Adherence" in page
    assert f'href="/s/{study.number}/rubric"' in page
    answer = ann.send_form(f"/s/{study.number}/acknowledge")
    assert answer.headers["location"] == f"/s/{study.number}/rate"
    assert 'id="rating"' in ann.get(f"/s/{study.number}/rate").text


def handed_in(study: Study, name: str, value: str = "4") -> Key:
    mine = as_(study, name)
    (task,) = mine.claim(token="web")
    answers = dict.fromkeys(task.rubric.criterion_ids, value)
    form = {"answers": answers, "notes": {"realism": f"secret of {name}"}}
    mine.submit(Submission(key=task.key, form=form, request=f"{name}/{task.key.item}"))
    return task.key


def test_own_ratings_are_listed_and_corrected_while_the_round_is_open(
    plans: Study, client: Client
) -> None:
    key = handed_in(plans, "ann")
    ann, at = client("ann"), f"/s/{plans.number}/past/{task_ref(key)}"
    listed = ann.get(f"/s/{plans.number}/past").text
    assert key.item in listed and at in listed
    page = ann.get(at).text
    assert re.search(r'name="answers.realism" value="4"[^>]* checked', page)
    assert "secret of ann" in page
    typed: dict[str, Any] = {**hidden(page), **PLAN_ANSWERS, "answers.realism": "2"}
    answer = ann.post(at, data={**typed, "reason": "read again"}, follow_redirects=False)
    assert answer.headers["location"] == f"/s/{plans.number}/past"
    (rating,) = as_(plans, "ann").my_ratings()
    assert (rating.revision, rating.answers["realism"]) == (2, "2")
    assert "corrected" in ann.get(f"/s/{plans.number}/past").text
    # a page of before is stale, and shows both
    stale = ann.post(at, data={**typed, "request": "another-act", "answers.realism": "5"})
    assert stale.status_code == 409 and "What is kept" in stale.text

    plans.close_round(1, reason="time is up")
    page = ann.get(at).text
    assert "The round is closed" in page and 'id="submit"' not in page
    refused = ann.post(at, data={**typed, "request": "a-third-act", "version": "2"})
    assert refused.status_code == 422 and "closed" in refused.text
    assert as_(plans, "ann").my_ratings()[0].revision == 2


def test_whoever_has_rated_is_sent_to_their_rating(plans: Study, client: Client) -> None:
    key = handed_in(plans, "ann")
    answer = client("ann").get(f"/s/{plans.number}/rate/{task_ref(key)}", follow_redirects=False)
    assert answer.headers["location"] == f"/s/{plans.number}/past/{task_ref(key)}"


def test_the_lead_is_asked_without_leaving(plans: Study, client: Client) -> None:
    ann, task, _ = started(client, plans)
    at = f"/s/{plans.number}/rate/{task}"
    answer = ann.send_form(f"{at}/ask", text="Does a bus count?", criterion="realism")
    assert answer.headers["location"] == at
    (asked,) = plans.questions()
    assert (asked.text, asked.criterion, asked.by) == ("Does a bus count?", "realism", "ann")


def test_nothing_of_others_is_in_any_response(plans: Study, client: Client) -> None:
    for _ in range(3):
        handed_in(plans, "bob", value="1")
    bobs = Key(round=1, item="plan-001", rater="bob")
    mine, task, _ = started(client, plans)
    as_(plans, "bob").ask("what is SMART to bob?", item="plan-001")
    root, api = f"/s/{plans.number}", f"/api/v1/studies/{plans.number}"
    for path in (
        f"{root}/rate", f"{root}/rate/{task}", f"{root}/rate/{task_ref(bobs)}", f"{root}/past",
        f"{root}/past/{task_ref(bobs)}", f"{api}/tasks/next", f"{api}/tasks/{task}",
        f"{api}/ratings/mine", f"{api}/duties",
    ):  # fmt: skip
        answer = mine.get(path)
        told = answer.text + str(answer.headers)
        for secret in ("secret of bob", "bob", "m-1", "what is SMART to"):
            assert secret not in told, (path, secret)
    assert mine.get(f"{root}/past/{task_ref(bobs)}").status_code == 404


def test_a_task_that_is_not_ones_own_is_not_found(plans: Study, client: Client) -> None:
    plans.add_member("eve")
    for name, status in (("eve", 404), ("lena", 403), ("stranger", 404)):
        one = client(name)
        key = Key(round=1, item="plan-001", rater=name)
        for path in (f"rate/{task_ref(key)}", f"past/{task_ref(key)}"):
            assert one.get(f"/s/{plans.number}/{path}").status_code == status, (name, path)
            posted = one.send_form(f"/s/{plans.number}/{path}", action="submit")
            assert posted.status_code == status, (name, path)
    assert client("ann").get(f"/s/{plans.number}/rate/nonsense").status_code == 404


def test_checks_that_the_rubric_shows_are_shown_and_kept_with_the_rating(
    workspace: Workspace, client: Client
) -> None:
    raw = COACHING.model_dump(mode="json", exclude_defaults=True)
    raw["checks"] = [{"name": "conversation_endings", "show_while_rating": True}]
    rubric = type(COACHING).model_validate(raw)
    study = rating_study(
        workspace.plain, "conversation", clock=workspace.clock, rubric=rubric,
        make=lambda number: a_conversation(number, exchanges=12),
    )  # fmt: skip
    ann, task, sent = started(client, study)
    page = ann.get(f"/s/{study.number}/rate/{task}").text
    assert "Measured by code" in page and sent["shown"] == "conversation_endings"
    measured = page[page.index("Measured by code") : page.index('id="rating"')]
    assert "suggest" not in measured
    answers = {f"answers.{one}": "YES" for one in rubric.criterion_ids}
    ann.post(f"/s/{study.number}/rate/{task}", data={**sent, **answers})
    (rating,) = as_(study, "ann").my_ratings()
    assert rating.facts["shown"] == ["conversation_endings"]


def test_all_scripts_of_the_page_are_fetched_at_once(plans: Study, client: Client) -> None:
    page = client("ann").get(f"/s/{plans.number}/rate").text
    fetched = set(re.findall(r'(?:modulepreload" href|module" src)="/static/\w+/js/(\w+)', page))
    folder = resources.files("calibrant.web") / "static" / "js"
    wanted, ahead = set[str](), ["rate"]
    while ahead:
        name = ahead.pop()
        wanted.add(name)
        text = (folder / f"{name}.js").read_text("utf-8")
        ahead += set(re.findall(r'^import .* from "\./(\w+)\.js"', text, re.M)) - wanted
    assert fetched == wanted | {"page"}
