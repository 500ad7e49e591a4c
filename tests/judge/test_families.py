"""Families of models, and warnings about relatives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.core.model_names import UNKNOWN, family_of, generator_of, relation
from calibrant.raters.judge.families import Authors, kin_judges


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "gpt"),
        ("openai/gpt-4.1", "gpt"),
        ("o3-mini", "gpt"),
        ("ft:gpt-4o:org::id", "gpt"),
        ("openai/something-new", "gpt"),
        ("claude-sonnet-4-5", "claude"),
        ("us.anthropic.claude-3-haiku-20240307-v1:0", "claude"),
        ("gemini-2.5-pro", "gemini"),
        ("google/gemma-2-9b-it", "gemini"),
        ("Meta-Llama-3.1-8B-Instruct", "llama"),
        ("llama3:8b", "llama"),
        ("qwen2.5:7b", "qwen"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistral"),
        ("DeepSeek-V3", "deepseek"),
        ("DeepSeek-R1-Distill-Qwen-7B", "deepseek"),
        ("Phi-3-mini-4k-instruct-q4.gguf", "phi"),
        ("SmolLM2-135M-Instruct.Q4.gguf", "smollm"),
        ("/models/llama/SmolLM2-135M-Instruct.Q4_K_M.gguf", "smollm"),
        ("command-r-plus", "command"),
        ("x-ai/grok-2", "grok"),
        ("/srv/claude/mine.gguf", UNKNOWN),
        ("philosopher-7b", UNKNOWN),
        ("my-own-model", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_a_name_tells_the_family(name: str, family: str) -> None:
    assert family_of(name) == family
    assert family_of(f" {name.upper()} ") == family


@given(st.text(max_size=60))
def test_any_text_has_a_family_or_none(name: str) -> None:
    assert family_of(name)


def test_two_judges_of_one_family_are_warned_about_and_samples_are_not() -> None:
    assert not list(kin_judges(["gpt-4o", "gpt-4o", "claude-3-opus", "mine", "yours"]))
    (found,) = kin_judges(["gpt-4o", "o3-mini", "claude-3-opus"])
    assert found.models == ("gpt-4o", "o3-mini")
    assert "gpt-4o, o3-mini are of one family (gpt)" in str(found)


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"model": "gpt-4o"}, "gpt-4o"),
        ({"Source-Model": " llama3 "}, "llama3"),
        ({"generator": {"name": "claude-3"}}, "claude-3"),
        ({"model": "", "generated_by": "qwen"}, "qwen"),
        ({"model": 4, "topic": "gpt-4o"}, None),
        ({}, None),
    ],
)
def test_items_may_name_what_wrote_them(more: dict[str, Any], name: str | None) -> None:
    assert generator_of(more) == name


def test_a_judge_of_the_family_that_wrote_items_is_warned_about() -> None:
    authors = Authors()
    for more in ({"model": "gpt-4"}, {"generator": "openai/o1"}, {"model": "mine"}, {}):
        authors.add(more)
    (found,) = authors.kin(["gpt-4o", "claude-3", "yours"])
    assert found.family == "gpt" and found.wrote == 2 and authors.unnamed == 1
    assert str(found).startswith("2 items were written by a model of the gpt family")


@pytest.mark.parametrize(
    ("models", "author", "near"),
    [
        (["gpt-4o"], " OpenAI/GPT-4o ", "own"),
        (["gpt-4o"], "gpt-4o-mini", "family"),
        (["gpt-4o"], "claude-3-opus", "other"),
        (["gpt-4o"], "human", "other"),
        (["gpt-4o"], "system A", "unclear"),  # it may be one of them
        (["mine"], "mine", "own"),
        (["mine"], "gpt-4o", "unclear"),
        (["claude-3", "gpt-4o"], "o3-mini", "family"),  # a panel: the nearest
    ],
)
def test_how_near_an_author_is_to_a_judge(models: list[str], author: str, near: str) -> None:
    assert relation(models, author) == near
