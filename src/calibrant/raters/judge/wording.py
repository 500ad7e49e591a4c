"""A rubric in words for a judge: each criterion and red flag as it is asked, once for all calls.

Everything comes from the document. Disputed examples are never shown; advice that is about how a
study is run, and not about an answer, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from calibrant.core.criterion import Anchor, Band, Criterion, Example, RedFlag
from calibrant.core.process import Note
from calibrant.core.rubric import Rubric
from calibrant.core.scale import Choice, ChoiceScale

SHORT = 400
"""Advice of more signs than these is left to people."""
LAPSES = {
    "any": "A single lapse is enough to fail this criterion.",
    "pattern": "Single lapses do not fail this criterion; a pattern of lapses does.",
}
NO_NA = "NA is not among the answers: every item can be answered."
NEVER_NA = "Do not answer NA. It would count as a failure:"
NA_WHEN = "Answer NA only when this is so:"
NA_ALLOWED = "Answer NA only where the criterion cannot apply to this item at all."
EXAMPLES = "Examples from the rubric, none of them about this item:"
FAILING, CONSIDER = "What failing looks like:", "To consider:"
PATTERN, OR_MORE = " A pattern is", "of the occasions or more."
ATTACH = "Tags to attach where they fit; they change no answer:"
ON_SCALE, NUMBERS = "Answers on the scale", "- whole numbers from"
LOWEST, SIGNS, USUALLY = "(lowest) to", " Signs: ", " Usually a share"
LIMITS = ("of at least", "above", "below", "of at most")
FOR_EXAMPLE, NOT_THIS = "  For example: ", "  Not this flag: "
QUOTE_IT = "  Quote the words that carry it."
QUOTE_BOTH = "  Quote two places: one of the profile (action 0) and one of an action."
FLAGS = "## Red flags"
STANDARD = "A form that items should have; departing from it fails nothing by itself."
ANSWERS, SCALE, ANSWER = "Answers:", "Scale:", "Answer"
SHOWN = ("Context", "Response", "Description", "Why")
"""What an example can have."""
AND, OR = " and ", " or "
FIXED = (
    *LAPSES.values(), NO_NA, NEVER_NA, NA_WHEN, NA_ALLOWED, EXAMPLES, FAILING, CONSIDER, PATTERN,
    OR_MORE, ATTACH, ON_SCALE, NUMBERS, LOWEST, SIGNS, USUALLY, *LIMITS, FOR_EXAMPLE, NOT_THIS,
    QUOTE_IT, QUOTE_BOTH, FLAGS, STANDARD, ANSWERS, SCALE, ANSWER, *SHOWN, AND, OR,
)  # fmt: skip
"""Every fixed sentence of this module."""


def criterion_text(rubric: Rubric, criterion: Criterion) -> str:
    """All that a judge has to know to answer a criterion."""
    return "\n".join(_criterion(rubric, criterion))


def _criterion(rubric: Rubric, criterion: Criterion) -> Iterator[str]:
    yield f"## {criterion.id}: {criterion.title}"
    yield criterion.question
    if criterion.detail:
        yield criterion.detail
    yield from _answers(rubric, criterion)
    yield _na(criterion)
    if criterion.violation is not None:
        share = criterion.violation.share
        told = "" if share is None else f"{PATTERN} {_percent(share)} {OR_MORE}"
        yield LAPSES[criterion.violation.rule] + told
    yield from _listed(FAILING, criterion.failure_examples)
    notes = [*criterion.considerations, *_advice(rubric, criterion)]
    yield from _listed(CONSIDER, (f"{note.title}: {note.text}" for note in notes))
    yield from _listed(EXAMPLES, _examples(criterion))
    yield from _listed(
        ATTACH,
        (f"{tag.id} ({tag.title}): {tag.text}" for tag in criterion.tags),
    )


def standards_text(rubric: Rubric, criteria: Iterable[Criterion]) -> str:
    """Forms that items should have, as far as they help to answer these criteria; each once."""
    asked = {one.id for one in criteria}
    lines: list[str] = []
    for one in rubric.standards or ():
        if asked & set(one.criteria):
            lines += [f"## {one.title} ({', '.join(one.criteria)})", STANDARD, one.text]
            lines += [f"- {rule}" for rule in one.rules]
    return "\n".join(lines)


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    told = [f"- {line}" for line in lines]
    if told:
        yield title
        yield from told


def scale_text(rubric: Rubric, criteria: Iterable[Criterion]) -> str:
    """What answers without a text of their own mean, told once for all criteria on a scale."""
    bare = [one for one in criteria if not one.anchors]
    lines: list[str] = []
    for scale in {one.scale: rubric.scale_of(one) for one in bare}.values():
        lines.append(f"{ON_SCALE} {scale.id}:")
        if isinstance(scale, ChoiceScale):
            lines += [f"- {one.value}: {_meaning(one)}" for one in scale.values]
        else:
            lines.append(f"{NUMBERS} {scale.minimum} {LOWEST} {scale.maximum}")
    return "\n".join(lines)


def _meaning(choice: Choice) -> str:
    return (f"{choice.label}. " if choice.label else "") + choice.meaning


def _answers(rubric: Rubric, criterion: Criterion) -> Iterator[str]:
    scale = rubric.scale_of(criterion)
    if not criterion.anchors:
        yield f"{SCALE} {scale.id}."
        return
    meanings = (
        {one.value: _meaning(one) + " " for one in scale.values}
        if isinstance(scale, ChoiceScale)
        else {}
    )
    yield ANSWERS
    for value in map(str, scale.points_of_scale):
        yield f"- {value}: {meanings.get(value, '')}{_anchor(criterion.anchors[value])}"


def _anchor(anchor: Anchor) -> str:
    told = f"{anchor.label}. " if anchor.label else ""
    told += anchor.text
    if anchor.signs:
        told += SIGNS + "; ".join(anchor.signs) + "."
    if anchor.band is not None:
        told += f"{USUALLY} {_band(anchor.band)}."
    return told


def _band(band: Band) -> str:
    limits = zip(LIMITS, (band.at_least, band.above, band.below, band.at_most), strict=True)
    return AND.join(f"{words} {_percent(one)}" for words, one in limits if one is not None)


def _percent(share: Decimal) -> str:
    return f"{share * 100:f}".rstrip("0").rstrip(".") + " %" if share else "0 %"


def _na(criterion: Criterion) -> str:
    match criterion.na.policy:
        case "excluded":
            return NO_NA
        case "invalid":
            return f"{NEVER_NA} {criterion.na.reason}"
        case "valid":
            return f"{NA_WHEN} {criterion.na.when}" if criterion.na.when else NA_ALLOWED


def _advice(rubric: Rubric, criterion: Criterion) -> Iterator[Note]:
    """Short advice of the rubric that names the criterion; what names none is for all."""
    during = (rubric.guidance.during if rubric.guidance else None) or ()
    for note in (*during, *(rubric.difficult_cases or ())):
        if criterion.id in note.criteria and len(note.text) <= SHORT:
            yield note


def general_advice(rubric: Rubric) -> Iterator[Note]:
    """Short advice that is for all criteria."""
    during = (rubric.guidance.during if rubric.guidance else None) or ()
    for note in (*(rubric.difficult_cases or ()), *(rubric.pitfalls or ()), *during):
        if not note.criteria and len(note.text) <= SHORT:
            yield note


def _examples(criterion: Criterion) -> Iterator[str]:
    for level, anchor in criterion.anchors.items():
        for example in anchor.examples:
            if example.status == "approved":
                yield _example(level, example)


def _example(level: str, example: Example) -> str:
    told = (example.context, example.response, example.description, example.why)
    words = [
        f"{name}: {_one_line(text)}"
        for name, text in zip(SHOWN, told, strict=True)
        if text is not None
    ]
    return f"{ANSWER} {level}. " + " ".join(words)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def flags_text(rubric: Rubric) -> str:
    """All red flags of a rubric, as they are asked for."""
    lines = [FLAGS]
    for flag in rubric.red_flags or ():
        lines += _flag(flag)
    return "\n".join(lines)


def _flag(flag: RedFlag) -> Iterator[str]:
    yield f"- {flag.id} ({flag.title}): {flag.text}"
    if flag.examples:
        yield FOR_EXAMPLE + " / ".join(flag.examples)
    if flag.exceptions:
        yield NOT_THIS + " / ".join(flag.exceptions)
    if flag.evidence == "item_and_profile":
        yield QUOTE_BOTH
    else:
        yield QUOTE_IT


def answers_in_words(values: Iterable[str]) -> str:
    """``YES, NO or NA``"""
    *most, last = values
    return (", ".join(most) + OR if most else "") + last
