"""What the pages on disagreements show alike: answers, anchors, the item with its quotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from markupsafe import Markup

from calibrant.core.answer import NA
from calibrant.core.criterion import Criterion
from calibrant.core.rubric import Rubric
from calibrant.core.scale import ChoiceScale
from calibrant.study.adjudicate import Case, Error
from calibrant.study.case_file import CaseFile, Voice
from calibrant.web.access import Seat
from calibrant.web.evidence import highlighted, said_style
from calibrant.web.item_view import view_of
from calibrant.web.render import environment

CAUSES = {
    "category": "NA against a value",
    "distance": "far apart",
    "difference": "answers differ",
    "low_agreement": "agreement is low",
    "unsettled": "no answer by rule",
    "no_rule": "no rule",
    "judge": "a judge differs",
    "check": "a check differs",
    "edge_case": "edge case",
    "review": "to review",
}
ERRORS: dict[str, str] = {
    "misread_item": "somebody misread the item",
    "misread_rubric": "somebody misread the rubric",
    "missed_evidence": "something in the item was missed",
    "outside_knowledge": "somebody went beyond the item",
    "slip": "a slip of the hand",
    "ambiguous": "nobody: the case itself is ambiguous",
}
assert tuple(ERRORS) == get_args(Error)
MOST_APART = 3
"""Answers that a line tells one by one."""
KINDS = {"HUMAN": "person", "LLM": "judge", "CODE": "check"}


@dataclass(frozen=True, slots=True)
class Level:
    """One possible answer, what it means, and who gave it."""

    value: str
    label: str
    text: str
    signs: tuple[str, ...]
    givers: tuple[int, ...]
    """Numbers of the voices that gave it, from 1."""


def cause_words(cause: str, rubric: Rubric) -> str:
    """Why a case waits, in a few words: by what the study calls it, or by the red flag's title."""
    flags = {one.id: one.title for one in rubric.red_flags or ()}
    return CAUSES.get(cause) or flags.get(cause) or cause.replace("_", " ")


def levels(rubric: Rubric, criterion: Criterion, voices: Sequence[Voice]) -> list[Level]:
    """All answers to a criterion with their anchors, the highest first, and NA where it may be."""
    scale = rubric.scale_of(criterion)
    points = [str(value) for value in scale.points_of_scale]
    choices = {one.value: one for one in scale.values} if isinstance(scale, ChoiceScale) else {}
    found = []
    for value in points if choices else reversed(points):
        anchor, choice = criterion.anchors.get(value), choices.get(value)
        label = (anchor and anchor.label) or (choice and choice.label) or ""
        text = anchor.text if anchor else choice.meaning if choice else ""
        signs = anchor.signs if anchor else ()
        found.append(Level(value, label, text, signs, _givers(criterion, voices, value)))
    if criterion.na.policy != "excluded":
        text = criterion.na.when or criterion.na.reason or "The criterion does not apply here."
        found.append(Level(NA, "not applicable", text, (), _givers(criterion, voices, NA)))
    return found


def _givers(criterion: Criterion, voices: Sequence[Voice], value: str) -> tuple[int, ...]:
    return tuple(
        number for number, one in enumerate(voices, 1) if one.answers.get(criterion.id) == value
    )


@dataclass(frozen=True, slots=True)
class Said:
    """A voice as a page shows it on one criterion."""

    number: int
    voice: Voice
    answer: str | None
    note: str
    reason: str
    quotes: tuple[str, ...]
    borderline: bool
    tags: tuple[str, ...]
    style: str

    @property
    def kind(self) -> str:
        """What the rater is, in a word."""
        return KINDS[self.voice.kind]


def said_on(file: CaseFile, criterion: Criterion | None) -> list[Said]:
    """What each voice said on a criterion; on the item as a whole where none is named.

    Who said nothing on it, as checks do of what they cannot measure, is left out.
    """
    titles = {tag.id: tag.title for tag in criterion.tags} if criterion else {}
    name = criterion.id if criterion else ""
    return [
        Said(
            number=number,
            voice=one,
            answer=one.answers.get(name),
            note=one.notes.get(name, "") if criterion else one.note,
            reason=one.reasons.get(name, ""),
            quotes=one.evidence.get(name, ()),
            borderline=name in one.borderline,
            tags=tuple(titles.get(tag, tag) for tag in one.tags.get(name, ())),
            style=said_style(number),
        )
        for number, one in enumerate(_heard(file.voices, name), 1)
    ]


def _heard(voices: Iterable[Voice], criterion: str) -> list[Voice]:
    return [
        one
        for one in voices
        if not criterion or criterion in {**one.answers, **one.notes, **one.reasons}
    ]


def tally(case: Case) -> str:
    """The answers of a case in a line: each, or how many of each where there are many."""
    given = Counter(case.answers.values())
    if len(case.answers) <= MOST_APART:
        return " / ".join(case.answers.values())
    return ", ".join(f"{count} × {answer}" for answer, count in given.most_common())


def drawn_item(file: CaseFile, quotes: Sequence[Sequence[str]]) -> Markup | None:
    """The item with quotations marked; None once it is redacted."""
    if file.content is None:
        return None
    part: Any = environment().get_template("parts/item.html").module
    return highlighted(str(part.item(view_of(file.content))), quotes)


def who_talks(seat: Seat, voices: Iterable[Voice]) -> list[str]:
    """Who may have taken part in a talk: the people who rated the item, and whoever looks."""
    people = [one.rater for one in voices if one.kind == "HUMAN"]
    mine = {"you", seat.member.name}
    return people if mine & set(people) else [*people, "you"]
