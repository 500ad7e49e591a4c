"""The wire: whatever bytes a server sends are an answer or a trouble, and nobody gets another's."""

from __future__ import annotations

import asyncio
import gc
import gzip
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.ports.chat import Trouble
from calibrant.raters.chat import wire as module
from calibrant.raters.chat.wire import IDLE, LARGEST, LARGEST_HEAD, Answer, Wire

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
WHOLE = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-One: "a"\r\n\r\n{}'
GZIP = gzip.compress(b"{}", mtime=0)
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"1\r\n{\r\n1;x=y\r\n}\r\n0\r\nX-Two: b\r\n\r\n"
)


async def told(reader: asyncio.StreamReader) -> bytes:
    """One request."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head + await reader.readexactly(length)


def saying(*answers: Iterable[bytes], heard: list[bytes] | None = None) -> Serve:
    """A server that says these on every connection, one after the other, and then lets go."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for pieces in answers:
            request = await told(reader)
            if heard is not None:
                heard.append(request)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)

    return serve


@asynccontextmanager
async def listening(serve: Serve, **options: Any) -> AsyncIterator[tuple[Wire, list[int]]]:
    """A wire to a server that is here, and a mark for each connection to it."""
    connections: list[int] = []
    ended: list[asyncio.Task[None] | None] = []

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(1)
        ended.append(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(counted, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    wire = Wire(f"http://127.0.0.1:{port}/v1/x", {"X-Key": "secret"}, **{"timeout": 20.0} | options)
    try:
        yield wire, connections
    finally:
        wire.close()
        server.close()
        await asyncio.gather(*(one for one in ended if one is not None))


async def posted(
    serve: Serve, bodies: Iterable[bytes] = (b"{}",), **options: Any
) -> tuple[list[Any], int]:
    """What came of these posts one after the other, and over how many connections."""
    found: list[Any] = []
    async with listening(serve, **options) as (wire, connections):
        for body in bodies:
            try:
                found.append(await wire.post(body))
            except Trouble as trouble:
                found.append(trouble.why)
    return found, len(connections)


def test_a_request_is_whole_and_connections_are_used_again() -> None:
    heard: list[bytes] = []
    found, connections = asyncio.run(
        posted(saying([WHOLE], [CHUNKED], [WHOLE], heard=heard), (b"one", b"", b"x" * 300_000))
    )
    assert [(one.status, one.body) for one in found] == [(200, b"{}")] * 3
    assert found[0].headers["x-one"] == '"a"'
    assert "x-two" not in found[1].headers  # what comes behind the body is no header
    assert connections == 1
    assert [one.split(b"\r\n\r\n", 1)[1] for one in heard] == [b"one", b"", b"x" * 300_000]
    head = heard[0].split(b"\r\n\r\n")[0].split(b"\r\n")
    assert head[0] == b"POST /v1/x HTTP/1.1"
    assert sorted(one.split(b":")[0] for one in head[1:]) == [b"Content-Length", b"Host", b"X-Key"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_other_loops_than_asyncios_own_will_do(host: str) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def run() -> bytes:
        async with listening(saying([WHOLE])) as (here, _):
            wire = Wire(f"http://{host}:{here._port}/", {}, timeout=20)
            found = await wire.post(b"")
            wire.close()
            return found.body

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(run()) == b"{}"


@settings(max_examples=40)
@given(st.sampled_from([WHOLE, CHUNKED]), st.lists(st.integers(1, 40), max_size=12))
def test_answers_come_in_any_pieces(answer: bytes, cuts: list[int]) -> None:
    pieces, rest = [], answer
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    found, _ = asyncio.run(posted(saying([one for one in (*pieces, rest) if one])))
    assert [one.body for one in found] == [b"{}"]


@settings(max_examples=60)
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda more: WHOLE[:20] + more))
def test_whatever_comes_is_an_answer_or_a_trouble(data: bytes) -> None:
    (found,), _ = asyncio.run(posted(saying([data] if data else [])))
    assert isinstance(found, Answer) or found in ("no_reply", "connection")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n{}", b"{}"),  # to the end of the connection
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", b"{}"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n" + WHOLE, b"{}"),
        (b"HTTP/1.1 204 Nothing\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "connection"),
        (CHUNKED[:-8], "connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "no_reply"),
        (CHUNKED.replace(b"\r\n", b"\r\nContent-Length: 2\r\n", 1), "no_reply"),
        (b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "no_reply"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * (LARGEST_HEAD + 1), "no_reply"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * (LARGEST_HEAD // 5), "no_reply"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (LARGEST + 1), "connection"),
    ],
)
def test_ends_are_where_the_answer_says(answer: bytes, expected: bytes | str) -> None:
    (found,), _ = asyncio.run(posted(saying([answer])))
    assert (found.body if isinstance(found, Answer) else found) == expected


@pytest.mark.parametrize("more", [WHOLE, b"\r\nsomething", WHOLE[:12]])
def test_a_second_answer_is_nobodys(more: bytes) -> None:
    """A server that answers twice cannot make the next question get the second answer."""
    wrong = more.replace(b"{}", b"[]")
    found, connections = asyncio.run(posted(saying([WHOLE + wrong], [WHOLE]), (b"1", b"2")))
    assert [one.body for one in found] == [b"{}", b"{}"]
    assert connections == 2


def test_what_was_not_asked_for_ends_a_connection() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await told(reader)
        writer.write(WHOLE)
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(WHOLE.replace(b"{}", b"[]"))
        await reader.read()

    async def run() -> None:
        async with listening(serve) as (wire, connections):
            assert (await wire.post(b"")).body == b"{}"
            while wire._lines:  # the connection is let go when the second answer comes
                await asyncio.sleep(0.01)
            assert (await wire.post(b"")).body == b"{}"
            assert len(connections) == 2

    asyncio.run(asyncio.wait_for(run(), 20))


def test_what_was_idle_for_too_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = saying([WHOLE], [WHOLE])
    assert asyncio.run(posted(answers, (b"1", b"2")))[1] == 1
    monkeypatch.setattr(module, "IDLE", -1.0)
    assert asyncio.run(posted(answers, (b"1", b"2")))[1] == 2
    assert IDLE < 5, "common servers let go after five seconds"


@pytest.mark.parametrize(
    ("how", "body", "expected"),
    [
        ("gzip", GZIP, b"{}"),
        ("deflate", zlib.compress(b"{}"), b"{}"),
        ("identity", b"{}", b"{}"),
        ("gzip", b"{}", "no_reply"),
        ("gzip", GZIP[:-9], "no_reply"),
        ("gzip", gzip.compress(bytes(LARGEST + 1), mtime=0), "no_reply"),
        ("br", b"{}", "no_reply"),
    ],
    ids=["gzip", "deflate", "identity", "not", "cut", "bomb", "unknown"],
)
def test_what_comes_packed_is_unpacked_within_bounds(
    how: str, body: bytes, expected: bytes | str
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {how}\r\nContent-Length: {len(body)}\r\n\r\n"
    (found,), _ = asyncio.run(posted(saying([head.encode() + body])))
    assert (found.body if isinstance(found, Answer) else found) == expected


def test_a_refusal_counts_even_where_its_words_cannot_be_read() -> None:
    packed = b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Encoding: br\r\nContent-Length: "
    (found, empty), _ = asyncio.run(
        posted(saying([packed + b"2\r\n\r\n??"], [packed + b"0\r\n\r\n"]), (b"1", b"2"))
    )
    assert (found.status, found.headers["retry-after"], found.body) == (429, "7", b"")
    assert (empty.status, empty.body) == (429, b"")


def test_an_end_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_HEARD", 1000)
    endless = CHUNKED[:-2] + b"X: y\r\n" * 200
    assert asyncio.run(posted(saying([endless])))[0] == ["no_reply"]


@pytest.mark.parametrize("answer", [b"HTTP/1.1 413 Large\r\n\r\n{}", WHOLE])
def test_an_answer_may_come_before_the_request_is_whole(answer: bytes) -> None:
    """It counts at once, and what is left of the request does not stand before the next."""

    async def run() -> None:
        enough = asyncio.Event()

        async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            if answer != WHOLE:
                writer.write_eof()
            await enough.wait()

        async with listening(early) as (wire, _):
            try:
                assert (await wire.post(bytes(LARGEST))).body == b"{}"
                assert not wire._idle
            finally:
                enough.set()

    asyncio.run(asyncio.wait_for(run(), 20))


def test_time_is_for_the_whole_answer() -> None:
    async def drips(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await told(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    assert asyncio.run(posted(drips, timeout=0.2))[0] == ["timeout"]


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\n\r\n{}"])
def test_who_waits_when_it_is_closed_is_told(begun: bytes) -> None:
    """Also in the middle of an answer that ends with its connection: we ended that, not it."""
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await told(reader)
        writer.write(begun)
        asked.set()
        await reader.read()

    async def run() -> None:
        async with listening(silent) as (wire, _):
            waiting = asyncio.create_task(wire.post(b""))
            await asked.wait()
            while begun and not any(one._in_body for one in wire._lines):
                await asyncio.sleep(0)
            wire.close()
            with pytest.raises(Trouble, match="connection"):
                await waiting

    asyncio.run(asyncio.wait_for(run(), 20))


def test_nothing_is_sent_once_it_is_closed() -> None:
    heard: list[bytes] = []

    async def run() -> None:
        async with listening(saying([WHOLE], heard=heard)) as (wire, _):
            connecting = asyncio.create_task(wire.post(b""))
            await asyncio.sleep(0)
            wire.close()
            with pytest.raises(Trouble, match="connection"):
                await connecting

    asyncio.run(asyncio.wait_for(run(), 20))
    assert not heard


def test_who_stops_waiting_does_not_take_the_next_ones_connection() -> None:
    """The answer is in, and its connection serves somebody else before the first has looked."""

    async def run() -> None:
        async with listening(saying([WHOLE], [WHOLE])) as (wire, connections):
            first = asyncio.create_task(wire.post(b"1"))
            while not wire._idle:
                await asyncio.sleep(0)
            assert not first.done()
            first.cancel()
            assert (await wire.post(b"2")).body == b"{}"
            assert first.cancelled() and len(connections) == 1

    asyncio.run(asyncio.wait_for(run(), 20))


def test_who_stops_waiting_leaves_no_connection_behind() -> None:
    """Whenever that is: pytest is told to fail where a socket is dropped."""

    async def run() -> None:
        async with listening(saying([WHOLE])) as (wire, _):
            for turns in range(12):
                waiting = [asyncio.create_task(wire.post(b"")) for _ in range(3)]
                for _ in range(turns):
                    await asyncio.sleep(0)
                for one in waiting:
                    one.cancel()
                await asyncio.gather(*waiting, return_exceptions=True)
            await asyncio.sleep(0)
            gc.collect()

    asyncio.run(asyncio.wait_for(run(), 20))


@pytest.mark.parametrize(
    ("url", "host", "target"),
    [
        ("http://localhost:8000/v1/x", "localhost:8000", "/v1/x"),
        ("https://bücher.example/v1", "xn--bcher-kva.example", "/v1"),
        ("http://[::1]:80/a%20b/ü", "[::1]:80", "/a%20b/%C3%BC"),
    ],
)
def test_a_server_is_called_by_its_name(url: str, host: str, target: str) -> None:
    head = Wire(url, {}, timeout=1)._head.decode()
    assert head == f"POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: "


def test_a_server_without_tls_is_refused_where_tls_is_asked_for() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad\r\n\r\n")

    async def run() -> str:
        async with listening(plain) as (wire, _):
            with pytest.raises(Trouble) as caught:
                await Wire(f"https://127.0.0.1:{wire._port}/", {}, timeout=20).post(b"")
            return caught.value.why

    assert asyncio.run(run()) == "refused"
