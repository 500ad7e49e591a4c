"""Long lists of alternatives in a regular expression, sorted by the sign they begin with.

``re`` tries alternatives one after the other. Where each begins with a letter of its own, those of
all other letters are passed over at once. What is matched stays the same, to the last sign: only
alternatives that cannot begin at the same place change their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

FEWEST = 6
"""Fewer alternatives than these are left as they are."""
_OPEN = "(?:"
_LETTER = re.compile(r"[a-z'\"](?![?*+{])")


def compiled(pattern: str) -> re.Pattern[str]:
    r"""A pattern that begins with ``(?:this|that|...)`` or ``\b(?:this|that|...)``, made quick.

    One that does not, or whose alternatives begin with anything but letters, is taken as it is.
    """
    start = 2 if pattern.startswith(r"\b") else 0
    if not pattern.startswith(_OPEN, start):
        return re.compile(pattern)
    end = _closing(pattern, start)
    if end + 1 < len(pattern) and pattern[end + 1] in "?*+{":
        return re.compile(pattern)
    sorted_ = _sorted(list(_expanded(pattern[start + len(_OPEN) : end])))
    return re.compile(f"{pattern[:start]}{_OPEN}{sorted_}{pattern[end:]}")


def _sorted(alternatives: list[str]) -> str:
    if len(alternatives) < FEWEST or not all(map(_LETTER.match, alternatives)):
        return "|".join(alternatives)
    by_first: dict[str, list[str]] = {}
    for one in alternatives:
        by_first.setdefault(one[0], []).append(one[1:])
    return "|".join(
        first + (rest[0] if len(rest) == 1 else f"{_OPEN}{_sorted(rest)})")
        for first, rest in by_first.items()
    )


def _expanded(text: str) -> Iterator[str]:
    """Alternatives, with those that begin with a bracket as one for each way to begin."""
    for one in _split(text):
        if one.startswith(_OPEN):
            end = _closing(one, 0)
            if one[end + 1 : end + 2] not in ("?", "*", "+", "{"):
                for way in _expanded(one[len(_OPEN) : end]):
                    yield way + one[end + 1 :]
                continue
        yield one


def _split(text: str) -> Iterator[str]:
    """What stands between bars that are in no bracket."""
    start = 0
    for at, depth in _depths(text):
        if text[at] == "|" and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _closing(text: str, start: int) -> int:
    """Where the bracket closes that opens there."""
    return next(start + at for at, depth in _depths(text[start:]) if at and not depth)


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """Every sign with the number of brackets that stay open after it; sets are passed over."""
    depth = at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "[":
            at = text.index("]", at + 2)
        elif text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
        yield at, depth
        at += 1
