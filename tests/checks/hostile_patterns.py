"""Tries every compiled pattern of the checks on hostile text: run as a module.

One text takes one pattern some hundredths of a second. A pattern that tries the same signs again
and again would take minutes or years; it is stopped after a while, and named.
"""

from __future__ import annotations

import pkgutil
import re
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from types import FrameType

from calibrant.raters import checks

SIZE = 100_000
PATIENCE = 6.0
"""Seconds of the processor for one pattern on one text: a hundred times what a good one needs."""
PIECES = (
    "a", "A", " ", "\n", "!", ". ", "'", "a'", "a-", "1", "1,", "a ", "**a", "👍", "i ", "not ",
    "by week 1 ", "2 hours ",
)  # fmt: skip


def patterns(value: object, name: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Compiled patterns in a value, and in collections of values."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield name, value
    elif depth < 4 and isinstance(value, dict):
        for key, one in value.items():
            yield from patterns(one, f"{name}[{key!r}]", depth + 1)
    elif depth < 4 and isinstance(value, list | tuple):
        for at, one in enumerate(value):
            yield from patterns(one, f"{name}[{at}]", depth + 1)


def every_pattern() -> dict[re.Pattern[str], str]:
    """All patterns at the top of a module, each under one name."""
    found: dict[re.Pattern[str], str] = {}
    for module in pkgutil.iter_modules(checks.__path__):
        held = import_module(f"{checks.__name__}.{module.name}")
        for name, value in vars(held).items():
            for place, pattern in patterns(value, f"{module.name}.{name}"):
                found.setdefault(pattern, place)
    return found


def hostile(pattern: re.Pattern[str]) -> Iterator[str]:
    """Long runs of pieces, and of all words and signs that the pattern itself names."""
    words = sorted(set(re.findall(r"[a-z]{2,}", pattern.pattern)))
    signs = sorted(set(re.findall(r"[^\w\s\\]", pattern.pattern)))
    own = ["".join(words), " ".join(words), ", ".join(words), "".join(signs), " ".join(signs)]
    before_runs = sorted(set(re.findall(r"[a-z]+(?=\\[wSD]|\[|\.)", pattern.pattern)))
    for piece in (*PIECES, *filter(None, own), *before_runs):
        yield f"{(piece * (SIZE // len(piece) + 1))[:SIZE]}\0"


def late(number: int, frame: FrameType | None) -> None:
    """The clock has run out."""
    raise TimeoutError


def main() -> None:
    """Try all, and name every one that is late."""
    signal.signal(signal.SIGVTALRM, late)
    named = []
    tried = every_pattern()
    for pattern, name in tried.items():
        for text in hostile(pattern):
            signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
            try:
                for _ in pattern.finditer(text):
                    pass
            except TimeoutError:
                named.append(f"{name} on {text[:40]!r}")
                break
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print("\n".join(named))
    print(f"tried {len(tried)}")
    sys.exit(bool(named))


if __name__ == "__main__":
    main()
