"""Accounts, kept in the database that keeps the studies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Table, func, or_, select, update

from calibrant.core.account import Account, Event, Link, Login, Token
from calibrant.core.errors import StoreError
from calibrant.store import schema
from calibrant.store.dialect import Dialect
from calibrant.store.lookups import findable
from calibrant.store.rows import Row, document, named, without_nul

T = TypeVar("T")
_LOG = 0
"""What is locked while an event gets its number: as if it were a study, of which none is 0."""


class Place(Protocol):
    """A store, as far as accounts need it."""

    @property
    def dialect(self) -> Dialect:
        """The kind of database."""

    def run(self, act: Callable[[Connection], T], *, write: bool) -> T:
        """Run something on a connection in one transaction."""

    def act(self, work: Callable[[Connection], T]) -> T:
        """Write on a connection in one transaction, once."""


class SqlAccounts:
    """The accounts of a workspace; threads may share it."""

    def __init__(self, store: Place) -> None:
        self._store = store

    # -- accounts

    def account(self, name: str) -> Account | None:
        """The account of that name, open or closed."""
        table = schema.account
        return self._first(select(table).where(table.c.name == findable(name)), _account)

    def accounts(self) -> list[Account]:
        """All accounts, by name."""
        return self._all(select(schema.account).order_by(schema.account.c.name), _account)

    def add_account(self, record: Account, event: Event) -> None:
        """An account of a name that is free; raises ``Doubled``."""
        row = _account_row(record)
        self._write(lambda c: self._load(c, schema.account, row), event)

    def set_password(
        self, name: str, password: str | None, event: Event, *, but: str | None = None
    ) -> None:
        """Another password, or none; ends all logins of the account ``but`` the one of a hash."""

        def work(connection: Connection) -> None:
            _change_account(connection, name, password=password)
            _end_logins(connection, name, event.at, but)

        self._write(work, event)

    def rehash_password(self, name: str, before: str, after: str) -> None:
        """The same password under another hash, unless it was changed meanwhile."""
        table = schema.account
        same = (table.c.name == findable(name), table.c.password == before)
        self._store.act(lambda c: _change(c, table, {"password": after}, *same))

    def close_account(self, name: str, event: Event) -> None:
        """Nobody comes in by that name any more: its logins, tokens and links end."""

        def work(connection: Connection) -> None:
            _change_account(connection, name, closed_at=event.at)
            _end_logins(connection, name, event.at, None)
            token = schema.token
            alive = (token.c.account == findable(name), token.c.ended_at.is_(None))
            _change(connection, token, {"ended_at": event.at}, *alive)
            _take_back(connection, name, event.at)

        self._write(work, event)

    def set_owner(self, name: str, owner: bool, event: Event) -> None:
        """Somebody begins or ceases to look after the workspace."""
        self._write(lambda c: _change_account(c, name, owner=owner), event)

    def set_preferences(self, name: str, preferences: Mapping[str, Any]) -> None:
        """What somebody likes, in the place of what was kept before."""
        kept = document(preferences)
        self._store.act(lambda c: _change_account(c, name, preferences=kept))

    # -- logins

    def add_login(self, login: Login, event: Event | None = None) -> None:
        """A browser signs in."""
        self._write(lambda c: self._load(c, schema.login, _login_row(login)), event)

    def login(self, hash: str) -> tuple[Login, Account] | None:
        """A login and whose it is, ended or not."""
        return self._with_account(schema.login, hash, _login)

    def touch_login(self, hash: str, *, seen_at: str, ends_at: str) -> None:
        """A login is used, and lasts longer for it."""
        table = schema.login
        values = {"seen_at": seen_at, "ends_at": ends_at}
        alive = (table.c.hash == findable(hash), table.c.ended_at.is_(None))
        self._store.act(lambda c: _change(c, table, values, *alive))

    def end_login(self, hash: str, event: Event) -> bool:
        """End a login at the event's time; False where it had ended, and nothing is logged."""
        table = schema.login
        alive = (table.c.hash == findable(hash), table.c.ended_at.is_(None))
        return self._write_if(lambda c: _change(c, table, {"ended_at": event.at}, *alive), event)

    def end_logins(self, account: str, event: Event, *, but: str | None = None) -> int:
        """End all logins of an account ``but`` the one of a hash; how many."""

        def work(connection: Connection) -> int:
            ended = _end_logins(connection, account, event.at, but)
            self._append(connection, event)
            return ended

        return self._store.act(work)

    def logins(self, account: str, now: str) -> list[Login]:
        """The logins of an account that still let in, the one seen last first."""
        table = schema.login
        wanted = select(table).where(
            table.c.account == findable(account), table.c.ended_at.is_(None), table.c.ends_at > now
        )
        return self._all(wanted.order_by(table.c.seen_at.desc(), table.c.hash), _login)

    # -- links

    def add_link(self, link: Link, event: Event) -> None:
        """A link; those made before for the same name are taken back."""
        row = _link_row(link)

        def work(connection: Connection) -> None:
            self._store.dialect.hold(connection, _LOG, alone=True)  # two at once take turns
            _take_back(connection, link.account, event.at)
            self._load(connection, schema.link, row)

        self._write(work, event)

    def link(self, hash: str) -> Link | None:
        """A link, used or not."""
        table = schema.link
        return self._first(select(table).where(table.c.hash == findable(hash)), _link)

    def links(self, study: int | None) -> list[Link]:
        """The links of a study (or those for passwords alone), the newest first."""
        table = schema.link
        wanted = select(table).where(table.c.study == study)
        return self._all(wanted.order_by(table.c.made_at.desc(), table.c.hash), _link)

    def use_link(
        self, hash: str, *, password: str | None, login: Login, event: Event
    ) -> Link | None:
        """Use a link up: the account is made or opened, its password set, and a login begins.

        The condition and the mark are one statement, so of two who use it at once one gets it.
        """
        table = schema.link
        good = (*_unused(table.c.hash == findable(hash)), table.c.ends_at > event.at)

        def work(connection: Connection) -> Link | None:
            if not _change(connection, table, {"used_at": event.at}, *good):
                return None
            found = connection.execute(select(table).where(table.c.hash == hash)).one()
            link = _link(tuple(found))
            self._open_account(connection, link.account, password, event.at)
            _end_logins(connection, link.account, event.at, None)
            self._load(connection, schema.login, _login_row(login))
            self._append(connection, event)
            return link

        return self._store.act(work)

    def take_back_link(self, hash: str, event: Event) -> bool:
        """End a link that was not used; False where there is nothing to end."""
        table = schema.link
        good = _unused(table.c.hash == findable(hash))
        values = {"taken_back_at": event.at}
        return self._write_if(lambda c: _change(c, table, values, *good), event)

    # -- tokens

    def add_token(self, token: Token, event: Event) -> None:
        """A token."""
        self._write(lambda c: self._load(c, schema.token, _token_row(token)), event)

    def token(self, hash: str) -> tuple[Token, Account] | None:
        """A token and whose it is, ended or not."""
        return self._with_account(schema.token, hash, _token)

    def tokens(self, account: str) -> list[Token]:
        """All tokens of an account, the newest first."""
        table = schema.token
        wanted = select(table).where(table.c.account == findable(account))
        return self._all(wanted.order_by(table.c.made_at.desc(), table.c.hash), _token)

    def touch_token(self, hash: str, used_at: str) -> None:
        """A token is used."""
        table = schema.token
        this = table.c.hash == findable(hash)
        self._store.act(lambda c: _change(c, table, {"used_at": used_at}, this))

    def end_token(self, account: str, hash: str, event: Event) -> bool:
        """End a token of an account; False where there is nothing to end."""
        table = schema.token
        alive = (
            table.c.hash == findable(hash),
            table.c.account == findable(account),
            table.c.ended_at.is_(None),
        )
        return self._write_if(lambda c: _change(c, table, {"ended_at": event.at}, *alive), event)

    # -- events

    def log(self, event: Event) -> None:
        """Append an event, numbered on from the last one."""
        self._store.act(lambda c: self._append(c, event))

    def events(
        self, after: int = 0, limit: int = 1000, *, kind: str | None = None, name: str | None = None
    ) -> list[Event]:
        """Events after a number, in the order of happening: of a kind, by or about somebody."""
        table = schema.event
        wanted = select(table).where(table.c.number > after, *_sought(kind, name))
        return self._all(wanted.order_by(table.c.number).limit(limit), _event)

    def last_events(
        self,
        limit: int = 100,
        *,
        kind: str | None = None,
        name: str | None = None,
        before: int | None = None,
    ) -> list[Event]:
        """The newest events, the last one first: of a kind, by or about somebody, before one."""
        table = schema.event
        wanted = select(table).where(*_sought(kind, name))
        if before is not None:
            wanted = wanted.where(table.c.number < before)
        return self._all(wanted.order_by(table.c.number.desc()).limit(limit), _event)

    def count_events(self, *, kind: str | None = None, name: str | None = None) -> int:
        """How many events there are."""
        wanted = select(func.count()).select_from(schema.event).where(*_sought(kind, name))
        return self._first(wanted, lambda row: int(row[0])) or 0

    # -- within a transaction

    def _write(self, work: Callable[[Connection], Any], event: Event | None) -> None:
        def both(connection: Connection) -> None:
            work(connection)
            if event is not None:
                self._append(connection, event)

        self._store.act(both)

    def _write_if(self, work: Callable[[Connection], int], event: Event) -> bool:
        """Tell of what was changed; where nothing was, nothing is told."""

        def both(connection: Connection) -> bool:
            if not work(connection):
                return False
            self._append(connection, event)
            return True

        return self._store.act(both)

    def _append(self, connection: Connection, event: Event) -> None:
        self._store.dialect.hold(connection, _LOG, alone=True)
        last = connection.execute(select(func.max(schema.event.c.number))).scalar() or 0
        self._load(connection, schema.event, _event_row(event, last + 1))

    def _load(self, connection: Connection, table: Table, row: Row) -> None:
        self._store.dialect.load(connection, table, [row])

    def _open_account(
        self, connection: Connection, name: str, password: str | None, at: str
    ) -> None:
        """The account of a name, made or opened again, with this password."""
        table = schema.account
        values = {"password": password, "closed_at": None}
        if not _change(connection, table, values, table.c.name == name):
            fresh = Account(name=name, password=password, created_at=at)
            self._load(connection, table, _account_row(fresh))

    def _first(self, wanted: Select[Any], record: Callable[[Row], T]) -> T | None:
        def work(connection: Connection) -> T | None:
            row = connection.execute(wanted).first()
            return None if row is None else record(tuple(row))

        return self._store.run(work, write=False)

    def _all(self, wanted: Select[Any], record: Callable[[Row], T]) -> list[T]:
        def work(connection: Connection) -> list[T]:
            return [record(tuple(row)) for row in connection.execute(wanted)]

        return self._store.run(work, write=False)

    def _with_account(
        self, table: Table, hash: str, record: Callable[[Row], T]
    ) -> tuple[T, Account] | None:
        wanted = select(table, schema.account).where(
            table.c.hash == findable(hash), schema.account.c.name == table.c.account
        )
        width = len(table.columns)
        return self._first(wanted, lambda row: (record(row[:width]), _account(row[width:])))


def _sought(kind: str | None, name: str | None) -> Iterable[ColumnElement[bool]]:
    """Events of a kind, and by somebody or about their account."""
    table = schema.event
    if kind is not None:
        yield table.c.kind == findable(kind)
    if name is not None:
        about = document({"account": findable(name)})[1:-1]
        # as JSON has it; replacing is told apart by case on both databases, which LIKE is not
        is_about = func.replace(table.c.body, about, "") != table.c.body
        yield or_(table.c.actor == findable(name), is_about)


def _change(
    connection: Connection, table: Table, values: Mapping[str, Any], *where: ColumnElement[bool]
) -> int:
    return connection.execute(update(table).where(*where).values(values)).rowcount


def _change_account(connection: Connection, name: str, **values: object) -> None:
    if not _change(connection, schema.account, values, schema.account.c.name == findable(name)):
        raise StoreError(f"there is no account {name}")


def _end_logins(connection: Connection, account: str, at: str, but: str | None) -> int:
    table = schema.login
    alive = [table.c.account == findable(account), table.c.ended_at.is_(None)]
    if but is not None:
        alive.append(table.c.hash != findable(but))
    return _change(connection, table, {"ended_at": at}, *alive)


def _unused(this: ColumnElement[bool]) -> Iterable[ColumnElement[bool]]:
    table = schema.link
    return (this, table.c.used_at.is_(None), table.c.taken_back_at.is_(None))


def _take_back(connection: Connection, account: str, at: str) -> None:
    mine = schema.link.c.account == findable(account)
    _change(connection, schema.link, {"taken_back_at": at}, *_unused(mine))


def _account_row(one: Account) -> Row:
    kept = (one.password, one.owner, one.created_at, one.closed_at, document(one.preferences))
    return without_nul((named(one.name, "account"), *kept))


def _account(row: Row) -> Account:
    name, password, owner, created_at, closed_at, preferences = row
    return Account(
        name=name,
        password=password,
        owner=bool(owner),
        created_at=created_at,
        closed_at=closed_at,
        preferences=json.loads(preferences),
    )


def _login_row(one: Login) -> Row:
    times = (one.made_at, one.seen_at, one.ends_at, one.ended_at)
    return without_nul((one.hash, one.account, *times, one.about))


def _login(row: Row) -> Login:
    hash_, account, made_at, seen_at, ends_at, ended_at, about = row
    return Login(
        hash=hash_,
        account=account,
        made_at=made_at,
        seen_at=seen_at,
        ends_at=ends_at,
        ended_at=ended_at,
        about=about,
    )


def _link_row(one: Link) -> Row:
    times = (one.made_at, one.ends_at, one.used_at, one.taken_back_at)
    return without_nul((one.hash, named(one.account, "account"), one.study, one.made_by, *times))


def _link(row: Row) -> Link:
    hash_, account, study, made_by, made_at, ends_at, used_at, taken_back_at = row
    return Link(
        hash=hash_,
        account=account,
        study=study,
        made_by=made_by,
        made_at=made_at,
        ends_at=ends_at,
        used_at=used_at,
        taken_back_at=taken_back_at,
    )


def _token_row(one: Token) -> Row:
    times = (one.made_at, one.ends_at, one.used_at, one.ended_at)
    return without_nul((one.hash, one.account, one.label, *times, one.may_write, one.administers))


def _token(row: Row) -> Token:
    hash_, account, label, made_at, ends_at, used_at, ended_at, may_write, administers = row
    return Token(
        hash=hash_,
        account=account,
        label=label,
        made_at=made_at,
        ends_at=ends_at,
        used_at=used_at,
        ended_at=ended_at,
        may_write=bool(may_write),
        administers=bool(administers),
    )


def _event_row(one: Event, number: int) -> Row:
    return without_nul((number, one.kind, one.actor, one.at, document(one.body)))


def _event(row: Row) -> Event:
    number, kind, actor, at, body = row
    return Event(kind=kind, actor=actor, at=at, body=json.loads(body), number=number)
