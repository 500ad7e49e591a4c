"""Inspect AI judges: ``judge_inspect.py URL CALLS.jsonl OUT.json CONCURRENCY NUMBER``.

A task whose samples hold a conversation and a rule; its solver asks nobody, so that the only call
of a sample is that of the scorer ``model_graded_qa``. What only a viewer needs is switched off. OUT
tells the time of ``eval``, and how many samples have a score.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from inspect_ai import Task  # type: ignore[import-not-found]
from inspect_ai import eval as run_eval
from inspect_ai.dataset import MemoryDataset, Sample  # type: ignore[import-not-found]
from inspect_ai.model import GenerateConfig, ModelOutput, get_model  # type: ignore[import-not-found]
from inspect_ai.scorer import model_graded_qa  # type: ignore[import-not-found]
from inspect_ai.solver import solver  # type: ignore[import-not-found]


@solver  # type: ignore[untyped-decorator]
def as_it_is() -> Any:
    """The conversation is what is judged; no model is asked for more."""

    async def solve(state: Any, generate: Any) -> Any:
        state.output = ModelOutput.from_content("none", "the conversation above")
        return state

    return solve


def main(url: str, calls: str, target: str, most: str, number: str) -> None:
    """Make the task, then run it; only running is timed."""
    with Path(calls).open(encoding="utf-8") as file:
        known = [json.loads(line) for line in file]
    samples = [
        Sample(id=at, input=one["conversation"], target=one["rule"])
        for at, one in enumerate(islice(cycle(known), int(number)))
    ]
    model = get_model(
        "openai-api/stub/stub",
        base_url=url,
        api_key="none",
        config=GenerateConfig(max_connections=int(most)),
    )
    task = Task(
        dataset=MemoryDataset(samples), solver=as_it_is(), scorer=model_graded_qa(model=model)
    )
    before_cpu, before = time.process_time(), time.perf_counter()
    (log,) = run_eval(
        task,
        model=model,
        max_connections=int(most),
        max_samples=int(most),
        log_dir=str(Path(target).with_suffix(".logs")),
        log_realtime=False,
        log_buffer=int(number),
        display="none",
    )
    seconds, cpu = time.perf_counter() - before, time.process_time() - before_cpu
    scored = sum(bool(one.scores) for one in log.samples or [])
    told = {"seconds": seconds, "cpu": cpu, "answered": scored, "status": log.status}
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
