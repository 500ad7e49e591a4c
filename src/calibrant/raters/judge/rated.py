"""One judge's rating of one item, put together from what became of its calls.

Every criterion has an answer here: on the scale, NA where code or the judge says so, or ERROR with
the reason. A red flag stands only with words that were found in the item; one without them is kept
apart, for people to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from calibrant.core.acceptance import MAX_TEXT, Texts, no_probabilities, no_sub_answer
from calibrant.core.answer import ERROR, NA, Abstained
from calibrant.core.criterion import Criterion
from calibrant.core.item import Item
from calibrant.core.rating import read_answer
from calibrant.core.rubric import Rubric
from calibrant.raters.judge.card import JudgeCard
from calibrant.raters.judge.outcome import Asked
from calibrant.raters.judge.questions import left_to_code
from calibrant.raters.judge.reading import Judgement, Quote, Seen

NO_WORDS = "no words of the item were quoted for it"
MOST_QUOTES, MOST_SIGNS = 3, 200
"""Told of a red flag that does not stand; a longer quotation is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """What a judge, or a panel of judges, says about one item."""

    item: str
    content: str
    """Content hash of the item."""
    rater: str
    card: str
    """Hash of the card."""
    sample: int
    answers: Mapping[str, str]
    """By criterion, all of them: a value of the scale, ``NA`` or ``ERROR``."""
    abstained: Mapping[str, str] = field(default_factory=dict)
    """Criteria without an answer, and why."""
    by_code: tuple[str, ...] = ()
    """Criteria that were not asked, because a precondition of the rubric decides them."""
    notes: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, tuple[Quote, ...]] = field(default_factory=dict)
    sub_answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    probabilities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    flags: tuple[Seen, ...] = ()
    """Red flags with words that carry them."""
    doubtful: Mapping[str, str] = field(default_factory=dict)
    """Red flags that do not stand, and why: without words, or seen by too few of a panel."""
    flags_unknown: str = ""
    """Why it is not known whether there are red flags; empty: it is known."""
    unverified: int = 0
    """Quotations that are not in the item."""

    @property
    def whole(self) -> bool:
        """Whether everything that was asked has an answer."""
        return not self.abstained and not self.flags_unknown

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """The rating in a line of a file that ``formats.judge_ratings`` has written."""
        told = record["metadata"]
        return cls(
            item=record["item"],
            content=told["content"],
            rater=record["rater"],
            card=told["card"],
            sample=int(record["occasion"]),
            answers={**record["answers"], **told.get("withheld", {})},
            abstained=told.get("abstained", {}),
            by_code=tuple(told.get("by_code", ())),
            notes=record.get("notes", {}),
            evidence={
                name: tuple(map(_quote, quotes))
                for name, quotes in record.get("evidence", {}).items()
            },
            sub_answers=record.get("sub_answers", {}),
            tags={name: tuple(tags) for name, tags in record.get("tags", {}).items()},
            probabilities=told.get("probabilities", {}),
            flags=tuple(
                Seen(flag=one["flag"], evidence=tuple(map(_quote, one["evidence"])))
                for one in record.get("flags", ())
            ),
            doubtful=told.get("doubtful_flags", {}),
            flags_unknown=told.get("flags_unknown", ""),
            unverified=told.get("unverified", 0),
        )


def _quote(given: Mapping[str, Any]) -> Quote:
    return Quote(text=given["text"], place=given.get("place"))


def rated(
    rubric: Rubric, card: JudgeCard, item: Item, sample: int, asked: Sequence[Asked]
) -> Rated:
    """The rating that the calls about an item come to."""
    gathered = _Gathered(rubric, item)
    for one in asked:
        gathered.take(one)
    gathered.rest()
    return Rated(
        item=item.id,
        content=asked[0].call.content if asked else item.hash,
        rater=card.name,
        card=card.hash,
        sample=sample,
        answers={name: gathered.answers[name] for name in rubric.criterion_ids},
        abstained=gathered.abstained,
        by_code=tuple(gathered.by_code),
        notes=gathered.notes,
        evidence=gathered.evidence,
        sub_answers=gathered.sub_answers,
        tags=gathered.tags,
        probabilities=gathered.probabilities,
        flags=gathered.flags,
        doubtful=gathered.doubtful,
        flags_unknown=gathered.flags_unknown,
        unverified=gathered.unverified,
    )


class _Gathered:
    """Fills a rating, call by call."""

    def __init__(self, rubric: Rubric, item: Item) -> None:
        self.rubric, self.item, self.texts = rubric, item, Texts(item)
        self.answers: dict[str, str] = {}
        self.abstained: dict[str, str] = {}
        self.by_code: list[str] = []
        self.notes: dict[str, str] = {}
        self.evidence: dict[str, tuple[Quote, ...]] = {}
        self.sub_answers: dict[str, Mapping[str, str]] = {}
        self.tags: dict[str, tuple[str, ...]] = {}
        self.probabilities: dict[str, Mapping[str, float]] = {}
        self.doubtful: dict[str, str] = {}
        self.flags_unknown = ""
        self.unverified = 0
        self._seen: dict[str, list[Quote]] = {}

    def take(self, asked: Asked) -> None:
        """Take in what became of one call."""
        question, reading = asked.call.question, asked.reading
        if reading is None:
            self.abstained |= dict.fromkeys(question.criteria, asked.reason)
            if question.flags:
                self.flags_unknown = asked.reason
            return
        for name in question.criteria:
            judgement = reading.judgements.get(name)
            if judgement is not None:
                self._judged(self.rubric.criterion(name), judgement)
            else:
                self.abstained[name] = reading.abstained.get(name, "not in the reply")
        if question.flags:
            self._flagged(reading.flags)

    def _judged(self, criterion: Criterion, judgement: Judgement) -> None:
        name, answer = criterion.id, read_answer(self.rubric, criterion, judgement.answer)
        if isinstance(answer, Abstained):
            self.abstained[name] = answer.reason
        else:
            self.answers[name] = str(answer)
        self.unverified += len(judgement.unverified)
        if judgement.reasoning:
            self.notes[name] = judgement.reasoning[:MAX_TEXT]
        if evidence := tuple(self._standing(judgement.evidence)):
            self.evidence[name] = evidence
        if subs := dict(_sub_answers(criterion, judgement)):
            self.sub_answers[name] = subs
        if tags := tuple(one.id for one in criterion.tags if one.id in judgement.tags):
            self.tags[name] = tags
        shares = judgement.probabilities
        if shares and not no_probabilities(self.rubric, criterion, shares):
            self.probabilities[name] = dict(shares)

    def _standing(self, quotes: Iterable[Quote]) -> Iterator[Quote]:
        """Those that a study would take, as it would take them."""
        for one in quotes:
            text = one.text.strip()
            if text and self.texts.hold(text):
                yield Quote(text=text, place=one.place)
            else:
                self.unverified += 1

    def _flagged(self, seen: Iterable[Seen]) -> None:
        known = {flag.id for flag in self.rubric.red_flags or ()}
        for one in seen:
            self.unverified += len(one.unverified)
            if one.flag in known:
                self._seen.setdefault(one.flag, []).extend(self._standing(one.evidence))

    def rest(self) -> None:
        """What no call was made about: code decides it, or nobody did."""
        for criterion in self.rubric.criteria:
            name = criterion.id
            if name in self.answers:
                self.abstained.pop(name, None)
            elif left_to_code(criterion, self.item):
                self.answers[name] = NA
                self.by_code.append(name)
                self.abstained.pop(name, None)
            else:
                self.answers[name] = ERROR
                self.abstained.setdefault(name, "not asked")
        for flag in self.rubric.red_flags or ():
            if flag.id in self._seen:
                texts = [one.text for one in self._seen[flag.id]]
                lacks = [lack for lack, _ in self.texts.lacks(flag, texts)]
                if lacks:
                    self.doubtful[flag.id] = _doubt(lacks, texts)

    @property
    def flags(self) -> tuple[Seen, ...]:
        """Those that stand, in the rubric's order."""
        return tuple(
            Seen(flag=flag.id, evidence=tuple(dict.fromkeys(self._seen[flag.id])))
            for flag in self.rubric.red_flags or ()
            if flag.id in self._seen and flag.id not in self.doubtful
        )


def _doubt(lacks: Iterable[str], texts: Sequence[str]) -> str:
    """Why a red flag does not stand, with the words that were found."""
    if not texts:
        return NO_WORDS
    words = " … ".join(f"“{text[:MOST_SIGNS]}”" for text in texts[:MOST_QUOTES])
    return f"{'; '.join(lacks)}; it has {words}"


def _sub_answers(criterion: Criterion, judgement: Judgement) -> Iterator[tuple[str, str]]:
    """Those of the sub-questions there are, as far as they answer them."""
    for question in criterion.sub_questions:
        text = judgement.sub_answers.get(question.id, "")[:MAX_TEXT].strip()
        if text and not no_sub_answer(question, text):
            yield question.id, text.upper() if question.answer == "yes_no" else text
