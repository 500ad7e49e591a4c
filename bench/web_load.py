"""People who save over HTTP, all at once: ``web_load.py LOAD.json OUT.json``.

A process of its own, so that it takes no time from the server's. Everybody has a connection, sends
what comes next in their work as soon as the answer to the last is there, and goes on until the
time is over. Nothing but the standard library is needed (uvloop is used where it is there).

LOAD: ``port``, ``warm_up`` and ``seconds``, ``patience`` (for one answer), ``turn`` (what is sent
for one place, in order: ``method``, ``path``, ``body``) and ``people`` (each with ``headers``, all
of their own, and ``places``). ``@PLACE@`` and ``@ACT@`` (the name of this act, like no other) are
filled in. OUT: ``seconds``, ``cpu``, ``right`` (answers 2xx in the time that counts),
``latencies`` (of these, and of those that were on their way when it was over), ``errors`` by kind,
``done`` (answers 2xx by step, from the first to the last), and how many people were
``out_of_work`` before the time was over.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast


@dataclass(slots=True)
class Tally:
    """What came back."""

    begins: float
    ends: float
    latencies: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    done: Counter[int] = field(default_factory=Counter)
    out_of_work: int = 0
    right: int = 0

    def add(self, step: int, sent_at: float, status: int, body: bytes) -> None:
        """An answer."""
        now = time.perf_counter()
        if 200 <= status < 300:
            self.done[step] += 1
            self.right += self.begins <= now < self.ends
            if now >= self.begins:  # those that come late too: else the slow would look quick
                self.latencies.append(now - sent_at)
        else:
            self.errors[f"{status}: {body[:200].decode('utf-8', 'replace')}"] += 1


class Person(asyncio.Protocol):
    """One person with one connection; where the server closes it, with the next."""

    def __init__(self, port: int, work: Iterator[tuple[int, bytes]], tally: Tally) -> None:
        self.port, self.work, self.tally = port, work, tally
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.step, self.asked, self.sent_at = 0, b"", 0.0
        self.waits = False
        self.buffer = bytearray()
        self.transport: asyncio.Transport | None = None

    # -- sending

    def begin(self) -> None:
        """Take up what comes next; a connection is made where there is none."""
        in_time = time.perf_counter() < self.tally.ends
        following = next(self.work, None) if in_time else None
        if following is None:
            self.tally.out_of_work += in_time
            self.stop()
            return
        self.step, self.asked = following
        self.sent_at, self.waits = time.perf_counter(), True
        if self.transport is None:
            self._connect()
        else:
            self.transport.write(self.asked)

    def stop(self) -> None:
        """Nothing more from this one."""
        if self.transport is not None:
            self.transport.close()
        if not self.over.done():
            self.over.set_result(None)

    def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(loop.create_connection(lambda: self, "127.0.0.1", self.port))
        task.add_done_callback(self._connected)

    def _connected(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(f"no connection: {error}")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send what waits."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self.transport.write(self.asked)

    def connection_lost(self, error: Exception | None) -> None:
        """Where an answer was awaited, it will not come; one may also end with the connection."""
        self.transport = None
        if self.waits and self.buffer:
            self._read(ended=True)
        if self.waits and not self.over.done():
            self._failed(f"connection lost: {error}")

    def _failed(self, why: str) -> None:
        self.tally.errors[why] += 1
        self.waits = False
        self.buffer.clear()
        asyncio.get_running_loop().call_later(0.05, self.begin)

    # -- receiving

    def data_received(self, data: bytes) -> None:
        """Read on; with the end of an answer the next request goes out."""
        self.buffer += data
        self._read()

    def _read(self, *, ended: bool = False) -> None:
        at = self.buffer.find(b"\r\n\r\n")
        if at < 0:
            return
        head = bytes(self.buffer[:at]).lower()
        body = _whole_body(head, bytes(self.buffer[at + 4 :]), ended)
        if body is None:
            return
        self.buffer.clear()
        self.waits = False
        self.tally.add(self.step, self.sent_at, int(head[9:12]), body)
        if b"\r\nconnection: close" in head or head.startswith(b"http/1.0"):
            if self.transport is not None:
                self.transport.abort()
            self.transport = None
        asyncio.get_running_loop().call_soon(self.begin)


def _whole_body(head: bytes, body: bytes, ended: bool) -> bytes | None:
    """What an answer says; None where more of it is to come."""
    mark = b"\r\ncontent-length:"
    at = head.find(mark)
    if at >= 0:
        length = int(head[at + len(mark) :].split(b"\r\n", 1)[0])
        return body if len(body) >= length else None
    if b"\r\ntransfer-encoding: chunked" in head:
        return body if body.endswith(b"0\r\n\r\n") else None
    no_body = head[9:12] in (b"204", b"304")
    return body if ended or no_body else None


def requests(load: dict[str, Any], number: int) -> Iterator[tuple[int, bytes]]:
    """What one person sends, place after place, each as the bytes of it."""
    person = load["people"][number]
    headers = "".join(f"{name}: {value}\r\n" for name, value in person["headers"].items())
    for place in person["places"]:
        for step, one in enumerate(load["turn"]):
            act = f"{number}-{place}-{step}"

            def filled(text: str, place: str = place, act: str = act) -> str:
                return text.replace("@PLACE@", place).replace("@ACT@", act)

            body = filled(one["body"]).encode()
            head = (
                f"{one['method']} {filled(one['path'])} HTTP/1.1\r\n"
                f"Host: 127.0.0.1:{load['port']}\r\n{headers}"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            yield step, head.encode() + body


async def run(load: dict[str, Any]) -> dict[str, Any]:
    """Everybody at work until the time is over."""
    began = time.perf_counter()
    begins = began + load["warm_up"]
    tally = Tally(begins, begins + load["seconds"])
    everybody = [
        Person(load["port"], requests(load, at), tally) for at in range(len(load["people"]))
    ]
    for at, one in enumerate(everybody):  # not all at the very same moment
        asyncio.get_running_loop().call_later(at * 0.002, one.begin)
    loop = asyncio.get_running_loop()
    before: list[float] = []
    loop.call_later(load["warm_up"], lambda: before.append(time.process_time()))
    after: list[float] = []
    whole = load["warm_up"] + load["seconds"]
    loop.call_later(whole, lambda: after.append(time.process_time()))
    overs = [one.over for one in everybody]
    _, waiting = await asyncio.wait(overs, timeout=whole + load["patience"])
    if waiting:
        tally.errors["no answer"] += len(waiting)
    return {
        "seconds": load["seconds"],
        "cpu": (after or [time.process_time()])[0] - (before or [0.0])[0],
        "right": tally.right,
        "latencies": tally.latencies,
        "errors": dict(tally.errors),
        "done": [tally.done[step] for step in range(len(load["turn"]))],
        "out_of_work": tally.out_of_work,
    }


def main(load: str, target: str) -> None:
    """Read what to send, send it, write down what came of it."""
    told = json.loads(Path(load).read_text(encoding="utf-8"))
    try:
        import uvloop

        found = uvloop.run(run(told))
    except ImportError:
        found = asyncio.run(run(told))
    Path(target).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
