"""The five bias tags of the rubric, as indicators: phrases that often go with each.

Bias shows in what is left out as much as in words, so silence here says little. A phrase found
is something to look at; the tag is for people to give.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.response_voice import REPORTED, Voice, longest
from calibrant.raters.checks.signal import Hint, Signal

NAME = "response_bias"
TAGS = ("political", "cultural", "gender", "confirmation", "selection")


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("tone_bias",),
    parameters=(Parameter("least", 1, "so many phrases hint at a tag", 1),),
    lexicons=(*(f"bias-{tag}-en" for tag in TAGS), REPORTED),
    reads="reading",
)
def response_bias(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds phrases that often go with political, cultural, gender and other bias."""
    response = reading.of("response")[0]
    outside = not reading.covered(response, "en")
    voice = Voice(reading, response)
    for tag in TAGS:
        hits = longest(voice.hits(f"bias-{tag}-en"))
        if outside and not hits:
            yield Signal(NAME, f"bias_{tag}", criterion="tone_bias", not_measured=NOT_COVERED)
            continue
        found = len(hits) >= parameters["least"]
        yield Signal(
            NAME,
            f"bias_{tag}",
            measured=len(hits),
            threshold=f">= {parameters['least']}",
            exceeded=found,
            criterion="tone_bias",
            spans=tuple(one.span for one in hits),
            suggestion=Hint("tone_bias", f"see the tag {tag}") if found else None,
            note="phrases in its own words; what is left out is not seen",
        )
