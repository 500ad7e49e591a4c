"""How much a server takes: how many calls at once, and how many a second.

Two things are learned of a server, apart from each other. *How many at once* begins at what the
user allows and is halved when calls go wrong in numbers; it comes back by itself. *How many a
second* is not limited until the server says that calls come too fast (429); then it is worked out
from what the server has let through, and calls are spaced evenly. A server's own word on how long
to wait holds for all calls to it.

Nothing here reads a clock: whoever asks brings the time, in seconds, never falling.
"""

from __future__ import annotations

import math
import random

from calibrant.engine.rate import Rate, Sends, Ticket
from calibrant.ports.chat import Class

START_GAP = 0.001
"""Seconds between the first calls, so that a server that says no is heard before all are sent."""
CATCH_UP = 0.005
"""A sender that wakes late makes up for at most so many seconds."""
JITTER = 0.05
"""Nobody comes back at the very moment a wait ends: up to so many seconds later."""
FIRST_HOLD, LONGEST_HOLD = 0.1, 30.0
"""Seconds of a wait when a server says 429 and not for how long; doubled while it goes on."""
MOST_AWAY, FEW_AWAY = 0.7, 16
"""Such a share of the calls turned away, and so many of them: it is no chance."""
WAVE = 2
"""Calls after which they are counted anew, in times of what may be on its way at once."""
DOWN = 8
"""So many failures in a row, and calls come one at a time, with pauses."""
LONGEST_PAUSE = 1.0
TROUBLED = 0.2
"""Share of recent calls that went wrong at which a server counts as strained."""
RECENT = 1 / 16
OVERLOAD: frozenset[Class] = frozenset({"timeout", "server_error", "connection"})


class Capacity:
    """What one server takes, as far as it has told."""

    def __init__(self, concurrency: int, chance: random.Random) -> None:
        self.concurrency, self._chance = concurrency, chance
        self.in_flight = 0
        self.held_until = -math.inf
        self._limit = float(concurrency)
        self._eased = float(concurrency)
        self._halved_at = -math.inf
        self._strain = 0.0
        self._failures = 0
        self._answers = 0
        self._next = -math.inf
        self._hold = FIRST_HOLD
        self._rate: Rate | None = None
        self._at_random = self._mistaken = False
        self._first, self._away = 0, 0
        self._rested_at = -math.inf
        self._sends = Sends()

    @property
    def limit(self) -> int:
        """How many calls may be on their way at once."""
        return max(1, int(self._limit))

    @property
    def rate(self) -> float | None:
        """How many calls a second; ``None``: the server has not complained."""
        return None if self._rate is None else self._rate.value

    def wait(self, now: float) -> float:
        """Seconds until a call may be sent, nought for now, ``inf`` for when another has ended."""
        if now < self.held_until:
            return self.held_until - now
        if self.in_flight >= self.limit:
            return math.inf
        return max(0.0, self._next - now)

    def sent(self, now: float) -> Ticket:
        """A call goes out."""
        self.in_flight += 1
        ticket = self._sends.sent(now)
        if self._rate is not None:
            self._rate.passed(ticket)
        gap = self._gap()
        late = now - self._next
        self._next = (now - late if late < CATCH_UP else now) + gap
        return ticket

    def _gap(self) -> float:
        """Seconds from one call to the next."""
        if self._rate is not None:
            return 1 / self._rate.value
        if self._answers < self.concurrency:
            return START_GAP / (1 + self._answers / 16)
        return 0.0

    def answered(self, ticket: Ticket, now: float) -> None:
        """The server took a call and answered it, whatever it said."""
        self.in_flight -= 1
        self._answers += 1
        self._failures = 0
        if self._rate is None or ticket.at > self._rate.changed_at:
            self._hold = FIRST_HOLD
        self._strain -= self._strain * RECENT
        if self._limit < self.concurrency and ticket.at > self._halved_at:
            quick = self._limit < self._eased
            step = 1.0 if quick else self.concurrency / 16 / self._limit
            self._limit = min(self.concurrency, self._limit + step)

    def failed(self, ticket: Ticket, now: float, why: Class, wait: float | None = None) -> None:
        """A call came to nothing; ``wait``: for how many seconds the server wants peace."""
        self.in_flight -= 1
        if wait is not None:
            self._hold_back(now + max(0.0, wait))
        if why == "rate_limited":
            self._too_fast(ticket, now, wait)
        elif why in OVERLOAD:
            self._too_many(ticket, now)

    def _hold_back(self, until: float) -> None:
        self.held_until = max(self.held_until, until + self._chance.uniform(0, JITTER))

    def _too_many(self, ticket: Ticket, now: float) -> None:
        self._strain += (1 - self._strain) * RECENT
        self._failures += 1
        if self._strain > TROUBLED and ticket.at > self._halved_at:
            self._halved_at = now
            self._limit = max(1.0, self._limit / 2)
            self._eased = self._limit
        if self._failures > DOWN:
            pause = min(LONGEST_PAUSE, 2.0 ** (self._failures - DOWN) / 64)
            self.held_until = max(self.held_until, now + self._chance.uniform(pause / 2, pause))

    def _too_fast(self, ticket: Ticket, now: float, wait: float | None) -> None:
        """A 429. Those of calls that were sent before the last one was heard say nothing new."""
        self._sends.turned_away(ticket)
        if self._at_random:
            self._by_chance(ticket, now, wait)
            return
        if self._rate is None:
            self._rate = Rate(self._sends, ticket, now)
        elif ticket.at > self._rate.changed_at:
            self._rate.exceeded(ticket, now)
            if self._rate.beside_the_point and not self._mistaken:
                self._rate, self._at_random = None, True
                self._first, self._away = self._sends.number, 0
        else:
            return
        if wait is None:
            self._hold_back(now + self._hold)
            self._hold = min(LONGEST_HOLD, 2 * self._hold)

    def _by_chance(self, ticket: Ticket, now: float, wait: float | None) -> None:
        """A call is turned away as if by chance: a short rest for all that were sent with it.

        Those on their way count as let through: who is turned away is told first. Where nearly
        all are turned away it was not chance, and is not taken for it again.
        """
        self._sends.forget_before(ticket)
        if ticket.number > self._first:
            self._away += 1
        sent = self._sends.number - self._first
        self._mistaken = self._away >= max(FEW_AWAY, MOST_AWAY * sent)
        self._at_random = not self._mistaken
        if sent > max(WAVE * self.concurrency, 4 * FEW_AWAY):
            self._first, self._away = self._sends.number, 0
        if wait is None and ticket.at > self._rested_at:
            self._rested_at = now
            self._hold_back(now + FIRST_HOLD)
