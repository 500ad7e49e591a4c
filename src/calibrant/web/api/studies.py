"""Studies and rubrics, for programs: what there is, checking a rubric, beginning a study."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from calibrant.core.errors import RecordError, StudyError
from calibrant.core.rubric import Rubric
from calibrant.core.study import Role, StudyRecord
from calibrant.formats.rubric_file import builtin_names, load_rubric
from calibrant.web.access import CREATOR, SIGNED_IN, Routes, Seat, member, workspace_of
from calibrant.web.begin import StudyForm, begin_study, builtin_rubrics, proof_of
from calibrant.web.criterion_view import asked_of
from calibrant.web.lead_models import (
    TROUBLE,
    AskedOut,
    Mistake,
    RubricCheck,
    RubricOut,
    RubricText,
    StudiesOut,
    StudyIn,
    StudyOut,
)
from calibrant.web.workspace import Visitor

routes = Routes("/api/v1", tags=["studies"])


@routes.get("/rubrics", access=SIGNED_IN, response_model=list[RubricOut], responses=TROUBLE)
def rubrics(visitor: Visitor) -> Any:
    """The rubrics that come with calibrant."""
    return [
        RubricOut(
            id=one.id,
            version=one.version,
            hash=one.hash,
            title=one.title,
            item_type=one.item_type,
            summary=one.summary,
            criteria=list(one.criterion_ids),
        )
        for one in builtin_rubrics()
    ]


@routes.post("/rubrics/check", access=CREATOR, response_model=RubricCheck, responses=TROUBLE)
def check_rubric(visitor: Visitor, body: RubricText) -> Any:
    """Every mistake of a rubric, each with its line; nothing is kept."""
    proof = proof_of(body.text)
    return RubricCheck(
        valid=proof.rubric is not None,
        rubric=proof.rubric.name if proof.rubric is not None else None,
        mistakes=[Mistake.of(one) for one in proof.faults],
        warnings=list(proof.warnings),
        asked=[AskedOut.of(one) for one in asked_of(proof.rubric)] if proof.rubric else [],
    )


@routes.get("/studies", access=SIGNED_IN, response_model=StudiesOut, responses=TROUBLE)
def studies(request: Request, visitor: Visitor) -> Any:
    """The studies in which you take part."""
    found = workspace_of(request).studies_of(visitor.name)
    return StudiesOut(
        studies=[_study(number, record, joined.roles) for number, record, joined in found]
    )


def _study(number: int, record: StudyRecord, roles: tuple[Role, ...]) -> StudyOut:
    return StudyOut(
        number=number,
        name=record.name,
        title=record.title,
        rubric=record.rubric_id,
        item_type=record.item_type,
        start_on=record.start_on,
        roles=list(roles),
    )


@routes.post(
    "/studies", access=CREATOR, response_model=StudyOut, responses=TROUBLE, status_code=201
)
def begin(request: Request, visitor: Visitor, body: StudyIn) -> Any:
    """Begin a study that you lead."""
    form = StudyForm(
        title=body.title,
        name=body.name.strip(),
        start_on=body.start_on.isoformat() if body.start_on is not None else "",
    )
    workspace = workspace_of(request)
    number = begin_study(workspace, visitor, form, _rubric(body))
    entered = workspace.enter(number, visitor.name)
    assert entered is not None
    study, joined = entered
    return _study(number, study.record, joined.roles)


def _rubric(body: StudyIn) -> Rubric:
    if (body.rubric is None) == (body.rubric_text is None):
        raise StudyError("name a built-in rubric, or send the text of one")
    if body.rubric_text is not None:
        proof = proof_of(body.rubric_text)
        if proof.rubric is None:
            raise RecordError(proof.faults)
        return proof.rubric
    if body.rubric not in builtin_names():
        raise StudyError(f"there are the rubrics {', '.join(builtin_names())}; choose one of them")
    return load_rubric(body.rubric)


@routes.get("/studies/{study}", access=member(), response_model=StudyOut, responses=TROUBLE)
def one_study(seat: Seat) -> Any:
    """One study, and what you are in it."""
    return _study(seat.study.number, seat.study.record, seat.roles)
