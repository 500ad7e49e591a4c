"""The rubric of a study, for programs: the document, its versions, what changed, what is next."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from calibrant.core.diff import RubricDiff
from calibrant.core.process import Cause
from calibrant.core.rubric import Rubric
from calibrant.formats.rubric_file import MAX_BYTES, builtin_names, load_rubric, parse_rubric
from calibrant.web.access import NOT_FOUND, SIGNED_IN, Routes, Seat, member, workspace_of
from calibrant.web.lead_models import TROUBLE, Body
from calibrant.web.pages.rubric import compared, version_named
from calibrant.web.run_models import TroubleOut, TroublesOut

routes = Routes("/api/v1", tags=["rubric"])
Version = Annotated[str, Query(max_length=40)]
MOST_FLIPS = 1000
SENT = "the text sent"


class DocumentOut(BaseModel):
    """A version of a rubric, whole."""

    id: str
    version: str
    hash: str
    document: dict[str, Any]

    @classmethod
    def of(cls, one: Rubric) -> DocumentOut:
        """A rubric, as it is sent."""
        document = one.model_dump(mode="json", exclude_defaults=True)
        return cls(id=one.id, version=one.version, hash=one.hash, document=document)


class VersionOut(BaseModel):
    """A version that a study has used."""

    version: str
    hash: str
    at: str
    cause: str
    why: str
    """In the words of the lead who put it in force."""


class VersionsOut(BaseModel):
    """All of them, the one in force last."""

    versions: list[VersionOut]


class ChangeOut(BaseModel):
    """One change in meaning."""

    section: str
    subject: str
    text: str
    before: str | None
    after: str | None


class DiffOut(BaseModel):
    """What changed between two versions, and what becomes of stored answers."""

    old: str
    new: str
    changes: list[ChangeOut]
    answers_valid: list[str]
    ask_again: list[str]
    renamed: list[list[str]]
    verdicts_may_change: bool
    notes: list[str]

    @classmethod
    def of(cls, one: RubricDiff) -> DiffOut:
        """A difference, as it is sent."""
        return cls.model_validate(one.to_dict())


class NextIn(Body):
    """A next version to look at, as YAML or JSON text."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_BYTES)]


class AdoptIn(NextIn):
    """A next version to put in force."""

    cause: Cause
    why: Annotated[str, Field(min_length=1, max_length=20_000)]


class FlipOut(BaseModel):
    """An item whose verdict would change."""

    item: str
    before: str
    after: str


class ReplayOut(BaseModel):
    """What a next version would make of the answers there are."""

    diff: DiffOut
    flips: list[FlipOut]
    """The first thousand."""
    flipped: int


@routes.get("/rubrics/{name}", access=SIGNED_IN, response_model=DocumentOut, responses=TROUBLE)
def built_in(name: Annotated[str, Path(max_length=64)]) -> Any:
    """A rubric that comes with calibrant, whole."""
    if name not in builtin_names():
        raise HTTPException(404, NOT_FOUND)
    return DocumentOut.of(load_rubric(name))


@routes.get(
    "/studies/{study}/rubric", access=member(), response_model=DocumentOut, responses=TROUBLE
)
def rubric(seat: Seat, version: Version = "") -> Any:
    """The version in force, or one that was, whole."""
    versions = [one.rubric for one in seat.study.versions()]
    return DocumentOut.of(version_named(versions, version) if version else versions[-1])


@routes.get(
    "/studies/{study}/rubric/versions",
    access=member(),
    response_model=VersionsOut,
    responses=TROUBLE,
)
def versions(seat: Seat) -> Any:
    """Every version the study has used, with the time it came in force and its cause."""
    found = [
        VersionOut(
            version=one.rubric.version,
            hash=one.rubric.hash,
            at=one.at,
            cause=one.cause,
            why=one.why,
        )
        for one in seat.study.versions()
    ]
    return VersionsOut(versions=found)


@routes.get(
    "/studies/{study}/rubric/diff", access=member(), response_model=DiffOut, responses=TROUBLE
)
def diff(seat: Seat, old: Version, new: Version) -> Any:
    """What changed in meaning between two versions that the study has used."""
    return DiffOut.of(compared([one.rubric for one in seat.study.versions()], old, new))


@routes.get(
    "/studies/{study}/rubric/troubles",
    access=member(),
    response_model=TroublesOut,
    responses=TROUBLE,
)
def troubles(request: Request, seat: Seat) -> Any:
    """Criteria by how much trouble they make in the rounds that you may see, the worst first."""
    found = workspace_of(request).unhurried(seat.study).troubles()
    return TroublesOut(
        troubles=[
            TroubleOut(
                criterion=one.criterion,
                disagreements=one.disagreements,
                unclear=one.unclear,
                questions=one.questions,
                edge_cases=one.edge_cases,
            )
            for one in found
        ]
    )


@routes.post(
    "/studies/{study}/rubric/replay",
    access=member("lead"),
    response_model=ReplayOut,
    responses=TROUBLE,
)
def replay(request: Request, seat: Seat, body: NextIn) -> Any:
    """What a next version would make of the answers there are; nothing is changed."""
    found = workspace_of(request).unhurried(seat.study).replay(parse_rubric(body.text, SENT))
    return ReplayOut(
        diff=DiffOut.of(found.diff),
        flips=[FlipOut(**row) for row in found.flips.head(MOST_FLIPS).to_dicts()],
        flipped=found.flips.height,
    )


@routes.post(
    "/studies/{study}/rubric/versions",
    access=member("lead"),
    response_model=DiffOut,
    responses=TROUBLE,
    status_code=201,
)
def adopt(request: Request, seat: Seat, body: AdoptIn) -> Any:
    """Put the next version in force, with its cause; rounds made before keep theirs."""
    study = workspace_of(request).unhurried(seat.study)
    rubric = parse_rubric(body.text, SENT)
    return DiffOut.of(study.refine(rubric, cause=body.cause, text=body.why))
