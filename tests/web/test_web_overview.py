"""The overview: what each role is shown, what takes long, phases and steps moved from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.study.study_kit import as_, new_study
from tests.web.conftest import Signed
from tests.web.lively_kit import SECRET, lively

from calibrant import Study
from calibrant.core.errors import StudyError
from calibrant.web import kept
from calibrant.web.intervals import coefficient_words, interval_of, target_value
from calibrant.web.next_steps import next_steps
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]


def test_the_lead_is_told_what_to_do_next_and_where(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    page = client("lena").get("/s/1").text
    assert "What to do next" in page and "Answer 1 question" in page
    assert 'href="/s/1/questions"' in page and 'href="/s/1/rounds"' in page
    assert "Initial annotation" in page and "under way" in page
    assert "not reached" in page and '<svg class="interval"' in page
    assert 'id="loops"' in page and "Record “discuss”" in page
    assert "0 of 10" in page and "10 of 10" in page  # ann and bob in round 2


def test_red_flags_to_decide_are_told_as_a_part_of_those_open(
    workspace: Workspace, client: Client
) -> None:
    """Two numbers beside each other that count different things say so."""
    study = lively(workspace)
    page = client("lena").get("/s/1").text
    raised = [one for one in study.flags(state="raised") if one.what == "red_flag"]
    now = sum(one.round == 1 for one in raised)
    assert 0 < now < len(raised), "some of the open round, and some of the closed one"
    later = len(raised) - now
    assert f"flags open: {now} to decide now, {later} of rounds that are still open" in page
    assert f"Decide {now} of {len(raised)} open red flags: nothing passes that has one" in page


def test_a_reviewer_is_told_of_their_own_work_and_of_nobody_else(
    workspace: Workspace, client: Client
) -> None:
    lively(workspace)
    page = client("ann").get("/s/1").text
    assert "10 items wait for you" in page and "Only where it helps." in page
    assert "bob" not in page and "cat" not in page and SECRET not in page
    assert client("ann").get("/s/1/standing").status_code == 403


def test_an_adjudicator_and_a_viewer_see_closed_rounds_and_masked_names(
    workspace: Workspace, client: Client
) -> None:
    lively(workspace)
    for name in ("ada", "vic"):
        page = client(name).get("/s/1").text
        assert "Agreement against targets" in page and SECRET not in page
        assert ">bob<" not in page and "rater " in page
        assert "What to do next" not in page and "Finish it" not in page


def test_an_empty_study_says_how_to_begin(workspace: Workspace, client: Client) -> None:
    new_study(workspace.plain)
    page = client("lena").get("/s/1").text
    assert "Add items" in page and "No round yet" in page and "Nothing to compare yet" in page


def test_a_large_study_answers_at_once_and_the_rest_follows(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lively(workspace)
    monkeypatch.setattr(kept, "SMALL", 1)
    lena = client("lena")
    page = lena.get("/s/1").text
    assert 'data-load="/s/1/standing?part=true"' in page and "What to do next" not in page
    part = lena.get("/s/1/standing?part=true").text
    assert "What to do next" in part and "<html" not in part
    whole = lena.get("/s/1/standing").text
    assert "What to do next" in whole and "<html" in whole


def test_what_is_kept_is_ones_own_and_ends_when_something_happens(
    workspace: Workspace, client: Client
) -> None:
    study = lively(workspace)
    lena = client("lena")
    assert "Answer 1 question" in lena.get("/s/1").text
    waiting = next(one for one in study.questions() if not one.answers)
    study.answer_question(waiting.number, "Yes.")
    assert "Answer 1 question" not in lena.get("/s/1").text
    assert "bob" not in client("vic").get("/s/1/standing").text


def test_what_is_kept_is_not_computed_twice(workspace: Workspace) -> None:
    study, counted = lively(workspace), []
    found = kept.Kept()

    def compute(one: Any) -> int:
        counted.append(one.actor)
        return len(counted)

    assert [found.of(study, "it", compute) for _ in range(3)] == [1, 1, 1]
    assert found.of(as_(study, "vic"), "it", compute) == 2
    study.add_lesson("again")
    assert found.of(study, "it", compute) == 3
    assert counted == ["lena", "vic", "lena"]


def test_what_is_kept_takes_no_more_room_than_it_may(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, found = new_study(workspace.plain), kept.Kept()
    for number in range(kept.MOST + 5):
        found.of(study, f"thing {number}", lambda one: one.name)
    assert not found.serves(study, "thing 4") and found.serves(study, "thing 5")
    monkeypatch.setattr(kept, "LONGEST", -1.0)
    found.of(study, "last", lambda one: one.name)
    assert not found.serves(study, "thing 9")

    def broken(one: Study) -> str:
        raise StudyError("not now")

    with pytest.raises(StudyError):
        found.of(study, "broken", broken)
    assert found.of(study, "broken", lambda one: "mended") == "mended"


def test_a_lead_who_rates_sees_what_a_rater_sees(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    study.add_member("leo", roles=("lead", "reviewer"))
    page = client("leo").get("/s/1").text
    assert "What to do next" in page and "Nothing to rate just now" in page
    flags = client("leo").get("/s/1/flags?what=edge_case").text
    assert SECRET not in page and SECRET not in flags


def test_a_phase_is_finished_with_a_reason_and_nothing_typed_is_lost(
    workspace: Workspace, client: Client
) -> None:
    study = lively(workspace)
    lena = client("lena")
    sent = lena.send_form("/s/1/phases", phase="initial_annotation", move="finish")
    assert sent.status_code == 422 and "rated by everybody" in sent.text
    sent = lena.send_form(
        "/s/1/phases", phase="calibration", move="finish", override="we are <few>"
    )
    assert sent.status_code == 422 and "we are &lt;few&gt;" in sent.text
    sent = lena.send_form(
        "/s/1/phases", phase="initial_annotation", move="finish", override="we are few"
    )
    assert sent.status_code == 303
    assert study.phases()[0].state == "done"


def test_a_step_after_low_agreement_is_recorded(workspace: Workspace, client: Client) -> None:
    study = lively(workspace)
    loop = study.status().loops[0]
    lena = client("lena")
    wrong = lena.send_form("/s/1/steps", criterion=loop.criterion, step="retrain", note="we <met>")
    assert wrong.status_code == 422 and "we &lt;met&gt;" in wrong.text
    done = lena.send_form("/s/1/steps", criterion=loop.criterion, step="discuss", note="met")
    assert done.status_code == 303
    assert study.status().loops[0].next == "clarify"


def test_only_the_lead_moves_anything(workspace: Workspace, client: Client) -> None:
    lively(workspace)
    for name in ("ann", "ada", "vic"):
        somebody = client(name)
        for path in ("/s/1/phases", "/s/1/steps"):
            sent = somebody.send_form(path, phase="calibration", move="start")
            assert sent.status_code == 403
    assert client("nobody").get("/s/1").status_code == 404


def test_every_step_leads_to_a_page() -> None:
    told = [
        "add items",
        "add raters",
        "answer 2 questions",
        "decide 1 red flag: nothing passes that has one",
        "before round 2 opens: read the rubric",
        "close round 1: every rating is in",
        "discuss 3 disagreements of round 1",
        "agreement on x is low (round 1): discuss comes next",
        "adjudicate 4 disagreements",
        "plan the next round",
        "Calibration is behind: it was to be done by 2026-03-15, 3 days ago.",
        "hold a check-in: 9 days without one",
        "rate 3 items of round 1",
        "nothing to rate: no round is open",
    ]
    found = next_steps(told, "/s/7", {"x": "Warmth"})
    assert found[7].text == "Agreement on Warmth is low (round 1): discuss comes next"
    assert [one.address for one in found] == [
        "/s/7/items",
        "/s/7/people",
        "/s/7/questions",
        "/s/7/flags",
        "/s/7/rounds",
        "/s/7/rounds",
        "/s/7/discuss",
        "#loops",
        "/s/7/adjudicate",
        "/s/7/rounds",
        "#phases",
        "/s/7/check-ins",
        "/s/7/rate",
        None,
    ]


def test_an_interval_is_drawn_where_its_numbers_say() -> None:
    found = interval_of(0.5, (0.25, 0.75), 0.8)
    assert found is not None
    assert (found.low, found.value, found.high, found.target) == (40.0, 80.0, 120.0, 128.0)
    below = interval_of(-0.5, (-1.0, 0.0), None)
    assert below is not None and (below.low, below.zero, below.value) == (0.0, 80.0, 40.0)
    assert interval_of(None, None, 0.8) is None
    assert target_value("percent > 0.8") == 0.8 and target_value("nothing") is None
    said = coefficient_words("cohen_kappa:quadratic >= 0.6")
    assert said == "Cohen's kappa (quadratic) at least 0.6"
