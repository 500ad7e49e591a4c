"""Reports that are frozen from a page or by a program: made beside the request, and waited for.

What they are kept with is recorded before. A large study takes longer than anybody waits: then
the report comes by itself, and the page of check-ins says how far it is.
"""

from __future__ import annotations

from fastapi import Request

from calibrant.core.errors import StudyError
from calibrant.report.asking import Missing
from calibrant.report.frozen import freeze, said
from calibrant.study.handle import Study
from calibrant.web.access import Seat, workspace_of
from calibrant.web.jobs import Job, jobs_of

PATIENCE = 2.5
"""Seconds that a request waits for a report."""
COMING = "the report of now is being put together, and is frozen with it when it is done"


def frozen_with(request: Request, seat: Seat, number: int) -> str:
    """Freeze the report with what was just recorded; what becomes of that, for a sentence."""
    study = workspace_of(request).unhurried(seat.study)
    job = Job(
        study=study.number,
        kind="report",
        by=seat.visitor.name,
        title="report",
        began=study.now(),
        about=number,
    )
    try:
        jobs_of(request).start(job, lambda one: _frozen(study, number))
    except StudyError as error:
        return said(Missing(str(error)))
    if not job.over.wait(PATIENCE):
        return COMING
    return job.said if job.state == "done" else said(Missing(job.said))


def _frozen(study: Study, number: int) -> str:
    outcome = freeze(study, number)
    if isinstance(outcome, Missing):
        raise StudyError(outcome.why)
    return said(outcome)


def unfinished(request: Request, seat: Seat) -> dict[int, str]:
    """What is to be said of reports that are not there (yet), by what they are frozen with."""
    waiting = {}
    for one in jobs_of(request).of(seat.study.number, "report"):
        if one.state != "done":
            told = COMING if one.state == "running" else said(Missing(one.said))
            waiting[int(one.about)] = f"{told[0].upper()}{told[1:]}."
    return waiting
