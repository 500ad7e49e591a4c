"""What to do next, each with the page where it is done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_PLACES: tuple[tuple[str, str, str], ...] = (
    (r"add items", "/items", "Add items"),
    (r"add raters", "/people", "Invite people"),
    (r"answer \d", "/questions", "Answer"),
    (r"decide \d", "/flags", "Decide"),
    (r"before round|open round|close round|round \d+:|plan the", "/rounds", "To the rounds"),
    (r"discuss \d", "/discuss", "Discuss"),
    (r"agreement on", "#loops", "To the steps"),
    (r"adjudicate \d", "/adjudicate", "Adjudicate"),
    (r"hold a check-in", "/check-ins", "Record one"),
    (r"rate \d", "/rate", "Rate"),
)
"""How a step begins, where it is done, and what the link says."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something to do, and where."""

    text: str
    address: str | None
    """None where there is nothing to go to."""
    label: str


def next_steps(
    told: Iterable[str], path: str, titles: Mapping[str, str] | None = None
) -> list[NextStep]:
    """The steps of a status with addresses below ``path``; a late phase leads to the timeline.

    Criteria are called by their ``titles``, where these are given.
    """
    return [_step(one, path, titles or {}) for one in told]


def _step(text: str, path: str, titles: Mapping[str, str]) -> NextStep:
    said = (text[:1].upper() + text[1:]).replace("test_again", "testing again")
    said = re.sub(
        r"(?<=^Agreement on )\S+", lambda found: titles.get(found[0], found[0]), said, count=1
    )
    for begins, place, label in _PLACES:
        if re.match(begins, text):
            return NextStep(said, place if place.startswith("#") else path + place, label)
    if text.startswith("nothing to rate"):
        return NextStep(said, None, "")
    return NextStep(said, "#phases", "To the timeline")
