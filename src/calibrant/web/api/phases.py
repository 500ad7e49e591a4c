"""Phases, steps after low agreement, check-ins and lessons, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Path, Request

from calibrant.web.access import Routes, Seat, member
from calibrant.web.freezing import frozen_with
from calibrant.web.lead_models import TROUBLE, Done, ReasonIn
from calibrant.web.run_models import (
    CheckInIn,
    CheckInMade,
    CheckInsOut,
    LessonIn,
    LessonsOut,
    PhaseMove,
    PhasesOut,
    StepIn,
)

routes = Routes("/api/v1/studies/{study}", tags=["phases"])
LEAD = member("lead")
PhaseId = Annotated[str, Path(max_length=200, pattern=r"^[A-Za-z0-9_-]+$")]


@routes.get("/phases", access=member(), response_model=PhasesOut, responses=TROUBLE)
def phases(seat: Seat) -> Any:
    """The phases with their dates, conditions and warnings."""
    return {"phases": [asdict(one) for one in seat.study.phases()]}


@routes.post("/phases/{phase}/start", access=LEAD, response_model=Done, responses=TROUBLE)
def start_phase(seat: Seat, phase: PhaseId, body: PhaseMove) -> Any:
    """Begin a phase once what it asks for is there, or with a reason."""
    seat.study.start_phase(phase, override=body.override)
    return Done(said=f"phase {phase} is open")


@routes.post("/phases/{phase}/finish", access=LEAD, response_model=Done, responses=TROUBLE)
def finish_phase(request: Request, seat: Seat, phase: PhaseId, body: PhaseMove) -> Any:
    """End a phase once its conditions hold, or with a reason; the report is frozen with it."""
    number = seat.study.finish_phase(phase, override=body.override)
    return Done(said=f"phase {phase} is done; {frozen_with(request, seat, number)}")


@routes.post("/steps", access=LEAD, response_model=Done, responses=TROUBLE)
def take_step(seat: Seat, body: StepIn) -> Any:
    """Record a step of the loop for a criterion on which agreement is low."""
    seat.study.take_step(body.criterion, body.step, note=body.note)
    return Done(said=f"{body.criterion}: {body.step} is done")


@routes.get(
    "/check-ins", access=member("lead", "viewer"), response_model=CheckInsOut, responses=TROUBLE
)
def check_ins(seat: Seat) -> Any:
    """All check-ins; how agreement stood is told once you may see those rounds."""
    return {"check_ins": [asdict(one) for one in seat.study.check_ins()]}


@routes.post(
    "/check-ins", access=LEAD, status_code=201, response_model=CheckInMade, responses=TROUBLE
)
def check_in(request: Request, seat: Seat, body: CheckInIn) -> Any:
    """Record a check-in; agreement as it stands now and the whole report are kept with it.

    The report of a large study comes a little later: its number is then among ``/reports``.
    """
    made = seat.study.check_in(
        attendees=body.attendees, decisions=body.decisions, actions=body.actions
    )
    return asdict(made) | {"report": frozen_with(request, seat, made.number)}


@routes.get(
    "/lessons", access=member("lead", "viewer"), response_model=LessonsOut, responses=TROUBLE
)
def lessons(seat: Seat) -> Any:
    """What was learned, in the order of writing down."""
    return {"lessons": seat.study.lessons()}


@routes.post(
    "/lessons",
    access=member("lead", "reviewer", "adjudicator"),
    status_code=201,
    response_model=Done,
    responses=TROUBLE,
)
def add_lesson(seat: Seat, body: LessonIn) -> Any:
    """Write down something that was learned."""
    seat.study.add_lesson(body.text)
    return Done(said="written down")


@routes.post("/rubric-stays", access=LEAD, response_model=Done, responses=TROUBLE)
def keep_guidelines(seat: Seat, body: ReasonIn) -> Any:
    """Say that after the discussion the rubric stays as it is."""
    seat.study.keep_guidelines(reason=body.reason)
    return Done(said="the rubric stays as it is")


@routes.post("/rubric-final", access=LEAD, response_model=Done, responses=TROUBLE)
def finalise(seat: Seat) -> Any:
    """Say that the version in force is the final one."""
    return Done(said=f"{seat.study.finalise_rubric()} is final")
