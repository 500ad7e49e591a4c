"""Calls to models, many at once: sent, waited for, asked again, and kept.

Jobs come in lazily and go out as they are done. Whatever the log holds is not asked again: stored
replies are read by the reader of now, and one that it cannot read counts as an attempt that was
made. A call that goes wrong is asked again after a while, so often and no more; then it has ended
with the reason. Every server has workers of its own and finds its own speed.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator
from dataclasses import replace

from calibrant.core.errors import ChatError
from calibrant.engine.attempts import Attempts
from calibrant.engine.capacity import Capacity
from calibrant.engine.jobs import Done, Job, Limits, Seat, Tally
from calibrant.engine.turns import Bench, Server, Taken, Turn
from calibrant.formats.call_log import CallLog
from calibrant.ports.chat import PASSING, Ask, Chat, Reply, Trouble
from calibrant.raters.judge.judge import Call, Judge
from calibrant.raters.judge.outcome import UNREADABLE, Asked

__all__ = ["Done", "Job", "Limits", "Seat", "Tally", "judged"]

NOT_RECORDED = "not recorded"
"""Why there is nothing where a log is read again and does not hold a call."""
HEARTBEAT = 0.1
"""Seconds between one look at whether to stop and the next."""
TURNED_AWAY = frozenset({401, 402, 403, 404, 429})
"""What servers say to a wrong key, an empty account or a model that they do not have."""
ENOUGH, ENOUGH_LATER = 3, 20
"""So many first calls turned away, or later ones in a row, and no other is sent."""
NOBODY_THERE = 20
"""So many first attempts that met nobody, and the run is over."""
PATIENT = 3
"""A call may be turned away for coming too fast so many times as often as it may go wrong."""


async def judged(
    jobs: Iterable[Job], log: CallLog, limits: Limits, tally: Tally, *, chance: random.Random
) -> AsyncGenerator[Done, None]:
    """Jobs as they are done, in the order in which they are.

    A log that is open for reading only is all there is: nothing is sent. Where a run is stopped,
    jobs that are not whole yet do not come out; the next run takes them up again. Raises
    ``ChatError`` where the first calls of a judge are all turned away.
    """
    loop = _Loop(iter(jobs), log, limits, tally, chance)
    found = loop.run()
    try:
        async for done in found:
            yield done
    finally:
        await found.aclose()


class _Loop:
    """All that is in hand."""

    def __init__(
        self,
        jobs: Iterator[Job],
        log: CallLog,
        limits: Limits,
        tally: Tally,
        chance: random.Random,
    ) -> None:
        self.jobs, self.log, self.limits, self.tally, self.chance = jobs, log, limits, tally, chance
        self.most = 4 * limits.concurrency + 16
        """Jobs in hand at once."""
        self.in_hand = 0
        self.exhausted = self.closing = False
        self.out: deque[Done] = deque()
        self.open: dict[str, Turn] = {}
        self.benches: dict[Seat, Bench] = {}
        self.servers: dict[Chat, Server] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.due: dict[asyncio.Task[None], float] = {}
        """By when calls on their way must be answered; 0: it is too late for one. A timer for
        each call would cost a good part of what the rest of the loop does."""
        self.broken: BaseException | None = None
        self.asyncio = asyncio.get_running_loop()
        self.now = self.asyncio.time
        self.news = asyncio.Event()
        tally.lost = tuple(log.in_flight)

    # -- in and out

    async def run(self) -> AsyncGenerator[Done, None]:
        """Everything."""
        heart = asyncio.create_task(self._beat())
        try:
            while True:
                while self.out:
                    self.in_hand -= 1
                    yield self.out.popleft()
                    self._wake_all()
                if self.broken is not None:
                    raise self.broken
                if self._over():
                    return
                if not self.open and not self.tally.stop:
                    self._take()
                    await asyncio.sleep(0)
                    continue
                self.news.clear()
                await self.news.wait()
        finally:
            self.closing = True
            heart.cancel()
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(heart, *self.tasks, return_exceptions=True)

    def _over(self) -> bool:
        if self.out:
            return False
        if self.tally.stop:
            return not self.tally.in_flight
        return self.exhausted and not self.open

    def _take(self) -> None:
        """Take the next job up; what is known about it already is read from the log."""
        job = next(self.jobs, None)
        if job is None:
            self.exhausted = True
            self.news.set()
            return
        judge = job.seat.judge
        calls = judge.calls(job.item, job.sample)
        taken = Taken(job, [None] * len(calls), len(calls))
        self.in_hand += 1
        self.tally.known += len(calls)
        if not calls:
            self._finish(taken)
        for place, call in enumerate(calls):
            self._take_call(taken, place, call)

    def _take_call(self, taken: Taken, place: int, call: Call) -> None:
        turn = self.open.get(call.id)
        if turn is not None:  # the same words are being asked about just now
            turn.waiting.append((taken, place, call))
            return
        judge = taken.job.seat.judge
        attempts = Attempts(call)
        if self._known(attempts, judge):
            self.tally.kept += 1
            self._fill(taken, place, attempts.asked(kept=True))
            return
        bench = self._bench(taken.job.seat)
        self.open[call.id] = turn = Turn(attempts, bench, [(taken, place, call)])
        self._enqueue(turn)

    def _known(self, attempts: Attempts, judge: Judge) -> bool:
        """Read what the log holds of a call; whether that is all there will be."""
        call = attempts.call
        found = self.log.replies(call.id)
        for kept in reversed(found):
            attempts.read(judge, kept.reply, kept.form, kept.seconds)
        if self.log.readonly and not found:
            why, detail = self.log.given_up(call.id) or (NOT_RECORDED, "")
            attempts.missed(why, detail, 0.0)
        spent = attempts.whole or attempts.made >= self.limits.attempts
        return spent or self.log.readonly or self.log.answered(call.id)

    def _bench(self, seat: Seat) -> Bench:
        bench = self.benches.get(seat)
        if bench is None:
            server = self.servers.get(seat.chat)
            if server is None:
                at_once = min(self.limits.concurrency, seat.at_once or self.limits.concurrency)
                server = Server(Capacity(at_once, self.chance))
                self.servers[seat.chat] = server
            card = seat.judge.card
            self.log.card(card)
            bench = Bench(seat, server, card.name, card.model)
            self.benches[seat] = bench
        return bench

    def _fill(self, taken: Taken, place: int, asked: Asked) -> None:
        """A call of a job has ended."""
        self.tally.done += 1
        if asked.reading is None:
            self.tally.abstained[asked.why or ""] += 1
        taken.asked[place] = asked
        taken.left -= 1
        if not taken.left:
            self._finish(taken)

    def _finish(self, taken: Taken) -> None:
        self.out.append(Done(taken.job, tuple(one for one in taken.asked if one is not None)))
        self.news.set()

    def _end(self, turn: Turn) -> None:
        """A call has ended, for all who wait for it."""
        del self.open[turn.attempts.call.id]
        asked = turn.attempts.asked()
        for number, (taken, place, call) in enumerate(turn.waiting):
            if number:  # another item with the same words: not paid for again
                self.tally.kept += 1
                asked = replace(asked, call=call, kept=True)
            self._fill(taken, place, asked)
        if not self.open:
            self.news.set()

    # -- workers

    def _enqueue(self, turn: Turn, *, first: bool = False) -> None:
        """A call is to be asked; somebody takes it."""
        if self.closing:
            return
        server = turn.bench.server
        (server.ready.appendleft if first else server.ready.append)(turn)
        if not server.wake():
            self._hire(server)

    def _hire(self, server: Server) -> None:
        if server.workers < self.limits.concurrency:
            server.workers += 1
            task = asyncio.create_task(self._work(server))
            self.tasks.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.broken = self.broken or task.exception()
            self.news.set()

    async def _work(self, server: Server) -> None:
        while True:
            if self.tally.stop or (not server.ready and not self._more()):
                idle = self.asyncio.create_future()
                server.idle.append(idle)
                await idle
            elif not server.ready:
                self._take()
                await asyncio.sleep(0)
            elif await self._let_in(server) and server.ready:
                turn = server.ready.popleft()
                if not server.ready and self._more():
                    self._hire(server)
                await self._ask(server, turn)

    def _more(self) -> bool:
        return not self.exhausted and self.in_hand < self.most

    async def _let_in(self, server: Server) -> bool:
        """Wait until the server may be asked; false where the run is stopped meanwhile."""
        capacity = server.capacity
        if not server.door.locked() and capacity.wait(self.now()) <= 0:
            return True
        async with server.door:
            while server.ready and not self.tally.stop:
                wait = capacity.wait(self.now())
                if wait <= 0:
                    return True
                if wait < math.inf:
                    await asyncio.sleep(min(wait, HEARTBEAT))
                else:
                    server.freed.clear()
                    await server.freed.wait()
        return False

    def _wake_all(self) -> None:
        for server in self.servers.values():
            server.wake()

    async def _beat(self) -> None:
        """Look now and then whether to stop, and how the servers are doing."""
        while True:
            await asyncio.sleep(HEARTBEAT)
            now, tally = self.now(), self.tally
            self._end_late(now)
            rates = [one.capacity.rate for one in self.servers.values()]
            tally.rate = min((one for one in rates if one is not None), default=None)
            held = [one.capacity.held_until - now for one in self.servers.values()]
            tally.held = max(0.0, max(held, default=0.0))
            if any(self._is_silent(one, now) for one in self.servers.values()):
                self._stop(f"there was no answer for {self.limits.patience:.0f} s")
            elif tally.held > self.limits.patience:
                self._stop(f"the server asks to wait for {tally.held:.0f} s")
            if tally.stop:
                self.news.set()
                for server in self.servers.values():
                    server.freed.set()

    def _is_silent(self, server: Server, now: float) -> bool:
        """Whether a server that is being asked has said nothing for too long.

        However long an attempt may take, one that began in the silence must have ended in it.
        """
        if server.silent_since is None or now - server.silent_since <= self.limits.patience:
            return False
        return server.failed_again and any(
            turn.bench.server is server for turn in self.open.values()
        )

    def _end_late(self, now: float) -> None:
        """Do not wait any longer for calls that are not answered in time."""
        for task, due in self.due.items():
            if 0 < due <= now:
                self.due[task] = 0.0
                task.cancel()

    def _stop(self, why: str) -> None:
        self.tally.stop = True
        self.tally.stopped = self.tally.stopped or why

    # -- one attempt

    async def _ask(self, server: Server, turn: Turn) -> None:
        """Send a call once."""
        bench, attempts, tally = turn.bench, turn.attempts, self.tally
        ask = bench.ladder.ask(bench.seat.judge, attempts.call)
        self.log.sent(attempts.call, bench.card, attempts.number + 1)
        began = self.now()
        ticket = server.capacity.sent(began)
        tally.in_flight += 1
        trouble: Trouble | None = None
        task = asyncio.current_task()
        assert task is not None
        timeout = bench.seat.timeout or self.limits.timeout
        self.due[task] = began + timeout
        try:
            reply = await bench.seat.chat.ask(ask)
        except Trouble as found:
            trouble = found
        except asyncio.CancelledError:
            if self.due[task] > 0 or self.closing:
                raise
            task.uncancel()
            trouble = Trouble("timeout", f"no answer in {timeout:g} s")
        finally:
            tally.in_flight -= 1
            del self.due[task]
        now = self.now()
        if trouble is None:
            server.capacity.answered(ticket, now)
            server.silent_since, server.failed_again = None, False
            self._replied(turn, reply, ask, now - began)
        else:
            server.capacity.failed(ticket, now, trouble.why, trouble.wait)
            self._troubled(turn, trouble, ask, now - began)
        server.freed.set()

    def _replied(self, turn: Turn, reply: Reply, ask: Ask, seconds: float) -> None:
        bench, attempts = turn.bench, turn.attempts
        bench.heard, bench.turned_away = True, 0
        rung, why = attempts.read(bench.seat.judge, reply, ask.form, seconds)
        self.log.got(
            attempts.call,
            reply,
            form=ask.form,
            attempt=attempts.number,
            seconds=seconds,
            rung=rung,
            why=why,
            last=attempts.whole,
        )
        self.tally.paid(bench.model, reply.usage)
        if attempts.whole:
            self._end(turn)
        elif attempts.made >= self.limits.attempts:
            self.log.gave_up(attempts.call, UNREADABLE, why, attempts.number)
            self._end(turn)
        else:
            self.tally.errors[UNREADABLE] += 1
            self._again(turn)

    def _troubled(self, turn: Turn, trouble: Trouble, ask: Ask, seconds: float) -> None:
        bench, attempts = turn.bench, turn.attempts
        server, why = bench.server, trouble.why
        if why in PASSING:
            server.silence(self.now(), seconds)
        steps = len(bench.ladder.steps)
        if why == "unsupported" and bench.ladder.down(ask, trouble.detail):
            self.tally.steps += [(bench.model, one) for one in bench.ladder.steps[steps:]]
            self.log.failed(attempts.call, why, attempts.number + 1)
            self._enqueue(turn, first=True)
            return
        self.tally.errors[why] += 1
        attempts.missed(why, trouble.detail, seconds)
        if why == "connection" and not bench.heard:
            self._unreached(bench, trouble)
        most = self.limits.attempts
        if why in PASSING and attempts.made < most and attempts.limited < PATIENT * most:
            self.log.failed(attempts.call, why, attempts.number)
            self._again(turn, at_once=why == "rate_limited")
            return
        self.log.gave_up(attempts.call, why, trouble.detail, attempts.number)
        self._end(turn)
        if why == "refused" and trouble.status in TURNED_AWAY:
            self._turned_away(bench, trouble)

    def _unreached(self, bench: Bench, trouble: Trouble) -> None:
        """Nobody is there: say so, rather than try for an hour."""
        bench.unreached += 1
        if bench.unreached >= NOBODY_THERE:
            told = trouble.detail or "no connection"
            raise ChatError(
                f"{bench.model}: the server cannot be reached: {told}; is it running, and the "
                "address right?"
            )

    def _turned_away(self, bench: Bench, trouble: Trouble) -> None:
        bench.turned_away += 1
        status, told = f"status {trouble.status}", trouble.detail
        if not told.startswith(status):
            told = f"{status}: {told}" if told else status
        told = f"{bench.model}: the server turns every call away: {told}"
        if bench.heard:  # a key that is taken back, or an account that is empty
            if bench.turned_away >= ENOUGH_LATER:
                self._stop(told)
        elif bench.turned_away >= ENOUGH:
            raise ChatError(
                f"{told}; is the key right "
                "(CALIBRANT_API_KEY, and for a further server CALIBRANT_API_KEY_ with its host), "
                "the address, and the name of the model?"
            )

    def _again(self, turn: Turn, *, at_once: bool = False) -> None:
        """Ask once more: after a while, or as soon as the server takes calls again."""
        self.tally.retried += 1
        if at_once:
            self._enqueue(turn, first=True)
            return
        pause = self.limits.pause * 2.0 ** (turn.attempts.made - 1)
        pause = self.chance.uniform(0, min(pause, self.limits.longest_pause))
        self.asyncio.call_later(pause, self._enqueue, turn)
