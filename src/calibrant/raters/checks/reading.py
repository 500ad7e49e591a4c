"""An item as checks read it: its texts, scanned once, with what several checks ask computed once.

A reading belongs to one run over one item. Nothing in it changes what the item says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from calibrant.core.criterion import ItemType
from calibrant.core.item import Item
from calibrant.core.parts import Part, Role, parts_of
from calibrant.raters.checks.language import covered
from calibrant.raters.checks.lexicon import Lexicon
from calibrant.raters.checks.matcher import BREAK, Matcher, Place
from calibrant.raters.checks.signal import Span
from calibrant.raters.checks.text import plain, question_end, sentences_of_plain, word_counts


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
        return Span(self.part.name, self.start, self.end, self.text)


def _place(hit: Hit) -> tuple[int, int]:
    return hit.part.index, hit.start


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

    def matcher(self, role: Role) -> Matcher:
        """For the texts of one role; roles without a lexicon of their own share one."""
        return self._by_role.get(role, self._of_all)


class Reading:
    """One item with its texts; whatever is asked for is computed once."""

    def __init__(self, item: Item, scanner: Scanner | None = None) -> None:
        self.item = item
        self.parts = parts_of(item)
        self._scanner = scanner or Scanner()
        self._sentences: dict[int, list[tuple[int, int]]] = {}
        self._covered: dict[tuple[int, str], bool] = {}
        self._by_role: dict[Role, tuple[Part, ...]] = {}

    @property
    def kind(self) -> ItemType:
        """What the item is."""
        return self.item.kind

    # -- texts

    def of(self, role: Role) -> tuple[Part, ...]:
        """The texts of one role, in order: ``user``, ``assistant``, ``action`` and so on."""
        found = self._by_role.get(role)
        if found is None:
            found = self._by_role[role] = tuple(one for one in self.parts if one.role == role)
        return found

    def part(self, name: str) -> Part | None:
        """The text of that name, if the item has one."""
        return next((one for one in self.parts if one.name == name), None)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each text begins in all of them together."""
        starts = [0]
        for one in self.parts:
            starts.append(starts[-1] + len(one.text) + 1)
        return starts

    @cached_property
    def _plain(self) -> str:
        texts = [one.text for one in self.parts]
        joined = BREAK.join(texts)
        if joined.count(BREAK) >= len(texts):  # the item holds the mark itself
            joined = BREAK.join([one.replace(BREAK, " ") for one in texts])
        return plain(joined)

    @cached_property
    def _low(self) -> str:
        return self._plain.lower()

    def plain(self, part: Part) -> str:
        """A text with plain quotes, dashes and spaces; every place is the same as in the source."""
        start = self._starts[part.index]
        return self._plain[start : start + len(part.text)]

    def low(self, part: Part) -> str:
        """The plain text in small letters; every place is the same as in the source."""
        start = self._starts[part.index]
        return self._low[start : start + len(part.text)]

    def span(self, part: Part, start: int, end: int) -> Span:
        """A place in a text."""
        return Span(part.name, start, end, part.text[start:end])

    def whole(self, part: Part) -> Span:
        """All of a text but the blanks around it."""
        start = len(part.text) - len(part.text.lstrip())
        return self.span(part, start, max(start, len(part.text.rstrip())))

    # -- what is counted in a text

    @cached_property
    def _words(self) -> list[int]:
        return word_counts(self._plain, BREAK)

    def word_count(self, part: Part) -> int:
        """How many words a text has."""
        return self._words[part.index]

    def sentences(self, part: Part) -> list[tuple[int, int]]:
        """Where each sentence of a text begins and ends."""
        found = self._sentences.get(part.index)
        if found is None:
            found = self._sentences[part.index] = sentences_of_plain(self.plain(part))
        return found

    def sentence_at(self, part: Part, place: int) -> tuple[int, int]:
        """The sentence that a place in a text belongs to."""
        found = self.sentences(part)
        at = bisect_right(found, (place, len(part.text) + 1))
        return found[at - 1] if at else (0, len(part.text))

    def question_end(self, part: Part) -> int | None:
        """Where the question mark stands that ends a text, if one does."""
        return question_end(part.text)

    # -- phrases

    @cached_property
    def _searched(self) -> list[tuple[list[Part], list[int], dict[str, list[Place]]]]:
        """Texts that were searched together, where each begins, and the hits by lexicon."""
        together: dict[Matcher, list[Part]] = {}
        for one in self.parts:
            together.setdefault(self._scanner.matcher(one.role), []).append(one)
        out = []
        for matcher, parts in together.items():
            whole = len(together) == 1
            text = self._low if whole else BREAK.join([*map(self.low, parts)])
            starts = [0, *accumulate([len(one.text) + 1 for one in parts])]
            out.append((parts, starts, matcher.places(text)))
        return out

    def hits(self, lexicon: str, *roles: Role) -> tuple[Hit, ...]:
        """Phrases of a lexicon in the texts of these roles (of all, where none is named), in order.

        Of hits that overlap under one label the first and longest stands. Texts in a language
        that the lexicon does not cover are hit as well: ask ``uncovered`` what was not measured.
        """
        about = self._scanner.lexicons[lexicon].roles
        if about and not set(about).issuperset(roles or about):
            raise ValueError(f"{lexicon} is about the words of {about}, not of {roles}")
        out: list[Hit] = []
        reached: dict[str, int] = {}
        groups = 0
        for parts, starts, by_lexicon in self._searched:
            reached.clear()
            groups += lexicon in by_lexicon
            for start, minus, entry, label in by_lexicon.get(lexicon, ()):
                at = bisect_right(starts, start) - 1
                part = parts[at]
                if start < reached.get(label, 0) or (roles and part.role not in roles):
                    continue
                reached[label] = -minus
                begin = starts[at]
                out.append(Hit(part, start - begin, -minus - begin, label, entry))
        return tuple(sorted(out, key=_place)) if groups > 1 else tuple(out)

    def before(self, hit: Hit, count: int = 6) -> list[str]:
        """Up to ``count`` words before a hit in its sentence, small and plain."""
        start, _ = self.sentence_at(hit.part, hit.start)
        return self.low(hit.part)[start : hit.start].split()[-count:]

    def after(self, hit: Hit, count: int = 6) -> list[str]:
        """Up to ``count`` words after a hit in its sentence, small and plain."""
        _, end = self.sentence_at(hit.part, hit.start)
        return self.low(hit.part)[hit.end : end].split()[:count]

    # -- languages

    def covered(self, part: Part, lexicon: Lexicon | str) -> bool:
        """Whether a text is in the language of a lexicon, or of that code (``en``)."""
        language = lexicon if isinstance(lexicon, str) else lexicon.language
        known = self._covered.get((part.index, language))
        if known is None:
            known = self._covered[part.index, language] = covered(self.low(part), language)
        return known

    def uncovered(self, parts: Iterable[Part], lexicon: Lexicon | str = "en") -> tuple[Part, ...]:
        """Those of the texts that a lexicon has nothing to say about."""
        return tuple(one for one in parts if not self.covered(one, lexicon))
