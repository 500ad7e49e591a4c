"""A handbook drawn: as Markdown, or as one printable HTML page.

The page is self-contained: no script, no request, its one style sheet pinned by hash in its own
content security policy. Everything the rubric says is text, whatever it looks like.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

from calibrant.formats.handbook import Block, Bullets, Grid, Heading, Paragraph, Quote


def to_markdown(blocks: Sequence[Block]) -> str:
    """The handbook as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {_md(text)}"
        case Paragraph(text, lead):
            return (f"**{_md(lead.strip())}** " if lead else "") + _md(text)
        case Bullets(entries):
            return "\n".join(
                "- " + (f"**{_md(lead.strip())}** " if lead else "") + _md(text)
                for lead, text in entries
            )
        case Grid(header, rows):
            lines = [header, tuple("---" for _ in header), *rows]
            return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)
        case Quote(label, parts, disputed):
            head = f"**{_md(label)}**" + (" (disputed)" if disputed else "")
            body = [(f"*{_md(name)}:* " if name else "") + _md(text) for name, text in parts]
            return "\n>\n".join(f"> {line}" for line in (head, *body))


def _md(text: str) -> str:
    """Text that Markdown leaves alone."""
    escaped = re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))
    escaped = re.sub(r"^(\d{1,9})([.)])(?=\s|$)", r"\1\\\2", escaped)
    return re.sub(r"^([#+\-~=])", r"\\\1", escaped)


def _cell(text: str) -> str:
    return text if text == "---" else "<br>".join(_md(line) for line in text.split("\n"))


def to_html(blocks: Sequence[Block], language: str = "en") -> str:
    """The handbook as one HTML page."""
    style = resources.files("calibrant.formats").joinpath("handbook.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = next(block.text for block in blocks if isinstance(block, Heading))
    body = "\n".join(_html(block) for block in blocks)
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#handbook">Skip to the handbook</a>\n'
        f'<nav aria-label="Contents">\n{"".join(_contents(blocks))}</nav>\n'
        f'<main id="handbook">\n{body}\n</main>\n</body>\n</html>\n'
    )


def _contents(blocks: Sequence[Block]) -> Iterator[str]:
    yield "<ul>\n"
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2 and block.id:
            yield f'<li><a href="#{escape(block.id)}">{escape(block.text)}</a></li>\n'
        elif isinstance(block, Heading) and block.id.startswith("criterion-"):
            yield f'<li class="inner"><a href="#{escape(block.id)}">{escape(block.text)}</a></li>\n'
    yield "</ul>\n"


def _html(block: Block) -> str:
    match block:
        case Heading(level, text, anchor):
            place = f' id="{escape(anchor)}"' if anchor else ""
            return f"<h{level}{place}>{escape(text)}</h{level}>"
        case Paragraph(text, lead):
            return f"<p>{_lead(lead)}{_lines(text)}</p>"
        case Bullets(entries):
            items = "".join(f"<li>{_lead(lead)}{_lines(text)}</li>" for lead, text in entries)
            return f"<ul>{items}</ul>"
        case Grid(header, rows):
            return _grid(header, rows)
        case Quote(label, parts, disputed):
            kind = ' class="disputed"' if disputed else ""
            name = escape(label) + (" <em>disputed</em>" if disputed else "")
            body = "".join(
                f"<p>{_lead(f'{part}: ') if part else ''}{_lines(text)}</p>" for part, text in parts
            )
            return f"<figure{kind}><figcaption>{name}</figcaption>{body}</figure>"


def _grid(header: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    head = ""
    if any(header):
        cells = "".join(
            f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in header
        )
        head = f"<thead><tr>{cells}</tr></thead>"
    lines = []
    for first, *rest in rows:
        cells = "".join(f"<td>{_lines(cell)}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{_lines(first)}</th>{cells}</tr>')
    return (
        f'<div class="wide" tabindex="0"><table>{head}<tbody>{"".join(lines)}</tbody></table></div>'
    )


def _lead(text: str) -> str:
    return f"<strong>{escape(text)}</strong>" if text else ""


def _lines(text: str) -> str:
    return "<br>".join(escape(line) for line in text.strip().split("\n"))
