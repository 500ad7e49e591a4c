"""Items: the things that are judged. Plans, responses, conversations, and free-form ones.

What a record does not state stays ``None`` ("not stated"); no field has an invented default.
What a record says beyond the known fields is kept in ``more``, unread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter

from calibrant.core.criterion import ItemType
from calibrant.core.ids import canonical, content_hash


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _not_truth(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number, not a truth value")
    return value


def _listed(value: object) -> object:
    """One text is a list of its parts between semicolons or line breaks."""
    if isinstance(value, str):
        return [part.strip() for part in value.replace("\n", ";").split(";") if part.strip()]
    return value


Words = Annotated[str, AfterValidator(_not_blank)]
"""Text as it stands in the record; spaces are kept, because evidence quotes positions."""
Quantity = Annotated[Decimal, BeforeValidator(_not_truth), Field(ge=0, le=100_000)]
Listed = Annotated[tuple[Words, ...], BeforeValidator(_listed)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The person a plan is for, as far as they told."""

    goal: Words
    hours_per_week: Quantity | None = None
    timeframe_weeks: Quantity | None = None
    skills: Listed | None = None
    barriers: Listed | None = None
    confidence: Annotated[int, BeforeValidator(_not_truth), Field(ge=1, le=5)] | None = None
    """From 1 (very anxious) to 5."""
    lacks: Listed | None = None
    """Resources the person said they do not have."""
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One step of a plan."""

    action: Words
    metric: str | None = None
    baseline: str | None = None
    target: str | None = None
    deadline: str | None = None
    rationale: str | None = None
    effort_estimate: str | None = None
    first_step: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A user's message and the assistant's reply."""

    user: Words
    assistant: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Something said before the first exchange: a system message or a greeting."""

    role: Literal["system", "assistant"]
    content: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """What all items share."""

    kind: ClassVar[ItemType]

    id: str
    more: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the record that are not part of what is judged."""

    @property
    def hash(self) -> str:
        """Content hash of what is judged: the item's id and its own ``more`` do not count."""
        return content_hash({"kind": self.kind, **self._content()})

    def _content(self) -> dict[str, Any]:
        """What is judged, as plain values."""
        return {key: value for key, value in asdict(self).items() if key not in ("id", "more")}

    def measures(self) -> dict[str, int]:
        """What code can count, for the preconditions of a rubric."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(_Item):
    """A profile and the ordered actions proposed for it."""

    kind: ClassVar[ItemType] = "plan"

    profile: Profile
    actions: Annotated[tuple[Action, ...], Field(min_length=1)]

    def measures(self) -> dict[str, int]:
        """The number of actions."""
        return {"actions": len(self.actions)}


DAY_FORM = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def _day(text: str) -> str:
    """Only a day of the calendar."""
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a day such as 2025-02-28") from None
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Response(_Item):
    """A question and the response to it."""

    kind: ClassVar[ItemType] = "response"

    question: Words
    response: Words
    reference: str | None = None
    as_of: Annotated[str, Field(pattern=DAY_FORM), AfterValidator(_day)] | None = None
    """The day for which time-sensitive facts are to be judged (ISO date)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation(_Item):
    """Exchanges in order; what comes before the first is a preamble, not an exchange."""

    kind: ClassVar[ItemType] = "conversation"

    exchanges: Annotated[tuple[Exchange, ...], Field(min_length=1)]
    preamble: tuple[Message, ...] = ()

    def _content(self) -> dict[str, Any]:
        """The same as of any item, without the copies: conversations come by the thousand."""
        return {
            "exchanges": [{"user": one.user, "assistant": one.assistant} for one in self.exchanges],
            "preamble": [{"role": one.role, "content": one.content} for one in self.preamble],
        }

    def measures(self) -> dict[str, int]:
        """The number of exchanges."""
        return {"exchanges": len(self.exchanges)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeItem(_Item):
    """Named fields of text, for rubrics of one's own."""

    kind: ClassVar[ItemType] = "free"

    content: Mapping[str, Any]


Item: TypeAlias = Plan | Response | Conversation | FreeItem

KINDS: dict[ItemType, type[Item]] = {
    "plan": Plan,
    "response": Response,
    "conversation": Conversation,
    "free": FreeItem,
}


@cache
def adapter(kind: ItemType) -> TypeAdapter[Item]:
    """What checks a record against the fields of an item of that kind."""
    return TypeAdapter(KINDS[kind])


def item_text(item: Item) -> str:
    """What is judged, as JSON that ``item_of`` reads back; without the item's own ``more``."""
    content = {key: value for key, value in asdict(item).items() if key not in ("id", "more")}
    return canonical(content)


def item_of(kind: ItemType, id: str, text: str) -> Item:
    """The item that ``item_text`` has written."""
    return adapter(kind).validate_python({"id": id, **json.loads(text)})
