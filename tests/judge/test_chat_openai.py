"""A server at an address: every fault has its name, and the key is never told."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import socket
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judge.stub_replies import FAULTS, WAIT_TOLD, completion, with_usage
from tests.judge.stub_server import serving
from tests.judge.test_chat_contract import ASK, closing

from calibrant.core.errors import ChatError
from calibrant.ports.chat import PASSING, Ask, Message, Reply, Trouble
from calibrant.raters.chat.completion import KEPT_SCHEMAS, Asker, reply_of
from calibrant.raters.chat.openai import OpenAIChat, endpoint
from calibrant.raters.chat.refusals import LONGEST_WAIT, trouble_of, wait_of
from calibrant.raters.chat.wire import LARGEST

KEY = "sk-never-to-be-seen-0123456789"


async def asked(base_url: str, ask: Ask = ASK, **options: Any) -> Reply:
    async with closing(OpenAIChat(base_url, KEY, **options)) as chat:
        return await chat.ask(ask)


def trouble(base_url: str, ask: Ask = ASK, **options: Any) -> Trouble:
    with pytest.raises(Trouble) as caught:
        asyncio.run(asked(base_url, ask, **options))
    return caught.value


@contextmanager
def answering(*chunks: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server in this process that says the same to everybody, and keeps what it was told."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(20)
    heard: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(20)
                told = b""
                while b"\r\n\r\n" not in told or not told.rstrip().endswith(b"}"):
                    told += connection.recv(65536)
                heard.append(told)
                try:
                    for chunk in chunks:
                        connection.sendall(chunk)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", heard
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(20)


def http(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def said(text: str | None = "{}", **more: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, **more}
    return json.dumps({"choices": [choice]}).encode()


# -- faults

WHY = {
    "rate": "rate_limited",
    "rate_after": "rate_limited",
    "error": "server_error",
    "page": "server_error",
    "page_ok": "no_reply",
    "hang": "timeout",
    "drop": "connection",
    "cut": "connection",
    "broken": "no_reply",
    "twice": "no_reply",
    "nothing": "no_reply",
    "redirect": "refused",
    "refusal": "refused",
}
"""Faults that are no reply, and what they are called; after the others there is one to read."""


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_a_trouble_with_its_name_or_a_reply(fault: str) -> None:
    with serving(faults=f"{fault}=1", key=KEY) as stub:
        if fault not in WHY:
            reply = asyncio.run(asked(stub.base_url))
            assert bool(reply.text) == (fault != "empty")
            assert reply.finish == ("length" if fault == "truncated" else "stop")
            assert reply.usage.prompt > 0
            return
        met = trouble(stub.base_url, timeout=1.0 if fault == "hang" else 30.0)
        counts = stub.counts()
    assert met.why == WHY[fault]
    assert met.wait == (WAIT_TOLD if fault == "rate_after" else None)
    assert counts["sent"] == 1, "it asks once"
    assert counts.get("elsewhere", 0) == 0, "it follows no redirect"


def test_nobody_there_is_a_connection_that_does_not_come_about() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    met = trouble(f"http://127.0.0.1:{port}")
    assert met.why == "connection"
    assert met.why in PASSING


def test_a_server_that_speaks_no_http_has_not_replied() -> None:
    with answering(b"SSH-2.0-OpenSSH_9.6\r\n\r\n") as (url, _):
        assert trouble(url).why in ("no_reply", "connection")


def test_an_answer_without_end_is_not_read_on() -> None:
    endless = [b"x" * 65536] * (LARGEST // 65536 + 64)
    with answering(b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\n", *endless) as (url, _):
        met = trouble(url)
    assert met.why == "no_reply"
    assert str(LARGEST) in met.detail


def test_after_trouble_the_same_chat_goes_on() -> None:
    async def run(base_url: str) -> list[str]:
        async with closing(OpenAIChat(base_url, KEY, timeout=5)) as chat:
            return [type(one).__name__ for one in await several(chat, 40)]

    with serving(faults="drop=0.2,cut=0.2,broken=0.2,rate=0.1", seed=3) as stub:
        kinds = asyncio.run(run(stub.base_url))
    assert set(kinds) == {"Reply", "Trouble"}


async def several(chat: Any, number: int) -> list[Any]:
    asks = [replace(ASK, messages=(Message("user", f"question {n}"),)) for n in range(number)]
    return await asyncio.gather(*(chat.ask(ask) for ask in asks), return_exceptions=True)


def test_many_at_once_each_get_their_own_reply() -> None:
    async def run(base_url: str) -> list[Any]:
        async with closing(OpenAIChat(base_url, KEY)) as chat:
            return await several(chat, 300)

    with serving(latency=0.05) as stub:
        replies = asyncio.run(run(stub.base_url))
        counts = stub.counts()
    assert all(isinstance(reply, Reply) for reply in replies)
    assert counts["answered"] == counts["prompts"] == 300
    assert counts["most_at_once"] > 200


def test_connections_are_kept() -> None:
    async def run(base_url: str) -> None:
        async with closing(OpenAIChat(base_url, KEY)) as chat:
            for _ in range(16):
                await several(chat, 3)

    with serving(latency=0.01) as stub:
        asyncio.run(run(stub.base_url))
        counts = stub.counts()
    assert counts["answered"] == 48
    assert counts["connections"] <= 4, "three, and the one that asks for the counts"


def test_who_stops_waiting_leaves_nothing_behind() -> None:
    async def run(base_url: str) -> Reply:
        async with closing(OpenAIChat(base_url, KEY)) as chat:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(chat.ask(ASK), 0.1)
            return await chat.ask(ASK)

    with serving(latency=0.5) as stub:
        assert asyncio.run(run(stub.base_url)).text


# -- what is not known


@pytest.mark.parametrize(
    ("without", "ask"),
    [
        ("json_schema", ASK),
        ("json_object", replace(ASK, form="json_object")),
        ("logprobs", replace(ASK, top_logprobs=3)),
    ],
)
def test_what_a_server_does_not_know_is_named(without: str, ask: Ask) -> None:
    with serving(without=without) as stub:
        met = trouble(stub.base_url, ask)
        assert (met.why, met.status) == ("unsupported", 400)
        assert met.detail.startswith(f"{without}: ")
        assert asyncio.run(asked(stub.base_url, replace(ASK, form="text"))).text


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_what_asking_again_would_not_mend_is_refused(status: int) -> None:
    body = b'{"error": {"message": "no such thing as json_schema"}}'
    met = trouble_of(status, {"retry-after": "3"}, body, replace(ASK, form="text"), None)
    assert (met.why, met.status, met.wait) == ("refused", status, None)


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (408, "timeout"),
        (429, "rate_limited"),
        *((status, "server_error") for status in (409, 425, 500, 502, 503, 529)),
    ],
)
def test_what_may_pass_keeps_the_wait_that_the_server_asks_for(status: int, why: str) -> None:
    met = trouble_of(status, {"retry-after": "3"}, b"<html>busy</html>", ASK, None)
    assert (met.why, met.status, met.wait) == (why, status, 3.0)


def test_an_account_without_money_is_no_rate_limit() -> None:
    body = b'{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}'
    assert trouble_of(429, {}, body, ASK, None).why == "refused"


def test_a_server_that_knows_the_newer_name_of_the_limit_is_told_by_it() -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    body = json.dumps({"error": {"message": message, "param": "max_tokens"}}).encode()
    with answering(http(400, body, "Connection: close")) as (url, heard):
        met = trouble(url)
    assert met.why == "refused"
    assert [b"max_completion_tokens" in one for one in heard] == [False, True]


# -- waits

WAITS: list[tuple[dict[str, str], float | None]] = [
    ({}, None),
    ({"retry-after": "7"}, 7.0),
    ({"retry-after": " 0.5 "}, 0.5),
    ({"retry-after": "-1"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "1e999"}, None),
    ({"retry-after": "999999999"}, LONGEST_WAIT),
    ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ({"retry-after": "Sun, 15 Nov 2026 20:00:30 GMT"}, None),
    ({"retry-after": "x", "date": "Sun, 15 Nov 2026 20:00:00 GMT"}, None),
    ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}, 90.0),
    ({"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "1m30s"}, None),
    ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
    ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20 apples"}, None),
]


@pytest.mark.parametrize(("headers", "wait"), WAITS, ids=str)
def test_waits_are_read_from_the_headers_in_use(
    headers: dict[str, str], wait: float | None
) -> None:
    assert wait_of(headers) == (pytest.approx(wait) if wait is not None else None)


@pytest.mark.parametrize(
    ("then", "wait"),
    [("Sun, 15 Nov 2026 20:00:30 GMT", 30.0), ("Sun, 15 Nov 2026 19:00:00 GMT", 0.0)],
)
def test_a_date_counts_from_the_servers_own(then: str, wait: float) -> None:
    assert wait_of({"retry-after": then, "date": "Sun, 15 Nov 2026 20:00:00 GMT"}) == wait


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date"]), st.text()))
def test_no_header_breaks_the_reading(headers: dict[str, str]) -> None:
    wait = wait_of(headers)
    assert wait is None or 0 <= wait <= LONGEST_WAIT


# -- replies


def test_a_refusal_and_an_empty_reply_are_told_apart() -> None:
    refused = json.loads(said(None))
    refused["choices"][0]["message"]["refusal"] = "no"
    for body in (json.dumps(refused).encode(), said("", finish_reason="content_filter")):
        with pytest.raises(Trouble) as caught:
            reply_of(body)
        assert caught.value.why == "refused"
    assert reply_of(said(None)).text == reply_of(said("")).text == ""


def test_text_in_parts_is_put_together_and_absent_numbers_are_nought() -> None:
    parts: Any = [{"type": "text", "text": "{"}, {"type": "text", "text": "}"}]
    reply = reply_of(said(parts, finish_reason=None, logprobs=None))
    assert (reply.text, reply.usage.prompt, reply.finish, reply.tokens) == ("{}", 0, "", ())


def test_tokens_that_stand_outside_the_text_are_left_out_and_null_chances_too() -> None:
    told = [
        {"token": piece, "logprob": -1.0, "top_logprobs": [{"token": "else", "logprob": None}]}
        for piece in ("```", "\n", "{", "}", "", "\n```")
    ]
    reply = reply_of(said("{}", logprobs={"content": told}))
    assert [(token.text, token.top) for token in reply.tokens] == [
        ("{", (("{", -1.0),)),
        ("}", (("}", -1.0),)),
    ]


def test_a_token_that_is_spelled_like_a_key_is_no_doubled_key() -> None:
    told = [{"token": word, "logprob": -1.0, "top_logprobs": []} for word in ("choices",) * 3]
    assert reply_of(said("choices" * 3, logprobs={"content": told})).tokens


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_whatever_comes_is_a_reply_or_a_trouble(body: bytes) -> None:
    try:
        assert isinstance(reply_of(body), Reply)
    except Trouble as met:
        assert met.why == "no_reply"
    assert trouble_of(500, {}, body, ASK, KEY).why == "server_error"


@given(st.integers(0, 400), st.integers(0, 400))
def test_half_a_completion_is_no_reply(start: int, end: int) -> None:
    whole = with_usage(completion('{"answer": "YES"}', "", 2), 100, 10)
    if (start, end) != (0, 0):
        with pytest.raises(Trouble):
            reply_of(whole[start : len(whole) - end])


def test_json_as_deep_as_a_well_is_no_reply() -> None:
    with pytest.raises(Trouble):
        reply_of(b'{"choices": ' + b"[" * 200_000)


# -- requests


@given(st.text(), st.text())
def test_a_request_says_what_was_asked(system: str, user: str) -> None:
    ask = replace(ASK, messages=(Message("system", system), Message("user", user)))
    told = json.loads(Asker().body(replace(ask, top_logprobs=5)))
    assert [one["content"] for one in told["messages"]] == [system, user]
    assert (told["seed"], told["temperature"], told["max_tokens"]) == (7, 0.0, 80)
    assert (told["logprobs"], told["top_logprobs"]) == (True, 5)
    assert told["response_format"]["json_schema"]["schema"] == ASK.schema
    plain = json.loads(Asker().body(replace(ask, form="text", seed=None)))
    assert set(plain) == {"model", "messages", "temperature", "max_tokens"}


def test_schemas_are_kept_by_what_they_are_and_not_for_ever() -> None:
    asker = Asker()
    for number in range(3 * KEPT_SCHEMAS):
        schema = {"const": number}
        told = json.loads(asker.body(replace(ASK, schema=schema)))
        assert told["response_format"]["json_schema"]["schema"] == schema
    assert len(asker._schemas) <= KEPT_SCHEMAS


def test_half_a_sign_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(Trouble, match="half a sign"):
        Asker().body(replace(ASK, messages=(Message("user", "\ud800"),)))


# -- addresses

WHOLE = "http://host:1234/v1/chat/completions"


@pytest.mark.parametrize(
    ("base_url", "whole"),
    [
        ("http://host:1234", WHOLE),
        ("http://host:1234/", WHOLE),
        ("http://host:1234/v1", WHOLE),
        (" http://host:1234/v1/ ", WHOLE),
        (WHOLE, WHOLE),
        ("https://host/v1beta/openai/", "https://host/v1beta/openai/chat/completions"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1/chat/completions"),
        ("https://B\u00fccher.example", "https://b\u00fccher.example/v1/chat/completions"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example/v1/chat/completions"),
    ],
)
def test_addresses_may_be_given_in_several_ways(base_url: str, whole: str) -> None:
    assert endpoint(base_url) == whole


@pytest.mark.parametrize(
    "base_url",
    [
        *("", "host:80", "//host", "ftp://host", "file:///etc/passwd", "javascript:alert(1)"),
        *("http://", "http://me:word@host", "http://key@host", "http://host/?a=b", "http://a b"),
        *("http://host/#a", "http://host:port", "http://host:99999", "http://host/a\\b"),
        *(
            "http://host/\r\nX: y",
            "http://a..b/v1",
            "http://" + "a" * 64,
            "http://stra\u00dfe.example",
        ),
        *("http://\uff11\uff12\uff17.0.0.1", "http://\udc80host"),
    ],
)
def test_other_addresses_are_refused_without_being_told_on(base_url: str) -> None:
    with pytest.raises(ChatError) as caught:
        endpoint(base_url)
    assert "word" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize("key", ["two\nlines", "nul\0", "clé", "a\r\nX-Other: b"])
def test_a_key_that_would_break_a_header_is_refused_and_not_told(key: str) -> None:
    with pytest.raises(ChatError) as caught:
        OpenAIChat("http://host", key)
    assert key not in str(caught.value)


def test_proxies_of_the_environment_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving() as stub:
        assert asyncio.run(asked(stub.base_url)).text


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_chat_goes_on_in_another_loop() -> None:
    """As where ``asyncio.run`` is called for each question: the first loop's sockets are dead."""
    with serving() as stub:
        chat = OpenAIChat(stub.base_url)
        assert all(asyncio.run(chat.ask(ASK)).text for _ in range(2))
        asyncio.run(chat.close())
        gc.collect()


# -- the key


def everything(error: BaseException) -> Iterator[str]:
    """An exception and all that hangs on it, in every way of showing it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield from (str(one), repr(one), repr(one.args), repr(vars(one)))
        lines = traceback.TracebackException.from_exception(one, capture_locals=True)
        yield "".join(lines.format())
        waiting += [one.__cause__, one.__context__]


@pytest.mark.parametrize("fault", [*WHY, "nobody", "200", "400", "401", "500"])
def test_the_key_is_never_told(
    fault: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with place_of(fault) as url:
        met = trouble(url, timeout=1.0 if fault == "hang" else 30.0)
    assert not [text for text in everything(met) if KEY in text]
    assert KEY not in caplog.text + "".join(capfd.readouterr())
    assert KEY not in repr(OpenAIChat("http://host", KEY))


@contextmanager
def place_of(fault: str) -> Iterator[str]:
    if fault == "nobody":
        yield "http://127.0.0.1:1"
    elif fault.isdecimal():
        body = json.dumps({"error": {"message": f"bad key {KEY}", "code": KEY}}).encode()
        with answering(http(int(fault), body)) as (url, _):
            yield url
    else:
        with serving(faults=f"{fault}=1") as stub:
            yield stub.base_url


def test_the_key_is_sent_to_the_server_alone() -> None:
    with answering(http(200, said('{"a": 1}'))) as (url, heard):
        asyncio.run(asked(url))
    assert [one.count(KEY.encode()) for one in heard] == [1]
    assert f"\r\nAuthorization: Bearer {KEY}\r\n".encode() in heard[0]
