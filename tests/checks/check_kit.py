"""What tests of checks are made of."""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.core.item import Action, Conversation, Exchange, Item, Plan, Profile, Response
from calibrant.raters.checks.parts import parts_of
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


def signals(item: Item, check: str, **parameters: str) -> dict[str, Signal]:
    """What one check says about an item, by the name of the signal, with parameters as texts."""
    (chosen,) = [one for one in Checker(item.kind).chosen if one.definition.name == check]
    from calibrant.raters.checks.reading import Reading

    values = dict(chosen.values)
    for one in chosen.definition.parameters:
        if one.name in parameters:
            values[one.name] = one.read(parameters[one.name])
    given = item
    if chosen.definition.reads == "reading":
        given = Reading(item, Checker(item.kind).scanner)  # type: ignore[assignment]
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
