"""An item as a page shows it: every text whole, with the name by which evidence points at it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from markupsafe import Markup, escape

from calibrant.core.item import Action, Conversation, FreeItem, Item, Plan, Response
from calibrant.core.parts import parts_of
from calibrant.web.words import markdown

CONFIDENCE = {
    1: "very anxious",
    2: "rather anxious",
    3: "neither anxious nor confident",
    4: "fairly confident",
    5: "very confident",
}
ACTION_FIELDS = (
    ("metric", "Measured by"),
    ("baseline", "From"),
    ("target", "To"),
    ("deadline", "By when"),
    ("effort_estimate", "Effort"),
    ("first_step", "First step"),
    ("rationale", "Why"),
)
_DRAWN = re.compile(
    r"[*_`\[\]\\~|&<\t\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\ufffd\U000e0000-\U000e007f]"
    r"|^\s*(?:#|>|[-+=]|\d+[.)])|^ {4}",
    re.MULTILINE,
)
"""What Markdown would draw, or what would have to be made visible."""


@dataclass(frozen=True, slots=True)
class Words:
    """One text of an item."""

    part: str
    text: str

    @property
    def is_drawn(self) -> bool:
        """Whether what is shown is not, sign by sign, what was written."""
        return _DRAWN.search(self.text) is not None

    @property
    def html(self) -> Markup:
        """The text as it is shown. Most texts hold no marks: they need no reader of Markdown."""
        if self.is_drawn:
            return markdown(self.text)
        paragraphs = [part.strip() for part in re.split(r"\n\s*\n", self.text.strip())]
        drawn = [
            Markup("<br />\n").join(escape(line.strip()) for line in part.split("\n"))
            for part in paragraphs
        ]
        return Markup("").join(Markup("<p>{}</p>\n").format(one) for one in drawn)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something a profile states, or does not."""

    label: str
    words: tuple[Words, ...] = ()
    plain: str = ""

    @property
    def is_stated(self) -> bool:
        """Whether the person told."""
        return bool(self.words or self.plain)


@dataclass(frozen=True, slots=True)
class Step:
    """An action of a plan."""

    number: int
    action: Words
    fields: tuple[tuple[str, Words | None], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that somebody says in a conversation."""

    number: int
    """Of the exchange; 0 before the first one."""
    speaker: str
    is_user: bool
    words: Words


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item, ready for the macros of ``parts/item.html``."""

    id: str
    kind: str
    facts: tuple[Fact, ...] = ()
    steps: tuple[Step, ...] = ()
    turns: tuple[Turn, ...] = ()
    blocks: tuple[Fact, ...] = ()
    as_of: str = ""


def view_of(item: Item) -> ItemView:
    """An item as pages show it: to raters, in discussions, in adjudication."""
    match item:
        case Plan():
            return ItemView(
                item.id, item.kind, facts=tuple(_profile(item)), steps=tuple(_steps(item))
            )
        case Response():
            return ItemView(
                item.id, item.kind, blocks=tuple(_response(item)), as_of=item.as_of or ""
            )
        case Conversation():
            return ItemView(item.id, item.kind, turns=tuple(_turns(item)))
        case FreeItem():
            return ItemView(item.id, item.kind, blocks=tuple(_blocks(item)))


def _profile(plan: Plan) -> Iterator[Fact]:
    profile = plan.profile
    yield Fact("Goal", (Words("profile.goal", profile.goal),))
    yield Fact("Hours a week", plain=_number(profile.hours_per_week))
    weeks = _number(profile.timeframe_weeks)
    yield Fact("Time frame", plain=f"{weeks} weeks" if weeks else "")
    yield _listed("Skills", "skills", profile.skills)
    yield _listed("Barriers", "barriers", profile.barriers)
    felt = profile.confidence
    yield Fact("Confidence", plain=f"{felt} of 5: {CONFIDENCE[felt]}" if felt is not None else "")
    yield _listed("Does not have", "lacks", profile.lacks)


def _listed(label: str, field: str, texts: tuple[str, ...] | None) -> Fact:
    if texts == ():
        return Fact(label, plain="none")
    words = [Words(f"profile.{field}[{at}]", text) for at, text in enumerate(texts or ())]
    return Fact(label, tuple(words))


def _number(value: Decimal | None) -> str:
    return "" if value is None else f"{Decimal(value).normalize():f}"


def _steps(plan: Plan) -> Iterator[Step]:
    for at, action in enumerate(plan.actions):
        cells = tuple((label, _cell(action, field, at)) for field, label in ACTION_FIELDS)
        yield Step(at + 1, Words(f"actions[{at}].action", action.action), cells)


def _cell(action: Action, field: str, at: int) -> Words | None:
    text = getattr(action, field)
    return Words(f"actions[{at}].{field}", text) if text else None


def _response(item: Response) -> Iterator[Fact]:
    yield Fact("Question", (Words("question", item.question),))
    yield Fact("Response", (Words("response", item.response),))
    if item.reference:
        yield Fact("Reference", (Words("reference", item.reference),))


def _turns(item: Conversation) -> Iterator[Turn]:
    for at, message in enumerate(item.preamble):
        speaker = "Instructions" if message.role == "system" else "Assistant"
        yield Turn(0, speaker, False, Words(f"preamble[{at}]", message.content))
    for at, one in enumerate(item.exchanges):
        yield Turn(at + 1, "User", True, Words(f"exchanges[{at}].user", one.user))
        yield Turn(at + 1, "Assistant", False, Words(f"exchanges[{at}].assistant", one.assistant))


def _blocks(item: FreeItem) -> Iterator[Fact]:
    """The fields of a free item by name: texts as texts, numbers and the like as they are."""
    texts: dict[str, list[Words]] = {}
    for part in parts_of(item):
        texts.setdefault(_field(part.name, item.content), []).append(Words(part.name, part.text))
    for name, value in item.content.items():
        found = tuple(texts.get(str(name), ()))
        plain = "" if isinstance(value, str) or _only_texts(value) else _json(value)
        yield Fact(str(name), found, plain)


def _field(name: str, content: Mapping[str, Any]) -> str:
    """The field to which a part belongs: the longest name that its own begins with."""
    owners = [
        key for key in map(str, content) if name == key or name.startswith((f"{key}.", f"{key}["))
    ]
    return max(owners, key=len, default=name)


def _only_texts(value: Any) -> bool:
    """Whether all there is to show of a value are its texts."""
    listed = value if isinstance(value, list | tuple) else ()
    return bool(listed) and all(isinstance(one, str) for one in listed)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
