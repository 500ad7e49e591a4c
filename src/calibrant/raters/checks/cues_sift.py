"""Which sentences of many items may be raised by their cues, by whole arrays.

There are sums that a stretch cannot exceed. First, what its entries weigh at most, whatever stands
around them: where that is too little, nobody looks for small words. Then, what all classes in it
weigh with every pair that speaks for it, near or not. Only what is left is scored.
What rules find is not known here: whoever asks adds the sentences of which they say something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from calibrant.core.parts import Role
from calibrant.raters.checks.lexicon import Lexicon
from calibrant.raters.checks.matcher import Matcher
from calibrant.raters.checks.packed import Bools, Ints, shared_out
from calibrant.raters.checks.shelf import Shelf, Spots
from calibrant.raters.checks.texts import BREAK

ALWAYS = "always"
"""The weight that every sentence has."""
AFTER = " > "
"""Stands between the names of two classes that are a pair."""
FIRM = 0.5
"""What the words of entries must weigh without the small words around them."""
MOST = 80
"""Cues in one stretch that are looked at."""
_ROUNDING = 1e-6
_ROWS = 4_096
"""Stretches that are summed up at a time."""

Floats: TypeAlias = npt.NDArray[np.float64]
Mark: TypeAlias = tuple[str, re.Pattern[str]]
"""A label, and what stands under it that has no word."""
Near: TypeAlias = tuple[int, int, int, str]
"""A cue around others: where it begins and ends in all texts, its entry and its label."""


class Cues(NamedTuple):
    """What is weighed, in whose words."""

    lexicon: str
    """That with the weights."""
    role: Role
    words: tuple[str, ...] = ()
    """Other lexicons whose words are cues, too."""
    marks: tuple[Mark, ...] = ()


class Sifted(NamedTuple):
    """What is left to look at."""

    likely: list[frozenset[int]]
    """For each item, the sentences of the shelf that begin a stretch which may be raised."""
    near: dict[int, list[Near]]
    """By sentence, the cues around others; a sentence that is not named was not looked at."""


class Weights:
    """The weights of a lexicon as columns, and the search for what stands around its entries."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.weights: Mapping[str, float] = lexicon.weights
        self.small = frozenset(entry.label for entry in lexicon.around)
        """The classes that are looked for only around others."""
        pairs = [name.split(AFTER) for name in lexicon.weights if AFTER in name]
        single = [name for name in lexicon.weights if AFTER not in name and name != ALWAYS]
        labels = dict.fromkeys([*single, *(label for pair in pairs for label in pair)])
        self.number = {label: at for at, label in enumerate(labels)}
        """The column of each class that has a weight."""
        self.always = lexicon.weights.get(ALWAYS, 0.0)
        self.single = np.array([lexicon.weights.get(label, 0.0) for label in labels], np.float64)
        self._firm = np.array([label not in self.small for label in labels], np.bool_)
        speaking = [pair for pair in pairs if lexicon.weights[AFTER.join(pair)] > 0]
        self._before = np.array([self.number[before] for before, _ in speaking], np.intp)
        self._after = np.array([self.number[after] for _, after in speaking], np.intp)
        self._pairs = np.array([lexicon.weights[AFTER.join(pair)] for pair in speaking], np.float64)
        """What each pair adds, of those that speak for a sentence."""
        self._firm_pairs = self._pairs * (self._firm[self._before] | self._firm[self._after])
        self.at_most = self._at_most()
        self._labels = [entry.label for entry in lexicon.around]
        self.around_columns = self.columns(self._labels)
        near = Lexicon(
            lexicon.id, lexicon.language, lexicon.version, lexicon.what, lexicon.gap,
            lexicon.around, (),
        )  # fmt: skip
        self.matcher = Matcher([near] if lexicon.around else [])

    def columns(self, labels: list[str]) -> Ints:
        """The column of each of these classes, or -1."""
        return np.array([self.number.get(label, -1) for label in labels], np.intp)

    def places(self, text: str) -> tuple[Ints, Ints, Ints]:
        """What stands around entries in a text: beginnings, ends, entries."""
        for found in self.matcher.places(text).values():
            return found
        none = np.empty(0, np.intp)
        return none, none, none

    def around(self, text: str, offset: int) -> list[Near]:
        """The same, for a text that begins at that place of all texts."""
        return self.named(*self.places(text), offset)

    def named(self, starts: Ints, ends: Ints, entries: Ints, offset: int = 0) -> list[Near]:
        """Places with their labels."""
        columns = (starts + offset).tolist(), (ends + offset).tolist(), entries.tolist()
        labels = self._labels
        return [(start, end, at, labels[at]) for start, end, at in zip(*columns, strict=True)]

    def _at_most(self) -> Floats:
        """What each class adds at most to what is firm, and after the last a nought.

        A pair is shared by its two classes, or belongs to the one that is no small word.
        """
        out = np.append(np.maximum(self.single * self._firm, 0.0), 0.0)
        both = self._firm[self._before] & self._firm[self._after]
        shared = self._pairs * np.where(both, 0.5, 1.0)
        for side in (self._before, self._after):
            np.add.at(out, side, shared * self._firm[side])
        return out

    def may_be_raised(self, present: Bools) -> Bools:
        """Whether stretches, with the classes in each as a row, may come to nought or more."""
        pairs = (present[:, self._before] & present[:, self._after]).astype(np.float64)
        held = present.astype(np.float64)
        most = self.always + held @ self.single + pairs @ self._pairs
        firm = held @ (self.single * self._firm) + pairs @ self._firm_pairs
        may: Bools = (most >= -_ROUNDING) & (firm >= FIRM - _ROUNDING)
        return may


_weights = cache(Weights)


def weights_of(shelf: Shelf, cues: Cues) -> Weights:
    """The weights of some cues."""
    return _weights(shelf.scanner.lexicons[cues.lexicon])


def marks_on(shelf: Shelf, role: Role, marks: tuple[Mark, ...]) -> list[Spots]:
    """Where each mark stands in the texts of a role."""
    return [shelf.spots(*shelf.once(_marked, role, one)) for one in marks]


def _marked(shelf: Shelf, role: Role, mark: Mark) -> tuple[Ints, Ints, Ints]:
    spans = [found.span() for found in mark[1].finditer(shelf.texts.low)]
    starts, ends = np.array(spans, np.intp).reshape(-1, 2).T
    texts = shared_out(starts, shelf.texts.bounds)
    mine = shelf.of_role(role)[texts]
    return texts[mine], starts[mine], ends[mine]


def sifted(shelf: Shelf, cues: Cues) -> Sifted:
    """The stretches that may be raised without what rules have found."""
    known = weights_of(shelf, cues)
    sentences, columns = _cues_on(shelf, cues, known)
    heads, reach = _heads(shelf, cues, known, sentences, columns)
    if not heads.size:
        return Sifted([frozenset()] * len(shelf.items), {})
    looked = np.flatnonzero(np.bincount(reach.ravel()))
    row_of = np.full(shelf.sentence_starts.size, -1, np.intp)
    row_of[looked] = np.arange(looked.size)
    near = _near(shelf, known, looked)
    rows = np.concatenate((row_of[sentences], near.rows))
    columns = np.concatenate((columns, known.around_columns[near.entries]))
    weighed = (columns >= 0) & (rows >= 0)
    present = np.zeros((looked.size, known.single.size), np.bool_)
    present[rows[weighed], columns[weighed]] = True
    counts = np.bincount(rows[rows >= 0], minlength=looked.size)
    kept = _may_be_raised(known, present, counts, row_of[reach])
    wanted = np.flatnonzero(np.bincount(row_of[reach[kept]].ravel()))
    return Sifted(_by_item(shelf, heads[kept]), near.by_sentence(known, looked, wanted))


def _by_item(shelf: Shelf, sentences: Ints) -> list[frozenset[int]]:
    firsts = np.array(shelf.texts.sentences.first, np.intp)[shelf.first]
    edges = np.searchsorted(sentences, firsts).tolist()
    listed = sentences.tolist()
    return [frozenset(listed[of:to]) for of, to in pairwise(edges)]


def _cues_on(shelf: Shelf, cues: Cues, known: Weights) -> tuple[Ints, Ints]:
    """The sentence of every cue but those around others, and the column of its class."""
    places, columns = [], []
    for lexicon in (cues.lexicon, *cues.words):
        found = shelf.hits(lexicon, (cues.role,))
        places.append(found.starts)
        columns.append(known.columns(shelf.scanner.labels[lexicon])[found.entries])
    for mark in cues.marks:
        _, starts, _ = shelf.once(_marked, cues.role, mark)
        places.append(starts)
        columns.append(np.full(starts.size, known.number.get(mark[0], -1), np.intp))
    every = np.concatenate(places)
    return np.searchsorted(shelf.sentence_starts, every, "right") - 1, np.concatenate(columns)


def _heads(
    shelf: Shelf, cues: Cues, known: Weights, sentences: Ints, columns: Ints
) -> tuple[Ints, Ints]:
    """Sentences with cues whose entries may weigh enough, and those read together with each.

    The last sentence of a text stands for those that it lacks.
    """
    at_most = np.bincount(
        sentences, weights=known.at_most[columns], minlength=shelf.sentence_starts.size
    )
    heads = np.flatnonzero(np.bincount(sentences))
    first = np.array(shelf.texts.sentences.first, np.intp)
    last = first[np.searchsorted(first, heads, "right")] - 1
    together = np.arange(shelf.scanner.lexicons[cues.lexicon].sentences)
    reach = np.minimum(heads[:, None] + together, last[:, None])
    kept = at_most[reach].sum(1) >= FIRM - _ROUNDING
    return heads[kept], reach[kept]


class _Around(NamedTuple):
    """Cues around others, in order."""

    rows: Ints
    """Which of the sentences that were looked at."""
    starts: Ints
    ends: Ints
    entries: Ints

    def by_sentence(self, known: Weights, looked: Ints, wanted: Ints) -> dict[int, list[Near]]:
        """Those of some rows, by the sentences which the rows stand for."""
        of = np.searchsorted(self.rows, wanted).tolist()
        to = np.searchsorted(self.rows, wanted, "right").tolist()
        _, starts, ends, entries = self
        return {
            sentence: known.named(starts[begin:end], ends[begin:end], entries[begin:end])
            for sentence, begin, end in zip(looked[wanted].tolist(), of, to, strict=True)
        }


def _near(shelf: Shelf, known: Weights, looked: Ints) -> _Around:
    """What stands around cues in these sentences."""
    starts, ends, _ = shelf.texts.sentences
    low, listed = shelf.texts.low, looked.tolist()
    text = BREAK.join([low[starts[at] : ends[at]] for at in listed])
    begins = shelf.sentence_starts[looked]
    sizes = np.array([ends[at] for at in listed], np.intp) - begins + 1
    joined = np.cumsum(sizes) - sizes
    found, stops, entries = known.places(text)
    rows = shared_out(found, joined)
    moved = (begins - joined)[rows]
    return _Around(rows, found + moved, stops + moved, entries)


def _may_be_raised(known: Weights, present: Bools, counts: Ints, reach: Ints) -> Bools:
    """Whether stretches may be raised; where there are too many cues to look at, they may."""
    out: Bools = counts[reach].sum(1) > MOST
    for of in range(0, reach.shape[0], _ROWS):
        held = np.logical_or.reduce(present[reach[of : of + _ROWS]], axis=1)
        out[of : of + _ROWS] |= known.may_be_raised(held)
    return out
