"""What pydantic found wrong, without its echoes."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails


def deepest(error: ValidationError) -> list[ErrorDetails]:
    """The findings, without those that only repeat what is wrong further inside.

    A list whose only entry is faulty is reported as too short as well: one mistake, told twice.
    """
    details = error.errors(include_url=False)
    places = [detail["loc"] for detail in details]
    return [detail for detail in details if not _has_inner(detail, places)]


def _has_inner(detail: ErrorDetails, places: list[tuple[int | str, ...]]) -> bool:
    place = detail["loc"]
    return detail["type"] == "too_short" and any(
        len(other) > len(place) and other[: len(place)] == place for other in places
    )
