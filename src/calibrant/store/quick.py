"""Statements that are asked again and again: compiled once, then run by the driver itself.

SQLAlchemy writes them, so they are the same on both databases; running one through it takes
several times as long as the database does. Fit for statements that are kept (``@cache``) and
whose columns are texts and numbers, which the drivers give as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Executable
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import SQLCompiler

from calibrant.store.rows import Row


@dataclass(frozen=True, slots=True)
class _Ready:
    """A statement as the driver takes it."""

    text: str
    names: tuple[str, ...] | None
    """What its question marks stand for, in their order; None where it calls them by name."""
    fixed: Mapping[str, Any]
    """What is bound to it for good."""

    def bound(self, asked: Mapping[str, Any]) -> Any:
        if self.names is None:
            return {**self.fixed, **asked}
        fixed = self.fixed
        return tuple(asked[name] if name in asked else fixed[name] for name in self.names)


@lru_cache(maxsize=400)
def _ready(statement: Executable, dialect: Dialect) -> _Ready:
    compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    assert isinstance(compiled, SQLCompiler)
    names = None if compiled.positiontup is None else tuple(compiled.positiontup)
    return _Ready(str(compiled), names, dict(compiled.params))


_CURSOR = "calibrant-cursor"


def run(connection: Connection, statement: Executable, asked: Mapping[str, Any]) -> Any:
    """The driver's own cursor, once it has run a statement.

    To psycopg a cursor is costly, so there is one for a connection, used again for the next
    statement: whoever calls has read what it found by then. One of SQLite costs nothing.
    """
    ready = _ready(statement, connection.dialect)
    raw: Any = connection.connection.driver_connection
    if ready.names is not None:
        return raw.execute(ready.text, ready.bound(asked))
    kept = connection.info
    cursor = kept.get(_CURSOR)
    if cursor is None:
        cursor = kept[_CURSOR] = raw.cursor()
    return cursor.execute(ready.text, ready.bound(asked))


def fetched(connection: Connection, statement: Executable, asked: Mapping[str, Any]) -> list[Row]:
    """All rows that a statement finds."""
    rows: list[Row] = run(connection, statement, asked).fetchall()
    return rows


def changed(connection: Connection, statement: Executable, asked: Mapping[str, Any]) -> int:
    """How many rows a statement changed."""
    return int(run(connection, statement, asked).rowcount)


def told(connection: Connection, sentence: str) -> None:
    """Tell the database something that gives nothing back, such as where to come back to."""
    raw: Any = connection.connection.driver_connection
    raw.execute(sentence)
