"""The handbook of a rubric as a page draws it: blocks with places to link to, and contents."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.core.rubric import Rubric
from calibrant.formats.handbook import Block, Grid, Heading, handbook

CRITERION = "criterion-"


@dataclass(frozen=True, slots=True)
class Placed:
    """A block, what it is, and the places of its rows where it is a table of anchors."""

    what: str
    block: Block
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandbookView:
    """A handbook to read: everything below its title, and what leads there."""

    title: str
    blocks: tuple[Placed, ...]
    contents: tuple[Heading, ...]


def handbook_view(rubric: Rubric) -> HandbookView:
    """The handbook with a place for every heading and every anchor."""
    first, *rest = handbook(rubric)
    placed: list[Placed] = []
    criterion = ""
    for block in rest:
        places: tuple[str, ...] = ()
        if isinstance(block, Heading):
            criterion = block.id.removeprefix(CRITERION) if block.id.startswith(CRITERION) else ""
        elif isinstance(block, Grid) and criterion:
            places = tuple(f"anchor-{criterion}-{row[0]}" for row in block.rows)
        placed.append(Placed(type(block).__name__.lower(), block, places))
    headings = [one for one in rest if isinstance(one, Heading) and one.id]
    shown = tuple(one for one in headings if one.level == 2 or one.id.startswith(CRITERION))
    title = first.text if isinstance(first, Heading) else rubric.title
    return HandbookView(title, tuple(placed), shown)
