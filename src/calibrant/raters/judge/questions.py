"""What is asked about an item, and in how many calls.

A criterion that the rubric leaves to code is never asked. The red flags of a rubric are a question
of their own, except where the whole rubric is asked at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from calibrant.core.criterion import Criterion
from calibrant.core.document import holds
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.raters.judge.card import Way

RED_FLAGS = "red_flags"
WHOLE = "rubric"


@dataclass(frozen=True, slots=True)
class Question:
    """What one call asks."""

    id: str
    """``CQ1``, ``category:safety``, ``rubric`` or ``red_flags``."""
    criteria: tuple[str, ...]
    """In the order in which they are asked."""
    flags: bool = False
    """Whether red flags are asked for."""


def questions(rubric: Rubric, item: Item, way: Way, sample: int = 1) -> list[Question]:
    """All questions about an item.

    The first sample is asked in the rubric's order. Where a call asks about several criteria,
    later samples come in an order of chance, the same one every time for an item and a sample.
    """
    asked = [one for one in rubric.criteria if not left_to_code(one, item)]
    found = list(_grouped(asked, way, sample, item))
    if rubric.red_flags and way != WHOLE:
        found.append(Question(RED_FLAGS, (), flags=True))
    elif rubric.red_flags:
        found = [Question(WHOLE, one.criteria, flags=True) for one in found or [Question("", ())]]
    return found


def left_to_code(criterion: Criterion, item: Item) -> bool:
    """Whether a precondition of the rubric decides the answer for this item."""
    condition = criterion.precondition
    if condition is None:
        return False
    return holds(item.measures()[condition.metric], condition.op, condition.value)


def _grouped(asked: list[Criterion], way: Way, sample: int, item: Item) -> Iterator[Question]:
    match way:
        case "criterion":
            for one in asked:
                yield Question(one.id, (one.id,))
        case "category":
            for category in dict.fromkeys(one.category for one in asked):
                names = [one.id for one in asked if one.category == category]
                yield Question(f"category:{category or '-'}", _ordered(names, sample, item))
        case "rubric" if asked:
            yield Question(WHOLE, _ordered([one.id for one in asked], sample, item))


def _ordered(names: list[str], sample: int, item: Item) -> tuple[str, ...]:
    if sample > 1:
        random.Random(f"{item.hash}/{sample}").shuffle(names)  # noqa: S311 - an order, no secret
    return tuple(names)
