"""Where accounts are kept: the same on every kind of store, grouped or not, and in backups."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError
from tests.accounts.account_kit import GOOD, House
from tests.store.store_kit import a_study, at, begin
from tests.store.test_store_schema import picture, unopened

from calibrant.core.account import Account, Event, Link, Login, Token
from calibrant.core.errors import Doubled, StoreError
from calibrant.store import migrate
from calibrant.store.accounts import SqlAccounts
from calibrant.store.grouped import Grouped
from calibrant.store.open import open_store
from calibrant.store.restore import restore
from calibrant.store.sql import SqlStore

ANN = Account(name="ann", password="$argon2id$x", created_at=at(0), preferences={"theme": "dark"})
LOGIN = Login(hash="l1", account="ann", made_at=at(1), seen_at=at(1), ends_at=at(59), about="é")
LINK = Link(hash="k1", account="bea", study=None, made_by="ann", made_at=at(1), ends_at=at(59))
TOKEN = Token(hash="t1", account="ann", label="script", made_at=at(1), may_write=True)


def event(kind: str = "x", minute: int = 5) -> Event:
    return Event(kind=kind, actor="ann", at=at(minute), body={"n": 1})


@pytest.fixture(params=["plain", "grouped"])
def accounts(store: SqlStore, request: pytest.FixtureRequest) -> Iterator[SqlAccounts]:
    if request.param == "plain":
        yield SqlAccounts(store)
        return
    grouped = Grouped(store)
    yield SqlAccounts(grouped)
    grouped.close()


def test_what_is_kept_comes_back(accounts: SqlAccounts) -> None:
    accounts.add_account(ANN, event("made"))
    accounts.add_login(LOGIN)
    accounts.add_link(LINK, event("link"))
    accounts.add_token(TOKEN, event("token"))
    assert accounts.account("ann") == ANN
    assert accounts.accounts() == [ANN]
    assert accounts.login("l1") == (LOGIN, ANN)
    assert accounts.link("k1") == LINK
    assert accounts.token("t1") == (TOKEN, ANN)
    assert [one.kind for one in accounts.events()] == ["made", "link", "token"]
    assert accounts.events(after=1, limit=1) == [replace(event("link"), number=2)]
    assert [one.number for one in accounts.last_events(2)] == [3, 2]
    for odd in ("nobody", "", "\0", "half \ud800"):
        assert accounts.account(odd) is None
        assert accounts.login(odd) is None
        assert accounts.link(odd) is None
        assert accounts.token(odd) is None
        assert accounts.logins(odd, at(0)) == []


def test_a_change_and_its_event_are_both_kept_or_neither(accounts: SqlAccounts) -> None:
    accounts.add_account(ANN, event("made"))
    with pytest.raises(Doubled, match="account ann is there already") as caught:
        accounts.add_account(ANN, event("again"))
    assert "argon2" not in str(caught.value)
    with pytest.raises(StoreError, match="names something"):
        accounts.add_login(replace(LOGIN, account="nobody"), event("in"))
    with pytest.raises(StoreError, match="no account"):
        accounts.set_owner("nobody", True, event("owner"))
    with pytest.raises(StoreError, match="NUL"):
        accounts.add_token(replace(TOKEN, label="\0"), event("token"))
    with pytest.raises(StoreError, match="JSON"):
        accounts.log(replace(event(), body={"x": object()}))
    assert [one.kind for one in accounts.events()] == ["made"]


def test_logins_end(accounts: SqlAccounts) -> None:
    accounts.add_account(ANN, event())
    for number in range(1, 5):
        accounts.add_login(replace(LOGIN, hash=f"l{number}", seen_at=at(number)))
    assert [one.hash for one in accounts.logins("ann", at(10))] == ["l4", "l3", "l2", "l1"]
    assert accounts.logins("ann", at(59)) == []
    assert accounts.end_login("l4", event("out"))
    assert not accounts.end_login("l4", event("out"))
    accounts.touch_login("l4", seen_at=at(9), ends_at=at(59, 23))
    accounts.touch_login("l1", seen_at=at(9), ends_at=at(59, 23))
    ended, touched = accounts.login("l4"), accounts.login("l1")
    assert ended is not None and (ended[0].ended_at, ended[0].seen_at) == (at(5), at(4))
    assert touched is not None and touched[0].ends_at == at(59, 23)
    accounts.set_password("ann", "$new", event("password"), but="l2")
    assert [one.hash for one in accounts.logins("ann", at(10))] == ["l2"]
    accounts.rehash_password("ann", "$old", "$newer")
    accounts.rehash_password("ann", "$new", "$newest")
    changed = accounts.account("ann")
    assert changed is not None and changed.password == "$newest"
    assert accounts.end_logins("ann", event("all")) == 1
    assert [one.kind for one in accounts.events()] == ["x", "out", "password", "all"]


def test_closing_ends_everything(accounts: SqlAccounts) -> None:
    accounts.add_account(ANN, event())
    accounts.add_login(LOGIN)
    accounts.add_token(TOKEN, event())
    accounts.add_link(replace(LINK, account="ann"), event())
    accounts.close_account("ann", event("closed", 7))
    account, link = accounts.account("ann"), accounts.link("k1")
    assert account is not None and account.closed_at == at(7)
    assert link is not None and link.taken_back_at == at(7)
    assert accounts.logins("ann", at(8)) == []
    assert [one.ended_at for one in accounts.tokens("ann")] == [at(7)]


def test_links_belong_to_studies(accounts: SqlAccounts, store: SqlStore) -> None:
    study = store.write(lambda tx: tx.add_study(a_study()))
    accounts.add_link(LINK, event())
    accounts.add_link(replace(LINK, hash="k2", account="cia", study=study), event())
    assert [one.hash for one in accounts.links(study)] == ["k2"]
    assert [one.hash for one in accounts.links(None)] == ["k1"]
    with pytest.raises(StoreError, match="names something"):
        accounts.add_link(replace(LINK, hash="k3", account="dia", study=999), event())


@pytest.mark.parametrize(
    "change", ["UPDATE event SET body = '{}'", "DELETE FROM event", "UPDATE event SET number = 9"]
)
def test_the_log_is_kept_as_it_is(store: SqlStore, change: str) -> None:
    accounts = SqlAccounts(store)
    accounts.log(event())
    with pytest.raises((DBAPIError, StoreError), match="kept as they are"):
        store.run(lambda c: c.exec_driver_sql(change), write=True)
    assert accounts.events() == [replace(event(), number=1)]
    assert store.doctor() == []
    if store.dialect.name == "sqlite":
        again = "INSERT OR REPLACE INTO event SELECT number, 'y', actor, at, body FROM event"
        with pytest.raises((DBAPIError, StoreError), match="kept already"):
            store.run(lambda c: c.exec_driver_sql(again), write=True)
        store.run(lambda c: c.exec_driver_sql("DROP TRIGGER event_no_delete"), write=True)
        assert "event_no_delete" in store.doctor()[0]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_holds_accounts_and_lets_nobody_in(
    store: SqlStore, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    house = House(store)
    secret = house.owner()
    house.links.invite("ann", None, by="olga")
    token = house.tokens.make("olga", "script", may_write=True, days=None)
    path = tmp_path / "backup.db"
    store.backup(path)
    with closing(sqlite3.connect(path)) as copy:
        for table in ("login", "link"):
            assert copy.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    entered = house.door.visitor(secret)
    assert entered is not None
    assert entered.login.hash.encode() not in path.read_bytes(), "not in a free page either"
    assert not list(tmp_path.glob("*backup.db-*"))
    if kind == "sqlite":
        place = str(tmp_path / "restored.db")
    else:
        taken = "postgres" in request.node.callspec.params["store_place"]
        place = request.getfixturevalue("second_postgres_place" if taken else "postgres_place")
    restore(place, path)
    restored = open_store(place)
    there = House(restored)
    assert there.accounts.accounts() == house.accounts.accounts()
    assert there.accounts.events() == house.accounts.events()
    assert there.door.visitor(secret) is None
    assert there.tokens.visitor(token) is not None
    there.door.enter("olga", GOOD)
    assert restored.doctor() == []
    restored.close()
    with pytest.raises(StoreError, match="is not empty"):
        restore(place, path)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_database_of_the_first_version_is_upgraded(
    kind: str, request: pytest.FixtureRequest
) -> None:
    place = str(request.getfixturevalue(f"{kind}_place"))
    if kind == "sqlite":
        Path(place).touch(0o600)
    old = unopened(place)
    old.run(lambda c: migrate.run_migrations(c, to="0001"), write=True)
    old.write(begin)
    before = old.run(picture, write=False)
    assert "account" not in before["tables"]
    old.close()
    store = open_store(place)
    house = House(store)
    house.owner()
    assert store.read(lambda tx: tx.study("pilot")) == (1, a_study())
    assert store.doctor() == []
    after = store.run(picture, write=False)
    for name, table in before["tables"].items():
        now = after["tables"][name]
        assert set(table.pop("indices")) <= set(now.pop("indices"))
        assert now == table
    store.close()
    if kind == "sqlite":
        kept = unopened(f"{place}.version-0001")
        assert kept.run(picture, write=False)["rest"] == before["rest"]
        kept.close()
