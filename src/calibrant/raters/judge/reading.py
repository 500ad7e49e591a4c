"""What a reply says, once it has been read: answers with their words, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Rung: TypeAlias = Literal["json_schema", "json_object", "fenced", "embedded"]
"""How a reply came to be read: whole and by the schema the server kept to, whole as JSON, from a
fenced block, or from JSON amid other words."""


class Unreadable(Exception):
    """Nothing can be made of a reply; it says why, and quotes nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words that stand in the item."""

    text: str
    place: int | None = None
    """Number of the exchange or action they were said to stand in, from one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a reply says about one criterion."""

    answer: str
    """A value of the scale as text, or ``NA``."""
    reasoning: str = ""
    evidence: tuple[Quote, ...] = ()
    """Only what was found in the item."""
    unverified: tuple[str, ...] = ()
    """Words that were said to stand there and do not; a place that does not exist."""
    sub_answers: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """Of every answer, from the log-probabilities of the answer's token; empty: not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A red flag that a judge sees."""

    flag: str
    evidence: tuple[Quote, ...] = ()
    unverified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reply says about all that was asked."""

    rung: Rung
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    """By criterion."""
    abstained: Mapping[str, str] = field(default_factory=dict)
    """Criteria without an answer, and why: off the scale, left out, given twice."""
    flags: tuple[Seen, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether everything that was asked has an answer."""
        return not self.abstained
