"""``calibrant study``: the verbs of a study, each in the file of its subject."""

from __future__ import annotations

import click

from calibrant.cli.lazy import LazyGroup

_SETUP = "calibrant.cli.study_setup"
_ROUNDS = "calibrant.cli.study_rounds"
_RATE = "calibrant.cli.study_rate"
_CORRECT = "calibrant.cli.study_correct"
_FLAGS = "calibrant.cli.study_flags"
_COMPARE = "calibrant.cli.study_compare"
_SETTLE = "calibrant.cli.study_settle"
_RESULTS = "calibrant.cli.study_results"
_REFINE = "calibrant.cli.study_refine"
_LOADS = "calibrant.cli.study_loads"
_KEEP = "calibrant.cli.study_keep"
_BUNDLE = "calibrant.cli.study_bundle"

SECTIONS = {
    "Begin": {
        "create": (_SETUP, "Begin a study of a rubric."),
        "list": (f"{_SETUP}:list_", "Show the studies of a database."),
        "items": (_SETUP, "Add items from a file."),
        "add-rater": (_SETUP, "Add a person, a judge or a check."),
        "raters": (_SETUP, "Show who takes part."),
        "roles": (_SETUP, "Give somebody other roles."),
        "leave": (_SETUP, "Somebody leaves; others take over their work."),
        "status": ("calibrant.cli.study_status", "See how the study stands, on one screen."),
    },
    "Rounds": {
        "plan": (_ROUNDS, "Make a round, and see what it asks of each rater."),
        "open": (f"{_ROUNDS}:open_", "Let raters begin."),
        "drop": (_ROUNDS, "Give a planned round up."),
        "close": (_ROUNDS, "End a round: answers may be compared."),
        "extend": (_ROUNDS, "Give out items that came in since."),
        "rounds": (_ROUNDS, "Show all rounds."),
    },
    "Rate": {
        "acknowledge": (_RATE, "Say that you have read the rubric."),
        "rate": (_RATE, "Rate your items, one after the other."),
        "correct": (_CORRECT, "Correct a rating of yours while the round is open."),
        "ratings": (_CORRECT, "Show your own ratings."),
        "check": (_LOADS, "Let the rubric's checks rate, as a rater of kind CODE."),
        "import-scores": (_LOADS, "Take in a spreadsheet that is scored already."),
        "flag": (_FLAGS, "Flag an item."),
        "flags": (_FLAGS, "Show flags."),
        "decide": (_FLAGS, "Confirm or reject a flag."),
        "ask": (_FLAGS, "Ask the lead about the rubric."),
        "answer": (_FLAGS, "Answer a question."),
        "questions": (_FLAGS, "Show questions and their answers."),
    },
    "Compare and settle": {
        "agree": (_COMPARE, "Tell how far raters agree."),
        "disputes": (_COMPARE, "Show the disagreements of a round."),
        "discuss": (_COMPARE, "Record what a discussion came to."),
        "step": (_COMPARE, "Record a step where agreement is low."),
        "admit": (_COMPARE, "Let a judge count."),
        "dismiss": (_COMPARE, "A judge no longer counts."),
        "queue": (_SETTLE, "Show what waits to be settled."),
        "adjudicate": (_SETTLE, "Go through the queue, case by case."),
        "no-consensus": (_SETTLE, "Record that reviewers do not agree."),
        "settle": (_SETTLE, "Give a disagreement its final answer."),
        "finals": (_RESULTS, "Show final answers and where they come from."),
        "verdicts": (_RESULTS, "Show the verdict of every item."),
    },
    "Refine and go on": {
        "troubles": (_REFINE, "Show which criteria make trouble."),
        "refine": (_REFINE, "Put the next version of the rubric in force."),
        "versions": (_REFINE, "Show the versions used so far."),
        "keep-guidelines": (_REFINE, "Say that the rubric stays as it is."),
        "finalise": (_REFINE, "Say that the rubric is final."),
        "phases": (_REFINE, "Show the phases and what they wait for."),
        "start-phase": (_REFINE, "Begin a phase."),
        "finish-phase": (_REFINE, "End a phase."),
        "check-in": (_REFINE, "Record a check-in."),
        "check-ins": (_REFINE, "Show all check-ins."),
        "lesson": (_REFINE, "Write down something that was learned."),
        "lessons": (_REFINE, "Show what was learned."),
    },
    "Keep": {
        "journal": (_KEEP, "Show everything that happened."),
        "export": (_BUNDLE, "Write all of it to a bundle, or tables for people."),
        "import": (f"{_BUNDLE}:import_", "Bring the study of a bundle in."),
        "verify": (_BUNDLE, "Prove that a bundle is whole."),
        "redact": (_KEEP, "Erase the words of an item for good."),
        "backup": (_KEEP, "Copy the whole database into a file."),
        "restore": (_KEEP, "Bring a backup back."),
        "doctor": (_KEEP, "Look the database over."),
    },
}


@click.group(cls=LazyGroup, sections=SECTIONS)
def study() -> None:
    """Run a study: blind rounds, assignments, adjudication, the next rubric.

    The database is --db or CALIBRANT_DB: a file (calibrant.db unless you say otherwise) or
    postgresql://… . Who acts is --as or CALIBRANT_ACTOR, and the lead where nobody is named.

    \b
    Examples:
      calibrant study create advice -r smart-action-plan --lead lena
      calibrant study items advice plans.jsonl
      calibrant study status advice
    """
