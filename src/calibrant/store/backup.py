"""Copying a whole database into a file, as of one moment, while others go on writing.

A backup is always a SQLite file of calibrant, whatever it was taken from, and appears under its
name only when it is whole. Nothing is ever written over. Logins and invitation links are left
out: they let somebody in for a while, and a backup lets nobody in.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Table, select

from calibrant.core.errors import StoreError
from calibrant.store import schema
from calibrant.store.dialect import PART, Sqlite
from calibrant.store.rows import Row
from calibrant.store.sql import SqlStore
from calibrant.store.trouble import sentence


def back_up(store: SqlStore, path: Path) -> None:
    """Copy everything into a new file; raises ``StoreError`` and leaves none where it cannot."""
    if path.exists():
        raise StoreError(f"{path}: is there already; name a file that is not")
    if not path.parent.is_dir():
        raise StoreError(f"{path}: the folder {path.parent} does not exist; make it first")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
    except OSError as error:
        raise StoreError(f"{path}: the file cannot be made: {error.strerror}") from error
    part = Path(name)
    try:
        if isinstance(store.dialect, Sqlite):
            store.run(lambda connection: _copy_pages(connection, part), write=False)
        else:
            store.run(lambda connection: _copy_tables(connection, part), write=False)
        _settle(part)
        part.replace(path)
        _settle(path.parent)
    except sqlite3.Error as error:
        raise StoreError(sentence(error, str(path))) from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        for end in ("", "-journal", "-wal", "-shm"):
            Path(f"{part}{end}").unlink(missing_ok=True)


def table_rows(connection: Connection, table: Table) -> Generator[Row, None, None]:
    """Every row of a table, a part at a time, by its key."""
    wanted = select(table).order_by(*schema.key_columns(table))
    options = {"stream_results": True, "max_row_buffer": PART}
    with connection.execute(wanted, execution_options=options) as result:
        for part in result.partitions(PART):
            yield from map(tuple, part)


def _copy_pages(connection: Connection, part: Path) -> None:
    """All pages in one step, so that writers cannot make it begin again."""
    source = connection.connection.driver_connection
    assert isinstance(source, sqlite3.Connection)
    with closing(sqlite3.connect(part, isolation_level=None)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE").fetchall()
        target.execute("PRAGMA secure_delete = ON").fetchall()
        there = {name for (name,) in target.execute("SELECT name FROM sqlite_master")}
        for table in schema.PASSING:
            if table.name in there:  # an older version may have none
                target.execute(f"DELETE FROM {table.name}")  # noqa: S608 - names of the schema


def _copy_tables(connection: Connection, part: Path) -> None:
    """All rows of one snapshot, table by table."""
    from calibrant.store.open import make_tables

    part.write_bytes(b"")  # an earlier run may have been broken off
    copy = SqlStore(Sqlite(part), str(part), patience=0)

    def fill(target: Connection) -> None:
        make_tables(target)
        for table in schema.TABLES + schema.WORKSPACE:
            with closing(table_rows(connection, table)) as rows:
                copy.dialect.load(target, table, rows)

    try:
        copy.run(fill, write=True)
    finally:
        copy.close()
    with closing(sqlite3.connect(part, isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode = DELETE").fetchall()


def _settle(path: Path) -> None:
    """Wait until the disk has it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
