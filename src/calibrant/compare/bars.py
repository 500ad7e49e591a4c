"""Shares as small bars of text."""

from __future__ import annotations


def bar(share: float, width: int = 20) -> str:
    """A share from 0 to 1."""
    full, rest = divmod(round(share * width * 8), 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width, "·")
