"""What several answers come to by counting: the most frequent one, and the one in the middle.

Everything works on patterns (see ``stats.counts``). A vote that is not decided has no answer: the
answers it hangs between are told, and nobody tosses a coin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.counts import ABSENT, Patterns, counts_of
from calibrant.stats.runs import Codes


@dataclass(frozen=True, slots=True)
class Vote:
    """The outcome of a vote on each of U patterns."""

    answer: Codes
    """Shape (U,); ``ABSENT`` where nothing is decided."""
    between: NDArray[np.bool_]
    """The answers that an undecided vote hangs between, shape (U, K); none without any answer."""


def majority(found: Patterns, values: int) -> Vote:
    """The most frequent answer; a tie is undecided."""
    counts = counts_of(found, values).counts
    most = counts.max(axis=1, initial=0)
    first = (counts == most[:, None]) & (most > 0)[:, None]
    return _vote(first)


def median(found: Patterns, values: int) -> Vote:
    """The answer in the middle of an ordered scale.

    With an even number of answers the middle may lie between two of them: that is undecided.
    """
    counts = counts_of(found, values).counts
    total, below = counts.sum(axis=1), counts.cumsum(axis=1)
    middle = np.zeros(counts.shape, bool)
    rows = np.flatnonzero(total)
    for place in ((total - 1) // 2, total // 2):
        at = (below[rows] > place[rows, None]).argmax(axis=1)
        middle[rows, at] = True
    return _vote(middle)


def _vote(first: NDArray[np.bool_]) -> Vote:
    decided = first.sum(axis=1) == 1
    answer = np.where(decided, _places(first), ABSENT).astype(np.uint8)
    return Vote(answer, first & ~decided[:, None])


def _places(first: NDArray[np.bool_]) -> NDArray[Any]:
    """The first answer of each row that is marked."""
    return first.argmax(axis=1) if first.shape[1] else np.zeros(len(first), np.int64)
