"""Over-casual language: slang and jokes where the subject is serious.

Casual words on a light subject are no fault, nor are plain ones on a grave one. Both together
are a sign for the eye; whether it fits is for people to say.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.response_voice import REPORTED, Voice, longest
from calibrant.raters.checks.signal import ProposeFlag, Signal

NAME, CASUAL, SERIOUS = "response_casual", "casual-en", "serious-topics-en"


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("tone_bias",),
    flags=("overly_casual",),
    parameters=(
        Parameter("weight", 2, "casual weight from which it is too casual: slang 2, informal 1", 1),
    ),
    lexicons=(CASUAL, SERIOUS, REPORTED),
    reads="reading",
)
def response_casual(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds slang, chat spelling and jokes in a response about a serious subject."""
    response = reading.of("response")[0]
    serious = reading.hits(SERIOUS, "question", "response")
    hits = longest(Voice(reading, response).hits(CASUAL))
    if not hits and not reading.covered(response, "en"):
        yield Signal(NAME, "overly_casual", criterion="tone_bias", not_measured=NOT_COVERED)
        return
    subjects = sorted({one.label for one in serious})
    weight = sum(2 if one.label == "slang" else 1 for one in hits)
    found = bool(serious) and weight >= parameters["weight"]
    yield Signal(
        NAME,
        "overly_casual",
        measured=len(hits),
        threshold=f"weight >= {parameters['weight']} on a serious subject",
        exceeded=found,
        criterion="tone_bias",
        spans=tuple(one.span for one in (*hits, *serious[:3])) if found else (),
        suggestion=ProposeFlag("overly_casual") if found else None,
        note=f"serious subject: {', '.join(subjects)}" if subjects else "no serious subject found",
    )
