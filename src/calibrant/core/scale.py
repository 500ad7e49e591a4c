"""Scales: the closed set of answers a criterion admits.

The scale owns its values. Keys on a keyboard, columns of a table and codes of an array are
derived from it, never the other way round. The level of measurement follows from the kind
of scale and is nobody's argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from calibrant.core.answer import ERROR, NA, Value
from calibrant.core.document import Document, Id, Share, Text, Whole

MAX_POINTS = 100
"""The most points a scale may have; more would not be a rubric but a measurement."""


class Choice(Document):
    """One answer of a choice scale."""

    value: Annotated[str, Field(min_length=1, max_length=64)]
    """The answer as it is stored: ``YES``."""
    label: Text | None = None
    """A few words for a button."""
    meaning: Text
    """What giving this answer says of the item."""
    points: Share | None = None
    """What it is worth, from 0 to 1; needed where answers are added up."""


class ChoiceScale(Document):
    """Answers without an order: YES and NO, or any closed list."""

    kind: Literal["choice"]
    id: Id
    values: Annotated[tuple[Choice, ...], Field(min_length=2, max_length=MAX_POINTS)]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        folded = [_fold(choice.value) for choice in self.values]
        for word in folded:
            if folded.count(word) > 1:
                raise ValueError(f"two values read the same: {word!r} (case does not count)")
            if word in (NA, ERROR, ""):
                raise ValueError(
                    f"{word!r} is not a value of a scale: NA is the criterion's `na`, "
                    "ERROR is what anything off the scale becomes"
                )
        return self

    @property
    def level(self) -> Literal["nominal"]:
        """Level of measurement."""
        return "nominal"

    @cached_property
    def points_of_scale(self) -> tuple[Value, ...]:
        """The values in the order of the document."""
        return tuple(choice.value for choice in self.values)

    @cached_property
    def _by_word(self) -> dict[str, Value]:
        return {_fold(choice.value): choice.value for choice in self.values}

    def parse(self, raw: object) -> Value | None:
        """The value that ``raw`` names, whatever its case and surrounding space, or None."""
        return self._by_word.get(_fold(raw)) if isinstance(raw, str) else None

    def worth(self, value: Value) -> Fraction | None:
        """Points of ``value``, exact; None where the document gives none."""
        for choice in self.values:
            if choice.value == value:
                return None if choice.points is None else Fraction(choice.points)
        raise KeyError(value)


class OrdinalScale(Document):
    """Whole numbers from ``minimum`` to ``maximum``, in that order."""

    kind: Literal["ordinal"]
    id: Id
    minimum: Whole
    maximum: Whole

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if not 1 <= self.maximum - self.minimum < MAX_POINTS:
            raise ValueError(
                f"maximum must be above minimum, with at most {MAX_POINTS} points between them"
            )
        return self

    @property
    def level(self) -> Literal["ordinal"]:
        """Level of measurement."""
        return "ordinal"

    @cached_property
    def points_of_scale(self) -> tuple[Value, ...]:
        """The values, lowest first."""
        return tuple(range(self.minimum, self.maximum + 1))

    def parse(self, raw: object) -> Value | None:
        """The point that ``raw`` names: ``4``, ``" 4 "`` or ``4.0``; never a truth value."""
        number = _whole(raw)
        if number is None or not self.minimum <= number <= self.maximum:
            return None
        return number

    def worth(self, value: Value) -> Fraction:
        """Position on the scale, from 0 at the minimum to 1 at the maximum."""
        return Fraction(int(value) - self.minimum, self.maximum - self.minimum)


AnyScale: TypeAlias = ChoiceScale | OrdinalScale
Scale = Annotated[AnyScale, Field(discriminator="kind")]


def values_as_text(scale: AnyScale) -> Sequence[str]:
    """The scale's values as a person would type them."""
    return [str(value) for value in scale.points_of_scale]


def _fold(word: str) -> str:
    """Without surrounding space; without case too, for ASCII (``"\u017f".upper()`` is ``"S"``)."""
    bare = word.strip()
    return bare.upper() if bare.isascii() else bare


def _whole(raw: object) -> int | None:
    """``raw`` as a whole number if it plainly is one."""
    match raw:
        case bool():
            return None
        case int():
            return raw
        case float():
            return int(raw) if raw.is_integer() else None
        case Decimal():
            small = raw.is_finite() and abs(raw) < 10**9  # 1e1000000 would take its time
            return int(raw) if small and raw == raw.to_integral_value() else None
        case str() if re.fullmatch(r"[+-]?\d{1,9}(\.0{1,9})?", raw.strip(), re.ASCII):
            return int(raw.strip().partition(".")[0])
        case _:
            return None
