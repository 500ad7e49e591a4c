"""One writer with group commit: a store that many threads write to at once.

Whatever waits when the writer is free becomes one transaction, and one commit makes all of it
durable. Nobody is told of success before that. Waiting for more work is no part of it: the pieces
gather while the commit before is on its way. At first nothing is kept to come back to, as mostly
nothing fails; where something does, all of it is done again with savepoints.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection

from calibrant.core.errors import StoreError
from calibrant.core.study import Member
from calibrant.ports.store import Reading, Writing
from calibrant.store.dialect import Dialect, Sqlite
from calibrant.store.sql import SqlStore
from calibrant.store.trouble import passes
from calibrant.store.writing import SqlWriting

T = TypeVar("T")
MOST = 64
"""Pieces of work in one transaction."""
SIDE_BY_SIDE = 3
"""Writers to a server: while one waits for an answer, another works. More would be in the way."""


def writer_of(store: SqlStore) -> Grouped:
    """Who writes what many hand over: one to a file, which has room for one, a few to a server."""
    return Grouped(store, writers=1 if isinstance(store.dialect, Sqlite) else SIDE_BY_SIDE)


def for_threads(writer: Grouped) -> SqlStore | Grouped:
    """A store as the threads of one process best share it.

    A file has one writer at a time, so there one commits for all. A database server commits for
    many connections at once by itself, and one connection would have to wait for every answer.
    """
    return writer if isinstance(writer.dialect, Sqlite) else writer.store


class _Alone(BaseException):
    """A piece asks to be the only writer of its study, so it gets a transaction of its own."""


class _Failed(BaseException):
    """A piece did not come through, and what it wrote cannot be told from what others did."""


@dataclass(slots=True, eq=False)
class _Piece:
    """Work that somebody waits for."""

    work: Callable[[Any], Any]
    answer: Future[Any] = field(default_factory=Future)


@dataclass(slots=True)
class _Told:
    """What a piece came to, kept until it is committed."""

    result: Any = None
    error: BaseException | None = None


class _Beside(SqlWriting):
    """Writing beside others in one transaction, which holds what each of them has locked."""

    def __init__(
        self, connection: Connection, dialect: Dialect, held: set[int], *, hopeful: bool
    ) -> None:
        """``held`` are studies that the transaction shares already.

        ``hopeful``: there are no savepoints, so nothing may fail.
        """
        super().__init__(connection, dialect)
        self._held = held
        self._hopeful = hopeful
        self._known: dict[tuple[int, str], Member | None] = {}

    def hold_study(self, study: int, *, alone: bool) -> None:
        """Share a study; whoever wants it alone is run alone, or processes block each other."""
        if alone:
            raise _Alone
        if study not in self._held:
            super().hold_study(study, alone=False)
            self._held.add(study)

    def apart(self, work: Callable[[Any], T]) -> T:
        """Run work so that it leaves nothing where it raises, and the transaction goes on."""
        if not self._hopeful:
            return super().apart(work)
        result = work(self)
        self.end()
        return result

    @contextmanager
    def _whole(self, *, single: bool = False) -> Iterator[None]:
        if not self._hopeful:
            with super()._whole(single=single):
                yield
            return
        try:
            yield
        except BaseException as error:
            raise _Failed from error

    def member(self, study: int, name: str) -> Member | None:
        """Somebody, gone or not; looked up once for a piece, which asks at every door."""
        if (study, name) not in self._known:
            self._known[study, name] = super().member(study, name)
        return self._known[study, name]

    def add_member(self, study: int, member: Member) -> None:
        """Somebody of a name that is free."""
        self._known.clear()
        super().add_member(study, member)

    def _set_member(self, study: int, name: str, **values: object) -> None:
        self._known.clear()
        super()._set_member(study, name, **values)


class Grouped:
    """A store around a store; threads share it, and it ends with ``close``."""

    def __init__(self, store: SqlStore, *, writers: int = 1) -> None:
        """``writers``: more than one, and pieces that wait together may pass each other."""
        self.store = store
        self._queue: SimpleQueue[_Piece | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._writers = [
            threading.Thread(target=self._go_on, name=f"calibrant-writer-{at}", daemon=True)
            for at in range(writers)
        ]
        for one in self._writers:
            one.start()

    @property
    def place(self) -> str:
        """Where it is, fit to be printed: a path, or an address without its password."""
        return self.store.place

    @property
    def dialect(self) -> Dialect:
        """The kind of database."""
        return self.store.dialect

    def read(self, work: Callable[[Reading], T]) -> T:
        """Run work that only reads, all of it as of one moment, beside the writer."""
        return self.store.read(work)

    def run(self, act: Callable[[Connection], T], *, write: bool) -> T:
        """Run something on a connection in a transaction of its own."""
        return self.store.run(act, write=write)

    def write(self, work: Callable[[Writing], T]) -> T:
        """Run work together with what others have; when this returns, it is durable."""
        return self.later(work).result()

    def act(self, work: Callable[[Connection], T]) -> T:
        """Write on a connection together with what others have; durable when this returns."""
        answer: Future[T] = self._hand_over(lambda writing: work(writing.connection))
        return answer.result()

    def later(self, work: Callable[[Writing], T]) -> Future[T]:
        """As ``write``, without waiting: what it comes to is known when it is durable."""
        return self._hand_over(work)

    def doctor(self) -> list[str]:
        """Whether everything is in order: one sentence for each thing that is not."""
        return self.store.doctor()

    def backup(self, path: Any) -> None:
        """A consistent copy of the whole database into a file, while others go on writing."""
        self.store.backup(path)

    def close(self) -> None:
        """Do what waits, take nothing more, and let go of the store."""
        with self._gate:
            if not self._closed:
                self._closed = True
                for _ in self._writers:
                    self._queue.put(None)
        if threading.current_thread() not in self._writers:
            for one in self._writers:
                one.join()
            self.store.close()

    def _hand_over(self, work: Callable[[Any], Any]) -> Future[Any]:
        self.store.need_free()  # within other work it would wait for itself
        piece = _Piece(work)
        with self._gate:
            if self._closed:
                raise StoreError(f"{self.place}: the store is closed")
            self._queue.put(piece)
        return piece.answer

    # -- the writer's own thread

    def _go_on(self) -> None:
        """Take what waits, again and again, until there will be no more."""
        more = True
        while more:
            pieces, more = self._gather()
            try:
                self._serve(pieces)
            except BaseException as error:  # whatever it is, nobody is left waiting
                for piece in pieces:
                    if not piece.answer.done():
                        piece.answer.set_exception(error)

    def _gather(self) -> tuple[list[_Piece], bool]:
        """The pieces that wait, at least one; and whether there may be more after them."""
        pieces: list[_Piece] = []
        piece = self._queue.get()
        while piece is not None:
            if piece.answer.set_running_or_notify_cancel():
                pieces.append(piece)
            if len(pieces) >= MOST:
                return pieces, True
            try:
                piece = self._queue.get_nowait()
            except Empty:
                return pieces, True
        return pieces, False

    def _serve(self, pieces: Sequence[_Piece]) -> None:
        """Run pieces in their order: together as far as they can be, else one by one."""
        rest, together = list(pieces), True
        while rest:
            if together and len(rest) > 1:
                done = self._together(rest)
                together = done is not None
                rest = rest[done or 0 :]
            if rest:
                self._by_itself(rest.pop(0))

    def _together(self, pieces: Sequence[_Piece]) -> int | None:
        """Commit pieces up to the one that must be alone; how many, or None where none can be."""
        try:
            return self._committed(pieces, hopeful=True)
        except _Failed:
            return self._committed(pieces, hopeful=False)

    def _committed(self, pieces: Sequence[_Piece], *, hopeful: bool) -> int | None:
        """Run pieces in one transaction, and tell what they came to.

        Trouble that passes is waited out with all of them; where it lasts, all are told. After
        any other trouble nothing is kept: it may be one piece's fault, so each is tried alone.
        """
        told: list[_Told] = []
        writings: list[SqlWriting] = []
        held: set[int] = set()

        def work(connection: Connection) -> None:
            told.clear()
            writings.clear()
            held.clear()
            for piece in pieces:
                writing = _Beside(connection, self.dialect, held, hopeful=hopeful)
                try:
                    told.append(self._tried(piece, writing, held))
                except _Alone:
                    if hopeful:
                        raise _Failed from None
                    return
                if hopeful and told[-1].error is not None:
                    raise _Failed
                writings.append(writing)

        try:
            self.store.act(work)
        except StoreError as error:
            if error.__cause__ is None or not passes(error.__cause__):
                return None
            told[:] = [_Told(error=error)] * len(pieces)
            writings.clear()
        for piece, one in zip(pieces, told, strict=False):
            _answer(piece, one)
        for writing in writings:
            self.store.tidy(writing)
        return len(told)

    def _tried(self, piece: _Piece, writing: SqlWriting, held: set[int]) -> _Told:
        """What a piece comes to; one that raises leaves nothing, and does not harm the others.

        Trouble with the database itself goes on to whoever runs the transaction.
        """
        try:
            return _Told(writing.apart(piece.work))
        except (_Alone, _Failed):
            raise
        except self.store.errors:
            raise
        except BaseException as error:
            held.clear()  # what it has locked is free again
            return _Told(error=error)
        finally:
            writing.end()

    def _by_itself(self, piece: _Piece) -> None:
        try:
            told = _Told(self.store.write(piece.work))
        except BaseException as error:
            told = _Told(error=error)
        _answer(piece, told)


def _answer(piece: _Piece, told: _Told) -> None:
    if told.error is None:
        piece.answer.set_result(told.result)
    else:
        piece.answer.set_exception(told.error)
