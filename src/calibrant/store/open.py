"""Opening the place where studies are kept, and making it when it is asked for.

A place is a path, ``sqlite:///path``, ``:memory:`` or the address of a PostgreSQL database. Files
are made so that nobody else can read them. A database of an older version is brought up to this
one; one of a newer version is left alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import URL, Connection, inspect, make_url, text
from sqlalchemy.exc import ArgumentError

from calibrant.core.errors import StoreError
from calibrant.store import schema, triggers
from calibrant.store.dialect import Dialect, Postgres, Sqlite
from calibrant.store.sql import PATIENCE, SqlStore

OPENING = 5.0
"""Seconds for which a server that cannot be reached is asked again."""
OLDEST_SERVER = 15
_SERVERS = ("postgresql", "postgres", "postgresql+psycopg")
_VERSION_DDL = (
    f"CREATE TABLE {schema.VERSION_TABLE} (version_num VARCHAR(32) NOT NULL, "
    f"CONSTRAINT {schema.VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
)


def open_store(place: str, *, create: bool = False, patience: float | None = None) -> SqlStore:
    """The store at a place.

    ``create`` makes it where there is none; what is there already is opened as it is. Raises
    ``StoreError`` where there is nothing, where something else is, and where it cannot be used.
    ``patience`` is how many seconds trouble that passes is waited out, also while opening.
    """
    dialect, shown = read_place(place)
    if isinstance(dialect, Sqlite) and dialect.path is not None:
        _prepare_file(dialect.path, create=create)
    store = SqlStore(dialect, shown, patience=PATIENCE if patience is None else patience)
    create = create or (isinstance(dialect, Sqlite) and dialect.path is None)
    try:
        _ready(store, create, OPENING if patience is None else patience)
    except BaseException:
        store.close()
        raise
    return store


def read_place(place: str) -> tuple[Dialect, str]:
    """What kind of database a place is, and how to write it without its password."""
    if place in {":memory:", "sqlite://", "sqlite:///:memory:"}:
        return Sqlite(None), ":memory:"
    head, sign, rest = place.partition("://")
    if not sign:
        return Sqlite(Path(place)), place
    if head == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return Sqlite(Path(rest[1:])), rest[1:]
    if head not in _SERVERS:
        raise StoreError(
            f"{head}://…: a place is a path, sqlite:///path, :memory: or postgresql://…"
        )
    try:
        url = make_url(f"postgresql://{rest}")
    except (ArgumentError, ValueError):
        raise StoreError(
            "the address cannot be read; it looks like postgresql://user:password@host:5432/name"
        ) from None
    return Postgres(url), _shown(url)


def make_tables(connection: Connection) -> None:
    """All tables, triggers and the version, in an empty database."""
    schema.metadata.create_all(connection, checkfirst=False)
    for statement in triggers.statements(connection.dialect.name):
        connection.exec_driver_sql(statement.replace("%", "%%"))
    connection.exec_driver_sql(_VERSION_DDL)
    stamp = f"INSERT INTO {schema.VERSION_TABLE} VALUES ('{schema.VERSION}')"  # noqa: S608
    connection.exec_driver_sql(stamp)


def version(connection: Connection, place: str) -> str | None:
    """The version of the tables, or None where there are none of calibrant's."""
    tables = set(inspect(connection).get_table_names())
    if schema.VERSION_TABLE in tables and "study" in tables:
        asked = text(f"SELECT version_num FROM {schema.VERSION_TABLE}")  # noqa: S608
        return connection.execute(asked).scalar()
    strangers = tables if connection.dialect.name == "sqlite" else tables & _names()
    if strangers:
        raise StoreError(f"{place}: holds the tables of another program; name another database")
    return None


def _names() -> set[str]:
    return {schema.VERSION_TABLE, *schema.metadata.tables}


def _shown(url: URL) -> str:
    """Without the password, and without the options, which can hold one too."""
    return url.set(drivername="postgresql", password=None, query={}).render_as_string()


def _prepare_file(path: Path, *, create: bool) -> None:
    """A new file that only its owner can read, or a sentence on why there is none."""
    if path.is_dir():
        raise StoreError(f"{path}: is a folder; name a file")
    if path.exists():
        return
    if not create:
        raise StoreError(f"{path}: there is no database; look at the path, or make one there")
    if not path.parent.is_dir():
        raise StoreError(f"{path}: the folder {path.parent} does not exist; make it first")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreError(f"{path}: the file cannot be made: {error.strerror}") from error


def _ready(store: SqlStore, create: bool, patience: float) -> None:
    """Look at the version; make or upgrade the tables where that is what it takes."""
    found = store.run(lambda c: _look(c, store.place), write=False, patience=patience)
    if found is None and create:
        store.run(lambda c: _make_once(store, c), write=True, patience=patience)
    elif found is None:
        raise StoreError(f"{store.place}: the database is empty; make the tables of calibrant")
    elif not found.isdigit() or found > schema.VERSION:
        raise StoreError(
            f"{store.place}: was made by a newer calibrant (its version is {found[:40]}, this "
            f"program knows {schema.VERSION}); install the newer one"
        )
    elif found < schema.VERSION:
        from calibrant.store.migrate import upgrade

        upgrade(store)


def _look(connection: Connection, place: str) -> str | None:
    if connection.dialect.name == "postgresql":
        number = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one())
        if number < OLDEST_SERVER * 10_000:
            raise StoreError(
                f"{place}: the server is older than PostgreSQL {OLDEST_SERVER}; upgrade it"
            )
        if connection.exec_driver_sql("SHOW server_encoding").scalar_one() != "UTF8":
            raise StoreError(f"{place}: keeps no UTF-8; make a database with ENCODING 'UTF8'")
    return version(connection, place)


def _make_once(store: SqlStore, connection: Connection) -> None:
    store.dialect.lock_schema(connection)
    if version(connection, store.place) is None:
        make_tables(connection)
