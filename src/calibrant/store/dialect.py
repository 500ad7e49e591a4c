"""What differs between SQLite and PostgreSQL: connecting, beginning, loading in bulk, listing.

Everything else of the store is the same statements on both. (Their triggers are written in
``triggers``, their errors told apart in ``trouble``.)
"""

from __future__ import annotations

import json
import logging
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import count, islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from sqlalchemy import (
    URL,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Table,
    Text,
    any_,
    bindparam,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy.pool import QueuePool, StaticPool

from calibrant.core.errors import Doubled, StoreError
from calibrant.store.rows import Row, described
from calibrant.store.schema import names
from calibrant.store.trouble import driver_error, is_doubled, is_refused_row, why_refused

BUSY_MS = 10_000
"""How long SQLite itself waits for a lock before the store tries again."""
KEPT = 40
"""Connections to a file that stay open: as many as a server has threads."""
SERVED = 20
"""Connections to a server at most; they stay open, as opening one takes longer than using it."""
PART = 20_000
"""Rows loaded or fetched at a time."""
UNKNOWN = 200
"""Rows from which on it matters how PostgreSQL looks for one of them."""
CREATING = 0x63616C69
"""The lock of PostgreSQL under which tables are made or changed."""
_SIGNING = """
    INSERT INTO act (name, done_at)
    VALUES (:act, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
    ON CONFLICT DO NOTHING
"""
HOLDING = 7_241
"""The first half of the lock of a study; its number is the second."""
PRAGMAS = (
    f"busy_timeout = {BUSY_MS}",
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",  # what is redacted does not stay in free pages
    "trusted_schema = OFF",
    "cache_size = -16000",
)
_WRITES = "calibrant_writes"
Among: TypeAlias = Callable[[Column[Any], str], ColumnElement[bool]]
"""Makes the condition that a column holds one of the texts bound to a name."""
_numbers = count(1)


class Dialect(Protocol):
    """One kind of database."""

    name: str
    goes_on: bool
    """Whether a transaction can go on after a statement that was refused."""
    nests_writing: bool
    """Whether a statement that writes can hold another that does."""

    def engine(self) -> Engine:
        """Connections to it, not opened yet."""

    def options(self, *, write: bool) -> dict[str, Any]:
        """How a connection begins its transaction."""

    def load(self, connection: Connection, table: Table, rows: Iterable[Row]) -> int:
        """Rows of all columns in their order, as fast as the database takes them; how many."""

    def cursor(self, connection: Connection) -> Any:
        """A cursor of the driver, which fetches plain tuples as they are asked for."""

    @staticmethod
    def among(column: Column[Any], name: str) -> ColumnElement[bool]:
        """Whether a column holds one of any number of texts, which are bound to that name."""

    def listed(self, values: Collection[str]) -> Any:
        """Texts, as they are bound to it."""

    def lock_schema(self, connection: Connection) -> None:
        """Keep everybody else from making or changing tables until the transaction ends."""

    def hold(self, connection: Connection, study: int, *, alone: bool) -> None:
        """Keep others from writing to a study alone, or at all, until the transaction ends."""

    def sign(self, connection: Connection, act: str) -> bool:
        """Leave the name of an act; False where it has been done, which nobody heard of."""

    def trigger_names(self, connection: Connection) -> frozenset[str]:
        """The triggers that are there and at work."""

    def yesterday(self, connection: Connection) -> str:
        """The moment one day ago by the database's own clock, as records keep it."""

    def forget(self, engine: Engine) -> None:
        """Let nothing of emptied words stay beside the tables, as far as this can be done."""

    def learn(self, engine: Engine, loaded: Mapping[str, int]) -> None:
        """Hear of rows that were committed, by table: plans should fit the size of tables."""


class Sqlite:
    """A file, or memory."""

    name = "sqlite"
    goes_on = True
    nests_writing = False

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def engine(self) -> Engine:
        """Many connections to a file, or the only one to memory."""
        pool: dict[str, Any] = {"poolclass": StaticPool}
        if self.path is not None:
            pool = {"poolclass": QueuePool, "pool_size": KEPT, "max_overflow": -1}
            pool |= {"pool_use_lifo": True}  # a few are used mostly, and have pages at hand
        engine = create_engine(
            URL.create("sqlite+pysqlite"), creator=self.connect, hide_parameters=True, **pool
        )
        event.listen(engine, "begin", _begin)
        return engine

    def connect(self) -> sqlite3.Connection:
        """A connection that begins nothing by itself; a missing file is not made."""
        where = ":memory:" if self.path is None else f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(
            where, uri=True, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def options(self, *, write: bool) -> dict[str, Any]:
        """Writers wait at the door, so none of them has to turn round half-way."""
        return {_WRITES: write}

    def load(self, connection: Connection, table: Table, rows: Iterable[Row]) -> int:
        """Handed to the driver row by row; it stops at the one that is refused."""
        last: Row = ()

        def watched() -> Iterator[Row]:
            nonlocal last
            for last in rows:  # noqa: UP028 - the name is what this is for
                yield last

        cursor = connection.connection.cursor()
        try:
            cursor.executemany(_insert(table), watched())  # type: ignore[arg-type]
            return max(cursor.rowcount, 0)
        except (sqlite3.IntegrityError, OverflowError, UnicodeEncodeError) as error:
            raise refusal(error, table, last) from error
        finally:
            cursor.close()

    def cursor(self, connection: Connection) -> Any:
        """Every cursor is one that fetches as it is asked."""
        return connection.connection.cursor()

    @staticmethod
    def among(column: Column[Any], name: str) -> ColumnElement[bool]:
        """The texts go as one list, however many they are."""
        listed = func.json_each(bindparam(name, type_=Text)).table_valued("value")
        return column.in_(select(listed.c.value))

    def listed(self, values: Collection[str]) -> str:
        """As one JSON text."""
        return json.dumps(list(values))

    def lock_schema(self, connection: Connection) -> None:
        """Whoever writes is alone already."""

    def hold(self, connection: Connection, study: int, *, alone: bool) -> None:
        """Whoever writes is alone already."""

    def sign(self, connection: Connection, act: str) -> bool:
        """Whoever commits to a file hears of it."""
        return True

    def trigger_names(self, connection: Connection) -> frozenset[str]:
        """As the file lists them."""
        found = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        return frozenset(found.scalars())

    def yesterday(self, connection: Connection) -> str:
        """By the clock of this machine."""
        asked = "SELECT strftime('%Y-%m-%dT%H:%M:%S.000000Z', 'now', '-1 day')"
        return str(connection.exec_driver_sql(asked).scalar_one())

    def forget(self, engine: Engine) -> None:
        """Empty the write-ahead log, unless somebody still reads from it."""
        with engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert isinstance(raw, sqlite3.Connection)
            try:
                raw.execute("PRAGMA busy_timeout = 0")
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                raw.execute(f"PRAGMA busy_timeout = {BUSY_MS}")

    def learn(self, engine: Engine, loaded: Mapping[str, int]) -> None:
        """It plans by its indices alone, large or small."""


class Postgres:
    """A database on a server."""

    name = "postgresql"
    goes_on = False
    nests_writing = True

    def __init__(self, url: URL) -> None:
        self.url = url.set(drivername="postgresql+psycopg")
        self._known: Counter[str] = Counter()
        self._fresh: Counter[str] = Counter()

    def engine(self) -> Engine:
        """Connections that are made when they are needed, and kept."""
        defaults = {
            "connect_timeout": 10,
            "application_name": "calibrant",
            "client_encoding": "utf8",
        }
        try:
            engine = create_engine(
                self.url,
                isolation_level="READ COMMITTED",
                hide_parameters=True,
                pool_size=SERVED,
                max_overflow=0,
                pool_use_lifo=True,
                connect_args={k: v for k, v in defaults.items() if k not in self.url.query},
            )
        except ImportError as error:
            raise StoreError(
                "PostgreSQL needs the package psycopg; install calibrant[postgres]"
            ) from error
        logging.getLogger("psycopg").addHandler(logging.NullHandler())  # trouble is told by us
        event.listen(engine, "connect", _be_durable)
        return engine

    def options(self, *, write: bool) -> dict[str, Any]:
        """Readers see one moment throughout; writers see what is committed, and lock."""
        if write:
            return {}
        return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}

    def load(self, connection: Connection, table: Table, rows: Iterable[Row]) -> int:
        """By COPY, a part at a time, so that the refused row can be named."""
        rows, loaded = iter(rows), 0
        raw: Any = connection.connection.driver_connection
        while part := list(islice(rows, PART)):
            try:
                if len(part) == 1:  # to begin a COPY takes longer than one row
                    raw.execute(_insert(table, "%s"), part[0])
                else:
                    with raw.cursor() as cursor, cursor.copy(_copy(table)) as copy:
                        for row in part:
                            copy.write_row(row)
            except Exception as error:
                if is_doubled(error) or is_refused_row(error):
                    raise refusal(error, table, _copied(error, part)) from error
                raise
            loaded += len(part)
        return loaded

    def cursor(self, connection: Connection) -> Any:
        """One that the server keeps, under a name that no other has."""
        raw: Any = connection.connection.driver_connection
        return raw.cursor(name=f"calibrant_{next(_numbers)}")

    @staticmethod
    def among(column: Column[Any], name: str) -> ColumnElement[bool]:
        """The texts go as one array, however many they are."""
        from sqlalchemy.dialects.postgresql import ARRAY

        return column == any_(bindparam(name, type_=ARRAY(Text)))

    def listed(self, values: Collection[str]) -> list[str]:
        """As one array."""
        return list(values)

    def lock_schema(self, connection: Connection) -> None:
        """By a lock of its own, as there may be no table to lock yet."""
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({CREATING})")

    def hold(self, connection: Connection, study: int, *, alone: bool) -> None:
        """By a lock of its own for each study, shared by those who write beside others."""
        lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        connection.exec_driver_sql(f"SELECT {lock}({HOLDING}, {int(study)})")

    def sign(self, connection: Connection, act: str) -> bool:
        """By a row of its own; one that is being left by a lost connection is waited for."""
        if act.startswith("00"):  # now and then those go that nobody will ask for any more
            old = {"then": self.yesterday(connection)}
            connection.execute(text("DELETE FROM act WHERE done_at < :then"), old)
        left = connection.execute(text(_SIGNING), {"act": act})
        return left.rowcount == 1

    def trigger_names(self, connection: Connection) -> frozenset[str]:
        """As the server lists them, without those that are switched off."""
        found = connection.exec_driver_sql(
            "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
            "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') "
            "AND relnamespace = current_schema()::regnamespace"
        )
        return frozenset(found.scalars())

    def yesterday(self, connection: Connection) -> str:
        """By the clock of the server."""
        asked = (
            "SELECT to_char((now() - interval '1 day') AT TIME ZONE 'UTC', "
            """'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
        )
        return str(connection.exec_driver_sql(asked).scalar_one())

    def forget(self, engine: Engine) -> None:
        """The server clears old rows away in its own time (VACUUM)."""

    def learn(self, engine: Engine, loaded: Mapping[str, int]) -> None:
        """Have tables looked at that have doubled since.

        Of a table it has not looked at the server thinks that any few conditions leave one row,
        so it finds a row by whatever index names its study. It looks by itself once a minute, in
        which a study can be planned and half rated.
        """
        self._fresh.update(loaded)
        for name in loaded:
            if self._fresh[name] >= max(UNKNOWN, self._known[name]):
                self._known[name] += self._fresh.pop(
                    name, 0
                )  # another thread may have been quicker
                with engine.begin() as connection:
                    connection.exec_driver_sql(f"ANALYZE (SKIP_LOCKED) {name}")


def refusal(error: BaseException, table: Table, row: Row) -> StoreError:
    """Why the database did not take a row."""
    what = described(table.name, row) if row else table.name
    if is_doubled(error):
        return Doubled(f"{what} is there already")
    return StoreError(f"{what} {why_refused(error)}")


@cache
def _insert(table: Table, sign: str = "?") -> str:
    columns = names(table)
    signs = ", ".join([sign] * len(columns))
    return f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({signs})"  # noqa: S608


@cache
def _copy(table: Table) -> str:
    return f"COPY {table.name} ({', '.join(names(table))}) FROM STDIN"


def _copied(error: BaseException, part: list[Row]) -> Row:
    """The row at which COPY stopped, where the server tells its line."""
    told = getattr(getattr(driver_error(error), "diag", None), "context", None) or ""
    found = re.search(r"COPY \w+\D+(\d+)", told)
    line = int(found[1]) if found else 0
    return part[line - 1] if 0 < line <= len(part) else part[0] if len(part) == 1 else ()


def _begin(connection: Connection) -> None:
    """Begin where the driver would not: at once for writers, at the first look for readers."""
    writes = connection.get_execution_options().get(_WRITES, True)
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _be_durable(raw: Any, _: object) -> None:
    """A commit is on the disk when it is acknowledged, whatever the server's habit is."""
    before, raw.autocommit = raw.autocommit, True
    if raw.execute("SHOW synchronous_commit").fetchone()[0] == "off":
        raw.execute("SET synchronous_commit TO on")
    raw.autocommit = before
