"""What an actor may see of others' answers by now: the one place where blindness is decided.

A rater sees nothing of another's answers on an item before their own rating of it is in and the
round is closed. An adjudicator or a viewer sees closed rounds. A lead sees every round, unless
they rate in the study, or may any day: then they see what a rater sees. Names are masked for all
but the lead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from calibrant.core.errors import Refused
from calibrant.core.ids import content_hash
from calibrant.core.study import Member
from calibrant.ports.store import Reading
from calibrant.study.session import Session, member_named

MASK_KEY = "mask_key"
"""Where the entry that begins a study keeps the secret of its masks."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Rounds whose answers may be seen, items of which none may, and whether names are masked."""

    rounds: frozenset[int]
    hidden: frozenset[str]
    mask: Callable[[str], str]
    masked: bool

    def sees(self, round: int, item: str) -> bool:
        """Whether answers on that item in that round may be seen."""
        return round in self.rounds and item not in self.hidden


def sight_of(tx: Reading, session: Session) -> Sight:
    """What the actor may see now."""
    me = member_named(tx, session, session.actor)
    rounds = tx.rounds(session.number)
    undone = frozenset(tx.undone_items(session.number, me.name))
    closed = frozenset(one.number for one in rounds if one.state == "closed")
    if "lead" not in me.roles:
        return Sight(closed, undone, masks(tx, session), True)
    everything = frozenset(one.number for one in rounds)
    rates = "reviewer" in me.roles or tx.is_assigned(session.number, me.name)
    return Sight(closed if rates else everything, undone, lambda name: name, False)


def whole_sight(tx: Reading, session: Session) -> Sight:
    """Everything, whoever acts: for what leaves the study whole."""
    rounds = frozenset(one.number for one in tx.rounds(session.number))
    return Sight(rounds, frozenset(), lambda name: name, False)


def masks(tx: Reading, session: Session) -> Callable[[str], str]:
    """Names for raters that tell them apart and do not tell who they are.

    The actor is ``you``. The letters follow from a secret of the study, which nobody can work out
    from names, and are the same for everybody who looks.
    """
    secret = _mask_key(tx, session)
    names = sorted(
        (one.name for one in tx.members(session.number)),
        key=lambda name: content_hash([secret, name]),
    )
    letters = {name: f"rater {_letters(at)}" for at, name in enumerate(names)}
    return lambda name: "you" if name == session.actor else letters.get(name, "somebody")


def named(tx: Reading, session: Session, given: Iterable[str]) -> list[str]:
    """Members by their names or by their masks; anything else stays as it is.

    Whoever is told masks names others by them. What a mask stands for is not told.
    """
    names = [one.name for one in tx.members(session.number)]
    mask = masks(tx, session)
    masked = {mask(name): name for name in names}
    known = {} if sight_of(tx, session).masked else {name: name for name in names}
    return sorted({{**masked, **known}.get(name, name) for name in given})


def _mask_key(tx: Reading, session: Session) -> str | int:
    """What the letters of masks follow from; the seed in a study that was begun without a key."""
    kept = [one.body.get(MASK_KEY) for one in tx.journal(session.number, kinds=("study",))]
    return next((str(one) for one in kept if one), session.record.seed)


def _letters(at: int) -> str:
    """A, B, … Z, AA, AB, …"""
    letters = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def need_round(sight: Sight, number: int) -> None:
    """Refuse what may not be looked at yet."""
    if number not in sight.rounds:
        raise Refused(f"round {number} is not closed: answers are compared when it is")


def raters_of(members: Iterable[Member]) -> list[Member]:
    """Those who rate and have not left."""
    return [one for one in members if "reviewer" in one.roles and one.left_at is None]
