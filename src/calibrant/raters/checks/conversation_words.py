"""What a message is about, as far as words tell: the beginnings of words that carry meaning.

Two texts that share such a beginning may speak of the same thing. It is a rough likeness, good
for pointing a reviewer to a place, and for nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from calibrant.raters.checks.packed import Bools, Ints, Words, WordSet, pack, shared_out
from calibrant.raters.checks.shelf import Shelf

WORDS = re.compile(r"[a-z]{4,}+")
"""Words of four letters and more."""
_COMMON = """
    about above after again against almost along already also although always another
    anymore anyone anything anyway around away because been before began being believe best
    better between both bring came cannot come could couldn didn does doesn doing done down
    during each either else enough even ever every everyone everything exactly feel feeling
    felt find first found from gave getting give goes going gone good gotten great guess
    happen hard have haven having hear heard help here herself himself hold honestly hope
    however inside instead into isn't itself just keep kept kind knew know known last late
    later least leave left less life like likely little long look made make many matter
    maybe mean means meant might mind moment more most much must myself need never next nice
    nothing notice obviously often okay once only other others over own part people perhaps
    place point pretty probably quite rather ready really reason right said same saying seem
    seen sense share should shouldn since some somehow someone something sometimes somewhat
    soon sort sound start stay still stop stuff such sure take talk tell than thank that
    thats their them themselves then there these they thing things think this those though
    thought three through time times today together told tomorrow tonight took toward tried
    truly trying turn under understand until upon used usually very want wasn't week well
    went were weren't what whatever when where whether which while whole whom will with
    within without wonder wondering word words worse worth would wouldn year years yesterday
    yeah your yours yourself able actually comes days early easy either else fine full half
    high inside large lots morning night once open past quick real says several side simply
    small stuck takes thats till understood using ways weeks yet
    """.split()  # noqa: SIM905 -- a page of words, not one to a line
COMMON = frozenset(word[:5] for word in _COMMON if len(word) >= 4)
"""Beginnings of words that are about nothing in particular."""


def stems(low: str) -> set[str]:
    """The beginnings of the words that carry meaning, in a text of small letters."""
    return {word[:5] for word in WORDS.findall(low)} - COMMON


class Topics(NamedTuple):
    """Words that carry meaning in all texts of a shelf, in order."""

    starts: Ints
    ends: Ints
    stems: Words
    """Packed, in the low 40 bits."""
    texts: Ints


_COMMON_STEMS = WordSet(COMMON)
STEM_BITS = 40


def topics(shelf: Shelf) -> Topics:
    """The words of meaning on a shelf."""
    runs = shelf.texts.letter_runs
    kept = np.flatnonzero(_COMMON_STEMS.places(runs.stems) < 0)
    starts = runs.starts[kept]
    texts = shared_out(starts, shelf.texts.bounds)
    return Topics(starts, runs.ends[kept], runs.stems[kept] >> np.uint64(24), texts)


class Said(NamedTuple):
    """Which stems each message of a user holds; messages are counted over the whole shelf."""

    keys: list[int]
    """Stem and message as one number, in order and each once."""
    packed: Words
    """The same, as an array."""
    first: list[int]
    """The first message of each item, and after the last the number of all."""
    starts: Ints
    """Where the first word with that stem stands in the message, for each of the keys."""
    ends: Ints
    messages: Ints
    """Which message, for each of the keys."""
    stems: Words
    texts: Ints
    """The text of each message."""


MESSAGE_BITS = np.uint64(24)


def said_by_users(shelf: Shelf) -> Said:
    """The words of meaning in the messages of users, each once a message."""
    found, users = shelf.once(topics), shelf.of_role("user")
    texts = np.flatnonzero(users)
    number = np.cumsum(users) - 1
    mine = np.flatnonzero(users[found.texts])
    keys = (found.stems[mine] << MESSAGE_BITS) | number[found.texts[mine]].astype(np.uint64)
    order = np.argsort(keys)
    keys = keys[order]
    fresh = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: keys.size])
    words = mine[np.minimum.reduceat(order, fresh)] if fresh.size else mine
    keys = keys[fresh]
    return Said(
        keys.tolist(),
        keys,
        np.searchsorted(texts, shelf.first).tolist(),
        found.starts[words],
        found.ends[words],
        number[found.texts[words]],
        found.stems[words],
        texts,
    )


def are_said(said: Said, stems: Words, first: Ints, last: Ints) -> Bools:
    """For each stem, whether one of its messages, from the first to the last, holds it."""
    if not said.packed.size:
        return np.zeros(stems.size, np.bool_)
    stems = stems << MESSAGE_BITS
    at = np.searchsorted(said.packed, stems | first.astype(np.uint64))
    found = said.packed[np.minimum(at, said.packed.size - 1)]
    up_to = stems | np.maximum(last, 0).astype(np.uint64)
    held: Bools = (first <= last) & (at < said.packed.size) & (found <= up_to)
    return held


def is_said(said: Said, stem: str, first: int, last: int) -> bool:
    """Whether one of the messages from the first to the last, with both, holds a stem."""
    packed = (pack(stem) >> 24) << int(MESSAGE_BITS)
    at = bisect_left(said.keys, packed | first)
    return first <= last and at < len(said.keys) and said.keys[at] <= packed | last
