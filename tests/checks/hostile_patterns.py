"""Tries every compiled pattern of the checks on hostile text: run as a module, under a time limit.

Prints the name of each pattern before it is tried, so that the last line names one that hangs.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator
from importlib import import_module

from calibrant.raters import checks

SIZE = 100_000
WORDS = 30
"""So many words of a pattern are tried one by one."""
PIECES = (
    "a", "A", " ", "\n", "!", ".", "'", '"', "-", "1", "я", "👍", "a ", "a.", "a'", "a-",
    "1,", "1 ", ". ", "\n ", "**a", "'a", "by ", "week 1 ", "2 hours ", "not ", "to ", "£1", "i ",
)  # fmt: skip


def patterns(value: object, name: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Compiled patterns in a value, and in collections of values."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield name, value
    elif depth < 3 and isinstance(value, dict):
        for key, one in value.items():
            yield from patterns(one, f"{name}[{key!r}]", depth + 1)
    elif depth < 3 and isinstance(value, list | tuple):
        for at, one in enumerate(value):
            yield from patterns(one, f"{name}[{at}]", depth + 1)


def every_pattern() -> Iterable[tuple[str, re.Pattern[str]]]:
    """Each pattern of each module, once."""
    seen: set[re.Pattern[str]] = set()
    for name, pattern in _named():
        if pattern not in seen:
            seen.add(pattern)
            yield name, pattern


def _named() -> Iterable[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.iter_modules(checks.__path__):
        held = import_module(f"{checks.__name__}.{module.name}")
        for name, value in vars(held).items():
            yield from patterns(value, f"{module.name}.{name}")


def hostile(pattern: re.Pattern[str]) -> Iterator[str]:
    """Long runs of pieces, and of the words and signs that the pattern itself names."""
    named = sorted(set(re.findall(r"[a-z]{2,}|[^\w\s\\]", pattern.pattern)))
    yield (f"{' '.join(named)} " * SIZE)[:SIZE]
    own = named[:: len(named) // WORDS + 1]  # of a long list, words at even distances
    for piece in (*PIECES, *own, *(f"{word} " for word in own if word.isalpha())):
        yield f"{piece * (SIZE // len(piece))}\0"


def main() -> None:
    tried = 0
    for name, pattern in every_pattern():
        print(f"{name}: {pattern.pattern[:200]!r}", flush=True)
        for text in hostile(pattern):
            for _ in pattern.finditer(text):
                pass
            pattern.match(text)
            pattern.fullmatch(text)
        tried += 1
    print(f"tried {tried}")


if __name__ == "__main__":
    main()
