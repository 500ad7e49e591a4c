"""Check-ins with how agreement stood, lessons, and the rubric kept or declared final."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import Response

from calibrant.study.phases import CheckIn
from calibrant.web.access import Routes, Seat, member
from calibrant.web.attempts import text_of, trouble_of, typed
from calibrant.web.freezing import frozen_with, unfinished
from calibrant.web.intervals import OUTCOMES, coefficient_words, interval_of, target_value
from calibrant.web.render import page, redirect

routes = Routes()
LEAD = member("lead")


@routes.get("/s/{study}/check-ins", access=member("lead", "viewer"))
def check_ins(request: Request, seat: Seat) -> Response:
    """All check-ins and lessons."""
    return page(request, "check_ins.html", seat=seat, **_values(request, seat))


@routes.post("/s/{study}/check-ins", access=LEAD)
def check_in(request: Request, seat: Seat, form: FormData) -> Response:
    """Record a check-in; agreement as it stands now and the whole report are kept with it."""
    came = [one for one in form.getlist("attendees") if isinstance(one, str)]
    made: list[CheckIn] = []

    def record() -> None:
        decisions, actions = text_of(form, "decisions"), text_of(form, "actions")
        made.append(seat.study.check_in(attendees=came, decisions=decisions, actions=actions))

    trouble = trouble_of(record)
    if trouble:
        return _again(request, seat, form, trouble, attendees=came)
    said = f"The check-in is recorded; {frozen_with(request, seat, made[0].number)}."
    return redirect(request, f"{seat.path}/check-ins", said)


@routes.post("/s/{study}/lessons", access=member("lead", "reviewer", "adjudicator"))
def lesson(request: Request, seat: Seat, form: FormData) -> Response:
    """Write down something that was learned."""
    trouble = trouble_of(lambda: seat.study.add_lesson(text_of(form, "text")))
    if trouble:
        return _again(request, seat, form, trouble)
    back = "/check-ins" if seat.has("lead", "viewer") else ""
    return redirect(request, f"{seat.path}{back}", "It is written down.")


@routes.post("/s/{study}/rubric-stays", access=LEAD)
def keep_guidelines(request: Request, seat: Seat, form: FormData) -> Response:
    """Say that after the discussion the rubric stays as it is."""
    trouble = trouble_of(lambda: seat.study.keep_guidelines(reason=text_of(form, "reason")))
    if trouble:
        return _again(request, seat, form, trouble)
    return redirect(request, f"{seat.path}/check-ins", "The rubric stays as it is.")


@routes.post("/s/{study}/rubric-final", access=LEAD)
def finalise(request: Request, seat: Seat, form: FormData) -> Response:
    """Say that the version in force is the final one."""
    name = seat.study.finalise_rubric()
    return redirect(request, f"{seat.path}/check-ins", f"{name} is final.")


def _again(request: Request, seat: Seat, form: FormData, trouble: str, **more: Any) -> Response:
    values = _values(request, seat) if seat.has("lead", "viewer") else _nothing()
    values |= {"trouble": trouble, "typed": typed(form), **more}
    return page(request, "check_ins.html", seat=seat, status=422, **values)


def _nothing() -> dict[str, Any]:
    """What the page shows to whoever may only write a lesson down."""
    return {
        "found": [],
        "frozen": set(),
        "unfinished": {},
        "lessons": [],
        "people": [],
        "rubric": None,
        "OUTCOMES": OUTCOMES,
        "trouble": "",
        "typed": {},
        "attendees": [],
    }


def _values(request: Request, seat: Seat) -> dict[str, Any]:
    study = seat.study
    leads = seat.has("lead")
    return _nothing() | {
        "frozen": {one.number for one in study.frozen_reports()} if leads else set(),
        "unfinished": unfinished(request, seat) if leads else {},
        "found": [(one, list(map(_drawn, one.snapshot))) for one in reversed(study.check_ins())],
        "lessons": study.lessons(),
        "people": [
            one.name for one in study.members() if one.kind == "HUMAN" and one.left_at is None
        ],
        "rubric": study.rubric(),
    }


def _drawn(row: dict[str, Any]) -> tuple[dict[str, Any], str, Any]:
    limits = row.get("interval")
    interval = (float(limits[0]), float(limits[1])) if limits else None
    target = str(row["target"])
    return row, coefficient_words(target), interval_of(row["value"], interval, target_value(target))
