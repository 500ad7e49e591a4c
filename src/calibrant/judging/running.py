"""What every run of judges needs: its log of calls, and a loop to run in."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, TypeVar

from calibrant.core.errors import SourceError
from calibrant.engine.jobs import Done, Job, Tally
from calibrant.engine.judging import judged
from calibrant.formats.call_log import CallLog
from calibrant.judging.asking import Asking
from calibrant.judging.seats import Bench

T = TypeVar("T")


def log_of(asking: Asking, usual: Path) -> CallLog:
    """The log that calls are kept in, or the one that is read instead of asking."""
    if asking.replay is not None:
        return CallLog.open(asking.replay, readonly=True)
    path = asking.calls or usual
    in_a_folder(path)
    return CallLog.open(path)


def in_a_folder(path: Path) -> None:
    """Raise ``SourceError`` where a file is to be written to a folder that is not there."""
    if not path.parent.is_dir():
        raise SourceError(f"{path}: there is no folder {path.parent}")


def asker(
    asking: Asking, log: CallLog, tally: Tally
) -> Callable[[Iterable[Job]], AsyncIterator[Done]]:
    """Asks for jobs, as hard as the servers let it."""
    chance = random.Random()  # noqa: S311 - spreads calls out, keeps nothing secret
    return lambda jobs: judged(jobs, log, asking.limits, tally, chance=chance)


def run_closing(work: Awaitable[T], bench: Bench, tally: Tally) -> T:
    """Run to the end; whatever happens, connections and models are let go."""
    return _run(_closing(work, bench, tally))


async def _closing(work: Awaitable[T], bench: Bench, tally: Tally) -> T:
    began = time.monotonic()
    gc.freeze()  # what is loaded by now stays, and need not be looked through again and again
    try:
        return await work
    finally:
        tally.seconds = time.monotonic() - began
        gc.unfreeze()
        await bench.close()


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, also from where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    found: list[T] = []
    failed: list[BaseException] = []

    def aside() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=aside)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
