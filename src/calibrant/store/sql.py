"""The store: work in transactions, run again when trouble passes."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from calibrant.core.errors import StoreError
from calibrant.ports.store import Reading, Writing
from calibrant.store.dialect import Dialect, Sqlite
from calibrant.store.reading import SqlReading
from calibrant.store.trouble import is_lost, passes, sentence
from calibrant.store.writing import SqlWriting

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds for which trouble that passes is waited out."""
_chance = secrets.SystemRandom()


class SqlStore:
    """A database in which studies are kept.

    Threads may share it; processes open one each. What is in memory has one connection, so there
    one piece of work waits for another.
    """

    def __init__(self, dialect: Dialect, place: str, *, patience: float = PATIENCE) -> None:
        self.dialect = dialect
        self.engine = dialect.engine()
        self.patience = patience
        self._place = place
        self._closed = False
        self._inside = threading.local()
        alone = isinstance(dialect, Sqlite) and dialect.path is None
        self._turn: contextlib.AbstractContextManager[Any] = (
            threading.Lock() if alone else contextlib.nullcontext()
        )
        raw = self.engine.dialect.loaded_dbapi.Error
        self.errors: tuple[type[Exception], ...] = (SQLAlchemyError, raw)
        """What is raised where there is trouble with the database."""

    @property
    def place(self) -> str:
        """Where it is, fit to be printed: a path, or an address without its password."""
        return self._place

    def read(self, work: Callable[[Reading], T]) -> T:
        """Run work that only reads, all of it as of one moment."""

        def act(connection: Connection) -> T:
            reading = SqlReading(connection, self.dialect)
            try:
                return work(reading)
            finally:
                reading.end()

        return self.run(act, write=False)

    def write(self, work: Callable[[Writing], T]) -> T:
        """Run work in one transaction; when this returns, it is committed and durable.

        Trouble that passes (a lock, a server that restarts) is waited out and the work run again;
        what lasts raises ``StoreError`` with a sentence on what to do. An act leaves its name, so
        that one whose commit was not heard of, because the connection broke, is not done twice.
        """
        writing: SqlWriting | None = None

        def act(connection: Connection) -> T:
            nonlocal writing
            writing = SqlWriting(connection, self.dialect)
            try:
                return work(writing)
            finally:
                writing.end()

        result = self.act(act)
        if writing is not None:
            self.tidy(writing)
        return result

    def act(self, work: Callable[[Connection], T]) -> T:
        """Run something on a connection as an act: once, however often its commit is not heard."""
        name, came_to = secrets.token_hex(16), list[T]()

        def signed(connection: Connection) -> T:
            if not self.dialect.sign(connection, name):
                return came_to[-1]
            came_to.append(work(connection))
            return came_to[-1]

        return self.run(signed, write=True)

    def run(
        self, act: Callable[[Connection], T], *, write: bool, patience: float | None = None
    ) -> T:
        """Run something on a connection in one transaction, again while trouble passes."""
        until = time.monotonic() + (self.patience if patience is None else patience)
        pause = 0.01
        while True:
            try:
                with self._alone():
                    return self._once(act, write)
            except self.errors as error:
                if not passes(error) or time.monotonic() + pause > until:
                    raise StoreError(sentence(error, self.place)) from error
            time.sleep(pause * _chance.uniform(0.5, 1.5))
            pause = min(pause * 2, 1.0)

    def doctor(self) -> list[str]:
        """Whether everything is in order: one sentence for each thing that is not."""
        from calibrant.store.doctor import examine

        return examine(self)

    def backup(self, path: Any) -> None:
        """A consistent copy of the whole database into a new SQLite file, while others write."""
        from calibrant.store.backup import back_up

        back_up(self, Path(path))

    def close(self) -> None:
        """Let go of it; what is in memory is gone."""
        self._closed = True
        self.engine.dispose()

    def tidy(self, done: SqlWriting) -> None:
        """Do what is better done after a commit; nothing is lost where it fails."""
        with contextlib.suppress(*self.errors), self._turn:
            if done.redacted:
                self.dialect.forget(self.engine)
            self.dialect.learn(self.engine, done.loaded)

    def need_free(self) -> None:
        """Raise ``StoreError`` within work of this thread, and when the store is closed."""
        if self._closed:
            raise StoreError(f"{self.place}: the store is closed")
        if getattr(self._inside, "busy", False):
            raise StoreError("work within work: use what the outer one was handed")

    def _once(self, act: Callable[[Connection], T], write: bool) -> T:
        connection = self.engine.connect()
        try:
            connection = connection.execution_options(**self.dialect.options(write=write))
            connection.begin()
            result = act(connection)
            connection.commit()
        except BaseException as error:
            if is_lost(error):
                connection.invalidate()
            else:
                with contextlib.suppress(*self.errors):
                    connection.rollback()
            raise
        finally:
            with contextlib.suppress(*self.errors):
                connection.close()
        return result

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep work from beginning other work: it would wait for itself."""
        self.need_free()
        self._inside.busy = True
        try:
            with self._turn:
                yield
        finally:
            self._inside.busy = False
