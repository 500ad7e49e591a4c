"""How replies end: the share of an assistant's turns whose last sentence is a question."""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Signal, SuggestAnswer

NAME = "conversation_endings"


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("CP5",),
    parameters=(
        Parameter(
            "share",
            0.75,
            "share of question endings from which it is a pattern",
            0,
            1,
            pattern_of="CP5",
        ),
        Parameter("least_turns", 3, "fewer turns than these make no pattern", 1),
    ),
    reads="reading",
)
def conversation_endings(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts exchanges, and the share of replies that end in a question."""
    replies = reading.of("assistant")
    yield Signal(NAME, "exchanges", measured=len(replies))
    ends = [(part, reading.question_end(part)) for part in replies]
    spans = tuple(
        reading.span(part, reading.sentence_at(part, at)[0], at + 1)
        for part, at in ends
        if at is not None
    )
    share = len(spans) / len(replies)
    beyond = share >= parameters["share"] if len(replies) >= parameters["least_turns"] else None
    yield Signal(
        NAME,
        "share_of_question_endings",
        measured=share,
        threshold=f">= {parameters['share']:g}",
        exceeded=beyond,
        criterion="CP5",
        spans=spans,
        suggestion=None if beyond is None else SuggestAnswer("CP5", "NO" if beyond else "YES"),
    )
