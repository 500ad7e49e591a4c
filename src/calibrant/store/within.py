"""A store within a transaction that is under way: for several pieces of work that are one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from calibrant.core.errors import StoreError
from calibrant.ports.store import Reading, Writing

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Within:
    """Reads and writes in somebody else's transaction, which is theirs to commit."""

    tx: Writing
    place: str

    def read(self, work: Callable[[Reading], T]) -> T:
        """Run work that only reads, and sees what was written before it."""
        return work(self.tx)

    def write(self, work: Callable[[Writing], T]) -> T:
        """Run work; it lasts when the whole transaction does."""
        return work(self.tx)

    def doctor(self) -> list[str]:
        """A transaction is too short for that."""
        raise StoreError("a database is not looked over within a transaction")

    def backup(self, path: Any) -> None:
        """A transaction is too short for that."""
        raise StoreError("a database is not copied within a transaction")

    def close(self) -> None:
        """Not theirs to close."""
