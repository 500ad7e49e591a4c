"""Ratings come in through one door, once each, and are never changed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, TypeAlias, TypeVar

from calibrant.core.acceptance import Accepted, accept
from calibrant.core.errors import Doubled, RecordError, Stale, StudyError
from calibrant.core.ids import content_hash
from calibrant.core.item import Item
from calibrant.core.rating import RaterKind
from calibrant.core.rubric import Rubric
from calibrant.core.study import Entry, Key, Rating
from calibrant.ports.store import Reading, Writing
from calibrant.study.claim import (
    differing,
    need_acknowledged,
    need_fresh,
    need_open,
    own_assignment,
)
from calibrant.study.flags import flags_in
from calibrant.study.intake import item_in, item_kept
from calibrant.study.read_ahead import ReadAhead
from calibrant.study.session import Session, member_named, rubric_of, verb

T = TypeVar("T")
Terms: TypeAlias = tuple[Rubric, RaterKind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A form handed in for an assignment."""

    key: Key
    form: Mapping[str, Any]
    request: str
    """Names this act of handing in, so that sending it twice makes one rating."""
    version: int | None = None
    """The version the form was filled in from; None where nobody else can have touched it."""
    lease: str | None = None
    started_at: str | None = None


@verb("reviewer", shows="own")
def submit(session: Session, submission: Submission) -> Rating:
    """Hand a rating in: complete, or every fault of it at once; committed when this returns."""
    (outcome,) = _hand_in(session, [submission])
    if isinstance(outcome, RecordError):
        raise outcome
    return outcome


@verb("reviewer", shows="own")
def submit_many(session: Session, submissions: Sequence[Submission]) -> list[Rating | RecordError]:
    """Hand several in with one commit; a form with faults does not hold up the others."""
    return _hand_in(session, submissions)


def _hand_in(session: Session, submissions: Sequence[Submission]) -> list[Rating | RecordError]:
    def work(tx: Writing) -> list[Rating | RecordError]:
        outcomes: list[Rating | RecordError] = []
        fresh: list[Rating] = []
        raised: list[Entry] = []
        desk = ReadAhead.of(
            tx,
            session.number,
            [one.key for one in submissions],
            [_request(session, one) for one in submissions],
        )
        terms = cache(partial(_terms, desk, session))
        for one in submissions:
            known = _handed_in(desk, session, one)
            if known is not None:
                outcomes.append(known)
                continue
            try:
                rating, entries = _first(desk, session, one, terms)
            except RecordError as error:
                outcomes.append(error)
                continue
            outcomes.append(rating)
            fresh.append(rating)
            raised += entries
        tx.add_ratings(session.number, fresh)
        keys = [one.key for one in fresh]
        tx.set_assignment_state(session.number, keys, "done")
        tx.drop_drafts(session.number, keys)
        if raised:
            tx.log(session.number, raised)
        return outcomes

    return _once_more(session, work)


def _once_more(session: Session, work: Callable[[Writing], T]) -> T:
    """Write; where another tab was quicker by a hair, look again at what it has left."""
    try:
        return session.among(work)
    except Doubled:
        return session.among(work)


def _handed_in(tx: Writing, session: Session, submission: Submission) -> Rating | None:
    """What the same act of handing in became before; nobody learns of another's."""
    own_assignment(tx, session, submission.key)
    known = tx.rating_by_request(session.number, _request(session, submission))
    if known is not None and known.key != submission.key:
        raise StudyError(f"the request {submission.request!r} was used for another rating")
    return known


def _request(session: Session, submission: Submission) -> str:
    """The name of an act of handing in as it is kept: everybody's are their own."""
    return _own_name(session.actor, submission.request)


@lru_cache(maxsize=1_000)  # each is asked for three times, one after the other
def _own_name(actor: str, request: str) -> str:
    return content_hash([actor, request])


def _first(
    tx: Writing, session: Session, submission: Submission, terms: Callable[[str], Terms]
) -> tuple[Rating, list[Entry]]:
    held = own_assignment(tx, session, submission.key)
    round = need_open(tx, session, submission.key)
    if held.state == "done":
        latest = tx.rating(session.number, held.key)
        since = "" if latest is None else f", {_since(tx, session, submission, latest)}"
        raise Stale(f"item {held.key.item!r} is rated already{since}: correct the rating instead")
    need_fresh(
        tx,
        held,
        session,
        version=submission.version,
        token=submission.lease,
        form=submission.form,
    )
    return _rating(tx, session, submission, terms(round.rubric), revision=1)


def _since(tx: Reading, session: Session, submission: Submission, latest: Rating) -> str:
    """When one's own rating came in, and in what another form differs from it."""
    rubric = rubric_of(tx, latest.rubric)
    told = differing(
        rubric, {"answers": submission.form.get("answers")}, {"answers": latest.answers}
    )
    return f"handed in at {latest.submitted_at}, {told}"


@verb("reviewer", shows="own")
def correct(session: Session, submission: Submission, *, revision: int, reason: str = "") -> Rating:
    """Supersede one's own rating while the round is open; what was there before stays.

    ``revision`` is the one that was looked at: where a newer one is there, this is stale.
    """

    def work(tx: Writing) -> Rating:
        known = _handed_in(tx, session, submission)
        if known is not None:
            return known
        round = need_open(tx, session, submission.key)
        latest = tx.rating(session.number, submission.key)
        if latest is None:
            raise StudyError("there is no rating to correct: hand one in")
        if latest.revision != revision:
            raise Stale(
                f"this corrects revision {revision}; by now there is revision {latest.revision}, "
                f"{_since(tx, session, submission, latest)}: look at it first"
            )
        terms = _terms(tx, session, round.rubric)
        rating, entries = _rating(tx, session, submission, terms, revision=revision + 1)
        tx.add_ratings(session.number, [rating])
        changed = [
            name for name in rating.answers if rating.answers[name] != latest.answers.get(name)
        ]
        told = session.entry(
            "corrected",
            round=rating.key.round,
            item=rating.key.item,
            body={"occasion": rating.key.occasion, "revision": rating.revision, "changed": changed},
            words={"reason": reason} if reason else None,
        )
        tx.log(session.number, [told, *_changed_marks(tx, session, rating.key, entries)])
        return rating

    return _once_more(session, work)


def _terms(tx: Reading, session: Session, rubric: str) -> Terms:
    """How forms of the actor are read: by a rubric they have acknowledged, as what they are."""
    read = rubric_of(tx, rubric)
    need_acknowledged(tx, session, read)
    return read, member_named(tx, session, session.actor).kind


def _rating(
    tx: Reading, session: Session, submission: Submission, terms: Terms, *, revision: int
) -> tuple[Rating, list[Entry]]:
    """The rating that a form becomes, and the entries it gives rise to."""
    key = submission.key
    rubric, kind = terms
    item, content = item_kept(tx, session, key.item)
    form = accept(rubric, item, kind, submission.form)
    rating = Rating(
        key=key,
        revision=revision,
        request=_request(session, submission),
        rubric=rubric.hash,
        item_hash=content,
        answers=form.answers,
        facts=form.facts,
        words=form.words or None,
        started_at=submission.started_at,
        submitted_at=session.now(),
    )
    return rating, _raised(session, key, form)


def _raised(session: Session, key: Key, form: Accepted) -> list[Entry]:
    """Flags and marks of a form, as entries of their own."""
    entries = [
        session.entry(
            "flag",
            round=key.round,
            item=key.item,
            body={"what": "red_flag", "flag": one.flag, "occasion": key.occasion},
            words={"evidence": list(one.evidence)},
        )
        for one in form.flags
    ]
    entries += [
        session.entry(
            "flag",
            round=key.round,
            item=key.item,
            body={"what": what, "occasion": key.occasion},
            words={"reason": form.words[what]},
        )
        for what in ("edge_case", "review")
        if what in form.words
    ]
    return entries


def _changed_marks(
    tx: Reading, session: Session, key: Key, entries: Sequence[Entry]
) -> list[Entry]:
    """Of a correction's flags and marks those that are new; what it no longer has is taken back."""
    standing = {
        one.number: (one.what, one.flag, one.words)
        for one in flags_in(tx, session, key.item)
        if (one.by, one.round, one.occasion) == (session.actor, key.round, key.occasion)
        and one.state == "raised"
    }
    wanted = [(one.body["what"], one.body.get("flag"), one.words) for one in entries]
    fresh = [
        one for one, mark in zip(entries, wanted, strict=True) if mark not in standing.values()
    ]
    gone = [number for number, mark in standing.items() if mark not in wanted]
    if not gone:
        return fresh
    back = session.entry(
        "flag_decided",
        round=key.round,
        item=key.item,
        body={"flags": gone, "state": "rejected", "before": "raised"},
        words={"reason": "taken back in a correction"},
    )
    return [back, *fresh]


@dataclass(frozen=True, slots=True)
class Taken:
    """One's own rating, to be looked at again: the item, the rubric, and what one has said."""

    key: Key
    revision: int
    item: Item
    rubric: Rubric
    form: Mapping[str, Any]
    """As it would be handed in again."""


@verb("reviewer", shows="own")
def take_up(session: Session, key: Key) -> Taken:
    """One's own rating with everything that ``correct`` takes; one that is shown by now."""

    def work(tx: Reading) -> Taken:
        found = tx.rating(session.number, key) if key.rater == session.actor else None
        if found is None or key.item in tx.coming_again(session.number, session.actor):
            raise StudyError(f"{session.actor!r} has no rating of item {key.item!r} to correct")
        flags = [
            {"flag": one.flag, "evidence": list(one.words.get("evidence", ()))}
            for one in flags_in(tx, session, key.item)
            if (one.by, one.round, one.occasion) == (session.actor, key.round, key.occasion)
            and one.what == "red_flag"
            and one.state == "raised"
        ]
        item = item_in(tx, session, key.item)
        rubric = rubric_of(tx, found.rubric)
        return Taken(key, found.revision, item, rubric, _form_of(found, flags))

    return session.store.read(work)


def _form_of(rating: Rating, flags: list[dict[str, Any]]) -> dict[str, Any]:
    """What a rating was made from; what code has decided is left to code."""
    ruled = rating.facts.get("reasons", {})
    answers = {name: text for name, text in rating.answers.items() if name not in ruled}
    facts = {name: rating.facts.get(name) for name in ("borderline", "tags")}
    form = {"answers": answers, "flags": flags, **facts, **(rating.words or {})}
    return {name: value for name, value in form.items() if value}


@verb("reviewer", shows="own")
def my_ratings(session: Session, *, round: int | None = None) -> list[Rating]:
    """The actor's own ratings. One of an item that is being asked again is left out till then."""

    def work(tx: Reading) -> list[Rating]:
        waiting = tx.coming_again(session.number, session.actor)
        mine = tx.ratings(session.number, rater=session.actor, round=round)
        return [one for one in mine if one.key.item not in waiting]

    return session.store.read(work)


@verb("reviewer", shows="own")
def latest_ratings(session: Session, *, start: int, limit: int) -> tuple[list[Rating], int]:
    """A part of ``my_ratings``, the latest first, and how many there are."""
    return session.store.read(
        lambda tx: tx.latest_ratings(session.number, session.actor, start=start, limit=limit)
    )
