"""What was done: rounds, how far each is, and which version of the rubric it was rated under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant.report.asking import Asked, Missing

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.core.study import Entry, Round


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundDone:
    """A round and how far it is."""

    number: int
    kind: str
    state: str
    rubric: str
    opened: str | None
    closed: str | None
    done: int
    total: int
    """Ratings that are in, and that are asked for; of the actor's own where raters are told no
    more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Items and rounds."""

    items: int | None
    """In the study; None where the actor is not told."""
    rounds: tuple[RoundDone, ...]

    @property
    def ratings(self) -> int:
        """All that are in."""
        return sum(one.done for one in self.rounds)


def work_of(
    asked: Asked,
    rounds: Sequence[Round],
    versions: dict[str, Rubric],
    journal: Sequence[Entry] | Missing,
) -> Work:
    """Rounds with their progress."""
    far = {one.number: one for one in asked.study.progress()}
    items = None
    if not isinstance(journal, Missing):
        items = sum(int(one.body["added"]) for one in journal if one.kind == "items")
    return Work(
        items=items,
        rounds=tuple(
            RoundDone(
                number=one.number,
                kind=one.kind,
                state="dropped" if one.state == "closed" and one.opened_at is None else one.state,
                rubric=versions[one.rubric].name,
                opened=one.opened_at,
                closed=one.closed_at,
                done=far[one.number].done,
                total=far[one.number].total,
            )
            for one in rounds
        ),
    )
