"""Rating: the next item, a form for it, and what becomes of the form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.core.errors import RecordError, Refused, Stale, StudyError, Unread
from calibrant.core.rubric import Rubric
from calibrant.core.study import Key
from calibrant.study.claim import Task
from calibrant.study.collect import Submission
from calibrant.study.handle import Study
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.criterion_view import advice_of, asked_of
from calibrant.web.forms import differences, faults_by_field, form_of
from calibrant.web.rating_page import (
    HOLDER,
    address,
    guides_of,
    moment_given,
    next_address,
    read_sitting,
    sheet_of,
    sheet_page,
)
from calibrant.web.refs import read_task, task_ref
from calibrant.web.render import page, redirect

routes = Routes()


@routes.get("/s/{study}/rate", access=member("reviewer"))
def rate_next(request: Request, seat: Seat, sitting: str = "") -> Response:
    """The next item to rate, or that there is none."""
    try:
        tasks = seat.study.claim(token=HOLDER)
    except Unread as unread:
        return _to_read(request, seat, unread)
    if not tasks:
        duties = seat.study.duties()
        return page(request, "rate_none.html", seat=seat, duties=duties)
    return sheet_page(request, seat, sheet_of(tasks[0], sitting=read_sitting(sitting)))


@routes.get("/s/{study}/rate/{task}", access=member("reviewer"))
def rate_one(
    request: Request, seat: Seat, task: str, sitting: str = "", leaving: str = ""
) -> Response:
    """One of the reviewer's own open items.

    ``leaving`` is another that will be handed in before this one is shown: the page is read ahead.
    """
    key = read_task(task, seat.visitor.name)
    done = read_task(leaving, seat.visitor.name) if leaving else None
    try:
        tasks = seat.study.claim(token=HOLDER, key=key)
    except Unread as unread:
        return _to_read(request, seat, unread)
    if not tasks:
        return _elsewhere(request, seat, key)
    sheet = sheet_of(tasks[0], sitting=read_sitting(sitting))
    return sheet_page(request, seat, sheet, leaving=done)


def _elsewhere(request: Request, seat: Seat, key: Key, form: FormData | None = None) -> Response:
    """Why one's own assignment cannot be worked on now; what was typed stays its author's."""
    study = seat.study
    place = study.place(key, token=HOLDER)
    if place is None:
        raise HTTPException(404, NOT_FOUND)
    rubric = _rubric_of(study, key.round)
    draft = study.store.read(lambda tx: tx.draft(study.number, key))
    kept = draft.body if draft is not None else {}
    typed = differences(
        rubric, form_of(form, rubric) if form is not None else kept, _rated(seat, key)
    )
    if place.state == "done" and not any(one.mine for one in typed):
        return redirect(request, f"{seat.path}/past/{task_ref(key)}")
    return page(
        request,
        "rate_held.html",
        seat=seat,
        status=409,
        place=place,
        typed=[one for one in typed if one.mine],
        sent=form is not None,
        task=task_ref(key),
    )


def _rubric_of(study: Study, round: int) -> Rubric:
    hash = next(one.rubric for one in study.rounds() if one.number == round)
    return next(one.rubric for one in study.versions() if one.rubric.hash == hash)


def _rated(seat: Seat, key: Key) -> Mapping[str, Any]:
    """What one's own rating says, where one is in and may be shown."""
    try:
        return seat.study.take_up(key).form
    except Refused:
        raise
    except StudyError:
        return {}


@routes.post("/s/{study}/rate/{task}", access=member("reviewer"))
def hand_in(request: Request, seat: Seat, task: str, form: FormData) -> Response:
    """Save a draft or hand the rating in, from a page without scripts."""
    study, key = seat.study, read_task(task, seat.visitor.name)
    tasks = study.claim(token=HOLDER, key=key)
    if not tasks:
        return _elsewhere(request, seat, key, form)
    held = tasks[0]
    filled = form_of(form, held.rubric)
    if form.get("action") == "save":
        return _save(request, seat, held, filled, form)
    started = moment_given(study, str(form.get("started_at", "")))
    try:
        study.submit(
            Submission(
                key=key,
                form=filled,
                request=str(form.get("request", ""))[:100],
                version=_version(form),
                lease=HOLDER,
                started_at=started,
            )
        )
    except RecordError as error:
        told = faults_by_field(error.faults, filled)
        return _again(request, seat, held, filled, form, faults=told)
    except Stale as error:
        return _again(request, seat, held, filled, form, stale=error)
    workspace_of(request).tallies.handed_in(study, key)
    to = next_address(study, key) or f"{seat.path}/rate"
    sitting = filled.get("sitting", {})
    return redirect(
        request,
        f"{to}?sitting={sitting.get('id', '')}.{sitting.get('position', 0) + 1}",
        f"{key.item} is handed in.",
    )


def _save(
    request: Request, seat: Seat, held: Task, filled: dict[str, Any], form: FormData
) -> Response:
    try:
        seat.study.save_draft(held.key, filled, version=_version(form) or 0, token=HOLDER)
    except Stale as error:
        return _again(request, seat, held, filled, form, stale=error)
    return redirect(request, address(seat.study, held.key), "Your draft is saved.")


def _again(
    request: Request,
    seat: Seat,
    held: Task,
    filled: dict[str, Any],
    form: FormData,
    *,
    faults: dict[str, list[str]] | None = None,
    stale: Stale | None = None,
) -> Response:
    """The form once more with all that was typed, and what keeps it from being taken."""
    clash = differences(held.rubric, filled, held.draft or {}) if stale is not None else ()
    sitting = filled.get("sitting", {})
    sheet = sheet_of(
        held,
        form=filled,
        faults=faults or {},
        clash=clash,
        trouble="" if stale is None else str(stale),
        sitting=(sitting.get("id", ""), sitting.get("position", 1)) if sitting else None,
        started_at=str(form.get("started_at", "")),
        request=str(form.get("request", ""))[:100] if stale is None else "",
    )
    return sheet_page(request, seat, sheet, status=422 if stale is None else 409)


def _version(form: FormData) -> int | None:
    text = str(form.get("version", ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@routes.post("/s/{study}/rate/{task}/ask", access=member("reviewer"))
def ask_lead(request: Request, seat: Seat, task: str, form: FormData) -> Response:
    """Ask the lead about the rubric; scores are no part of it."""
    key = read_task(task, seat.visitor.name)
    if seat.study.place(key, token=HOLDER) is None:
        raise HTTPException(404, NOT_FOUND)
    criterion = str(form.get("criterion", ""))
    seat.study.ask(str(form.get("text", ""))[:5_000], item=key.item, criterion=criterion or None)
    said = "Your question is with the lead. The answer will be under Questions."
    return redirect(request, address(seat.study, key), said)


# -- reading the rubric first


def _to_read(request: Request, seat: Seat, unread: Unread) -> Response:
    """The version to be read before anything is rated by it."""
    known = {one.rubric.hash: one.rubric for one in seat.study.versions()}
    rubric = known.get(unread.rubric) or seat.study.rubric()
    return page(
        request,
        "rate_read.html",
        seat=seat,
        rubric=rubric,
        asked=asked_of(rubric),
        guides=guides_of(rubric),
        advice=advice_of(rubric),
        is_first=not _has_rated(seat.study),
    )


def _has_rated(study: Study) -> bool:
    return any(one.done for one in study.duties())


@routes.post("/s/{study}/acknowledge", access=member("reviewer"))
def acknowledge(request: Request, seat: Seat, form: FormData) -> Response:
    """The reviewer says that they have read the rubric."""
    seat.study.acknowledge()
    return redirect(request, f"{seat.path}/rate", "Noted: you have read the rubric.")
