"""What the API of leading a study takes and gives: studies, items, people, rounds."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from calibrant.core.errors import Fault
from calibrant.core.plan import Way
from calibrant.core.study import Role, RoundKind, RoundState
from calibrant.formats.rubric_file import MAX_BYTES
from calibrant.web.criterion_view import Asked
from calibrant.web.rating_models import Done as Done  # noqa: PLC0414 - others take it from here
from calibrant.web.rating_models import Problem

Name = Annotated[str, Field(min_length=1, max_length=500)]
Reason = Annotated[str, Field(min_length=1, max_length=2000)]
MOST_ITEMS = 1000
TROUBLE: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "Nobody is signed in, and no token was sent."},
    403: {"model": Problem, "description": "Not for this role."},
    404: {"model": Problem, "description": "No such study, or nothing of that name in it."},
    422: {"model": Problem, "description": "Something does not fit; it says what."},
}


class Body(BaseModel):
    """What is sent: a field that nobody knows is an error, not a surprise."""

    model_config = ConfigDict(extra="forbid")


class Mistake(BaseModel):
    """One mistake: where it is, what is wrong, what to do."""

    path: str
    message: str
    hint: str
    line: int | None = None
    record: int | None = None

    @classmethod
    def of(cls, fault: Fault) -> Mistake:
        """A fault, as it is sent."""
        return cls(
            path=fault.path,
            message=fault.message,
            hint=fault.hint,
            line=fault.line,
            record=fault.record,
        )


# -- studies


class RubricOut(BaseModel):
    """A rubric that comes with calibrant."""

    id: str
    version: str
    hash: str
    title: str
    item_type: str
    summary: str
    criteria: list[str]


class RubricText(Body):
    """A rubric as YAML or JSON."""

    text: Annotated[str, Field(max_length=MAX_BYTES)]


class AnswerOut(BaseModel):
    """An answer that can be given, and what it means."""

    value: str
    label: str
    text: str


class AskedOut(BaseModel):
    """A criterion, as a form asks it."""

    id: str
    title: str
    category: str
    question: str
    detail: str
    answers: list[AnswerOut]
    na: str = Field(description="When NA is right, or why it never is.")

    @classmethod
    def of(cls, one: Asked) -> AskedOut:
        """A criterion, as it is sent."""
        return cls(
            id=one.id,
            title=one.title,
            category=one.category,
            question=one.question,
            detail=one.detail,
            answers=[
                AnswerOut(value=each.value, label=each.label, text=each.text)
                for each in one.choices
            ],
            na=one.na,
        )


class RubricCheck(BaseModel):
    """Whether a rubric can be used; every mistake at once."""

    valid: bool
    rubric: str | None
    """Its id and version, where it is valid."""
    mistakes: list[Mistake]
    warnings: list[str]
    asked: list[AskedOut] = Field(description="Its criteria as raters would be asked them.")


class StudyIn(Body):
    """A study to begin: with a built-in rubric by its name, or with the text of one."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    name: Annotated[str, Field(max_length=500)] = ""
    """Made from the title where it is empty."""
    rubric: str | None = None
    rubric_text: Annotated[str, Field(max_length=MAX_BYTES)] | None = None
    start_on: date | None = None


class StudyOut(BaseModel):
    """A study, and what you are in it."""

    number: int
    name: str
    title: str
    rubric: str
    item_type: str
    start_on: str
    roles: list[Role]


class StudiesOut(BaseModel):
    """Your studies."""

    studies: list[StudyOut]


# -- items


class ItemsIn(Body):
    """Items to add, each in the shape of a record of the study's kind, with its ``id``."""

    items: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_ITEMS)]
    skip_bad: bool = False
    """Take the good ones although others are bad; otherwise nothing is taken."""


class ItemsTaken(BaseModel):
    """What became of items that were sent."""

    added: int
    known: int
    """There already, with the same content."""
    mistakes: list[Mistake]
    """Of items that were left out; ``record`` counts them from 1."""


class ItemOut(BaseModel):
    """An item in the list."""

    ref: str
    """Its name in addresses."""
    id: str
    position: int
    hash: str
    redacted: bool


class ItemsOut(BaseModel):
    """Items by position; ``after`` of the next call is ``next``."""

    items: list[ItemOut]
    total: int
    next: int | None


class ItemWords(BaseModel):
    """An item with its words."""

    id: str
    kind: str
    content: dict[str, Any]


class RedactionOut(BaseModel):
    """What erasing the words of an item would touch."""

    open: int = Field(description="Assignments that could not be rated any more.")
    rated: int = Field(description="Ratings that stay, about words that are gone.")


class ReasonIn(Body):
    """Why something is done: it stands in the audit log."""

    reason: Reason


# -- people


class MemberIn(Body):
    """Somebody to add."""

    name: Name
    group: Annotated[str, Field(max_length=60)] | None = None
    roles: Annotated[list[Role], Field(min_length=1, max_length=10)] = ["reviewer"]


class MemberOut(BaseModel):
    """Somebody, or something, that takes part."""

    ref: str
    name: str
    kind: str
    roles: list[Role]
    group: str | None
    joined_at: str
    left_at: str | None
    has_account: bool
    invited_until: str | None
    card: dict[str, Any] | None
    open: int = Field(description="Ratings still to be made, in rounds that are not closed.")
    done: int


class MembersIn(Body):
    """People to add: all of them, or nobody while one of them does not fit."""

    members: Annotated[list[MemberIn], Field(min_length=1, max_length=200)]


class MembersOut(BaseModel):
    """Everybody, in the order of joining."""

    members: list[MemberOut]


class RolesIn(Body):
    """Other roles for somebody."""

    roles: Annotated[list[Role], Field(min_length=1, max_length=10)]


class HandoverOut(BaseModel):
    """What became of the work of somebody who left."""

    moved: dict[str, int]
    left_over: list[str]


class InvitationOut(BaseModel):
    """A link for somebody; it is told once and kept nowhere."""

    name: str
    address: str
    days: int


# -- rounds


class PlanIn(Body):
    """How items are shared out; shares lie from 0 to 1."""

    way: Way
    raters: Annotated[int, Field(ge=1, le=10_000)] | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    minimum: Annotated[int, Field(ge=0, le=100_000_000)] | None = None
    repeats: Annotated[float, Field(ge=0, le=0.1)] = 0


class RoundIn(Body):
    """A round to plan; without a plan the rubric decides."""

    kind: RoundKind = "main"
    plan: PlanIn | None = None
    items: Annotated[list[str], Field(min_length=1, max_length=100_000)] | None = None
    sample: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    raters: Annotated[list[str], Field(min_length=1, max_length=10_000)] | None = None
    dry_run: bool = False
    """Show the workload, keep nothing."""


class PlannedOut(BaseModel):
    """A round with what it asks of each rater."""

    round: int
    kind: RoundKind
    items: int
    plan: dict[str, Any]
    workload: dict[str, int]
    kept: bool
    missing: list[str]
    """What has to happen before it opens."""


class Part(BaseModel):
    """How far a rater is."""

    done: int
    total: int


class RoundOut(BaseModel):
    """A round, and how far it is."""

    round: int
    kind: RoundKind
    state: Literal["planned", "open", "closed", "dropped"]
    rubric: str
    phase: str | None
    plan: dict[str, Any]
    opened_at: str | None
    closed_at: str | None
    done: int
    total: int
    raters: dict[str, Part]


class RoundsOut(BaseModel):
    """All rounds, in order."""

    rounds: list[RoundOut]
    waiting: int = Field(description="Items that no round has that counts.")


class EndingOut(BaseModel):
    """What closing or dropping a round would do."""

    round: int
    state: RoundState
    undone: dict[str, int] = Field(description="Ratings that would be withdrawn, by rater.")
    needs_reason: bool = Field(description="Whether it ends only with a reason.")


class BlockersOut(BaseModel):
    """What has to happen before a round may open; empty when nothing has."""

    missing: list[str]


class OpenIn(Body):
    """A reason to open a round although something is missing."""

    override: Annotated[str, Field(max_length=2000)] | None = None


class CloseIn(Body):
    """A reason to close a round before every rating is in."""

    reason: Annotated[str, Field(max_length=2000)] | None = None


class StateOut(BaseModel):
    """A round after it was opened, closed or dropped."""

    round: int
    state: RoundState
    said: str


class ExtendedOut(BaseModel):
    """How many items a round took in."""

    round: int
    items: int


# -- exports


class ExportKindOut(BaseModel):
    """Something that can be taken out as a file."""

    name: str
    suffix: str
    title: str
    what: str
    can_rename: bool = Field(description="Whether members can go by pseudonyms in it.")


class ExportKindsOut(BaseModel):
    """Everything that can be taken out."""

    kinds: list[ExportKindOut]
