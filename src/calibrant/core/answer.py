"""What a rater said about one criterion, or why there is nothing.

Absence is a type with a reason: not applicable, abstained (unreadable, off the scale, an
outage) or missing. It is never NaN, zero or an empty string.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = str | int
"""A point of a scale: text on a choice scale, a whole number on an ordinal one."""

NA = "NA"
ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class Given:
    """An answer on the scale."""

    value: Value

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The rater, or a precondition of the rubric, says the criterion does not apply."""

    reason: str = ""

    def __str__(self) -> str:
        return NA


@dataclass(frozen=True, slots=True)
class Abstained:
    """Something was handed in that is not an answer: off the scale, unreadable, an outage."""

    reason: str
    given: str | None = None
    """What was handed in, as text; ``None`` when it was nothing at all (JSON null)."""

    def __str__(self) -> str:
        return ERROR


@dataclass(frozen=True, slots=True)
class Missing:
    """Nobody answered."""

    def __str__(self) -> str:
        return ERROR


MISSING = Missing()
Answer: TypeAlias = Given | NotApplicable | Abstained | Missing
