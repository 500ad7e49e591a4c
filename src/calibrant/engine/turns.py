"""What the loop of judging has in hand: jobs, calls in turn, judges and servers."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from calibrant.engine.attempts import Attempts, Ladder
from calibrant.engine.capacity import Capacity
from calibrant.engine.jobs import Job, Seat
from calibrant.raters.judge.judge import Call
from calibrant.raters.judge.outcome import Asked


@dataclass(slots=True, eq=False)
class Taken:
    """A job in hand."""

    job: Job
    asked: list[Asked | None]
    left: int


@dataclass(slots=True, eq=False)
class Turn:
    """A call in hand, for one job or for several about the same words."""

    attempts: Attempts
    bench: Bench
    waiting: list[tuple[Taken, int, Call]]


@dataclass(slots=True, eq=False)
class Bench:
    """What is known of a seat."""

    seat: Seat
    server: Server
    card: str
    model: str
    ladder: Ladder = field(default_factory=Ladder)
    heard: bool = False
    turned_away: int = 0
    unreached: int = 0
    """Attempts that met nobody, before anything was heard."""


@dataclass(slots=True, eq=False)
class Server:
    """A place where models answer, with its calls in turn and its workers."""

    capacity: Capacity
    ready: deque[Turn] = field(default_factory=deque)
    idle: deque[asyncio.Future[None]] = field(default_factory=deque)
    workers: int = 0
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    freed: asyncio.Event = field(default_factory=asyncio.Event)
    silent_since: float | None = None
    failed_again: bool = False
    """Whether a call that was sent in the silence came to nothing too."""

    def silence(self, now: float, seconds: float) -> None:
        """A call came to nothing that was sent so many seconds ago."""
        if self.silent_since is None:
            self.silent_since = now
        elif now - seconds >= self.silent_since:
            self.failed_again = True

    def wake(self) -> bool:
        """Wake a worker that has nothing to do, if there is one."""
        while self.idle:
            idle = self.idle.popleft()
            if not idle.done():
                idle.set_result(None)
                return True
        return False
