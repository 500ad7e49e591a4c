"""The rubric of a study: its handbook, its versions, where it makes trouble, and the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.core.diff import RubricDiff, diff_rubrics
from calibrant.core.errors import CalibrantError, Refused, SourceError
from calibrant.core.process import Cause
from calibrant.core.rubric import Rubric
from calibrant.formats.rubric_file import MAX_BYTES, builtin_names, load_rubric
from calibrant.formats.rubric_text import rubric_yaml
from calibrant.study.refine import Replay, UsedVersion
from calibrant.web.access import NOT_FOUND, SIGNED_IN, Routes, Seat, member, workspace_of
from calibrant.web.begin import Proof, builtin_rubrics, proof_of, starting_text, uploaded_text
from calibrant.web.criterion_view import asked_of
from calibrant.web.form_fields import sentence, text_of
from calibrant.web.forms import Filled
from calibrant.web.handbook_view import handbook_view
from calibrant.web.kept import comes_later, kept_for
from calibrant.web.pages.results import waiting_page
from calibrant.web.render import page, redirect

routes = Routes()
CAUSES: dict[str, str] = {
    "disagreement_pattern": "raters disagree in a pattern",
    "edge_case": "an edge case that it did not foresee",
    "rater_feedback": "raters said so",
    "goal_change": "the goal changed",
}
assert tuple(CAUSES) == get_args(Cause)


@routes.get("/rubrics", access=SIGNED_IN)
def built_in(request: Request) -> Response:
    """The rubrics that come with calibrant."""
    return page(request, "rubric_list.html", rubrics=builtin_rubrics())


@routes.get("/rubrics/{name}", access=SIGNED_IN)
def built_in_handbook(request: Request, name: str) -> Response:
    """The handbook of one of them."""
    if name not in builtin_names():
        raise HTTPException(404, NOT_FOUND)
    rubric = load_rubric(name)
    return page(request, "rubric_builtin.html", rubric=rubric, view=handbook_view(rubric))


@routes.get("/s/{study}/rubric", access=member())
def handbook(request: Request, seat: Seat, version: str = "") -> Response:
    """The handbook of the version in force, or of one that was."""
    used = [one.rubric for one in seat.study.versions()]
    current = used[-1]
    rubric = version_named(used, version) if version else current
    return page(
        request,
        "rubric.html",
        seat=seat,
        rubric=rubric,
        view=handbook_view(rubric),
        current=rubric.hash == current.hash,
    )


def version_named(versions: list[Rubric], name: str) -> Rubric:
    """The version of that number; not found where the study never used it."""
    found = next((one for one in reversed(versions) if one.version == name), None)
    if found is None:
        raise HTTPException(404, NOT_FOUND)
    return found


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A line of the history."""

    version: str
    at: str
    cause: str
    why: str
    """In the words of the lead who put it in force."""
    text: str
    """What the document's own history says of it."""


@routes.get("/s/{study}/rubric/history", access=member())
def history(request: Request, seat: Seat, old: str = "", new: str = "") -> Response:
    """All versions, and what changed between two of them: the last two unless told."""
    versions = seat.study.versions()
    rubrics = [one.rubric for one in versions]
    old = old or (rubrics[-2].version if len(rubrics) > 1 else "")
    new = new or rubrics[-1].version
    return page(
        request,
        "rubric_history.html",
        seat=seat,
        versions=list(map(_version_row, versions)),
        old=old,
        new=new,
        found=compared(rubrics, old, new) if old else None,
    )


def _version_row(used: UsedVersion) -> VersionRow:
    version = used.rubric.version
    return VersionRow(
        version,
        used.at,
        CAUSES.get(used.cause, used.cause.replace("_", " ")) or "the study began with it",
        used.why,
        "; ".join(one.text for one in used.rubric.changelog or () if one.version == version),
    )


def compared(versions: list[Rubric], old: str, new: str) -> RubricDiff:
    """What changed between two versions, whichever was named first."""
    pair = sorted((version_named(versions, old), version_named(versions, new)), key=versions.index)
    return diff_rubrics(*pair)


@routes.get("/s/{study}/rubric/troubles", access=member())
def troubles(request: Request, seat: Seat, now: bool = False) -> Response:
    """Criteria by the trouble they make in the rounds that one may see, the worst first."""
    if not now and comes_later(request, seat, "troubles"):
        return waiting_page(request, seat, "Where raters disagree", "rubric", whole=True)
    found = kept_for(request, seat, "troubles", lambda study: study.troubles())
    rubric = seat.study.rubric()
    return page(
        request,
        "rubric_troubles.html",
        seat=seat,
        troubles=[(one, rubric.criterion(one.criterion).title) for one in found],
        most=max((one.disagreements for one in found), default=0) or 1,
        compared=seat.has("lead") or any(one.state == "closed" for one in seat.study.rounds()),
    )


@routes.get("/s/{study}/rubric/next", access=member("lead"))
def next_version(request: Request, seat: Seat) -> Response:
    """Where the next version is written: it starts from the one in force."""
    return _writing(request, seat, yaml_of(seat.study.rubric()))


def yaml_of(rubric: Rubric) -> str:
    """The version in force as text; one that came with calibrant keeps its comments."""
    if rubric.id in builtin_names() and load_rubric(rubric.id).hash == rubric.hash:
        return starting_text(rubric.id)
    return rubric_yaml(rubric)


def _writing(
    request: Request,
    seat: Seat,
    text: str,
    *,
    replay: Replay | None = None,
    wrong: str = "",
    typed: FormData | None = None,
) -> Response:
    proof = proof_of(text)
    current = seat.study.rubric()
    allowed = current.update_causes or get_args(Cause)
    return page(
        request,
        "rubric_next.html",
        seat=seat,
        status=422 if wrong else 200,
        current=current,
        text=text,
        replay=replay,
        flips=replay.flips.to_dicts() if replay is not None else [],
        causes={name: told for name, told in CAUSES.items() if name in allowed},
        typed={
            name: text_of(typed, name) if typed is not None else "" for name in ("cause", "why")
        },
        wrong=wrong,
        **_found(proof),
    )


def _found(proof: Proof) -> dict[str, object]:
    """What the piece of the page needs that shows mistakes, or the form."""
    return {
        "proof": proof,
        "faults": proof.faults[:200],
        "rubric": proof.rubric,
        "asked": asked_of(proof.rubric) if proof.rubric is not None else (),
        "nothing": Filled({}),
    }


@routes.post("/s/{study}/rubric/next", access=member("lead"))
def written(request: Request, seat: Seat, form: FormData) -> Response:
    """Show what a next version would do, or put it in force."""
    value = form.get("yaml")
    text = value.replace("\r\n", "\n") if isinstance(value, str) else ""
    rubric = proof_of(text).rubric
    if rubric is None:
        return _writing(request, seat, text, wrong="The rubric has mistakes: they are listed here.")
    study = workspace_of(request).unhurried(seat.study)
    replay = None
    try:
        if text_of(form, "act") != "adopt":
            return _writing(request, seat, text, replay=study.replay(rubric))
        replay = study.replay(rubric)
        study.refine(rubric, cause=_cause(form), text=text_of(form, "why"))
    except Refused:
        raise
    except CalibrantError as error:
        return _writing(request, seat, text, replay=replay, wrong=sentence(error), typed=form)
    said = f"Version {rubric.version} is in force. Raters read it before they go on."
    return redirect(request, f"{seat.path}/rubric/history", said)


def _cause(form: FormData) -> Cause:
    found: Cause | None = next(
        (one for one in get_args(Cause) if one == text_of(form, "cause")), None
    )
    if found is None:
        raise CalibrantError("say why the rubric changes: choose a cause")
    return found


@routes.post("/s/{study}/rubric/next/upload", access=member("lead"))
def upload(request: Request, seat: Seat, form: FormData) -> Response:
    """A next version from a file, into the text field: nothing else becomes of the file."""
    sent = form.get("file")
    try:
        if not isinstance(sent, UploadFile) or not sent.filename:
            raise SourceError("choose a file first")
        text = uploaded_text(sent.file.read(MAX_BYTES + 1))
    except SourceError as error:
        return _writing(request, seat, yaml_of(seat.study.rubric()), wrong=sentence(error))
    return _writing(request, seat, text)
