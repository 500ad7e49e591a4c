"""Topic labels and the sections they head: "**Work stress:** ...", headings, "Work stress: ..."."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

import numpy as np

from calibrant.core.parts import Part
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.shelf import Shelf

LABEL = re.compile(
    r"(?m)^[ \t]*+(?:[-*\u2022] |\d{1,2}[.)] )?(?:"
    r"\*\*(?P<bold>[^*\n]{1,60})\*\*[ \t]*+:?"
    r"|__(?P<line>[^_\n]{1,60})__[ \t]*+:?"
    r"|\#{1,6} ++(?P<head>[^\n]{1,80})$"
    r"|(?P<word>[A-Z][\w'&/-]*+(?: [\w'&/-]++){0,4}):(?=[ \n])(?!//)"
    r")[ \t]*+(?:-[ \t]++)?"
)
"""A label at the beginning of a line, with what joins it to its text."""


WORDS = 5
"""Words of a label at most, where only a colon tells it."""


class Section(NamedTuple):
    """A label and the text under it."""

    part: Part
    label: str
    start: int
    """Where the label begins."""
    body: int
    """Where the text after it begins."""
    end: int
    sentences: int


def sections(reading: Reading, part: Part) -> list[Section]:
    """The labelled sections of a reply, in order."""
    found = reading.shelf.once(labels).get(reading.first + part.index)
    if not found:
        return []
    plain = reading.plain(part)
    starts = [start for start, _ in reading.sentences(part)]
    ends = [match.start() for match in found[1:]] + [len(plain)]
    out = []
    for match, end in zip(found, ends, strict=True):
        label = next(one for one in match.groups() if one is not None).strip(" :")
        inside = bisect_left(starts, end) - bisect_left(starts, match.end())
        # the sentence that the label itself begins goes on after it
        begun = plain[match.end() : end].lstrip(" ")[:1] not in ("", "\n")
        out.append(
            Section(
                part,
                label,
                match.start(),
                match.end(),
                end,
                inside + begun if _cut(starts, match) else inside,
            )
        )
    return out


def _cut(starts: list[int], match: re.Match[str]) -> bool:
    """Whether no sentence begins exactly where the label ends."""
    at = bisect_left(starts, match.end())
    return at == len(starts) or starts[at] != match.end()


def _heads(plain: str, match: re.Match[str]) -> bool:
    """Whether bold words stand as a label and not as emphasis within a sentence."""
    if match.group("bold") is None and match.group("line") is None:
        return True
    text = match.group()
    rest = plain[match.end() : match.end() + 1]
    return ":" in text or "- " in text[-3:] or rest in ("", "\n")


def openings(shelf: Shelf) -> list[int]:
    """For every text of a shelf, where the first words stand in it that are no label."""
    starts, _, first = shelf.texts.sentences
    begins = shelf.texts.starts
    out = [
        starts[of] - begin if of < to else len(part.text)
        for part, begin, of, to in zip(shelf.flat, begins, first, first[1:], strict=False)
    ]
    for number, found in shelf.once(labels).items():
        if found[0].start() <= out[number]:
            after = _BLANKS.match(found[0].string, found[0].end())
            out[number] = found[0].end() if after is None else after.end()
    return out


_BLANKS = re.compile(r"\s++")


def labels(shelf: Shelf) -> dict[int, list[re.Match[str]]]:
    """The labels of replies, in order, by the number of the text.

    No label holds a line break, so each is found by itself.
    """
    starts, plain = shelf.texts.starts, shelf.texts.plain
    out: dict[int, list[re.Match[str]]] = {}
    text = ""
    last = -1
    for line in shelf.once(_lines_worth_a_look):
        number = bisect_right(starts, line) - 1
        if shelf.flat[number].role != "assistant":
            continue
        if number != last:
            text, last = plain[starts[number] : starts[number + 1] - 1], number
        match = LABEL.match(text, line - starts[number])
        if match is not None and _heads(text, match):
            out.setdefault(number, []).append(match)
    return out


def _lines_worth_a_look(shelf: Shelf) -> list[int]:
    """Where lines begin that a label may begin: with its signs, or with few words and a colon."""
    texts = shelf.texts
    codes, (tokens, _) = texts.codes, texts.tokens
    if not tokens.size:
        return []
    lines = np.sort(np.concatenate((texts.bounds, np.flatnonzero(codes == ord("\n")) + 1)))
    first = np.minimum(np.searchsorted(tokens, lines), tokens.size - 1)
    signs = codes[tokens[first]]
    letter = signs - np.uint8(ord("a")) < 26
    colons = np.append(np.flatnonzero(codes == ord(":")), codes.size)
    colon = colons[np.searchsorted(colons, lines)]
    near = np.searchsorted(tokens, colon) - first <= WORDS
    found: list[int] = lines[~letter | near].tolist()
    return found
