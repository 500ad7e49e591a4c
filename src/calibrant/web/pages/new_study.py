"""The first step of a study: its title, the day it begins, and a rubric that is there already."""

from __future__ import annotations

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import Response

from calibrant.core.errors import CalibrantError, StudyError
from calibrant.formats.rubric_file import builtin_names, load_rubric
from calibrant.web.access import CREATOR, Routes, workspace_of
from calibrant.web.begin import StudyForm, begin_study, builtin_rubrics
from calibrant.web.form_fields import sentence, text_of
from calibrant.web.pages.write_rubric import writing
from calibrant.web.render import page, redirect
from calibrant.web.workspace import Visitor

routes = Routes()


@routes.get("/studies/new", access=CREATOR)
def new_study(request: Request, visitor: Visitor) -> Response:
    """The form that begins a study."""
    today = workspace_of(request).clock().date().isoformat()
    return _form(request, StudyForm(start_on=today))


def _form(request: Request, form: StudyForm, wrong: str = "") -> Response:
    return page(
        request,
        "new_study.html",
        status=422 if wrong else 200,
        form=form,
        rubrics=builtin_rubrics(),
        wrong=wrong,
    )


@routes.post("/studies/new", access=CREATOR)
def begin(request: Request, visitor: Visitor, form: FormData) -> Response:
    """Begin the study; or go on to write a rubric for it, with all that was typed."""
    typed = StudyForm.read(form)
    if text_of(form, "act") == "write":
        return writing(request, typed, "")
    try:
        if typed.rubric not in builtin_names():
            raise StudyError("choose a rubric, or write one")
        number = begin_study(workspace_of(request), visitor, typed, load_rubric(typed.rubric))
    except CalibrantError as error:
        return _form(request, typed, sentence(error))
    return redirect(request, f"/s/{number}/items", "The study is there. Next: what is judged.")
