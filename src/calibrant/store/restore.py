"""Bringing a backup back into an empty database of either kind."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, select

from calibrant.core.errors import StoreError
from calibrant.store import schema
from calibrant.store.backup import table_rows
from calibrant.store.dialect import Sqlite
from calibrant.store.open import open_store
from calibrant.store.sql import SqlStore
from calibrant.store.trouble import sentence

_NEXT_STUDY = (
    "SELECT setval(pg_get_serial_sequence('study', 'id'), "
    "coalesce((SELECT max(id) FROM study), 1), (SELECT count(*) > 0 FROM study))"
)


def restore(place: str, backup_path: Path) -> None:
    """Fill the database at a place, made where there is none, with what a backup holds.

    The backup is checked first and never changed. Logins and links are not in it: everybody signs
    in anew. A database that holds anything is refused.
    Either everything is there afterwards, or the database is as empty as before.
    """
    path = Path(backup_path)
    check(path)
    with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
        copy = Path(folder) / "backup.db"
        shutil.copyfile(path, copy)
        source = open_store(str(copy))  # brings an old backup up to this version
        target = open_store(place, create=True)
        try:
            source.run(lambda here: _fill(here, target), write=False)
        finally:
            source.close()
            target.close()


def check(path: Path) -> None:
    """Raise ``StoreError`` unless a backup can be read and is whole."""
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as backup:
            found = backup.execute("PRAGMA integrity_check(1)").fetchone()[0]
            loose = backup.execute("PRAGMA foreign_key_check").fetchone()
            kept = backup.execute("SELECT name FROM sqlite_master WHERE name = 'rating'").fetchone()
    except sqlite3.Error as error:
        raise StoreError(sentence(error, str(path))) from error
    if found != "ok" or loose is not None:
        raise StoreError(f"{path}: the backup is damaged; take an older one")
    if kept is None:
        raise StoreError(f"{path}: is not a backup of calibrant; name another file")


def _fill(source: Connection, target: SqlStore) -> None:
    def fill(there: Connection) -> None:
        target.dialect.lock_schema(there)
        for table in (schema.study, schema.rubric, *schema.WORKSPACE):
            if there.execute(select(table).limit(1)).first() is not None:
                raise StoreError(f"{target.place}: is not empty; name a new database")
        for table in schema.TABLES + schema.WORKSPACE:
            with closing(table_rows(source, table)) as rows:
                target.dialect.load(there, table, rows)
        if not isinstance(target.dialect, Sqlite):
            there.exec_driver_sql(_NEXT_STUDY)

    target.run(fill, write=True)
