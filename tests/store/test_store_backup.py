"""Backups are whole and of one moment; restored onto either kind, they are equal."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, Table
from tests.store.store_kit import (
    a_draft,
    a_key,
    a_rating,
    a_study,
    an_entry,
    an_item,
    begin,
    put_draft,
)

from calibrant.core.errors import StoreError
from calibrant.ports.store import Writing
from calibrant.store.backup import table_rows
from calibrant.store.open import open_store
from calibrant.store.restore import restore
from calibrant.store.rows import Row
from calibrant.store.schema import TABLES
from calibrant.store.sql import SqlStore


def everything(store: SqlStore) -> dict[str, list[tuple[object, ...]]]:
    return store.run(
        lambda c: {table.name: list(table_rows(c, table)) for table in TABLES}, write=False
    )


def fill(writing: Writing) -> int:
    writing.add_study(a_study("another", seed=-5))
    study = begin(writing, items=50)
    writing.add_ratings(study, [a_rating(f"i{n}") for n in range(1, 40)])
    writing.add_ratings(study, [a_rating("i3", revision=2, words=None)])
    writing.set_assignment_state(study, [a_key(f"i{n}") for n in range(1, 40)], "done")
    writing.log(study, [an_entry(item="i1", words={"quote": "é \U0001f600 \\N \t"}), an_entry()])
    put_draft(writing, study, a_draft("i45"))
    writing.redact_item(study, "i2")
    return study


@pytest.fixture
def filled(store: SqlStore) -> SqlStore:
    store.write(fill)
    return store


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_comes_back_equal(
    filled: SqlStore, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "backup.db"
    filled.backup(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(p.name for p in tmp_path.iterdir() if "backup" in p.name) == ["backup.db"]
    before = path.read_bytes()
    if kind == "sqlite":
        place = str(tmp_path / "restored.db")
    elif "postgres" in request.node.callspec.params["store_place"]:
        place = request.getfixturevalue("second_postgres_place")
    else:
        place = request.getfixturevalue("postgres_place")
    restore(place, path)
    assert path.read_bytes() == before
    restored = open_store(place)
    assert everything(restored) == everything(filled)
    assert restored.doctor() == []
    number = restored.write(lambda w: w.add_study(a_study("next")))
    assert number == 1 + max(number for number, _ in filled.read(lambda r: r.studies()))
    restored.close()
    with pytest.raises(StoreError, match="is not empty"):
        restore(place, path)


def test_a_backup_is_a_store(filled: SqlStore, tmp_path: Path) -> None:
    filled.backup(tmp_path / "backup.db")
    opened = open_store(str(tmp_path / "backup.db"))
    assert everything(opened) == everything(filled)
    assert opened.doctor() == []
    opened.close()


def test_a_backup_taken_while_others_write_is_of_one_moment(
    store: SqlStore, tmp_path: Path
) -> None:
    """Every transaction adds one item and one entry; a backup has as many of each."""
    study = store.write(lambda w: begin(w, items=1))
    stopped = threading.Event()
    written = threading.Event()

    def add(number: int) -> None:
        def work(writing: Writing) -> None:
            writing.add_items(study, [an_item(number)])
            writing.log(study, [an_entry(item=f"i{number}")])

        store.write(work)

    def go_on() -> None:
        for number in range(2, 5000):
            if stopped.is_set():
                return
            add(number)
            written.set()

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        for turn in range(4):
            written.clear()
            written.wait(30)
            store.backup(tmp_path / f"{turn}.db")
    finally:
        stopped.set()
        writer.join()
    last = 1
    for turn in range(4):
        with closing(sqlite3.connect(tmp_path / f"{turn}.db")) as backup:
            items, entries = (
                backup.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("item", "journal")
            )
            assert backup.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert items == entries + 1 > last
        last = items


def test_nothing_is_written_over(filled: SqlStore, tmp_path: Path) -> None:
    path = tmp_path / "backup.db"
    path.write_text("mine")
    with pytest.raises(StoreError, match="is there already"):
        filled.backup(path)
    assert path.read_text() == "mine"
    with pytest.raises(StoreError, match=r"nowhere does not exist"):
        filled.backup(tmp_path / "nowhere" / "backup.db")


def test_only_a_whole_backup_of_calibrant_is_restored(tmp_path: Path, sqlite_place: str) -> None:
    store = open_store(":memory:")
    store.write(lambda w: begin(w, items=500))
    whole, cut, other, text = (tmp_path / f"{name}.db" for name in ("whole", "cut", "other", "t"))
    store.backup(whole)
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    text.write_text("not a database " * 100)
    with closing(sqlite3.connect(other)) as made:
        made.execute("CREATE TABLE t (x)")
    for path, told in (
        (cut, "damaged"),
        (text, "not a database of calibrant"),
        (other, "not a backup of calibrant"),
        (tmp_path / "none", "no such file"),
    ):
        with pytest.raises(StoreError, match=told):
            restore(sqlite_place, path)
        assert not Path(sqlite_place).exists()


def test_a_restore_that_fails_leaves_the_database_empty(
    tmp_path: Path, store_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(":memory:")
    store.write(fill)
    path = tmp_path / "backup.db"
    store.backup(path)
    if store_place == ":memory:":
        store_place = str(tmp_path / "new.db")

    def break_off(source: Connection, table: Table) -> Generator[Row, None, None]:
        for number, row in enumerate(table_rows(source, table)):
            if table.name == "rating" and number == 5:
                raise StoreError("broken off")
            yield row

    with monkeypatch.context() as patched:
        patched.setattr("calibrant.store.restore.table_rows", break_off)
        with pytest.raises(StoreError, match="broken off"):
            restore(store_place, path)
    target = open_store(store_place)
    assert not any(everything(target).values())
    target.close()
    restore(store_place, path)
