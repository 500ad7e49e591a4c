"""A server of chat completions for tests and measurements, in a process of its own.

It knows no language: it answers by walking the JSON Schema of the request. It can be slow, limited
and faulty in every way of ``FAULTS``, and it counts how often each prompt was sent and answered,
in a file that outlives it if asked to.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import urllib.request
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from tests.judge.stub_replies import FAULTS, VALID, WAIT_TOLD, completion, content, with_usage

ROOT = Path(__file__).parents[2]
VARIANTS = 8
"""Different valid replies to one schema, by the prompt's hash."""
GRACE = 0.25
"""Seconds after a 429 in which requests may still come that were on their way."""


class _Format(msgspec.Struct):
    type: str = "text"
    json_schema: msgspec.Raw = msgspec.Raw(b"null")


class _Request(msgspec.Struct):
    messages: msgspec.Raw
    model: str = ""
    seed: int | None = None
    logprobs: bool = False
    top_logprobs: int = 0
    response_format: _Format | None = None


@dataclass
class Book:
    """What was sent and answered, by prompt."""

    path: str | None = None
    sent: Counter[bytes] = field(default_factory=Counter)
    answered: Counter[bytes] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    _file: int = -1

    def open(self) -> None:
        """Take up what an earlier process wrote."""
        if self.path is None:
            return
        if Path(self.path).exists():
            for line in Path(self.path).read_bytes().splitlines():
                if len(line) == 34:
                    (self.sent if line[:1] == b"S" else self.answered)[line[2:]] += 1
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, answered: bool, name: bytes) -> None:
        """One more sent, or answered."""
        (self.answered if answered else self.sent)[name] += 1
        if self._file >= 0:
            os.write(self._file, (b"A " if answered else b"S ") + name + b"\n")

    def totals(self, whole: bool) -> dict[str, Any]:
        """Counts; with ``whole``, each prompt's own."""
        told: dict[str, Any] = {
            "sent": self.sent.total(),
            "answered": self.answered.total(),
            "prompts": len(self.sent),
            "prompts_answered": len(self.answered),
            "answered_again": self.answered.total() - len(self.answered),
            "faults": dict(self.faults),
            **self.events,
        }
        if whole:
            told["by_prompt"] = {
                name.decode(): [times, self.answered[name]] for name, times in self.sent.items()
            }
        return told


class Limiter:
    """A bucket of requests; who goes on asking while told to wait is banned."""

    def __init__(self, options: argparse.Namespace, events: Counter[str]) -> None:
        self.rate, self.burst = options.rate, options.burst or max(options.rate, 1.0)
        self.told, self.ban_after, self.ban = options.told, options.ban_after, options.ban
        self.left, self.at, self.events = self.burst, 0.0, events
        self.told_at, self.told_until, self.in_a_row, self.banned_until = -1e9, -1e9, 0, -1e9

    def refused(self, now: float) -> bytes | None:
        """The answer to a request that comes too early."""
        if now < self.banned_until:
            self.events["while_banned"] += 1
            return response(403, error("you are banned for a while"))
        self.left = min(self.burst, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left >= 1:
            self.left -= 1
            self.in_a_row = 0
            return None
        return self._too_many(now)

    def _too_many(self, now: float) -> bytes:
        self.events["limited"] += 1
        self.in_a_row += 1
        if self.told_at + GRACE < now < self.told_until:
            self.events["ignored_waits"] += 1
        if self.in_a_row > self.ban_after or self.events["ignored_waits"] > self.ban_after:
            self.events["bans"] += 1
            self.events["ignored_waits"] = self.in_a_row = 0
            self.banned_until = now + self.ban
        if self.told == "none":
            return response(429, error("too many requests"))
        wait = (1 - self.left) / self.rate
        headers = f"Retry-After-Ms: {wait * 1000:.0f}\r\n"
        if self.told == "seconds":
            wait = float(-int(-wait // 1))
            headers = f"Retry-After: {wait:.0f}\r\n"
        if now >= self.told_until:
            self.told_at, self.told_until = now, now + wait
        return response(429, error("too many requests"), headers)


def error(message: str, code: str = "") -> bytes:
    """An error in the shape that servers of completions use."""
    return json.dumps({"error": {"message": message, "type": code or None, "code": code}}).encode()


def response(status: int, body: bytes, headers: str = "", kind: str = "application/json") -> bytes:
    """A whole HTTP response."""
    head = (
        f"HTTP/1.1 {status} Stub\r\nContent-Type: {kind}\r\n{headers}"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


PAGE = b"<!DOCTYPE html><html><body><h1>Service unavailable</h1></body></html>"


class Stub:
    """The state that all connections share."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.book = Book(options.counts)
        self.book.open()
        self.limiter = Limiter(options, self.book.events) if options.rate else None
        self.rng = random.Random(options.seed)
        self.faults: dict[str, float] = options.faults
        self.schemas: dict[bytes, Any] = {}
        self.kept: dict[tuple[bytes, int, int], tuple[bytes, int]] = {}
        self.markers: list[tuple[bytes, Any]] = (
            [
                (json.dumps(one["marker"])[1:-1].encode(), one["schema"])
                for one in json.loads(Path(options.schemas).read_bytes())
            ]
            if options.schemas
            else []
        )
        self.busy = 0
        self.waiting: deque[tuple[Connection, Callable[[], None]]] = deque()

    def fault(self) -> str:
        """Which fault this request meets; mostly none."""
        chance = self.rng.random()
        for name, share in self.faults.items():
            chance -= share
            if chance < 0:
                self.book.faults[name] += 1
                return name
        return ""

    def unsupported(self, request: _Request) -> bytes | None:
        """The answer where the request asks for what this server does not know."""
        form = request.response_format.type if request.response_format else "text"
        if form in self.options.without:
            message = f"response_format of type '{form}' is not supported"
        elif request.logprobs and "logprobs" in self.options.without:
            message = "logprobs are not supported"
        else:
            return None
        self.book.events["unsupported"] += 1
        return response(400, error(message, "invalid_request_error"))

    def reply(self, request: _Request, name: bytes, fault: str) -> bytes:
        """A completion for the request, spoilt as asked."""
        raw, schema = self.schema(request, name)
        variant = int(name[:4], 16) % VARIANTS
        top = request.top_logprobs if request.logprobs else 0
        kept = None if fault else self.kept.get((raw, variant, top))
        if kept is None:
            text = content(schema, fault, random.Random(variant))
            kept = completion(text, fault, top), len(text or "")
            if not fault:
                self.kept[raw, variant, top] = kept
        body = with_usage(kept[0], len(bytes(request.messages)), kept[1])
        return body[: len(body) // 2] if fault == "broken" else body

    def schema(self, request: _Request, name: bytes) -> tuple[bytes, Any]:
        """The schema of the reply: from the request, from a marker in it, or for any words."""
        form = request.response_format
        raw = bytes(form.json_schema) if form else b"null"
        if raw != b"null":
            if raw not in self.schemas:
                told = json.loads(raw)
                self.schemas[raw] = told.get("schema", told)
            return raw, self.schemas[raw]
        prompt = bytes(request.messages)
        for marker, schema in self.markers:
            if marker in prompt:
                return marker, schema
        return b"", {"type": "object", "properties": {"answer": {"enum": ["YES", "NO"]}}}


class Connection(asyncio.Protocol):
    """One connection: requests one after the other."""

    def __init__(self, stub: Stub, loop: asyncio.AbstractEventLoop) -> None:
        self.stub, self.loop, self.buffer = stub, loop, b""
        self.transport: asyncio.Transport
        self.open, self.held = True, False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self.stub.book.events["connections"] += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        self.let_go()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end]
            at = head.lower().find(b"\r\ncontent-length:")
            size = int(head[at + 17 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + size:
                return
            body = self.buffer[end + 4 : end + 4 + size]
            self.buffer = self.buffer[end + 4 + size :]
            self.route(head, body)

    def route(self, head: bytes, body: bytes) -> None:
        """Answer one request."""
        target = head.split(b" ", 2)[1]
        if target.startswith(b"/counts"):
            told = self.stub.book.totals(whole=b"whole" in target)
            self.send(response(200, json.dumps(told).encode()))
        elif target == b"/v1/chat/completions":
            self.completions(head, body)
        else:
            self.stub.book.events["elsewhere"] += 1
            self.send(response(404, error("no such path")))

    def completions(self, head: bytes, body: bytes) -> None:
        """One question."""
        stub, key = self.stub, self.stub.options.key
        if key and f"authorization: bearer {key}".lower().encode() not in head.lower():
            return self.send(response(401, error(f"Incorrect API key provided: {key}")))
        if stub.limiter and (refused := stub.limiter.refused(self.loop.time())):
            return self.send(refused)
        try:
            request = msgspec.json.decode(body, type=_Request)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return self.send(response(400, error("no request that can be read")))
        if unsupported := stub.unsupported(request):
            return self.send(unsupported)
        asked = f"{request.model}\n{request.seed}\n".encode() + bytes(request.messages)
        name = hashlib.blake2b(asked, digest_size=16).hexdigest().encode()
        stub.book.note(False, name)
        fault = stub.fault()
        return self.in_turn(lambda: self.later(request, name, fault))

    def in_turn(self, begin: Callable[[], None]) -> None:
        """Wait for a place where the server's capacity is bounded."""
        stub = self.stub
        if stub.options.capacity and stub.busy >= stub.options.capacity:
            stub.waiting.append((self, begin))
            return
        stub.busy += 1
        self.held = True
        stub.book.events["most_at_once"] = max(stub.book.events["most_at_once"], stub.busy)
        begin()

    def later(self, request: _Request, name: bytes, fault: str) -> None:
        """Answer after the latency."""
        if not self.open:
            return
        if self.stub.options.latency:
            self.loop.call_later(self.stub.options.latency, self.answer, request, name, fault)
        else:
            self.answer(request, name, fault)

    def let_go(self) -> None:
        """Give the place to who waits."""
        if not self.held:
            return
        self.held = False
        self.stub.busy -= 1
        while self.stub.waiting:
            connection, begin = self.stub.waiting.popleft()
            if connection.open:
                connection.in_turn(begin)
                return

    def answer(self, request: _Request, name: bytes, fault: str) -> None:
        """Send the reply, or what comes instead."""
        if fault == "hang" or not self.open:
            return
        if fault in _INSTEAD:
            self.send(_INSTEAD[fault])
        elif fault == "drop":
            self.transport.abort()
        else:
            whole = response(200, self.stub.reply(request, name, fault))
            if fault == "cut":
                self.transport.write(whole[: len(whole) - len(whole) // 3])
                self.transport.close()
            elif fault == "trickle":
                self.trickle(whole, name)
                return
            else:
                self.send(whole)
                if fault in VALID:
                    self.stub.book.note(True, name)
        self.let_go()

    def trickle(self, rest: bytes, name: bytes) -> None:
        """Send a few bytes now and the rest later."""
        if not self.open:
            return
        self.send(rest[:200])
        if len(rest) > 200:
            self.loop.call_later(0.01, self.trickle, rest[200:], name)
            return
        self.stub.book.note(True, name)
        self.let_go()

    def send(self, data: bytes) -> None:
        if self.open:
            self.transport.write(data)


_INSTEAD = {
    "rate": response(429, error("slow down")),
    "rate_after": response(429, error("slow down"), f"Retry-After: {WAIT_TOLD}\r\n"),
    "error": response(500, error("the server has a problem")),
    "page": response(503, PAGE, kind="text/html"),
    "page_ok": response(200, PAGE, kind="text/html"),
    "redirect": response(307, b"", "Location: /elsewhere\r\n"),
}


async def serve(options: argparse.Namespace) -> None:
    """Serve until told to stop."""
    loop = asyncio.get_running_loop()
    stub = Stub(options)
    server = await loop.create_server(
        lambda: Connection(stub, loop), "127.0.0.1", options.port, backlog=2048
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()
    server.close()


def _faults(text: str) -> dict[str, float]:
    """``rate=0.1,drop=0.05``, or ``all=0.3`` for every fault in equal parts."""
    shares: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, share = part.partition("=")
        names = FAULTS if name == "all" else (name,)
        shares |= {each: float(share or 1) / len(names) for each in names}
    if unknown := set(shares) - set(FAULTS):
        raise argparse.ArgumentTypeError(f"no such fault: {', '.join(sorted(unknown))}")
    return shares


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--port", type=int, default=0, help="0: any; the port is printed")
    add("--latency", type=float, default=0.0, help="seconds before each answer")
    add("--capacity", type=int, default=0, help="questions answered at once; others wait")
    add("--rate", type=float, default=0.0, help="questions a second; more get 429")
    add("--burst", type=float, default=0.0, help="questions at once before the rate counts")
    add(
        "--told", choices=("seconds", "ms", "none"), default="seconds", help="how 429 tells to wait"
    )
    add("--ban-after", type=int, default=200, help="refused in a row, or while told to wait")
    add("--ban", type=float, default=60.0, help="seconds that a ban lasts")
    add("--faults", type=_faults, default={}, help="NAME=SHARE,...; of: " + ", ".join(FAULTS))
    add("--seed", type=int, default=0, help="of the faults")
    add("--without", default="", help="of json_schema,json_object,logprobs: what is not known")
    add("--key", default="", help="the key to ask for")
    add("--counts", help="a file that counts what was sent and answered, over restarts")
    add("--schemas", help='a file [{"marker": text of the prompt, "schema": ...}] for other forms')
    return parser


@dataclass
class Running:
    """A stub that runs in a process of its own."""

    process: subprocess.Popen[str]
    port: int

    @property
    def base_url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/v1"

    def counts(self, whole: bool = False) -> dict[str, Any]:
        """What it has counted so far."""
        url = f"http://127.0.0.1:{self.port}/counts{'?whole' if whole else ''}"
        with urllib.request.urlopen(url, timeout=30) as told:
            return Counter(json.load(told))


@contextmanager
def serving(**options: Any) -> Iterator[Running]:
    """A stub with the options of the command line: ``serving(latency=0.05, faults="all=0.3")``."""
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "tests.judge.stub_server", *given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port.isdecimal(), "the stub server did not start"
            yield Running(process, int(port))
        finally:
            process.terminate()


if __name__ == "__main__":
    given = _arguments().parse_args()
    given.without = tuple(filter(None, given.without.split(",")))
    asyncio.run(serve(given))
