"""Texts of any origin: which can be kept, and made so that they can only be read."""

from __future__ import annotations

from unicodedata import category

JOINERS = "\u200c\u200d"
"""Invisible, and part of how words and signs are written."""


def visible(text: str) -> str:
    """A text of any origin in which nothing can move, paint, turn around or hide.

    Line breaks stay, tabs become spaces, every other control or format character an escape.
    """
    text = text.replace("\r\n", "\n").replace("\t", "    ")
    if text.isprintable():
        return text
    return "".join(
        sign if sign == "\n" or sign in JOINERS or _is_shown(sign) else repr(sign)[1:-1]
        for sign in text
    )


def is_whole(text: str) -> bool:
    """Whether a text can be kept: half a character (a lone surrogate), as JSON can name it, not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_shown(sign: str) -> bool:
    return sign.isprintable() or category(sign) == "Zs"
