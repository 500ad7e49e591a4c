"""Taking things out, for programs: begin, look, fetch."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from starlette.responses import FileResponse, Response

from calibrant.web.access import Routes, Seat, member
from calibrant.web.export_files import KINDS
from calibrant.web.jobs import Job, jobs_of
from calibrant.web.lead_models import TROUBLE, ExportKindOut, ExportKindsOut
from calibrant.web.pages.exports import begin, found_job, sent
from calibrant.web.run_models import ExportIn, JobOut, JobsOut

routes = Routes("/api/v1/studies/{study}", tags=["exports"])
LEAD = member("lead")
Number = Annotated[str, Path(max_length=40, description="A job, as it was begun.")]


@routes.get("/exports", access=LEAD, response_model=JobsOut, responses=TROUBLE)
def exports(request: Request, seat: Seat) -> Any:
    """Your exports since the server started."""
    found = jobs_of(request).of(seat.study.number, "export")
    return {"jobs": [job_out(one) for one in found if one.by == seat.visitor.name]}


@routes.post("/exports", access=LEAD, status_code=202, response_model=JobOut, responses=TROUBLE)
def export(request: Request, seat: Seat, body: ExportIn) -> Any:
    """Begin to make a file: bundle, tables, ratings, finals, verdicts, agreement and more."""
    return job_out(begin(request, seat, body.what, pseudonyms=body.pseudonyms))


@routes.get("/exports/kinds", access=LEAD, response_model=ExportKindsOut, responses=TROUBLE)
def kinds(seat: Seat) -> Any:
    """What can be taken out: `name` is what `POST /exports` wants to be told."""
    return ExportKindsOut(
        kinds=[
            ExportKindOut(
                name=one.name,
                suffix=one.suffix,
                title=one.title,
                what=one.what,
                can_rename=one.can_rename,
            )
            for one in KINDS
        ]
    )


@routes.get("/exports/{job}", access=LEAD, response_model=JobOut, responses=TROUBLE)
def one_export(request: Request, seat: Seat, job: Number) -> Any:
    """How far an export is."""
    return job_out(found_job(request, seat, job))


@routes.get("/exports/{job}/file", access=LEAD, response_class=FileResponse, responses=TROUBLE)
def fetch(request: Request, seat: Seat, job: Number) -> Response:
    """The file, once it is there."""
    return sent(found_job(request, seat, job))


def job_out(job: Job) -> dict[str, Any]:
    """A job as it is sent."""
    return {
        "number": job.number,
        "title": job.title,
        "state": job.state,
        "said": job.said,
        "began": job.began,
        "by": job.by,
        "count": job.count,
    }
