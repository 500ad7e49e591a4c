"""Whether the words that a judge quotes stand in the item, at the place it names.

Line breaks and spaces, typographic signs, capitals and signs that cannot be seen make no
difference. What is given back are the item's own words: a quotation that is kept is one that
anybody can find.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property

from calibrant.core.item import Item
from calibrant.core.parts import Part, parts_of
from calibrant.raters.checks.text import low
from calibrant.raters.judge.kept import Kept
from calibrant.raters.judge.reading import Quote
from calibrant.raters.judge.transcript import HIDDEN, MARK, PLACES, WRITTEN_OUT, hides

LEAST = 6
"""A quotation with fewer letters and digits shows nothing, unless it is the whole of a text."""
MOST = 2000
"""Signs of a quotation that are looked at."""
EDGES = " .'*"
"""Signs at either end of a quotation that do not count."""


class Text:
    """One text of an item, made ready to be searched when it first is."""

    def __init__(self, place: int | None, source: str) -> None:
        self.place, self.source = place, source
        """Number of its exchange or action, from one; 0 stands for what comes before them."""

    @cached_property
    def folded(self) -> str:
        """As it is compared."""
        return folded(self.source)

    @property
    def may_hold_code(self) -> bool:
        """Whether there may be JSON in it, as a glance can tell."""
        return "{" in self.source or not self.source.isascii()


class Quotable:
    """The texts of an item in which quotations are looked up."""

    def __init__(self, item: Item) -> None:
        self.called = PLACES.get(item.kind)
        self.texts = [Text(self._place(part), part.text) for part in parts_of(item)]
        self.places = frozenset(one.place for one in self.texts)

    @cached_property
    def code(self) -> list[str]:
        """Texts that may hold JSON, without blanks."""
        some = (one.folded for one in self.texts if one.may_hold_code)
        return [_run_together(one) for one in some if "{" in one]

    def _place(self, part: Part) -> int | None:
        if self.called is None:
            return None
        return 0 if part.role in ("profile", "preamble") else part.number + 1

    def find(self, words: str, place: int | None) -> Quote | None:
        """The item's own words for a quotation, or nothing; without a place, from anywhere."""
        wanted = folded(words[:MOST].removeprefix(MARK).replace("\n" + MARK, "\n")).strip(EDGES)
        if not wanted:
            return None
        for text in self.texts:
            if place is not None and text.place != place:
                continue
            at = text.folded.find(wanted)
            if at >= 0 and (_enough(wanted) or wanted == text.folded.strip(EDGES)):
                return Quote(text=_own_words(text, at, len(wanted)), place=text.place)
        return None


_kept: Kept[tuple[Item, Quotable]] = Kept()


def quotable(item: Item) -> Quotable:
    """The texts of an item, made ready once for all replies about it."""
    known = _kept.get(id(item))
    if known is None:
        made = Quotable(item)
        known = _kept.keep(id(item), (item, made), sum(len(one.source) for one in made.texts))
    return known[1]


def stands_in(item: Item, code: str) -> bool:
    """Whether JSON stands in the item, word for word but for blanks and capitals."""
    texts = quotable(item).code
    return bool(texts) and any(_run_together(folded(code)) in one for one in texts)


def _run_together(text: str) -> str:
    return text.replace(" ", "")


def checked(item: Item, given: Iterable[object]) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Of quotations in a reply, those that were found, and in words those that were not."""
    found: list[Quote] = []
    missed: list[str] = []
    texts = quotable(item)
    for words, place, told in _claims(given, texts.called):
        quote = None
        if place is None or place in texts.places:
            quote = texts.find(words, place)
        if quote is None:
            missed.append(told)
        elif quote not in found:
            found.append(quote)
    return tuple(found), tuple(missed)


def _claims(given: Iterable[object], called: str | None) -> Iterator[tuple[str, int | None, str]]:
    """Quotations as words, place and what to call them; a place that is no number is none."""
    for one in given:
        entry = one if isinstance(one, dict) else {"quote": one}
        words = entry.get("quote")
        if not isinstance(words, str) or not words.strip():
            continue  # nothing is said to stand there
        place = entry.get(called) if called else None
        if place is None:
            yield words, None, words[:MOST]
        elif isinstance(place, int) and not isinstance(place, bool):
            yield words, place, f"{called} {place}: " + words[:MOST]
        else:
            yield words, -1, f"{called} without a number: " + words[:MOST]


def folded(text: str) -> str:
    """A text as it is compared: small letters, plain signs, single spaces, nothing hidden."""
    if "\\u{" in text:
        text = WRITTEN_OUT.sub(_meant, text)
    if hides(text):
        text = HIDDEN.sub(_blank_or_nothing, text)
    return " ".join(low(text).replace('"', "'").split())


def _meant(found: re.Match[str]) -> str:
    """The sign that was written out by its number, where it is one of those that are."""
    code = int(found.group()[3:-1], 16)
    sign = chr(code) if code <= sys.maxunicode else ""
    return sign if HIDDEN.match(sign) or (sign.isascii() and sign.isalnum()) else found.group()


def _blank_or_nothing(found: re.Match[str]) -> str:
    return " " if found.group().isspace() else ""


def _enough(wanted: str) -> bool:
    return len(wanted) >= LEAST and sum(map(str.isalnum, wanted)) >= LEAST


def _own_words(text: Text, at: int, length: int) -> str:
    """The words of the source from the first that is quoted to the last, whole."""
    words = text.source.split()
    first = text.folded.count(" ", 0, at)
    last = text.folded.count(" ", 0, at + length)
    if hides(text.source) or "\\u{" in text.source:
        seen = [at for at, word in enumerate(words) if folded(word)]
        last = min(last, len(seen) - 1)  # a number that the item itself writes out may be a blank
        first, last = seen[min(first, last)], seen[last]
    return " ".join(words[first : last + 1])
