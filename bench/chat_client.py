"""What asking costs: ``python -m bench.chat_client`` beside a bare aiohttp loop, at a stub.

Both send the same requests with the same number at once, in turns; told are calls a second and
processor time a call, each the median of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any

import aiohttp
from tests.judge.stub_server import serving

from calibrant.ports.chat import Ask, Message
from calibrant.raters.chat.openai import OpenAIChat

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "CQ1": {
            "type": "object",
            "properties": {
                "evidence": {"type": "array", "items": {"type": "string"}},
                "reasoning": {"type": "string"},
                "answer": {"enum": ["YES", "NO"]},
            },
            "required": ["evidence", "reasoning", "answer"],
        }
    },
    "required": ["CQ1"],
}
ITEM = "".join(
    f"[{n}] User: I have looked for work since spring and it is “hard”.\n"
    f"[{n}] Coach: What did you try last week, and what came of it?\n"
    for n in range(15)
)


def prompt(number: int) -> tuple[Message, Message]:
    """A prompt of its own for each call, as judges have."""
    return Message("system", "Judge."), Message("user", f"{ITEM}Question {number}: is it kind?")


async def paced(
    call: Callable[[int], Awaitable[object]], calls: int, at_once: int
) -> tuple[float, float]:
    """Calls a second, and microseconds of the processor a call."""
    todo = iter(range(calls))

    async def work() -> None:
        for number in todo:
            await call(number)

    wall, busy = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(at_once)))
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    return calls / wall, busy / calls * 1e6


async def bare(base_url: str, calls: int, at_once: int) -> tuple[float, float]:
    """A session of aiohttp and nothing else."""
    form = {"name": "reply", "strict": True, "schema": SCHEMA}
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Authorization": "Bearer key"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def call(number: int) -> None:
            messages = [{"role": one.role, "content": one.content} for one in prompt(number)]
            body = {
                "model": "stub",
                "messages": messages,
                "temperature": 0,
                "max_tokens": 1024,
                "response_format": {"type": "json_schema", "json_schema": form},
            }
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                await response.json()

        return await paced(call, calls, at_once)


async def ours(base_url: str, calls: int, at_once: int) -> tuple[float, float]:
    """Our client: the same, and every reply checked and made a record."""
    chat = OpenAIChat(base_url, "key")

    async def call(number: int) -> None:
        await chat.ask(Ask(model="stub", messages=prompt(number), schema=SCHEMA))

    try:
        return await paced(call, calls, at_once)
    finally:
        await chat.close()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=8000)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    told: dict[str, list[tuple[float, float]]] = {"bare aiohttp": [], "ours": []}
    with serving(latency=given.latency) as stub:
        for _ in range(given.rounds):
            for name, run in (("bare aiohttp", bare), ("ours", ours)):
                measured = asyncio.run(run(stub.base_url, given.calls, given.at_once))
                told[name].append(measured)
    middle = {
        name: [median(column) for column in zip(*one, strict=True)] for name, one in told.items()
    }
    for name, (rate, cost) in middle.items():
        print(f"{name:14} {rate:7,.0f} calls/s {cost:6.0f} µs of the processor a call")
    (rate, cost), (our_rate, our_cost) = middle["bare aiohttp"], middle["ours"]
    print(f"rate {our_rate / rate:.2f} of the bare loop's, cost {our_cost / cost:.2f} of it")


if __name__ == "__main__":
    main()
