"""The lines of a log of calls: what each says, and how it is written and read.

A log is JSON, one object a line, told apart by ``line``: the head, a judge's card, a call that is
sent, a reply that came, a call that was given up, and the calls that a killed run left open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from calibrant.ports.chat import Form, Reply, Token, Usage

FORMAT, VERSION = "calibrant calls", 1
LEAST = -9999.0
"""The log-probability of what is as good as impossible."""
LONGEST = 64 * 1024 * 1024
"""Bytes of a line that is read at all."""


class Head(msgspec.Struct, tag="head", tag_field="line"):
    """The first line."""

    format: str
    version: int
    key: str
    """For fences that nobody can guess, in hexadecimal."""


class CardLine(msgspec.Struct, tag="card", tag_field="line"):
    """A judge, before its first call."""

    name: str
    hash: str
    card: dict[str, Any]


class SentLine(msgspec.Struct, tag="sent", tag_field="line"):
    """A call goes out; it may be paid for from here on."""

    id: str
    item: str
    content: str
    question: str
    sample: int
    card: str
    attempt: int


class GotLine(msgspec.Struct, tag="got", tag_field="line", omit_defaults=True):
    """A reply came."""

    id: str
    attempt: int
    seconds: float
    form: Form
    text: str
    rung: str
    """How it was read by the reader of then, or ``unreadable``."""
    why: str = ""
    """Why it was not read, or not all of it."""
    last: bool = True
    """Whether everything is answered, as it was read then: the call is not asked again."""
    usage: tuple[int, int, int] = (0, 0, 0)
    finish: str = ""
    model: str = ""
    tokens: list[tuple[str, list[tuple[str, float]]]] = []


class GaveUpLine(msgspec.Struct, tag="gave_up", tag_field="line"):
    """A call ended, and no reply answers everything; the next run asks again if it may."""

    id: str
    why: str
    detail: str
    attempts: int


class FailedLine(msgspec.Struct, tag="failed", tag_field="line"):
    """An attempt came to nothing; the call may be asked again."""

    id: str
    why: str
    attempt: int


class OpenLine(msgspec.Struct, tag="left_open", tag_field="line"):
    """Calls that were on their way when a run was killed: they may have been paid for."""

    ids: list[str]


Line: TypeAlias = Head | CardLine | SentLine | GotLine | FailedLine | GaveUpLine | OpenLine


class GotBrief(msgspec.Struct, tag="got", tag_field="line"):
    """Of a reply, what the index needs."""

    id: str
    last: bool = True


Brief: TypeAlias = Head | CardLine | SentLine | GotBrief | FailedLine | GaveUpLine | OpenLine
_encode = msgspec.json.Encoder().encode
_brief = msgspec.json.Decoder(Brief)
_got = msgspec.json.Decoder(GotLine)


@dataclass(frozen=True, slots=True)
class Kept:
    """A reply that was stored."""

    reply: Reply
    form: Form
    attempt: int
    seconds: float
    last: bool


def line_of(line: Line) -> bytes:
    """As it is written. Half a character, which no UTF-8 can hold, becomes a question mark."""
    try:
        return _encode(line) + b"\n"
    except UnicodeEncodeError:
        return _encode(_mended(msgspec.to_builtins(line))) + b"\n"


def _mended(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case dict():
            return {_mended(key): _mended(one) for key, one in value.items()}
        case list() | tuple():
            return [_mended(one) for one in value]
    return value


def brief_of(line: bytes) -> Brief:
    """A line, read for the index; raises ``msgspec.MsgspecError`` where it is none."""
    found: Brief = _brief.decode(line)
    return found


def tokens_of(reply: Reply) -> list[tuple[str, list[tuple[str, float]]]]:
    """Tokens with log-probabilities, as they are written; JSON has no number for never."""
    return [(one.text, [(text, _finite(share)) for text, share in one.top]) for one in reply.tokens]


def _finite(share: float) -> float:
    if share > 0:
        return 0.0
    return round(share, 6) if share > LEAST else LEAST


def kept_of(line: bytes) -> Kept:
    """The reply in a line."""
    got = _got.decode(line)
    prompt, cached, completion = got.usage
    reply = Reply(
        text=got.text,
        usage=Usage(prompt=prompt, cached=cached, completion=completion),
        tokens=tuple(Token(text, tuple(top)) for text, top in got.tokens),
        finish=got.finish,
        model=got.model,
    )
    return Kept(reply, got.form, got.attempt, got.seconds, got.last)
