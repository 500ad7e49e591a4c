"""Simulated raters: each with a severity, a share of noise and of halo, and words of their own.

What a rater says about an item follows from a seed and from names alone, so that it does not
depend on the order in which ratings are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from calibrant.core.answer import NA
from calibrant.core.criterion import Criterion
from calibrant.core.item import Item, Response
from calibrant.core.rubric import Rubric
from calibrant.core.scale import OrdinalScale
from calibrant.core.study import Key
from calibrant.demo.material import Leaning, Truth

CLOSE_CALLS = (
    "Between two answers; I went with the one whose whole text is true.",
    "Could go either way. I read it twice.",
    "A close call: one sentence decides it for me.",
    "I would like to hear how others read this.",
)
EVERYWHERE = ""
Spread: TypeAlias = Mapping[str, float]
"""How far raters of a study lie apart, by criterion; under no name, on all others."""
SLIP = 0.01
"""How often somebody answers a choice against what they would say on another day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """How somebody rates."""

    severity: float = 0.0
    """In units of the study's spread: above nought they give less."""
    noise: float = 1.0
    """Against the study's spread."""
    halo: float = 0.05
    """How far one impression of the item colours every answer."""
    words: float = 0.4
    """How often they write a note where they have something to say."""


def filled_in(
    hand: Hand, rubric: Rubric, item: Item, truth: Truth, key: Key, *, seed: str, spread: Spread
) -> dict[str, Any]:
    """The form that somebody hands in."""
    name = f"{seed}/{key.round}/{key.item}/{key.rater}/{key.occasion}"
    look = _Look(hand, rubric, truth, Random(name), spread)  # noqa: S311 - a simulation
    answers = {one.id: look.answer(one) for one in rubric.criteria}
    return {
        "answers": answers,
        "sub_answers": _sub_answers(rubric, item, answers),
        **look.words(answers),
        **look.marks(),
    }


class _Look:
    """Somebody looks at an item once."""

    def __init__(
        self, hand: Hand, rubric: Rubric, truth: Truth, draw: Random, spread: Spread
    ) -> None:
        self.hand, self.rubric, self.truth = hand, rubric, truth
        self.draw, self.spread = draw, spread
        places = [one for one in truth.quality.values() if isinstance(one, int | float)]
        self.impression = sum(places) / len(places)
        self.close: list[str] = []
        """Criteria on which the answer was a close call, and is marked as one."""

    def answer(self, criterion: Criterion) -> str:
        """What they answer."""
        leaning = self.truth.quality[criterion.id]
        if isinstance(leaning, str):
            return leaning
        if isinstance(leaning, Mapping):
            self._mark(criterion, close=True)
            return self.draw.choices(list(leaning), list(leaning.values()))[0]
        scale = self.rubric.scale_of(criterion)
        if isinstance(scale, OrdinalScale):
            return self._level(criterion, scale, leaning)
        self._mark(criterion, close=0.3 < leaning < 0.7)
        share = min(max(_decided(leaning - self.hand.severity * 0.08), SLIP), 1 - SLIP)
        return "YES" if self.draw.random() < share else "NO"

    def _level(self, criterion: Criterion, scale: OrdinalScale, leaning: float) -> str:
        """A level of an ordinal scale, near to where the answer lies."""
        apart = self.spread.get(criterion.id, self.spread[EVERYWHERE])
        drawn = leaning + self.hand.halo * (self.impression - leaning)
        drawn += self.draw.gauss(-self.hand.severity, self.hand.noise) * apart
        self._mark(criterion, close=abs(drawn % 1 - 0.5) < 0.06)
        return str(min(max(round(drawn), scale.minimum), scale.maximum))

    def _mark(self, criterion: Criterion, *, close: bool) -> None:
        if close and self.draw.random() < self.hand.words:
            self.close.append(criterion.id)

    def words(self, answers: Mapping[str, str]) -> dict[str, Any]:
        """Notes, quotations, close calls and tags that go with the answers."""
        notes: dict[str, str] = {}
        evidence: dict[str, list[str]] = {}
        for name, remark in self.truth.remarks.items():
            told = self.draw.random() < self.hand.words
            if told and _in_line(answers[name], self.truth.quality[name]):
                notes[name] = remark.note
                if remark.quote:
                    evidence[name] = [remark.quote]
        for name in self.close:
            notes.setdefault(name, self.draw.choice(CLOSE_CALLS))
        tags = {
            name: list(one) for name, one in self.truth.tags.items() if self.draw.random() < 0.8
        }
        return {"notes": notes, "evidence": evidence, "borderline": self.close, "tags": tags}

    def marks(self) -> dict[str, Any]:
        """Red flags that they see, and what they put before the lead."""
        marks: dict[str, Any] = {
            "flags": [
                {"flag": one.flag, "evidence": list(one.evidence)}
                for one in self.truth.flags
                if self.draw.random() < one.chance
            ]
        }
        for name, text in (("edge_case", self.truth.edge_case), ("review", self.truth.review)):
            if text and self.draw.random() < self.hand.words:
                marks[name] = text
        return marks


def _decided(share: float) -> float:
    """A leaning as a share of answers: whoever leans a little answers so more often than not."""
    yes, no = max(share, 0.0) ** 2, max(1 - share, 0.0) ** 2
    return yes / (yes + no)


def _sub_answers(
    rubric: Rubric, item: Item, answers: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """What is recorded beside answers: what NA rests on, and the day facts are judged for."""
    out: dict[str, dict[str, str]] = {}
    for criterion in rubric.criteria:
        for one in criterion.sub_questions:
            said = out.setdefault(criterion.id, {})
            if one.na_expects is not None:
                other = "NO" if one.na_expects == "YES" else "YES"
                said[one.id] = one.na_expects if answers[criterion.id] == NA else other
            elif one.answer == "date" and isinstance(item, Response) and item.as_of:
                said[one.id] = item.as_of
    return {name: said for name, said in out.items() if said}


def _in_line(answer: str, leaning: Leaning) -> bool:
    """Whether what is said of an item in general goes with this answer to it."""
    if answer in ("YES", "NO") and isinstance(leaning, int | float):
        return (answer == "YES") == (leaning >= 0.5)
    if isinstance(leaning, Mapping):
        return answer == max(leaning, key=lambda one: leaning[one])
    return isinstance(leaning, str) or abs(float(answer) - leaning) <= 1
