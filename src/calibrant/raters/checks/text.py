"""Words, sentences and readability of any text, in time that grows with its length only.

Offsets are code points of the text as it came in. ``plain`` and ``low`` keep the length, so a
place in what they return is the same place in the source. Content is untrusted: every pattern
here begins where its run of signs begins, so none of them tries the same signs twice.
"""

from __future__ import annotations

import codecs
import re

SIGNS = {
    "\u2019": "'", "\u2018": "'", "\u201b": "'", "\u02bc": "'", "\u00b4": "'", "\uff07": "'",
    "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u00ab": '"', "\u00bb": '"', "\uff02": '"',
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-",
    "\u2212": "-", "\ufe58": "-", "\uff0d": "-", "\u2026": ".", "\u3002": ".", "\uff0e": ".",
    "\uff01": "!", "\uff1f": "?", "\u061f": "?", "\u037e": "?", "\u203d": "?", "\u2047": "?",
    "\u2048": "?", "\u2049": "?", "\uff0c": ",", "\uff1a": ":", "\uff1b": ";", "\u00a0": " ",
    "\u202f": " ", "\u2002": " ", "\u2003": " ", "\u2007": " ", "\u2009": " ", "\u200a": " ",
    "\u3000": " ", "\u2028": "\n", "\u2029": "\n", "\u0085": "\n", "\u0130": "I",
}  # fmt: skip
"""Signs that stand for one of ASCII. The last is the one letter whose small form is longer."""

WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*+")
"""In plain text: letters and digits, with apostrophes and hyphens inside."""
_STOP = re.compile(r"[.!?\n](?:(?<=\n)|(?<![.!?][.!?])([.!?]*+[\"')\]*_]*+)(?=\s|\Z))\s*+")
"""Where a sentence ends, with the blanks after it: at a line break, or at stops and what closes
quotes and brackets. It begins with a set, which makes the search quick, and within a run of stops
only at the first."""
ABBREVIATIONS = frozenset(
    (
        "e.g", "i.e", "etc", "mr", "mrs", "ms", "dr", "prof", "st", "vs", "no", "approx", "dept",
        "fig", "al", "jr", "sr", "inc", "ltd", "co", "a.m", "p.m",
    )
)  # fmt: skip
_TAILS = frozenset(
    [cased[-2:] for one in ABBREVIATIONS for cased in (one, one.upper(), one.title())]
    + [f"{sign}{digit}" for sign in ("", "\n", *"0123456789") for digit in "0123456789"]
)
"""How the text before a full stop ends that may be no end: an abbreviation, a number of a list."""
_LATIN_1 = [bytes([code]).decode("latin-1") for code in range(256)]
_SHAPES = bytes(
    32 if sign.isspace() else 97 if sign.isalnum() else code for code, sign in enumerate(_LATIN_1)
)
"""Blanks become spaces, letters and digits become a."""
_NO_LETTERS = bytes(
    code for code, sign in enumerate(_LATIN_1) if code and not sign.isalnum() and not sign.isspace()
)
_SIGNS_ONLY = re.compile(r"[\W_]*+")
_VOWELS = re.compile(r"[aeiouy]++")
_SILENT = re.compile(r"[^aeiouyl\W\d_]e(?![^\W_])|[aeiouy]le(?![^\W_])")


def plain(text: str) -> str:
    """The text with typographic signs written as plain ones; its length is the same."""
    if not text.isascii():
        for sign, usual in SIGNS.items():
            if sign in text:
                text = text.replace(sign, usual)
    return text


def low(text: str) -> str:
    """The plain text in small letters; its length is the same."""
    return plain(text).lower()


LONGEST_BEFORE_STOP = 8
"""An abbreviation or a number of a list, with what opens quotes and brackets, is no longer."""


def tails() -> frozenset[str]:
    """How a text ends, in its last two signs, before a full stop that may be no end."""
    return _TAILS


def word_count(text: str) -> int:
    """How many words a text has: what stands between spaces and holds a letter or a digit.

    Where a script has no spaces, every ideogram is a word.
    """
    return word_counts(plain(text).replace("\0", " "), "\0")[0]


def word_counts(text: str, mark: str) -> list[int]:
    """The words of each of the plain texts between a mark, which is one control character."""
    # where words begin is faster to count than words are to make
    shapes = text.encode("latin-1", _WIDE).translate(_SHAPES, _NO_LETTERS)
    return [piece.count(b" a") + piece.startswith(b"a") for piece in shapes.split(mark.encode())]


def _shape_of_wide(error: UnicodeError) -> tuple[str, int]:
    """What stands for signs beyond Latin-1 when words are counted: a for a letter, else nothing."""
    assert isinstance(error, UnicodeEncodeError)
    run = error.object[error.start : error.end]
    shapes = (
        " a " if "\u3040" <= sign <= "\u9fff" else "a" if sign.isalnum() else " "
        for sign in run
        if sign.isalnum() or sign.isspace()
    )
    return "".join(shapes), error.end


_WIDE = "calibrant.shape_of_wide"
codecs.register_error(_WIDE, _shape_of_wide)


def words(text: str) -> list[tuple[int, int]]:
    """Where each word begins and ends."""
    return [found.span() for found in WORD.finditer(plain(text))]


def sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence begins and ends; a line break ends one, an abbreviation does not."""
    return sentences_of_plain(plain(text))


def sentences_of_plain(text: str) -> list[tuple[int, int]]:
    """The same, for a text whose signs are plain already."""
    out = []
    start = len(text) - len(text.lstrip())
    for found in _STOP.finditer(text):
        at, end = found.start(), found.end(1)
        if end < 0:
            end = start + len(text[start:at].rstrip())
        elif is_no_end(text, at):
            continue
        if end > start:
            out.append((start, end))
        start = found.end()
    rest = text[start:].rstrip()
    return [*out, (start, start + len(rest))] if rest else out


def is_no_end(text: str, at: int) -> bool:
    """Whether the stop there belongs to an abbreviation, or to the number of a list.

    It looks at the sixteen signs before and at the one after.
    """
    if (text[at - 2 : at] if at > 2 else text[:at]) not in _TAILS:
        return False
    if text[at : at + 2].strip() != ".":
        return False
    space = text.rfind(" ", max(0, at - 8), at)
    if space < 0 and at >= 8 and "\n" not in text[at - 8 : at]:
        return False
    _, broken, last = text[max(space + 1, at - 8, 0) : at].rpartition("\n")
    if last.isdigit():
        return len(last) < 3 and (bool(broken) or at == len(last))
    return last.strip("(\"'").lower() in ABBREVIATIONS


def ends_in_question(text: str) -> bool:
    """Whether the last thing said is a question; emoji, quotes and brackets may follow it."""
    return question_end(text) is not None


def question_end(text: str) -> int | None:
    """Where the question mark stands that ends a text, if one does."""
    reach = 64
    while True:
        tail = plain(text[-reach:])[::-1]
        after = _SIGNS_ONLY.match(tail)
        assert after is not None
        if after.end() < reach or reach >= len(text):
            at = tail.find("?", 0, after.end())
            return None if at < 0 else len(text) - 1 - at
        reach *= 8


def syllables(text: str) -> int:
    """About how many syllables an English text has: groups of vowels without silent e's."""
    text = low(text)
    return max(len(_VOWELS.findall(text)) - len(_SILENT.findall(text)), 1)


def reading_ease(text: str) -> float | None:
    """Flesch's reading ease: 100 is very easy, 0 is very hard. English only."""
    count = word_count(text)
    if not count:
        return None
    per_sentence = count / max(len(sentences(text)), 1)
    return 206.835 - 1.015 * per_sentence - 84.6 * max(syllables(text), count) / count


def capital_words(text: str) -> list[tuple[int, int]]:
    """Words of three letters and more that are all capitals."""
    if not text.isascii() or not text.islower():
        return [
            found.span()
            for found in WORD.finditer(plain(text))
            if len(found.group()) > 2 and found.group().isupper() and found.group().isalpha()
        ]
    return []
