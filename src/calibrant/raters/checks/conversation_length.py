"""How long replies are, against the messages they answer.

A ratio is words of the reply by words of the message. The rubric speaks of three to four times as
long; more than twice is told as well, and only the larger makes a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.core.parts import Part
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal, Span, SuggestAnswer

NAME = "conversation_length"
NO_WORDS = "no message of the user has words"


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("CP2",),
    parameters=(
        Parameter("long", 2.0, "a reply more than so many times as long is long", 0),
        Parameter("very_long", 3.0, "a reply at least so many times as long is very long", 0),
        Parameter("share", 0.75, "share of very long replies that is a pattern", 0, 1),
        Parameter("essay", 400, "a reply of so many words to a short message is an essay", 1),
        Parameter("short_message", 100, "a message of at most so many words is short", 0),
    ),
    reads="reading",
)
def conversation_length(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts words of messages and replies, and how many times as long replies are."""
    words = reading.mine(reading.shelf.texts.word_counts)
    messages = {part.number: words[part.index] for part in reading.of("user")}
    replies = reading.of("assistant")
    asked = list(messages.values())
    said = [words[one.index] for one in replies]
    yield Signal(
        NAME, "words_per_message", measured=sum(asked) / max(len(asked), 1), criterion="CP2"
    )
    yield Signal(NAME, "words_per_reply", measured=sum(said) / max(len(said), 1), criterion="CP2")
    pairs = [
        (reply, words[reply.index] / messages[reply.number])
        for reply in replies
        if messages.get(reply.number)
    ]
    if not pairs:
        for name in ("ratio_mean", "share_over_2x", "share_over_3x", "ratio_maximum"):
            yield Signal(NAME, name, criterion="CP2", not_measured=NO_WORDS)
        return
    yield from _ratios(reading, pairs, parameters)
    essays = [
        reply
        for reply, _ in pairs
        if words[reply.index] >= parameters["essay"]
        and messages[reply.number] <= parameters["short_message"]
    ]
    yield Signal(
        NAME,
        "share_of_essays",
        measured=len(essays) / len(pairs),
        threshold=f"{parameters['essay']} words to {parameters['short_message']}",
        exceeded=bool(essays),
        criterion="CP2",
        spans=_beginnings(reading, essays),
    )


def _ratios(
    reading: Reading, pairs: list[tuple[Part, float]], parameters: Values
) -> Iterable[Signal]:
    long, very_long, share = parameters["long"], parameters["very_long"], parameters["share"]
    ratios = [ratio for _, ratio in pairs]
    mean, largest = sum(ratios) / len(ratios), max(pairs, key=lambda pair: pair[1])
    over = [reply for reply, ratio in pairs if ratio > long]
    far = [reply for reply, ratio in pairs if ratio >= very_long]
    pattern = len(far) / len(pairs) >= share
    yield Signal(
        NAME,
        "ratio_mean",
        measured=mean,
        threshold=f"> {long:g}",
        exceeded=mean > long,
        criterion="CP2",
        suggestion=Hint("CP2", f"replies are {mean:.1f} times as long on average")
        if mean > long
        else None,
    )
    yield Signal(
        NAME,
        "share_over_2x",
        measured=len(over) / len(pairs),
        threshold=f"> {long:g} times",
        exceeded=len(over) / len(pairs) >= share,
        criterion="CP2",
        spans=_beginnings(reading, over),
        note="the first sentence of each reply is quoted",
    )
    yield Signal(
        NAME,
        "share_over_3x",
        measured=len(far) / len(pairs),
        threshold=f">= {very_long:g} times in >= {share:g}",
        exceeded=pattern,
        criterion="CP2",
        spans=_beginnings(reading, far),
        suggestion=SuggestAnswer("CP2", "NO") if pattern else None,
        note="the first sentence of each reply is quoted",
    )
    yield Signal(
        NAME,
        "ratio_maximum",
        measured=largest[1],
        threshold=f">= {very_long:g}",
        exceeded=largest[1] >= very_long,
        criterion="CP2",
        spans=_beginnings(reading, [largest[0]]),
    )


def _beginnings(reading: Reading, replies: Iterable[Part]) -> tuple[Span, ...]:
    """The first sentence of each reply: enough to find it, and not the whole text again."""
    places = [(one, reading.first_sentence(one)) for one in replies]
    return tuple([reading.span(one, *place) for one, place in places if place is not None])
