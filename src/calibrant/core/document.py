"""What all documents share: frozen, closed to unknown keys, exact in their numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints


class Document(BaseModel):
    """A piece of a rubric document: written by people, never changed in place."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        str_strip_whitespace=True,
        use_attribute_docstrings=True,
        defer_build=True,  # pieces are checked as parts of a rubric; few are ever read alone
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy that has been checked like any other document."""
        return type(self).model_validate({**self.model_dump(), **(update or {})})


def _true_or_false(value: object) -> object:
    """Only ``true`` and ``false`` are truth values: YES and NO are answers."""
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    if isinstance(value, bool):
        return value
    raise ValueError("must be true or false")


def _number(value: object) -> object:
    """Only plain decimal notation is a number: no exponents, no infinity, no underscores."""
    if isinstance(value, bool) or (
        isinstance(value, str) and not re.fullmatch(r"[+-]?\d+(\.\d+)?", value, re.ASCII)
    ):
        raise ValueError("must be a number such as 3 or 0.15")
    return value


ID_FORM = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"
VERSION_FORM = r"^[0-9]{1,9}\.[0-9]{1,9}(\.[0-9]{1,9})?$"
Id = Annotated[str, StringConstraints(pattern=ID_FORM)]
"""Letters, digits, ``_`` and ``-``, beginning with a letter."""
Text = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Version = Annotated[str, StringConstraints(pattern=VERSION_FORM)]
"""``3.0`` or ``1.10.2``: numbers between dots, compared number by number."""
Flag = Annotated[bool, BeforeValidator(_true_or_false)]
Count = Annotated[int, BeforeValidator(_number), Field(ge=0, le=1_000_000_000)]
Whole = Annotated[int, BeforeValidator(_number), Field(ge=-1_000_000, le=1_000_000)]
Share = Annotated[Decimal, BeforeValidator(_number), Field(ge=0, le=1, max_digits=12)]
"""A decimal from 0 to 1, kept exactly as written."""
Number = Annotated[Decimal, BeforeValidator(_number), Field(max_digits=18)]
Operator: TypeAlias = Literal["<", "<=", ">", ">=", "=="]
AtLeast: TypeAlias = Literal[">", ">="]


def holds(left: Fraction | int, operator: Operator, right: Fraction | Decimal | int) -> bool:
    """Whether ``left operator right`` is true, in exact arithmetic."""
    exact = Fraction(right)
    match operator:
        case "<":
            return left < exact
        case "<=":
            return left <= exact
        case ">":
            return left > exact
        case ">=":
            return left >= exact
        case "==":
            return left == exact


def version_key(version: str) -> tuple[int, ...]:
    """For ordering versions: 1.10 comes after 1.9."""
    numbers = tuple(map(int, version.split(".")))
    return numbers + (0,) * (3 - len(numbers))
