"""An item for reading in a terminal: nothing in its text can steer the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from calibrant.cli.terminal import visible

if TYPE_CHECKING:
    from calibrant.core.criterion import Criterion
    from calibrant.core.item import Item, Plan
    from calibrant.core.rubric import Rubric

WIDTH = 80
_FIELDS = ("metric", "baseline", "target", "deadline", "effort_estimate", "first_step", "rationale")


class Line(NamedTuple):
    """A piece of text, how far it is set in, and how it looks."""

    text: str
    indent: int = 0
    style: str = ""
    mark: str = ""
    """Stands before the first line; the others are set in as far."""


def item_lines(item: Item) -> Iterator[Line]:
    """An item in the order in which one reads it."""
    from calibrant.core.item import Conversation, FreeItem, Plan, Response

    match item:
        case Plan():
            yield from _plan(item)
        case Response():
            yield Line("Question", 0, "bold")
            yield Line(item.question, 2)
            yield Line("Response", 0, "bold")
            yield Line(item.response, 2)
            if item.reference is not None:
                yield Line("Reference", 0, "bold")
                yield Line(item.reference, 2)
            if item.as_of is not None:
                yield Line(f"Judged as of {item.as_of}", 0, "dim")
        case Conversation():
            for message in item.preamble:
                yield Line(f"Before ({message.role})", 0, "bold")
                yield Line(message.content, 2)
            for number, exchange in enumerate(item.exchanges, 1):
                yield Line(f"{number}. User", 0, "bold")
                yield Line(exchange.user, 3)
                yield Line(f"{number}. Assistant", 0, "bold")
                yield Line(exchange.assistant, 3)
        case FreeItem():
            for name, value in item.content.items():
                yield Line(str(name), 0, "bold")
                yield Line(value if isinstance(value, str) else _json(value), 2)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _plan(plan: Plan) -> Iterator[Line]:
    profile = plan.profile
    yield Line("Profile", 0, "bold")
    yield Line(f"goal: {profile.goal}", 2)
    for name in ("hours_per_week", "timeframe_weeks", "confidence"):
        value = getattr(profile, name)
        if value is not None:
            told = f"{value} of 5" if name == "confidence" else str(value)
            yield Line(f"{name.replace('_', ' ')}: {told}", 2)
    for name in ("skills", "barriers", "lacks"):
        if getattr(profile, name):
            yield Line(f"{name}: {'; '.join(getattr(profile, name))}", 2)
    yield Line("Actions", 0, "bold")
    for number, action in enumerate(plan.actions, 1):
        yield Line(action.action, 2, mark=f"{number}. ")
        for name in _FIELDS:
            value = getattr(action, name)
            if value:
                yield Line(f"{name.replace('_', ' ')}: {value}", 5, "dim")


def criterion_lines(rubric: Rubric, criterion: Criterion, *, whole: bool) -> Iterator[Line]:
    """A criterion as a rater reads it; ``whole`` adds detail, signs and examples."""
    yield Line(criterion.question, 3)
    if whole and criterion.detail:
        yield Line(criterion.detail, 3, "dim")
    for value in rubric.scale_of(criterion).points_of_scale:
        anchor = criterion.anchors.get(str(value))
        if anchor is None:
            yield Line(f"{value}", 3)
            continue
        label = f"{anchor.label}: " if anchor.label else ""
        yield Line(f"{label}{anchor.text}", 3, mark=f"{value}  ")
        if whole:
            for sign in anchor.signs:
                yield Line(sign, 6, "dim", "· ")
            for example in anchor.examples:
                disputed = "(disputed) " if example.status == "disputed" else ""
                told = f"{disputed}{example.response or example.description}"
                yield Line(told, 6, "dim", "e.g. ")
    if criterion.na.policy != "excluded":
        when = criterion.na.when or criterion.na.reason or ""
        yield Line(when, 3, mark="NA  ")
    if whole:
        for note in criterion.considerations:
            yield Line(f"{note.title}: {note.text}", 3, "dim")
        for text in criterion.failure_examples:
            yield Line(f"fails: {text}", 3, "dim")


def draw(lines: Iterable[Line]) -> None:
    """Print lines, wrapped to the terminal and at most 80 columns wide."""
    from rich.text import Text

    from calibrant.cli.terminal import console

    screen = console()
    width = min(screen.width, WIDTH)
    for line in lines:
        lead = " " * line.indent + line.mark
        text = Text(visible(line.text))
        wrapped = text.wrap(screen, max(width - len(lead), 20))
        for at, part in enumerate(wrapped or [text]):
            part.rstrip()
            before = lead if at == 0 else " " * len(lead)
            screen.print(Text(before, style=line.style).append_text(part), style=line.style)
