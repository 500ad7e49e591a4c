"""What a server takes is found out: all it allows and hardly more, whichever way it counts.

Servers and time are simulated: calls reach a server a little late, timers are late too, and every
number comes from a seed.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.engine.capacity import JITTER, Capacity
from calibrant.engine.rate import Ticket
from calibrant.ports.chat import Class

ALLOWED = 100.0
NETWORK, LATE = 0.001, 0.0012
"""Seconds that a call takes to the server, and that a timer comes late, at most."""


class Counting(Protocol):
    """How a server counts."""

    def take(self, now: float) -> bool:
        """Whether it lets a call through."""


class Bucket:
    """Fills steadily up to a size; a call takes one out."""

    def __init__(self, size: float, rate: float = ALLOWED) -> None:
        self.size, self.rate, self.left, self.at = size, rate, size, 0.0

    def take(self, now: float) -> bool:
        self.left = min(self.size, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Sliding:
    """So many in any stretch of a second."""

    def __init__(self) -> None:
        self.taken: deque[float] = deque()

    def take(self, now: float) -> bool:
        while self.taken and self.taken[0] <= now - 1:
            self.taken.popleft()
        if len(self.taken) >= ALLOWED:
            return False
        self.taken.append(now)
        return True


class Fixed:
    """So many in every second of a clock."""

    def __init__(self, shift: float) -> None:
        self.shift, self.second, self.count = shift, -1, 0

    def take(self, now: float) -> bool:
        second = math.floor(now + self.shift)
        if second != self.second:
            self.second, self.count = second, 0
        self.count += 1
        return self.count <= ALLOWED


class Unlimited:
    def take(self, now: float) -> bool:
        return True


class AtRandom:
    """Turns calls away by chance, however few there are."""

    def __init__(self, share: float) -> None:
        self.share, self.chance = share, random.Random(3)

    def take(self, now: float) -> bool:
        return self.chance.random() >= self.share


class Down:
    """Nobody there until a moment."""

    def __init__(self, until: float) -> None:
        self.until = until

    def take(self, now: float) -> bool:
        return now >= self.until


@dataclass
class Seen:
    """What happened in a run."""

    capacity: Capacity
    through: list[float] = field(default_factory=list)
    turned_away: list[float] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)
    waits: list[tuple[float, float]] = field(default_factory=list)
    """From when to when the server wanted peace."""
    flying: list[int] = field(default_factory=list)

    def share(self, since: float, until: float) -> float:
        """Of what the server allows, how much was used."""
        taken = sum(since <= one < until for one in self.through)
        return taken / (until - since) / ALLOWED


def simulated(
    server: Counting,
    *,
    seconds: float,
    concurrency: int = 200,
    latency: float = 0.05,
    told: float | None = 1.0,
    trouble: Class = "rate_limited",
    seed: int = 1,
) -> Seen:
    """As many calls as may be sent, for so many seconds."""
    chance = random.Random(seed)
    seen = Seen(Capacity(concurrency, chance))
    capacity, order = seen.capacity, itertools.count()
    events: list[tuple[float, int, str, Ticket]] = []
    now = 0.0
    while now < seconds:
        wait = capacity.wait(now)
        if wait <= 0:
            ticket = capacity.sent(now)
            seen.sent.append(now)
            seen.flying.append(capacity.in_flight)
            arrival = now + chance.uniform(0, NETWORK)
            heapq.heappush(events, (arrival, next(order), "arrives", ticket))
            continue
        wakes = now + wait + chance.uniform(0, LATE)
        if not events or wakes < events[0][0]:
            now = wakes
            continue
        at, _, what, ticket = heapq.heappop(events)
        now = max(now, at)
        if what == "answered":
            capacity.answered(ticket, now)
        elif what == "refused":
            capacity.failed(ticket, now, trouble, told)
            if told is not None:
                seen.waits.append((now, now + told))
        elif server.take(at):
            seen.through.append(at)
            ends = at + latency * chance.uniform(0.8, 1.2)
            heapq.heappush(events, (ends, next(order), "answered", ticket))
        else:
            seen.turned_away.append(at)
            heapq.heappush(events, (at + 0.002, next(order), "refused", ticket))
    return seen


SERVERS: dict[str, Callable[[], Counting]] = {
    "a bucket of ten": lambda: Bucket(10),
    "a bucket of fifty": lambda: Bucket(50),
    "a bucket of a hundred": lambda: Bucket(100),
    "a bucket of five hundred": lambda: Bucket(500),
    "a sliding window": Sliding,
    "a window": lambda: Fixed(0.0),
    "a window that begins in between": lambda: Fixed(0.5),
}


@pytest.mark.parametrize("latency", [0.05, 1.0])
@pytest.mark.parametrize("told", [1.0, None], ids=["told", "not told"])
@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS.keys())
def test_what_a_server_allows_is_used(
    server: Callable[[], Counting], told: float | None, latency: float
) -> None:
    seen = simulated(server(), seconds=120, told=told, latency=latency)
    assert seen.share(20, 120) >= 0.95
    assert len(seen.turned_away) < 50, "a few, among twelve thousand"
    later = [at for at in seen.turned_away if at > 20]
    assert len(later) < 15


def test_a_bucket_that_saves_a_second_up_loses_nothing_to_a_wait() -> None:
    assert simulated(Bucket(100), seconds=60).share(0, 60) >= 0.95


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS.keys())
def test_nothing_is_sent_while_the_server_wants_peace(
    server: Callable[[], Counting], seed: int
) -> None:
    seen = simulated(server(), seconds=20, seed=seed)
    assert seen.waits
    for begin, end in seen.waits:
        assert not [at for at in seen.sent if begin < at < end]


def test_the_first_no_is_heard_before_everything_is_sent() -> None:
    seen = simulated(Bucket(1, rate=1), seconds=5, concurrency=200, told=60.0)
    assert len(seen.sent) <= 10


@pytest.mark.parametrize("latency", [0.05, 1.0])
def test_a_server_without_limits_is_used_in_full(latency: float) -> None:
    seen = simulated(Unlimited(), seconds=10, latency=latency)
    full = next(at for at, flying in zip(seen.sent, seen.flying, strict=True) if flying == 200)
    assert full <= 0.5
    assert seen.capacity.rate is None
    ideal = 200 / latency * (10 - 0.5)
    assert len(seen.sent) >= 0.95 * ideal
    assert max(seen.flying) == 200


def test_a_server_that_was_down_is_used_in_full_again() -> None:
    seen = simulated(Down(60), seconds=70, told=None, trouble="connection")
    before = [at for at in seen.sent if at < 60]
    assert len(before) < 200 + 2 * 60, "a call now and then, to see whether it is back"
    assert seen.capacity.limit == 200
    assert seen.share(64, 70) * ALLOWED >= 0.9 * 200 / 0.05


def test_a_rate_that_the_server_raises_is_found() -> None:
    class Raised(Bucket):
        def take(self, now: float) -> bool:
            self.rate = 100 if now < 60 else 400
            return super().take(now)

    seen = simulated(Raised(100), seconds=400)
    assert seen.share(300, 400) >= 2.0, "of the hundred it began with"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("share", [0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.4])
def test_calls_turned_away_by_chance_are_not_mistaken_for_a_limit(share: float, seed: int) -> None:
    seen = simulated(AtRandom(share), seconds=120, told=None, seed=seed)
    assert seen.capacity.rate is None
    assert seen.share(90, 120) >= 5, "of a limit that is not there"


@pytest.mark.parametrize("share", [0.03, 0.1, 0.2])
def test_a_wait_that_is_told_by_chance_is_kept_to_and_no_more(share: float) -> None:
    seen = simulated(AtRandom(share), seconds=180, told=1.0)
    assert seen.share(120, 180) >= 1, "after every second of peace as many calls as may be sent"
    for begin, end in seen.waits:
        assert not [at for at in seen.sent if begin < at < end]


@pytest.mark.parametrize("told", [1.0, None], ids=["told", "not told"])
def test_a_limit_too_low_to_be_told_from_chance_is_rushed_at_once_at_most(
    told: float | None,
) -> None:
    seen = simulated(Bucket(1, rate=0.3), seconds=600, concurrency=64, told=told)
    late = sum(at > 200 for at in seen.turned_away)
    assert late <= 1.2 * sum(at > 200 for at in seen.through) + 5
    assert sum(at > 200 for at in seen.through) >= 0.75 * 0.3 * 400


def test_one_bad_moment_counts_once() -> None:
    capacity = Capacity(64, random.Random(0))
    tickets = [capacity.sent(number / 1000) for number in range(64)]
    for ticket in tickets:
        capacity.failed(ticket, 1.0, "server_error")
    assert capacity.limit == 32


def test_a_failure_now_and_then_slows_nothing_down() -> None:
    capacity = Capacity(64, random.Random(0))
    for number in range(1000):
        ticket = capacity.sent(float(number))
        if number % 20:
            capacity.answered(ticket, number + 0.5)
        else:
            capacity.failed(ticket, number + 0.5, "server_error")
    assert capacity.limit == 64


def test_the_wait_of_one_call_holds_for_all() -> None:
    capacity = Capacity(8, random.Random(0))
    first = capacity.sent(0.0)
    capacity.sent(0.5)
    capacity.failed(first, 1.0, "server_error", wait=7.0)
    assert 7.0 <= capacity.wait(1.0) <= 7.0 + JITTER


OUTCOMES: tuple[Class | None, ...] = (
    None, "rate_limited", "timeout", "server_error", "connection", "refused", "no_reply",
)  # fmt: skip


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(OUTCOMES),
            st.floats(0, 2),
            st.one_of(st.none(), st.floats(0, 5)),
        ),
        max_size=200,
    ),
    st.integers(1, 20),
    st.integers(0, 3),
)
def test_whatever_happens_the_limits_stand(
    ends: Iterable[tuple[Class | None, float, float | None]], concurrency: int, seed: int
) -> None:
    capacity, flying, now = Capacity(concurrency, random.Random(seed)), deque[Ticket](), 0.0
    for outcome, passed, told in ends:
        now += passed
        while capacity.wait(now) <= 0:
            flying.append(capacity.sent(now))
            assert len(flying) <= capacity.limit <= concurrency
        if not flying:
            now += capacity.wait(now)
            continue
        ticket = flying.popleft()
        if outcome is None:
            capacity.answered(ticket, now)
        else:
            capacity.failed(ticket, now, outcome, told)
            if told:
                assert capacity.wait(now) >= told
        assert 1 <= capacity.limit <= concurrency
        assert capacity.rate is None or 0 < capacity.rate < math.inf
        assert capacity.in_flight == len(flying)
        if not flying:
            assert capacity.wait(now) < math.inf, "nothing would ever be sent again"


@pytest.mark.parametrize("concurrency", [4, 64, 1000])
def test_a_limit_that_was_taken_for_chance_is_seen_again(concurrency: int) -> None:
    class Later(AtRandom):
        def __init__(self) -> None:
            super().__init__(0.1)
            self.bucket = Bucket(20)

        def take(self, now: float) -> bool:
            return super().take(now) if now < 90 else self.bucket.take(now)

    seen = simulated(Later(), seconds=240, told=None, concurrency=concurrency)
    before = [at for at in seen.through if 60 < at < 90]
    assert len(before) > 30 * 2 * concurrency**0.5, "chance, and no limit"
    late = [at for at in seen.turned_away if at > 120]
    assert len(late) < 60
    if concurrency > 4:  # fewer are not enough to come to the limit
        assert seen.share(150, 240) >= 0.9
