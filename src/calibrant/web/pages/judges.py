"""Judges: who they are, how they stand beside people, and runs that are started and watched."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.settings import OWN_URL
from calibrant.web import judge_jobs
from calibrant.web.access import NOT_FOUND, Routes, Seat, member
from calibrant.web.attempts import text_of, trouble_of, typed
from calibrant.web.intervals import OUTCOMES, coefficient_words, interval_of
from calibrant.web.jobs import Job, jobs_of
from calibrant.web.render import page, redirect

routes = Routes()
LEAD = member("lead")


@routes.get("/s/{study}/judges", access=LEAD)
def judges(request: Request, seat: Seat) -> Response:
    """Judges and checks of the study, and the form for a run."""
    return page(request, "judges.html", seat=seat, **_values(request, seat))


@routes.get("/s/{study}/judges/run", access=LEAD)
def foresee(request: Request, seat: Seat, model: str = "", way: str = "criterion") -> Response:
    """What a run would do, before it is started; nothing is sent."""
    model = model.strip()
    values: dict[str, Any] = {}
    trouble = trouble_of(lambda: values.update(_outlook(seat, model, way)))
    if trouble:
        again = _values(request, seat) | {"trouble": trouble, "typed": {"model": model, "way": way}}
        return page(request, "judges.html", seat=seat, status=422, **again)
    return page(request, "judges_run.html", seat=seat, model=model, way=way, **values)


@routes.post("/s/{study}/judges/run", access=LEAD)
def start(request: Request, seat: Seat, form: FormData) -> Response:
    """Begin a run; one at a time in a study."""
    model, way = text_of(form, "model"), text_of(form, "way")
    begun: list[Job] = []
    trouble = trouble_of(lambda: begun.append(judge_jobs.start(request, seat, model, way)))
    if trouble:
        again = _values(request, seat) | {"trouble": trouble, "typed": typed(form)}
        return page(request, "judges.html", seat=seat, status=422, **again)
    return redirect(request, f"{seat.path}/judges/runs/{begun[0].number}", "The run has begun.")


@routes.get("/s/{study}/judges/runs/{job}", access=LEAD)
def watch(request: Request, seat: Seat, job: str, part: bool = False) -> Response:
    """How far a run is, and what it came to; ``part``: the figures alone, for scripts."""
    template = "judges_figures.html" if part else "judges_watch.html"
    return page(request, template, seat=seat, job=found_run(request, seat, job))


@routes.post("/s/{study}/judges/runs/{job}/stop", access=LEAD)
def stop(request: Request, seat: Seat, job: str) -> Response:
    """Send nothing more; what is on its way is waited for."""
    judge_jobs.stop(found_run(request, seat, job))
    return redirect(request, f"{seat.path}/judges/runs/{job}", "It stops after what is under way.")


@routes.post("/s/{study}/judges/admit", access=LEAD)
def admit(request: Request, seat: Seat, form: FormData) -> Response:
    """Let a judge count."""
    rater, why = text_of(form, "rater"), text_of(form, "override")
    trouble = trouble_of(lambda: seat.study.admit_judge(rater, override=why or None))
    if trouble:
        return _refused(request, seat, form, trouble, rater)
    return redirect(request, f"{seat.path}/judges", f"{rater} counts from now on.")


@routes.post("/s/{study}/judges/dismiss", access=LEAD)
def dismiss(request: Request, seat: Seat, form: FormData) -> Response:
    """A judge no longer counts; what it said stays readable."""
    rater, why = text_of(form, "rater"), text_of(form, "reason")
    trouble = trouble_of(lambda: seat.study.dismiss_judge(rater, reason=why))
    if trouble:
        return _refused(request, seat, form, trouble, rater)
    return redirect(request, f"{seat.path}/judges", f"{rater} no longer counts.")


def found_run(request: Request, seat: Seat, number: str) -> Job:
    """A run of this study."""
    job = jobs_of(request).find(seat.study.number, "judges", number)
    if job is None:
        raise HTTPException(404, NOT_FOUND)
    return job


def _refused(request: Request, seat: Seat, form: FormData, trouble: str, rater: str) -> Response:
    values = _values(request, seat) | {"trouble": trouble, "typed": typed(form), "failed": rater}
    return page(request, "judges.html", seat=seat, status=422, **values)


def _outlook(seat: Seat, model: str, way: str) -> dict[str, Any]:
    server, found = judge_jobs.outlook(seat.study, model, way)
    return {
        "server": server,
        "judges": found,
        "waiting": sum(one.waiting for one in found),
        "way_told": dict(judge_jobs.WAYS)[way],  # type: ignore[index]
    }


def _values(request: Request, seat: Seat) -> dict[str, Any]:
    study = seat.study
    cards = {one.name: json.loads(one.card) for one in study.members() if one.card is not None}
    waiting: dict[str, int] = {}
    for round in study.progress():
        if round.state == "open":
            for name, (done, total) in round.raters.items():
                waiting[name] = waiting.get(name, 0) + total - done
    return {
        "found": [
            (
                one,
                cards.get(one.rater, {}),
                waiting.get(one.rater, 0),
                list(map(_drawn, one.targets)),
            )
            for one in study.judges()
        ],
        "server": judge_jobs.server(),
        "models": sorted({str(one["model"]) for one in cards.values() if "model" in one}),
        "WAYS": judge_jobs.WAYS,
        "OWN_URL": OWN_URL,
        "OUTCOMES": OUTCOMES,
        "jobs": jobs_of(request).of(study.number, "judges"),
        "trouble": "",
        "typed": {},
        "failed": "",
    }


def _drawn(one: Any) -> tuple[Any, str, Any, Any]:
    found = one.estimate
    value = None if found is None else found.value
    limits = None if found is None else found.interval
    words = coefficient_words(str(one.target))
    return one, words, found, interval_of(value, limits, one.target.value)
