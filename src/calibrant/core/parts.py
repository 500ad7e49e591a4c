"""Every text of an item, with a name and in order: what checks read and spans point into.

Fields that an item keeps unread in ``more`` are no part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias

from calibrant.core.item import Conversation, FreeItem, Item, Plan, Response

Role: TypeAlias = Literal[
    "user", "assistant", "preamble", "question", "response", "reference", "profile", "action",
    "content",
]  # fmt: skip
"""Whose words a text is, or what it is for."""
ACTION_TEXTS = (
    "action", "metric", "baseline", "target", "deadline", "rationale", "effort_estimate",
    "first_step",
)  # fmt: skip


class Part(NamedTuple):
    """One text of an item."""

    index: int  # type: ignore[assignment]
    """Its place among the texts of the item."""
    name: str
    role: Role
    number: int
    """Of the exchange, the action or the entry of a list it belongs to, from nought."""
    text: str


def parts_of(item: Item) -> tuple[Part, ...]:
    """All texts of an item that are not empty."""
    found = [one for one in _texts(item) if one[3]]
    return tuple([_new_part((index, *one)) for index, one in enumerate(found)])


_new_part = partial(tuple.__new__, Part)


@lru_cache(4096)
def _turns(number: int) -> tuple[str, str]:
    """What the two texts of an exchange are called."""
    return f"exchanges[{number}].user", f"exchanges[{number}].assistant"


_Text: TypeAlias = tuple[str, Role, int, str]


def _texts(item: Item) -> Iterator[_Text]:
    match item:
        case Conversation():
            for number, message in enumerate(item.preamble):
                yield f"preamble[{number}]", "preamble", number, message.content
            for number, exchange in enumerate(item.exchanges):
                user, assistant = _turns(number)
                yield user, "user", number, exchange.user
                yield assistant, "assistant", number, exchange.assistant
        case Response():
            yield "question", "question", 0, item.question
            yield "response", "response", 0, item.response
            if item.reference is not None:
                yield "reference", "reference", 0, item.reference
        case Plan():
            yield from _plan_texts(item)
        case FreeItem():
            yield from _free_texts(item.content)


def _plan_texts(plan: Plan) -> Iterator[_Text]:
    yield "profile.goal", "profile", 0, plan.profile.goal
    for field in ("skills", "barriers", "lacks"):
        for number, text in enumerate(getattr(plan.profile, field) or ()):
            yield f"profile.{field}[{number}]", "profile", number, text
    for number, action in enumerate(plan.actions):
        for field in ACTION_TEXTS:
            text = getattr(action, field)
            if text is not None:
                yield f"actions[{number}].{field}", "action", number, text


def _free_texts(content: Mapping[str, Any]) -> Iterator[_Text]:
    """Texts at any depth, without recursion: content is anybody's."""
    waiting: list[tuple[str, int, Any]] = [(str(key), 0, content[key]) for key in content][::-1]
    while waiting:
        name, number, value = waiting.pop()
        if isinstance(value, str):
            yield name, "content", number, value
        elif isinstance(value, Mapping):
            waiting += [(f"{name}.{key}", 0, one) for key, one in value.items()][::-1]
        elif isinstance(value, list | tuple):
            waiting += [(f"{name}[{at}]", at, one) for at, one in enumerate(value)][::-1]
