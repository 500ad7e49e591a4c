"""Cues that are weighed: words that say little each, and much together.

A lexicon with weights names classes of words. Those of its ``entries`` are looked for in every
text; those of ``around`` only in sentences in which an entry was found. The score of a sentence is
the sum of the weights of the classes in it, and of pairs of classes that follow one another
closely. From nought up, the sentence is raised, with the words that spoke most for it. Weights
are fitted by ``bench/fit_cues.py``; the score is a plain sum, so that anybody can check it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from typing import NamedTuple, TypeAlias

from calibrant.raters.checks.lexicon import Lexicon
from calibrant.raters.checks.matcher import Matcher
from calibrant.raters.checks.parts import Part, Role
from calibrant.raters.checks.reading import Hit, Reading

ALWAYS = "always"
"""The weight that every sentence has."""
FOUND = "found"
"""The class of what the rules of a check have found."""
ASIDE = "aside"
"""The label of what the rules of a check have seen and set aside: it is no cue."""
REACH = 60
"""Signs that may stand between two cues that are a pair."""
FIRM = 0.5
"""What the words of entries must weigh without the small words around them."""
MOST = 80
"""Cues in one stretch that are looked at."""
QUOTED = 3
"""Cues that are quoted as evidence, at most."""
_AFTER = " > "

Names: TypeAlias = dict[str, tuple[Hit, ...]]
"""What speaks in a stretch: names of classes and of pairs, each with its words."""


class Stretch(NamedTuple):
    """Some sentences, and the cues in them in order."""

    part: Part
    hits: tuple[Hit, ...]


class Scored(NamedTuple):
    """A stretch that is raised."""

    part: Part
    score: float
    hits: tuple[Hit, ...]
    """The cues that spoke most for it, in order."""


def scored(
    reading: Reading,
    cues: Lexicon,
    role: Role,
    more: Iterable[Hit] = (),
    own: Callable[[Hit], bool] | None = None,
) -> list[Scored]:
    """The stretches whose cues sum up to nought or more, in order.

    ``more`` are hits of other lexicons, and what rules have found; ``own`` says which count.
    """
    weights, small = cues.weights, {entry.label for entry in cues.around}
    out = []
    for one in stretches(reading, cues, role, more, own):
        said = names(one.hits, weights)
        score = weights.get(ALWAYS, 0.0) + sum(map(weights.__getitem__, said))
        if score >= 0:
            firm = {name: hit for name, hit in said.items() if not small.issuperset(_labels(hit))}
            if FOUND in said or sum(map(weights.__getitem__, firm)) >= FIRM:
                out.append(Scored(one.part, score, _evidence(firm, weights, small)))
    return out


def stretches(
    reading: Reading,
    cues: Lexicon,
    role: Role,
    more: Iterable[Hit] = (),
    own: Callable[[Hit], bool] | None = None,
) -> Iterator[Stretch]:
    """Every sentence with a cue, and as many after it as the lexicon reads together."""
    given = [*reading.hits(cues.id, role), *more]
    by_sentence: dict[tuple[int, int], list[Hit]] = defaultdict(list)
    for hit in given:
        if hit.label != ASIDE and (own is None or own(hit)):
            start, _ = reading.sentence_at(hit.part, hit.start)
            by_sentence[hit.part.index, start].append(hit)
    around = _around(cues)
    looked: dict[tuple[int, int], list[Hit]] = {}
    low, at_part = "", -1
    for (index, start), hits in sorted(by_sentence.items()):
        part = hits[0].part
        if index != at_part:  # each text is taken from the reading once
            low, at_part = reading.low(part), index
        sentences = reading.sentences(part)
        at = max(bisect_right(sentences, (start, len(low) + 1)) - 1, 0)
        together: list[Hit] = []
        for begin, end in sentences[at : at + cues.sentences]:
            place = index, begin
            if place not in looked:
                near = _near(low[begin:end], begin, part, around)
                looked[place] = [*by_sentence.get(place, ())[:MOST], *near]
            together += looked[place]
        together.sort(key=lambda hit: (hit.start, hit.end))
        yield Stretch(part, tuple(together[:MOST]))


def names(hits: Sequence[Hit], known: Mapping[str, float] | None = None) -> Names:
    """The classes in a stretch, and the pairs that follow one another closely."""
    out: Names = {}
    for at, hit in enumerate(hits):
        if hit.label not in out and (known is None or hit.label in known):
            out[hit.label] = (hit,)
        for after in hits[at + 1 :]:
            if after.start > hit.end + REACH:
                break
            name = hit.label + _AFTER + after.label
            if after.start >= hit.end and name not in out and (known is None or name in known):
                out[name] = (hit, after)
    return out


def _labels(hits: Iterable[Hit]) -> set[str]:
    return {hit.label for hit in hits}


def _near(text: str, offset: int, part: Part, around: Matcher | None) -> Iterator[Hit]:
    if around is None:
        return
    for places in around.places(text).values():
        for start, minus, entry, label in places:
            yield Hit(part, start + offset, offset - minus, label, entry)


@cache
def _around(cues: Lexicon) -> Matcher | None:
    """The classes that are looked for only near others."""
    if not cues.around:
        return None
    return Matcher([Lexicon(cues.id, cues.language, cues.version, cues.what, cues.gap,
                            cues.around, ())])  # fmt: skip


def _evidence(said: Names, weights: Mapping[str, float], small: Set[str]) -> tuple[Hit, ...]:
    """The cues that carry most of the score; small words around them are not quoted."""
    carried: dict[Hit, float] = defaultdict(float)
    for name, hits in said.items():
        for hit in hits:
            carried[hit] += weights[name] / len(hits)
    spoke = [hit for hit, weight in carried.items() if weight > 0 and hit.label not in small]
    best = sorted(spoke, key=lambda hit: (-carried[hit], hit.start))[:QUOTED]
    return tuple(sorted(best, key=lambda hit: (hit.start, hit.end)))
