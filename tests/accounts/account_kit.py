"""A workspace's accounts with a clock that tests move and secrets they can tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from argon2 import PasswordHasher
from tests.store.store_kit import a_member, a_study

from calibrant.accounts.links import Links
from calibrant.accounts.means import Means
from calibrant.accounts.owners import Owners
from calibrant.accounts.passwords import Passwords
from calibrant.accounts.sign_in import Door
from calibrant.accounts.tokens import Tokens
from calibrant.ports.store import Writing
from calibrant.store.accounts import SqlAccounts
from calibrant.store.sql import SqlStore

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Argon2 as quick as it can be: what is tested is what is done with it."""
GOOD = "three plain words"


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **span: float) -> None:
        self.now += timedelta(**span)


def secrets_in_turn(start: str = "secret") -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{start}-{next(numbers)}"


@dataclass
class House:
    """Everything of the room, on one store."""

    store: SqlStore
    time: Time = field(default_factory=Time)
    passwords: Passwords = field(default_factory=lambda: Passwords(CHEAP))
    draw: Callable[[], str] = field(default_factory=secrets_in_turn)

    def __post_init__(self) -> None:
        self.accounts = SqlAccounts(self.store)
        self.means = Means(self.accounts, self.time, self.draw, self.passwords)
        self.door = Door(self.means, b"k" * 32)
        self.tokens = Tokens(self.means)
        self.links = Links(self.door, self.store)
        self.owners = Owners(self.door, self.links, self.tokens)

    def beside(self) -> House:
        """The same accounts in another process: nothing in memory is shared."""
        return House(self.store, self.time, self.passwords, self.draw)

    def owner(self, name: str = "olga") -> str:
        """The first owner, signed in."""
        return self.links.accept(self.owners.begin(name), GOOD)

    def person(self, name: str, by: str = "olga") -> str:
        """Somebody with an account, signed in."""
        return self.links.accept(self.links.invite(name, None, by=by), GOOD)

    def kinds(self) -> list[str]:
        return [one.kind for one in self.accounts.events()]


def a_panel(store: SqlStore, name: str, **roles: str) -> int:
    """A study with these members, each in one role."""

    def work(writing: Writing) -> int:
        number = writing.add_study(a_study(name))
        for who, role in roles.items():
            kind: dict[str, Any] = {"kind": "LLM"} if role == "judge" else {}
            writing.add_member(number, a_member(who, roles=(role,), **kind))
        return number

    return store.write(work)
