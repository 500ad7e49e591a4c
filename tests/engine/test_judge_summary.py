"""What a run of judges is said to have taken is what was paid for."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from calibrant.engine.jobs import Tally
from calibrant.engine.judge_run import Source
from calibrant.formats.rubric_file import load_rubric
from calibrant.judging.asking import Asking
from calibrant.judging.over_file import judge_file
from calibrant.judging.seats import Bench
from calibrant.ports.chat import Ask, Reply, Usage

ITEMS = Path(__file__).parents[2] / "examples" / "ai-response" / "items.jsonl"
USAGE = Usage(prompt=1000, cached=400, completion=100)


class EverySecond:
    """Says something else first, and answers when it is asked again."""

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, ask: Ask) -> Reply:
        self.asked += 1
        text = "let me think" if self.asked % 2 else json.dumps(_answers(ask.schema["properties"]))
        return Reply(text=text, usage=USAGE)

    async def close(self) -> None:
        """Nothing is open."""


def _answers(asked: dict[str, Any]) -> dict[str, Any]:
    return {
        name: []
        if form["type"] == "array"
        else {"answer": form["properties"]["answer"]["enum"][0], "reasoning": "so it is"}
        for name, form in asked.items()
    }


def test_every_reply_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chat, tally = EverySecond(), Tally()
    monkeypatch.setattr(Bench, "_server", lambda bench, url: chat)
    records = [json.loads(line) for line in ITEMS.read_text("utf-8").splitlines()[:2]]
    records.append({**records[0], "id": "the same words"})
    items = tmp_path / "items.jsonl"
    items.write_text("\n".join(map(json.dumps, records)), "utf-8")
    source = Source(path=items, rubric=load_rubric("ai-response"))
    asking = Asking(models=("m",), prices=("m=1/10",), concurrency=1)
    found = judge_file(source, asking, tmp_path / "out.jsonl", tally=tally)
    (count,) = found.judges.values()
    assert (count.ratings, count.incomplete) == (3, 0)
    assert count.usage == tally.usage["m"]
    assert count.usage.prompt == 1000 * chat.asked, "what could not be read is paid for too"
    assert count.attempts == chat.asked == 2 * count.calls
    assert found.cost == Decimal(2000 * chat.asked).scaleb(-6)
