"""Numbers that a reviewer may want to check: stated by the response, and with no source named.

Whether a number is right is not for code to say. Those that the question or the reference holds
are left out, as are numbers of steps and lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from calibrant.core.parts import Part
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.response_voice import Voice
from calibrant.raters.checks.signal import Hint, Signal, Span

NAME, SOURCES = "response_numbers", "sources-en"
_NUMBER = re.compile(
    r"(?<![\w.,/#-])[$£€¥]?\d++(?:[.,]\d++)*+"
    r"(?:\s?(?:%|percent\b|per cent\b|thousand\b|million\b|billion\b|trillion\b))?(?![\w/])"
)
_DIGITS = re.compile(r"\d++(?:[.,]\d++)*+")
_LISTED = re.compile(r"(?m)^[ \t]{0,12}+[(*-]?[ \t]?\d{1,3}+[.):]")
_STEP = re.compile(
    r"\b(?:step|steps|part|chapter|section|figure|table|page|option|item|line|rule)\s$"
)
_LINK = re.compile(r"https?://|\bwww\.|\bdoi\b|\[\d{1,3}\]")


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("accuracy",),
    parameters=(
        Parameter("digits", 2, "a bare number with fewer digits is left out", 1),
        Parameter("listed", 50, "no more numbers than these are listed", 1),
    ),
    lexicons=(SOURCES,),
    reads="reading",
)
def response_numbers(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Lists the numbers in a response for which no source is named."""
    response = reading.of("response")[0]
    numbers = _numbers(reading, response, parameters["digits"])
    yield Signal(NAME, "numbers", measured=len(numbers), criterion="accuracy")
    if numbers and not reading.covered(response, "en"):
        yield Signal(NAME, "numbers_without_source", criterion="accuracy", not_measured=NOT_COVERED)
        return
    sourced = {reading.sentence_at(response, place) for place in _sources(reading, response)}
    open_ones = [one for one in numbers if reading.sentence_at(response, one.start) not in sourced]
    yield Signal(
        NAME,
        "numbers_without_source",
        measured=len(open_ones),
        criterion="accuracy",
        spans=tuple(open_ones[: parameters["listed"]]),
        suggestion=Hint("accuracy", "numbers to check: no source is named") if open_ones else None,
        note="numbers that neither the question nor the reference holds, nor a source goes with",
    )


def _sources(reading: Reading, part: Part) -> Iterable[int]:
    yield from (one.start for one in reading.hits(SOURCES, part.role))
    yield from (one.start() for one in _LINK.finditer(reading.low(part)))


def _numbers(reading: Reading, part: Part, digits: int) -> list[Span]:
    """Numbers of the response that are its own and count something."""
    text = reading.low(part)
    given = {
        number
        for role in ("question", "reference")
        for one in reading.of(role)
        for number in _DIGITS.findall(reading.low(one))
    }
    counted = {one.end() for one in _LISTED.finditer(text)}
    voice = Voice(reading, part)
    out = []
    for found in _NUMBER.finditer(text):
        start, end = found.span()
        bare = _DIGITS.search(text, start, end)
        assert bare is not None
        if bare.group() in given or bare.end() + 1 in counted or voice.is_foreign(start, end):
            continue
        plain = found.group() == bare.group()
        if plain and (len(bare.group()) < digits or _STEP.search(text[max(start - 12, 0) : start])):
            continue
        out.append(reading.span(part, start, end))
    return out
