"""Many phrases at once: one automaton over the text, whatever the number of phrases.

The text is scanned once, in small letters and with plain signs. Hits stand at the edges of
words. Where signs were left out of the scan (emphasis, signs of no width, repeated spaces)
places are carried back to the source, so a hit always quotes what really stands there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from calibrant.raters.checks.lexicon import Lexicon
from calibrant.raters.checks.phrase import Phrase, read_phrase

_NO_WIDTH = ("\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_OUT = "\x01"
"""Stands for signs that are left out of the scan."""
_DENSE = 400_000
"""Letters of all patterns up to which the faster kind of automaton is not too large."""
BREAK = "\x00"
"""Stands between texts that are scanned together; no phrase holds it."""


Place: TypeAlias = tuple[int, int, int, str]
"""Start, end below nought (so that of two at one place the longer comes first), entry, label."""


class Found(NamedTuple):
    """A hit: where it stands in the text that was scanned, and an entry of a lexicon."""

    start: int
    end: int
    lexicon: str
    entry: int
    label: str


class _Owner(NamedTuple):
    """Whose phrase it is."""

    lexicon: str
    entry: int
    """``-1`` for a phrase that undoes hits of all entries."""
    label: str
    undoes: bool


class _Target(NamedTuple):
    """What a pattern of the automaton is the anchor of."""

    owner: _Owner
    phrase: Phrase | None
    """``None`` where there is nothing but the anchor."""
    open_end: bool


class Matcher:
    """All phrases of some lexicons, ready to scan."""

    def __init__(self, lexicons: Iterable[Lexicon]) -> None:
        self.lexicons = tuple(dict.fromkeys(lexicons))
        self._targets: list[list[_Target]] = []
        self._patterns: dict[str, int] = {}
        for one in self.lexicons:
            for at, entry in enumerate(one.entries):
                found = _Owner(one.id, at, entry.label, False)
                self._add(one, found, entry.phrases)
                self._add(one, found._replace(undoes=True), entry.unless)
            self._add(one, _Owner(one.id, -1, "", True), one.exceptions)
        self._automaton = _automaton(list(self._patterns))

    def _add(self, one: Lexicon, owner: _Owner, phrases: Iterable[str]) -> None:
        for text in phrases:
            phrase = read_phrase(text, one.gap)
            rest = None if phrase.is_anchor else phrase
            for anchor in phrase.anchors:
                bare = anchor.removesuffix("*")
                pattern = self._patterns.setdefault(bare, len(self._patterns))
                if pattern == len(self._targets):
                    self._targets.append([])
                self._targets[pattern].append(_Target(owner, rest, bare != anchor))

    def scan(self, text: str) -> list[Found]:
        """Every hit in a text of small letters and plain signs, in order, the longer one first."""
        found = [
            (start, minus, lexicon, entry, label)
            for lexicon, places in self.places(text).items()
            for start, minus, entry, label in places
        ]
        return [Found(one[0], -one[1], one[2], one[3], one[4]) for one in sorted(found)]

    def places(self, text: str) -> dict[str, list[Place]]:
        """The same by lexicon, as bare tuples: this is asked for every item."""
        if self._automaton is None:
            return {}
        scanned, cuts = _prepared(text)
        hits: dict[str, list[Place]] = defaultdict(list)
        undone: dict[str, list[Place]] = {}
        targets, last = self._targets, len(scanned)
        for pattern, start, end in _matches(self._automaton, scanned):
            if start and scanned[start - 1] != " " and _goes_on_before(scanned, start):
                continue
            closed = end == last or scanned[end] == " " or not _goes_on_after(scanned, end)
            for owner, phrase, open_end in targets[pattern]:
                if not (closed or open_end):
                    continue
                begin, stop = start, end if closed else _end_of_word(scanned, end)
                if phrase is not None:
                    place = phrase.around(scanned, begin, stop)
                    if place is None:
                        continue
                    begin, stop = place
                lexicon, entry, label, undoes = owner
                if undoes:
                    undone.setdefault(lexicon, []).append((begin, -stop, entry, label))
                else:
                    hits[lexicon].append((begin, -stop, entry, label))
        for lexicon, exceptions in undone.items():
            if lexicon in hits:
                hits[lexicon] = _standing(hits[lexicon], exceptions)
        return {lexicon: _in_source(places, cuts) for lexicon, places in hits.items()}


def _matches(automaton: AhoCorasick, text: str) -> list[tuple[int, int, int]]:
    try:
        return automaton.find_matches_as_indexes(text, True)
    except UnicodeEncodeError:  # half of a pair of surrogates is no sign at all
        return automaton.find_matches_as_indexes(_HALF_PAIR.sub("\ufffd", text), True)


def _automaton(patterns: list[str]) -> AhoCorasick | None:
    if not patterns:
        return None
    dense = sum(map(len, patterns)) <= _DENSE
    return AhoCorasick(
        patterns,
        matchkind=MatchKind.Standard,
        implementation=Implementation.DFA if dense else Implementation.ContiguousNFA,
    )


# -- the edges of words


def _goes_on_before(text: str, start: int) -> bool:
    before = text[start - 1]
    if not text[start].isalnum():
        return False
    return before.isalnum() or (before == "'" and start > 1 and text[start - 2].isalnum())


def _goes_on_after(text: str, end: int) -> bool:
    after = text[end]
    if not text[end - 1].isalnum():
        return False
    return after.isalnum() or (after == "'" and text[end + 1 : end + 2].isalnum())


_REST = re.compile(r"[^\W_]*+(?:'[^\W_]++)*+")


def _end_of_word(text: str, end: int) -> int:
    rest = _REST.match(text, end)
    return end if rest is None else rest.end()


# -- exceptions


def _standing(hits: list[Place], undone: list[Place]) -> list[Place]:
    """Hits of a lexicon that no exception of their own overlaps."""
    by_entry: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for start, minus, entry, _ in undone:
        by_entry[entry].append((start, -minus))
    covered = {entry: _merged(places) for entry, places in by_entry.items()}
    of_all = covered.get(-1)
    kept = []
    for hit in hits:
        start, minus, entry, _ = hit
        if of_all is not None and _overlaps(of_all, start, -minus):
            continue
        if entry in covered and _overlaps(covered[entry], start, -minus):
            continue
        kept.append(hit)
    return kept


def _merged(places: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Stretches that overlap as one: where each begins, and where it ends."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(places):
        if ends and start < ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends


def _overlaps(stretches: tuple[list[int], list[int]], start: int, end: int) -> bool:
    starts, ends = stretches
    at = bisect_right(starts, end - 1)
    return at > 0 and ends[at - 1] > start


# -- what is left out of the scan


def _prepared(text: str) -> tuple[str, list[int]]:
    """The text as it is scanned: no emphasis, no signs without width, single spaces.

    With it come the places, in what is scanned, before which a sign was left out.
    """
    if _OUT in text:
        text = text.replace(_OUT, " ")
    if "  " in text:
        text = text.replace("  ", " " + _OUT).replace(_OUT + " ", _OUT + _OUT)
    for sign in ("*", "\r") if text.isascii() else ("*", "\r", *_NO_WIDTH):
        if sign in text:
            text = text.replace(sign, _OUT)
    cuts: list[int] = []
    if _OUT in text:
        pieces = text.split(_OUT)
        cuts = list(accumulate(map(len, pieces[:-1])))
        text = "".join(pieces)
    return text.replace("\n", " ").replace("\t", " "), cuts


def _in_source(places: list[Place], cuts: list[int]) -> list[Place]:
    """The hits in order, each once, at their places before signs were left out."""
    ordered = sorted(set(places))
    if not cuts:
        return ordered
    return [
        (start + bisect_right(cuts, start), minus - bisect_right(cuts, -minus - 1), entry, label)
        for start, minus, entry, label in ordered
    ]
