"""Cues that are weighed: words that say little each, and much together.

A lexicon with weights names classes of words. Those of its ``entries`` are looked for in every
text; those of ``around`` only in sentences in which an entry was found. The score of a sentence is
the sum of the weights of the classes in it, and of pairs of classes that follow one another
closely. From nought up, the sentence is raised, with the words that spoke most for it. Weights
are fitted by ``bench/fit_cues.py``; the score is a plain sum, so that anybody can check it.

``cues_sift.py`` tells, for many items at once, which sentences may come to nought or more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, TypeAlias

from calibrant.core.parts import Part, Role
from calibrant.raters.checks.cues_sift import (
    AFTER,
    ALWAYS,
    FIRM,
    MOST,
    Cues,
    Mark,
    Near,
    marks_on,
    sifted,
    weights_of,
)
from calibrant.raters.checks.reading import Hit, Reading

FOUND = "found"
"""The class of what the rules of a check have found."""
ASIDE = "aside"
"""The label of what the rules of a check have seen and set aside: it is no cue."""
REACH = 60
"""Signs that may stand between two cues that are a pair."""
QUOTED = 3
"""Cues that are quoted as evidence, at most."""
_ASIDE_REACH = 200
"""Signs of what is set aside whose words are no cues."""

Names: TypeAlias = dict[str, tuple[Hit, ...]]
"""What speaks in a stretch: names of classes and of pairs, each with its words."""

__all__ = ("ALWAYS", "ASIDE", "FOUND", "Cues", "Mark", "Scored", "Stretch", "marked", "names",
           "scored", "stretches")  # fmt: skip


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


def scored(reading: Reading, cues: Cues, ruled: Sequence[Hit] = ()) -> list[Scored]:
    """The stretches whose cues sum up to nought or more, in order.

    ``ruled`` is what the rules of a check have found, and what they have set aside.
    """
    likely = reading.shelf.once(sifted, cues).likely[reading.at]
    together = reading.shelf.scanner.lexicons[cues.lexicon].sentences
    chosen = likely | _touched(reading, ruled, together) if ruled else likely
    if not chosen:
        return []
    known = weights_of(reading.shelf, cues)
    weights, small = known.weights, known.small
    out = []
    for one in _stretches(reading, cues, ruled, chosen):
        said = names(one.hits, weights)
        score = weights.get(ALWAYS, 0.0) + sum(map(weights.__getitem__, said))
        if score >= 0:
            firm = {name: hit for name, hit in said.items() if not small.issuperset(_labels(hit))}
            if FOUND in said or sum(map(weights.__getitem__, firm)) >= FIRM:
                out.append(Scored(one.part, score, _evidence(firm, weights, small)))
    return out


def stretches(reading: Reading, cues: Cues, ruled: Sequence[Hit] = ()) -> Iterator[Stretch]:
    """Every sentence with a cue, and as many after it as the lexicon reads together."""
    return _stretches(reading, cues, ruled, None)


def _stretches(
    reading: Reading, cues: Cues, ruled: Sequence[Hit], chosen: Container[int] | None
) -> Iterator[Stretch]:
    """The stretches that begin with the chosen sentences of the shelf, or all of them."""
    shelf = reading.shelf
    starts, ends, first = shelf.texts.sentences
    together = shelf.scanner.lexicons[cues.lexicon].sentences
    around, near = weights_of(shelf, cues).around, shelf.once(sifted, cues).near
    by_sentence = _by_sentence(reading, cues, ruled)
    looked: dict[int, list[Hit]] = {}
    for head in sorted(by_sentence):
        if chosen is not None and head not in chosen:
            continue
        part = by_sentence[head][0].part
        number = reading.first + part.index
        begin = shelf.texts.starts[number]
        every: list[Hit] = []
        for at in range(head, min(head + together, first[number + 1])):
            if at not in looked:
                found = near.get(at)
                if found is None:
                    found = around(shelf.texts.low[starts[at] : ends[at]], starts[at])
                looked[at] = [*by_sentence.get(at, ())[:MOST], *_hits(part, begin, found)]
            every += looked[at]
        every.sort(key=_place)
        yield Stretch(part, tuple(every[:MOST]))


def _by_sentence(reading: Reading, cues: Cues, ruled: Iterable[Hit]) -> dict[int, list[Hit]]:
    """The cues of an item, but for those around others, by the number of their sentence."""
    lexicons = [reading.hits(one, cues.role) for one in (cues.lexicon, *cues.words)]
    aside = {
        (hit.part.index, place)
        for hit in ruled
        if hit.label == ASIDE
        for place in range(hit.start, min(hit.end, hit.start + _ASIDE_REACH))
    }
    out: dict[int, list[Hit]] = defaultdict(list)
    for some in (lexicons[0], ruled, *lexicons[1:], marked(reading, cues.role, cues.marks)):
        for hit in some:
            if hit.label == FOUND or (
                hit.label != ASIDE and (hit.part.index, hit.start) not in aside
            ):
                out[_sentence(reading, hit.part, hit.start)].append(hit)
    return out


def _sentence(reading: Reading, part: Part, place: int) -> int:
    """The number, on the shelf, of the sentence that a place belongs to."""
    starts, _, first = reading.shelf.texts.sentences
    number = reading.first + part.index
    of, to = first[number], first[number + 1]
    begin = reading.shelf.texts.starts[number]
    return max(bisect_right(starts, begin + place, of, to) - 1, of)


def _touched(reading: Reading, ruled: Iterable[Hit], together: int) -> set[int]:
    """The sentences that begin stretches of which rules say something."""
    out: set[int] = set()
    for hit in ruled:
        of = _sentence(reading, hit.part, hit.start)
        to = _sentence(reading, hit.part, hit.end)
        out.update(range(of - together + 1, to + 1))
    return out


def _place(hit: Hit) -> tuple[int, int]:
    return hit.start, hit.end


def _hits(part: Part, begin: int, found: Iterable[Near]) -> Iterator[Hit]:
    """Places on the shelf as hits in a text that begins there."""
    for start, end, entry, label in found:
        yield Hit(part, start - begin, end - begin, label, entry)


def marked(reading: Reading, role: Role, marks: tuple[Mark, ...]) -> list[Hit]:
    """What has no word, as hits: sums, grades."""
    if not marks:
        return []
    flat, out = reading.shelf.flat, []
    for (label, _), spots in zip(marks, reading.shelf.once(marks_on, role, marks), strict=True):
        of, to = spots.first[reading.at], spots.first[reading.at + 1]
        columns = spots.texts[of:to], spots.starts[of:to], spots.ends[of:to]
        places = zip(*columns, strict=True)
        out += [Hit(flat[at], start, end, label, -1) for at, start, end in places]
    return out


def names(hits: Sequence[Hit], known: Mapping[str, float] | None = None) -> Names:
    """The classes in a stretch, and the pairs that follow one another closely."""
    out: Names = {}
    for at, hit in enumerate(hits):
        if hit.label not in out and (known is None or hit.label in known):
            out[hit.label] = (hit,)
        for after in hits[at + 1 :]:
            if after.start > hit.end + REACH:
                break
            name = hit.label + AFTER + after.label
            if after.start >= hit.end and name not in out and (known is None or name in known):
                out[name] = (hit, after)
    return out


def _labels(hits: Iterable[Hit]) -> set[str]:
    return {hit.label for hit in hits}


def _evidence(said: Names, weights: Mapping[str, float], small: Set[str]) -> tuple[Hit, ...]:
    """The cues that carry most of the score; small words around them are not quoted."""
    carried: dict[Hit, float] = defaultdict(float)
    for name, hits in said.items():
        for hit in hits:
            carried[hit] += weights[name] / len(hits)
    spoke = [hit for hit, weight in carried.items() if weight > 0 and hit.label not in small]
    best = sorted(spoke, key=lambda hit: (-carried[hit], hit.start))[:QUOTED]
    return tuple(sorted(best, key=lambda hit: (hit.start, hit.end)))
