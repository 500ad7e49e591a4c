"""What was made of an item, kept ready for the next call about it, in bounded memory."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
MOST, SIGNS = 512, 20_000_000
"""So many things, and so many signs in all of them together; the oldest go first."""


class Kept(Generic[T]):
    """Values by key; whatever a key stands for by its identity must be kept with the value."""

    def __init__(self, most: int = MOST, signs: int = SIGNS) -> None:
        self._values: dict[Hashable, tuple[T, int]] = {}
        self._most, self._signs = most, signs
        self._total = 0

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> T | None:
        """The value, if it is still there."""
        found = self._values.get(key)
        return None if found is None else found[0]

    def keep(self, key: Hashable, value: T, signs: int = 0) -> T:
        """The value, kept; what is larger than all that may be kept is not."""
        if signs > self._signs:
            return value
        while self._values and (
            len(self._values) >= self._most or self._total + signs > self._signs
        ):
            self._total -= self._values.pop(next(iter(self._values)))[1]
        self._values[key] = (value, signs)
        self._total += signs
        return value
