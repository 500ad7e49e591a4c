"""Sentences of a plan, read by rules over the labels of lexicons.

A rule names labels that must all stand in one sentence, in order where it says how near, and
labels that speak against it. Rules only propose: what they find is quoted for somebody to confirm.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from calibrant.core.parts import Part
from calibrant.raters.checks.cues import FOUND, Cues, Mark, Stretch, marked, scored, stretches
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Hit, Reading
from calibrant.raters.checks.signal import ProposeFlag, Signal, Span

FRAMES = "plan-frames-en"
"""What a sentence does with what it names: a job title, a report, a course, a denial."""
LATER = "later"
"""The label of words that open a clause of purpose or time: *before you apply for the post*."""
ABOUT_WORK = frozenset(("role", "subject"))
"""Labels that say nothing about a sentence if they stand in such a clause."""


_CLAUSE_END = re.compile(r"[,;:]")


MOST = 300
"""Hits in one sentence that are looked at: no sentence that people write has as many."""


class Rule(NamedTuple):
    """Labels of one sentence that together mean something."""

    needs: tuple[str, ...]
    unless: frozenset[str] = frozenset()
    within: int | None = None
    """If given, the needed labels stand in this order with at most so many words in between."""


class Raised(NamedTuple):
    """A sentence in which a rule holds."""

    part: Part
    hits: tuple[Hit, ...]


def rule(*needs: str, unless: str = "", within: int | None = None) -> Rule:
    """A rule, with the labels against it as one text."""
    return Rule(needs, frozenset(unless.split()), within)


def raised(
    reading: Reading,
    lexicons: Sequence[str],
    rules: Sequence[Rule],
    marks: tuple[Mark, ...] = (),
) -> list[Raised]:
    """The sentences of actions in which a rule holds, in order.

    ``marks`` are labels for what has no word: sums, grades.
    """
    by_sentence: dict[tuple[int, int], list[Hit]] = defaultdict(list)
    for name in lexicons:
        for hit in reading.hits(name, "action"):
            start, _ = reading.sentence_at(hit.part, hit.start)
            by_sentence[hit.part.index, start].append(hit)
    for hit in marked(reading, "action", marks):
        start, _ = reading.sentence_at(hit.part, hit.start)
        by_sentence[hit.part.index, start].append(hit)
    out = []
    # one text after the other: each is taken from the reading once
    texts: dict[int, str] = {}
    for (index, _), every in sorted(by_sentence.items()):
        if index not in texts:
            texts = {index: reading.low(every[0].part)}
        every.sort(key=lambda hit: (hit.start, hit.end))
        hits = _in_main_clause(texts[index], every[:MOST])
        labels = {hit.label for hit in hits}
        for one in rules:
            if labels.issuperset(one.needs) and labels.isdisjoint(one.unless):
                found = _nearby(texts[index], hits, one)
                if found:
                    out.append(Raised(hits[0].part, found))
                    break
    return out


def _in_main_clause(text: str, hits: list[Hit]) -> list[Hit]:
    """The hits without job titles and courses that stand in a clause of purpose or time."""
    opened = [hit for hit in hits if hit.label == LATER]
    if not opened:
        return hits
    return [
        hit
        for hit in hits
        if hit.label not in ABOUT_WORK
        or not any(
            clause.start <= hit.start and not _CLAUSE_END.search(text, clause.end, hit.start)
            for clause in opened
        )
    ]


def _nearby(text: str, hits: list[Hit], one: Rule) -> tuple[Hit, ...]:
    """A hit for each label that the rule needs; empty where they are not near one another."""
    first = [hit for hit in hits if hit.label == one.needs[0]]
    if one.within is None:
        rest = [next(hit for hit in hits if hit.label == label) for label in one.needs[1:]]
        return (first[0], *rest)
    for begin in first:
        chain = [begin]
        for label in one.needs[1:]:
            after = (hit for hit in hits if hit.label == label and hit.start >= chain[-1].end)
            follows = next(after, None)
            if follows is None:
                break
            between = text[chain[-1].end : follows.start]
            if len(between.split()) > one.within:
                break
            chain.append(follows)
        if len(chain) == len(one.needs):
            return tuple(chain)
    return ()


class Weighed(NamedTuple):
    """A subject whose rules and words are weighed together."""

    cues: str
    """The lexicon with weights."""
    lexicons: tuple[str, ...]
    rules: Sequence[Rule]
    marks: tuple[Mark, ...] = ()

    def stretches(self, reading: Reading) -> Iterator[Stretch]:
        """The sentences that hold a cue, as they are weighed."""
        return stretches(reading, self._cues(), self._found(reading))

    def raised(self, reading: Reading) -> list[Raised]:
        """The sentences whose cues weigh enough, in order."""
        found = scored(reading, self._cues(), self._found(reading))
        return [Raised(one.part, one.hits) for one in found]

    def _cues(self) -> Cues:
        return Cues(self.cues, "action", self.lexicons, self.marks)

    def _found(self, reading: Reading) -> list[Hit]:
        """What the rules have found, as cues."""
        found = raised(reading, self.lexicons, self.rules, self.marks)
        return [one.hits[0]._replace(label=FOUND) for one in found]


def flag_signal(
    reading: Reading, check: str, flag: str, found: Sequence[Raised], more: Iterable[Span] = ()
) -> Signal:
    """A proposed flag with the words it rests on; what is in another language is told apart."""
    texts = reading.of("action")
    outside = reading.uncovered(texts)
    if outside and not found:
        return Signal(check, flag, not_measured=NOT_COVERED)
    spans = dict.fromkeys(hit.span for one in found for hit in one.hits)
    return Signal(
        check,
        flag,
        measured=len(found),
        threshold=">= 1 sentence",
        exceeded=bool(found),
        spans=(*spans, *more),
        suggestion=ProposeFlag(flag) if found else None,
        note=f"{len(outside)} texts in a language not covered" if outside else "",
    )
