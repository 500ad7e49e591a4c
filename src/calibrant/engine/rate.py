"""How many calls a second a server allows, worked out from what it has let through.

Servers count in different ways: buckets that refill, windows that slide, windows that begin anew
each second. No model of them is chosen here. Each time a server says that calls come too fast, two
numbers are known for certain to be within what it allows: what it let through between this time
and the last, and what it let through lately beyond the most it could have saved up. The rate goes
to the larger of them, or to the rate that was kept up before without complaint.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

PROOF = 1.1
"""A rate kept up for so many seconds without complaint counts as allowed: windows are of one."""
LONG = 10.0
"""One kept up for so many seconds is allowed by any way of counting."""
SAFE = 0.98
"""Of what is known to be allowed, what is used: clocks and networks are not exact."""
DROP = 0.95
"""At most this share of a rate that was too fast is tried next."""
GROWTH, GROWTH_EVERY = 0.5, 0.25
"""While nothing but a first guess is known, the rate grows by this, so often in seconds."""
STEP, MOST_STEP = 0.03, 0.08
"""A probe upward, as a share of the rate."""
PROBE_EVERY, LATER, LATEST = 3.0, 60.0, 120.0
"""Seconds between probes; longer, and doubled with each failure, near a rate known to be bad."""
TOO_LOW, BACK = 0.92, 0.99
"""What is certain counts unless it is this far below what was kept up before; then back to that,
or a little less."""
FAR, NEAR = 0.33, 0.08
"""Shares by which a rate known to be bad lies above that in force: beyond the first it is far
away, and below the second it is near."""
MANY, SLOWER = 8, 3.0
"""So often told that calls come too fast, while they come so many times slower than at first."""
BROKEN, SOON = 6, 200
"""Of so many times told, how often at a rate that was certain to be allowed, and how many calls
were let through each time at most: more, and it is a limit that is touched now and then."""
FEW = 30
"""So few calls let through are no measure."""
SHORTEST = 0.25
"""Seconds; what was let through in less says little."""
USED = 0.9
"""Share of a rate that must have been used before it counts as tried."""
FIRST, LEAST = 8.0, 0.5
"""Calls a second that are tried at first and at last, however little was let through."""
KEPT = 8192
"""Calls that are remembered."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A call on its way: its number and when it was sent."""

    number: int
    at: float


class Sends:
    """What was sent lately, and what of it was turned away."""

    def __init__(self) -> None:
        self.number = 0
        self._times: deque[float] = deque(maxlen=KEPT)
        self._turned_away: list[int] = []

    def sent(self, now: float) -> Ticket:
        """One more."""
        self.number += 1
        self._times.append(now)
        return Ticket(self.number, now)

    def turned_away(self, ticket: Ticket) -> None:
        """The server did not take it."""
        self._turned_away.append(ticket.number)

    def forget_before(self, ticket: Ticket) -> None:
        """What was turned away earlier does not matter any more."""
        self._turned_away = [one for one in self._turned_away if one >= ticket.number]

    def let_through(self, first: int, until: Ticket) -> int:
        """How many were taken of those from a number on, before the one that was not."""
        away = sum(first <= one < until.number for one in self._turned_away)
        return max(0, until.number - first - away)

    def before(self, ticket: Ticket, seconds: float) -> int:
        """Number of the first call sent at most so many seconds before another."""
        first = self.number - len(self._times) + 1
        for place in range(ticket.number - first, -1, -1):
            if self._times[place] < ticket.at - seconds:
                return first + place + 1
        return first


class Told(NamedTuple):
    """One time that a server said that calls come too fast."""

    used: float
    """Calls a second that it said so about."""
    through: int
    """Calls that it had let through since the time before."""
    seconds: float
    """How long ago that was."""
    broken: bool
    """Whether these were no more than it was certain to allow."""


class Rate:
    """Calls a second to one server that has said 429 once."""

    def __init__(self, sends: Sends, ticket: Ticket, now: float) -> None:
        self._sends = sends
        self._burst = sends.let_through(1, ticket)
        lately = sends.let_through(sends.before(ticket, 1.0), ticket)
        self.value = max(FIRST, lately * SAFE)
        self.changed_at = now
        self._emptied = ticket
        self._searching, self._risen = True, False
        self._quick = lately < FEW
        self._growth = GROWTH if self._quick else STEP
        self._proven = self._proven_for = 0.0
        self._bad = math.inf
        self._later = LATER
        self._resumed: Ticket | None = None
        self._certain = 0.0
        self._told: deque[Told] = deque(maxlen=MANY)
        self._early: list[Told] = []
        self._first: Ticket | None = None

    def passed(self, ticket: Ticket) -> None:
        """A call is sent; now and then the rate rises."""
        self._first = self._first or ticket
        self._resumed = self._resumed or ticket
        lasted = ticket.at - self._first.at
        if lasted < GROWTH_EVERY:
            return
        if ticket.number - self._first.number + 1 < USED * lasted * self.value:
            return  # it is not the rate that keeps calls back, so it is not tried
        patience, by = self._next_rise()
        if lasted >= patience:
            if lasted >= PROOF:
                self._proven, self._proven_for = self.value, lasted
            self.value *= 1 + by
            self._risen = True
            self._growth = min(GROWTH, 2 * self._growth)
            if self.value > self._bad:
                self._bad = math.inf
            self._first = ticket

    def _next_rise(self) -> tuple[float, float]:
        """After how many seconds to rise, and by what share."""
        if self._searching:
            return (GROWTH_EVERY if self._quick else PROOF), self._growth
        gap = self._bad / self.value - 1
        if gap < NEAR:
            return (LONG if self._risen else self._later), STEP
        if gap < FAR:
            return PROBE_EVERY, min(MOST_STEP, gap / 4)
        return PROOF, self._growth if gap == math.inf else min(2 * MOST_STEP, gap / 4)

    def exceeded(self, ticket: Ticket, now: float) -> None:
        """The server says 429 to a call that was sent at the rate now in force."""
        self.changed_at = now
        resumed, self._resumed = self._resumed, None
        if resumed is None or not self._sends.let_through(resumed.number, ticket):
            self._first = None
            return  # it was not yet over: the wait was too short, which says nothing of the rate
        if not self._searching and self._bad / self.value - 1 < 2 * NEAR:
            self._later = min(LATEST, 2 * self._later)
        self._bad, self.value = self.value, max(LEAST, self._lower(ticket, resumed))
        self._searching = self._risen = False
        self._growth = STEP
        self._proven = self._proven_for = 0.0
        self._emptied = ticket
        self._sends.forget_before(ticket)
        self._first = None

    def _lower(self, ticket: Ticket, resumed: Ticket) -> float:
        """The rate to go on with."""
        used = min(self.value, self._used(ticket))
        through = self._sends.let_through(self._emptied.number, ticket)
        seconds, broken = ticket.at - self._emptied.at, self.value <= self._certain
        self._told.append(Told(used, through, seconds, broken))
        if len(self._early) < MANY // 2:
            self._early.append(self._told[-1])
        sure = SAFE * self._sure(ticket, resumed)
        self._certain = max(sure, self._proven)
        sure = min(max(sure, used / 2) if through < FEW else sure, DROP * used)
        if sure < TOO_LOW * self._proven or self._proven_for > LONG:
            return min(BACK * self._proven, used)
        lasted = 0.0 if self._first is None else ticket.at - self._first.at
        if sure < TOO_LOW * used and lasted >= PROOF:
            return math.sqrt(sure * DROP * used)  # a window would have allowed nearly all of it
        return sure

    @property
    def beside_the_point(self) -> bool:
        """Whether calls are turned away at any rate: then it is not their rate that matters."""
        told = list(self._told)
        if len(told) < MANY:
            return False
        if sum(one.broken for one in told) >= BROKEN:
            return sum(one.through for one in told) <= MANY * SOON
        early, lately = self._early, told[-len(self._early) :]
        through = sum(one.through for one in lately)
        slower = max(one.used for one in lately) <= max(one.used for one in early) / SLOWER
        # a limit lets through less than is sent until it is kept to, and then nearly everything
        kept_up = through >= sum(one.used * one.seconds for one in lately) / 2
        return slower and kept_up and through <= 2 * sum(one.through for one in early)

    def _used(self, ticket: Ticket) -> float:
        """Calls sent in the second before."""
        if self._first is None or ticket.at - self._first.at < 1.0:
            return self.value
        return ticket.number - self._sends.before(ticket, 1.0)

    def _sure(self, ticket: Ticket, resumed: Ticket) -> float:
        """A rate that the server allows for certain."""
        sends, last = self._sends, self._emptied
        best = sends.let_through(last.number, ticket) / max(ticket.at - last.at, SHORTEST)
        span = ticket.at - resumed.at
        while span > SHORTEST:
            first = sends.before(ticket, span)
            through = sends.let_through(first, ticket) - self._burst - 1
            best = max(best, through / span)
            span /= 1.25
        return best
