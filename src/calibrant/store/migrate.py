"""Bringing the tables of an older version up to this one, by Alembic and without its ini file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from calibrant.core.errors import StoreError
from calibrant.store import schema
from calibrant.store.dialect import Sqlite
from calibrant.store.sql import SqlStore

FOLDER = Path(__file__).parent / "migrations"


def upgrade(store: SqlStore, folder: Path = FOLDER) -> None:
    """Upgrade a database once, however many open it; a SQLite file is backed up beside it first.

    All steps are one transaction: a database is of the old version or of the new one.
    """
    from calibrant.store.backup import back_up
    from calibrant.store.open import version

    before = store.run(lambda c: version(c, store.place), write=False)
    if isinstance(store.dialect, Sqlite) and store.dialect.path is not None:
        path = store.dialect.path
        kept = path.with_name(f"{path.name}.version-{before}")
        if not kept.exists():
            try:
                back_up(store, kept)
            except StoreError:
                if not kept.exists():  # another opener may have made it
                    raise

    def once(connection: Connection) -> None:
        store.dialect.lock_schema(connection)
        there = version(connection, store.place)
        if there is not None and there < schema.VERSION:
            run_migrations(connection, folder)

    store.run(once, write=True)


def run_migrations(connection: Connection, folder: Path = FOLDER, to: str = "head") -> None:
    """Run the steps that are missing, within the connection's transaction."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(folder))

    def steps(revision: Any, _: object) -> Any:
        return script._upgrade_revs(to, revision)

    with EnvironmentContext(Config(), script) as environment:
        environment.configure(
            connection=connection,
            target_metadata=schema.metadata,
            version_table=schema.VERSION_TABLE,
            transactional_ddl=True,
            fn=steps,
        )
        environment.run_migrations()
