"""An item as checks read it: its texts, scanned once, with what several checks ask computed once.

A reading is one item on a shelf of items that are read together; alone, it has a shelf to itself.
Nothing in it changes what the item says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from calibrant.core.criterion import ItemType
from calibrant.core.item import Item
from calibrant.core.parts import Part, Role
from calibrant.raters.checks.lexicon import Lexicon
from calibrant.raters.checks.shelf import Scanner, Shelf, Spots
from calibrant.raters.checks.signal import Span, new_span

__all__ = ("Hit", "Reading", "Scanner", "readings")


T = TypeVar("T")


class Hit(NamedTuple):
    """A phrase of a lexicon in one text of the item."""

    part: Part
    start: int
    end: int
    label: str
    entry: int
    """Which entry of the lexicon."""

    @property
    def text(self) -> str:
        """The words as they stand in the item."""
        return self.part.text[self.start : self.end]

    @property
    def span(self) -> Span:
        """The place, for a signal."""
        part, start, end, _, _ = self
        return new_span((part.name, start, end, part.text[start:end]))


_new_hit = partial(tuple.__new__, Hit)


class Reading:
    """One item with its texts; whatever is asked for is computed once."""

    def __init__(
        self, item: Item, scanner: Scanner | None = None, *, on: tuple[Shelf, int] | None = None
    ) -> None:
        self.item = item
        self.shelf, self.at = on or (Shelf([item], scanner), 0)
        """Which item of which shelf it is."""
        self.parts = self.shelf.parts[self.at]
        self.first = self.shelf.first[self.at]
        """The number of its first text on the shelf."""
        self._by_role: dict[Role, tuple[Part, ...]] = {}
        self._uncovered: dict[str, frozenset[int]] = {}

    @property
    def kind(self) -> ItemType:
        """What the item is."""
        return self.item.kind

    def mine(self, values: list[T]) -> list[T]:
        """Of values for every text of the shelf, those for the texts of this item."""
        return values[self.first : self.first + len(self.parts)]

    # -- texts

    def of(self, role: Role) -> tuple[Part, ...]:
        """The texts of one role, in order: ``user``, ``assistant``, ``action`` and so on."""
        found = self._by_role.get(role)
        if found is None:
            found = self._by_role[role] = tuple([one for one in self.parts if one.role == role])
        return found

    def part(self, name: str) -> Part | None:
        """The text of that name, if the item has one."""
        return next((one for one in self.parts if one.name == name), None)

    def plain(self, part: Part) -> str:
        """A text with plain quotes, dashes and spaces; every place is the same as in the source."""
        texts = self.shelf.texts
        start = texts.starts[self.first + part.index]
        return texts.plain[start : start + len(part.text)]

    def low(self, part: Part) -> str:
        """The plain text in small letters; every place is the same as in the source."""
        texts = self.shelf.texts
        start = texts.starts[self.first + part.index]
        return texts.low[start : start + len(part.text)]

    def has(self, signs: str) -> bool:
        """Whether these signs stand in any text of the item, written plainly."""
        texts, last = self.shelf.texts, self.first + len(self.parts)
        return texts.plain.find(signs, texts.starts[self.first], texts.starts[last]) >= 0

    def span(self, part: Part, start: int, end: int) -> Span:
        """A place in a text."""
        return new_span((part.name, start, end, part.text[start:end]))

    def whole(self, part: Part) -> Span:
        """All of a text but the blanks around it."""
        start = len(part.text) - len(part.text.lstrip())
        return self.span(part, start, max(start, len(part.text.rstrip())))

    # -- what is counted in a text

    def word_count(self, part: Part) -> int:
        """How many words a text has."""
        return self.shelf.texts.word_counts[self.first + part.index]

    def sentences(self, part: Part) -> list[tuple[int, int]]:
        """Where each sentence of a text begins and ends."""
        starts, ends, first = self.shelf.texts.sentences
        number = self.first + part.index
        of, to, begin = first[number], first[number + 1], self.shelf.texts.starts[number]
        places = zip(starts[of:to], ends[of:to], strict=True)
        return [(start - begin, end - begin) for start, end in places]

    def sentence_count(self, part: Part) -> int:
        """How many sentences a text has."""
        first = self.shelf.texts.sentences.first
        number = self.first + part.index
        return first[number + 1] - first[number]

    def first_sentence(self, part: Part) -> tuple[int, int] | None:
        """Where the first sentence of a text begins and ends, if it has one."""
        starts, ends, first = self.shelf.texts.sentences
        number = self.first + part.index
        at, begin = first[number], self.shelf.texts.starts[number]
        return (starts[at] - begin, ends[at] - begin) if at < first[number + 1] else None

    def sentence_at(self, part: Part, place: int) -> tuple[int, int]:
        """The sentence that a place in a text belongs to."""
        starts, ends, first = self.shelf.texts.sentences
        number = self.first + part.index
        begin = self.shelf.texts.starts[number]
        of, to = first[number], first[number + 1]
        at = bisect_right(starts, begin + place, of, to) - 1
        return (starts[at] - begin, ends[at] - begin) if at >= of else (0, len(part.text))

    def last_question_mark(self, part: Part) -> int:
        """Where the last question mark of a text stands, or -1."""
        return self.shelf.texts.last_question_marks[self.first + part.index]

    def question_end(self, part: Part) -> int | None:
        """Where the question mark stands that ends a text, if one does."""
        at = self.shelf.texts.question_ends[self.first + part.index]
        return None if at < 0 else at

    # -- phrases

    def hits(self, lexicon: str, *roles: Role, label: str | None = None) -> tuple[Hit, ...]:
        """Phrases of a lexicon in the texts of these roles (of all, where none is named), in order.

        With a label, only those under it. Of hits that overlap under one label the first and
        longest stands. Texts in a language that the lexicon does not cover are hit as well: ask
        ``uncovered`` what was not measured.
        """
        scanner = self.shelf.scanner
        about = scanner.lexicons[lexicon].roles
        if about and not set(about).issuperset(roles or about):
            raise ValueError(f"{lexicon} is about the words of {about}, not of {roles}")
        spots, labels, entries = self.shelf.hits(lexicon, roles, label).lists
        texts, starts, ends, first = spots
        of, to = first[self.at], first[self.at + 1]
        if of == to:
            return ()
        flat = self.shelf.flat
        parts = [flat[number] for number in texts[of:to]]
        columns = (parts, starts[of:to], ends[of:to], labels[of:to], entries[of:to])
        return tuple(map(_new_hit, zip(*columns, strict=True)))

    def spans_of(self, lexicon: str, role: Role, label: str) -> list[Span]:
        """The places of a lexicon's phrases under one label, in the texts of one role."""
        return self.spans_at(self.shelf.hits(lexicon, (role,), label).lists.spots)

    def spans_at(self, spots: Spots) -> list[Span]:
        """Those of some places on the shelf that lie in this item."""
        texts, starts, ends, first = spots
        of, to = first[self.at], first[self.at + 1]
        flat = self.shelf.flat
        parts = [flat[number] for number in texts[of:to]]
        return [
            new_span((name, start, end, text[start:end]))
            for (_, name, _, _, text), start, end in zip(
                parts, starts[of:to], ends[of:to], strict=True
            )
        ]

    def by_text(self, spots: Spots) -> dict[int, Span]:
        """The same, by the place of their texts in the item; of one text at most one."""
        texts, of, to = spots.texts, spots.first[self.at], spots.first[self.at + 1]
        places = [number - self.first for number in texts[of:to]]
        return dict(zip(places, self.spans_at(spots), strict=True))

    def before(self, hit: Hit, count: int = 6) -> list[str]:
        """Up to ``count`` words before a hit in its sentence, small and plain."""
        start, _ = self.sentence_at(hit.part, hit.start)
        return self.low(hit.part)[start : hit.start].split()[-count:]

    def after(self, hit: Hit, count: int = 6) -> list[str]:
        """Up to ``count`` words after a hit in its sentence, small and plain."""
        _, end = self.sentence_at(hit.part, hit.start)
        return self.low(hit.part)[hit.end : end].split()[:count]

    # -- languages

    def in_language(self, parts: tuple[Part, ...], language: str) -> tuple[Part, ...]:
        """Those of the texts that are in a language."""
        outside = self._outside(language)
        return tuple([one for one in parts if one.index not in outside]) if outside else parts

    def covered(self, part: Part, lexicon: Lexicon | str) -> bool:
        """Whether a text is in the language of a lexicon, or of that code (``en``)."""
        language = lexicon if isinstance(lexicon, str) else lexicon.language
        return part.index not in self._outside(language)

    def uncovered(self, parts: Iterable[Part], lexicon: Lexicon | str = "en") -> tuple[Part, ...]:
        """Those of the texts that a lexicon has nothing to say about."""
        language = lexicon if isinstance(lexicon, str) else lexicon.language
        outside = self._outside(language)
        return tuple([one for one in parts if one.index in outside]) if outside else ()

    def _outside(self, language: str) -> frozenset[int]:
        """The places of texts in another language."""
        found = self._uncovered.get(language)
        if found is None:
            known = self.shelf.covered(self.first, self.first + len(self.parts), language)
            outside = [at for at, covered in enumerate(known) if not covered]
            found = self._uncovered[language] = frozenset(outside)
        return found


def readings(items: Sequence[Item], scanner: Scanner) -> list[Reading]:
    """Items that are read together."""
    shelf = Shelf(items, scanner)
    return [Reading(item, on=(shelf, at)) for at, item in enumerate(items)]
