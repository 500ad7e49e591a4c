"""Whether every thing a message says is taken up: parts of a message no word of which comes back.

A reply may take up a topic in words of its own, so this points a reviewer to places and never
says that a topic was dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from calibrant.core.parts import Part
from calibrant.raters.checks.conversation_words import stems
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal

NAME = "conversation_coverage"


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("MT1",),
    parameters=(
        Parameter("words", 3, "fewer words of meaning than these make no topic", 1),
        Parameter("shown", 50, "not more places than these are quoted", 1),
    ),
    reads="reading",
)
def conversation_coverage(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds sentences of a message of which no word comes back in the reply."""
    replies = {part.number: part for part in reading.of("assistant")}
    pairs = [
        (part, replies[part.number])
        for part in reading.of("user")
        if part.number in replies
        and reading.covered(part, "en")
        and reading.covered(replies[part.number], "en")
    ]
    name = "sentences_not_taken_up"
    if not pairs:
        yield Signal(NAME, name, criterion="MT1", not_measured=NOT_COVERED)
        return
    found = [
        (part, place)
        for part, reply in pairs
        for place in _not_taken_up(reading, part, reply, parameters["words"])
    ]
    left = len(reading.of("user")) - len(pairs)
    yield Signal(
        NAME,
        name,
        measured=len(found),
        criterion="MT1",
        spans=tuple(reading.span(part, *place) for part, place in found[: parameters["shown"]]),
        suggestion=Hint("MT1", "no word of these sentences comes back in the reply")
        if found
        else None,
        note=f"{left} messages in a language not covered" if left else "by the words in common",
    )


def _not_taken_up(
    reading: Reading, part: Part, reply: Part, least: int
) -> Iterator[tuple[int, int]]:
    """Sentences with enough to say of which nothing comes back; none where the message has one."""
    low = reading.low(part)
    answered = {stem[:4] for stem in stems(reading.low(reply))}
    places = reading.sentences(part)
    if len(places) < 2 or {stem[:4] for stem in stems(low)} <= answered:
        return
    for start, end in places:
        said = stems(low[start:end])
        if len(said) >= least and answered.isdisjoint(stem[:4] for stem in said):
            yield start, end
