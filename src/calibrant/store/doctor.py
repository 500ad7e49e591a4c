"""Looking a database over: one sentence for each thing that is not in order."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from itertools import islice

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, and_, exists, func, select

from calibrant.core.answer import ERROR
from calibrant.core.errors import StoreError
from calibrant.core.rubric import Rubric
from calibrant.store import schema, triggers
from calibrant.store.dialect import Dialect, Postgres, Sqlite
from calibrant.store.open import version
from calibrant.store.sql import SqlStore
from calibrant.study.soundness import answers_to

MOST = 5
"""How many faults of one kind are told."""


def examine(store: SqlStore) -> list[str]:
    """Everything that is not in order; empty where all is well. Nothing is changed."""
    found = list(_file(store.dialect))
    try:
        return found + store.run(lambda c: list(_inside(c, store)), write=False)
    except StoreError as error:
        return [*found, str(error)]


def _inside(connection: Connection, store: SqlStore) -> Iterator[str]:
    dialect = store.dialect
    there = version(connection, store.place)
    if there != schema.VERSION:
        yield f"The tables are of version {there}; this program knows {schema.VERSION}."
        return
    missing = triggers.trigger_names(dialect.name) - dialect.trigger_names(connection)
    if missing:
        yield (
            f"Triggers that keep rows from being changed are missing: {', '.join(sorted(missing))}."
        )
    if isinstance(dialect, Sqlite):
        yield from _pages(connection, dialect)
    elif isinstance(dialect, Postgres):
        yield from _server(connection)
    yield from _leases(connection, dialect)
    yield from _assignments(connection)
    yield from islice(_settlements(connection), MOST)


def _pages(connection: Connection, dialect: Sqlite) -> Iterator[str]:
    for (told,) in connection.exec_driver_sql(f"PRAGMA integrity_check({MOST})"):
        if told != "ok":
            yield f"The file is damaged ({told}); restore the last backup."
    loose = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(MOST)
    for table, row, parent, _ in loose:
        yield f"A row of {table} (number {row}) belongs to a row of {parent} that is not there."
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
    if dialect.path is not None and mode != "wal":
        yield (
            f"The file is in journal mode {mode}, not wal: readers and writers wait for each "
            "other; move it to a local disk."
        )


def _file(dialect: Dialect) -> Iterator[str]:
    if not isinstance(dialect, Sqlite) or dialect.path is None:
        return
    for end in ("", "-wal", "-shm"):
        path = dialect.path.with_name(dialect.path.name + end)
        mode = path.stat().st_mode if path.exists() else 0
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            yield f"Others may read {path} (mode {stat.S_IMODE(mode):o}); run chmod 600."


def _server(connection: Connection) -> Iterator[str]:
    invalid = connection.exec_driver_sql(
        "SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
        "WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace"
    )
    for name in invalid.scalars():
        yield f"The index {name} cannot be used; run REINDEX INDEX {name}."
    unsure = connection.exec_driver_sql(
        "SELECT conname FROM pg_constraint "
        "WHERE NOT convalidated AND connamespace = current_schema()::regnamespace"
    )
    for name in unsure.scalars():
        yield f"The constraint {name} was never checked; run ALTER TABLE … VALIDATE CONSTRAINT."
    for setting in ("fsync", "full_page_writes"):
        if connection.exec_driver_sql(f"SHOW {setting}").scalar_one() != "on":
            yield f"The server runs with {setting} off: a crash can lose what was acknowledged."


def _leases(connection: Connection, dialect: Dialect) -> Iterator[str]:
    table = schema.assignment
    over = (table.c.lease.is_not(None), table.c.leased_until < dialect.yesterday(connection))
    count = connection.execute(select(func.count()).select_from(table).where(*over)).scalar_one()
    if count:
        yield (
            f"{count} assignments are held by leases that ended more than a day ago; "
            "whoever asks next gets them."
        )


def _assignments(connection: Connection) -> Iterator[str]:
    """What is done has a rating, nothing else has one, and closed rounds wait for nothing."""
    work, rating, round = schema.assignment, schema.rating, schema.round
    same = and_(
        *(work.c[name] == rating.c[name] for name in ("study", "round", "item", "rater")),
        work.c.occasion == rating.c.occasion,
    )
    unrated = work.c.state == "done", ~exists().where(same)
    for name, count in _counted(connection, work.c.study, *unrated):
        yield f"Study {name}: {count} assignments are done and have no rating."
    loose = rating.c.revision == 1, ~exists().where(same, work.c.state == "done")
    for name, count in _counted(connection, rating.c.study, *loose):
        yield f"Study {name}: {count} ratings belong to no assignment that is done."
    place = and_(round.c.study == work.c.study, round.c.number == work.c.round)
    late = work.c.state == "open", exists().where(place, round.c.state == "closed")
    for name, count in _counted(connection, work.c.study, *late):
        yield f"Study {name}: {count} assignments are open in rounds that are closed."


def _counted(
    connection: Connection, study: ColumnElement[int], *where: ColumnElement[bool]
) -> Iterator[tuple[str, int]]:
    """How many rows there are of that kind, by the name of their study."""
    query = select(schema.study.c.name, func.count()).where(schema.study.c.id == study, *where)
    for row in connection.execute(query.group_by(schema.study.c.name)):
        yield row[0], row[1]


def _settlements(connection: Connection) -> Iterator[str]:
    """Whatever was settled is an answer to its criterion in the version that it names."""
    table = schema.journal
    query = (
        select(schema.study.c.name, table.c.number, table.c.criterion, table.c.body)
        .where(schema.study.c.id == table.c.study, table.c.kind == "settled")
        .order_by(schema.study.c.name, table.c.number)
    )
    versions: dict[str, Rubric | None] = {}
    known: dict[tuple[str, str], frozenset[str]] = {}
    for name, number, criterion, text in connection.execute(query):
        body = json.loads(text)
        version, value = str(body.get("rubric")), body.get("value")
        if version not in versions:
            versions[version] = _rubric(connection, version)
        rubric = versions[version]
        if rubric is None:
            yield f"Study {name}: entry {number} was settled under a rubric that cannot be read."
            continue
        place = (version, str(criterion))
        if place not in known:
            known[place] = answers_to(rubric, str(criterion)) - {ERROR}
        if value not in known[place]:
            yield f"Study {name}: entry {number} settles {criterion} with what is no answer to it."


def _rubric(connection: Connection, hash: str) -> Rubric | None:
    table = schema.rubric
    text = connection.execute(select(table.c.document).where(table.c.hash == hash)).scalar()
    try:
        return None if text is None else Rubric.model_validate_json(text)
    except ValidationError:
        return None
