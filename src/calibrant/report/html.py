"""A report as one HTML page, or as a body for another page.

The page is self-contained: no script, no request, its one style sheet pinned by hash in its own
content security policy. Whatever people, models and files said is text, with nothing hidden in it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from html import escape
from importlib import resources

from calibrant.core.visible import visible
from calibrant.report.charts import svg
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

_NUMBER = re.compile(r"[−+<>]?[\d.,]+(?: %)?|–|")
_SPAN = re.compile(r"\S+(?: %)? to \S+(?: %)?|\d{4}-\d\d-\d\d(?: \d\d:\d\d)?|")
_LONG = 40
"""Signs from which a cell asks for room."""


def report_html(findings: Findings, short: bool = False) -> str:
    """The report as one page; ``short``: the answer alone, for a slide."""
    style = style_sheet() + _read("page.css")
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    title = _t(findings.about.title)
    contents = "" if short else f'<nav aria-label="Contents">{_contents(findings)}</nav>\n'
    kind = "short" if short else "whole"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title} · evaluation report</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="{kind}">\n<a class="skip" href="#answer">Skip to the answer</a>\n'
        f'<header class="top"><p class="kind">Evaluation report</p><h1>{title}</h1>'
        f'<p class="under">{_t(under_title(findings))}</p></header>\n{contents}'
        f"<main>\n{body_html(findings, short=short)}</main>\n</body>\n</html>\n"
    )


def body_html(findings: Findings, short: bool = False) -> str:
    """The report alone, for another page: headings begin at h2, and all of it has class names.

    That page has to link ``style_sheet``.
    """
    sections = "".join(_section(part) for part in parts(findings, short=short))
    return f'<div class="report">\n{sections}</div>\n'


def style_sheet() -> str:
    """What the class names of ``body_html`` look like, in light, in dark and on paper."""
    return _read("report.css")


def _read(name: str) -> str:
    return resources.files("calibrant.report").joinpath(name).read_text("utf-8")


def _t(text: str) -> str:
    """A text of any origin, as text."""
    return escape(visible(text))


def _contents(findings: Findings) -> str:
    links = (f'<li><a href="#{one.id}">{_t(one.title)}</a></li>' for one in parts(findings))
    return f"<ul>{''.join(links)}</ul>"


def _section(part: Part) -> str:
    body = "\n".join(_piece(piece) for piece in part.pieces)
    return (
        f'<section class="part {part.id}" id="{part.id}" aria-labelledby="{part.id}-title">\n'
        f'<h2 id="{part.id}-title">{_t(part.title)}</h2>\n{body}\n</section>\n'
    )


def _piece(piece: Piece) -> str:  # noqa: PLR0911 - one for each piece
    match piece:
        case Paragraph(text, lead):
            return f"<p>{_lead(lead)}{_t(text)}</p>"
        case Note(text):
            return f'<p class="note">{_t(text)}</p>'
        case Points(entries):
            lines = (f"<li>{_lead(lead)}{_t(text)}</li>" for lead, text in entries)
            return f'<ul class="points">{"".join(lines)}</ul>'
        case Tiles():
            return _tiles(piece)
        case Picture(chart):
            return (
                f'<figure class="picture"><figcaption>{_t(chart.title)}</figcaption>'
                f"{svg(chart)}</figure>"
            )
        case Table():
            return _table(piece)
        case Quotes(entries):
            return f'<div class="quotes">{"".join(map(_quoted, entries))}</div>'


def _lead(text: str) -> str:
    return f"<strong>{_t(text)}</strong> " if text else ""


def _tiles(tiles: Tiles) -> str:
    signs = {"good": "✓ ", "bad": "✗ ", "open": "? ", "plain": ""}
    cells = (
        f'<div class="tile {one.tone}"><dt>{_t(one.label)}</dt>'
        f'<dd><span aria-hidden="true">{signs[one.tone]}</span>{_t(one.value)}</dd></div>'
        for one in tiles.entries
    )
    return f'<dl class="tiles">{"".join(cells)}</dl>'


def _quoted(one: Quoted) -> str:
    texts = "".join(f'<blockquote dir="auto">{_lines(text)}</blockquote>' for text in one.texts)
    after = f'<p class="note">{_t(one.after)}</p>' if one.after else ""
    return f'<figure class="quoted"><figcaption>{_t(one.head)}</figcaption>{texts}{after}</figure>'


def _lines(text: str) -> str:
    return "<br>".join(escape(line) for line in visible(text.strip()).split("\n"))


def _table(table: Table) -> str:
    block = table.block
    kinds = [_kind([row[at] for row in block.rows], at) for at in range(len(block.header))]
    head = "".join(
        f'<th scope="col"{kind}>{_t(name)}</th>'
        for name, kind in zip(block.header, kinds, strict=True)
    )
    body = "".join(f"<tr>{''.join(_cells(row, kinds))}</tr>" for row in block.rows)
    source = (
        f'<p class="source">{table.rest}From {_t(table.source)}. '
        f"<code>{_t(table.command)}</code></p>"
    )
    label = escape(visible(block.title), quote=True)
    drawn = (
        f'<div class="wide" role="region" tabindex="0" aria-label="{label}"><table>'
        f"<caption>{_t(block.title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{source}"
    )
    if not table.folded:
        return drawn
    rows = table.total or len(block.rows)
    return f"<details><summary>{_t(block.title)} ({rows:,} rows)</summary>{drawn}</details>"


def _kind(cells: list[str], at: int) -> str:
    """The class of a column: numbers stand to the right, intervals and days in one line."""
    if at and all(_NUMBER.fullmatch(cell) for cell in cells):
        return ' class="number"'
    if all(_SPAN.fullmatch(cell) for cell in cells):
        return ' class="span"'
    return ' class="long"' if any(len(cell) > _LONG for cell in cells) else ""


def _cells(row: tuple[str, ...], kinds: list[str]) -> Iterator[str]:
    for at, (cell, kind) in enumerate(zip(row, kinds, strict=True)):
        if at == 0:
            yield f'<th scope="row" dir="auto"{kind}>{_lines(cell)}</th>'
        else:
            yield f'<td dir="auto"{kind}>{_lines(cell)}</td>'
