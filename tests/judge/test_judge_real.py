"""A real model, from its file to ratings: a poor judge, asked about all three rubrics."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.judge.local_model import model

from calibrant import load_rubric, read_items
from calibrant.cli.main import cli
from calibrant.core.acceptance import accept
from calibrant.engine.jobs import Done, Job, Tally
from calibrant.formats.call_log import CallLog
from calibrant.judging.asking import Asking
from calibrant.judging.running import asker, run_closing
from calibrant.judging.seats import Bench
from calibrant.raters.judge.form import judge_form
from calibrant.raters.judge.questions import Question
from calibrant.raters.judge.schema import answers_of
from calibrant.settings import Settings

pytestmark = pytest.mark.xdist_group("local model")
ITEMS: dict[str, dict[str, Any]] = {
    "coaching-conversation": {
        "id": "c-1",
        "exchanges": [
            ["I slept badly, and my boss moved the deadline.", "Which of the two weighs more?"],
            ["The deadline.", "Then let us look at it first. What is left to do?"],
        ],
    },
    "smart-action-plan": {
        "id": "p-1",
        "profile": {"goal": "work as a gardener", "lacks": ["a car"], "confidence": 2},
        "actions": [{"action": "Visit two nurseries by bus", "deadline": "by week 2"}],
    },
    "ai-response": {
        "id": "r-1",
        "question": "How many legs does a spider have?",
        "response": "A spider has eight legs.",
    },
}

QUESTIONS = {
    "coaching-conversation": "CP5",
    "smart-action-plan": "clarity",
    "ai-response": "tone_bias",
}
LEFT_OUT = (
    "scope", "stated_version", "stated_date", "reviewers", "independence", "categories", "gates",
    "red_flags", "agreement", "resolution", "panel", "calibration", "phases", "guidance",
    "pitfalls", "difficult_cases", "standards", "principles", "checks", "update_causes", "mapping",
)  # fmt: skip
TINY = """\
format: 1
id: tiny
version: 1.0
title: Plain words
item_type: free
summary: Whether a text is plain.
scales:
  - kind: choice
    id: yes_no
    values:
      - {value: YES, meaning: It is so., points: 1}
      - {value: NO, meaning: It is not so., points: 0}
criteria:
  - id: plain
    title: Plain
    scale: yes_no
    question: Is the text easy to understand?
    na: {policy: excluded}
aggregation: {kind: dimensions, pass_mark: none}
changelog: [{version: 1.0, text: The first.}]
""" + "".join(f"{name}: none\n" for name in LEFT_OUT)


@pytest.mark.parametrize("name", ITEMS)
def test_a_real_model_answers_by_every_rubric(name: str, tmp_path: Path) -> None:
    """One question of each rubric, because the model reads a page in half a minute."""
    rubric, asked = load_rubric(name), QUESTIONS[name]
    (tmp_path / "items.jsonl").write_text(json.dumps(ITEMS[name]) + "\n", "utf-8")
    (item,) = read_items(tmp_path / "items.jsonl").items
    asking = Asking(files=(model(),), attempts=1, max_tokens=256)
    with CallLog.open(tmp_path / "calls") as log:
        bench = Bench(asking, log.key, Settings({}, tmp_path))
        (seat,) = bench.seats(rubric, lambda item: [Question(asked, (asked,))])
        tally = Tally()
        work = _only(asker(asking, log, tally)([Job(0, item, seat)]))
        done = run_closing(work, bench, tally)
    (call,) = done.asked
    assert call.reading is not None and call.reply is not None and call.form == "json_schema"
    assert call.reading.rung == "json_schema" and call.reply.usage.prompt > 500
    judgement = call.reading.judgements[asked]
    assert judgement.answer in answers_of(rubric, rubric.criterion(asked))
    assert judgement.answer in judgement.probabilities
    accepted = accept(rubric, item, "LLM", judge_form(seat.judge, item, done.asked))
    assert accepted.answers[asked] == judgement.answer
    assert tally.steps == [] and not tally.errors


async def _only(found: AsyncIterator[Done]) -> Done:
    (done,) = [one async for one in found]
    return done


def test_the_command_judges_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(TINY, "utf-8")
    Path("items.jsonl").write_text('{"id": "a", "content": {"text": "Bees fly."}}\n', "utf-8")
    command = ["judge", "items.jsonl", "-r", "tiny.yaml", "--local", str(model()), "-o", "r.jsonl"]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, (result.output, result.exception)
    rating = json.loads(Path("r.jsonl").read_text("utf-8"))
    assert rating["answers"]["plain"] in ("YES", "NO")
    shares = rating["metadata"]["probabilities"]["plain"]
    assert 0 < shares[rating["answers"]["plain"]] <= sum(shares.values()) <= 1.000001
    again = CliRunner().invoke(cli, command)
    assert again.exit_code == 0 and json.loads(again.stdout)["run"]["calls"] == 0
