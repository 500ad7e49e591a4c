"""What a report is made of, whatever it is drawn as: sections of sentences, tables, charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from calibrant.compare.blocks import Block
from calibrant.report.charts import Chart, Tone


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences."""

    text: str
    lead: str = ""
    """A few words before it that stand out."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something beside the matter: what is missing, what is left out."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """Sentences one below the other."""

    entries: tuple[tuple[str, str], ...]
    """A few words that stand out, and the sentence."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A number that is seen first."""

    value: str
    label: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Tiles:
    """Numbers side by side."""

    entries: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart; the table that says the same comes after it."""

    chart: Chart


@dataclass(frozen=True, slots=True)
class Table:
    """A table, where its numbers come from, and the command that prints them."""

    block: Block
    source: str
    command: str
    total: int | None = None
    """Rows there are, where not all are shown."""
    folded: bool = False
    """Whether a page shows it only when it is asked for."""

    @property
    def rest(self) -> str:
        """Where the rows are that are not shown; empty where all are."""
        if self.total is None:
            return ""
        return f"The first {len(self.block.rows):,} of {self.total:,}; the JSON report has all. "


@dataclass(frozen=True, slots=True)
class Quoted:
    """Somebody's words, with what they are about."""

    head: str
    texts: tuple[str, ...]
    after: str = ""


@dataclass(frozen=True, slots=True)
class Quotes:
    """Words of items and people."""

    entries: tuple[Quoted, ...]


Piece: TypeAlias = Paragraph | Note | Points | Tiles | Picture | Table | Quotes


@dataclass(frozen=True, slots=True)
class Part:
    """A section under a heading."""

    id: str
    title: str
    pieces: tuple[Piece, ...]


def without_empty(block: Block) -> Block:
    """The table without columns that say nothing of any row."""
    kept = [
        at
        for at in range(len(block.header))
        if at == 0 or any(row[at] not in ("", "–") for row in block.rows)
    ]
    header = tuple(block.header[at] for at in kept)
    return Block(block.title, header, [tuple(row[at] for at in kept) for row in block.rows])


def limited(block: Block, most: int, source: str, command: str, *, folded: bool = False) -> Table:
    """A table of at most so many rows; the rest is in the JSON."""
    block = without_empty(block)
    rows = list(block.rows)
    total = len(rows) if len(rows) > most else None
    return Table(
        Block(block.title, block.header, rows[:most]), source, command, total, folded=folded
    )
