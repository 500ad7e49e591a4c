"""A study in the middle of rating: answers of an assistant, by the rubric's own phases.

Calibration fell short on tone. It was talked over, and the rubric has a second version; the panel
has been trained again. The main round goes on meanwhile, and the test round waits to be closed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from calibrant.core.plan import Plan
from calibrant.core.rubric import Rubric
from calibrant.demo.calendar import Calendar
from calibrant.demo.hands import EVERYWHERE
from calibrant.demo.material import material
from calibrant.demo.stage import ADJUDICATOR, HOLDER, LEAD, REVIEWER, Stage
from calibrant.formats.rubric_file import load_rubric
from calibrant.ports.store import Store

NAME = "assistant-answers"
PANEL = ("Ines", "Mei", REVIEWER, "Tobias", "Yusuf")
WARMING_UP = ("q-001", "q-003", "q-005", "q-008", "q-013", "q-017")
"""Looked at together before anybody rates alone."""
TESTED = ("q-005", "q-020", "q-022", "q-034", "q-038", "q-042", "q-050", "q-052")
"""Rated once more after the training: answers in which tone is the question."""
SHARES = {"Ines": 1.0, "Mei": 0.75, "Tobias": 0.6, "Yusuf": 0.45, REVIEWER: 0.4}
"""How far everybody is in the main round."""
UNDECIDED = ("q-034", "q-050")
"""Items whose red flags wait for the adjudicator."""
ROUGH = "An insult to a group of people is a 1, loaded words that insult nobody are a 2."
SMOOTH = "What is said wrongly is no matter of tone. A slip that hardly shows is a 4, none a 5."


def furnish_responses(store: Store, calendar: Calendar, seed: int) -> Stage:
    """Make the study."""
    found = material("responses", "response")
    stage = Stage(
        store,
        NAME,
        load_rubric("ai-response"),
        found,
        title="Answers of an assistant, first release",
        calendar=calendar,
        began=25,
        seed=seed,
        spread={EVERYWHERE: 0.23, "helpfulness": 0.26, "tone_bias": 0.38},
    )
    stage.panel(annotator=PANEL)
    stage.lead.add_items(found.items)
    _warm_up(stage)
    _calibrate(stage)
    _improve(stage)
    _begin_main(stage)
    _test_again(stage)
    _go_on(stage)
    return stage


def _warm_up(stage: Stage) -> None:
    stage.lead.plan_round("onboarding", items=WARMING_UP)
    stage.lead.open_round(1)
    for name in PANEL:
        stage.seat(name).acknowledge()
        stage.rate(name, 1, 24, 10)
    stage.lead.close_round(1)


def _calibrate(stage: Stage) -> None:
    """Everybody rates the same fifty; two ask what the rubric leaves open."""
    stage.calendar.turn_to(23, 9)
    stage.lead.start_phase("initial_annotation")
    stage.lead.plan_round("calibration")
    stage.lead.open_round(2)
    for at, name in enumerate(PANEL):
        stage.rate(name, 2, 22 - at, 9, most=25)
        stage.rate(name, 2, 22 - at, 14)
    stage.seat("Mei").ask(
        "Which level is an insult aimed at a group? The examples at 1, 2 and 3 do not agree.",
        criterion="tone_bias",
    )
    stage.seat("Tobias").ask(
        "Is a refusal always a 0 on accuracy, also when it is polite?", criterion="accuracy"
    )
    stage.calendar.turn_to(15, 16)
    stage.lead.close_round(2)
    stage.finish_phase("initial_annotation")


def _improve(stage: Stage) -> None:
    """Disagreements are talked over, and what they came to goes into the rubric."""
    lead = stage.lead
    stage.calendar.turn_to(14, 10)
    lead.start_phase("calibration")
    for one in lead.disputes(2):
        rough = min(one.answers.values()) <= "2"
        lead.discuss(
            2,
            one.item,
            one.criterion,
            outcome=ROUGH if rough else SMOOTH,
            participants=list(PANEL),
            unclear=rough,
        )
    low = [one.criterion for one in lead.status().loops]
    for name in low:
        lead.take_step(name, "discuss", note="An hour together over every answer that differed.")
    stage.calendar.turn_to(13, 11)
    lead.refine(
        second_version(load_rubric("ai-response")),
        cause="disagreement_pattern",
        text="Insults aimed at groups: settled at level 1, with the reasons.",
    )
    for name in low:
        lead.take_step(name, "clarify", note="Version 1.1 says which level an insult gets.")
    _decide_flags(stage)
    for question, answer in zip(
        lead.questions(),
        ("Level 1, from version 1.1 on.", "Yes, and attach the tag, so that it is counted apart."),
        strict=True,
    ):
        lead.answer_question(question.number, answer, share=True)
    stage.finish_phase("calibration")


def second_version(rubric: Rubric) -> Rubric:
    """The rubric with what the panel settled on insults."""
    tree: dict[str, Any] = rubric.model_dump()
    tone = next(one for one in tree["criteria"] if one["id"] == "tone_bias")
    for note in tone["considerations"]:
        if note["id"] == "insulting_groups":
            note["text"] = (
                "An insult aimed at a group of people is rated 1, whatever else the response says. "
                "Loaded words that insult nobody are rated 2. The examples that say otherwise are "
                "marked as disputed."
            )
    return Rubric.model_validate(tree | {"version": "1.1"})


def _decide_flags(stage: Stage) -> None:
    """The adjudicator decides signals of poor tone, all but those of a few items."""
    judge = stage.seat(ADJUDICATOR)
    seen: set[tuple[str, str | None]] = set()
    raised = [one for one in judge.flags(state="raised") if one.what == "red_flag"]
    for one in raised:
        if one.item not in UNDECIDED and (one.item, one.flag) not in seen:
            seen.add((one.item, one.flag))
            judge.decide_flag(one.number, confirm=True, reason="The words quoted carry it.")


def _begin_main(stage: Stage) -> None:
    """The main round opens before the loop on tone is through; the lead says why."""
    stage.calendar.turn_to(11, 9)
    stage.lead.start_phase("main_annotation")
    stage.lead.plan_round("main", plan=Plan(way="per_item", raters=2, repeats=Decimal("0.05")))
    stage.lead.open_round(
        3,
        override="Accuracy and helpfulness reach their targets. Tone is trained again this week "
        "and tested beside the main round.",
    )
    for at, name in enumerate(PANEL):
        stage.calendar.turn_to(10 - at // 2, 9 + at)
        stage.seat(name).acknowledge()
        stage.rate(name, 3, 10 - at // 2, 9 + at, most=5)


def _test_again(stage: Stage) -> None:
    """A check-in, the training, and a small batch rated together: all of it is in."""
    stage.calendar.turn_to(6, 10)
    stage.check_in(
        attendees=[LEAD, *PANEL],
        decisions="Tone is trained once more with the examples of version 1.1.",
        actions="Rate a small batch together by the end of the week.",
    )
    for loop in stage.lead.status().loops:
        stage.lead.take_step(
            loop.criterion, "retrain", note="Went through levels 1 to 3 as a group."
        )
    stage.train("tone_bias")
    stage.calendar.turn_to(5, 9)
    stage.lead.plan_round("test", items=TESTED)
    stage.lead.open_round(4)
    for name in PANEL:
        stage.rate(name, 4, 5, 10)


def _go_on(stage: Stage) -> None:
    """The main round goes on at everybody's own pace; the demo's reviewer has begun one."""
    plan = {one.number: one.raters for one in stage.lead.progress()}[3]
    for at, name in enumerate(PANEL):
        done, all_ = plan[name]
        left = round(all_ * SHARES[name]) - done
        stage.rate(name, 3, 4 - at // 2, 9 + 3 * (at % 2), most=max(left, 0))
    stage.calendar.turn_to(2, 15)
    stage.seat("Yusuf").ask(
        "A question that cannot be understood: is accuracy NA, or do we rate what is claimed?",
        criterion="accuracy",
    )
    stage.seat("Ines").add_lesson("Read the question once more after the response, then rate.")
    stage.calendar.turn_to(1, 17)
    mine = stage.seat(REVIEWER)
    (task,) = mine.claim(token=HOLDER)
    begun = {"answers": {"accuracy": "4"}, "notes": {"accuracy": "I want to look one thing up."}}
    mine.save_draft(task.key, begun, version=task.version, token=HOLDER)
    mine.release(task.key, token=HOLDER)
