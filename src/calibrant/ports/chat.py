"""What a judge needs of a language model: one question out, one reply back, or what went wrong.

Nothing here knows HTTP, and nothing above it knows which server answers: a server at an address,
a model in this process, or a recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Form: TypeAlias = Literal["json_schema", "json_object", "text"]
"""How strictly a server is told what a reply must look like."""
FORMS: tuple[Form, ...] = ("json_schema", "json_object", "text")
"""Strictest first: a server that does not know one is asked by the next."""
Class: TypeAlias = Literal[
    "rate_limited", "timeout", "server_error", "connection", "refused", "unsupported", "no_reply"
]
"""Why there is no reply. ``refused``: asking again would not help (no access, no such model, too
long). ``unsupported``: the server does not know the form, or log-probabilities, that were asked
for. ``no_reply``: it answered, and not in the way of chat completions."""
PASSING: frozenset[Class] = frozenset(
    {"rate_limited", "timeout", "server_error", "connection", "no_reply"}
)
"""What may be over when one asks again."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request to a model."""

    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    """JSON Schema of the reply; sent where ``form`` is ``json_schema``."""
    form: Form = "json_schema"
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    top_logprobs: int = 0
    """How many alternatives to tell for each token; 0: no log-probabilities."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a reply: its text and, for it and its alternatives, log-probabilities."""

    text: str
    top: tuple[tuple[str, float], ...]
    """Texts with their natural log-probability, the chosen one among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that a call took, as the server counts them; what it does not tell is nought."""

    prompt: int = 0
    cached: int = 0
    """Of those of the prompt, how many the server had kept."""
    completion: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            completion=self.completion + other.completion,
        )


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said."""

    text: str
    usage: Usage = NO_USAGE
    tokens: tuple[Token, ...] = ()
    """With log-probabilities, where they were asked for and the server gives them."""
    finish: str = ""
    """Why it stopped: ``stop``, ``length``."""
    model: str = ""
    """The model as the server names it."""


class Trouble(Exception):
    """There is no reply; ``wait`` is how many seconds the server asks to wait, where it does."""

    def __init__(
        self, why: Class, detail: str = "", *, wait: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(f"{why}: {detail}" if detail else why)
        self.why, self.detail, self.wait, self.status = why, detail, wait, status


class Chat(Protocol):
    """A place where a model answers."""

    async def ask(self, ask: Ask) -> Reply:
        """The reply; raises ``Trouble``. Asks once: who calls decides about asking again."""

    async def close(self) -> None:
        """Let connections and processes go."""
