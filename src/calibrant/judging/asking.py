"""Who is asked, how, and what becomes of it: everything that a run of judges can be told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import get_args

from calibrant.core.errors import SourceError
from calibrant.engine.jobs import Limits
from calibrant.raters.judge.card import Parameters, Way
from calibrant.raters.judge.cascade import Rules
from calibrant.raters.judge.prices import Price, read_prices

PEOPLE = "people"
"""Where doubtful items go that no other judge is to see."""
TOP = 5
"""Alternatives of a token that are asked for: YES, NO, NA and how else they may be written."""
GGUF = ".gguf"
"""How the name of a model ends that answers in this process."""
SEVERAL = 0.7
"""Temperature where a model is asked several times: at nought it would say the same each time."""


def is_file(named: str) -> bool:
    """Whether a judge is named by a file that answers in this process."""
    return named.lower().endswith(GGUF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who is asked, how, and what becomes of it."""

    models: tuple[str, ...] = ()
    """Names of models, each with ``@URL`` where it is at another server than the usual one."""
    files: tuple[Path, ...] = ()
    """GGUF files that answer in this process."""
    base_url: str | None = None
    concurrency: int = 16
    attempts: int = 5
    timeout: float = 120.0
    way: Way = "criterion"
    samples: int = 1
    temperature: float | None = None
    max_tokens: int = 1024
    probabilities: bool = True
    policy: str | None = None
    escalate_to: str | None = None
    near: float = 0.05
    unsure: float = 0.2
    prices: Sequence[str] = ()
    calls: Path | None = None
    replay: Path | None = None

    def __post_init__(self) -> None:
        """Raise ``SourceError`` where nobody is asked, or nobody can be asked like this."""
        if not self.models and not self.files:
            raise SourceError("no judge is named: name a model of a server, or a GGUF file")
        for one in self.files:
            # anything else would be taken for the name of a model, and items sent to a server
            if not is_file(str(one)):
                raise SourceError(f"{one}: a model in this process is a {GGUF} file")
        if self.way not in get_args(Way):
            raise SourceError(f"there is no way {self.way!r}: {', '.join(get_args(Way))}")
        for name in ("concurrency", "attempts", "samples", "max_tokens", "timeout"):
            if getattr(self, name) <= 0:
                raise SourceError(f"{name} is more than 0")

    @property
    def parameters(self) -> Parameters:
        """What models are told beside the prompt."""
        usual = SEVERAL if self.samples > 1 else 0.0
        return Parameters(
            temperature=usual if self.temperature is None else self.temperature,
            max_tokens=self.max_tokens,
            top_logprobs=TOP if self.probabilities else 0,
        )

    @property
    def limits(self) -> Limits:
        """How hard a server is asked."""
        return Limits(concurrency=self.concurrency, attempts=self.attempts, timeout=self.timeout)

    @property
    def rules(self) -> Rules:
        """What sends an item on."""
        margin = Fraction(str(self.near))
        return Rules(margin=margin or None, probability=self.unsure or None)

    @property
    def stated_prices(self) -> dict[str, Price]:
        """By model; raises ``SourceError``, also where one is stated for nobody who is asked."""
        found = read_prices(self.prices)
        asked = [one for one in (*self.models, self.escalate_to) if one not in (None, PEOPLE)]
        names = [re.split("@https?://", str(one))[0].strip() for one in asked]
        for name in found:
            if name not in names and not self.files:
                raise SourceError(
                    f"there is a price for {name!r}, but what is asked is {', '.join(names)}"
                )
        return found
