"""Tones in wording: condescending, dismissive, preachy. Signs for the eye, never gates."""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.response_voice import REPORTED, Voice, longest
from calibrant.raters.checks.signal import ProposeFlag, Signal

NAME = "response_tone"
LEXICONS = {
    "condescending": "condescending-en",
    "dismissive": "dismissive-en",
    "preachy": "preachy-en",
}
"""A red flag of the rubric: the lexicon of phrases that speak for it."""


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("tone_bias",),
    flags=tuple(LEXICONS),
    parameters=(Parameter("least", 1, "so many phrases of one tone propose its flag", 1),),
    lexicons=(*LEXICONS.values(), REPORTED),
    reads="reading",
)
def response_tone(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds condescending, dismissive and preachy phrases that the response says itself."""
    response = reading.of("response")[0]
    outside = not reading.covered(response, "en")
    voice = Voice(reading, response)
    for flag, lexicon in LEXICONS.items():
        hits = longest(voice.hits(lexicon))
        if outside and not hits:
            yield Signal(NAME, flag, criterion="tone_bias", not_measured=NOT_COVERED)
            continue
        found = len(hits) >= parameters["least"]
        yield Signal(
            NAME,
            flag,
            measured=len(hits),
            threshold=f">= {parameters['least']}",
            exceeded=found,
            criterion="tone_bias",
            spans=tuple(one.span for one in hits),
            suggestion=ProposeFlag(flag) if found else None,
            note="phrases in its own words, not quoted or reported",
        )
