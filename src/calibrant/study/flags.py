"""Flags: raised by anybody who rates, confirmed or rejected by whoever adjudicates. Questions too.

One raised red flag blocks its item until it is decided. Questions go to the lead and are about
the rubric: they carry no answers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from calibrant.core.acceptance import accept_flag
from calibrant.core.errors import Refused, StudyError
from calibrant.core.rating import FlagState
from calibrant.ports.store import Reading, Writing
from calibrant.study.intake import item_in
from calibrant.study.session import Session, current_rubric, member_named, reason_of, verb
from calibrant.study.sight import Sight, sight_of

FlagKind: TypeAlias = Literal["red_flag", "edge_case", "review"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Something about an item that somebody has to look at."""

    number: int
    what: FlagKind
    flag: str | None
    """The red flag of the rubric that is meant."""
    item: str
    round: int | None
    by: str
    at: str
    words: Mapping[str, Any]
    """Quotations, or a reason; empty once the item is redacted."""
    occasion: int | None = None
    """Of the rating that it came with; None where it was raised by itself."""
    state: FlagState = "raised"
    decided_by: str | None = None
    reason: str = ""


@verb("reviewer", "adjudicator", "lead", shows="nothing")
def raise_flag(
    session: Session,
    item: str,
    *,
    what: FlagKind = "review",
    flag: str | None = None,
    evidence: Sequence[str] = (),
    reason: str = "",
) -> None:
    """Flag an item: a red flag with quoted evidence, an edge case, or something to review."""
    if what not in get_args(FlagKind):
        raise StudyError(f"a flag is one of {', '.join(get_args(FlagKind))}")

    def work(tx: Writing) -> None:
        words: dict[str, Any] = {}
        body: dict[str, Any] = {"what": what}
        content = item_in(tx, session, item)
        if what == "red_flag":
            raised = accept_flag(current_rubric(tx, session), content, flag or "", evidence)
            body["flag"], words["evidence"] = raised.flag, list(raised.evidence)
        else:
            words["reason"] = reason_of(reason, "a flag")
        round = _open_round_of(tx, session, item)
        entry = session.entry("flag", round=round, item=item, body=body, words=words)
        tx.log(session.number, [entry])

    session.among(work)


def _open_round_of(tx: Reading, session: Session, item: str) -> int | None:
    """The open round in which the item is rated: till it closes, the flag is its raiser's."""
    opened = open_rounds(tx, session)
    given = tx.assignments(session.number, item=item)
    return max((one.key.round for one in given if one.key.round in opened), default=None)


def open_rounds(tx: Reading, session: Session) -> frozenset[int]:
    """Rounds in which ratings come in now."""
    return frozenset(one.number for one in tx.rounds(session.number) if one.state == "open")


@verb("adjudicator", "lead", shows="seen")
def decide_flag(session: Session, number: int, *, confirm: bool, reason: str) -> None:
    """Confirm or reject a flag, and with it the same red flag that others raised on the item."""
    why = reason_of(reason, "deciding a flag")
    state: FlagState = "confirmed" if confirm else "rejected"

    def work(tx: Writing) -> None:
        found = {one.number: one for one in flags_seen(tx, session)}
        one = found.get(number)
        if one is None:
            raise StudyError(f"there is no flag {number}")
        need_decidable(tx, session, one)
        opened = open_rounds(tx, session)
        alike = [
            other
            for other in found.values()
            if other.number == number or (_alike(other, one) and other.round not in opened)
        ]
        took_part(tx, session, one.item, [other.by for other in alike])
        numbers = [other.number for other in alike]
        body = {"flags": numbers, "state": state, "before": one.state}
        entry = session.entry("flag_decided", item=one.item, body=body, words={"reason": why})
        tx.log(session.number, [entry])

    session.among(work)


def _alike(one: Flag, other: Flag) -> bool:
    return one.what == "red_flag" and (one.item, one.flag) == (other.item, other.flag)


def need_decidable(tx: Reading, session: Session, flag: Flag) -> None:
    """The round is over, and whoever decides has no rating of their own to give on the item."""
    if flag.item in sight_of(tx, session).hidden:
        raise StudyError(f"rate item {flag.item!r} first: you have it on your list")
    if flag.round in open_rounds(tx, session):
        raise StudyError(f"round {flag.round} is open: its flags are decided when it is closed")


def took_part(tx: Reading, session: Session, item: str, raisers: Collection[str] = ()) -> bool:
    """Whether the actor, who may decide on an item, rated it or is among the ``raisers``.

    Raises ``Refused`` for whoever may not: where somebody else can decide who did neither, too.
    """
    deciders = [
        one.name
        for one in tx.members(session.number)
        if {"lead", "adjudicator"} & set(one.roles) and one.left_at is None
    ]
    if session.actor not in deciders:
        raise Refused("a decision takes an adjudicator or the lead; reviewers settle by consensus")
    raters = {one.key.rater for one in tx.ratings(session.number, item=item)}
    partial = raters | set(raisers)
    if session.actor in partial and set(deciders) - partial:
        did = f"rated item {item!r}" if session.actor in raters else "raised this"
        raise Refused(f"you {did}: somebody who has not decides it")
    return session.actor in partial


def flags_in(tx: Reading, session: Session, item: str | None = None) -> list[Flag]:
    """All flags with their present state, whoever may see them."""
    found: dict[int, Flag] = {}
    for entry in tx.journal(session.number, kinds=("flag", "flag_decided"), item=item):
        if entry.kind == "flag":
            found[entry.number] = Flag(
                number=entry.number,
                what=entry.body["what"],
                flag=entry.body.get("flag"),
                item=str(entry.item),
                round=entry.round,
                by=entry.actor,
                at=entry.at,
                words=entry.words or {},
                occasion=entry.body.get("occasion"),
            )
            continue
        for number in entry.body["flags"]:
            found[number] = replace(
                found[number],
                state=entry.body["state"],
                decided_by=entry.actor,
                reason=(entry.words or {}).get("reason", ""),
            )
    return list(found.values())


@verb("reviewer", "adjudicator", "lead", "viewer", shows="seen")
def flags(session: Session, *, state: FlagState | None = None) -> list[Flag]:
    """Flags that the actor may see by now: their own, and others' where they see the answers."""

    def work(tx: Reading) -> list[Flag]:
        sight = sight_of(tx, session)
        seen = flags_seen(tx, session, sight)
        if _counts_apart(tx, session):
            seen = [replace(one, number=at) for at, one in enumerate(seen, 1)]
        return [_masked(one, sight) for one in seen if state in (None, one.state)]

    return session.store.read(work)


def _counts_apart(tx: Reading, session: Session) -> bool:
    """Whether the actor gets numbers of their own.

    The journal's numbers would tell a rater how much the others have done meanwhile. Whoever
    answers or decides names a flag or a question by them, and gets them.
    """
    roles = set(member_named(tx, session, session.actor).roles)
    return "reviewer" in roles and not roles & {"lead", "adjudicator"}


def flags_seen(tx: Reading, session: Session, sight: Sight | None = None) -> list[Flag]:
    """Flags that the actor may see by now, with nobody masked."""
    sight = sight or sight_of(tx, session)
    return [one for one in flags_in(tx, session) if _sees(session, sight, one)]


def _sees(session: Session, sight: Sight, flag: Flag) -> bool:
    if flag.by == session.actor:
        return True
    if flag.round is None:
        return flag.item not in sight.hidden
    return sight.sees(flag.round, flag.item)


def _masked(flag: Flag, sight: Sight) -> Flag:
    decided = None if flag.decided_by is None else sight.mask(flag.decided_by)
    return replace(flag, by=sight.mask(flag.by), decided_by=decided)


# -- questions to the lead


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about the rubric, and what the lead answered."""

    number: int
    by: str
    at: str
    item: str | None
    criterion: str | None
    text: str
    answers: tuple[str, ...] = ()
    shared: bool = False
    """Whether everybody may read it: it then says nothing of an item."""


@verb("reviewer", "adjudicator", "lead", shows="nothing")
def ask(
    session: Session, text: str, *, item: str | None = None, criterion: str | None = None
) -> None:
    """Ask the lead about the rubric; say nothing of the scores you have in mind."""
    words = {"text": reason_of(text, "a question")}

    def work(tx: Writing) -> None:
        name = current_rubric(tx, session).criterion(criterion).id if criterion else None
        if item is not None:
            item_in(tx, session, item)
        entry = session.entry("asked", item=item, criterion=name, words=words)
        tx.log(session.number, [entry])

    session.among(work)


@verb("lead", shows="nothing")
def answer_question(session: Session, number: int, text: str, *, share: bool = False) -> None:
    """Answer a question; ``share`` it with everybody where it is of use to all."""
    said = reason_of(text, "an answer")

    def work(tx: Writing) -> None:
        asked = next(
            (one for one in tx.journal(session.number, kinds=("asked",)) if one.number == number),
            None,
        )
        if asked is None:
            raise StudyError(f"there is no question {number}")
        body = {"question": number, "share": share}
        entry = session.entry(
            "answered", item=asked.item, criterion=asked.criterion, body=body, words={"text": said}
        )
        tx.log(session.number, [entry])

    session.alone(work)


@verb("reviewer", "adjudicator", "lead", shows="nothing")
def questions(session: Session) -> list[Question]:
    """The actor's own questions and those shared with all; a lead reads every one."""
    return session.store.read(lambda tx: questions_seen(tx, session))


def questions_seen(tx: Reading, session: Session) -> list[Question]:
    """Questions that the actor may read."""
    leads = "lead" in member_named(tx, session, session.actor).roles
    replies: dict[int, list[str]] = {}
    shared: set[int] = set()
    asked = []
    for entry in tx.journal(session.number, kinds=("asked", "answered")):
        if entry.kind == "asked":
            asked.append(entry)
            continue
        number = int(entry.body["question"])
        replies.setdefault(number, []).append(str((entry.words or {}).get("text", "")))
        shared |= {number} if entry.body["share"] else set()
    seen = [
        Question(
            number=one.number,
            by=one.actor if leads else ("you" if one.actor == session.actor else "a rater"),
            at=one.at,
            item=one.item if leads or one.actor == session.actor else None,
            criterion=one.criterion,
            text=str((one.words or {}).get("text", "")),
            answers=tuple(replies.get(one.number, ())),
            shared=one.number in shared,
        )
        for one in asked
        if leads or one.actor == session.actor or one.number in shared
    ]
    if _counts_apart(tx, session):
        return [replace(one, number=at) for at, one in enumerate(seen, 1)]
    return seen
