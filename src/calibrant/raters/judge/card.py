"""The card of a judge: everything that shapes its answers, written down and hashed.

Change the prompt, the rubric, the model, a parameter or the reader, and it is another rater. What
is asked has a hash of its own, so that a new reader can read the replies to old questions.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from calibrant.core.criterion import ItemType
from calibrant.core.ids import content_hash
from calibrant.core.rating import RaterKind

KIND: RaterKind = "LLM"
Way: TypeAlias = Literal["criterion", "category", "rubric"]
"""What one call asks about: one criterion, the criteria of a category, or all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What a model is told beside the prompt."""

    temperature: float = 0.0
    max_tokens: int = 1024
    """Of a reply, for each criterion that it is about."""
    top_logprobs: int = 0
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class JudgeCard:
    """One model asked in one way about one rubric."""

    model: str
    way: Way
    parameters: Parameters
    item_type: ItemType
    rubric: str
    """Name of the rubric, ``id@version``."""
    rubric_hash: str
    prompt: str
    """Content hash of every fixed sentence of the prompt."""
    facts: str | None
    """Card of the checks whose measurements the judge is told; ``None``: it is told none."""
    reader: str
    """Version of the reader of replies."""

    @cached_property
    def asked(self) -> str:
        """Content hash of all that shapes the question, the reader left out."""
        told = self.to_dict()
        del told["reader"]
        return content_hash(told)

    def to_dict(self) -> dict[str, Any]:
        """For JSON and for the hash."""
        return {
            "kind": KIND,
            "model": self.model,
            "way": self.way,
            "parameters": asdict(self.parameters),
            "item_type": self.item_type,
            "rubric": self.rubric,
            "rubric_hash": self.rubric_hash,
            "prompt": self.prompt,
            "facts": self.facts,
            "reader": self.reader,
        }

    @cached_property
    def hash(self) -> str:
        """Content hash of the whole card."""
        return content_hash(self.to_dict())

    @cached_property
    def name(self) -> str:
        """The rater's name: two cards never share one."""
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", self.model).strip("-")[:40] or "model"
        return f"{slug}-{self.hash.partition(':')[2][:8]}"
