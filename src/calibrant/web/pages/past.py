"""One's own ratings: handed in, to be looked at again, and corrected while there is time."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.core.errors import RecordError, Refused, Stale, StudyError
from calibrant.core.study import Key, Rating
from calibrant.study.collect import Submission, Taken
from calibrant.study.handle import Study
from calibrant.web.access import NOT_FOUND, Routes, Seat, member
from calibrant.web.forms import differences, faults_by_field, form_of
from calibrant.web.rating_page import HOLDER, Sheet, moment_given, sheet_page
from calibrant.web.refs import read_task, task_ref
from calibrant.web.render import page, redirect

routes = Routes()
A_PAGE = 50
MOST = 2**31
"""Ratings of one person, at the very most."""


@dataclass(frozen=True, slots=True)
class Line:
    """A rating in the list of one's own."""

    task: str
    item: str
    round: int
    submitted_at: str
    revision: int
    answers: tuple[tuple[str, str], ...]
    marks: tuple[str, ...]
    is_open: bool


@routes.get("/s/{study}/past", access=member("reviewer"))
def past(request: Request, seat: Seat, after: int = 0, corrected: str = "") -> Response:
    """One's own ratings, the latest first; ``corrected``: the one that has just been corrected."""
    start = min(max(after, 0), MOST)
    mine, total = seat.study.latest_ratings(start=start, limit=A_PAGE)
    opened = open_rounds(seat.study)
    used = [one.rubric for one in seat.study.versions()]
    titles = {one.id: one.title for rubric in used for one in rubric.criteria}
    flags = {one.id: one.title for rubric in used for one in rubric.red_flags or ()}
    lines = [_line(one, titles, flags, opened) for one in mine]
    return page(
        request,
        "past.html",
        seat=seat,
        lines=lines,
        start=min(start, total),
        total=total,
        size=A_PAGE,
        corrected=next((x.item for x in lines if x.task == corrected and x.revision > 1), ""),
    )


def open_rounds(study: Study) -> frozenset[int]:
    """Rounds in which a rating can still be corrected."""
    return frozenset(one.number for one in study.rounds() if one.state == "open")


def _line(
    rating: Rating, titles: dict[str, str], flags: dict[str, str], opened: frozenset[int]
) -> Line:
    facts = rating.facts
    words = {"edge_case": "edge case", "review": "to be reviewed"}
    marks = [words.get(one, one) for one in facts.get("raised", [])]
    marks += [f"red flag: {flags.get(one, one)}" for one in facts.get("flags", [])]
    marks += ["borderline"] if facts.get("borderline") else []
    return Line(
        task_ref(rating.key),
        rating.key.item,
        rating.key.round,
        rating.submitted_at,
        rating.revision,
        tuple((titles.get(name, name), value) for name, value in rating.answers.items()),
        tuple(marks),
        rating.key.round in opened,
    )


@routes.get("/s/{study}/past/{task}", access=member("reviewer"))
def past_one(request: Request, seat: Seat, task: str) -> Response:
    """One of one's own ratings, as a form; it can be corrected while its round is open."""
    taken = taken_up(seat.study, read_task(task, seat.visitor.name))
    return sheet_page(request, seat, _sheet(seat.study, taken))


@routes.post("/s/{study}/past/{task}", access=member("reviewer"))
def correct(request: Request, seat: Seat, task: str, form: FormData) -> Response:
    """Hand a correction in, from a page without scripts."""
    study, key = seat.study, read_task(task, seat.visitor.name)
    taken = taken_up(study, key)
    filled = form_of(form, taken.rubric)
    version = str(form.get("version", ""))
    revision = int(version) if version.isascii() and version.isdigit() and len(version) < 9 else 0
    reason, act = str(form.get("reason", ""))[:5_000], str(form.get("request", ""))[:100]
    started = moment_given(study, str(form.get("started_at", "")))
    submission = Submission(key=key, form=filled, request=act, started_at=started)
    try:
        study.correct(submission, revision=revision, reason=reason)
    except RecordError as error:
        told = faults_by_field(error.faults, filled)
        again = _sheet(study, taken, form=filled, faults=told, reason=reason, request=act)
        return sheet_page(request, seat, again, status=422)
    except Stale as error:
        clash = differences(taken.rubric, filled, taken.form)
        again = _sheet(study, taken, form=filled, clash=clash, trouble=str(error), reason=reason)
        return sheet_page(request, seat, again, status=409)
    return redirect(request, f"{seat.path}/past", f"Your rating of {key.item} is corrected.")


def taken_up(study: Study, key: Key) -> Taken:
    """One's own rating; not found where there is none, or none that may be shown yet."""
    if study.place(key, token=HOLDER) is None:
        raise HTTPException(404, NOT_FOUND)
    try:
        return study.take_up(key)
    except Refused:
        raise
    except StudyError as error:
        raise HTTPException(404, str(error)) from None


def _sheet(study: Study, taken: Taken, **more: object) -> Sheet:
    given = {
        "key": taken.key,
        "item": taken.item,
        "rubric": taken.rubric,
        "form": taken.form,
        "version": taken.revision,
        "correcting": True,
        "is_open": taken.key.round in open_rounds(study),
        **more,
    }
    return Sheet(**given)  # type: ignore[arg-type]
