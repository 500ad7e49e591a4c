"""The audit log of a study: lines of the journal, and ratings as they came in, by time.

Handing a rating in writes no line: the rating itself is kept for good, with who and when, and
stands in the log as a line of its own. A correction is a further revision and a line of the
journal. Drafts and leases are no lines: what a rater has not handed in is theirs, and a lease
says in which tab they are at it, while who may rate what stands in the plan of the round.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from calibrant.core.study import Entry

RATED = "rated"
"""The kind of a line that is a rating: it has no number, and nothing of what was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Which lines are asked for, and which of them may be told."""

    kind: str | None = None
    ratings: bool = True
    """Whether ratings are told, which are most lines of a large study."""
    actor: str | None = None
    item: str | None = None
    me: str = ""
    """Whose own lines are told in any case."""
    rounds: Collection[int] | None = None
    """Where anything was said of items, the rounds of which it may be told; None: of all."""
    hidden: Collection[str] = ()
    """Items of which nothing is told."""
    elsewhere: Collection[int] = ()
    """Rounds taken in from a table: that is one line of the journal, and their ratings are none."""


def rated(at: str, round: int, item: str, rater: str, occasion: int) -> Entry:
    """A rating that came in, as a line."""
    return Entry(
        kind=RATED, actor=rater, at=at, round=round, item=item, body={"occasion": occasion}
    )


def is_rating(line: Entry) -> bool:
    """Whether a line is a rating: those of the journal have numbers from 1."""
    return line.number == 0


def order_of(line: Entry) -> tuple[Any, ...]:
    """By time; at the same moment a rating comes before the flags that were raised with it."""
    if is_rating(line):
        return (line.at, 0, line.round, line.item, line.actor, line.body["occasion"])
    return (line.at, 1, line.number)


def place_of(line: Entry) -> str:
    """Names a line, so that one can go on from it: the number of a line of the journal."""
    if not is_rating(line):
        return str(line.number)
    named = [line.at, line.round, line.item, line.actor, line.body["occasion"]]
    return "r" + base64.urlsafe_b64encode(json.dumps(named).encode()).decode().rstrip("=")


def read_place(text: str) -> int | Entry | None:
    """The number of a line of the journal, or a rating as a line; None where it is neither."""
    if text.isascii() and text.isdigit():
        return int(text[:18])
    if not text.startswith("r"):
        return None
    try:
        packed = text[1:] + "=" * (-len(text[1:]) % 4)
        at, round, item, rater, occasion = json.loads(base64.urlsafe_b64decode(packed))
    except (ValueError, TypeError):
        return None
    fits = all(isinstance(one, str) for one in (at, item, rater))
    numbers = all(type(one) is int and 0 <= one < 2**31 for one in (round, occasion))
    return rated(at, round, item, rater, occasion) if fits and numbers else None
