"""The demo's workspace: three studies in three stages, and the people one can go in as."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from calibrant.demo.calendar import Calendar
from calibrant.demo.conversations import furnish_conversations
from calibrant.demo.plans import furnish_plans
from calibrant.demo.responses import furnish_responses
from calibrant.demo.stage import ADJUDICATOR, LEAD, REVIEWER, Stage
from calibrant.ports.clock import Clock
from calibrant.ports.store import Store

SEED = 20_260
"""Of the workspace that everybody gets who asks for no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A study of the demo."""

    number: int
    name: str
    title: str
    stage: str
    """What it is in the middle of: calibrating, rating or adjudicating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Furnished:
    """What is there to look at, and as whom."""

    studies: tuple[Begun, ...]
    lead: str
    reviewer: str
    adjudicator: str
    people: tuple[str, ...]
    """Everybody who could have an account, these three among them."""
    members: tuple[str, ...]
    """All of them, with the judge and the checks."""


def furnish(store: Store, *, clock: Clock, draw: Random | None = None) -> Furnished:
    """Fill an empty store with a study for each built-in rubric, in different stages.

    Everything in them has happened before ``clock()``. The same draw and the same moment make the
    same studies.
    """
    now = clock()
    seed = (draw or Random(SEED)).getrandbits(63)  # noqa: S311 - a simulation
    made = (
        ("calibrating", furnish_plans(store, Calendar(now), seed)),
        ("rating", furnish_responses(store, Calendar(now), seed)),
        ("adjudicating", furnish_conversations(store, Calendar(now), seed)),
    )
    everybody = {one.name: one for _, stage in made for one in stage.lead.members()}
    return Furnished(
        studies=tuple(_begun(stage, word) for word, stage in made),
        lead=LEAD,
        reviewer=REVIEWER,
        adjudicator=ADJUDICATOR,
        people=tuple(sorted(name for name, one in everybody.items() if one.kind == "HUMAN")),
        members=tuple(sorted(everybody)),
    )


def _begun(stage: Stage, word: str) -> Begun:
    lead = stage.lead
    return Begun(number=lead.number, name=lead.name, title=lead.record.title, stage=word)
