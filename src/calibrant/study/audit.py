"""The audit log: everything that changed a study, by whom and when.

The journal has a line for each verb that changes something, but for handing ratings in: they
are kept for good as they are, and the log tells them as lines of their own (``core.audit``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from calibrant.core.audit import Sought, is_rating, place_of, read_place
from calibrant.core.errors import StudyError
from calibrant.core.study import FROZEN_DATA, Entry
from calibrant.ports.store import Reading
from calibrant.study.session import Session, rubric_of, verb
from calibrant.study.sight import Sight, sight_of, whole_sight

PART = 1000
"""Lines read at a time where all are read."""


@dataclass(frozen=True, slots=True)
class LogPage:
    """Some lines of the audit log."""

    lines: tuple[Entry, ...]
    next: str | None
    """Where to go on; None where these were the last."""
    total: int | None
    """How many there are of those that were asked for, where that was asked, too."""


@verb("lead", shows="seen")
def audit_log(
    session: Session,
    *,
    kind: str | None = None,
    ratings: bool = True,
    actor: str | None = None,
    item: str | None = None,
    start: str = "",
    newest_first: bool = False,
    limit: int = 100,
    counted: bool = False,
) -> LogPage:
    """A part of the log: lines of the journal and ratings that came in, in the order of time.

    They may be of one kind, person or item, or without ratings. ``start`` is where the part
    before said to go on, or the number of a line of the journal. A rating (``rated``) has no
    number, and is told without what was answered. What a lead who rates is not told of yet is
    left out, as in ``journal``.
    """

    def work(tx: Reading) -> LogPage:
        sight = sight_of(tx, session)
        told = _told(tx, session, sight)
        sought = replace(told, kind=kind, ratings=ratings, actor=actor, item=item)
        found = tx.lines(
            session.number,
            sought,
            start=_started(tx, session, start),
            newest_first=newest_first,
            limit=limit + 1,
        )
        shown = found[:limit]
        return LogPage(
            tuple(_whole(tx, session, [_without_snapshot(sight, one) for one in shown])),
            place_of(shown[-1]) if len(found) > limit else None,
            tx.count_lines(session.number, sought) if counted else None,
        )

    return session.store.read(work)


def whole_log(tx: Reading, session: Session) -> Iterator[Entry]:
    """Every line, whoever acts: for what leaves the study whole."""
    sought = _told(tx, session, whole_sight(tx, session))
    last: Entry | None = None
    full = True
    while full:
        part = tx.lines(session.number, sought, start=last, limit=PART)
        yield from _whole(tx, session, part)
        full = len(part) == PART
        last = part[-1] if part else None


def _told(tx: Reading, session: Session, sight: Sight) -> Sought:
    """What may be told by now."""
    rounds = tx.rounds(session.number)
    everything = sight.rounds >= {one.number for one in rounds} and not sight.hidden
    return Sought(
        me=session.actor,
        rounds=None if everything else sight.rounds,
        hidden=sight.hidden,
        elsewhere=[one.number for one in rounds if one.plan.get("way") == "imported"],
    )


def _started(tx: Reading, session: Session, start: str) -> Entry | None:
    """The line to go on from; raises ``StudyError`` where it names none."""
    named = read_place(start) if start else 0
    if not isinstance(named, int):
        found = named
    elif named == 0:
        return None
    else:
        found = next(tx.journal(session.number, after=named - 1, until=named), None)
    if found is None:
        raise StudyError(f"the audit log has no line {start[:60]!r} to go on from")
    return found


def _whole(tx: Reading, session: Session, lines: list[Entry]) -> Iterator[Entry]:
    """The lines; ratings with the version they were made under, which is that of their round."""
    under = {one.number: one.rubric for one in tx.rounds(session.number)}
    for one in lines:
        if is_rating(one):
            hash = under[one.round or 0]
            version = rubric_of(tx, hash).version
            yield replace(one, body={**one.body, "rubric": hash, "version": version})
        else:
            yield one


@verb("lead", shows="seen")
def journal(session: Session, *, after: int = 0) -> list[Entry]:
    """The lines of the journal in order: who, what, when; ``audit_log`` tells of ratings, too.

    A lead who rates is told nothing of what others did with items whose answers are still hidden.
    What frozen reports said is left out: ``frozen_report`` reads one.
    """

    def work(tx: Reading) -> list[Entry]:
        sight = sight_of(tx, session)
        return [
            _without_snapshot(sight, one)
            for one in tx.journal(session.number, but=(FROZEN_DATA,), after=after)
            if one.item is None or one.actor == session.actor or _tells(sight, one)
        ]

    return session.store.read(work)


def _tells(sight: Sight, entry: Entry) -> bool:
    shown = entry.round is None or entry.round in sight.rounds
    return shown and entry.item not in sight.hidden


def _without_snapshot(sight: Sight, entry: Entry) -> Entry:
    """An entry; how agreement stood is left out where the actor may not see those rounds."""
    rows = entry.body.get("snapshot")
    if not rows or all(set(row["rounds"]) <= sight.rounds for row in rows):
        return entry
    return replace(entry, body={key: entry.body[key] for key in entry.body if key != "snapshot"})
