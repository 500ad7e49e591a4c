"""Trouble is told in a sentence that says what to do, and nothing that was kept is lost."""

from __future__ import annotations

import os
import pwd
import re
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import make_url
from tests import postgres
from tests.store.store_kit import a_key, a_rating, an_entry, an_item, at, begin

from calibrant import load_rubric
from calibrant.core.errors import StoreError
from calibrant.core.study import Entry
from calibrant.ports.store import Reading, Store, Writing
from calibrant.store import dialect
from calibrant.store.open import open_store
from calibrant.study.open import rubric_record

ITEMS = 300
SECRET = postgres.PASSWORD


def contents(reading: Reading) -> tuple[list[object], list[object]]:
    return list(reading.items(1)), list(reading.ratings(1))


def fill(writing: Writing) -> None:
    study = begin(writing, items=ITEMS)
    writing.add_ratings(study, [a_rating(f"i{n}") for n in range(1, ITEMS + 1)])
    writing.set_assignment_state(study, [a_key(f"i{n}") for n in range(1, ITEMS + 1)], "done")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with something in it, closed."""
    path = tmp_path / "study.db"
    store = open_store(str(path), create=True)
    store.write(fill)
    store.close()
    assert [p.name for p in tmp_path.iterdir()] == ["study.db"]
    return path


def told(place: str | Path, *, create: bool = False) -> str:
    """What opening, reading and writing say, whichever fails first."""
    with pytest.raises(StoreError) as caught:
        store = open_store(str(place), create=create, patience=0.2)
        try:
            store.read(contents)
            store.write(lambda w: w.add_items(1, [an_item(5000)]))
        finally:
            store.close()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert SECRET not in sentence
    return sentence


def is_whole(path: Path) -> bool:
    store = open_store(str(path))
    items, ratings = store.read(contents)
    faults = store.doctor()
    store.close()
    return (len(items), len(ratings), faults) == (ITEMS, ITEMS, [])


def test_what_is_not_there(tmp_path: Path) -> None:
    assert "there is no database" in told(tmp_path / "none.db")
    assert "does not exist" in told(tmp_path / "none" / "x.db", create=True)
    assert "is a folder" in told(tmp_path, create=True)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty.db").touch()
    assert "is empty" in told(tmp_path / "empty.db")
    open_store(str(tmp_path / "empty.db"), create=True).close()


@pytest.mark.parametrize("place", ["mysql://host/x", "http://a:secret@b", "postgresql://[::bad"])
def test_what_is_no_place(place: str) -> None:
    assert "secret" not in told(place)


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_a_path_can_be_written_in_two_ways(file: Path, form: str) -> None:
    store = open_store(form.format(file))
    assert store.place == str(file)
    assert store.read(lambda r: r.count_items(1)) == ITEMS
    store.close()


def test_a_path_may_hold_any_sign(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=ro#%41 é.db"
    open_store(str(path), create=True).close()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    open_store(str(path)).close()


def test_what_is_not_a_database(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_text("id,answer\n" * 1000)
    assert "not a database of calibrant" in told(path)
    assert "not a database of calibrant" in told(path, create=True)
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE t (x)")
    assert "another program" in told(path)
    assert "another program" in told(path, create=True)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.99])
def test_a_truncated_file(file: Path, share: float) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    assert "damaged" in told(file)
    for left in file.parent.glob("study.db-*"):
        left.unlink()
    file.write_bytes(data)
    assert is_whole(file)


def test_a_file_with_holes(file: Path) -> None:
    data = bytearray(file.read_bytes())
    for start in range(len(data) * 6 // 10, len(data) - 4096, 4096 * 3):
        data[start : start + 2000] = b"\xff" * 2000
    whole = file.read_bytes()
    file.write_bytes(data)
    store = open_store(str(file))
    assert any("damaged" in sentence for sentence in store.doctor())
    store.close()
    assert "damaged" in told(file)
    file.write_bytes(whole)
    assert is_whole(file)


@contextmanager
def as_somebody() -> Iterator[Path]:
    """A folder of somebody who is not root, and being that one: root may write everywhere."""
    folder = Path(tempfile.mkdtemp(prefix="calibrant-", dir="/tmp"))
    user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()
    before = os.geteuid()
    try:
        os.chown(folder, user, -1)
        os.seteuid(user)
        yield folder
    finally:
        os.seteuid(before)
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_a_file_that_can_only_be_read(file: Path) -> None:
    data = file.read_bytes()
    with as_somebody() as folder:
        path = folder / "study.db"
        path.write_bytes(data)
        path.chmod(0o400)
        assert "can only be read" in told(path)
        path.chmod(0o000)
        assert "cannot be opened" in told(path)
        path.chmod(0o600)
        folder.chmod(0o500)
        assert re.search("can only be read|cannot be opened", told(path))
        assert "cannot be made" in told(folder / "new.db", create=True)
        folder.chmod(0o700)
        assert is_whole(path)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[None]:
    """Room for this many bytes: on a disk of its own for root, else by a limit of the process."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if (
        os.geteuid() == 0
        and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    ):
        try:
            yield
        finally:
            subprocess.run(["umount", str(folder)], check=True)
    else:
        with limited(size):
            yield


@contextmanager
def limited(size: int) -> Iterator[None]:
    """No file may grow beyond this."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def overfill(writing: Writing) -> None:
    writing.add_items(1, (an_item(n, content="x" * 4000) for n in range(5000, 9000)))


def test_a_full_disk(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder, 4_000_000):
        path = folder / "study.db"
        path.write_bytes(data)
        path.chmod(0o600)
        store = open_store(str(path))
        for _ in range(3):
            with pytest.raises(StoreError, match=r"study\.db: the disk .*still there"):
                store.write(overfill)
        assert len(store.read(contents)[0]) == ITEMS
        with pytest.raises(StoreError):
            store.backup(folder / "one.db")
            store.backup(folder / "two.db")
            store.backup(folder / "three.db")
            store.backup(folder / "four.db")
        store.close()
        assert not list(folder.glob("*.part*"))
        assert is_whole(path)


def test_a_file_that_may_not_grow(file: Path) -> None:
    store = open_store(str(file))
    with limited(3_000_000), pytest.raises(StoreError, match="the disk"):
        store.write(overfill)
    assert len(store.read(contents)[0]) == ITEMS
    store.close()
    assert is_whole(file)


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = open_store(str(tmp_path / "s.db"), create=True)
        store.write(begin)
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        store.close()
    finally:
        os.umask(before)
    assert modes == {"s.db": 0o600, "s.db-wal": 0o600, "s.db-shm": 0o600}


def test_every_connection_is_set_up(file: Path) -> None:
    store = open_store(str(file))
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
    with store.engine.connect() as one, store.engine.connect() as other:
        for connection in (one, other):
            raw = connection.connection.cursor()
            for name, value in wanted.items():
                raw.execute(f"PRAGMA {name}")
                assert raw.fetchone() == (value,), name
            raw.execute("PRAGMA busy_timeout")
            (timeout,) = raw.fetchone() or (0,)
            assert timeout >= 5000
    store.close()


def test_a_lock_that_passes_and_one_that_does_not(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialect, "PRAGMAS", ("busy_timeout = 10", *dialect.PRAGMAS[1:]))
    holder = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    assert "another program is writing" in told(file)
    release = threading.Timer(0.5, lambda: holder.execute("COMMIT"))
    release.start()
    store = open_store(str(file))
    assert store.write(lambda w: w.add_items(1, [an_item(5000)])) == 1
    release.join()
    store.close()
    holder.close()


def changed(place: str, **changes: object) -> str:
    return make_url(place).set(**changes).render_as_string(hide_password=False)  # type: ignore[arg-type]


def test_servers_that_do_not_let_in(postgres_place: str) -> None:
    assert "the password" in told(changed(postgres_place, password="wrong"))
    assert "the password" in told(changed(postgres_place, username="stranger"))
    assert "no such database" in told(changed(postgres_place, database="none"))
    assert "cannot be reached" in told(changed(postgres_place, port=1))
    assert "cannot be reached" in told(changed(postgres_place, host="host.invalid"))
    assert "is empty" in told(postgres_place)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_addresses_can_be_written_in_three_ways(postgres_place: str, scheme: str) -> None:
    address = postgres_place.replace("postgresql", scheme, 1) + "?application_name=x"
    store = open_store(address, create=True)
    assert SECRET not in store.place
    assert "open" not in store.place
    store.write(begin)
    store.close()
    again = open_store(postgres_place)
    assert again.read(lambda r: r.count_items(1)) == 4
    again.close()


def test_a_database_without_utf8_or_with_strange_tables_is_refused(postgres_place: str) -> None:
    import psycopg

    name = make_url(postgres_place).database
    admin = changed(postgres_place, database="postgres")
    with psycopg.connect(postgres_place, autocommit=True) as server:
        server.execute("CREATE TABLE rating (x int)")
    assert "another program" in told(postgres_place, create=True)
    with psycopg.connect(admin, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}_x TEMPLATE template0 ENCODING SQL_ASCII".encode())
        try:
            assert "UTF8" in told(changed(postgres_place, database=f"{name}_x"), create=True)
        finally:
            server.execute(f"DROP DATABASE {name}_x WITH (FORCE)".encode())


@pytest.mark.parametrize("store_place", ["postgres"], indirect=True)
@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_connection_that_breaks_is_mended(store: Store, postgres_place: str, moment: str) -> None:
    import psycopg

    study = store.write(begin)
    runs: list[int] = []

    def break_it(now: str) -> None:
        if now == moment and len(runs) == 1:
            with psycopg.connect(postgres_place, autocommit=True) as server:
                server.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                    "WHERE application_name = 'calibrant' AND datname = current_database()"
                )

    def work(writing: Writing) -> int:
        runs.append(1)
        break_it("before")
        added = writing.add_ratings(study, [a_rating("i1"), a_rating("i2")])
        break_it("between")
        writing.set_assignment_state(study, [a_key("i1"), a_key("i2")], "done")
        break_it("after")
        return added

    assert store.write(work) == 2
    assert len(runs) == 2
    assert store.read(lambda r: sum(1 for _ in r.ratings(study))) == 2


def test_two_that_lock_each_other_out_both_get_through(store: Store) -> None:
    study = store.write(begin)
    both = threading.Barrier(2)
    first_time = [True, True]

    def work(number: int, writing: Writing) -> None:
        keys = [a_key("i1"), a_key("i2")][:: 1 if number else -1]
        writing.set_assignment_state(study, keys[:1], "done")
        if first_time[number] and "postgresql" in store.place:
            first_time[number] = False
            both.wait(30)
        writing.set_assignment_state(study, keys[1:], "done")

    threads = [
        threading.Thread(target=lambda n=n: store.write(lambda w: work(n, w))) for n in (0, 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.read(lambda r: [r.assignment(study, a_key(item)) for item in ("i1", "i2")])
    assert [one.version for one in found if one is not None] == [2, 2]


def test_the_doctor_tells_what_is_wrong(store: Store, tmp_path: Path) -> None:
    assert store.doctor() == []
    study = store.write(begin)
    old = {"now": "2020-01-01T00:00:00.000000Z", "until": "2020-01-02T00:00:00.000000Z"}
    store.write(lambda w: w.lease(study, rater="ann", token="t", limit=3, **old))  # type: ignore[arg-type]
    assert [s.split(" are held")[0] for s in store.doctor()] == ["3 assignments"]
    store.write(
        lambda w: w.set_assignment_state(study, [a_key(f"i{n}") for n in (1, 2, 3)], "done")
    )
    store.write(lambda w: w.add_ratings(study, [a_rating(f"i{n}") for n in (1, 2, 3)]))
    table = " ON rating" if store.place.startswith("postgresql") else ""
    store.run(lambda c: c.exec_driver_sql(f"DROP TRIGGER rating_no_delete{table}"), write=True)  # type: ignore[attr-defined]
    assert ["rating_no_delete" in sentence for sentence in store.doctor()] == [True]


def test_the_doctor_holds_ratings_against_assignments(store: Store) -> None:
    study = store.write(begin)
    store.write(lambda w: w.set_assignment_state(study, [a_key("i1"), a_key("i2")], "done"))
    unrated = "Study pilot: 2 assignments are done and have no rating."
    assert store.doctor() == [unrated]
    store.write(lambda w: w.add_ratings(study, [a_rating("i1"), a_rating("i2")]))
    assert store.doctor() == []
    store.write(lambda w: w.add_ratings(study, [a_rating("i1", revision=2), a_rating("i3")]))
    store.write(lambda w: w.set_assignment_state(study, [a_key("i2")], "withdrawn"))
    assert store.doctor() == ["Study pilot: 2 ratings belong to no assignment that is done."]
    store.write(lambda w: w.set_assignment_state(study, [a_key("i2"), a_key("i3")], "done"))
    store.write(lambda w: w.set_round_state(study, 1, "closed", at(9)))
    assert store.doctor() == ["Study pilot: 5 assignments are open in rounds that are closed."]


def test_the_doctor_holds_settlements_against_the_rubric(store: Store) -> None:
    rubric = load_rubric("smart-action-plan")
    study = store.write(begin)
    store.write(lambda w: w.add_rubric(rubric_record(rubric, at(0))))

    def settled(value: str, criterion: str = "realism", hash: str = rubric.hash) -> Entry:
        body = {"value": value, "how": "consensus", "rubric": hash}
        return an_entry("settled", item="i1", criterion=criterion, body=body)

    store.write(lambda w: w.log(study, [settled("3")]))
    assert store.doctor() == []
    wrong = [settled("9"), settled("ERROR"), settled("3", "beauty"), settled("3", hash="sha256:0")]
    store.write(lambda w: w.log(study, wrong))
    told = store.doctor()
    assert [int(sentence.split()[3]) for sentence in told] == [2, 3, 4, 5]
    assert "no answer" in told[0] and "cannot be read" in told[3]


def test_the_doctor_looks_at_the_file(file: Path) -> None:
    file.chmod(0o644)
    with closing(sqlite3.connect(file)) as other:
        other.execute("INSERT INTO draft VALUES (1, 9, 'x', 'y', 1, '{}', '', 1)")
        other.commit()
    store = open_store(str(file))
    faults = store.doctor()
    store.close()
    assert "chmod 600" in faults[0]
    assert "A row of draft" in faults[-1]
