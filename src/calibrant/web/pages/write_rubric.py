"""Writing a rubric of one's own: checked while it is typed, shown as raters will see it."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from calibrant.core.errors import CalibrantError, SourceError
from calibrant.formats.rubric_file import MAX_BYTES, builtin_names
from calibrant.web.access import CREATOR, Routes, workspace_of
from calibrant.web.begin import (
    Proof,
    StudyForm,
    begin_study,
    proof_of,
    starting_text,
    uploaded_text,
)
from calibrant.web.criterion_view import asked_of
from calibrant.web.form_fields import sentence, text_of
from calibrant.web.forms import Filled
from calibrant.web.render import page, redirect
from calibrant.web.workspace import Visitor

routes = Routes()
HERE = "/studies/new/rubric"
SHOWN_FAULTS = 200


def writing(
    request: Request,
    form: StudyForm,
    text: str,
    proof: Proof | None = None,
    *,
    wrong: str = "",
) -> Response:
    """The page on which a rubric is written, with all that stands in it."""
    return page(
        request,
        "write_rubric.html",
        status=422 if wrong else 200,
        form=form,
        text=text,
        names=builtin_names(),
        wrong=wrong,
        **_found(proof),
    )


def _found(proof: Proof | None) -> dict[str, Any]:
    rubric = proof.rubric if proof is not None else None
    return {
        "proof": proof,
        "faults": proof.faults[:SHOWN_FAULTS] if proof is not None else (),
        "rubric": rubric,
        "asked": asked_of(rubric) if rubric is not None else (),
        "nothing": Filled({}),
    }


@routes.get(HERE, access=CREATOR)
def write(request: Request, visitor: Visitor, like: str = "") -> Response:
    """A rubric to write: empty, or begun from a template or a copy."""
    today = workspace_of(request).clock().date().isoformat()
    text = starting_text(like) if like else ""
    return writing(request, StudyForm(start_on=today), text, proof_of(text) if text else None)


@routes.post(HERE, access=CREATOR)
def written(request: Request, visitor: Visitor, form: FormData) -> Response:
    """Check what was written, start from a template, or begin the study with it."""
    typed, text = StudyForm.read(form), _yaml(form)
    if text_of(form, "act") == "start":
        return _started(request, typed, text, form)
    proof = proof_of(text)
    if text_of(form, "act") != "begin":
        return writing(request, typed, text, proof)
    if proof.rubric is None:
        wrong = "The rubric has mistakes: they are listed beside it."
        return writing(request, typed, text, proof, wrong=wrong)
    try:
        number = begin_study(workspace_of(request), visitor, typed, proof.rubric)
    except CalibrantError as error:
        return writing(request, typed, text, proof, wrong=sentence(error))
    return redirect(request, f"/s/{number}/items", "The study is there. Next: what is judged.")


def _started(request: Request, typed: StudyForm, text: str, form: FormData) -> Response:
    """A template in the place of what stood there; not without being told to replace it."""
    like = text_of(form, "like")
    begun = {starting_text(name).strip() for name in ("", *builtin_names())}
    if text.strip() and text.strip() not in begun and not form.get("replace"):
        wrong = "Something is written already: tick “replace what I have written” to lose it."
        return writing(request, typed, text, proof_of(text), wrong=wrong)
    fresh = starting_text(like)
    return writing(request, typed, fresh, proof_of(fresh))


def _yaml(form: FormData) -> str:
    value = form.get("yaml")
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


@routes.post("/studies/new/rubric/upload", access=CREATOR)
def upload(request: Request, visitor: Visitor, form: FormData) -> Response:
    """A rubric from a file, into the text field: nothing else becomes of the file."""
    typed, sent = StudyForm.read(form), form.get("file")
    try:
        if not isinstance(sent, UploadFile) or not sent.filename:
            raise SourceError("choose a file first")
        text = uploaded_text(sent.file.read(MAX_BYTES + 1))
    except SourceError as error:
        before = _yaml(form)
        proof = proof_of(before) if before.strip() else None
        return writing(request, typed, before, proof, wrong=sentence(error))
    return writing(request, typed, text, proof_of(text))


@routes.post("/rubrics/check", access=CREATOR)
def check(request: Request, visitor: Visitor, form: FormData) -> Response:
    """The faults of a rubric and its preview, as a piece of the page."""
    return page(request, "write_rubric_check.html", **_found(proof_of(_yaml(form))))
