"""A migrated database equals a fresh one; older ones are upgraded, newer ones left alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect
from tests.store.store_kit import a_study, begin

from calibrant.core.errors import StoreError
from calibrant.store import migrate, schema, triggers
from calibrant.store.open import open_store, read_place
from calibrant.store.sql import SqlStore

TRIGGERS_OF_POSTGRES = """
    SELECT tgname, pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger
    JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace ORDER BY tgname
"""
OTHERS_OF_POSTGRES = """
    SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = current_schema()::regnamespace
    UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
    UNION ALL SELECT proname, prosrc FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace
    UNION ALL SELECT table_name || '.' || column_name,
        concat_ws(' ', data_type, collation_name, is_nullable, column_default)
        FROM information_schema.columns WHERE table_schema = current_schema()
    ORDER BY 1, 2
"""


def picture(connection: Connection) -> dict[str, Any]:
    """Everything that makes up a schema, without the order of making it."""
    look = inspect(connection)
    tables: dict[str, Any] = {}
    for table in look.get_table_names():
        tables[table] = {
            "columns": [
                (c["name"], str(c["type"]), c["nullable"], c["default"])
                for c in look.get_columns(table)
            ],
            "primary": look.get_pk_constraint(table),
            "foreign": _sorted(look.get_foreign_keys(table)),
            "unique": _sorted(look.get_unique_constraints(table)),
            "checks": _sorted(look.get_check_constraints(table)),
            "indices": sorted(str(one["name"]) for one in look.get_indexes(table)),
        }
    if connection.dialect.name == "sqlite":
        asked = (
            "SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') ORDER BY name"
        )
        return {"tables": tables, "rest": connection.exec_driver_sql(asked).all()}
    return {
        "tables": tables,
        "triggers": connection.exec_driver_sql(TRIGGERS_OF_POSTGRES).all(),
        "rest": connection.exec_driver_sql(OTHERS_OF_POSTGRES).all(),
    }


def _sorted(found: Any) -> list[Any]:
    return sorted(found, key=lambda one: str(one.get("name")))


def unopened(place: str) -> SqlStore:
    dialect, shown = read_place(place)
    return SqlStore(dialect, shown, patience=5)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_migrated_database_equals_a_fresh_one(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if kind == "sqlite":
        places = [":memory:", ":memory:"]
    else:
        names = ("postgres_place", "second_postgres_place")
        places = [request.getfixturevalue(name) for name in names]
    fresh, migrated = open_store(places[0], create=True), unopened(places[1])
    migrated.run(migrate.run_migrations, write=True)
    one, other = (store.run(picture, write=False) for store in (fresh, migrated))
    assert one == other
    assert set(one["tables"]) == {*schema.metadata.tables, schema.VERSION_TABLE}
    for store in (fresh, migrated):
        assert triggers.trigger_names(store.dialect.name) == store.run(
            store.dialect.trigger_names, write=False
        )
        assert store.doctor() == []
        store.write(begin)
        store.close()


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the program were one version further."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions/m0005_next.py").write_text(
        "import sqlalchemy as sa\n"
        "from alembic import op\n"
        "revision, down_revision, branch_labels, depends_on = '0005', '0004', None, None\n"
        "def upgrade():\n"
        "    op.add_column('study', sa.Column('mood', sa.Text))\n"
        "    op.execute(sa.text(\"UPDATE study SET mood = 'fair'\"))\n"
    )
    monkeypatch.setattr(schema, "VERSION", "0005")
    upgrade = migrate.upgrade
    monkeypatch.setattr(migrate, "upgrade", lambda store: upgrade(store, folder))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_older_database_is_upgraded_once_by_many_openers(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place = str(request.getfixturevalue(f"{kind}_place"))
    before = open_store(place, create=True)
    before.write(begin)
    before.close()
    request.getfixturevalue("next_version")
    faults: list[BaseException] = []

    def open_it() -> None:
        try:
            store = open_store(place)
            assert store.read(lambda r: r.study("pilot")) is not None
            store.close()
        except BaseException as fault:
            faults.append(fault)

    openers = [threading.Thread(target=open_it) for _ in range(4)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    assert faults == []
    store = unopened(place)
    asked = "SELECT mood, version_num FROM study, alembic_version"
    assert store.run(lambda c: c.exec_driver_sql(asked).all(), write=False) == [("fair", "0005")]
    store.close()
    if kind == "sqlite":
        kept = unopened(f"{place}.version-0004")
        assert kept.run(lambda c: picture(c)["tables"]["study"]["columns"], write=False)
        assert kept.read(lambda r: r.study("pilot")) == (1, a_study())
        kept.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_newer_database_is_left_alone(kind: str, request: pytest.FixtureRequest) -> None:
    place = str(request.getfixturevalue(f"{kind}_place"))
    store = open_store(place, create=True)
    store.write(begin)

    def stamp(version: str) -> None:
        change = f"UPDATE alembic_version SET version_num = '{version}'"
        store.run(lambda c: c.exec_driver_sql(change), write=True)

    for version in ("0999", "a1b2c3"):
        stamp(version)
        for create in (False, True):
            with pytest.raises(StoreError, match=f"newer calibrant.*{version}"):
                open_store(place, create=create)
    assert "version a1b2c3" in store.doctor()[0]
    stamp(schema.VERSION)
    store.close()
    again = open_store(place)
    assert again.read(lambda r: r.study("pilot")) == (1, a_study())
    again.close()


def test_opening_does_not_load_what_upgrading_needs(sqlite_place: str) -> None:
    open_store(sqlite_place, create=True).close()
    code = (
        "import sys; from calibrant.store.open import open_store; "
        f"open_store({sqlite_place!r}).read(lambda r: r.studies()); "
        "sys.exit(bool({'alembic', 'psycopg', 'polars'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
