"""The question: of which type it is, and whether the response only says it again.

The rubric asks to expect different answers to different questions; the type is there for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from calibrant.core.parts import Part
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal
from calibrant.raters.checks.text import WORD

NAME = "response_question"
_SEEN = 600
"""Signs of a sentence that are looked at."""
_TYPES = (
    ("comparison", r"differences? between|\bvs\b|\bversus\b|\bcompared? (?:to|with)\b"
     r"|which (?:of|one|is better)|(?:better|cheaper|faster|safer|worse) than"),
    ("opinion", r"\bshould (?:i|we|you|one)\b|do you (?:think|prefer|like|believe|recommend)"
     r"|\bworth (?:it|the|its|buying|doing)|justify|what(?:'s| is| are) the best|your opinion"
     r"|would you|is it (?:ok|okay|right|wrong|better|good|bad)\b|recommend"),
    ("how_to", r"\bhow (?:do|can|could|should|would|to|might) |\bhow (?:does one|must)\b"
     r"|what(?:'s| is) the (?:best |easiest |right |)way to|\bsteps? (?:to|for)\b"),
    ("quantity", r"\bhow (?:many|much|long|far|old|often|tall|big|high|fast|deep|heavy|large)\b"
     r"|what (?:percentage|share|number|amount)"),
    ("reason", r"\bwhy\b|\bhow come\b|what(?:'s| is) the reason|what causes"),
    ("definition", r"what does .{1,80} mean\b|\bdefine\b|meaning of|what do you mean"
     r"|^\W*what(?:'s| is| are) (?:an? |the |)[\w-]++(?: [\w-]++)?\W*$"),
    ("fact", r"\b(?:who|what|when|where|which|whose|whom)\b"),
    ("explanation", r"\bexplain\b|\bdescribe\b|tell me about|\bhow (?:does|did|do|is|are|was)\b"),
    ("yes_or_no", r"^\W*(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|may|might"
     r"|must|isn't|aren't|don't|doesn't|can't)\b"),
    ("request", r"^\W*(?:please |can you |could you |)(?:write|give|list|make|create|translate"
     r"|draft|summari[sz]e|rewrite|find|show|help|suggest|name|calculate|compose|generate|fix|tell)\b"),
)  # fmt: skip
TYPES = tuple((name, re.compile(pattern)) for name, pattern in _TYPES)
"""Types of question and how each is worded; the first that fits is it."""


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("helpfulness",),
    parameters=(
        Parameter("repeated", 0.8, "the share of its words that is saying it again", 0, 1),
        Parameter("least_words", 4, "a shorter question is not looked for", 1),
    ),
    reads="reading",
)  # fmt: skip
def response_question(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Tells the type of the question, and whether the response begins by repeating it."""
    question, response = reading.of("question")[0], reading.of("response")[0]
    if reading.covered(question, "en"):
        kind = question_type(_asked(reading, question))
        yield Signal(NAME, "question_type", measured=kind, criterion="helpfulness")
    else:
        yield Signal(NAME, "question_type", criterion="helpfulness", not_measured=NOT_COVERED)

    asked = set(WORD.findall(_asked(reading, question)))
    if len(asked) < parameters["least_words"]:
        yield Signal(
            NAME, "repeats_question", criterion="helpfulness", not_measured="too few words"
        )
        return
    start, end = (reading.sentences(response) or [(0, len(response.text))])[0]
    first = set(WORD.findall(reading.low(response)[start : min(end, start + _SEEN)]))
    both = asked & first
    # said again: nearly all of the question is there, and little else
    share = min(len(both) / len(asked), 1.5 * len(both) / max(len(first), 1))
    again = share >= parameters["repeated"]
    yield Signal(
        NAME,
        "repeats_question",
        measured=round(share, 3),
        threshold=f">= {parameters['repeated']:g}",
        exceeded=again,
        criterion="helpfulness",
        spans=(reading.span(response, start, end),) if again else (),
        suggestion=Hint("helpfulness", "it begins by repeating the question") if again else None,
        note="words of the question in the first sentence, against all words of that sentence",
    )


def question_type(text: str) -> str:
    """The type of a question in small letters and plain signs; ``other`` where none is seen."""
    return next((name for name, pattern in TYPES if pattern.search(text)), "other")


def _asked(reading: Reading, question: Part) -> str:
    """The last sentence that asks, or the first one."""
    low = reading.low(question)
    found = reading.sentences(question) or [(0, len(low))]
    asking = [one for one in found if low[one[1] - 1] == "?"]
    start, end = (asking or found[:1])[-1]
    return low[start : min(end, start + _SEEN)]
