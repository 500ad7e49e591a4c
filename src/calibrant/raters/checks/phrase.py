"""The grammar of phrases: what a lexicon writes, as words to find and words to find around them.

    advise~           the regular English forms: advise, advises, advised, advising
    prescrib*         any word that begins so
    self(-| |)harm    alternatives, one of which may be nothing; they may nest
    stop ... tablets  up to ``gap`` words of the same sentence in between; ``...2`` says how many

A phrase is never spelt out whole: one stretch of it, its *anchor*, goes into the automaton, and
what stands before and after is looked at where the anchor is found, within a bounded distance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import log2, prod
from typing import NamedTuple

from calibrant.raters.checks.text import low

MAX_WAYS = 3_000
"""Ways to say one word of a phrase, with all that is written without a space around it."""
MAX_ANCHOR = 60
"""Ways to say the anchor."""
USUAL = frozenset((
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "back", "be", "because",
    "been", "being", "but", "by", "can", "care", "come", "could", "day", "did", "do", "does",
    "don't", "down", "even", "every", "everything", "feel", "felt", "find", "for", "from", "get",
    "give", "go", "going", "good", "got", "had", "has", "have", "he", "her", "here", "him", "his",
    "home", "how", "i", "i'm", "if", "in", "into", "is", "it", "it's", "just", "keep", "know",
    "last", "less", "let", "life", "like", "little", "long", "look", "made", "make", "many", "me",
    "more", "most", "much", "my", "need", "never", "new", "no", "not", "now", "of", "off", "on",
    "one", "only", "or", "other", "our", "out", "over", "own", "people", "place", "put", "really",
    "right", "said", "say", "see", "she", "should", "so", "some", "something", "still", "such",
    "take", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "thing", "things", "think", "this", "those", "time", "to", "today", "too", "told", "tonight",
    "two", "up", "us", "use", "very", "want", "was", "way", "we", "week", "well", "went", "were",
    "what", "when", "where", "which", "while", "who", "why", "will", "with", "without", "work",
    "would", "year", "years", "yes", "you", "your",
))  # fmt: skip
"""Words that stand in most texts, and make poor anchors by themselves."""
_LETTER = r"[^\W_]"
_REST = rf"{_LETTER}{{0,40}}+(?:'{_LETTER}{{1,40}}+){{0,2}}+"
_END = rf"(?!'?{_LETTER})"
"""No word goes on here, in either direction."""
_LONGEST_WORD = 41
_GAP = re.compile(r"\.\.\.(\d{0,2})")
_BARE = {
    "n't": "nt", "i'm": "im", "i've": "ive", "you're": "youre", "you've": "youve",
    "that's": "thats", "it's": "its", "they're": "theyre", "what's": "whats", "let's": "lets",
}  # fmt: skip
"""Contractions that people also write without the apostrophe, where that is no other word."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a phrase, in all ways to say it; an alternative may be several words."""

    ways: tuple[str, ...]
    """A way that ends in ``*`` may go on."""
    optional: bool

    @property
    def forwards(self) -> str:
        """As a regular expression."""
        ways = sorted(self.ways, key=len, reverse=True)
        return f"(?:{'|'.join(map(_escaped, ways))})"

    @property
    def backwards(self) -> str:
        """As a regular expression on a text that is read from its end."""
        ways = sorted(self.ways, key=len, reverse=True)
        return f"(?:{'|'.join(map(_escaped_backwards, ways))})"

    @property
    def reach(self) -> int:
        """The most signs it takes."""
        return max(len(one) + 40 * one.endswith("*") for one in self.ways)


class Look(NamedTuple):
    """How to find out whether a phrase stands around its anchor."""

    after: Callable[[str, int], re.Match[str] | None] | None
    """Matches from the end of the anchor on; ``None`` where nothing but the end of a word follows,
    and the anchor was found to end one."""
    before: Callable[[str], re.Match[str] | None] | None
    """Matches what stands before the anchor, read from its end; ``None`` where nothing does."""
    reach: int
    """So many signs before the anchor have to be read."""


@dataclass(frozen=True)
class Phrase:
    """Tokens that follow one another, with a space or a gap of some words between them."""

    tokens: tuple[Token, ...]
    gaps: tuple[int, ...]
    """After each token but the last, how many words may stand there."""
    first: int
    last: int
    """The tokens of the anchor."""

    @property
    def anchors(self) -> Iterator[str]:
        """All ways to say the anchor."""
        ways = (token.ways for token in self.tokens[self.first : self.last + 1])
        return map(" ".join, product(*ways))

    @property
    def is_anchor(self) -> bool:
        """Whether there is nothing but the anchor."""
        return self.first == 0 and self.last == len(self.tokens) - 1

    @cached_property
    def signs_after(self) -> frozenset[str] | None:
        """What may come next after the anchor and a space; ``None`` is anything."""
        return _next_signs(
            [(self.gaps[at - 1], self.tokens[at]) for at in range(self.last + 1, len(self.tokens))],
            0,
        )

    @cached_property
    def signs_before(self) -> frozenset[str] | None:
        """What may come next before the anchor and a space; ``None`` is anything."""
        return _next_signs(
            [(self.gaps[at], self.tokens[at]) for at in range(self.first - 1, -1, -1)], -1
        )

    @property
    def _after(self) -> Callable[[str, int], re.Match[str] | None]:
        parts = []
        for at in range(self.last + 1, len(self.tokens)):
            part = _separator(self.gaps[at - 1]) + self.tokens[at].forwards
            parts.append(f"(?:{part})?" if self.tokens[at].optional else part)
        return re.compile("".join(parts) + _END).match

    @property
    def _before(self) -> Callable[[str], re.Match[str] | None]:
        """Reads from the anchor back, so that it need not be searched where the phrase begins."""
        parts = []
        for at in range(self.first - 1, -1, -1):
            part = _separator_backwards(self.gaps[at]) + self.tokens[at].backwards
            parts.append(f"(?:{part})?" if self.tokens[at].optional else part)
        return re.compile("".join(parts) + _END).match

    @property
    def _reach(self) -> int:
        """How far before its anchor it may begin."""
        gaps = sum((gap + 1) * _LONGEST_WORD for gap in self.gaps[: self.first] if gap)
        return gaps + sum(token.reach + 1 for token in self.tokens[: self.first])

    @cached_property
    def look(self) -> Look:
        """What has to stand around the anchor, made ready when it is first asked for."""
        ends_a_word = all(
            way[-1].isalnum() or way[-1] == "*" for way in self.tokens[self.last].ways
        )
        bare = self.last == len(self.tokens) - 1 and ends_a_word
        return Look(
            None if bare else self._after, self._before if self.first else None, self._reach
        )


def _next_signs(tokens: Iterable[tuple[int, Token]], end: int) -> frozenset[str] | None:
    """The first signs of these tokens, each with the gap before it, or their last ones."""
    signs: set[str] = set()
    for gap, token in tokens:
        if gap or (end and any(way.endswith("*") for way in token.ways)):
            return None
        signs.update(way[end] for way in token.ways)
        if not token.optional:
            return frozenset(signs)
    return None


def _escaped(way: str) -> str:
    return re.escape(way[:-1]) + _REST if way.endswith("*") else re.escape(way)


def _escaped_backwards(way: str) -> str:
    bare = re.escape(way.removesuffix("*")[::-1])
    return rf"(?:{_LETTER}|'){{0,40}}?{bare}" if way.endswith("*") else bare


def _separator(gap: int) -> str:
    """A space, or some words that end no sentence; nothing stands before a comma."""
    space = r"(?: |(?=[,.;:!?]))"
    if not gap:
        return space
    words = rf"(?: [^ \0]{{0,{_LONGEST_WORD - 1}}}[^ .!?\0]){{0,{gap}}}?"
    return rf"[^\w\s.!?\0]{{0,3}}{words}{space}"


def _separator_backwards(gap: int) -> str:
    """The same on a text that is read from its end."""
    space = r"(?: |(?<=[,.;:!?]))"
    if not gap:
        return space
    words = rf"(?:[^ .!?\0][^ \0]{{0,{_LONGEST_WORD - 1}}} ){{0,{gap}}}?"
    return rf"{space}{words}[^\w\s.!?\0]{{0,3}}"


# -- reading


def read_phrase(text: str, gap: int) -> Phrase:
    """A phrase as it stands in a lexicon; ``ValueError`` says what is wrong with it."""
    try:
        tokens, gaps = _tokens(low(text), gap)
        for at in range(1, len(tokens) - 1):
            if tokens[at].optional:  # without the word, the gap after it follows the word before
                gaps[at - 1] = max(gaps[at - 1], gaps[at])
        first, last = _anchor(tokens, gaps)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    return Phrase(tuple(tokens), tuple(gaps), first, last)


def _tokens(text: str, gap: int) -> tuple[list[Token], list[int]]:
    """The words at the top, and the gap after each but the last."""
    tokens: list[Token] = []
    gaps: list[int] = []
    for piece in _at_top(text):
        stated = _GAP.fullmatch(piece)
        if stated is not None:
            if not tokens or len(gaps) == len(tokens):
                raise ValueError("words must stand on both sides of a gap")
            gaps.append(int(stated[1]) if stated[1] else gap)
            continue
        if "..." in piece:
            raise ValueError("a gap stands alone, outside of brackets")
        if tokens and len(gaps) < len(tokens):
            gaps.append(0)
        tokens.append(_token(piece))
    if tokens and len(gaps) == len(tokens):
        raise ValueError("words must stand on both sides of a gap")
    return tokens, gaps


def _at_top(text: str) -> Iterator[str]:
    """What stands between spaces that are in no bracket."""
    depth = start = 0
    for at, sign in enumerate(text):
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth < 0:
                raise ValueError("a bracket is closed that was not opened")
        elif sign == "|" and not depth:
            raise ValueError("alternatives stand in brackets: (this|that)")
        elif sign.isspace() and not depth:
            if start < at:
                yield text[start:at]
            start = at + 1
    if depth:
        raise ValueError("a bracket is not closed")
    if start < len(text):
        yield text[start:]


def _token(piece: str) -> Token:
    spelt = [" ".join(one.split()) for one in _spelt(piece)]
    ways = dict.fromkeys(way for one in spelt if one for way in _forms(one))
    if not ways:
        raise ValueError(f"{piece[:60]!r} says nothing")
    if len(ways) > MAX_WAYS:
        raise ValueError(f"{piece[:60]!r} can be said in more than {MAX_WAYS} ways")
    for way in ways:
        if "*" in way[:-1] or "~" in way or way == "*":
            raise ValueError(f"{way!r}: * and ~ stand at the end of a word, * of the last one")
    return Token(tuple(ways), optional="" in spelt)


def _spelt(text: str) -> list[str]:
    """A text with its alternatives written out."""
    options: list[list[str]] = []
    at = 0
    while at < len(text):
        if text[at] != "(":
            stop = text.find("(", at)
            stop = len(text) if stop < 0 else stop
            options.append([text[at:stop]])
            at = stop
            continue
        alternatives, at = _bracket(text, at)
        options.append([way for one in alternatives for way in _spelt(one)])
    if prod(map(len, options)) > MAX_WAYS:
        raise ValueError(f"{text[:60]!r} can be said in more than {MAX_WAYS} ways")
    return list(map("".join, product(*options)))


def _bracket(text: str, at: int) -> tuple[list[str], int]:
    """The alternatives of the bracket that opens there, and where it has ended."""
    depth, start = 1, at + 1
    alternatives = []
    while depth:
        at += 1
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
        if (text[at] == "|" and depth == 1) or not depth:
            alternatives.append(text[start:at])
            start = at + 1
    return alternatives, at + 1


def _anchor(tokens: Sequence[Token], gaps: Sequence[int]) -> tuple[int, int]:
    """The stretch of words that is told from others best: long in all its ways, and in few."""
    found: list[tuple[float, int, int]] = []
    for first in range(len(tokens)):
        count, shortest = 1, -1
        for last in range(first, len(tokens)):
            token = tokens[last]
            if token.optional or (last > first and gaps[last - 1]):
                break
            if last and not all(way[0].isalnum() or way[0] == "'" for way in token.ways):
                break  # a comma follows a word without a space
            count *= len(token.ways)
            shortest += 1 + min(map(len, token.ways))
            if count > MAX_ANCHOR and last > first:
                break
            usual = any(way in USUAL for way in token.ways) if first == last else False
            found.append((min(shortest, 14) - log2(count) / 3 - 4 * usual, first, last))
            if any(way.endswith("*") for way in token.ways):
                break
    if not found:
        raise ValueError("it needs a word that is always there")
    _, first, last = max(found, key=lambda one: (one[0], one[2] - one[1]))
    return first, last


# -- forms of words


def _forms(text: str) -> list[str]:
    """Words with those that are inflected in all forms, and contractions with no apostrophe."""
    options = [inflected(word[:-1]) if word.endswith("~") else [word] for word in text.split()]
    if prod(map(len, options)) > MAX_WAYS:
        raise ValueError(f"{text[:60]!r} can be said in more than {MAX_WAYS} ways")
    spelt = list(map(" ".join, product(*options)))
    return spelt + [bare for bare in _bare(spelt) if bare not in spelt]


def _bare(spelt: Iterable[str]) -> Iterator[str]:
    for text in spelt:
        if "'" in text:
            for contraction, bare in _BARE.items():
                text = re.sub(rf"{contraction}(?!{_LETTER})", bare, text)  # noqa: PLW2901
            yield text


_DOUBLED = re.compile(r"[^aeiou][aeiou][bdgklmnprt]")
_SYLLABLES = re.compile(r"[aeiouy]+")


def inflected(word: str) -> list[str]:
    """The regular forms of an English verb or noun; irregular ones must be stated."""
    if not word.isalpha() or len(word) < 2:
        raise ValueError(f"{word!r}: only a word of letters has regular forms")
    if word.endswith("ie"):
        return [word, word + "s", word + "d", word[:-2] + "ying"]
    if word.endswith("ee"):
        return [word, word + "s", word + "d", word + "ing"]
    if word.endswith("e"):
        return [word, word + "s", word + "d", word[:-1] + "ing"]
    if word.endswith("y") and word[-2] not in "aeiou":
        return [word, word[:-1] + "ies", word[:-1] + "ied", word + "ing"]
    plural = word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if len(_SYLLABLES.findall(word)) == 1 and _DOUBLED.fullmatch(word[-3:]):
        # stop, stopped: one short syllable doubles its last letter
        return [word, plural, word + word[-1] + "ed", word + word[-1] + "ing"]
    return [word, plural, word + "ed", word + "ing"]
