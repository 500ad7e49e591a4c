"""Many phrases at once: one automaton over the text, whatever the number of phrases.

The text is scanned once, in small letters and with plain signs. Hits stand at the edges of
words. Where signs were left out of the scan (emphasis, signs of no width, repeated spaces)
places are carried back to the source, so a hit always quotes what really stands there. What the
automaton finds is sifted by whole arrays; only phrases with more to them than their anchor are
looked at one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from calibrant.raters.checks.lexicon import Lexicon
from calibrant.raters.checks.packed import Bools, Bytes, Ints, without_repeats
from calibrant.raters.checks.phrase import Phrase, read_phrase
from calibrant.raters.checks.texts import BREAK, IS_ALNUM, one_byte_signs

_NO_WIDTH = ("\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_OUT = "\x01"
"""Stands for signs that are left out of the scan."""
_DENSE = 400_000
"""Letters of all patterns up to which the faster kind of automaton is not too large."""
_PIECE = 16_000
"""Signs of a text, and what is left to the next break, that are scanned at a time."""
_APOSTROPHE, _SPACE = ord("'"), ord(" ")


class Places(NamedTuple):
    """Hits of one lexicon: by their beginning, the longer one first, and each once."""

    starts: Ints
    ends: Ints
    entries: Ints


class Found(NamedTuple):
    """A hit: where it stands in the text that was scanned, and an entry of a lexicon."""

    start: int
    end: int
    lexicon: str
    entry: int
    label: str


class _Owner(NamedTuple):
    """Whose phrase it is."""

    lexicon: int
    entry: int
    """``-1`` for a phrase that undoes hits of all entries."""
    undoes: bool


class _Target(NamedTuple):
    """What a pattern of the automaton is the anchor of."""

    owner: _Owner
    phrase: Phrase
    open_end: bool


class Matcher:
    """All phrases of some lexicons, ready to scan."""

    def __init__(self, lexicons: Iterable[Lexicon]) -> None:
        self.lexicons = tuple(dict.fromkeys(lexicons))
        by_pattern: dict[str, list[_Target]] = {}
        for number, one in enumerate(self.lexicons):
            for at, entry in enumerate(one.entries):
                _add(by_pattern, one.gap, _Owner(number, at, False), entry.phrases)
                _add(by_pattern, one.gap, _Owner(number, at, True), entry.unless)
            _add(by_pattern, one.gap, _Owner(number, -1, True), one.exceptions)
        self._automaton = _automaton(list(by_pattern))
        self._targets = _Targets(by_pattern.values())

    def scan(self, text: str) -> list[Found]:
        """Every hit in a text of small letters and plain signs, in order, the longer one first."""
        labels = {one.id: [entry.label for entry in one.entries] for one in self.lexicons}
        found = [
            (start, -end, lexicon, entry, labels[lexicon][entry])
            for lexicon, places in self.places(text).items()
            for start, end, entry in zip(*(one.tolist() for one in places), strict=True)
        ]
        return [Found(one[0], -one[1], one[2], one[3], one[4]) for one in sorted(found)]

    def places(self, text: str) -> dict[str, Places]:
        """The same by lexicon, as arrays: this is asked for every item."""
        if self._automaton is None:
            return {}
        scanned, cuts = _prepared(text)
        matches = _matches(self._automaton, scanned)
        owners, starts, ends = self._targets.hit(scanned, matches)
        undoing = self._targets.undoes[owners]
        found = _by_lexicon(self._targets, owners[~undoing], starts[~undoing], ends[~undoing])
        undone = _by_lexicon(self._targets, owners[undoing], starts[undoing], ends[undoing])
        for number in found.keys() & undone.keys():
            found[number] = _standing(found[number], undone[number])
        return {
            self.lexicons[number].id: _in_source(places, cuts) for number, places in found.items()
        }


def _add(
    by_pattern: dict[str, list[_Target]], gap: int, owner: _Owner, phrases: Iterable[str]
) -> None:
    for text in phrases:
        phrase = read_phrase(text, gap)
        for anchor in phrase.anchors:
            bare = anchor.removesuffix("*")
            by_pattern.setdefault(bare, []).append(_Target(owner, phrase, bare != anchor))


class _Targets:
    """What the patterns of an automaton stand for, as columns."""

    def __init__(self, by_pattern: Iterable[list[_Target]]) -> None:
        listed = list(by_pattern)
        every = list(chain.from_iterable(listed))
        owners = dict.fromkeys(one.owner for one in every)
        number = {one: at for at, one in enumerate(owners)}
        self._counts = np.array([len(one) for one in listed], np.intp)
        self._first = np.cumsum(self._counts) - self._counts
        self._phrases = [one.phrase for one in every]
        self._more = np.array([not one.phrase.is_anchor for one in every], np.bool_)
        self._open_end = np.array([one.open_end for one in every], np.bool_)
        self._follows = np.array([_classes(one.phrase.signs_after) for one in every], np.uint32)
        self._precedes = np.array([_classes(one.phrase.signs_before) for one in every], np.uint32)
        self._owner = np.array([number[one.owner] for one in every], np.intp)
        self.lexicon = np.array([one.lexicon for one in owners], np.intp)
        self.entry = np.array([one.entry for one in owners], np.intp)
        self.undoes = np.array([one.undoes for one in owners], np.bool_)

    def hit(self, text: str, matches: Ints) -> tuple[Ints, Ints, Ints]:
        """Owners of the phrases that stand at these matches, and where they begin and end."""
        codes = np.frombuffer(one_byte_signs(text), np.uint8)
        pattern, start, end = matches.T
        edge = ~_goes_on_before(codes, start)
        pattern, start, end = pattern[edge], start[edge], end[edge]
        counts = self._counts[pattern]
        rows = np.repeat(np.arange(pattern.size), counts)
        target = np.arange(rows.size) + np.repeat(self._first[pattern] - _before(counts), counts)
        closed = ~_goes_on_after(codes, end)[rows]
        kept = closed | self._open_end[target]
        kept &= self._may_stand(codes, target, start[rows], np.where(closed, end[rows], -1))
        rows, target, closed = rows[kept], target[kept], closed[kept]
        start, end = start[rows], end[rows]
        for at in np.flatnonzero(~closed).tolist():
            end[at] = _end_of_word(text, int(end[at]))
        stands = self._look_around(text, target, start, end)
        return self._owner[target[stands]], start[stands], end[stands]

    def _may_stand(self, codes: Bytes, target: Ints, start: Ints, end: Ints) -> Bools:
        """Whether the signs next to anchors are such as their phrases go on with.

        An end below nought is one that is not known yet.
        """
        after = codes[end]
        after = np.where(after == _SPACE, codes[end + 1], after)
        before = codes[start - 2]
        follows = (self._follows[target] >> _SIGN_CLASS[after]) & 1
        precedes = (self._precedes[target] >> _SIGN_CLASS[before]) & 1
        may: Bools = ((follows == 1) | (end < 0)) & ((precedes == 1) | (codes[start - 1] != _SPACE))
        return may

    def _look_around(self, text: str, target: Ints, start: Ints, end: Ints) -> Bools:
        """Whether what stands around anchors makes their phrases; widens them where it does."""
        stands = np.ones(target.size, np.bool_)
        looked = np.flatnonzero(self._more[target])
        begins, ends = start[looked].tolist(), end[looked].tolist()
        for at, one in enumerate(target[looked].tolist()):
            after, before, reach = self._phrases[one].look
            if after is not None:
                if (found := after(text, ends[at])) is None:
                    ends[at] = -1
                    continue
                ends[at] = found.end()
            if before is not None:
                begin = begins[at]
                if (found := before(text[max(0, begin - reach) : begin][::-1])) is None:
                    ends[at] = -1
                else:
                    begins[at] -= found.end()
        start[looked], end[looked] = begins, ends
        stands[looked] = end[looked] >= 0
        return stands


_OTHER = 27
_SIGN_CLASS = np.full(256, _OTHER, np.uint32)
_SIGN_CLASS[ord("a") : ord("z") + 1] = np.arange(26)
_SIGN_CLASS[ord("0") : ord("9") + 1] = 26
"""Signs as letters of the alphabet, digits, and others."""
_ANY = (1 << _OTHER + 1) - 1


@cache
def _classes(signs: frozenset[str] | None) -> int:
    """The classes of signs that a phrase may go on with, as bits."""
    if signs is None:
        return _ANY
    codes = np.frombuffer(one_byte_signs("".join(sorted(signs))), np.uint8)[: len(signs)]
    return int(np.bitwise_or.reduce(1 << _SIGN_CLASS[codes]))


def _before(counts: Ints) -> Ints:
    """Sums of all counts before each."""
    sums: Ints = np.cumsum(counts) - counts
    return sums


def _matches(automaton: AhoCorasick, text: str) -> Ints:
    """Pattern, beginning and end of every match, a row each.

    The text is scanned in pieces, so that only few matches are objects at a time.
    """
    found = []
    start = 0
    while start < len(text):
        stop = text.find(BREAK, start + _PIECE)
        piece = text[start : stop if stop >= 0 else len(text)]
        matches = _matches_in(automaton, piece)
        rows = np.fromiter(chain.from_iterable(matches), np.intp, 3 * len(matches)).reshape(-1, 3)
        rows[:, 1:] += start
        found.append(rows)
        start += len(piece)
    return np.concatenate(found) if found else np.empty((0, 3), np.intp)


def _matches_in(automaton: AhoCorasick, text: str) -> list[tuple[int, int, int]]:
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


def _goes_on_before(codes: Bytes, start: Ints) -> Bools:
    """Whether a word goes on before these places. Before the first sign stand noughts."""
    before = codes[start - 1]
    within = IS_ALNUM[before] | ((before == _APOSTROPHE) & IS_ALNUM[codes[start - 2]])
    goes_on: Bools = IS_ALNUM[codes[start]] & within
    return goes_on


def _goes_on_after(codes: Bytes, end: Ints) -> Bools:
    """Whether a word goes on after these places."""
    after = codes[end]
    within = IS_ALNUM[after] | ((after == _APOSTROPHE) & IS_ALNUM[codes[end + 1]])
    goes_on: Bools = IS_ALNUM[codes[end - 1]] & within
    return goes_on


_REST = re.compile(r"[^\W_]*+(?:'[^\W_]++)*+")


def _end_of_word(text: str, end: int) -> int:
    rest = _REST.match(text, end)
    return end if rest is None else rest.end()


# -- order, exceptions


def _by_lexicon(targets: _Targets, owners: Ints, starts: Ints, ends: Ints) -> dict[int, Places]:
    """Hits by their lexicon, then by their beginning, the longer one first, and each once."""
    if not owners.size:
        return {}
    lexicon, entry = targets.lexicon[owners], targets.entry[owners] + 1
    longest = int((ends - starts).max())
    columns = (lexicon, starts, longest - (ends - starts), entry)
    bits = [int(one.max()).bit_length() for one in columns]
    # all that decides the order goes into one number, because numbers are quick to sort
    key = lexicon.astype(np.uint64 if sum(bits) <= 64 else object)
    for column, width in zip(columns[1:], bits[1:], strict=True):
        key = (key << width) | column.astype(key.dtype)
    key = without_repeats(np.sort(key))
    entry = (key & (1 << bits[3]) - 1).astype(np.intp) - 1
    length = longest - (key >> bits[3] & (1 << bits[2]) - 1).astype(np.intp)
    starts = (key >> bits[2] + bits[3] & (1 << bits[1]) - 1).astype(np.intp)
    lexicon = (key >> sum(bits[1:])).astype(np.intp)
    edges = np.flatnonzero(np.diff(lexicon, prepend=-1, append=-1)).tolist()
    return {
        int(lexicon[of]): Places(starts[of:to], starts[of:to] + length[of:to], entry[of:to])
        for of, to in pairwise(edges)
    }


def _standing(hits: Places, undone: Places) -> Places:
    """Hits of a lexicon that no exception of their own overlaps."""
    kept = np.ones(hits.starts.size, np.bool_)
    for entry in np.flatnonzero(np.bincount(undone.entries + 1)).tolist():
        mine = undone.entries == entry - 1
        begins, stops = _merged(undone.starts[mine], undone.ends[mine])
        at = np.searchsorted(begins, hits.ends - 1, "right")
        over = (at > 0) & (stops[at - 1] > hits.starts)
        kept &= ~(over & (hits.entries == entry - 1) if entry else over)
    return Places(hits.starts[kept], hits.ends[kept], hits.entries[kept])


def _merged(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Stretches in order, those that overlap as one: where each begins, and where it ends."""
    reach = np.maximum.accumulate(ends)
    first = np.concatenate(([True], starts[1:] >= reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return starts[first], reach[last]


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


def _in_source(places: Places, cuts: list[int]) -> Places:
    """The hits at their places before signs were left out."""
    if not cuts:
        return places
    gone = np.array(cuts, np.intp)
    return Places(
        places.starts + np.searchsorted(gone, places.starts, "right"),
        places.ends + np.searchsorted(gone, places.ends - 1, "right"),
        places.entries,
    )
