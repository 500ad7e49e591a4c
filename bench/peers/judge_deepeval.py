"""DeepEval judges: ``judge_deepeval.py own|shared URL CALLS.jsonl OUT.json CONCURRENCY NUMBER``.

``evaluate`` with one ``GEval``, whose steps are fixed, so that a test case takes one call. The
model is DeepEval's *own* ``LocalModel``, which makes a client for every call, or one as a user may
write it, with one client that all calls *share*, which is many times as fast. OUT tells the time of
``evaluate``, and how many test cases have a score.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from deepeval import evaluate  # type: ignore[import-not-found]
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig  # type: ignore[import-not-found]
from deepeval.metrics import GEval  # type: ignore[import-not-found]
from deepeval.models import DeepEvalBaseLLM, LocalModel  # type: ignore[import-not-found]
from deepeval.test_case import LLMTestCase, SingleTurnParams  # type: ignore[import-not-found]
from openai import AsyncOpenAI  # type: ignore[import-not-found]

STEPS = (
    "Read the conversation in the actual output.",
    "Decide whether the coach keeps to the rule in the expected output.",
)


class Shared(DeepEvalBaseLLM):  # type: ignore[misc]
    """A model behind one client."""

    def __init__(self, url: str) -> None:
        self.client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        super().__init__("stub")

    def load_model(self) -> Any:
        """There is one."""
        return self.client

    def get_model_name(self) -> str:
        """As it is reported."""
        return "stub"

    def generate(self, prompt: str) -> str:
        """Never asked for: calls are made at once."""
        raise NotImplementedError

    async def a_generate(self, prompt: str) -> str:
        """One call."""
        response = await self.client.chat.completions.create(
            model="stub", messages=[{"role": "user", "content": prompt}], temperature=0
        )
        return response.choices[0].message.content or ""


def model(client: str, url: str) -> Any:
    """The model that is asked."""
    if client == "shared":
        return Shared(url)
    return LocalModel(model="stub", api_key="none", base_url=url, temperature=0)


def main(client: str, url: str, calls: str, target: str, most: str, number: str) -> None:
    """Make the test cases, then evaluate them; only evaluating is timed."""
    with Path(calls).open(encoding="utf-8") as file:
        known = [json.loads(line) for line in file]
    cases = [
        LLMTestCase(
            input="Does the coach keep to the rule?",
            actual_output=one["conversation"],
            expected_output=one["rule"],
        )
        for one in islice(cycle(known), int(number))
    ]
    metric = GEval(
        name="rule",
        evaluation_steps=list(STEPS),
        evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT],
        model=model(client, url),
    )
    before_cpu, before = time.process_time(), time.perf_counter()
    found = evaluate(
        cases,
        [metric],
        async_config=AsyncConfig(max_concurrent=int(most), throttle_value=0),
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, inspect_after_run=False
        ),
        cache_config=CacheConfig(write_cache=False, use_cache=False),
    )
    seconds, cpu = time.perf_counter() - before, time.process_time() - before_cpu
    scored = [one for result in found.test_results for one in result.metrics_data or []]
    answered = sum(one.score is not None for one in scored)
    told = {"seconds": seconds, "cpu": cpu, "answered": answered}
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
