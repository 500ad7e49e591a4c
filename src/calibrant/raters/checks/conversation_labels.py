"""Topic labels and the sections they head: "**Work stress:** ...", headings, "Work stress: ..."."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from calibrant.core.parts import Part
from calibrant.raters.checks.reading import Reading

LABEL = re.compile(
    r"(?m)^[ \t]*+(?:[-*\u2022] |\d{1,2}[.)] )?(?:"
    r"\*\*(?P<bold>[^*\n]{1,60})\*\*[ \t]*+:?"
    r"|__(?P<line>[^_\n]{1,60})__[ \t]*+:?"
    r"|\#{1,6} ++(?P<head>[^\n]{1,80})$"
    r"|(?P<word>[A-Z][\w'&/-]*+(?: [\w'&/-]++){0,4}):(?=[ \n])(?!//)"
    r")[ \t]*+(?:-[ \t]++)?"
)
"""A label at the beginning of a line, with what joins it to its text."""


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
    plain = reading.plain(part)
    if ":" not in plain and "**" not in plain and "#" not in plain and "__" not in plain:
        return []
    found = [match for match in LABEL.finditer(plain) if _heads(plain, match)]
    if not found:
        return []
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


def opening(reading: Reading, part: Part) -> int:
    """Where the first words of a reply stand that are no label."""
    plain = reading.plain(part)
    start = len(plain) - len(plain.lstrip())
    match = LABEL.match(plain, plain.rfind("\n", 0, start) + 1)
    if match is not None and _heads(plain, match):
        rest = plain[match.end() :]
        return len(plain) - len(rest.lstrip())
    return start
