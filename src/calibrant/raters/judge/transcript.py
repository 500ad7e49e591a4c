"""An item as a judge reads it: between two fence lines, every line of its own text marked.

The item is written by others. Its words stay as they are, so that they can be quoted; what could
pass for something else cannot. Lines of the item begin with ``> ``, so none of them can look like
a line of ours; signs that hide text are written out; the fence never stands inside. Nothing of an
item goes through a template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from calibrant.core.criterion import ItemType
from calibrant.core.item import Action, Conversation, FreeItem, Item, Plan, Profile, Response
from calibrant.core.parts import ACTION_TEXTS

MARK = "> "
"""Begins every line of an item's own text."""
BEGINS, ENDS = "=== ITEM BEGINS ", "=== ITEM ENDS "
PLACES: dict[ItemType, str] = {"conversation": "exchange", "plan": "action"}
"""What a numbered part of an item is called, where it has numbered parts."""
TOLD = {
    "metric": "metric", "baseline": "baseline", "target": "target", "deadline": "deadline",
    "rationale": "rationale", "effort_estimate": "effort estimate", "first_step": "first step",
}  # fmt: skip
"""What the fields of an action are called beside the action itself."""
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Signs that are not seen, turn the order of others round, or break a line in unusual ways."""
WRITTEN_OUT = re.compile(r"\\u\{[0-9A-F]{2,6}\}")
"""How a judge sees one of them."""


def hides(text: str) -> bool:
    """Whether a text has hidden signs; most have none, and that is told quickly."""
    if text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable():
        return False
    return HIDDEN.search(text) is not None


def written_out(text: str) -> str:
    """The text with hidden signs told by their number."""
    return HIDDEN.sub(_escape, text) if hides(text) else text


def _escape(found: re.Match[str]) -> str:
    return "\\u{" + format(ord(found.group()), "02X") + "}"


def transcript(item: Item, fence: str) -> str:
    """The item between its two fence lines; the fence stands nowhere else in it."""
    inside = "\n".join(_lines(item))
    if fence in inside:  # cannot be guessed; should it be there all the same, it is broken up
        first = "\\u{" + format(ord(fence[0]), "02X") + "}"
        inside = inside.replace(fence, first + fence[1:])
    return BEGINS + fence + "\n" + inside + "\n" + ENDS + fence


def _lines(item: Item) -> Iterator[str]:
    match item:
        case Conversation():
            return _conversation(item)
        case Plan():
            return _plan(item)
        case Response():
            return _response(item)
        case FreeItem():
            return _free(item.content)


def _own(text: str) -> str:
    """Text of the item, every line of it marked."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return MARK + written_out(text).replace("\n", "\n" + MARK)


def _conversation(item: Conversation) -> Iterator[str]:
    for message in item.preamble:
        yield f"[before the first exchange: a message of the {message.role}, no exchange]"
        yield _own(message.content)
    for number, exchange in enumerate(item.exchanges, 1):
        yield f"[exchange {number}] user:"
        yield _own(exchange.user)
        yield f"[exchange {number}] assistant:"
        yield _own(exchange.assistant)


def _response(item: Response) -> Iterator[str]:
    yield "[question]"
    yield _own(item.question)
    yield "[response]"
    yield _own(item.response)
    if item.reference:
        yield "[reference: what a good answer may be held against; not part of the response]"
        yield _own(item.reference)
    if item.as_of is not None:
        yield "[facts that change with time are to be judged as of this day]"
        yield _own(item.as_of)


def _plan(item: Plan) -> Iterator[str]:
    yield "[action 0: the profile of the person the plan is for]"
    yield from _profile(item.profile)
    for number, action in enumerate(item.actions, 1):
        yield f"[action {number}]"
        yield from _action(action)


def _profile(profile: Profile) -> Iterator[str]:
    yield "goal:"
    yield _own(profile.goal)
    yield from _number("hours a week", profile.hours_per_week)
    yield from _number("timeframe in weeks", profile.timeframe_weeks)
    yield from _list("skills", profile.skills)
    yield from _list("barriers", profile.barriers)
    yield from _number("confidence, from 1 (very anxious) to 5", profile.confidence)
    yield from _list("does not have", profile.lacks)


def _number(name: str, value: Decimal | int | None) -> Iterator[str]:
    yield name + (": not stated" if value is None else ": " + format(Decimal(value), "f"))


def _list(name: str, values: Iterable[str] | None) -> Iterator[str]:
    if values is None:
        yield name + ": not stated"
        return
    told = [_own(one) for one in values]
    yield name + (":" if told else ": none")
    yield from told


def _action(action: Action) -> Iterator[str]:
    yield _own(action.action)
    for field in ACTION_TEXTS[1:]:
        text = getattr(action, field)
        if text:
            yield TOLD[field] + ":"
            yield _own(text)


def _free(content: Mapping[str, Any]) -> Iterator[str]:
    """Every value at any depth, without recursion: names and values are anybody's."""
    waiting: list[tuple[str, Any]] = [(str(key), content[key]) for key in content][::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            waiting += [(f"{name}.{key}", one) for key, one in value.items()][::-1]
        elif isinstance(value, list | tuple) and value:
            waiting += [(f"{name}[{at}]", one) for at, one in enumerate(value)][::-1]
        else:
            yield "[field]"
            yield _own(name)
            yield "[its content]"
            yield _own(value if isinstance(value, str) else json.dumps(value, default=str))
