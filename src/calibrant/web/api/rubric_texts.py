"""Rubrics as texts, for programs: what to write from, and the handbook that raters read."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from calibrant.core.rubric import Rubric
from calibrant.formats.handbook import handbook
from calibrant.formats.handbook_pages import to_markdown
from calibrant.formats.rubric_file import builtin_names, load_rubric
from calibrant.web.access import CREATOR, NOT_FOUND, SIGNED_IN, Routes, Seat, member
from calibrant.web.api.rubric import Version
from calibrant.web.begin import starting_text
from calibrant.web.lead_models import TROUBLE
from calibrant.web.pages.rubric import version_named, yaml_of
from calibrant.web.workspace import Visitor

routes = Routes("/api/v1", tags=["rubric"])
Name = Annotated[str, Path(max_length=64, description="A rubric that comes with calibrant.")]


class TextOut(BaseModel):
    """A rubric as it is written."""

    text: str = Field(description="YAML.")


class HandbookOut(BaseModel):
    """What raters read."""

    id: str
    version: str
    markdown: str

    @classmethod
    def of(cls, rubric: Rubric) -> HandbookOut:
        """The handbook of a rubric."""
        return cls(id=rubric.id, version=rubric.version, markdown=to_markdown(handbook(rubric)))


@routes.get("/rubric-template", access=CREATOR, response_model=TextOut, responses=TROUBLE)
def template(visitor: Visitor) -> Any:
    """What a rubric of your own can start from, with comments that explain it."""
    return TextOut(text=starting_text(""))


def _known(name: str) -> str:
    if name not in builtin_names():
        raise HTTPException(404, NOT_FOUND)
    return name


@routes.get("/rubrics/{name}/text", access=SIGNED_IN, response_model=TextOut, responses=TROUBLE)
def built_in_text(name: Name) -> Any:
    """A rubric that comes with calibrant, as it is written."""
    return TextOut(text=starting_text(_known(name)))


@routes.get(
    "/rubrics/{name}/handbook", access=SIGNED_IN, response_model=HandbookOut, responses=TROUBLE
)
def built_in_handbook(name: Name) -> Any:
    """The handbook of a rubric that comes with calibrant."""
    return HandbookOut.of(load_rubric(_known(name)))


@routes.get(
    "/studies/{study}/rubric/handbook",
    access=member(),
    response_model=HandbookOut,
    responses=TROUBLE,
)
def study_handbook(seat: Seat, version: Version = "") -> Any:
    """The handbook of the version in force, or of one that was."""
    used = [one.rubric for one in seat.study.versions()]
    return HandbookOut.of(version_named(used, version) if version else used[-1])


@routes.get(
    "/studies/{study}/rubric/text", access=member("lead"), response_model=TextOut, responses=TROUBLE
)
def study_text(seat: Seat) -> Any:
    """The version in force as it is written: what the next one starts from."""
    return TextOut(text=yaml_of(seat.study.rubric()))
