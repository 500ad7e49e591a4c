"""Taking things out: a file that is made, and fetched once it is there."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from calibrant.core.errors import StudyError
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.attempts import text_of
from calibrant.web.export_files import BY_NAME, KINDS, TYPES, file_name
from calibrant.web.jobs import Job, jobs_of, noted
from calibrant.web.render import page, redirect

routes = Routes()
LEAD = member("lead")
PATIENCE = 2.5
"""Seconds that a page waits for a file; what takes longer is fetched when it is there."""


@routes.get("/s/{study}/exports", access=LEAD)
def exports(request: Request, seat: Seat, part: bool = False) -> Response:
    """What can be taken out, and what is being made; ``part``: the latter alone, for scripts."""
    template = "exports_jobs.html" if part else "exports.html"
    return page(request, template, seat=seat, **_values(request, seat))


@routes.post("/s/{study}/exports", access=LEAD)
def export(request: Request, seat: Seat, form: FormData) -> Response:
    """Make a file; small ones come at once."""
    renamed = text_of(form, "pseudonyms") == "on"
    job = begin(request, seat, text_of(form, "what"), pseudonyms=renamed)
    if not job.over.wait(PATIENCE):
        said = "The file is being made: it stands here when it is ready."
        return redirect(request, f"{seat.path}/exports", said)
    if job.state == "failed":
        values = _values(request, seat) | {"trouble": job.said}
        return page(request, "exports.html", seat=seat, status=422, **values)
    return sent(job)


@routes.get("/s/{study}/exports/{job}/file", access=LEAD)
def fetch(request: Request, seat: Seat, job: str) -> Response:
    """A file that is ready."""
    return sent(found_job(request, seat, job))


def begin(request: Request, seat: Seat, what: str, *, pseudonyms: bool) -> Job:
    """Begin to make a file."""
    kind = BY_NAME.get(what)
    if kind is None:
        raise StudyError(f"there is no such export; known: {', '.join(BY_NAME)}")
    if pseudonyms and not kind.can_rename:
        raise StudyError(f"{kind.title} names nobody under another name: take the tables instead")
    study = workspace_of(request).unhurried(seat.study)
    name = file_name(study.number, kind, pseudonyms=pseudonyms)
    job = Job(
        study=study.number,
        kind="export",
        by=seat.visitor.name,
        title=kind.title + (", under pseudonyms" if pseudonyms else ""),
        began=study.now(),
        about=name,
    )

    def work(one: Job) -> str:
        assert one.folder is not None
        kind.make(study, one.folder / name, pseudonyms, one)
        return "It is ready."

    noted(request, seat, "exported", what=kind.name, pseudonyms=pseudonyms)
    return jobs_of(request).start(job, work)


def found_job(request: Request, seat: Seat, number: str) -> Job:
    """A job of one's own; others' files are as good as not there."""
    job = jobs_of(request).find(seat.study.number, "export", number)
    if job is None or job.by != seat.visitor.name:
        raise HTTPException(404, NOT_FOUND)
    return job


def sent(job: Job) -> Response:
    """The file of a job, to be kept and not shown."""
    if job.state != "done" or job.folder is None:
        raise HTTPException(404, "That file is not there (yet).")
    path = job.folder / str(job.about)
    return FileResponse(path, media_type=TYPES[path.suffix], filename=path.name)


def _values(request: Request, seat: Seat) -> dict[str, Any]:
    mine = [
        one
        for one in jobs_of(request).of(seat.study.number, "export")
        if one.by == seat.visitor.name
    ]
    return {"kinds": KINDS, "jobs": mine, "trouble": ""}
