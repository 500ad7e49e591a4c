"""Items that are read together: their texts laid end to end, scanned and counted once for all.

A shelf is what makes many items cheap. It holds no more than it is given, and what it says of an
item does not depend on the items beside it: one that stands alone is a shelf of one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from calibrant.core.item import Item
from calibrant.core.parts import Role, parts_of
from calibrant.raters.checks.language import clearly_covered, covered
from calibrant.raters.checks.lexicon import Lexicon
from calibrant.raters.checks.matcher import Matcher, Places
from calibrant.raters.checks.packed import Bools, Ints, shared_out
from calibrant.raters.checks.texts import BREAK, Texts

MOST_ITEMS, MOST_SIGNS = 64, 400_000
"""A shelf is full with so many items, or with so many signs in them."""
T = TypeVar("T")
I = TypeVar("I", bound=Item)  # noqa: E741


class Scanner:
    """What is looked for in whose words: one matcher a role, or one for all."""

    def __init__(self, lexicons: Iterable[Lexicon] = ()) -> None:
        self.lexicons = {one.id: one for one in lexicons}
        every = self.lexicons.values()
        named = {role for one in every for role in one.roles}
        self._of_all = Matcher(one for one in every if not one.roles)
        self._by_role = {
            role: Matcher(one for one in every if role in one.roles or not one.roles)
            for role in named
        }
        self.labels = {one.id: [entry.label for entry in one.entries] for one in every}
        """Of every entry, by lexicon."""

    def matcher(self, role: Role) -> Matcher:
        """For the texts of one role; roles without a lexicon of their own share one."""
        return self._by_role.get(role, self._of_all)


class Spots(NamedTuple):
    """Places in the texts of a shelf, in order, as lists: what becomes spans, item by item."""

    texts: list[int]
    """Which text of the shelf."""
    starts: list[int]
    """In that text."""
    ends: list[int]
    first: list[int]
    """The first of each item, and after the last the number of all."""


class HitLists(NamedTuple):
    """Hits of one lexicon, as lists."""

    spots: Spots
    labels: list[str]
    entries: list[int]


class HitColumns(NamedTuple):
    """Hits of one lexicon in all items, in order."""

    texts: Ints
    starts: Ints
    """In all texts together."""
    ends: Ints
    entries: Ints
    lists: HitLists
    """The same, as lists, with places in each text."""


_Searched = list[tuple[Ints, Ints, dict[str, Places]]]


class Shelf:
    """Some items with all their texts; whatever is asked for is computed once, for all."""

    def __init__(self, items: Sequence[Item], scanner: Scanner | None = None) -> None:
        self.items = items
        self.scanner = scanner or Scanner()
        self.parts = [parts_of(item) for item in items]
        self.flat = list(chain.from_iterable(self.parts))
        """Every text of every item; a number of a text is its place here."""
        self.first = [0, *accumulate(map(len, self.parts))]
        """The number of the first text of each item, and after the last of all."""
        self.texts = Texts([one.text for one in self.flat])
        self._known: dict[tuple[Hashable, ...], Any] = {}

    def once(self, function: Callable[..., T], *arguments: Hashable) -> T:
        """What a function of this shelf gives, computed for all items when the first one asks."""
        key = (function, *arguments)
        if key not in self._known:
            self._known[key] = function(self, *arguments)
        return cast(T, self._known[key])

    # -- texts

    def of_role(self, role: Role) -> Bools:
        """For every text, whether it is one of that role."""
        return self.once(_of_role, role)

    @cached_property
    def item_of(self) -> Ints:
        """For every text, which item it belongs to."""
        return np.repeat(np.arange(len(self.items)), np.diff(self.first))

    def spots(self, texts: Ints, starts: Ints, ends: Ints) -> Spots:
        """Places in all texts together, which lie in these texts, as places in each."""
        begins = self.texts.bounds[texts]
        first = np.searchsorted(texts, self.first)
        return Spots(
            texts.tolist(), (starts - begins).tolist(), (ends - begins).tolist(), first.tolist()
        )

    @cached_property
    def sentence_starts(self) -> Ints:
        """Where each sentence begins, in all texts together."""
        return np.array(self.texts.sentences.starts, np.intp)

    @cached_property
    def exchanges(self) -> Ints:
        """For every text the exchange it belongs to, counted over the whole shelf."""
        numbers = np.array([one.number for one in self.flat], np.intp)
        most = [max((one.number for one in parts), default=0) + 1 for parts in self.parts]
        before = np.array([0, *accumulate(most)], np.intp)
        return numbers + before[self.item_of]

    # -- languages

    def covered(self, first: int, last: int, language: str) -> list[bool | None]:
        """Whether texts, from the first to before the last, are in a language of lexicons."""
        known = self.once(_clearly_covered, language)
        if None in known[first:last]:
            starts = self.texts.starts
            for at in range(first, last):
                if known[at] is None:
                    low = self.texts.low[starts[at] : starts[at + 1] - 1]
                    known[at] = covered(low, language)
        return known[first:last]

    # -- phrases

    @cached_property
    def _searched(self) -> _Searched:
        """Texts that were searched together, where each begins, and the hits by lexicon."""
        by_role: dict[Role, list[int]] = {}
        for number, one in enumerate(self.flat):
            by_role.setdefault(one.role, []).append(number)
        together: dict[Matcher, list[int]] = {}
        for role, numbers in by_role.items():
            together.setdefault(self.scanner.matcher(role), []).extend(numbers)
        out: _Searched = []
        low, starts = self.texts.low, self.texts.starts
        for matcher, mixed in together.items():
            numbers = sorted(mixed)
            whole = len(together) == 1
            pieces = [] if whole else [low[starts[at] : starts[at + 1] - 1] for at in numbers]
            sizes = [starts[at + 1] - starts[at] for at in numbers]
            begins = np.array([0, *accumulate(sizes)][:-1], np.intp)
            found = matcher.places(low if whole else BREAK.join(pieces))
            out.append((np.array(numbers, np.intp), begins, found))
        return out

    def hits(
        self, lexicon: str, roles: tuple[Role, ...] = (), label: str | None = None
    ) -> HitColumns:
        """Phrases of a lexicon, of those that overlap under one label the first and longest.

        Only those in the texts of these roles (of all, where none is named), and under the label.
        """
        return self.once(_hits, lexicon, roles, label)


def _of_role(shelf: Shelf, role: Role) -> Bools:
    return np.array([one.role == role for one in shelf.flat], np.bool_)


def _clearly_covered(shelf: Shelf, language: str) -> list[bool | None]:
    return [True if one else None for one in clearly_covered(shelf.texts, language).tolist()]


def _hits(shelf: Shelf, lexicon: str, roles: tuple[Role, ...], label: str | None) -> HitColumns:
    texts, starts, ends, entries = shelf.once(_every_hit, lexicon)
    labels = shelf.scanner.labels[lexicon]
    kept = np.ones(texts.size, np.bool_)
    if roles:
        kept &= np.logical_or.reduce([shelf.of_role(role) for role in roles])[texts]
    if label is not None:
        kept &= np.array([one == label for one in labels], np.bool_)[entries]
    at = np.flatnonzero(kept)
    texts, starts, ends, entries = texts[at], starts[at], ends[at], entries[at]
    listed = entries.tolist()
    lists = HitLists(shelf.spots(texts, starts, ends), [labels[one] for one in listed], listed)
    return HitColumns(texts, starts, ends, entries, lists)


def _every_hit(shelf: Shelf, lexicon: str) -> tuple[Ints, Ints, Ints, Ints]:
    labels = shelf.scanner.labels[lexicon]
    found: list[tuple[Ints, Ints, Ints, Ints]] = []
    for numbers, begins, by_lexicon in shelf._searched:
        if lexicon in by_lexicon:
            places = _apart(by_lexicon[lexicon], labels)
            within = shared_out(places.starts, begins)
            texts = numbers[within]
            moved = shelf.texts.bounds[texts] - begins[within]
            found.append((texts, places.starts + moved, places.ends + moved, places.entries))
    none = np.empty(0, np.intp)
    texts, starts, ends, entries = found[0] if found else (none, none, none, none)
    if len(found) > 1:
        texts, starts, ends, entries = (np.concatenate(one) for one in zip(*found, strict=True))
        order = np.argsort(texts, kind="stable")
        texts, starts, ends, entries = texts[order], starts[order], ends[order], entries[order]
    return texts, starts, ends, entries


def _apart(places: Places, labels: Sequence[str]) -> Places:
    """Of hits that overlap under one label, those that begin after the last one kept."""
    number = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    label = np.array([number[one] for one in labels], np.intp)[places.entries]
    order = np.argsort(label, kind="stable")
    apart = label[order] * (int(places.ends.max(initial=0)) + 1)  # labels do not overlap
    reach = np.maximum.accumulate(places.ends[order] + apart)
    joined = np.flatnonzero((places.starts[order] + apart)[1:] < reach[:-1]) + 1
    if not joined.size:
        return places
    kept = np.ones(order.size, np.bool_)
    last = -1
    for at in joined.tolist():
        before, this = order[at - 1], order[at]
        if at - 1 != last:  # the first of some that overlap stands
            end = int(places.ends[before])
        kept[this] = places.starts[this] >= end
        if kept[this]:
            end = int(places.ends[this])
        last = at
    return Places(places.starts[kept], places.ends[kept], places.entries[kept])


# -- filling shelves


def shelves(items: Iterable[I]) -> Iterator[list[I]]:
    """Items in order, as many at a time as make a shelf; the first few come soon."""
    taken: list[I] = []
    signs, most = 0, 1
    for item in items:
        taken.append(item)
        signs += sum(len(one.text) for one in parts_of(item))
        if len(taken) >= most or signs >= MOST_SIGNS:
            yield taken
            taken, signs, most = [], 0, min(most * 4, MOST_ITEMS)
    if taken:
        yield taken
