"""What the JSON API of rating takes and gives."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

DEEPEST = 8
"""Lists and mappings within each other; a form needs four."""
MOST_ENTRIES = 5_000
"""Values of a form, however it is nested: as many as a page may send fields."""


def _kept(form: dict[str, Any]) -> dict[str, Any]:
    """What can be kept and shown again: half a character is replaced, nothing else is changed."""
    entries = 0

    def kept(value: Any, depth: int) -> Any:
        nonlocal entries
        entries += 1
        if entries > MOST_ENTRIES:  # whoever reads them holds up all others
            raise ValueError(f"a form has at most {MOST_ENTRIES:,} values")
        match value:
            case str():
                return value if value.isascii() else _whole(value)
            case float() if not isfinite(value):
                raise ValueError("a number of a form must be finite")
            case dict() | list() if depth == DEEPEST:
                raise ValueError(f"a form has at most {DEEPEST} lists and mappings within another")
            case dict():
                return {_whole(name): kept(one, depth + 1) for name, one in value.items()}
            case list():
                return [kept(one, depth + 1) for one in value]
        return value

    return {_whole(name): kept(value, 1) for name, value in form.items()}


def _whole(text: str) -> str:
    """Text without half characters, as scripts leave them that cut an emoji in two."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


Form = Annotated[
    dict[str, Any],
    AfterValidator(_kept),
    Field(description="answers, notes, evidence, borderline, tags, sub_answers, flags, note, "
                      "edge_case, review, sitting, shown; by criterion where it fits."),
]  # fmt: skip
Version = Annotated[int, Field(ge=0, lt=2**31)]
Act = Annotated[
    str,
    Field(min_length=8, max_length=100, description="Names this act: sent twice, it is one."),
]


class Problem(BaseModel):
    """What was wrong, in a sentence."""

    error: str
    faults: list[Any] = []


class FaultOut(BaseModel):
    """One thing to mend in a form."""

    path: str
    field: str
    """The field of the rating page that it belongs to."""
    message: str
    hint: str
    sentence: str = ""
    """The same for people, as it stands beside the field."""


class Faulty(BaseModel):
    """A form that was not taken, with everything that is to be mended."""

    error: str
    faults: list[FaultOut]


class DifferenceOut(BaseModel):
    """A field in which the form that was sent differs from what is kept."""

    field: str
    label: str
    mine: str
    theirs: str


class Clash(BaseModel):
    """Somebody else, or another tab, was quicker; nothing was replaced."""

    error: str
    faults: list[Any] = []
    state: Literal["open", "done", "elsewhere"]
    version: int
    """Of what is kept now: the version of a draft, or the revision of a rating."""
    form: dict[str, Any]
    """What is kept now."""
    differences: list[DifferenceOut]


class MeasuredOut(BaseModel):
    """Something that a check measured in the item, where the rubric shows it to raters."""

    check: str
    what: str
    value: str
    note: str
    quotes: list[str]


class TaskOut(BaseModel):
    """An assignment in hand: the item, the version of the rubric, and what is saved of a draft."""

    task: str
    address: str
    """The page on which it is rated."""
    round: int
    item: str
    kind: str
    content: str
    """The item as JSON."""
    rubric: str
    """The content hash of the version that it is rated by."""
    criteria: list[str]
    decided: dict[str, str]
    """Criteria that code decides on this item (NA), with the reason."""
    version: int
    draft: dict[str, Any] | None
    leased_until: str
    shown: list[str] = Field(description="Checks that you are shown: send them as `form.shown`.")
    measured: list[MeasuredOut]


class NextOut(BaseModel):
    """The next assignment, or none."""

    task: TaskOut | None


class DutyOut(BaseModel):
    """How far one is in a round."""

    round: int
    kind: str
    done: int
    open: int


class DutiesOut(BaseModel):
    """What one has done and has to do."""

    duties: list[DutyOut]


class DraftIn(BaseModel):
    """What there is so far."""

    form: Form
    version: Version


class DraftOut(BaseModel):
    """That a draft is saved."""

    version: int
    saved_at: str


class RatingIn(BaseModel):
    """A form that is handed in."""

    form: Form
    request: Act
    version: Version | None = None
    """Of the draft that it was made from; none where nobody else can have touched it."""
    started_at: Annotated[str, Field(max_length=40)] | None = None


class CorrectionIn(BaseModel):
    """A form in the place of one that was handed in."""

    form: Form
    request: Act
    revision: Annotated[int, Field(ge=1, lt=2**31)]
    reason: Annotated[str, Field(max_length=5000)] = ""
    started_at: Annotated[str, Field(max_length=40)] | None = None


class RatingOut(BaseModel):
    """A rating that is kept."""

    task: str
    round: int
    item: str
    revision: int
    rubric: str
    answers: dict[str, str]
    submitted_at: str
    next: str = ""
    """The page of the next item; empty where there is none."""


class OwnRatingOut(BaseModel):
    """A rating of your own, to be looked at again."""

    task: str
    round: int
    item: str
    kind: str
    content: str = Field(description="The item as JSON.")
    rubric: str
    revision: int
    form: dict[str, Any] = Field(description="As it would be handed in again.")
    is_open: bool = Field(description="Whether it can still be corrected.")


class RatingsOut(BaseModel):
    """Some of one's own ratings, the latest first."""

    ratings: list[RatingOut]
    total: int
    after: int | None
    """What to ask for next; none at the end."""


class TaskQuestionIn(BaseModel):
    """A question to the lead."""

    text: Annotated[str, Field(min_length=1, max_length=5000)]
    criterion: Annotated[str, Field(max_length=100)] | None = None


class Done(BaseModel):
    """What was done, in a sentence."""

    said: str
