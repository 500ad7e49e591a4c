"""Criteria as a form asks them: answers with their keys, and what is known about each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from calibrant.core.answer import NA
from calibrant.core.criterion import Band, Criterion, Example, Tag
from calibrant.core.criterion import SubQuestion as Beside
from calibrant.core.document import holds
from calibrant.core.item import Item
from calibrant.core.process import Note
from calibrant.core.rubric import Rubric
from calibrant.core.scale import AnyScale, ChoiceScale

LETTERS = {"YES": "y", "NO": "n"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer that can be given."""

    value: str
    key: str
    """What is typed for it; two digits are typed one after the other. Empty: no key."""
    label: str
    text: str
    signs: tuple[str, ...] = ()
    band: str = ""
    examples: tuple[Example, ...] = ()
    is_anchored: bool = False
    """Whether the criterion says what this answer means, and not only the scale."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A criterion, as a form asks it."""

    id: str
    title: str
    category: str
    question: str
    detail: str
    choices: tuple[Choice, ...]
    na: str
    """When NA is right, or why it never is."""
    na_counts_as_failure: bool
    sub_questions: tuple[Beside, ...]
    tags: tuple[Tag, ...]
    considerations: tuple[Note, ...]
    failure_examples: tuple[str, ...]
    rules: tuple[str, ...]
    """What else the rubric says of it: its gate, when lapses fail it."""
    advice: tuple[Note, ...]
    """What the rubric's advice and difficult cases say of this criterion by name."""

    @property
    def is_brief(self) -> bool:
        """Whether its answers fit on buttons side by side: none has an anchor of its own."""
        return not any(one.is_anchored for one in self.choices)

    @property
    def goes_on(self) -> bool:
        """Whether there is nothing to say beside the answer, so that a key leads on."""
        return not self.sub_questions and not self.tags


_ASKED: dict[str, tuple[Asked, ...]] = {}


def asked_of(rubric: Rubric) -> tuple[Asked, ...]:
    """All criteria of a rubric; versions never change, so each is read once."""
    if rubric.hash not in _ASKED:
        if len(_ASKED) > 200:
            _ASKED.clear()
        _ASKED[rubric.hash] = tuple(_asked(rubric, one) for one in rubric.criteria)
    return _ASKED[rubric.hash]


def _asked(rubric: Rubric, one: Criterion) -> Asked:
    titles = {each.id: each.title for each in rubric.categories or ()}
    return Asked(
        id=one.id,
        title=one.title,
        category=titles.get(one.category or "", ""),
        question=one.question,
        detail=one.detail or "",
        choices=tuple(_choices(rubric, one)),
        na=one.na.when or one.na.reason or "",
        na_counts_as_failure=one.na.policy == "invalid",
        sub_questions=one.sub_questions,
        tags=one.tags,
        considerations=one.considerations,
        failure_examples=one.failure_examples,
        rules=tuple(_rules(rubric, one)),
        advice=tuple(note for note in _notes(rubric) if one.id in note.criteria),
    )


def _choices(rubric: Rubric, one: Criterion) -> Iterator[Choice]:
    scale = rubric.scale_of(one)
    keys = keys_of_scale(scale)
    meanings = (
        {each.value: (each.label or "", each.meaning) for each in scale.values}
        if isinstance(scale, ChoiceScale)
        else {}
    )
    for value in map(str, scale.points_of_scale):
        anchor = one.anchors.get(value)
        label, text = meanings.get(value, ("", ""))
        if anchor is None:
            yield Choice(value, keys[value], label, text)
        else:
            yield Choice(
                value,
                keys[value],
                anchor.label or label,
                anchor.text,
                anchor.signs,
                band_words(anchor.band),
                anchor.examples,
                is_anchored=True,
            )
    if one.na.policy != "excluded":
        yield Choice(NA, "a", "not applicable", "")


def keys_of_scale(scale: AnyScale) -> dict[str, str]:
    """What is typed for each value: the value itself where it is a number from 0 to 99.

    YES and NO have their letters; other answers are counted from 1, as far as digits go.
    """
    values = [str(one) for one in scale.points_of_scale]
    if all(one.isascii() and one.isdigit() and len(one) <= 2 for one in values):
        return {one: one for one in values}
    return {
        one: LETTERS.get(one.upper(), str(at) if at < 10 else "")
        for at, one in enumerate(values, 1)
    }


def band_words(band: Band | None) -> str:
    """A range of a share, in words."""
    if band is None:
        return ""
    parts = [
        f"{word} {_percent(value)}"
        for word, value in (
            ("at least", band.at_least), ("above", band.above),
            ("below", band.below), ("at most", band.at_most),
        )
        if value is not None
    ]  # fmt: skip
    return "usually " + " and ".join(parts) if parts else ""


def _percent(share: Decimal) -> str:
    return f"{(share * 100).normalize():f} %"


def _rules(rubric: Rubric, one: Criterion) -> Iterator[str]:
    for gate in rubric.gates or ():
        if one.id in gate.criteria:
            yield f"{gate.title}: {' or '.join(gate.fails_on)} fails the item. {gate.text}"
    if one.violation is not None and one.violation.rule == "any":
        yield "A single lapse is enough to fail it."
    elif one.violation is not None:
        share = one.violation.share
        often = f", from {_percent(share)} of the occasions" if share is not None else ""
        yield f"Lapses fail it when they are a pattern{often}; a single one does not."
    if one.na.policy == "invalid":
        yield "NA can be given, and counts as a failure."


def _notes(rubric: Rubric) -> Iterator[Note]:
    yield from (rubric.guidance.during if rubric.guidance is not None else None) or ()
    yield from rubric.difficult_cases or ()
    for one in rubric.standards or ():
        yield Note(
            title=one.title, text=" ".join([one.text, *one.rules])[:20_000], criteria=one.criteria
        )


@dataclass(frozen=True, slots=True)
class Advice:
    """What a rubric says to raters of all criteria, by heading."""

    keep_in_mind: tuple[Note, ...]
    answers: tuple[tuple[str, str], ...]
    """What the answers of a choice scale say of an item, where all criteria share it."""
    more: tuple[tuple[str, tuple[Note, ...]], ...]


def advice_of(rubric: Rubric) -> Advice:
    """Advice for every item: what to keep in mind, difficult cases, pitfalls, principles."""
    during = (rubric.guidance.during if rubric.guidance is not None else None) or ()
    shared = [
        one for scale in rubric.scales if isinstance(scale, ChoiceScale) for one in scale.values
    ]
    sections = (
        ("Difficult cases", rubric.difficult_cases or ()),
        ("Pitfalls", rubric.pitfalls or ()),
        ("Principles", rubric.principles or ()),
    )
    return Advice(
        tuple(one for one in during if not one.criteria),
        tuple((one.value, one.meaning) for one in shared) if len(rubric.scales) == 1 else (),
        tuple((title, tuple(notes)) for title, notes in sections if notes),
    )


def decided(rubric: Rubric, item: Item) -> dict[str, str]:
    """Criteria that code decides on this item, each with the reason: their answer is NA."""
    measures = item.measures()
    return {
        one.id: one.precondition.reason
        for one in rubric.criteria
        if one.precondition is not None
        and holds(measures[one.precondition.metric], one.precondition.op, one.precondition.value)
    }
