"""What became of one call: what a reply says, or why there is nothing."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.ports.chat import NO_USAGE, Form, Reply, Usage
from calibrant.raters.judge.judge import Call
from calibrant.raters.judge.reading import Reading

UNREADABLE = "unreadable"
"""There was a reply, and nothing could be made of it: the one failure that is the model's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call, at its end."""

    call: Call
    reading: Reading | None
    reply: Reply | None
    """The one that was read, or else the last."""
    why: str | None
    """Class of what went wrong, where nothing was read."""
    detail: str = ""
    attempts: int = 1
    seconds: float = 0.0
    form: Form = "json_schema"
    """How strictly the server was told what a reply must look like, in the end."""
    others: Usage = NO_USAGE
    """Tokens of replies that were paid for too, and are not the one above."""
    kept: bool = False
    """Whether the reply came from a log and was not paid for again."""

    @property
    def usage(self) -> Usage:
        """Tokens of all replies to the call."""
        return self.others if self.reply is None else self.others + self.reply.usage

    @property
    def outage(self) -> bool:
        """Whether there is nothing because nobody could be asked."""
        return self.reading is None and self.why != UNREADABLE

    @property
    def reason(self) -> str:
        """Why there is nothing, as a rating says it."""
        why = self.why or "not asked"
        return f"{why}: {self.detail}" if self.detail else why
