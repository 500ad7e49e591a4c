"""What a reply must look like, as JSON Schema: evidence, then reasoning, then the answer.

Servers write keys in the order of the schema, so a model has looked for evidence before it answers.
The keywords are those that hosted strict modes and the grammars of local servers both know: lengths
of texts are bounded by a pattern, because ``maxLength`` is not among them. The pattern lets no
double quote and no line break into a text, so no other JSON can be copied into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from calibrant.core.answer import NA
from calibrant.core.criterion import Criterion, SubQuestion
from calibrant.core.rubric import Rubric
from calibrant.raters.judge.questions import RED_FLAGS, Question
from calibrant.raters.judge.transcript import PLACES

EVIDENCE: Final = "evidence"
QUOTE: Final = "quote"
REASONING: Final = "reasoning"
TAGS: Final = "tags"
ANSWER: Final = "answer"
FLAG: Final = "flag"
OWN_KEYS = frozenset((EVIDENCE, REASONING, TAGS, ANSWER))
MOST_QUOTES, QUOTE_SIGNS, REASON_SIGNS, SUB_SIGNS = 3, 240, 480, 120
"""A few quotations and a few sentences: enough to check, and a small model comes to an end."""
LENGTHS = (MOST_QUOTES, QUOTE_SIGNS, REASON_SIGNS, SUB_SIGNS)
_DAY = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$"
_Schema = dict[str, Any]


def schema_of(rubric: Rubric, question: Question) -> _Schema:
    """The schema of a reply to a question."""
    place = PLACES.get(rubric.item_type)
    properties: _Schema = {
        name: _judgement(rubric, rubric.criterion(name), place) for name in question.criteria
    }
    if question.flags:
        properties[flags_key(question)] = _flags(rubric, place)
    return _object(properties)


def answers_of(rubric: Rubric, criterion: Criterion) -> list[str]:
    """Everything that may be answered, as text."""
    points = [str(value) for value in rubric.scale_of(criterion).points_of_scale]
    return points + ([NA] if criterion.na.policy != "excluded" else [])


def sub_key(sub: SubQuestion) -> str:
    """Under which key a sub-question is answered; never one of our own."""
    return f"sub_{sub.id}" if sub.id in OWN_KEYS else sub.id


def flags_key(question: Question) -> str:
    """Under which key red flags come; never the name of a criterion that is asked."""
    return f"seen_{RED_FLAGS}" if RED_FLAGS in question.criteria else RED_FLAGS


def _judgement(rubric: Rubric, criterion: Criterion, place: str | None) -> _Schema:
    properties: _Schema = {EVIDENCE: _evidence(place), REASONING: _text(REASON_SIGNS)}
    for sub in criterion.sub_questions:
        properties[sub_key(sub)] = _sub_answer(sub)
    if criterion.tags:
        properties[TAGS] = _list(_one_of([tag.id for tag in criterion.tags]), len(criterion.tags))
    properties[ANSWER] = _one_of(answers_of(rubric, criterion))
    return _object(properties)


def _sub_answer(sub: SubQuestion) -> _Schema:
    match sub.answer:
        case "yes_no":
            return _one_of(["YES", "NO"])
        case "date":
            return {"type": "string", "pattern": _DAY}
        case "text":
            return _text(SUB_SIGNS)


def _flags(rubric: Rubric, place: str | None) -> _Schema:
    known = [flag.id for flag in rubric.red_flags or ()]
    one = _object({FLAG: _one_of(known), EVIDENCE: _evidence(place)})
    return _list(one, len(known))


def _evidence(place: str | None) -> _Schema:
    quote: _Schema = {} if place is None else {place: {"type": "integer"}}
    return _list(_object(quote | {QUOTE: _text(QUOTE_SIGNS)}), MOST_QUOTES)


def _text(most: int) -> _Schema:
    return {"type": "string", "pattern": rf'^[^"\\\n\r\t]{{0,{most}}}$'}


def _one_of(values: Sequence[str]) -> _Schema:
    return {"type": "string", "enum": list(values)}


def _list(items: _Schema, most: int) -> _Schema:
    return {"type": "array", "items": items, "maxItems": most}


def _object(properties: _Schema) -> _Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
