"""A bare loop over aiohttp: ``judge_aiohttp.py URL CALLS.jsonl OUT.json CONCURRENCY NUMBER``.

One session, as many workers as calls may be open at once, a post and the JSON of its response.
Nothing is checked, read or kept: what a judge could do at best. CALLS are sent round and round
until NUMBER is reached.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import aiohttp  # type: ignore[import-not-found]


async def ask_all(url: str, bodies: list[dict[str, Any]], workers: int, number: int) -> int:
    """How many calls came back."""
    waiting = islice(cycle(bodies), number)
    limit = aiohttp.TCPConnector(limit=workers)
    async with aiohttp.ClientSession(connector=limit) as session:

        async def work() -> int:
            done = 0
            for body in waiting:
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    done += bool((await response.json())["choices"])
            return done

        return sum(await asyncio.gather(*(work() for _ in range(workers))))


def main(url: str, calls: str, target: str, workers: str, number: str) -> None:
    """Read all calls, then ask; only asking is timed."""
    lines = Path(calls).read_text(encoding="utf-8").splitlines()
    bodies = [json.loads(line)["body"] for line in lines]
    before_cpu, before = time.process_time(), time.perf_counter()
    answered = asyncio.run(ask_all(url, bodies, int(workers), int(number)))
    told = {
        "seconds": time.perf_counter() - before,
        "cpu": time.process_time() - before_cpu,
        "answered": answered,
    }
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
