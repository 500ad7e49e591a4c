"""What judges are asked to do, how hard, and how far they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from calibrant.core.item import Item
from calibrant.ports.chat import NO_USAGE, Chat, Usage
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.outcome import Asked


@dataclass(frozen=True, slots=True)
class Seat:
    """A judge and where its model answers."""

    judge: Judge
    chat: Chat
    at_once: int | None = None
    """Calls that its model answers at once, where that is known; others wait here, not there."""
    timeout: float | None = None
    """Seconds for one attempt, where it takes longer than others."""


@dataclass(frozen=True, slots=True)
class Job:
    """One item for one judge."""

    position: int
    item: Item
    seat: Seat
    sample: int = 1


@dataclass(frozen=True, slots=True)
class Done:
    """A job with what became of all its calls, in the order of the questions."""

    job: Job
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How hard a server is asked."""

    concurrency: int = 16
    """Calls on their way at once, to each server."""
    attempts: int = 5
    timeout: float = 120.0
    """Seconds for one attempt."""
    pause: float = 0.5
    """Seconds before the second attempt, at most; doubled with each further one."""
    longest_pause: float = 30.0
    patience: float = 300.0
    """Seconds without any answer from a server, or of waiting that it asks for, before the run
    stops: what is left is asked by the next."""


@dataclass(slots=True)
class Tally:
    """How a run stands, while it runs."""

    total: int = 0
    """Calls that there will be, if somebody has counted them."""
    known: int = 0
    """Calls taken up so far."""
    done: int = 0
    kept: int = 0
    """Of those done, answered from the log."""
    in_flight: int = 0
    retried: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """Attempts that came to nothing, or could not be read, by class."""
    abstained: Counter[str] = field(default_factory=Counter)
    """Calls that ended without a reading, by class."""
    usage: dict[str, Usage] = field(default_factory=dict)
    """Tokens that were paid for in this run, by model."""
    rate: float | None = None
    """Calls a second that the slowest server allows; ``None``: none has complained."""
    held: float = 0.0
    """Seconds that a server still wants peace."""
    steps: list[tuple[str, str]] = field(default_factory=list)
    """Models with what their server turned out not to know."""
    lost: tuple[str, ...] = ()
    """Calls that were on their way when an earlier run was killed; they may be paid for twice."""
    seconds: float = 0.0
    """How long the asking took, once it is over."""
    stop: bool = False
    """Set it, and nothing more is sent; what is on its way is waited for."""
    stopped: str = ""
    """Why the run has stopped by itself."""

    def paid(self, model: str, usage: Usage) -> None:
        """Add the tokens of a reply."""
        self.usage[model] = self.usage.get(model, NO_USAGE) + usage
