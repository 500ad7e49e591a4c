"""Judges: calls a second beside a bare loop and three peers, rates kept, memory, and tokens.

Every side asks the stub server of the tests, which runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

from tests.judge.local_model import model
from tests.judge.stub_server import Running

from bench.harness import (
    BenchError,
    Check,
    Context,
    Floor,
    Part,
    Quantity,
    Report,
    Row,
    Run,
    best,
    cpu,
    interleave,
    timed,
)
from bench.judges import (
    AT_ONCE,
    HELPED,
    Judged,
    Look,
    Peer,
    asks,
    bare_loop,
    items,
    judge,
    judged,
    peers,
    stub,
    write_calls,
)
from calibrant.core.item import Conversation
from calibrant.ports.chat import Ask
from calibrant.raters.chat.openai import OpenAIChat
from calibrant.raters.judge.card import Way
from calibrant.raters.judge.judge import Judge

TITLE = "judges: calls a second, rates kept, memory, tokens"

SHORT, LONG = 0.05, 1.0
"""Seconds that the server takes for a reply."""
RATE = 100
"""Requests a second that the limited server allows."""
SETTLING = 20.0
"""Seconds in which we find out what the limited server allows."""
KNOWN_CALLS = 600
"""Different calls that a peer is given; more are these again."""


def speed(ctx: Context) -> Report:
    """Calls a second at 50 ms and at 1 s, beside a bare aiohttp loop and three peers."""
    notes: list[str] = []
    bare, others = bare_loop(), peers(notes)
    calls = write_calls(ctx.work / "calls.jsonl", KNOWN_CALLS)
    rows: list[Row] = []
    for latency, number, rounds, least in (
        (SHORT, 6_000 if ctx.quick else 20_000, 1 if ctx.quick else 3, 5.0),
        (LONG, 3_000 if ctx.quick else 10_000, 1, 2.0),
    ):
        with stub(ctx, latency=latency) as server:
            ours, loop = [], []
            for _ in range(rounds):
                ctx.say(f"{latency:g} s: {number:,} calls, ours and the bare loop")
                ours.append(_rate(judged(ctx, server, number)))
                loop.append(_scaled(bare.asks(ctx, server, calls, number), number))
            rows += _beside_the_best(latency, ours, loop)
            few = 400 if ctx.quick else 1_000
            took = dict(_peers_take(ctx, others, server, calls, few, notes))
            rows += _beside(latency, ours, took, least)
    notes += [
        "asking alone, of every side: starting up and summing up are not counted; ours has every "
        f"call and rating stored by then; peers are given {few:,} calls each, once",
        f"no side can have more than {AT_ONCE / LONG:,.0f} calls a second at {LONG:g} s, so the "
        "floor there is for peers as they come",
        f"{HELPED!r}: a model written for this benchmark, with one client for all calls, in place "
        "of DeepEval's own, which makes a client for every call",
    ]
    return Report(
        f"one criterion a call, {AT_ONCE} calls at a time", rows, notes=notes,
        headings=("ours", "other", "ratio"),
    )  # fmt: skip


def _scaled(run: Run, number: int) -> Run:
    """For one call."""
    return Run(run.seconds / number, None if run.cpu is None else run.cpu / number)


def _rate(found: Judged) -> Run:
    if found.lost:
        raise BenchError(f"{found.lost} of {found.calls} calls were not answered")
    return _scaled(found.run, found.calls)


def _peers_take(
    ctx: Context,
    others: Iterable[Peer],
    server: Running,
    calls: Path,
    number: int,
    notes: list[str],
) -> Iterator[tuple[Peer, Run]]:
    """What each peer takes for a call; of those that fail, the notes tell."""
    for one in others:
        ctx.say(f"{one.name}: {number:,} calls")
        try:
            yield one, _scaled(one.asks(ctx, server, calls, number), number)
        except BenchError as error:
            notes.append(f"{one.name} did not do it: {str(error).splitlines()[-1]}")


def _beside_the_best(latency: float, ours: list[Run], loop: list[Run]) -> list[Row]:
    mine, bare = 1 / best(ours), 1 / best(loop)
    short = latency == SHORT
    rows = [
        Row(
            f"{latency:g} s: a bare aiohttp loop",
            Quantity(mine, "/s"),
            Quantity(bare, "/s"),
            mine / bare,
            Floor(0.8) if short else None,
            {"ours": ours, "bare": loop},
        )
    ]
    if not short:
        ideal = AT_ONCE / latency
        name = f"{latency:g} s: the most there can be"
        rows.append(
            Row(name, Quantity(mine, "/s"), Quantity(ideal, "/s"), mine / ideal, Floor(0.95))
        )
    return rows


def _beside(
    latency: float, ours: list[Run], took: Mapping[Peer, Run], least: float
) -> Iterator[Row]:
    """A row for each peer; the floor stands in that of the fastest that it can be held to."""
    mine = 1 / best(ours)
    bound = [run.seconds for peer, run in took.items() if latency == SHORT or not peer.is_helped]
    fastest = min(bound, default=0.0)
    for peer, run in took.items():
        yield Row(
            f"{latency:g} s: {peer.name}",
            Quantity(mine, "/s"),
            Quantity(1 / run.seconds, "/s"),
            mine * run.seconds,
            Floor(least) if run.seconds == fastest else None,
            {"ours": ours, "peer": [run]},
        )


def client(ctx: Context) -> Report:
    """What one call costs our client, which reads the reply, beside a bare aiohttp loop."""
    number, rounds = (2_000, 1) if ctx.quick else (10_000, 5)
    bare, some = bare_loop(), asks(KNOWN_CALLS)
    calls = write_calls(ctx.work / "calls.jsonl", KNOWN_CALLS)
    with stub(ctx, latency=SHORT) as server:

        def mine() -> Run:
            return _scaled(timed(lambda: asyncio.run(_all(server, some, number))), number)

        def theirs() -> Run:
            return _scaled(bare.asks(ctx, server, calls, number), number)

        ctx.say(f"{number:,} calls, ours and the bare loop")
        runs = interleave({"ours": mine, "bare": theirs}, rounds=rounds, warm_up=0)
    cost, other = cpu(runs["ours"]), cpu(runs["bare"])
    return Report(
        f"the client alone, {AT_ONCE} calls at a time",
        [
            Row("processor time a call", Quantity(cost, "s"), Quantity(other, "s"), cost / other),
            Row(
                "calls a second",
                Quantity(1 / best(runs["ours"]), "/s"),
                Quantity(1 / best(runs["bare"]), "/s"),
                best(runs["bare"]) / best(runs["ours"]),
                runs=runs,
            ),
        ],
        headings=("ours", "bare aiohttp", "ratio"),
    )


async def _all(server: Running, some: Sequence[Ask], number: int) -> None:
    """So many calls by our client, these again and again."""
    chat, waiting = OpenAIChat(server.base_url), islice(cycle(some), number)

    async def work() -> None:
        for one in waiting:
            await chat.ask(one)

    try:
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    finally:
        await chat.close()


def limited(ctx: Context) -> Report:
    """A server that allows 100 requests a second: how much of that is used, and no ban."""
    number = 4_000 if ctx.quick else 10_000
    with stub(ctx, latency=SHORT, rate=RATE, burst=RATE / 10) as server:
        ctx.say(f"{number:,} calls")
        found = judged(ctx, server, number, watched=True)
        counts = server.counts()
    working = [look for look in found.looks if 0 < look.answered < found.calls]
    settled = [look for look in working if look.at - working[0].at > SETTLING]
    rate, whole = _between(settled), _between(working)
    return Report(
        f"{RATE} requests a second allowed, {AT_ONCE} calls at a time wished",
        [
            Row(
                f"calls answered a second, after {SETTLING:g} s",
                Quantity(rate, "/s"),
                Quantity(RATE, "/s"),
                rate / RATE,
                Floor(0.95),
                {"ours": [found.run]},
            ),
            Row(
                "the same from the first call on",
                Quantity(whole, "/s"),
                Quantity(RATE, "/s"),
                whole / RATE,
            ),
        ],
        [Check(found.calls, found.lost + counts.get("bans", 0))],
        notes=[
            f"{counts.get('limited', 0):,} requests refused on the way, "
            f"{counts.get('bans', 0)} bans; a ban or a lost call counts as a difference",
        ],
        headings=("ours", "allowed", "share"),
    )


def _between(looks: Sequence[Look]) -> float:
    """Calls answered a second from the first look to the last."""
    first, last = looks[0], looks[-1]
    return (last.answered - first.answered) / (last.at - first.at)


def durable(ctx: Context) -> Report:
    """100,000 calls stored in one run: memory at a tenth of it and at the end."""
    number = 5_000 if ctx.quick else 100_000
    with stub(ctx, latency=SHORT) as server:
        ctx.say(f"{number:,} calls")
        found = judged(ctx, server, number, watched=True)
        counts = server.counts()
    with (ctx.work / "ratings.jsonl").open("rb") as file:
        stored = sum(len(json.loads(line)["metadata"]["calls"]) for line in file)
    with_memory = [look for look in found.looks if look.memory]
    early = next(look for look in with_memory if look.answered >= found.calls / 10)
    late = max(look.memory for look in with_memory[-5:])
    kept = (ctx.work / "ratings.jsonl.calls").stat().st_size
    wrong = abs(found.calls - stored) + found.lost + counts["answered_again"]
    return Report(
        f"{found.calls:,} calls in one run",
        [
            Row("calls a second, all stored", Quantity(found.calls / found.run.seconds, "/s")),
            Row(
                "memory at the end, beside that at a tenth",
                Quantity(late, "B"),
                Quantity(early.memory, "B"),
                late / early.memory,
                Floor(1.25, at_most=True),
                {"ours": [found.run]},
            ),
        ],
        [Check(found.calls, wrong)],
        notes=[
            f"{kept / found.calls:,.0f} bytes a call are kept; a call that is not stored, lost or "
            "paid twice counts as a difference",
        ],
        headings=("at the end", "at a tenth", "ratio"),
    )


def tokens(ctx: Context) -> Report:
    """Tokens of prompts for a conversation of 15 exchanges, by the three ways of asking."""
    some = items(3 if ctx.quick else 20)
    ways: tuple[Way, ...] = ("criterion", "category", "rubric")
    with tokenizer() as ids:
        sent = {way: [_prompts(judge(way), item, ids) for item in some] for way in ways}
    whole = {way: sum(sum(map(len, one)) for one in sent[way]) / len(some) for way in ways}
    fresh = {way: sum(map(_not_kept, sent[way])) / len(some) for way in ways}
    most = whole["criterion"]
    rows = [
        Row(
            f"by {way}, {len(sent[way][0])} calls",
            Quantity(whole[way], "tokens"),
            Quantity(fresh[way], "tokens"),
            whole[way] / most,
            Floor(1 / 6, at_most=True) if way == "rubric" else None,
        )
        for way in ways
    ]
    rows.append(
        Row(
            "by criterion with a cache, beside by rubric",
            Quantity(fresh["criterion"], "tokens"),
            Quantity(whole["rubric"], "tokens"),
            fresh["criterion"] / whole["rubric"],
        )
    )
    return Report(
        "tokens of prompts a conversation, measurements told",
        rows,
        notes=[
            f"mean of {len(some)} conversations; counted by the tokenizer of {model().name}; "
            "replies and schemas are not counted",
            "with a cache: a beginning that an earlier call about the conversation had is not "
            "counted; ratio: without a cache, to by criterion",
        ],
        headings=("all", "with a cache", "ratio"),
    )


Ids = Callable[[str], list[int]]


@contextmanager
def tokenizer() -> Iterator[Ids]:
    """A function from text to the numbers of its tokens, by the small model of the tests."""
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(model())
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.offline, wanted.verbosity, wanted.warmup, wanted.n_ctx = True, -1, False, 512
    held = [xllamacpp.Server(wanted)]
    address = held[0].listening_address

    def ids(text: str) -> list[int]:
        request = urllib.request.Request(
            f"{address}/tokenize",
            json.dumps({"content": text}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as told:
            found: list[int] = json.load(told)["tokens"]
        return found

    try:
        yield ids
    finally:
        held.clear()  # its last reference ends the server


def _prompts(asking: Judge, item: Conversation, ids: Ids) -> list[list[int]]:
    """The tokens of every prompt about an item."""
    asked = (asking.ask(call) for call in asking.calls(item))
    return [ids("\n".join(message.content for message in one.messages)) for one in asked]


def _not_kept(prompts: Sequence[list[int]]) -> int:
    """Tokens that no earlier prompt of these begins with."""
    return sum(
        len(one) - max((_common(one, other) for other in prompts[:at]), default=0)
        for at, one in enumerate(prompts)
    )


def _common(one: list[int], other: list[int]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


PARTS: dict[str, Part] = {
    "speed": speed,
    "client": client,
    "limited": limited,
    "durable": durable,
    "tokens": tokens,
}
