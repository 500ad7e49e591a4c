"""Rounds, for programs: planned, opened, extended, closed, dropped."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from starlette.exceptions import HTTPException

from calibrant.core.errors import StudyError
from calibrant.core.plan import Plan
from calibrant.core.study import Round
from calibrant.study.status import RoundProgress
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.lead_models import (
    TROUBLE,
    BlockersOut,
    CloseIn,
    EndingOut,
    ExtendedOut,
    OpenIn,
    Part,
    PlanIn,
    PlannedOut,
    ReasonIn,
    RoundIn,
    RoundOut,
    RoundsOut,
    StateOut,
)
from calibrant.web.pages.rounds import without_round

routes = Routes("/api/v1/studies/{study}", tags=["rounds"])
LEAD = member("lead")
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


@routes.get("/rounds", access=LEAD, response_model=RoundsOut, responses=TROUBLE)
def rounds(seat: Seat) -> Any:
    """All rounds, with how far each rater is."""
    far = {one.number: one for one in seat.study.progress()}
    return RoundsOut(
        rounds=[_round(one, far[one.number]) for one in seat.study.rounds()],
        waiting=without_round(seat),
    )


@routes.get("/rounds/{number}", access=LEAD, response_model=RoundOut, responses=TROUBLE)
def one_round(seat: Seat, number: Number) -> Any:
    """One round, with how far each rater is."""
    return _round(*_found(seat, number))


def _found(seat: Seat, number: int) -> tuple[Round, RoundProgress]:
    _known(seat, number)
    far = next(one for one in seat.study.progress() if one.number == number)
    return next(one for one in seat.study.rounds() if one.number == number), far


def _round(one: Round, far: RoundProgress) -> RoundOut:
    dropped = one.closed_at is not None and one.opened_at is None
    return RoundOut(
        round=one.number,
        kind=one.kind,
        state="dropped" if dropped else one.state,
        rubric=one.rubric,
        phase=one.phase,
        plan=dict(one.plan),
        opened_at=one.opened_at,
        closed_at=one.closed_at,
        done=far.done,
        total=far.total,
        raters={name: Part(done=done, total=all) for name, (done, all) in far.raters.items()},
    )


@routes.post("/rounds", access=LEAD, response_model=PlannedOut, responses=TROUBLE, status_code=201)
def plan_round(request: Request, seat: Seat, body: RoundIn) -> Any:
    """Plan a round, or with `dry_run` only see the workload it would make."""
    study = workspace_of(request).unhurried(seat.study)
    found = study.plan_round(
        body.kind,
        plan=_plan(body.plan),
        items=body.items,
        sample=body.sample,
        raters=body.raters,
        dry_run=body.dry_run,
    )
    return PlannedOut(
        round=found.round.number,
        kind=found.round.kind,
        items=found.items,
        plan=dict(found.round.plan),
        workload=found.workload,
        kept=not body.dry_run,
        missing=[] if body.dry_run else seat.study.blockers(found.round.number),
    )


def _plan(stated: PlanIn | None) -> Plan | None:
    if stated is None:
        return None
    try:
        return Plan.from_dict(stated.model_dump(exclude_none=True))
    except ValueError as error:
        raise StudyError(str(error)) from error


def _known(seat: Seat, number: int) -> int:
    if number not in {one.number for one in seat.study.rounds()}:
        raise HTTPException(404, NOT_FOUND)
    return number


@routes.get("/rounds/{number}/blockers", access=LEAD, response_model=BlockersOut, responses=TROUBLE)
def blockers(seat: Seat, number: Number) -> Any:
    """What has to happen before a round may open."""
    return BlockersOut(missing=seat.study.blockers(_known(seat, number)))


@routes.post("/rounds/{number}/open", access=LEAD, response_model=StateOut, responses=TROUBLE)
def open_round(seat: Seat, number: Number, body: OpenIn) -> Any:
    """Let raters begin; with a reason where something is missing first."""
    found = seat.study.open_round(_known(seat, number), override=body.override or None)
    return StateOut(round=number, state=found.state, said=f"round {number} is open")


@routes.get("/rounds/{number}/ending", access=LEAD, response_model=EndingOut, responses=TROUBLE)
def ending(seat: Seat, number: Number) -> Any:
    """What closing an open round, or dropping a planned one, would take back from raters."""
    found, far = _found(seat, number)
    undone = {name: all - done for name, (done, all) in far.raters.items() if all > done}
    needs_reason = bool(undone) or found.state == "planned"
    return EndingOut(round=number, state=found.state, undone=undone, needs_reason=needs_reason)


@routes.post("/rounds/{number}/close", access=LEAD, response_model=StateOut, responses=TROUBLE)
def close_round(seat: Seat, number: Number, body: CloseIn) -> Any:
    """End a round; what is not done is withdrawn, and then a reason is wanted."""
    found = seat.study.close_round(_known(seat, number), reason=body.reason or None)
    return StateOut(round=number, state=found.state, said=f"round {number} is closed")


@routes.post("/rounds/{number}/drop", access=LEAD, response_model=StateOut, responses=TROUBLE)
def drop_round(seat: Seat, number: Number, body: ReasonIn) -> Any:
    """Give a planned round up; its items are free again."""
    found = seat.study.drop_round(_known(seat, number), reason=body.reason)
    return StateOut(round=number, state=found.state, said=f"round {number} is dropped")


@routes.post("/rounds/{number}/extend", access=LEAD, response_model=ExtendedOut, responses=TROUBLE)
def extend_round(request: Request, seat: Seat, number: Number) -> Any:
    """Give out items that came in since, by the round's own plan."""
    study = workspace_of(request).unhurried(seat.study)
    return ExtendedOut(round=number, items=study.extend_round(_known(seat, number)))
