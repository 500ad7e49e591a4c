"""A rater takes the next assignment, keeps a draft of it, and gives it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from calibrant.core.acceptance import FIELDS
from calibrant.core.errors import Stale, StudyError, Unread
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.core.study import Assignment, AssignmentState, Draft, Key, Round, time_text
from calibrant.ports.store import Reading, Writing
from calibrant.study.intake import words_of
from calibrant.study.session import (
    Session,
    current_rubric,
    member_named,
    round_numbered,
    rubric_of,
    verb,
)

LEASE = timedelta(minutes=30)
"""How long a claimed assignment is kept for its holder; renewed with every draft."""


@dataclass(frozen=True, slots=True)
class Task:
    """An assignment in hand: the item, the rubric, and what is there of a draft.

    Where an item comes from and who else rates it is not told.
    """

    key: Key
    item: Item
    rubric: Rubric
    lease: str
    leased_until: str
    version: int
    draft: Mapping[str, Any] | None
    position: int


@dataclass(frozen=True, slots=True)
class Duty:
    """How far a rater is in a round."""

    round: int
    kind: str
    done: int
    open: int


@verb("reviewer", shows="nothing")
def acknowledge(session: Session) -> str:
    """Say that one has read the rubric, as it stands and as open rounds use it; its name."""

    def work(tx: Writing) -> str:
        rubric = current_rubric(tx, session)
        opened = [one.rubric for one in tx.rounds(session.number) if one.state == "open"]
        read = [
            rubric,
            *(rubric_of(tx, one) for one in dict.fromkeys(opened) if one != rubric.hash),
        ]
        bodies = [{"hash": one.hash, "version": one.version} for one in read]
        entries = [session.entry("acknowledged", body=body) for body in bodies]
        tx.log(session.number, entries)
        return rubric.name

    return session.among(work)


def need_acknowledged(tx: Reading, session: Session, rubric: Rubric) -> None:
    """A person has said that they read this version; raises ``Unread``."""
    if member_named(tx, session, session.actor).kind != "HUMAN":
        return
    read = tx.journal(session.number, kinds=("acknowledged",), actor=session.actor)
    if not any(one.body["hash"] == rubric.hash for one in read):
        raise Unread(f"read {rubric.name} and say so before you rate: acknowledge it", rubric.hash)


@verb("reviewer", shows="own")
def claim(session: Session, *, token: str, limit: int = 1, key: Key | None = None) -> list[Task]:
    """The next assignments of the actor, theirs for half an hour.

    ``token`` names the holder (a tab, a worker): the same one gets back what it holds.
    """
    until = time_text(session.clock() + LEASE)

    def work(tx: Writing) -> list[Task]:
        if key is not None and key.rater != session.actor:
            raise StudyError(f"{session.actor!r} has no such assignment")
        leased = tx.lease(
            session.number,
            rater=session.actor,
            token=token,
            now=session.now(),
            until=until,
            limit=limit,
            key=key,
        )
        rounds = {one.number: one for one in tx.rounds(session.number)}
        rubrics = {one: rubric_of(tx, rounds[one].rubric) for one in {a.key.round for a in leased}}
        for rubric in rubrics.values():
            need_acknowledged(tx, session, rubric)
        drafts = {one.key: one.body for one in tx.drafts(session.number, session.actor)}
        kept = {one.id: one for one in tx.items(session.number, {a.key.item for a in leased})}
        return [
            _task(one, words_of(kept[one.key.item]), rubrics[one.key.round], drafts)
            for one in leased
        ]

    return session.among(work)


def _task(
    held: Assignment, item: Item, rubric: Rubric, drafts: Mapping[Key, Mapping[str, Any]]
) -> Task:
    assert held.lease is not None and held.leased_until is not None
    return Task(
        held.key,
        item,
        rubric,
        held.lease,
        held.leased_until,
        held.version,
        drafts.get(held.key),
        held.position,
    )


@verb("reviewer", shows="nothing")
def release(session: Session, key: Key, *, token: str) -> bool:
    """Give an assignment back before its time; False where the token does not hold it."""
    if key.rater != session.actor:
        raise StudyError(f"{session.actor!r} has no such assignment on item {key.item!r}")
    return session.among(lambda tx: tx.release(session.number, key, token))


@verb("reviewer", shows="own")
def save_draft(
    session: Session, key: Key, form: Mapping[str, Any], *, version: int, token: str
) -> int:
    """Keep what there is so far, complete or not; the version it is now.

    ``version`` is the one the draft was made from: where another tab has saved since, this is
    refused as stale, and nothing is replaced.
    """
    until = time_text(session.clock() + LEASE)

    def work(tx: Writing) -> int:
        now = session.now()
        draft = Draft(key=key, body=form, saved_at=now, version=version + 1)
        mine = key.rater == session.actor
        if mine and tx.keep_draft(session.number, draft, token=token, now=now, until=until):
            return draft.version
        held = own_assignment(tx, session, key)
        need_open(tx, session, key)
        if held.state != "open":
            raise StudyError("this one is handed in: correct the rating instead")
        need_fresh(tx, held, session, version=version, token=token, form=form)
        raise Stale(f"item {key.item!r} was changed at this moment: load it again, and repeat")

    return session.among(work)


def own_assignment(tx: Writing, session: Session, key: Key) -> Assignment:
    """The actor's assignment, held while it is written to; raises ``StudyError`` for another's."""
    found = tx.hold_assignment(session.number, key) if key.rater == session.actor else None
    if found is None or found.state == "withdrawn":
        raise StudyError(f"{session.actor!r} has no such assignment on item {key.item!r}")
    return found


def need_open(tx: Writing, session: Session, key: Key) -> Round:
    """The round of an assignment, open and kept so meanwhile; raises ``StudyError``."""
    held = tx.hold_round(session.number, key.round)
    if held is None or held.state != "open":
        state = "gone" if held is None else held.state
        raise StudyError(f"round {key.round} is {state}: nothing can be handed in")
    return held


def need_fresh(
    tx: Reading,
    held: Assignment,
    session: Session,
    *,
    version: int | None,
    token: str | None,
    form: Mapping[str, Any],
) -> None:
    """Nobody else has touched the assignment since; raises ``Stale`` with what changed."""
    if version is not None and version != held.version:
        draft = tx.draft(session.number, held.key)
        since = "of which nothing is saved"
        if draft is not None:
            rubric = rubric_of(tx, round_numbered(tx, session, held.key.round).rubric)
            since = f"saved at {draft.saved_at}, {differing(rubric, form, draft.body)}"
        raise Stale(
            f"this page shows version {version} of item {held.key.item!r}; by now there is version "
            f"{held.version}, {since}: load it again, and hand in once more"
        )
    if token is None or held.lease in (None, token) or held.leased_until is None:
        return
    if held.leased_until > session.now():
        raise Stale(
            f"item {held.key.item!r} is open in another place until {held.leased_until}: go on "
            "there, or wait until then"
        )


def differing(rubric: Rubric, form: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """In what two forms differ, by the names of fields and criteria alone."""
    found: list[str] = []
    for name in FIELDS:
        one, two = form.get(name) or None, other.get(name) or None
        if one == two:
            continue
        left = one if isinstance(one, Mapping) else {}
        right = two if isinstance(two, Mapping) else {}
        of = [
            each
            for each in rubric.criterion_ids
            if str(left.get(each, "")) != str(right.get(each, ""))
        ]
        found += [f"{name}.{each}" for each in of] or [name]
    return f"which differs in {', '.join(found)}" if found else "which says the same"


@verb("reviewer", shows="own")
def duties(session: Session) -> list[Duty]:
    """What the actor has done and has to do, round by round."""

    def work(tx: Reading) -> list[Duty]:
        def count(round: Round, state: AssignmentState) -> int:
            return tx.count_assignments(
                session.number, rater=session.actor, round=round.number, state=state
            )

        return [
            Duty(
                one.number,
                one.kind,
                count(one, "done"),
                count(one, "open") if one.state == "open" else 0,
            )
            for one in tx.rounds(session.number)
            if one.state != "planned"
        ]

    return session.store.read(work)
