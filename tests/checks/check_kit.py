"""What tests of checks are made of."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from calibrant.core.criterion import ItemType
from calibrant.core.item import Action, Conversation, Exchange, Item, Plan, Profile, Response
from calibrant.core.parts import parts_of
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.run import Checker
from calibrant.raters.checks.signal import Signal


def conversation(*turns: tuple[str, str]) -> Conversation:
    """A conversation of these exchanges."""
    return Conversation(
        id="c", exchanges=tuple(Exchange(user=user, assistant=reply) for user, reply in turns)
    )


def response(question: str, text: str) -> Response:
    """A response to a question."""
    return Response(id="r", question=question, response=text)


def plan(*actions: Action | str, **profile: object) -> Plan:
    """A plan of these actions."""
    listed = tuple(one if isinstance(one, Action) else Action(action=one) for one in actions)
    return Plan(id="p", profile=Profile(**{"goal": "a job", **profile}), actions=listed)  # type: ignore[arg-type]


@cache
def checker(kind: ItemType) -> Checker:
    """All checks for a kind of item, with their own parameters."""
    return Checker(kind)


def signals(item: Item, check: str, **parameters: str) -> dict[str, Signal]:
    """What one check says about an item, by the name of the signal, with parameters as texts."""
    (chosen,) = [one for one in checker(item.kind).chosen if one.definition.name == check]
    values = dict(chosen.values)
    for one in chosen.definition.parameters:
        if one.name in parameters:
            values[one.name] = one.read(parameters.pop(one.name))
    assert not parameters, f"{check} has no parameter {next(iter(parameters))!r}"
    reads = chosen.definition.reads == "reading"
    given = Reading(item, checker(item.kind).scanner) if reads else item
    found = list(chosen.definition.function(given, values))
    quotes_hold(item, found)
    return {one.signal: one for one in found}


def quotes_hold(item: Item, found: Iterable[Signal]) -> None:
    """Every span says what stands in the item at its place."""
    texts = {part.name: part.text for part in parts_of(item)}
    for signal in found:
        for span in signal.spans:
            assert 0 <= span.start < span.end <= len(texts[span.part])
            assert texts[span.part][span.start : span.end] == span.text
