"""The pieces of a rubric: criteria with anchors, categories, gates, red flags, aggregation."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from calibrant.core.document import (
    AtLeast,
    Count,
    Document,
    Flag,
    Id,
    Number,
    Operator,
    Share,
    Text,
)
from calibrant.core.process import Note

ItemType: TypeAlias = Literal["plan", "response", "conversation", "free"]
METRICS: dict[ItemType, tuple[str, ...]] = {
    "plan": ("actions",),
    "response": (),
    "conversation": ("exchanges",),
    "free": (),
}
"""What code can count in an item of each type, for preconditions."""


RECORD_FIELDS = (
    "id", "item", "rater", "kind", "round", "occasion", "rubric", "criterion", "answer", "answers",
    "flags", "note", "notes", "evidence", "tags", "borderline", "sub_answers", "sitting",
    "started_at", "submitted_at", "timestamp", "metadata",
)  # fmt: skip
"""Fields of the ratings record; no criterion may answer to one of these names."""


def is_record_field(name: str) -> bool:
    """Whether a name, folded as names are, is that of a field of the record."""
    return fold_name(name).replace(" ", "_") in RECORD_FIELDS


class Example(Document):
    """An item, or a description of one, that shows what an anchor means."""

    context: Text | None = None
    """The question that was asked, or the situation."""
    response: Text | None = None
    description: Text | None = None
    why: Text | None = None
    status: Literal["approved", "disputed"]
    """Disputed examples are shown to people as such and never given to a judge."""
    dispute: Text | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.response is None and self.description is None:
            raise ValueError("an example needs a response or a description")
        if (self.status == "disputed") != (self.dispute is not None):
            raise ValueError("`dispute` goes with status disputed, and says what is disputed")
        return self


class Band(Document):
    """A range of a measured share that usually earns a level; guidance, not a formula."""

    at_least: Share | None = None
    above: Share | None = None
    below: Share | None = None
    at_most: Share | None = None


class Anchor(Document):
    """The written meaning of one point of a scale."""

    label: Text | None = None
    text: Text
    signs: tuple[Text, ...] = ()
    """Observable features, one a line."""
    band: Band | None = None
    examples: tuple[Example, ...] = ()


class NAPolicy(Document):
    """What NA means on a criterion."""

    policy: Literal["valid", "invalid", "excluded"]
    """``valid``: NA is an answer. ``invalid``: NA can be given but counts as a failure.
    ``excluded``: NA is not among the answers; given all the same, it is an error."""
    when: Text | None = None
    """When NA is right."""
    reason: Text | None = None
    """Why NA can never be right."""

    @model_validator(mode="after")
    def _reasoned(self) -> Self:
        if (self.policy == "invalid") != (self.reason is not None):
            raise ValueError("`reason` goes with policy invalid, and only with it")
        if self.when is not None and self.policy != "valid":
            raise ValueError("`when` goes with policy valid")
        return self


class Precondition(Document):
    """A condition that code decides: where it holds the answer is NA, whatever was answered."""

    metric: Annotated[str, Field(min_length=1)]
    op: Operator
    value: Count
    reason: Text


class SubQuestion(Document):
    """Something recorded beside the answer."""

    id: Id
    question: Text
    answer: Literal["yes_no", "text", "date"]
    na_expects: Literal["YES", "NO"] | None = None
    """What an NA on the criterion goes with; anything else is sent to a person."""


class Violation(Document):
    """When lapses make the criterion failed: a single one, or a pattern."""

    rule: Literal["any", "pattern"]
    share: Share | None = None
    """The share of occasions from which lapses are a pattern; none: left to judgement."""


class Tag(Document):
    """A word a rater may attach to an answer; it changes no score."""

    id: Id
    title: Text
    text: Text


class Criterion(Document):
    """One question asked of an item."""

    id: Id
    title: Text
    aliases: tuple[Text, ...] = ()
    """Other names under which answers may come in."""
    category: Id | None = None
    scale: Id
    question: Text
    detail: Text | None = None
    anchors: dict[str, Anchor] = Field(default_factory=dict)
    na: NAPolicy
    precondition: Precondition | None = None
    sub_questions: tuple[SubQuestion, ...] = ()
    violation: Violation | None = None
    failure_examples: tuple[Text, ...] = ()
    considerations: tuple[Note, ...] = ()
    tags: tuple[Tag, ...] = ()


class Category(Document):
    """A group of criteria that are averaged together, or a gate's own group."""

    id: Id
    title: Text
    question: Text | None = None
    note: Text | None = None
    weight: Annotated[Share, Field(gt=0)] | None
    """An exact decimal; ``none`` for the category of a gate."""


class Gate(Document):
    """A condition that decides the verdict whatever the score, and leaves the score alone.

    It fails closed: an error, a missing answer and an invalid NA fail it too.
    """

    id: Id
    title: Text
    text: Text
    criteria: Annotated[tuple[Id, ...], Field(min_length=1)]
    fails_on: Annotated[tuple[str, ...], Field(min_length=1)]


class RedFlag(Document):
    """A finding whose effect the rubric names."""

    id: Id
    title: Text
    aliases: tuple[Text, ...] = ()
    text: Text
    examples: tuple[Text, ...] = ()
    exceptions: tuple[Text, ...] = ()
    """What looks like it and is not."""
    effect: Literal["force_scores", "reject", "indicate"]
    forced_value: str | None = None
    evidence: Literal["item", "item_and_profile"] = "item"
    """What must be quoted."""
    criteria: tuple[Id, ...] = ()
    """Where an indicator belongs."""

    @model_validator(mode="after")
    def _forced(self) -> Self:
        if (self.effect == "force_scores") != (self.forced_value is not None):
            raise ValueError("`forced_value` goes with effect force_scores, and only with it")
        return self


class WeightedPassMark(Document):
    """The score from which an item passes."""

    op: AtLeast
    value: Share


class WeightedCategories(Document):
    """Mean of criteria in a category, weighted sum of categories."""

    kind: Literal["weighted_categories"]
    na_counts: Share
    """What a valid NA is worth."""
    invalid_na_counts: Annotated[Share, Field(le=0)]
    error_counts: Annotated[Share, Field(le=0)]
    missing: Literal["error"]
    """A missing answer counts as an error."""
    pass_mark: WeightedPassMark | None
    minimum_assessed_weight: Share | None = None
    """The least share of the weight that must rest on answers other than NA for a verdict."""
    decimals: Annotated[Count, Field(le=9)] = 3
    """For display only: verdicts are decided on exact values."""


class DimensionPassMark(Document):
    """A pass mark on the mean or on the lowest of the dimensions."""

    of: Literal["mean", "minimum"]
    op: AtLeast
    value: Number


class Dimensions(Document):
    """Scores stand side by side; mean and minimum only describe them."""

    kind: Literal["dimensions"]
    pass_mark: DimensionPassMark | None
    decimals: Annotated[Count, Field(le=9)] = 3


Aggregation = Annotated[WeightedCategories | Dimensions, Field(discriminator="kind")]


class Check(Document):
    """A deterministic check by name, with its parameters."""

    name: Id
    enabled: Flag = True
    parameters: dict[Id, str] = Field(default_factory=dict)
    criteria: tuple[Id, ...] = ()
    show_while_rating: Flag = False
    """Whether a reviewer may see its measurements before their own rating is in."""


def fold_name(name: str) -> str:
    """Names compare without case, and without the difference of space, ``_``, ``-`` and ``/``."""
    words = "".join(" " if sign in "_-/" else sign for sign in name.casefold())
    return " ".join(words.split())
