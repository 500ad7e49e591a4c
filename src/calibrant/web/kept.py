"""What takes seconds to compute on a large study, kept for a moment, for each person apart.

What is kept serves until something happens in the study: a line of the journal, another day.
While ratings come in and nothing else happens, it serves for ``FRESH`` seconds. What one may see
is never shown to another, and whoever gets another role has nothing kept: that is in the journal.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias, TypeVar

from fastapi import Request

from calibrant.core.study import FROZEN_DATA
from calibrant.ports.store import Reading
from calibrant.study.handle import Study
from calibrant.web.access import Seat, workspace_of
from calibrant.web.belongings import of_server

T = TypeVar("T")
FRESH = 20.0
"""Seconds for which ratings that come in change nothing."""
SMALL = 2_000
"""Assignments up to which things are computed with the page itself."""
MOST = 40
"""Things that are kept; the oldest go first."""
LONGEST = 600.0
"""Seconds after which a thing is let go: tables of a large study take room."""
Name: TypeAlias = tuple[int, str, str]
"""Study, person, and what it is."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a thing was computed from."""

    last: int
    day: date
    ratings: int


@dataclass(frozen=True, slots=True)
class _Thing:
    mark: _Mark
    at: float
    found: Any


class Kept:
    """Things that were computed, by study, person and name."""

    def __init__(self) -> None:
        self._things: dict[Name, _Thing] = {}
        self._turns: dict[Name, threading.Lock] = {}
        self._gate = threading.Lock()

    def of(self, study: Study, what: str, compute: Callable[[Study], T]) -> T:
        """The thing as it stands; two who ask for it at once wait for one answer."""
        name = study.number, study.actor, what
        with self._gate:
            turn = self._turns.setdefault(name, threading.Lock())
        try:
            with turn:
                return self._found(name, study, compute)
        finally:
            with self._gate:
                self._turns.pop(name, None)

    def _found(self, name: Name, study: Study, compute: Callable[[Study], T]) -> T:
        kept = self._things.get(name)
        mark = _marked(study, kept.mark.last if kept else 0)
        if kept is not None and _serves(kept, mark):
            found: T = kept.found
            return found
        found = compute(study)
        self._keep(name, _Thing(mark, time.monotonic(), found))
        return found

    def serves(self, study: Study, what: str) -> bool:
        """Whether the thing would be there at once."""
        kept = self._things.get((study.number, study.actor, what))
        return kept is not None and _serves(kept, _marked(study, kept.mark.last))

    def _keep(self, name: Name, thing: _Thing) -> None:
        with self._gate:
            self._things.pop(name, None)
            self._things[name] = thing
            old = [one for one, kept in self._things.items() if thing.at - kept.at > LONGEST]
            for one in (*old, *list(self._things)[:-MOST]):
                self._things.pop(one, None)


def _serves(kept: _Thing, mark: _Mark) -> bool:
    if (kept.mark.last, kept.mark.day) != (mark.last, mark.day):
        return False
    return kept.mark == mark or time.monotonic() - kept.at < FRESH


def _marked(study: Study, after: int) -> _Mark:
    """Says that something happened, and not what."""

    def work(tx: Reading) -> _Mark:
        lines = tx.journal(study.number, but=(FROZEN_DATA,), after=after)
        numbers = (one.number for one in lines)
        ratings = sum(one.count for one in tx.progress(study.number) if one.state == "done")
        return _Mark(max(numbers, default=after), study.clock().date(), ratings)

    return study.store.read(work)


def _kept(request: Request) -> Kept:
    return of_server(request, "kept", Kept)


def kept_for(request: Request, seat: Seat, what: str, compute: Callable[[Study], T]) -> T:
    """The thing ``what`` for whoever asks, computed where nothing kept serves."""
    study = workspace_of(request).unhurried(seat.study)
    return _kept(request).of(study, what, compute)


def comes_later(request: Request, seat: Seat, what: str) -> bool:
    """Whether a page is shown without the thing, which follows by a second request.

    On a small study nothing takes long, and what is kept is there at once.
    """
    if _kept(request).serves(seat.study, what):
        return False
    return sum(one.total for one in seat.study.progress()) > SMALL
