"""How sure a model was of each answer: read from the log-probabilities of the answer's tokens.

Tokens do not care for JSON: an answer may be one token, several, or part of one that holds its
quotation mark too. The walk follows the tokens along the answer that was given. Where another
token could have stood, its share goes to the one answer that it can only be the beginning of. What
could have become several answers, or none, goes to nobody: shares may come to less than one, and
the rest is what is not known. They are never scaled up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from calibrant.ports.chat import Token

DIGITS = 6
"""Shares are kept to so many digits."""
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)
"""A text, a sign of structure, or a number or word."""
_END_OF_NUMBER = re.compile(r"[\s,}\]]")
_LEAD = " \t\r\n\"':"


class Place(NamedTuple):
    """Where a value stands in a reply, without quotation marks."""

    start: int
    end: int
    quoted: bool


def answer_places(text: str, start: int, key: str) -> dict[str, Place]:
    """Where the values under a key stand in the JSON object that begins there.

    By the name of the object that holds the key; of the outermost object itself, the name is
    empty.
    """
    found: dict[str, Place] = {}
    path: list[str] = []
    name = ""
    before = ""
    for piece in _PIECE.finditer(text, start):
        sign = piece.group()
        if sign in "{[":
            path.append(name if sign == "{" else "[")
            name = ""
        elif sign in "}]":
            path.pop()
            if not path:
                break
        elif sign == ":":
            name = before.strip('"')
        elif sign != "," and name == key and len(path) <= 2 and "[" not in path:
            quoted = sign.startswith('"')
            found[path[-1]] = Place(piece.start() + quoted, piece.end() - quoted, quoted)
        if sign in ",{[":
            name = "" if sign == "," else name
        before = sign
    return found


def shares(
    tokens: Sequence[Token], place: Place, answers: Iterable[str], given: str
) -> dict[str, float]:
    """The share of every answer that was seen among the tokens at that place.

    Empty where it is not told, and where the tokens there are not those of the answer given.
    """
    known = {one.upper(): one for one in answers}
    sums: dict[str, float] = {}
    path, said = 1.0, ""
    for lead, token in _along(tokens, place):
        taken = next((share for text, share in token.top if text == token.text), None)
        if taken is None:
            return {}
        passed = False
        for text, share in token.top:
            if text == token.text and not passed:
                passed = True  # the way that was taken; it goes on
                continue
            _credit(
                sums, _meant(said + _without(text, lead), known, place.quoted), path * _share(share)
            )
        path *= _share(taken)
        said += token.text[len(lead) :]
        meant = _meant(said, known, place.quoted)
        if meant is not None:
            _credit(sums, meant, path)
            return _rounded(sums) if meant == given else {}
    return {}


def _along(tokens: Sequence[Token], place: Place) -> Iterator[tuple[str, Token]]:
    """Tokens from the one in which the answer begins to the one after its end.

    With each comes what it holds before the answer.
    """
    at = 0
    for token in tokens:
        end = at + len(token.text)
        if at > place.end:
            return
        if end > place.start:
            yield token.text[: max(place.start - at, 0)], token
        at = end


def _without(text: str, lead: str) -> str:
    """An alternative without what stands before an answer: the same signs, or quotes and blanks."""
    if not lead:
        return text
    return text[len(lead) :] if text.startswith(lead) else text.lstrip(_LEAD)


def _meant(said: str, known: Mapping[str, str], quoted: bool) -> str | None:
    """The only answer that these signs begin or are; signs after its end do not count."""
    said = said.lstrip()
    if quoted:
        word, ended, _ = said.partition('"')
    else:
        word = _END_OF_NUMBER.split(said, maxsplit=1)[0]
        ended = said[len(word) :]
    word = word.strip().upper()
    if not word:
        return None
    if ended:
        return known.get(word)
    begun = [one for one in known if one.startswith(word)]
    return known[begun[0]] if len(begun) == 1 else None


def _credit(sums: dict[str, float], answer: str | None, share: float) -> None:
    if answer is not None:
        sums[answer] = sums.get(answer, 0.0) + share


def _share(logarithm: float) -> float:
    """From a natural logarithm; servers round, and some write -9999 for what cannot be."""
    return math.exp(min(logarithm, 0.0)) if not math.isnan(logarithm) else 0.0


def _rounded(sums: dict[str, float]) -> dict[str, float]:
    """Rounded down, and never more than one in all."""
    total = max(sum(sums.values()), 1.0)
    scale = 10**DIGITS
    return {name: math.floor(value / total * scale) / scale for name, value in sums.items()}
