"""What the stub server says: valid replies made from a JSON Schema, and the ways to spoil them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

FAULTS = (
    "rate",  # 429 that tells no wait
    "rate_after",  # 429 with Retry-After
    "error",  # 500 with a message in JSON
    "page",  # 503 with a page of HTML
    "page_ok",  # 200 with a page of HTML
    "hang",  # no answer until the client gives up
    "drop",  # the connection ends before an answer
    "cut",  # the connection ends in the middle of the answer
    "trickle",  # a valid answer, a few bytes at a time
    "broken",  # 200 with half a completion, its length told rightly
    "twice",  # a completion with one key twice
    "nothing",  # a completion without choices
    "redirect",  # 307 to another path of the same server
    "truncated",  # a reply cut off: finish_reason length
    "fenced",  # a valid reply in a code fence
    "amid",  # a valid reply amid words
    "foreign",  # answers in another language
    "offscale",  # answers that no scale has
    "doubled",  # a reply with every key twice
    "empty",  # a reply without words
    "refusal",  # content null, with a refusal
)
"""Everything that can go wrong, by name."""
VALID = frozenset({"", "trickle", "fenced", "amid"})
"""After these a strict reader has its answer."""
WAIT_TOLD = 1
"""Seconds that ``rate_after`` tells."""
SENTENCE = "The exchange shows it, so this answer follows."


def sample(schema: Mapping[str, Any], rng: random.Random, other: Any = None) -> Any:
    """A value that the schema allows; with ``other``, that in place of every closed choice."""
    return _sample(schema, schema, rng, other)


def _sample(
    schema: Mapping[str, Any], root: Mapping[str, Any], rng: random.Random, other: Any
) -> Any:
    if "$ref" in schema:
        target: Any = root
        for step in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target[step]
        return _sample(target, root, rng, other)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(list(schema["enum"])) if other is None else other
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _sample(schema[several][0], root, rng, other)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        wanted = schema.get("required", list(schema.get("properties", {})))
        return {name: _sample(schema["properties"][name], root, rng, other) for name in wanted}
    if kind == "array":
        few = range(schema.get("minItems", 0))
        return [_sample(schema["items"], root, rng, other) for _ in few]
    if kind == "string":
        text = SENTENCE[: schema.get("maxLength")]
        return text.ljust(schema.get("minLength", 0), ".")
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return None if kind == "null" else True


def content(schema: Mapping[str, Any], fault: str, rng: random.Random) -> str | None:
    """The text of a reply, spoilt as asked."""
    if fault in ("empty", "refusal"):
        return "" if fault == "empty" else None
    other = {"foreign": "JAWOHL", "offscale": "99"}.get(fault)
    text = json.dumps(sample(schema, rng, other))
    if fault == "truncated":
        return text[: len(text) // 2]
    if fault == "fenced":
        return f"```json\n{text}\n```"
    if fault == "amid":
        return f"Here is my judgement, {{as asked}}:\n{text}\nI hope this helps."
    if fault == "doubled":
        return f"{text[:-1]}, {text[1:]}" if len(text) > 2 else text
    return text


def tokens_of(text: str, top: int) -> dict[str, Any]:
    """Log-probabilities: the text in pieces of words, each with made-up alternatives."""
    pieces = [text[start : start + 4] for start in range(0, len(text), 4)]
    return {
        "content": [
            {
                "token": piece,
                "logprob": -0.1,
                "top_logprobs": [
                    {"token": piece if not rank else f"{piece}{rank}", "logprob": -0.1 - 2.0 * rank}
                    for rank in range(top)
                ],
            }
            for piece in pieces
        ]
    }


def completion(text: str | None, fault: str, top: int) -> bytes:
    """A chat completion around a text, spoilt as asked; its end and usage are not there yet."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if fault == "refusal":
        message["refusal"] = "I cannot help with that."
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": "length" if fault == "truncated" else "stop",
    }
    if top and text:
        choice["logprobs"] = tokens_of(text, top)
    whole = {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [] if fault == "nothing" else [choice],
    }
    body = json.dumps(whole).encode()[:-1]
    if fault == "twice":
        another = {**choice, "message": {"role": "assistant", "content": "another"}}
        body += b', "choices": ' + json.dumps([another]).encode()
    return body


def with_usage(body: bytes, prompt: int, said: int) -> bytes:
    """The completion to its end, with tokens counted as four signs each."""
    return body + (
        b', "usage": {"prompt_tokens": %d, "completion_tokens": %d, "total_tokens": %d, '
        b'"prompt_tokens_details": {"cached_tokens": %d}}}'
        % (prompt // 4, said // 4, (prompt + said) // 4, prompt // 8)
    )
