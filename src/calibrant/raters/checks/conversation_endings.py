"""How replies end: the share of an assistant's turns whose last sentence is a question.

Emoji, emphasis, brackets and quotation marks after a question mark change nothing, and neither
do a signature or a courtesy such as "No rush.": the question is still what the user is left with.
A question that is only quoted at the end of a statement is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from calibrant.core.parts import Part
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Signal, SuggestAnswer

NAME = "conversation_endings"
TAIL = 120
"""So many signs at the end of a reply may be a signature or a courtesy."""
_SIGN_OFF = re.compile(
    r"(?<=[?\"')*_\s])(?:[-~*_(\s]{0,12}+)(?:"
    r"(?:take your time|no rush|no pressure|no hurry|whenever you're ready"
    r"|only if you (?:want|like) to"
    r"|take care|warmly|with care|with warmth|best wishes|all the best|yours"
    r"|warm regards|talk soon|hugs|xx?"
    r"|-{1,2} ?[a-z]{2,20}|your coach)(?:,? ?[a-z]{0,20})(?:[.!)*_~\s]|[^\w\s?]){0,20}+){1,2}+$"
)
"""A courtesy or a signature that ends a reply."""
_ASKS = re.compile(
    r"(?:[\"'(*_\s-]{0,8}+)(?:(?:and|so|but|then|or|well|now|i wonder,?|if "
    r"[^,?]{1,80},|when [^,?]{1,80},|[^,?]{1,40},)\s++)?"
    r"(?:what|how|why|who|whom|whose|when|where|which|is|are|am|was|were|do"
    r"|does|did|can|could|would|will|should"
    r"|have|has|had|might|may|shall|isn't|aren't|don't|doesn't|didn't|can't"
    r"|couldn't|wouldn't|won't|tell)\b"
)


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
    marks = reading.mine(reading.shelf.texts.last_question_marks)
    over = reading.mine(reading.shelf.texts.question_ends)
    ends = [
        (part, question_at_the_end(reading, part))
        for part in replies
        if over[part.index] >= 0 or len(part.text) - TAIL <= marks[part.index] >= 0
    ]
    spans = tuple(
        [
            reading.span(part, reading.sentence_at(part, at)[0], at + 1)
            for part, at in ends
            if at is not None
        ]
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


def question_at_the_end(reading: Reading, part: Part) -> int | None:
    """Where the question mark stands that a reply ends with, if it ends in a question."""
    last = reading.last_question_mark(part)
    if last < 0:
        return None
    low = reading.low(part)
    at = reading.question_end(part)
    if at is None:
        at = signed_off(low, last)
    if at is not None and low[at + 1 : at + 2] == '"':
        start, _ = reading.sentence_at(part, at)
        opened = low.rfind('"', start, at)
        if opened > start and not _ASKS.match(low, start, at):
            return None
    return at


def signed_off(low: str, last: int) -> int | None:
    """Where the question mark stands after which nothing but a courtesy or a signature comes."""
    cut = max(len(low) - TAIL, 0)
    if last < cut:
        return None
    found = _SIGN_OFF.search(low, cut)
    if found is None:
        return None
    at = low.rfind("?", 0, found.start() + 1)
    if at < 0 or any(sign.isalnum() for sign in low[at : found.start()]):
        return None
    return at
