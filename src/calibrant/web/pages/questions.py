"""Questions to the lead about the rubric, and their answers, shared with all where they help."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import Response

from calibrant.web.access import Routes, Seat, member
from calibrant.web.attempts import number_of, text_of, trouble_of, typed
from calibrant.web.render import page, redirect

routes = Routes()
ASKERS = member("lead", "reviewer", "adjudicator")


@routes.get("/s/{study}/questions", access=ASKERS)
def questions(request: Request, seat: Seat) -> Response:
    """One's own questions and those shared with all; the lead reads every one."""
    return page(request, "questions.html", seat=seat, **_values(seat))


@routes.post("/s/{study}/questions", access=ASKERS)
def ask(request: Request, seat: Seat, form: FormData) -> Response:
    """Ask the lead about the rubric."""
    trouble = trouble_of(
        lambda: seat.study.ask(
            text_of(form, "text"),
            item=text_of(form, "item") or None,
            criterion=text_of(form, "criterion") or None,
        )
    )
    if trouble:
        values = _values(seat) | {"trouble": trouble, "typed": typed(form)}
        return page(request, "questions.html", seat=seat, status=422, **values)
    return redirect(request, f"{seat.path}/questions", "Asked: the answer will stand here.")


@routes.post("/s/{study}/questions/answer", access=member("lead"))
def answer(request: Request, seat: Seat, form: FormData) -> Response:
    """Answer a question."""
    number, shared = number_of(form, "number"), text_of(form, "share") == "on"
    said = text_of(form, "text")
    trouble = trouble_of(lambda: seat.study.answer_question(number, said, share=shared))
    if trouble:
        values = _values(seat) | {"trouble": trouble, "typed": typed(form), "failed": number}
        return page(request, "questions.html", seat=seat, status=422, **values)
    told = "Answered, and shared with all." if shared else "Answered."
    return redirect(request, f"{seat.path}/questions", told)


def _values(seat: Seat) -> dict[str, Any]:
    found = seat.study.questions()
    return {
        "waiting": [one for one in found if not one.answers],
        "answered": [one for one in reversed(found) if one.answers],
        "criteria": [(one.id, one.title) for one in seat.study.rubric().criteria],
        "trouble": "",
        "typed": {},
        "failed": 0,
    }
