"""One address that is posted to, over connections that are kept: so much of HTTP/1.1 and no more.

Thousands of calls a second go through here, and a client for everything spends more on one than
all the rest of a judge does. What it leaves out is left out on purpose: no proxy, no redirect, no
cookie, no second try. The head of a request holds the key of the server: it is in no name that a
traceback could show, and no exception carries it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import zlib
from collections import deque
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlsplit

import httptools

from calibrant.ports.chat import Trouble

LARGEST = 8 * 1024 * 1024
"""Bytes of an answer; a longer one is not read on."""
MOST_HEARD = 2 * LARGEST
"""Bytes of an answer with all that is around its pieces, and behind them."""
LARGEST_HEAD = 64 * 1024
"""Bytes before the body of an answer."""
IDLE = 4.0
"""Seconds that an idle connection is kept: common servers let go after five, and a request sent
at that moment would be lost."""
CONNECTING = 20.0
"""Seconds in which a connection must come about."""
SECOND_ADDRESS = 0.25
"""Seconds after which the next address of a name is tried beside the first."""
SILENT = 60
"""Seconds of silence after which the system asks whether the other side is still there."""
NO_HTTP = "an answer that is no HTTP"
PACKED = {b"gzip", b"x-gzip", b"deflate"}
_EITHER = 32 + zlib.MAX_WBITS
"""To zlib: see for yourself whether it is gzip or zlib."""


class Answer(NamedTuple):
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    """By their names in small letters."""
    body: bytes


class Wire:
    """One address; as many connections to it as there are requests at once."""

    def __init__(self, url: str, headers: Mapping[str, str], *, timeout: float) -> None:
        """``timeout`` is for a whole request, from the connection to the last byte."""
        parts = urlsplit(url)
        self._host = (parts.hostname or "").encode("idna").decode()
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._tls = _trusted() if parts.scheme == "https" else None
        self._timeout = timeout
        self._head = _head(parts.path, self._called(parts.port), headers)
        self._closed = False
        self._begin(None)

    def _begin(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Connections live in one loop: those of another are dead, or not ours to touch."""
        self._loop = loop
        self._idle: deque[_Line] = deque()
        self._lines: set[_Line] = set()

    def _called(self, port: int | None) -> str:
        """The server, as a request names it."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{port}" if port else host

    async def post(self, body: bytes) -> Answer:
        """Post once; raises ``Trouble`` where no answer comes."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._begin(loop)
        now = loop.time()
        due = now + self._timeout
        line = self._kept(now) or await self._connect(loop)
        told = line.wait(due)
        line.transport.write(b"".join((self._head, b"%d\r\n\r\n" % len(body), body)))
        try:
            found = await told
        except BaseException:  # nobody waits any longer, so what comes would be nobody's
            line.leave(told)
            raise
        if isinstance(found, Trouble):
            raise found
        return found

    def close(self) -> None:
        """Let all connections go; who waits is told, and who is about to connect sends nothing."""
        self._closed = True
        if self._loop is not None and not self._loop.is_closed():
            for line in tuple(self._lines):
                line.transport.abort()

    def _kept(self, now: float) -> _Line | None:
        """A connection that is free; those that were idle for too long are let go."""
        idle = self._idle
        while idle and idle[0].idle_since < now - IDLE:
            idle.popleft().transport.close()
        while idle:
            line = idle.pop()
            if not line.transport.is_closing():
                return line
        return None

    async def _connect(self, loop: asyncio.AbstractEventLoop) -> _Line:
        idle, lines = self._idle, self._lines
        try:
            async with asyncio.timeout(min(CONNECTING, self._timeout)):
                _, line = await loop.create_connection(
                    lambda: _Line(idle, lines),
                    self._host,
                    self._port,
                    ssl=self._tls,
                    **_racing(loop, self._host),
                )
        except TimeoutError:
            trouble = Trouble("timeout", "no connection in time")
        except ssl.SSLError:
            told = "the server's certificate is not trusted, or no TLS came about"
            trouble = Trouble("refused", told)
        except socket.gaierror:
            trouble = Trouble("connection", "the name of the server is not known")
        except OSError:
            trouble = Trouble("connection", "the server takes no connection")
        else:
            if not self._closed:
                return line
            line.transport.abort()
            trouble = Trouble("connection", "it was closed before anything was asked")
        raise trouble


def _head(path: str, host: str, headers: Mapping[str, str]) -> bytes:
    """The request up to how long its body is."""
    target = quote(path, safe="/%~!$&'()*+,;=:@")
    told = {"Host": host, **headers}
    lines = [f"POST {target} HTTP/1.1", *(f"{name}: {one}" for name, one in told.items())]
    return ("\r\n".join(lines) + "\r\nContent-Length: ").encode("ascii")


def _racing(loop: asyncio.AbstractEventLoop, host: str) -> dict[str, Any]:
    """How the addresses of a name are tried: side by side, where the loop is asyncio's own.

    The race drops sockets where it is cancelled, so there is none where there is one address.
    """
    try:
        ip_address(host)
    except ValueError:
        known = isinstance(loop, asyncio.BaseEventLoop)
        return {"happy_eyeballs_delay": SECOND_ADDRESS} if known else {}
    return {}


def _trusted() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class _Line(asyncio.Protocol):
    """One connection: a request goes out, an answer comes in, and then the next.

    The methods whose names begin with ``on_`` are called by the parser.
    """

    transport: asyncio.Transport

    def __init__(self, idle: deque[_Line], lines: set[_Line]) -> None:
        """``idle`` is where it goes when it is free, ``lines`` where it is as long as it lives."""
        self.idle_since = 0.0
        self._idle, self._lines = idle, lines
        self._loop = asyncio.get_running_loop()
        self._told: asyncio.Future[Answer | Trouble] | None = None

    def wait(self, due: float) -> asyncio.Future[Answer | Trouble]:
        """What will be told of the request that is sent now, by the time it is due."""
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._heard = self._size = 0
        self._in_body = self._is_whole = self._goes_on = False
        self._late = self._loop.call_at(due, self._too_late)
        self._told = self._loop.create_future()
        return self._told

    def leave(self, told: asyncio.Future[Answer | Trouble]) -> None:
        """Nobody waits for this any more; a connection that serves the next by now goes on."""
        if self._told is told:
            self.transport.abort()

    # -- the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.Transport", transport)
        self._lines.add(self)
        connected = transport.get_extra_info("socket")
        if connected is not None:  # models think for minutes, and routers forget silent ones
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if hasattr(socket, "TCP_KEEPIDLE"):  # the system's own is two hours
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENT)

    def data_received(self, data: bytes) -> None:
        """A piece of an answer."""
        if self._told is None:  # nobody has asked for anything
            self.transport.abort()
            return
        self._heard += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            if not self._is_whole:
                self._end(Trouble("no_reply", NO_HTTP))
                return
            self._goes_on = False
        if self._is_whole:
            self._end(self._answer())
        elif self._size > LARGEST or self._heard > MOST_HEARD:
            self._end(Trouble("no_reply", f"an answer of more than {LARGEST} bytes"))
        elif not self._in_body and self._heard > LARGEST_HEAD:
            self._end(Trouble("no_reply", NO_HTTP))

    def eof_received(self) -> None:
        """The server says no more: an answer that does not say how long it is is at its end.

        It may not have heard the request out, and what is left of that is not sent.
        """
        if self._told is not None and self._in_body and not self._is_measured():
            self._end(self._answer())
        self.transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """It is over, by whichever side."""
        self._lines.discard(self)
        if self._told is None:
            return
        if self._heard:
            self._end(Trouble("connection", "the connection ended in the middle of the answer"))
        else:
            self._end(Trouble("connection", "the connection ended before an answer"))

    def _too_late(self) -> None:
        self._end(Trouble("timeout", "no whole answer in time"))

    def _end(self, found: Answer | Trouble) -> None:
        """Tell what came of it, and be free for the next or gone.

        A server that answered before it had all of the request may not read the rest of it.
        """
        told, self._told = self._told, None
        self._body = []
        self._late.cancel()
        if told is not None and not told.done():
            told.set_result(found)
        line = self.transport
        if self._goes_on and not line.is_closing() and not line.get_write_buffer_size():
            self.idle_since = self._loop.time()
            self._idle.append(self)
        else:
            line.abort()

    # -- the answer

    def on_message_begin(self) -> None:
        """A second answer to one request: whose is it? The connection is not used again."""
        if self._is_whole:
            self._goes_on = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header; what comes behind the body under that name is none."""
        if not self._in_body:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """What comes now is the body."""
        self._in_body = True

    def on_body(self, piece: bytes) -> None:
        """A piece of the body."""
        if not self._is_whole:
            self._size += len(piece)
            if self._size <= LARGEST:
                self._body.append(piece)

    def on_message_complete(self) -> None:
        """The end, unless the server only says that it goes on."""
        if self._is_whole:
            return
        if self._parser.get_status_code() < 200:
            self._headers, self._in_body = [], False
            return
        self._is_whole = True
        self._goes_on = self._parser.should_keep_alive()

    def _is_measured(self) -> bool:
        """Whether the answer itself says where it ends."""
        return any(name in (b"content-length", b"transfer-encoding") for name, _ in self._headers)

    def _answer(self) -> Answer | Trouble:
        headers = {name.decode("latin-1"): one.decode("latin-1") for name, one in self._headers}
        body = b"".join(self._body)
        status = self._parser.get_status_code()
        packed = headers.get("content-encoding", "").strip().lower()
        if body and packed not in ("", "identity"):
            unpacked = _unpacked(packed, body)
            if unpacked is None and status == 200:
                return Trouble("no_reply", "an answer that is packed, which was not asked for")
            body = unpacked or b""  # a refusal is one by its status alone
        return Answer(status, headers, body)


def _unpacked(how: str, body: bytes) -> bytes | None:
    """A body as it was before it was packed; None where that cannot be told, or is too much."""
    if how.encode("latin-1") not in PACKED:
        return None
    unpacking = zlib.decompressobj(_EITHER)
    try:
        found = unpacking.decompress(body, LARGEST + 1)
    except zlib.error:
        return None
    return found if unpacking.eof and len(found) <= LARGEST else None
