"""Where a rater is in their own list: what has become of an assignment, and what lies beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.core.study import AssignmentState, Key, RoundState
from calibrant.ports.store import Reading
from calibrant.study.intake import words_of
from calibrant.study.session import Session, rubric_of, verb


@dataclass(frozen=True, slots=True)
class Place:
    """One of the actor's own assignments, and the open ones before and after it."""

    key: Key
    state: AssignmentState
    round_state: RoundState
    held_until: str | None
    """Until when another holder has it; None where it can be claimed."""
    before: Key | None
    after: Key | None
    first: Key | None
    """The first of all that are open: where one goes on when nothing comes after."""


@verb("reviewer", shows="own")
def place(session: Session, key: Key, *, token: str, leaving: Key | None = None) -> Place | None:
    """What has become of one's own assignment; None where there is none of that key.

    ``token`` is the holder who asks, as in ``claim``. ``leaving`` is one that is handed in by the
    time this is shown: it lies beside nothing any more.
    """

    def work(tx: Reading) -> Place | None:
        held = tx.assignment(session.number, key) if key.rater == session.actor else None
        states = {one.number: one.state for one in tx.rounds(session.number)}
        if held is None or states[key.round] == "planned":
            return None
        elsewhere = held.lease not in (None, token) and (held.leased_until or "") > session.now()
        opened = [number for number, state in states.items() if state == "open"]
        later = [number for number in opened if number > key.round]
        earlier = [number for number in opened if number < key.round]
        same = [key.round] if key.round in opened else []
        seek = _Seek(tx, session, leaving)
        return Place(
            key,
            held.state,
            states[key.round],
            held.leased_until if elsewhere else None,
            seek.before(same, held.position) or seek.before(reversed(earlier)),
            seek.after(same, held.position) or seek.after(later),
            seek.after(opened),
        )

    return session.store.read(work)


@verb("reviewer", shows="own")
def following(session: Session, key: Key) -> Key | None:
    """Where one goes on after one's own assignment: the next that is open, or else the first."""

    def work(tx: Reading) -> Key | None:
        held = tx.assignment(session.number, key) if key.rater == session.actor else None
        opened = [one.number for one in tx.rounds(session.number) if one.state == "open"]
        seek = _Seek(tx, session)
        same = [key.round] if held is not None and key.round in opened else []
        later = [number for number in opened if number > key.round]
        here = seek.after(same, held.position) if held is not None else None
        return here or seek.after(later) or seek.after(opened)

    return session.store.read(work)


@dataclass(frozen=True, slots=True)
class Waiting:
    """One of the actor's own assignments that is still to be done."""

    key: Key
    item: Item
    rubric: Rubric


@verb("reviewer", shows="nothing")
def waiting(session: Session) -> list[Waiting]:
    """All that the actor has to do in open rounds, in its order; nothing is claimed."""

    def work(tx: Reading) -> list[Waiting]:
        rubrics = {
            one.number: rubric_of(tx, one.rubric)
            for one in tx.rounds(session.number)
            if one.state == "open"
        }
        found = [
            one
            for number in rubrics
            for one in tx.assignments(
                session.number, round=number, rater=session.actor, state="open"
            )
        ]
        ids = {one.key.item for one in found}
        items = {one.id: words_of(one) for one in tx.items(session.number, ids)}
        return [Waiting(one.key, items[one.key.item], rubrics[one.key.round]) for one in found]

    return session.store.read(work)


@dataclass(frozen=True, slots=True)
class _Seek:
    """Looks for the actor's open assignments in rounds, one after the other."""

    tx: Reading
    session: Session
    leaving: Key | None = None
    """One that is passed over."""

    def after(self, rounds: Iterable[int], position: int = -1) -> Key | None:
        return self._first(rounds, position, after=True)

    def before(self, rounds: Iterable[int], position: int = 2**31 - 1) -> Key | None:
        return self._first(rounds, position, after=False)

    def _first(self, rounds: Iterable[int], position: int, *, after: bool) -> Key | None:
        for number in rounds:
            found = self._beside(number, position, after=after)
            if found is not None and found == self.leaving:
                passed = self.tx.assignment(self.session.number, found)
                assert passed is not None
                found = self._beside(number, passed.position, after=after)
            if found is not None:
                return found
        return None

    def _beside(self, round: int, position: int, *, after: bool) -> Key | None:
        return self.tx.nearest_open(
            self.session.number,
            rater=self.session.actor,
            round=round,
            position=position,
            after=after,
        )
