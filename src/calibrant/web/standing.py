"""How a study stands, kept for a moment.

On a large study agreement and final answers take seconds to compute. They are computed apart from
the page, and kept until something happens in the study: a line of the journal, another day. While
ratings come in and nothing else happens, what is kept serves for ``FRESH`` seconds. Everybody has
their own: what one may see is never shown to another.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from fastapi import Request

from calibrant.ports.store import Reading
from calibrant.study.handle import Study
from calibrant.study.refine import Trouble
from calibrant.study.status import RoundProgress, Status
from calibrant.web.access import Seat, workspace_of

FRESH = 20.0
"""Seconds for which ratings that come in change nothing."""
SMALL = 2_000
"""Ratings up to which it is computed with the page itself."""
MOST = 200
"""People whose view is kept."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A study at a glance, and the criteria that make trouble, for those who may know."""

    status: Status
    troubles: tuple[Trouble, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    last: int
    day: date
    done: tuple[int, ...]
    at: float
    standing: Standing


class Standings:
    """What was computed last, by study and person."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str], _Kept] = {}
        self._turns: dict[tuple[int, str], threading.Lock] = {}
        self._gate = threading.Lock()

    def of(self, study: Study, progress: Sequence[RoundProgress], *, troubles: bool) -> Standing:
        """How the study stands for its actor; two who ask at once wait for one answer."""
        key = study.number, study.actor
        with self._gate:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            kept = self._kept.get(key)
            last = _last_entry(study, kept.last if kept else 0)
            day = study.clock().date()
            done = tuple(one.done for one in progress)
            if kept is not None and (kept.last, kept.day) == (last, day):
                is_same = kept.done == done
                if is_same or time.monotonic() - kept.at < FRESH:
                    return kept.standing
            found = Standing(study.status(), tuple(study.troubles()) if troubles else ())
            self._keep(key, _Kept(last, day, done, time.monotonic(), found))
            return found

    def _keep(self, key: tuple[int, str], kept: _Kept) -> None:
        with self._gate:
            self._kept.pop(key, None)
            self._kept[key] = kept
            while len(self._kept) > MOST:
                oldest = next(iter(self._kept))
                del self._kept[oldest]
                self._turns.pop(oldest, None)


def _last_entry(study: Study, after: int) -> int:
    """The number of the last line of the journal: it says that something happened, not what."""

    def work(tx: Reading) -> int:
        numbers = (one.number for one in tx.journal(study.number, after=after))
        return max(numbers, default=after)

    return study.store.read(work)


_MADE = threading.Lock()


def standing_of(request: Request, seat: Seat, progress: Sequence[RoundProgress]) -> Standing:
    """How the study stands for whoever asks."""
    state = request.app.state
    with _MADE:
        if not hasattr(state, "standings"):
            state.standings = Standings()
    kept: Standings = state.standings
    study = workspace_of(request).unhurried(seat.study)
    return kept.of(study, progress, troubles=seat.has("lead", "adjudicator"))


def is_small(progress: Sequence[RoundProgress]) -> bool:
    """Whether it is computed at once."""
    return sum(one.total for one in progress) <= SMALL
