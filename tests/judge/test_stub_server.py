"""The stub is what other tests measure by, so it is held against its own rules."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.judge.stub_server import serving
from tests.judge.test_chat_contract import ASK, closing

from calibrant.ports.chat import Message, Reply, Trouble
from calibrant.raters.chat.openai import OpenAIChat

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "many": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/one"}},
        "few": {"type": "array", "items": {"type": "string"}},
        "either": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]},
        "short": {"type": "string", "maxLength": 3},
    },
    "required": ["many", "few", "either", "short"],
    "additionalProperties": False,
    "$defs": {"one": {"enum": ["YES", "NO"]}},
}


async def talk(base_url: str, number: int, **changes: Any) -> list[Any]:
    """Different questions, all at once."""
    async with closing(OpenAIChat(base_url, timeout=30)) as chat:
        asks = (
            replace(ASK, messages=(Message("user", f"question {n}"),), **changes)
            for n in range(number)
        )
        return await asyncio.gather(*map(chat.ask, asks), return_exceptions=True)


def test_replies_fit_the_schema_and_differ_from_prompt_to_prompt() -> None:
    with serving() as stub:
        replies = asyncio.run(talk(stub.base_url, 40, schema=SCHEMA))
    for reply in replies:
        jsonschema.validate(json.loads(reply.text), SCHEMA)
    assert len({reply.text for reply in replies}) > 1


def test_without_a_schema_in_the_request_a_marker_tells_it(tmp_path: Path) -> None:
    path = tmp_path / "schemas.json"
    path.write_text(json.dumps([{"marker": "question 1", "schema": {"const": [1]}}]), "utf-8")
    with serving(schemas=path) as stub:
        first, second = asyncio.run(talk(stub.base_url, 2, form="json_object"))
    assert json.loads(first.text)["answer"] in ("YES", "NO")
    assert json.loads(second.text) == [1]


def test_counts_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    for times in (1, 2):
        with serving(counts=path, faults="empty=0.5", seed=times) as stub:
            asyncio.run(talk(stub.base_url, 30))
            counts = stub.counts(whole=True)
    assert (counts["sent"], counts["prompts"]) == (60, 30)
    sent, answered = zip(*counts["by_prompt"].values(), strict=True)
    assert (sum(sent), sum(answered)) == (60, counts["answered"])
    assert 0 < counts["answered"] < 60
    assert counts["answered_again"] == sum(times == 2 for times in answered)


@pytest.mark.parametrize(("told", "wait"), [("none", False), ("ms", True), ("seconds", True)])
def test_beyond_the_rate_there_are_refusals_which_tell_to_wait(told: str, wait: bool) -> None:
    with serving(rate=1, burst=5, told=told) as stub:
        got = asyncio.run(talk(stub.base_url, 20))
        counts = stub.counts()
    refused = [one for one in got if isinstance(one, Trouble)]
    assert {one.why for one in refused} == {"rate_limited"}
    assert all((one.wait is not None and one.wait > 0) is wait for one in refused)
    assert counts["limited"] == len(refused) >= 10
    assert counts.get("bans", 0) == 0


def test_who_goes_on_and_on_is_banned() -> None:
    with serving(rate=0.01, burst=1, told="none", ban_after=10) as stub:
        got = asyncio.run(talk(stub.base_url, 40))
        counts = stub.counts()
    assert {one.why for one in got if isinstance(one, Trouble)} == {"rate_limited", "refused"}
    assert counts["bans"] == 1
    assert counts["while_banned"] > 0


def test_beyond_its_capacity_questions_wait_for_their_turn() -> None:
    with serving(latency=0.02, capacity=4, faults="drop=0.2") as stub:
        got = asyncio.run(talk(stub.base_url, 40))
        counts = stub.counts()
    assert counts["most_at_once"] == 4
    assert sum(isinstance(one, Reply) for one in got) == counts["answered"]
    assert counts["answered"] + counts["faults"]["drop"] == 40
