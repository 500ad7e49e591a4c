"""How often somebody may be wrong before they have to wait.

Kept in memory and bounded. An attempt counts as wrong from its beginning, so that many at once
get no further than many in turn.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from calibrant.core.errors import TooOften
from calibrant.ports.clock import Clock

FIRST_WAIT = 15.0
LONGEST_WAIT = 900.0
FORGOTTEN = timedelta(hours=1)
"""After which earlier attempts are forgotten."""
MOST_KEPT = 20_000


@dataclass(slots=True)
class _Tries:
    wrong: int
    last: datetime
    until: datetime


class Limit:
    """So many wrong attempts are free for each name; then waits begin, and double."""

    def __init__(self, clock: Clock, free: int, *, most: int = MOST_KEPT) -> None:
        self._clock = clock
        self._free = free
        self._most = most
        self._tries: OrderedDict[str, _Tries] = OrderedDict()
        self._turn = threading.Lock()

    def attempt(self, name: str) -> None:
        """Count an attempt; raises ``TooOften`` while one has to wait, and counts nothing."""
        now = self._clock()
        with self._turn:
            tries = self._tries.get(name)
            if tries is None or now - tries.last > FORGOTTEN:
                tries = self._tries[name] = _Tries(0, now, now)
            if now < tries.until:
                raise TooOften(ceil((tries.until - now).total_seconds()))
            tries.wrong += 1
            tries.last = now
            if tries.wrong >= self._free:
                doubled = FIRST_WAIT * 2.0 ** min(tries.wrong - self._free, 30)
                tries.until = now + timedelta(seconds=min(doubled, LONGEST_WAIT))
            self._tries.move_to_end(name)
            while len(self._tries) > self._most:
                self._tries.popitem(last=False)

    def take_back(self, name: str) -> None:
        """The last attempt was not wrong; earlier ones stay."""
        with self._turn:
            tries = self._tries.get(name)
            if tries is not None:
                tries.wrong = max(tries.wrong - 1, 0)
                tries.until = tries.last

    def clear(self, name: str) -> None:
        """Forget all attempts of a name."""
        with self._turn:
            self._tries.pop(name, None)


class Seldom:
    """Lets something through once a minute for each name; bounded, so at most that often."""

    def __init__(self, clock: Clock, *, most: int = MOST_KEPT) -> None:
        self._clock = clock
        self._most = most
        self._last: OrderedDict[str, datetime] = OrderedDict()
        self._turn = threading.Lock()

    def lets(self, name: str) -> bool:
        """Whether it is a minute since this was last true."""
        now = self._clock()
        with self._turn:
            last = self._last.get(name)
            if last is not None and now - last < timedelta(minutes=1):
                return False
            self._last[name] = now
            self._last.move_to_end(name)
            while len(self._last) > self._most:
                self._last.popitem(last=False)
            return True
