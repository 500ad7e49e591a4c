"""What a server serves: the studies of one database, and those who may come in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, TypeVar

from calibrant.accounts.links import Links
from calibrant.accounts.owners import Owners
from calibrant.accounts.sign_in import Door
from calibrant.accounts.tokens import Tokens
from calibrant.compose import Opened, now
from calibrant.core.account import Token
from calibrant.core.study import Member, StudyRecord
from calibrant.ports.clock import Clock
from calibrant.ports.store import Reading, Store
from calibrant.store.within import Within
from calibrant.study.handle import Study
from calibrant.web.entries import Entries
from calibrant.web.tallies import Tallies

T = TypeVar("T")


@cache
def _cookie_of(shown: str) -> str:
    return f"calibrant_{hashlib.sha256(shown.encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who has come in: by a cookie in a browser, or by a token from a program."""

    name: str
    is_owner: bool
    via: Literal["cookie", "token"]
    may_write: bool
    secret: str
    """Of the login or the token; it never leaves the server in a page."""
    csrf: str
    token: Token | None = None
    """What they came in by, where it was a token."""

    @property
    def may_administer(self) -> bool:
        """Whether they look after accounts: an owner in a browser, or by a token made for it."""
        return self.is_owner and (self.token is None or self.token.administers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One database with its studies and accounts, as one server process holds it."""

    opened: Opened
    hosts: tuple[str, ...]
    """The names it answers to, with their ports."""
    clock: Clock = now
    secure: bool = False
    """Whether it is reached by HTTPS."""
    entries: Entries = field(default_factory=Entries)
    tallies: Tallies = field(default_factory=Tallies)
    records: dict[int, StudyRecord] = field(default_factory=dict)
    """Studies by number; what a study record says never changes."""

    @property
    def store(self) -> Store:
        """Where small changes go: one writer, many of them in one commit."""
        return self.opened.store

    @property
    def plain(self) -> Store:
        """The same database for what takes long: imports, plans."""
        return self.opened.plain

    @property
    def door(self) -> Door:
        """Where people sign in."""
        return self.opened.door

    @property
    def links(self) -> Links:
        """Invitations."""
        return self.opened.links

    @property
    def tokens(self) -> Tokens:
        """What programs come in by."""
        return self.opened.tokens

    @property
    def owners(self) -> Owners:
        """What owners do with accounts."""
        return self.opened.owners

    @property
    def cookie(self) -> str:
        """Its own name on this machine, so that two servers do not sign each other's people out."""
        return _cookie_of(self.opened.shown)

    def by_cookie(self, secret: str) -> Visitor | None:
        """Who holds this login, while it lasts."""
        found = self.door.visitor(secret)
        if found is None:
            return None
        account, csrf = found.account, self.door.csrf(secret)
        return Visitor(account.name, account.owner, "cookie", True, secret, csrf)

    def by_token(self, header: str) -> Visitor | None:
        """Whose token an ``Authorization`` header carries."""
        kind, _, secret = header.partition(" ")
        found = self.tokens.visitor(secret.strip()) if kind.lower() == "bearer" else None
        if found is None:
            return None
        token, account = found
        return Visitor(account.name, account.owner, "token", token.may_write, secret, "", token)

    def studies_of(self, name: str) -> list[tuple[int, StudyRecord, Member]]:
        """Studies in which somebody takes part, with what they are there."""

        def work(tx: Reading) -> list[tuple[int, StudyRecord, Member]]:
            return [
                (number, record, one)
                for number, record in tx.studies()
                for one in tx.members(number)
                if one.name == name and one.left_at is None
            ]

        return self.store.read(work)

    def leads(self, name: str) -> bool:
        """Whether somebody leads a study."""
        return any("lead" in one.roles for _, _, one in self.studies_of(name))

    def enter(
        self, number: int, name: str, store: Store | None = None
    ) -> tuple[Study, Member] | None:
        """A study in the hands of one of its members; None for anybody else."""
        store = store or self.store
        record = self._record(number, store)
        if record is None:
            return None
        one = store.read(lambda tx: tx.member(number, name))
        if one is None or one.left_at is not None or one.kind != "HUMAN":
            return None
        return Study(store, number, record, name, self.clock), one

    def later(self, work: Callable[[Store], T]) -> Future[T]:
        """Run small work within a transaction of the writer; known once it is on the disk."""
        writer = self.opened.writer
        return writer.later(lambda tx: work(Within(tx, writer.place)))

    def unhurried(self, study: Study) -> Study:
        """The same study, for work that takes long: it does not hold up those who save."""
        return replace(study, store=self.plain)

    def _record(self, number: int, store: Store) -> StudyRecord | None:
        if number not in self.records:
            self.records.update(store.read(lambda tx: tx.studies()))
        return self.records.get(number)
