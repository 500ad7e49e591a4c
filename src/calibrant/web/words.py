"""Words that somebody else wrote, made fit to be shown: always text, never markup of theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2028\u2029\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Signs that nobody sees, and that can turn what one reads around."""


LONGEST = 200_000
"""Signs of a text whose Markdown is drawn; reading more of it would hold up everybody."""


def shown(text: object) -> Markup:
    """Text as it is, with signs made visible that would hide or turn around what it says."""
    return Markup(_marked(str(escape("" if text is None else text))))  # noqa: S704 - escaped


def markdown(text: object) -> Markup:
    """Text with the plain marks of Markdown drawn: no HTML, no image, no link that leads away."""
    words = "" if text is None else str(text)
    if len(words) > LONGEST:
        return _paragraphs(words)
    drawn = _reader().render(words)
    return Markup(_marked(drawn))  # noqa: S704 - the reader escapes whatever it does not draw


def _paragraphs(words: str) -> Markup:
    """Text as it is, in its paragraphs and lines."""
    parts = re.split(r"\n\s*\n", words.strip())
    drawn = (shown(one).replace("\n", Markup("<br />\n")) for one in parts)
    return Markup("").join(Markup("<p>{}</p>\n").format(one) for one in drawn)


def _marked(html: str) -> str:
    return _HIDDEN.sub(
        lambda found: f'<span class="hidden-sign">U+{ord(found[0]):04X}</span>', html
    )


@cache
def _reader() -> MarkdownIt:
    made = MarkdownIt(
        "commonmark", {"html": False, "linkify": False, "breaks": True}, renderer_cls=_Drawing
    )
    return made.enable(["table", "strikethrough"])


class _Drawing(RendererHTML):
    """Draws addresses as text beside what was linked, and images as their description."""

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        env.setdefault("links", []).append(str(tokens[idx].attrs.get("href", "")))
        return '<span class="link-text">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        address = env["links"].pop()
        return f'</span> <span class="link-address">({escape(address)})</span>'

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        address = str(token.attrs.get("src", ""))
        what = f"[image: {escape(token.content)} ({escape(address)})]"
        return f'<span class="link-address">{what}</span>'

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f'<p class="words-heading words-{tokens[idx].tag}">'

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</p>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _cell(tokens[idx])

    td_open = th_open

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<pre><code>{escape(tokens[idx].content)}</code></pre>\n"


def _cell(token: Token) -> str:
    """A cell of a table; on which side its text stands is a class, as styles are not allowed."""
    side = str(token.attrs.get("style", "")).rpartition(":")[2]
    return f'<{token.tag} class="side-{side}">' if side in ("center", "right") else f"<{token.tag}>"
