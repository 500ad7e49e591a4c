"""Servers for the benchmark: started on a free port, asked until they answer, ended for sure."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import CLEAN, HERE, PYTHON, BenchError, Context

PATIENCE = 20.0
"""Seconds that a load waits for the last answers."""


@dataclass(slots=True)
class Served:
    """A server at work."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def cpu(self) -> float:
        """Processor seconds of the server and of those it has started."""
        return sum(_cpu(one) for one in _family(self.process.pid))

    def said(self) -> str:
        """The last lines it has written."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.strip().splitlines()[-8:])

    def complaints(self) -> int:
        """Lines that tell of a locked database: there must be none of ours."""
        text = self.log.read_text(encoding="utf-8", errors="replace").lower()
        return text.count("database is locked") + text.count("database table is locked")


def free_port() -> int:
    """A port that nobody has just now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextlib.contextmanager
def serving(
    name: str,
    command: Sequence[str | Path],
    *,
    folder: Path,
    port: int,
    ready: str = "/",
    told: Mapping[str, str] | None = None,
    most_seconds: float = 60,
) -> Iterator[Served]:
    """A server, from its first answer at ``ready`` on; it and all it started end afterwards."""
    log = folder / f"{name.replace(' ', '-')}.log"
    with log.open("ab") as out:
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**CLEAN, **(told or {})},
            start_new_session=True,
        )
    served = Served(name, port, process, log)
    try:
        _wait(served, ready, most_seconds)
        yield served
    finally:
        _end(process)


def _wait(served: Served, path: str, most_seconds: float) -> None:
    until = time.monotonic() + most_seconds
    while time.monotonic() < until:
        if served.process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{served.url}{path}", timeout=10):
                return
        except urllib.error.HTTPError as answer:
            answer.close()
            return
        except OSError:
            time.sleep(0.1)
    raise BenchError(f"{served.name} did not start in {most_seconds:g} seconds:\n{served.said()}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """By its own group, so that nothing of it stays behind."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=15)
            return


def _stat(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []


def _cpu(process: int) -> float:
    found = _stat(process)
    return sum(map(int, found[11:13])) / os.sysconf("SC_CLK_TCK") if found else 0.0


def _family(first: int) -> list[int]:
    """A process and those of its group."""
    everyone = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return [one for one in everyone if (found := _stat(one)) and int(found[2]) == first]


# -- load


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who saves: how they are known, and where they have something to do."""

    headers: Mapping[str, str]
    places: Sequence[str]


@dataclass(frozen=True, slots=True)
class Load:
    """What people send, place after place."""

    people: Sequence[Person]
    turn: Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of a load."""

    rate: float
    """Answers a second, the good ones alone."""
    p50: float
    p95: float
    answers: int
    errors: Mapping[str, int] = field(default_factory=dict)
    done: Sequence[int] = ()
    """Good answers by step of a turn, from the first to the last."""
    client_cpu: float = 0.0
    """Processor time of the load itself, as a share of the time it took."""
    server_cpu: float = 0.0
    """The server's, likewise."""
    each: float = 0.0
    """Seconds of the server's processor for a good answer."""

    @property
    def wrong(self) -> int:
        """Answers that were errors, or did not come."""
        return sum(self.errors.values())


def put(served: Served, load: Load, ctx: Context, *, seconds: float, warm_up: float) -> Loaded:
    """Have people work on a server for a while, from a process of its own."""
    asked, target = ctx.work / "load.json", ctx.work / "loaded.json"
    target.unlink(missing_ok=True)
    told: dict[str, Any] = {
        "port": served.port,
        "warm_up": warm_up,
        "seconds": seconds,
        "patience": PATIENCE,
        "turn": list(load.turn),
        "people": [{"headers": one.headers, "places": one.places} for one in load.people],
    }
    asked.write_text(json.dumps(told), encoding="utf-8")
    before, began = served.cpu(), time.monotonic()
    try:
        done = subprocess.run(
            [PYTHON, HERE / "web_load.py", asked, target],
            env=CLEAN,
            capture_output=True,
            text=True,
            check=False,
            timeout=warm_up + seconds + PATIENCE + 60,
        )
    except subprocess.TimeoutExpired:
        raise BenchError(f"the load on {served.name} did not end in time") from None
    took, after = time.monotonic() - began, served.cpu()
    if done.returncode != 0:
        raise BenchError(f"the load on {served.name} failed:\n{done.stderr[-600:]}")
    found = json.loads(target.read_text(encoding="utf-8"))
    if found["out_of_work"]:
        raise BenchError(f"{served.name}: the people had nothing left to do before the time was up")
    if not found["right"]:
        some = next(iter(found["errors"]), "no answer")
        raise BenchError(f"{served.name}: not one good answer: {' '.join(some.split())[:300]}")
    p50, p95 = np.quantile(found["latencies"], [0.5, 0.95])
    return Loaded(
        found["right"] / seconds,
        float(p50),
        float(p95),
        found["right"],
        found["errors"],
        found["done"],
        found["cpu"] / seconds,
        (after - before) / took,
        (after - before) / sum(found["done"]),
    )
