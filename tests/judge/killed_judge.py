"""A judge in a process of its own that may be killed at any time: ``python -m`` with its settings.

It tells in a file what became of each call, a line each, once everything is done.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from calibrant.core.item import Conversation, Exchange
from calibrant.engine.judging import Job, Limits, Seat, Tally, judged
from calibrant.formats.call_log import CallLog
from calibrant.formats.rubric_file import load_rubric
from calibrant.raters.chat.openai import OpenAIChat
from calibrant.raters.judge.judge import Judge

CONCURRENCY = 32
KEY = "sk-never-in-a-log"


def jobs(seat: Seat, items: int) -> Iterator[Job]:
    for number in range(items):
        said = Exchange(user=f"This is trouble number {number}", assistant="What weighs on you?")
        yield Job(number, Conversation(id=f"i{number}", exchanges=(said, said)), seat)


async def work(base_url: str, log_path: Path, told: Path, items: int, seed: int) -> None:
    limits = Limits(concurrency=CONCURRENCY, timeout=0.5, pause=0.05, longest_pause=0.2)
    tally = Tally()
    with CallLog.open(log_path) as log:
        chat = OpenAIChat(base_url, KEY, timeout=5.0)
        seat = Seat(Judge(load_rubric("coaching-conversation"), "stub", key=log.key), chat)
        ends: list[dict[str, object]] = []
        chance = random.Random(seed)
        async for done in judged(jobs(seat, items), log, limits, tally, chance=chance):
            for asked in done.asked:
                end = {"id": asked.call.id, "read": asked.reading is not None, "why": asked.why}
                ends.append(end)
        await chat.close()
    assert not tally.stopped, tally.stopped
    told.write_text("".join(json.dumps(one) + "\n" for one in ends), "utf-8")


if __name__ == "__main__":
    base_url, log_path, told, items, seed = sys.argv[1:]
    asyncio.run(work(base_url, Path(log_path), Path(told), int(items), int(seed)))
