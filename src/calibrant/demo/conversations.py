"""A study that is adjudicating: coaching conversations, rated by people, a judge and checks.

The main round is closed. What answers lie apart on is in the queue, the safety gate first; some
of it is settled. A second round with new conversations is planned and can be opened.
"""

from __future__ import annotations

from collections.abc import Mapping

from calibrant.core.study import Key
from calibrant.demo.calendar import Calendar
from calibrant.demo.hands import EVERYWHERE, Hand, filled_in
from calibrant.demo.material import Material, material
from calibrant.demo.stage import ADJUDICATOR, HOLDER, REVIEWER, Stage
from calibrant.engine.worker import work_off
from calibrant.formats.rubric_file import load_rubric
from calibrant.ports.store import Store
from calibrant.raters.checks.form import check_form
from calibrant.raters.checks.run import Checker
from calibrant.raters.judge.judge import Judge
from calibrant.study.adjudicate import Case, Error
from calibrant.study.claim import Task

NAME = "coaching-talks"
PEOPLE = (REVIEWER, "Amara", "Priya", "Tobias")
FIRST = 12
"""Conversations of the round that is closed; the others came later."""
MODEL = "demo-judge"
JUDGE = Hand(severity=-0.2, words=0.8)
DECISIONS: Mapping[str, tuple[tuple[str, Error], ...]] = {
    "NO": (
        ("Read from the first exchange to the last, it falls short.", "missed_evidence"),
        ("The passage that decides it stands near the end and was passed over.", "misread_item"),
    ),
    "YES": (
        ("Both readings can be defended; the text of the criterion tips it.", "ambiguous"),
        ("What was held against it belongs under another criterion.", "misread_rubric"),
    ),
    "NA": (("The conversation gives no occasion for it.", "misread_rubric"),),
}
"""What the adjudicator says, by the answer that is final then."""
AGREED = "We read the passage aloud and found that we had meant the same."


def furnish_conversations(store: Store, calendar: Calendar, seed: int) -> Stage:
    """Make the study."""
    found = material("conversations", "conversation")
    rubric = load_rubric("coaching-conversation")
    stage = Stage(
        store,
        NAME,
        rubric,
        found,
        title="Coaching conversations, safety review",
        calendar=calendar,
        began=27,
        seed=seed,
        spread={EVERYWHERE: 1.0},
    )
    stage.panel(adviser=PEOPLE[:2], annotator=PEOPLE[2:])
    judge = Judge(rubric, MODEL, key=seed.to_bytes(8), told_facts=False).card
    checker = Checker("conversation", rubric)
    stage.lead.add_member(judge.name, kind="LLM", card=judge.to_dict())
    stage.lead.add_member(checker.card.name, kind="CODE", card=checker.card.to_dict())
    stage.lead.add_items(found.items[:FIRST])
    stage.calendar.turn_to(26, 9)
    stage.lead.plan_round("main")
    stage.lead.open_round(1)
    _machines(stage, judge.name, checker)
    _people(stage)
    _settle(stage)
    _second_round(stage, found)
    return stage


def _machines(stage: Stage, judge: str, checker: Checker) -> None:
    work_off(stage.seat(judge), lambda task: _judged(stage, task), token=HOLDER)
    checks = stage.seat(checker.card.name)
    work_off(checks, lambda task: check_form(checker, task.item), token=HOLDER)


def _judged(stage: Stage, task: Task) -> dict[str, object]:
    """What a judge hands in: answers, its reasons, and how sure it is."""
    truth = stage.truths[task.key.item]
    key = Key(round=task.key.round, item=task.key.item, rater=MODEL)
    form = filled_in(
        JUDGE, task.rubric, task.item, truth, key, seed=stage.seed, spread=stage.spread
    )
    kept = {name: form[name] for name in ("answers", "evidence", "sub_answers")}
    close = form["borderline"]
    sure = {name: {one: 0.62 if name in close else 0.94} for name, one in form["answers"].items()}
    measured = {"seconds": 2.1, "prompt_tokens": 1900, "completion_tokens": 240}
    return kept | {"reasons": form["notes"], "probabilities": sure, "measured": measured}


def _people(stage: Stage) -> None:
    half = FIRST // 2
    for at, name in enumerate(PEOPLE):
        stage.calendar.turn_to(25 - 2 * at, 9)
        stage.seat(name).acknowledge()
        stage.rate(name, 1, 25 - 2 * at, 9, most=half)
        stage.rate(name, 1, 24 - 2 * at, 14)
    stage.seat("Priya").ask(
        "Does an apology of the assistant mend a lapse that the criterion counts by itself?",
        criterion="CQ8",
    )
    stage.calendar.turn_to(15, 17)
    stage.lead.close_round(1)


def _settle(stage: Stage) -> None:
    """People settle some cases by consensus, the adjudicator decides others; most are left."""
    waiting = [one for one in stage.seat(ADJUDICATOR).queue(limit=500) if one.criterion]
    gates = [one for one in waiting if one.safety]
    rest = [one for one in waiting if not one.safety]
    stage.calendar.turn_to(12, 10)
    talked = [one for one in rest if "judge" not in one.causes and "check" not in one.causes]
    for case in talked[:2]:
        stage.seat("Amara").settle(
            case.item,
            str(case.criterion),
            _majority(case),
            how="consensus",
            reason=AGREED,
            participants=["Amara", "Priya", "Tobias"],
        )
    stage.calendar.turn_to(8, 13)
    judge = stage.seat(ADJUDICATOR)
    mine = [gates[-1], *[one for one in rest if one not in talked[:2]][:4]]
    for at, case in enumerate(mine):
        value = _majority(case)
        reason, error = DECISIONS[value][at % len(DECISIONS[value])]
        judge.settle(
            case.item,
            str(case.criterion),
            value,
            how="adjudicated",
            reason=reason,
            source="adopted",
            error=error,
            unclear=error == "ambiguous",
        )


def _majority(case: Case) -> str:
    """The answer most gave; of as many, the first by name."""
    given = sorted(case.answers.values())
    return max(given, key=given.count)


def _second_round(stage: Stage, found: Material) -> None:
    stage.calendar.turn_to(2, 11)
    stage.lead.add_items(found.items[FIRST:])
    stage.lead.plan_round("main")
