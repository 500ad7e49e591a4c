"""Which family a model belongs to, by its name: judges of one family err alike.

A name is a hint and no proof, so nothing here refuses anything; it warns. A family that is not
known is told as such, and is nobody's relative.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Kinship:
    """Models of one family where it matters that they are not."""

    family: str
    models: tuple[str, ...]
    """Judges of the family."""
    wrote: int = 0
    """Items that a model of the family wrote; 0: the judges are each other's relatives."""

    def __str__(self) -> str:
        names = ", ".join(self.models)
        if self.wrote:
            items = f"{self.wrote} item" if self.wrote == 1 else f"{self.wrote} items"
            was = "was" if self.wrote == 1 else "were"
            return (
                f"{items} {was} written by a model of the {self.family} family, as {names} is: "
                "judges may favour their own family"
            )
        return (
            f"{names} are of one family ({self.family}): they may err alike, so the panel is worth "
            "less than their number"
        )


def kin_judges(models: Iterable[str]) -> Iterator[Kinship]:
    """Families with two different judges or more; samples of one model are no second judge."""
    by_family: dict[str, list[str]] = {}
    for model in dict.fromkeys(models):
        by_family.setdefault(family_of(model), []).append(model)
    for family, some in by_family.items():
        if family != UNKNOWN and len(some) > 1:
            yield Kinship(family, tuple(some))


class Authors:
    """Which families wrote the items, counted as they go by."""

    def __init__(self) -> None:
        self.families: Counter[str] = Counter()
        self.unnamed = 0
        """Items that do not say what wrote them."""

    def add(self, more: Mapping[str, Any]) -> None:
        """Count one item in."""
        name = generator_of(more)
        if name is None:
            self.unnamed += 1
        else:
            self.families[family_of(name)] += 1

    def kin(self, models: Iterable[str]) -> Iterator[Kinship]:
        """Judges who are relatives of what wrote items."""
        by_family: dict[str, list[str]] = {}
        for model in dict.fromkeys(models):
            by_family.setdefault(family_of(model), []).append(model)
        for family, some in by_family.items():
            if family != UNKNOWN and self.families[family]:
                yield Kinship(family, tuple(some), self.families[family])
