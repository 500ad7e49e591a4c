"""Which family a model belongs to, by its name, and which model a record says wrote an item.

A name is a hint and no proof. A family that is not known is told as such, and is nobody's relative.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

UNKNOWN = "unknown"
FILES = (".gguf", ".bin", ".safetensors")
"""How the name of a file with a model ends."""
_FAMILIES: tuple[tuple[str, str], ...] = (
    # the order tells where a name holds two: distilled models write like what taught them,
    # and others err like what they were made from
    ("deepseek", r"deepseek"),
    ("pythia", r"pythia|neo|neox"),
    ("gpt", r"gpt|chatgpt|o[134](mini|pro|preview)?|davinci|codex"),
    ("claude", r"claude|(opus|sonnet|haiku)\d*"),
    ("gemini", r"gemini|(code|med|shield|pali)?gemma|palm|bison"),
    ("llama", r"llama|codellama|vicuna|alpaca|tinyllama"),
    ("qwen", r"(code)?qwen|qwq|qvq"),
    ("mistral", r"mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|mathstral"),
    ("phi", r"phi"),
    ("smollm", r"smollm"),
    ("command", r"command|aya|cohere"),
    ("grok", r"grok"),
    ("olmo", r"olmo|tulu"),
    ("granite", r"granite"),
    ("falcon", r"falcon"),
    ("yi", r"yi"),
    ("glm", r"glm|chatglm"),
    ("kimi", r"kimi|moonlight"),
    ("minimax", r"minimax|abab"),
    ("internlm", r"internlm"),
    ("nova", r"nova"),
    ("jamba", r"jamba|jurassic"),
    ("solar", r"solar"),
    ("exaone", r"exaone"),
    ("ernie", r"ernie"),
    ("hunyuan", r"hunyuan"),
    ("stablelm", r"stablelm"),
    ("dbrx", r"dbrx"),
    ("nemotron", r"nemotron"),
    ("hermes", r"hermes"),
)
_PATTERNS = [(family, re.compile(rf"(?:{words})(?:v?\d[a-z0-9]*)?")) for family, words in _FAMILIES]
_MAKERS = {
    "openai": "gpt", "anthropic": "claude", "mistralai": "mistral", "xai": "grok",
    "x-ai": "grok", "cohere": "command", "huggingfacetb": "smollm", "zhipuai": "glm",
    "moonshotai": "kimi", "01-ai": "yi", "ai21": "jamba", "upstage": "solar", "allenai": "olmo",
}  # fmt: skip
"""Makers of one family; others make several, or serve other people's."""
GENERATOR_FIELDS = (
    "model", "generator", "source_model", "generator_model", "model_name", "model_id",
    "generated_by", "author_model", "llm", "assistant_model", "system",
)  # fmt: skip
"""Where a record may say which model wrote the item, in the order in which they are looked at."""


Relation: TypeAlias = Literal["own", "family", "unclear", "other"]
"""Of an author to a model, the nearest first: itself, one of its family, another name whose family
is not known, one of another family or a person."""
_NEAREST: tuple[Relation, ...] = ("own", "family", "unclear", "other")
_PEOPLE = ("human", "humans", "person", "people", "expert", "experts")
"""Words that say that no model wrote an item."""


def family_of(model: str) -> str:
    """The family of a model: of ``openai/gpt-4o``, ``gpt``; ``unknown`` where it cannot be told."""
    path = [one for one in re.split(r"[/\\:]", model.strip().casefold()) if one]
    if path and path[-1].endswith(FILES):
        path = path[-1:]  # folders are named by whoever keeps the file
    for name in reversed(path):
        words = [one for one in re.split(r"[^a-z0-9]+", name) if one]
        for family, pattern in _PATTERNS:
            if any(pattern.fullmatch(word) for word in words):
                return family
    return next((_MAKERS[name] for name in path if name in _MAKERS), UNKNOWN)


def generator_of(more: Mapping[str, Any]) -> str | None:
    """The model that wrote an item, where its record names one."""
    folded = {str(name).casefold().replace("-", "_"): value for name, value in more.items()}
    for field in GENERATOR_FIELDS:
        value = folded.get(field)
        if isinstance(value, Mapping):
            value = value.get("name", value.get("id"))
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def relation(models: Iterable[str], author: str) -> Relation:
    """How near an author is to a judge: to the nearest of its models, where it has several."""
    return min((_relation(one, author) for one in models), key=_NEAREST.index)


def _relation(model: str, author: str) -> Relation:
    if _bare(model) == _bare(author):
        return "own"
    if author.strip().casefold() in _PEOPLE:
        return "other"
    families = family_of(model), family_of(author)
    if UNKNOWN in families:
        return "unclear"
    return "family" if families[0] == families[1] else "other"


def _bare(model: str) -> str:
    """A name without its maker or folder: ``openai/gpt-4o`` and ``GPT-4o`` are one."""
    return re.split(r"[/\\]", model.strip().casefold())[-1]
