"""How long a response is, against its question, and how hard it is to read."""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Signal
from calibrant.raters.checks.text import reading_ease

NAME = "response_length"


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("helpfulness",),
    parameters=(
        Parameter("short", 10, "fewer words than these are a short response", 0),
        Parameter("long", 600, "more words than these are a long response", 1),
        Parameter("hard", 30.0, "a reading ease below this is hard to read", -100, 120),
        Parameter("least_words", 30, "fewer words than these say nothing of readability", 1),
    ),
    reads="reading",
)
def response_length(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts words and sentences, and estimates how easy a response is to read."""
    response = reading.of("response")[0]
    question = reading.of("question")[0]
    count = reading.word_count(response)
    short, long = parameters["short"], parameters["long"]
    yield Signal(
        NAME,
        "words",
        measured=count,
        threshold=f"{short} to {long}",
        exceeded=not short <= count <= long,
        criterion="helpfulness",
    )
    yield Signal(NAME, "sentences", measured=len(reading.sentences(response)))
    asked = reading.word_count(question)
    yield Signal(NAME, "words_per_word_asked", measured=count / asked if asked else None,
                 not_measured=None if asked else "the question has no words")  # fmt: skip
    if not reading.covered(response, "en"):
        yield Signal(NAME, "reading_ease", criterion="helpfulness", not_measured=NOT_COVERED)
    elif count < parameters["least_words"]:
        yield Signal(NAME, "reading_ease", criterion="helpfulness", not_measured="too few words")
    else:
        ease = reading_ease(response.text)
        yield Signal(
            NAME,
            "reading_ease",
            measured=None if ease is None else round(ease, 1),
            threshold=f"< {parameters['hard']:g}",
            exceeded=None if ease is None else ease < parameters["hard"],
            criterion="helpfulness",
        )
