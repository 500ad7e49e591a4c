"""What raters say to each other about a disagreement, once everybody may see the answers."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.core.errors import StudyError
from calibrant.ports.store import Reading, Writing
from calibrant.study.session import Session, reason_of, round_numbered, rubric_of, verb
from calibrant.study.sight import Sight, need_round, sight_of

KIND = "comment"
"""The kind of the entries that keep comments."""
MOST = 20_000
"""Characters of a comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One contribution to the thread of a disagreement."""

    number: int
    round: int
    item: str
    criterion: str
    by: str
    """Masked where names may not be told."""
    at: str
    text: str
    """Empty once the item is redacted."""


@verb("lead", "reviewer", "adjudicator", shows="seen")
def comment(session: Session, round: int, item: str, criterion: str, text: str) -> None:
    """Say something about a disagreement of a closed round, for all who may see its answers."""
    said = reason_of(text, "a comment")
    if len(said) > MOST:
        raise StudyError(f"a comment has at most {MOST:,} characters; this one has {len(said):,}")

    def work(tx: Writing) -> None:
        sight = sight_of(tx, session)
        rubric = rubric_of(tx, round_numbered(tx, session, round).rubric)
        need_round(sight, round)
        if item in sight.hidden:
            raise StudyError(f"rate item {item!r} first: you have it on your list")
        if not any(one.key.round == round for one in tx.ratings(session.number, item=item)):
            raise StudyError(f"nobody rated item {item!r} in round {round}")
        name = rubric.criterion(criterion).id
        entry = session.entry(KIND, round=round, item=item, criterion=name, words={"text": said})
        tx.log(session.number, [entry])

    session.among(work)


@verb("lead", "reviewer", "adjudicator", shows="seen")
def comments(
    session: Session, *, round: int | None = None, item: str | None = None
) -> list[Comment]:
    """What was said about disagreements that the actor may see, the oldest first."""

    def work(tx: Reading) -> list[Comment]:
        sight = sight_of(tx, session)
        if round is not None:
            need_round(sight, round_numbered(tx, session, round).number)
        return comments_seen(tx, session, sight, round=round, item=item)

    return session.store.read(work)


def comments_seen(
    tx: Reading,
    session: Session,
    sight: Sight,
    *,
    round: int | None = None,
    item: str | None = None,
) -> list[Comment]:
    """The same within a transaction, with names as they may be told."""
    return [
        Comment(
            number=one.number,
            round=one.round,
            item=one.item,
            criterion=str(one.criterion),
            by=sight.mask(one.actor),
            at=one.at,
            text=str((one.words or {}).get("text", "")),
        )
        for one in tx.journal(session.number, kinds=(KIND,), item=item)
        if one.round is not None
        and one.item is not None
        and round in (None, one.round)
        and sight.sees(one.round, one.item)
    ]
