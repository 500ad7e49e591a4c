"""The queue, a case, and its settlement: as pages, and for programs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.study.study_kit import as_
from tests.web.conftest import Signed
from tests.web.disagreeing import FREE, ITEM, QUOTE, RED, STRICT, disagreeing

from calibrant.web.refs import item_ref
from calibrant.web.workspace import Workspace

Enter = Callable[..., Signed]
HERE = f"/adjudicate/{item_ref(ITEM)}"


def path(number: int, criterion: str = "realism") -> str:
    return f"/s/{number}{HERE}?criterion={criterion}"


def test_the_first_case_of_the_queue_is_open(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    ada = client("ada")
    shown = ada.get(f"/s/{study.number}/adjudicate")
    assert shown.status_code == 200
    first = as_(study, "ada").queue()[0]
    assert FREE.criterion(first.criterion or "").title in shown.text
    assert shown.text.count('aria-current="true"') == 1
    assert "far apart" in shown.text


def test_a_case_shows_answers_reasons_and_quotations_of_masked_raters(
    workspace: Workspace, client: Enter
) -> None:
    study = disagreeing(workspace.plain)
    text = client("ada").get(path(study.number)).text
    assert "five &lt;b&gt;hours&lt;/b&gt; are few" in text
    assert re.search(rf'<mark class="said said-[12]">{QUOTE}</mark><sup class="said-by">', text)
    assert not re.search(r"\b(ann|bob)\b", text)
    for level in FREE.criterion("realism").anchors.values():
        assert level.text.split(".")[0] in text
    assert re.search(r'<span class="voice-who">rater [A-Z]', text)


def test_settling_goes_on_to_the_next_case(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    ada, before = client("ada"), as_(study, "ada").queue()
    gone = ada.send_form(
        f"/s/{study.number}{HERE}",
        criterion="realism",
        value="2",
        source="merged",
        error="missed_evidence",
        reason="the hours are few",
        unclear="yes",
        at="1",
    )
    strange = ada.send_form(
        f"/s/{study.number}{HERE}", criterion="clarity", value="2", reason="so", at="9" * 5000
    )
    assert strange.headers["location"].startswith(f"/s/{study.number}/adjudicate?at=0&")
    assert gone.status_code == 303
    assert gone.headers["location"].startswith(f"/s/{study.number}/adjudicate?at=1&")
    entry = next(one for one in study.journal() if one.kind == "settled")
    assert entry.body["value"] == "2" and entry.body["source"] == "merged"
    assert entry.body["error"] == "missed_evidence" and entry.body["unclear"]
    assert len(as_(study, "ada").queue()) == len(before) - 2
    again = ada.get(path(study.number)).text
    assert "Settled at 2 by a decision" in again and "Decide anew" in again


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"value": "2", "reason": " "}, "needs a few words"),
        ({"value": "", "reason": "so"}, "Choose the final answer"),
        ({"value": "9", "reason": "so"}, "is no answer to realism"),
        ({"value": "2", "reason": "so", "source": "stolen"}, "A final answer is one of adopted"),
    ],
)
def test_what_does_not_fit_is_told_and_nothing_typed_is_lost(
    workspace: Workspace, client: Enter, fields: dict[str, str], told: str
) -> None:
    study = disagreeing(workspace.plain)
    back = client("ada").send_form(
        f"/s/{study.number}{HERE}", criterion="realism", error="slip", **fields
    )
    assert back.status_code == 422 and told in back.text
    assert '<option value="slip" selected>' in back.text
    if fields["reason"].strip():
        assert ">so</textarea>" in back.text
    if fields["value"] == "2":
        assert 'value="2" checked' in back.text


def test_where_reviewers_try_first_their_attempt_is_noted_first(
    workspace: Workspace, client: Enter
) -> None:
    study = disagreeing(workspace.plain, STRICT)
    ada = client("ada")
    shown = ada.get(path(study.number)).text
    assert "The reviewers first" in shown and "The final answer" not in shown
    people = re.findall(r'name="participants" value="([^"]+)"', shown)
    assert len(people) == 3 and people[-1] == "you"
    place = f"/s/{study.number}{HERE}"
    refused = ada.send_form(f"{place}/attempt", criterion="realism", attempt="they read it apart")
    assert refused.status_code == 422 and "Say who took part" in refused.text
    noted = ada.send_form(
        f"{place}/attempt", criterion="realism", attempt="they differ", participants=people[:2]
    )
    assert noted.status_code == 303
    (entry,) = [one for one in study.journal() if one.kind == "no_consensus"]
    assert entry.body["participants"] == ["ann", "bob"]
    assert "The final answer" in ada.get(path(study.number)).text


def test_who_rated_the_item_is_told_that_another_decides(
    workspace: Workspace, client: Enter
) -> None:
    study = disagreeing(workspace.plain)
    study.set_roles("ann", ["reviewer", "adjudicator"])
    ann = client("ann")
    shown = ann.get(path(study.number)).text
    assert "You cannot decide this one." in shown and "The final answer" not in shown
    sent = ann.send_form(f"/s/{study.number}{HERE}", criterion="realism", value="2", reason="so")
    assert sent.status_code == 403


def test_flags_are_decided_in_their_place(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    as_(study, "bob").raise_flag(ITEM, what="red_flag", flag=RED, evidence=[QUOTE])
    (flag,) = study.flags()
    ada = client("ada")
    first = ada.get(f"/s/{study.number}/adjudicate").text  # safety first
    assert "Does it stand?" in first and f'<mark class="said said-3">{QUOTE}' in first
    beside = ada.get(path(study.number)).text
    assert "Decide it here" in beside
    place = f"/s/{study.number}{HERE}/flag"
    wrong = ada.send_form(place, number=str(flag.number), verdict="confirm", reason="", at="0")
    assert wrong.status_code == 422 and "needs a few words" in wrong.text
    sent = ada.send_form(
        place, number=str(flag.number), verdict="reject", reason="meant well", beside="realism"
    )
    assert sent.headers["location"].endswith("?criterion=realism")
    assert [one.state for one in study.flags()] == ["rejected"]
    for number in ("x", "²", "9" * 5000, ""):
        assert ada.send_form(place, number=number, verdict="confirm").status_code == 422


def test_an_item_that_is_only_flagged_can_be_decided_too(
    workspace: Workspace, client: Enter
) -> None:
    study = disagreeing(workspace.plain, kind="calibration")
    as_(study, "bob").raise_flag(ITEM, reason="look at this")
    ada = client("ada")
    assert "look at this" in ada.get(f"/s/{study.number}/adjudicate").text
    (flag,) = study.flags()
    ada.send_form(f"/s/{study.number}{HERE}/flag", number=str(flag.number), verdict="confirm",
                  reason="seen", at="0")  # fmt: skip
    assert "Nothing waits for you" in ada.get(f"/s/{study.number}/adjudicate").text


def test_there_is_no_case_of_nothing(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    ada = client("ada")
    assert ada.get(f"/s/{study.number}{HERE}").status_code == 404
    assert ada.get(f"/s/{study.number}{HERE}?flag=99").status_code == 404
    assert ada.get(f"/s/{study.number}/adjudicate/%00").status_code == 404
    assert ada.get(path(study.number, "nothing")).status_code == 422
    assert client("bob").get(path(study.number)).status_code == 403
    assert client("vic").get(f"/s/{study.number}/adjudicate").status_code == 403


def test_a_redacted_item_says_so(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    study.redact(ITEM, reason="asked for")
    shown = client("ada").get(path(study.number)).text
    assert "has been redacted" in shown and QUOTE not in shown


# -- for programs


def test_programs_read_the_queue_and_settle(workspace: Workspace, client: Enter) -> None:
    study = disagreeing(workspace.plain)
    ada = client("ada")
    root = f"/api/v1/studies/{study.number}"
    cases = ada.get(f"{root}/queue?limit=3").json()["cases"]
    assert len(cases) == 3 and cases[0]["causes"] == ["distance"]
    file = ada.get(f"{root}/cases/{cases[0]['ref']}").json()
    assert {one["answers"]["realism"] for one in file["voices"]} == {"1", "4"}
    assert file["content"]["actions"][0]["action"] == QUOTE
    head = {"x-calibrant-csrf": ada.csrf}
    body = {"criterion": "realism", "value": "3", "reason": "between them", "source": "merged"}
    done = ada.post(f"{root}/cases/{item_ref(ITEM)}/settlements", json=body, headers=head)
    assert done.status_code == 201
    assert [one.body["value"] for one in study.journal() if one.kind == "settled"] == ["3"]
    wrong = ada.post(f"{root}/cases/{item_ref(ITEM)}/settlements", json={**body, "value": "9"},
                     headers=head)  # fmt: skip
    assert wrong.status_code == 422 and "is no answer" in wrong.json()["error"]
    assert ada.post(f"{root}/cases/flags/99", json={"confirm": True, "reason": "x"},
                    headers=head).status_code == 422  # fmt: skip
    assert client("bob").get(f"{root}/queue").status_code == 403
