"""Tables of reports as a page shows them: without what a terminal draws or is told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from calibrant.compare.blocks import Block
from calibrant.web.cases import KINDS

_OPTIONS = re.compile(r"\s*\((?:-o|--fair)[^)]*\)|,\s*-o keeps all(?=[,)])|\s-o keeps all, (?=the)")
"""Options of commands, which nobody can give here."""
_DRAWN = ("", "apart")
"""Headings of columns that hold bars made of letters."""
_FIGURE = re.compile(r"[–—]?|[+−-]?\d[\d.,%…+−\s-]*")
"""A cell that holds a number, an interval, or nothing."""
LONG = 15
"""Rows from which a table is long."""


@dataclass(frozen=True, slots=True)
class PageBlock:
    """One table of a page."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def figures(self) -> frozenset[int]:
        """Columns of nothing but numbers, which stand below one another."""
        columns = enumerate(zip(*self.rows, strict=True))
        return frozenset(at for at, cells in columns if all(map(_FIGURE.fullmatch, cells)))

    @property
    def is_long(self) -> bool:
        """Whether it stands aside till somebody wants it."""
        return len(self.rows) > LONG and self.header[:1] == ("coefficient",)


def page_blocks(found: Iterable[Block]) -> list[PageBlock]:
    """The tables of a report, for a page."""
    return [_shown(one) for one in found]


def _shown(one: Block) -> PageBlock:
    kept = [at for at, name in enumerate(one.header) if at == 0 or name not in _DRAWN]
    return PageBlock(
        title=_OPTIONS.sub("", one.title),
        header=tuple(one.header[at] or "outcome" for at in kept),
        rows=tuple(tuple(KINDS.get(row[at], row[at]) for at in kept) for row in one.rows),
    )
