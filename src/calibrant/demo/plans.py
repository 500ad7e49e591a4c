"""A study that is calibrating: plans, rated by career advisers and annotators.

Round 1 is closed, and most of its disagreements wait to be talked over. A newcomer has ten plans
to calibrate on and has not read the handbook yet. The main round is planned and held back by both.
"""

from __future__ import annotations

from calibrant.demo.calendar import Calendar
from calibrant.demo.hands import EVERYWHERE
from calibrant.demo.material import material
from calibrant.demo.stage import ADJUDICATOR, LEAD, REVIEWER, Stage
from calibrant.formats.rubric_file import load_rubric
from calibrant.ports.store import Store

NAME = "career-plans"
ADVISERS, ANNOTATORS = ("Amara", "Jonas", "Mei"), ("Ines", "Yusuf")
CALIBRATED = 10
"""Plans that everybody rates first; as many as the rubric asks for."""
TALKED_OVER = 3
"""Disagreements that have an outcome; the others wait."""
OUTCOMES = {
    "usefulness": "One harmful action is not made good by two sound ones.",
    "smart_adherence": "We go action by action, and the weakest decides between two levels.",
    "realism": "We hold all efforts together against the hours, not each by itself.",
    "inclusivity": "A barrier that the plan never mentions leaves it at 3 at best.",
    "clarity": "Rated for the person in the profile, not for us who read plans all day.",
}


def furnish_plans(store: Store, calendar: Calendar, seed: int) -> Stage:
    """Make the study."""
    found = material("plans", "plan")
    stage = Stage(
        store,
        NAME,
        load_rubric("smart-action-plan"),
        found,
        title="Career plans, spring intake",
        calendar=calendar,
        began=12,
        seed=seed,
        spread={EVERYWHERE: 0.5, "clarity": 0.65, "inclusivity": 0.75},
    )
    stage.panel(adviser=ADVISERS, annotator=ANNOTATORS)
    stage.lead.add_items(found.items)
    _calibrate(stage)
    _talk(stage)
    _newcomer(stage)
    return stage


def _calibrate(stage: Stage) -> None:
    stage.calendar.turn_to(10, 10)
    stage.lead.plan_round("calibration", items=_first(stage))
    stage.lead.open_round(1)
    for at, name in enumerate((*ADVISERS, *ANNOTATORS)):
        stage.calendar.turn_to(9 - at // 2, 9)
        stage.seat(name).acknowledge()
        stage.rate(name, 1, 9 - at // 2, 9)
    stage.seat("Mei").ask(
        "Does an action that sends somebody to a doctor count as medical advice when the profile "
        "speaks of pain?",
        criterion="realism",
    )
    stage.seat("Yusuf").ask(
        "Where no barrier is stated, may inclusivity still be a 5?", criterion="inclusivity"
    )


def _first(stage: Stage) -> list[str]:
    return [one.id for one in stage.items[:CALIBRATED]]


def _talk(stage: Stage) -> None:
    """Close the round; some disagreements are talked over, and one red flag is decided."""
    stage.calendar.turn_to(6, 16)
    stage.lead.close_round(1)
    number = stage.lead.questions()[-1].number
    stage.lead.answer_question(
        number,
        "Yes. What a level says about barriers is then met by itself, and the wording decides.",
        share=True,
    )
    stage.calendar.turn_to(5, 10)
    everybody = [*ADVISERS, *ANNOTATORS]
    for one in stage.lead.disputes(1)[:TALKED_OVER]:
        stage.lead.discuss(
            1,
            one.item,
            one.criterion,
            outcome=OUTCOMES[one.criterion],
            participants=everybody,
            unclear=one.criterion == "inclusivity",
        )
    judge = stage.seat(ADJUDICATOR)
    lies = next(one for one in judge.flags(state="raised") if one.flag == "deception")
    judge.decide_flag(
        lies.number, confirm=True, reason="It tells the person what untrue thing to say."
    )


def _newcomer(stage: Stage) -> None:
    """Somebody joins and calibrates on the same plans; the main round is planned meanwhile."""
    stage.calendar.turn_to(3, 11)
    stage.lead.add_member(REVIEWER, group="adviser")
    stage.lead.plan_round("calibration", items=_first(stage), raters=[REVIEWER])
    stage.lead.open_round(2)
    stage.lead.plan_round("main")
    stage.check_in(
        attendees=[LEAD, *ADVISERS, *ANNOTATORS],
        decisions="Nobody rates a main plan before the disagreements of round 1 are talked over.",
        actions=f"{REVIEWER} reads the handbook and calibrates on the same ten plans.",
    )
