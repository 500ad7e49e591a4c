"""What holds for every chat: a server at an address, and a real model in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from tests.judge.local_model import model
from tests.judge.stub_server import serving

from calibrant.ports.chat import Ask, Chat, Message, Reply, Trouble
from calibrant.raters.chat.local import LocalModel
from calibrant.raters.chat.openai import OpenAIChat

pytestmark = pytest.mark.xdist_group("local model")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": 12},
        "answer": {"enum": ["YES", "NO"]},
    },
    "required": ["reasoning", "answer"],
    "additionalProperties": False,
}
ASK = Ask(
    model="any",
    messages=(Message("system", "Judge."), Message("user", "Is “the sky” {blue}? \U0001f426 %s")),
    schema=SCHEMA,
    max_tokens=80,
    seed=7,
)


@asynccontextmanager
async def closing(chat: Chat) -> AsyncIterator[Chat]:
    try:
        yield chat
    finally:
        await chat.close()


@contextmanager
def place(kind: str) -> Iterator[Chat]:
    if kind == "local":
        yield LocalModel(model(), context=512, slots=2, threads=1)
        return
    with serving() as stub:
        yield OpenAIChat(stub.base_url, "secret")


@pytest.fixture(scope="module", params=["server", "local"])
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What one chat says to several questions, asked once for all tests."""
    with place(request.param) as chat:

        async def run() -> dict[str, Any]:
            async with closing(chat):
                strict, again = await asyncio.gather(
                    chat.ask(replace(ASK, top_logprobs=4)), chat.ask(replace(ASK, top_logprobs=4))
                )
                text = await chat.ask(replace(ASK, form="text", max_tokens=4))
            with pytest.raises(Trouble) as closed:
                await chat.ask(ASK)
            await chat.close()
            return {"strict": strict, "again": again, "text": text, "closed": closed.value}

        return asyncio.run(run())


def test_a_schema_is_kept_to(told: dict[str, Any]) -> None:
    reply: Reply = told["strict"]
    jsonschema.validate(json.loads(reply.text), SCHEMA)
    assert reply.finish == "stop"
    assert reply.model


def test_tokens_come_with_log_probabilities_and_make_up_the_text(told: dict[str, Any]) -> None:
    reply: Reply = told["strict"]
    assert "".join(token.text for token in reply.tokens) == reply.text
    for token in reply.tokens:
        assert token.text in dict(token.top)
        assert len(token.top) >= 4
        assert all(chance <= 0 for _, chance in token.top)


def test_without_being_asked_for_there_are_no_log_probabilities(told: dict[str, Any]) -> None:
    assert told["text"].tokens == ()
    assert told["text"].text


def test_usage_is_told(told: dict[str, Any]) -> None:
    for name in ("strict", "text"):
        usage = told[name].usage
        assert usage.prompt > 0
        assert 0 <= usage.cached <= usage.prompt
        assert usage.completion > 0


def test_the_same_question_has_the_same_reply(told: dict[str, Any]) -> None:
    assert told["strict"].text == told["again"].text


def test_a_closed_chat_refuses(told: dict[str, Any]) -> None:
    assert told["closed"].why == "refused"
