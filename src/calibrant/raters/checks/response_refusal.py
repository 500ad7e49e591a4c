"""Refusals: a response that declines, deflects or pleads ignorance, and gives no help.

A limit that is followed by help is no refusal. The rubric has a tag for refusals, so that means
can be shown without them; the check says where one may be and leaves the rating alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise

from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Hit, Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.response_voice import REPORTED, Voice, longest
from calibrant.raters.checks.signal import Hint, Signal
from calibrant.raters.checks.text import word_count

NAME, LEXICON = "response_refusal", "refusal-en"
_CLAUSE = re.compile(
    r"[;:]\s|\s-\s|(?:,\s|\s)(?=(?:but|however|though|although|yet|instead)\b)"
    r"|,\s(?=(?:so|and|still|here|what|because|as|since)\b)"
)
_TURN = re.compile(r"(?:but|however|though|yet|still|instead|so|here|what|that said)\b")


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("accuracy", "helpfulness"),
    parameters=(
        Parameter("clause", 3, "so many words after a turn ('but ...') are help", 1),
        Parameter("words", 8, "so many words in other sentences are help", 1),
    ),
    lexicons=(LEXICON, REPORTED),
    reads="reading",
)
def response_refusal(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Tells whether a response declines and gives no help besides."""
    response = reading.of("response")[0]
    voice = Voice(reading, response)
    hits = voice.hits(LEXICON)
    refusing = longest(one for one in hits if one.label != "aside")
    if not refusing and not reading.covered(response, "en"):
        yield Signal(NAME, "refusal", criterion="accuracy", not_measured=NOT_COVERED)
        return
    beside, turned = _help(reading, voice, hits, parameters["clause"]) if refusing else (0, False)
    found = bool(refusing) and not turned and beside < parameters["words"]
    yield Signal(
        NAME,
        "refusal",
        measured=found,
        exceeded=found,
        criterion="accuracy",
        spans=tuple(one.span for one in refusing),
        suggestion=Hint("accuracy", "it may decline to answer: see the tag refusal")
        if found
        else None,
        note=f"{len(refusing)} phrases of declining; {beside} words in sentences without any",
    )


def _help(reading: Reading, voice: Voice, hits: tuple[Hit, ...], clause: int) -> tuple[int, bool]:
    """What is said besides declining, apologising and sending away.

    Words in sentences that do nothing of the kind, and whether a clause after a turn helps: "I
    can't see it, but it is under Display".
    """
    starts = sorted(one.start for one in hits)
    words, declined, turned = 0, False, False
    for start, end in reading.sentences(voice.part):
        if not _any_within(starts, start, end):
            words += word_count(voice.low[start:end])
            continue
        for begin, stop in _clauses(voice.low, start, end):
            if _any_within(starts, begin, stop):
                declined = True
            elif declined and _TURN.match(voice.low, begin):
                turned = turned or word_count(voice.low[begin:stop]) > clause
    return words, turned


def _any_within(starts: list[int], start: int, end: int) -> bool:
    return bisect_left(starts, end) > bisect_left(starts, start)


def _clauses(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [one.end() for one in _CLAUSE.finditer(text, start, end)]
    edges = [start, *cuts, end]
    return list(pairwise(edges))
