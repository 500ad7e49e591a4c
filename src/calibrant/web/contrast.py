"""The colours of the design as its one style sheet states them, and how well they can be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias

Theme: TypeAlias = Literal["light", "dark"]
NEEDED = 4.5
"""What text needs against its ground (WCAG 2.2, level AA)."""
NEEDED_LINES = 3.0
"""What the borders of fields and buttons need."""
PAIRS: tuple[tuple[str, str], ...] = (
    *((ink, ground) for ink in ("ink", "ink-soft") for ground in ("paper", "surface", "sunken")),
    *(("ink", f"{name}-wash") for name in ("accent", "good", "warn", "bad")),
    *(("accent", ground) for ground in ("paper", "surface", "sunken", "accent-wash")),
    ("accent-ink", "accent"),
    ("good", "good-wash"),
    ("warn", "warn-wash"),
    ("bad", "bad-wash"),
    ("bad", "surface"),
    ("mark-ink", "mark"),
)
"""Text on its ground, wherever the components put one on the other."""
LINES: tuple[tuple[str, str], ...] = (("line-strong", "surface"), ("line-strong", "paper"))
_COLOUR = r"#[0-9a-fA-F]{6}"
_NAMED = re.compile(rf"--([a-z-]+):\s*light-dark\(\s*({_COLOUR})\s*,\s*({_COLOUR})\s*\)\s*;")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two colours, and how far apart they are."""

    ink: str
    ground: str
    ink_colour: str
    ground_colour: str
    ratio: float
    needed: float

    @property
    def is_enough(self) -> bool:
        """Whether people can read it."""
        return self.ratio >= self.needed


@cache
def colours() -> dict[Theme, dict[str, str]]:
    """Colours by name, of the light theme and of the dark one."""
    file = resources.files("calibrant.web") / "static" / "css" / "tokens.css"
    return read_colours(file.read_text("utf-8"))


def read_colours(css: str) -> dict[Theme, dict[str, str]]:
    """Colours by theme: each is stated once, for light and dark."""
    plain = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    found = _NAMED.findall(plain)
    return {
        "light": {name: light for name, light, _ in found},
        "dark": {name: dark for name, _, dark in found},
    }


def ratio(one: str, other: str) -> float:
    """How far apart two colours are in brightness: from 1, the same, to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def pairs(theme: Theme) -> list[Pair]:
    """Everything that is read against something in a theme."""
    known = colours()[theme]
    wanted = [(pair, NEEDED) for pair in PAIRS] + [(pair, NEEDED_LINES) for pair in LINES]
    return [
        Pair(ink, ground, known[ink], known[ground], ratio(known[ink], known[ground]), needed)
        for (ink, ground), needed in wanted
    ]
