"""Judges, for programs: how they stand, whether they count, and their runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request

from calibrant.web import judge_jobs
from calibrant.web.access import Routes, Seat, member
from calibrant.web.api.exports import job_out
from calibrant.web.jobs import Job, jobs_of
from calibrant.web.lead_models import TROUBLE, Done
from calibrant.web.pages.judges import found_run
from calibrant.web.run_models import (
    ForeseenOut,
    JobsOut,
    JudgeDismissed,
    JudgeNamed,
    JudgesOut,
    RunIn,
    RunOut,
)

routes = Routes("/api/v1/studies/{study}", tags=["judges"])
LEAD = member("lead")
Number = Annotated[str, Path(max_length=40, description="A run, as it was begun.")]


@routes.get("/judges", access=LEAD, response_model=JudgesOut, responses=TROUBLE)
def judges(seat: Seat) -> Any:
    """Judges and checks with their agreement with people, and the server that runs ask."""
    server = judge_jobs.server()
    return {
        "judges": [
            {
                "rater": one.rater,
                "kind": one.kind,
                "counts": one.counts,
                "items": one.items,
                "targets": [target.to_dict() for target in one.targets],
                "low": one.low,
                "why": one.why,
            }
            for one in seat.study.judges()
        ],
        "server": None if server is None else server.host,
    }


@routes.post("/judges/admit", access=LEAD, response_model=Done, responses=TROUBLE)
def admit(seat: Seat, body: JudgeNamed) -> Any:
    """Let a judge count: it meets the targets on the calibration items, or you say why."""
    found = seat.study.admit_judge(body.rater, override=body.override)
    return Done(said=f"{found.rater} counts from now on: {found.why}")


@routes.post("/judges/dismiss", access=LEAD, response_model=Done, responses=TROUBLE)
def dismiss(seat: Seat, body: JudgeDismissed) -> Any:
    """A judge no longer counts; what it said stays readable."""
    seat.study.dismiss_judge(body.rater, reason=body.reason)
    return Done(said=f"{body.rater} no longer counts")


@routes.get("/judge-runs/foreseen", access=LEAD, response_model=ForeseenOut, responses=TROUBLE)
def foreseen(
    seat: Seat,
    model: Annotated[str, Query(min_length=1, max_length=200)],
    way: Literal["criterion", "category", "rubric"] = "criterion",
) -> Any:
    """What a run would do; nothing is sent."""
    server, found = judge_jobs.outlook(seat.study, model, way)
    return {
        "host": server.host,
        "leaves_this_machine": not server.is_near,
        "judges": [asdict(one) for one in found],
        "items": sum(one.waiting for one in found),
    }


@routes.get("/judge-runs", access=LEAD, response_model=JobsOut, responses=TROUBLE)
def runs(request: Request, seat: Seat) -> Any:
    """Runs since the server started."""
    found = jobs_of(request).of(seat.study.number, "judges")
    return {"jobs": [job_out(one) for one in found]}


@routes.post("/judge-runs", access=LEAD, status_code=202, response_model=RunOut, responses=TROUBLE)
def start(request: Request, seat: Seat, body: RunIn) -> Any:
    """Begin a run: items of open rounds go to the server; one run at a time in a study."""
    return _run_out(judge_jobs.start(request, seat, body.model, body.way))


@routes.get("/judge-runs/{job}", access=LEAD, response_model=RunOut, responses=TROUBLE)
def watch(request: Request, seat: Seat, job: Number) -> Any:
    """How far a run is, and what it came to."""
    return _run_out(found_run(request, seat, job))


@routes.post("/judge-runs/{job}/stop", access=LEAD, response_model=RunOut, responses=TROUBLE)
def stop(request: Request, seat: Seat, job: Number) -> Any:
    """Send nothing more; what is on its way is waited for."""
    found = found_run(request, seat, job)
    judge_jobs.stop(found)
    return _run_out(found)


def _run_out(job: Job) -> dict[str, Any]:
    return {**job_out(job), "figures": job.about.figures}
