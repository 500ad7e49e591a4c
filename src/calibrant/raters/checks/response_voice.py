"""Which phrases of a response are its own: not quoted, not code, not what others say.

A response that explains an insult does not insult. Phrases inside quotation marks, in code, after
words of reporting ("critics say that ...") or in a sentence about words ("the phrase ... sounds
rude") are somebody else's, and tones are not read from them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from calibrant.core.parts import Part
from calibrant.raters.checks.reading import Hit, Reading

REPORTED = "reported-speech-en"
OPENING = "opening"
"""The label of phrases that count only where a sentence begins."""
ALONE = "alone"
"""The label of phrases that count only there, and with a stop after them."""
_MOSTLY = 0.8
"""A quotation that is so much of a response is the response."""
_QUOTED = re.compile(r'"[^"\n]++"')
_SINGLE = re.compile(r"(?<![\w'])'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w))++'(?!\w)")
_CODE = re.compile(r"```[^`]*+```|`[^`\n]++`")
_OPENS = re.compile(r"[\W_]*+(?:(?:well|so|look|oh|and|but|now|honestly|ok|okay|yes|no)\b[\W_]*+)?")
_NEAR = 60
_STOPS = ("", ".", ",", "!", "?", ";", "\n")
_CLAUSE = re.compile(r"[;:]\s|\s-\s|,\s(?=but\b)")
_SELF = frozenset(("i", "i've", "i'd", "i'll", "i'm", "we", "we've"))


class Voice:
    """One text, and the stretches of it that are not its own words."""

    def __init__(self, reading: Reading, part: Part) -> None:
        self.reading = reading
        self.part = part
        self.low = reading.low(part)
        self._foreign = self._stretches()
        self._reported: dict[tuple[int, int], int] = {}
        """Sentences with words of reporting: the place from which they are another's."""
        for one in reading.hits(REPORTED):
            if one.part.index != part.index:
                continue
            sentence = self.sentence(one)
            if one.label == "about_words":
                self._reported[sentence] = sentence[0]
            elif not self._is_self(one):
                self._reported[sentence] = min(one.end, self._reported.get(sentence, one.end))

    def _stretches(self) -> list[tuple[int, int]]:
        plain = self.reading.plain(self.part)
        enough = _MOSTLY * len(plain)
        found = [
            one.span()
            for pattern in (_QUOTED, _SINGLE, _CODE)
            for one in pattern.finditer(plain)
            if one.end() - one.start() < enough
        ]
        return sorted(found)

    def _is_self(self, hit: Hit) -> bool:
        return not _SELF.isdisjoint(self.low[max(hit.start - 24, 0) : hit.start].split()[-3:])

    def sentence(self, hit: Hit) -> tuple[int, int]:
        """The sentence that a phrase stands in."""
        return self.reading.sentence_at(self.part, hit.start)

    def is_foreign(self, start: int, end: int) -> bool:
        """Whether a place lies inside quotation marks or code."""
        at = bisect_right(self._foreign, (start, len(self.low)))
        near = self._foreign[max(at - 2, 0) : at]
        return any(begin <= start and end <= stop for begin, stop in near)

    def is_own(self, hit: Hit) -> bool:
        """Whether a phrase is said by the response itself."""
        if self.is_foreign(hit.start, hit.end):
            return False
        return hit.start < self._reported.get(self.sentence(hit), len(self.low))

    def opens(self, hit: Hit) -> bool:
        """Whether a phrase stands where a sentence, or a clause after a stop, begins."""
        start, _ = self.sentence(hit)
        near = max(start, hit.start - _NEAR)
        before = self.low[near : hit.start]
        cuts = [one.end() for one in _CLAUSE.finditer(before)]
        if not cuts and near > start:
            return False
        return _OPENS.fullmatch(before, cuts[-1] if cuts else 0) is not None

    def hits(self, lexicon: str) -> tuple[Hit, ...]:
        """The phrases of a lexicon that the response says itself."""
        return tuple(
            one
            for one in self.reading.hits(lexicon)
            if one.part.index == self.part.index and self.is_own(one) and self._stands(one)
        )

    def _stands(self, hit: Hit) -> bool:
        """Whether a phrase stands where its label wants it."""
        if hit.label == ALONE and self.low[hit.end : hit.end + 1] not in _STOPS:
            return False
        return hit.label not in (OPENING, ALONE) or self.opens(hit)


def longest(hits: Iterable[Hit]) -> Sequence[Hit]:
    """Hits in order, of those that overlap the first and longest, whatever their labels."""
    out: list[Hit] = []
    for one in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if not out or one.start >= out[-1].end:
            out.append(one)
    return out
