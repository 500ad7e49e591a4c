"""Titled tables of text, as reports are shown: on a terminal, or in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

MOST_SHOWN = 12
"""Rows of a table that would be long, and raters of a matrix."""


@dataclass(frozen=True, slots=True)
class Block:
    """One table."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def html_of(blocks: Iterable[Block], notes: Iterable[str] = ()) -> str:
    """Tables for a notebook; what raters wrote is text, whatever it looks like."""
    out = []
    for block in blocks:
        cells = "".join(f"<th>{escape(name)}</th>" for name in block.header)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in block.rows
        )
        out.append(
            f"<h4>{escape(block.title)}</h4><table><thead><tr>{cells}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )
    out += [f"<p>{escape(note)}</p>" for note in notes]
    return "".join(out)
