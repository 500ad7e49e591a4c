"""Chat completions as they go over the wire: an ask becomes bytes, bytes become a reply."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from calibrant.ports.chat import NO_USAGE, Ask, Reply, Token, Trouble, Usage

MAX_TOKENS = "max_tokens"
"""What nearly all servers call the most tokens of a reply."""
NEWER_LIMIT = "max_completion_tokens"
"""What some newer models insist on."""
KEPT_SCHEMAS = 512
"""Schemas whose bytes are kept: a rubric has one for each question."""


class _Chance(msgspec.Struct):
    token: str = ""
    logprob: float | None = None


class _Told(_Chance):
    top_logprobs: list[_Chance] = []


class _ToldAll(msgspec.Struct):
    content: list[_Told] | None = None


class _Part(msgspec.Struct):
    text: str = ""


class _Said(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Said
    finish_reason: str | None = None
    logprobs: _ToldAll | None = None


class _Cached(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None
    model: str | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Completion).decode


class Asker:
    """Writes asks as bytes; keeps those of schemas, which are the same in thousands of calls."""

    __slots__ = ("_schemas", "limit")

    def __init__(self) -> None:
        self.limit = MAX_TOKENS
        self._schemas: dict[int, tuple[Mapping[str, Any], msgspec.Raw]] = {}

    def body(self, ask: Ask) -> bytes:
        """The request; raises ``Trouble`` where a message is no text that can be sent."""
        wanted: dict[str, Any] = {
            "model": ask.model,
            "messages": [{"role": one.role, "content": one.content} for one in ask.messages],
            "temperature": ask.temperature,
            self.limit: ask.max_tokens,
        }
        if ask.seed is not None:
            wanted["seed"] = ask.seed
        if ask.top_logprobs:
            wanted["logprobs"] = True
            wanted["top_logprobs"] = ask.top_logprobs
        if ask.form == "json_schema":
            wanted["response_format"] = self._schema(ask.schema)
        elif ask.form == "json_object":
            wanted["response_format"] = {"type": "json_object"}
        try:
            return _encode(wanted)
        except UnicodeEncodeError:
            trouble = Trouble("refused", "a message holds half a sign, which cannot be sent")
        raise trouble

    def _schema(self, schema: Mapping[str, Any]) -> msgspec.Raw:
        """The form of a reply as bytes; found by identity, so the schema itself is kept too."""
        kept = self._schemas.get(id(schema))
        if kept is not None:
            return kept[1]
        form = {"name": "reply", "strict": True, "schema": dict(schema)}
        raw = msgspec.Raw(_encode({"type": "json_schema", "json_schema": form}))
        if len(self._schemas) >= KEPT_SCHEMAS:
            self._schemas.clear()
        self._schemas[id(schema)] = schema, raw
        return raw


def reply_of(body: bytes, status: int = 200) -> Reply:
    """What a server's answer says; raises ``Trouble`` where it is no chat completion.

    A reply without words is a reply; who reads it will find nothing. A model that declines in the
    field made for that has refused.
    """
    try:
        completion = _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        completion = None
    if completion is None or not completion.choices:
        raise Trouble("no_reply", _what_instead(body), status=status)
    if _may_be_doubled(body) and _is_doubled(body):
        raise Trouble("no_reply", "an object with one key twice", status=status)
    choice = completion.choices[0]
    said, finish = choice.message, choice.finish_reason or ""
    if not said.content and (said.refusal or finish == "content_filter"):
        raise Trouble("refused", "the model declined to answer", status=status)
    text = said.content or ""
    if not isinstance(text, str):
        text = "".join(part.text for part in text)
    return Reply(
        text=text,
        usage=_usage(completion.usage),
        tokens=_tokens(choice.logprobs, text),
        finish=finish,
        model=completion.model or "",
    )


def _usage(told: _Usage | None) -> Usage:
    if told is None:
        return NO_USAGE
    details = told.prompt_tokens_details
    return Usage(
        prompt=max(told.prompt_tokens or 0, 0),
        cached=max((details.cached_tokens or 0) if details else 0, 0),
        completion=max(told.completion_tokens or 0, 0),
    )


def _tokens(told: _ToldAll | None, text: str) -> tuple[Token, ...]:
    """Tokens with their alternatives; servers leave the chosen one out where it was unlikely."""
    if told is None or not told.content:
        return ()
    tokens = []
    for one in told.content:
        top = [(each.token, each.logprob) for each in one.top_logprobs if _is_known(each)]
        if _is_known(one) and all(other != one.token for other, _ in top):
            top.append((one.token, one.logprob))
        tokens.append(Token(one.token, tuple(top)))  # type: ignore[arg-type]
    return _within(text, tokens)


def _within(text: str, tokens: list[Token]) -> tuple[Token, ...]:
    """The tokens of the text alone: llama.cpp also tells those of a fence that it takes away."""
    whole = "".join(token.text for token in tokens)
    start = whole.find(text) if text else -1
    if start < 0 or len(whole) == len(text):
        return tuple(tokens)
    kept, at = [], 0
    for token in tokens:
        if token.text and start < at + len(token.text) and at < start + len(text):
            kept.append(token)
        at += len(token.text)
    return tuple(kept)


def _is_known(chance: _Chance) -> bool:
    """Whether there is a log-probability: some servers tell null for what cannot come."""
    return chance.logprob is not None and math.isfinite(chance.logprob)


def _what_instead(body: bytes) -> str:
    """What came in place of a completion: never the text itself, which may be anything."""
    start = body[:200].lstrip().lower()
    if not start:
        return "an empty answer"
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<")):
        return "a page of HTML in place of JSON"
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return f"no JSON, or JSON cut short, of {len(body)} bytes"
    return "JSON that is no chat completion, or one without choices"


def _may_be_doubled(body: bytes) -> bool:
    """A quick look: inside a string quotes are escaped, so these are keys or single tokens."""
    return (
        body.count(b'"choices"') > 1 or body.count(b'"message"') > 1 or body.count(b'"content"') > 2
    )


def _is_doubled(body: bytes) -> bool:
    """Whether any object has one key twice, which readers would read in two ways."""
    doubled = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal doubled
        doubled = doubled or len({key for key, _ in pairs}) < len(pairs)

    json.loads(body, object_pairs_hook=look)
    return doubled
