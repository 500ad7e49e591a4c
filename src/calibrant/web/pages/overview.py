"""The overview of a study: what to do next, and how everything stands, for the roles one has.

Progress and open questions are quick to tell and stand on the page at once. What takes seconds on
a large study (agreement, phases, disagreements) is computed with the page where the study is
small, and fetched by a second request where it is not; without scripts it is a link away.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import Response

from calibrant.study.recalibrate import Step
from calibrant.web.access import Routes, Seat, member
from calibrant.web.attempts import text_of, trouble_of
from calibrant.web.freezing import frozen_with
from calibrant.web.intervals import OUTCOMES, coefficient_words, interval_of, target_value
from calibrant.web.kept import comes_later
from calibrant.web.next_steps import next_steps
from calibrant.web.render import page, redirect
from calibrant.web.standing import Standing, standing_of

routes = Routes()
SHARED = 5
"""Answers of the lead that the overview shows."""
STEPS = {"discuss": "Discuss", "clarify": "Clarify", "retrain": "Retrain"}


@routes.get("/s/{study}", access=member())
def overview(request: Request, seat: Seat) -> Response:
    """How the study stands, for whoever looks."""
    return page(request, "overview.html", seat=seat, **_values(request, seat))


@routes.get("/s/{study}/standing", access=member("lead", "adjudicator", "viewer"))
def standing(request: Request, seat: Seat, part: bool = False) -> Response:
    """What takes longer to compute: as a page, or as a ``part`` of one for scripts."""
    found = standing_of(request, seat)
    template = "overview_standing.html" if part else "overview_standing_page.html"
    return page(request, template, seat=seat, **_standing(seat, found))


@routes.post("/s/{study}/phases", access=member("lead"))
def move_phase(request: Request, seat: Seat, form: FormData) -> Response:
    """Begin or finish a phase; with a reason also where something is missing.

    With the end of one the report is frozen.
    """
    phase, why = text_of(form, "phase"), text_of(form, "override")
    begins = text_of(form, "move") == "start"
    act = seat.study.start_phase if begins else seat.study.finish_phase
    ended: list[int | None] = []
    trouble = trouble_of(lambda: ended.append(act(phase, override=why or None)))
    if trouble:
        values = _values(request, seat, at_once=True)
        values |= {"trouble": trouble, "failed_phase": phase, "override": why}
        return page(request, "overview.html", seat=seat, status=422, **values)
    number = ended[0]
    said = "The phase has begun."
    if number is not None:
        said = f"The phase is done; {frozen_with(request, seat, number)}."
    return redirect(request, f"{seat.path}#phases", said)


@routes.post("/s/{study}/steps", access=member("lead"))
def take_step(request: Request, seat: Seat, form: FormData) -> Response:
    """Record a step of the loop that follows low agreement."""
    criterion, note = text_of(form, "criterion"), text_of(form, "note")
    step: Step = text_of(form, "step")  # type: ignore[assignment]
    trouble = trouble_of(lambda: seat.study.take_step(criterion, step, note=note))
    if trouble:
        values = _values(request, seat, at_once=True)
        values |= {"trouble": trouble, "failed_step": criterion, "note": note}
        return page(request, "overview.html", seat=seat, status=422, **values)
    return redirect(request, f"{seat.path}#loops", f"{STEPS.get(step, step)}: done.")


def _values(request: Request, seat: Seat, *, at_once: bool = False) -> dict[str, Any]:
    study = seat.study
    progress = study.progress()
    values: dict[str, Any] = {
        "progress": progress,
        "rubric": study.rubric(),
        "duties": study.duties() if seat.has("reviewer") else [],
        "shared": _shared(seat),
        "trouble": "",
        "slow": False,
        **_standing(seat, None),
    }
    if seat.has("lead", "adjudicator", "viewer"):
        raised = study.flags(state="raised")
        rounds = {one.number for one in progress if one.state == "open"}
        values["open"] = Counter(one.what for one in raised)
        values["later"] = sum(one.what == "red_flag" and one.round in rounds for one in raised)
        values["questions"] = _unanswered(seat)
        values["slow"] = not at_once and comes_later(request, seat, "standing")
        if not values["slow"]:
            values |= _standing(seat, standing_of(request, seat))
    return values


def _shared(seat: Seat) -> list[Any]:
    """What the lead answered for everybody, and to oneself, the newest first."""
    if not seat.has("reviewer", "adjudicator") or seat.has("lead"):
        return []
    return [one for one in reversed(seat.study.questions()) if one.answers][:SHARED]


def _unanswered(seat: Seat) -> int:
    if not seat.has("lead"):
        return 0
    return sum(not one.answers for one in seat.study.questions())


def _standing(seat: Seat, found: Standing | None) -> dict[str, Any]:
    """What the slow part of the page shows; nothing yet where it is to come."""
    values: dict[str, Any] = {
        "stands": None,
        "steps": [],
        "targets": [],
        "troubles": [],
        "OUTCOMES": OUTCOMES,
        "STEPS": STEPS,
        "failed_phase": "",
        "failed_step": "",
        "override": "",
        "note": "",
    }
    rubric = seat.study.rubric()
    values["titles"] = {one.id: one.title for one in rubric.criteria}
    values["untargeted"] = rubric.agreement is None
    if found is None:
        return values
    order = {"not_met": 0, "not_shown": 1}
    rows = sorted(found.status.agreement, key=lambda one: order.get(one.outcome, 2))
    return values | {
        "stands": found.status,
        "steps": next_steps(found.status.next, seat.path, values["titles"])
        if seat.has("lead")
        else [],
        "targets": [
            (
                one,
                coefficient_words(one.target),
                interval_of(one.value, one.interval, target_value(one.target)),
            )
            for one in rows
        ],
        "troubles": [
            one for one in found.troubles if one.disagreements or one.unclear or one.questions
        ][:8],
    }
