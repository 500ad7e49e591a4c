"""A report as Markdown: tables and sentences, no charts, and nothing that content could start.

Whatever people, models and files said is text: no HTML, no link, no image, no heading comes of it.
"""

from __future__ import annotations

import re

from calibrant.core.visible import visible
from calibrant.report.findings import Findings
from calibrant.report.outline import parts, under_title
from calibrant.report.pieces import (
    Note,
    Paragraph,
    Part,
    Picture,
    Piece,
    Points,
    Quoted,
    Quotes,
    Table,
    Tiles,
)

_SIGNS = re.compile(r"([\\`*_\[\]<>|~$&@{}!^])")
_SCHEME = re.compile(r":(?=/)|(?i:(?<=mailto)|(?<=xmpp)|(?<=javascript)|(?<=data)):")
_WWW = re.compile(r"(?i)\b(www)\.")
_BEGINS = re.compile(r"^([#+\-=:])")
_COUNTED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


def report_markdown(findings: Findings, short: bool = False) -> str:
    """The report as Markdown; ``short``: the answer alone."""
    head = f"# {_md(findings.about.title)}\n\n{_md(under_title(findings))}\n"
    return head + "".join(_part(one) for one in parts(findings, short=short))


def _part(part: Part) -> str:
    drawn = (_piece(piece) for piece in part.pieces)
    return f"\n## {_md(part.title)}\n\n" + "\n\n".join(one for one in drawn if one) + "\n"


def _piece(piece: Piece) -> str:  # noqa: PLR0911 - one for each piece
    match piece:
        case Paragraph(text, lead):
            return (f"**{_md(lead)}** " if lead else "") + _md(text)
        case Note(text):
            return f"*{_md(text)}*"
        case Points(entries):
            return "\n".join(f"- {_point(lead, text)}" for lead, text in entries)
        case Tiles(entries):
            return "\n".join(f"- **{_md(one.value)}** {_md(one.label)}" for one in entries)
        case Picture():
            return ""  # the table after it says the same
        case Table():
            return _table(piece)
        case Quotes(entries):
            return "\n\n".join(map(_quoted, entries))


def _point(lead: str, text: str) -> str:
    return (f"**{_md(lead)}** " if lead else "") + _md(text)


def _quoted(one: Quoted) -> str:
    lines = [f"**{_md(one.head)}**", *map(_md, one.texts)]
    lines += [f"*{_md(one.after)}*"] if one.after else []
    return "\n>\n".join(f"> {line}" for line in lines)


def _table(table: Table) -> str:
    block = table.block
    lines = [
        f"**{_md(block.title)}**\n",
        "| " + " | ".join(map(_md, block.header)) + " |",
        "|" + " --- |" * len(block.header),
        *("| " + " | ".join(map(_md, row)) + " |" for row in block.rows),
    ]
    source = f"{table.rest}From {_md(table.source)}. {_code(table.command)}"
    return "\n".join(lines) + f"\n\n{source}"


def _code(text: str) -> str:
    """A code span that ends where it should, whatever the text holds."""
    text = " ".join(visible(text).split())
    runs = [len(one) for one in re.findall(r"`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    inner = f" {text} " if runs else text
    return f"{fence}{inner}{fence}"


def _md(text: str) -> str:
    """A text of any origin that Markdown leaves alone, in one line."""
    text = _SIGNS.sub(r"\\\1", " ".join(visible(text).split()))
    text = _WWW.sub(r"\1\\.", _SCHEME.sub(r"\\:", text))
    return _COUNTED.sub(r"\1\\\2", _BEGINS.sub(r"\\\1", text))
