"""Everything that may be seen by now about one item: what each rater said, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from calibrant.core.errors import Refused, StudyError
from calibrant.core.item import Item
from calibrant.core.rating import RaterKind
from calibrant.core.rubric import Rubric
from calibrant.core.study import COUNTING, Entry, Rating
from calibrant.ports.store import Reading
from calibrant.study.admit import admitted
from calibrant.study.flags import Flag, flags_seen, took_part
from calibrant.study.intake import words_of
from calibrant.study.session import (
    Session,
    current_rubric,
    member_named,
    round_numbered,
    rubric_of,
    verb,
)
from calibrant.study.sight import Sight, masks, need_round, sight_of
from calibrant.study.table import carried
from calibrant.study.thread import Comment, comments_seen

Came: TypeAlias = Literal["discussed", "no_consensus", "settled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """What one rater said about the item, by criterion of the rubric of the file."""

    rater: str
    """Masked where names may not be told."""
    kind: RaterKind
    counts: bool
    """People count, and judges that were admitted."""
    answers: Mapping[str, str]
    notes: Mapping[str, str]
    evidence: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str]
    """Why there is no answer, or why a judge or a check gave it."""
    borderline: frozenset[str]
    tags: Mapping[str, tuple[str, ...]]
    note: str
    """On the item as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What people made of a disagreement: talked it over, found no consensus, or settled it."""

    what: Came
    criterion: str
    by: str
    at: str
    participants: tuple[str, ...]
    text: str
    """Empty once the item is redacted."""
    value: str | None
    how: str | None
    error: str | None
    unclear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """An item with what raters said of it, for whoever discusses or settles it."""

    item: str
    content: Item | None
    """None once it is redacted."""
    rubric: Rubric
    voices: tuple[Voice, ...]
    flags: tuple[Flag, ...]
    outcomes: tuple[Outcome, ...]
    """In the order of happening."""
    comments: tuple[Comment, ...]
    refusal: str
    """Why the actor may not decide on this item; empty where they may."""
    first: str | None
    """What the reviewers have to try before anybody decides, as the rubric states it."""

    def tried(self, criterion: str) -> bool:
        """Whether the reviewers have tried for consensus on a criterion, and failed."""
        return any(
            one.what == "no_consensus" and one.criterion == criterion for one in self.outcomes
        )

    def settled(self, criterion: str) -> bool:
        """Whether people have given a criterion its final answer."""
        return any(one.what == "settled" and one.criterion == criterion for one in self.outcomes)


@verb("lead", "reviewer", "adjudicator", shows="seen")
def case_file(session: Session, item: str, *, round: int | None = None) -> CaseFile:
    """Answers, reasons, quotations, flags and outcomes on an item, as far as they may be seen.

    Of one round, under the version it pins; or of all closed rounds that count, under the version
    in force, where everybody is masked for whoever decides.
    """

    def work(tx: Reading) -> CaseFile:
        sight = sight_of(tx, session)
        rounds, rubric = _rounds(tx, session, sight, round)
        if item in sight.hidden:
            raise Refused(f"rate item {item!r} first: you have it on your list")
        record = tx.item(session.number, item)
        if record is None:
            raise StudyError(f"study {session.name!r} has no item {item!r}")
        if round is None:
            sight = replace(sight, mask=masks(tx, session), masked=True)
        voices = _voices(tx, session, item, rounds=rounds, rubric=rubric, mask=sight.mask)
        deciders = {"lead", "adjudicator"}  # who read any item
        if not voices and not deciders & set(member_named(tx, session, session.actor).roles):
            where = "a closed round that counts" if round is None else f"round {round}"
            raise StudyError(f"item {item!r} has no ratings in {where}")
        by = rubric.resolution.by if rubric.resolution is not None else None
        first = (by or (None,))[0]
        return CaseFile(
            item=item,
            content=None if record.content is None else words_of(record),
            rubric=rubric,
            voices=voices,
            flags=_flags(tx, session, sight, item),
            outcomes=_outcomes(tx, session, item, sight, rounds),
            comments=tuple(comments_seen(tx, session, sight, round=round, item=item)),
            refusal=_refusal(tx, session, item),
            first=None if first == "adjudicator" else first,
        )

    return session.store.read(work)


def _rounds(
    tx: Reading, session: Session, sight: Sight, round: int | None
) -> tuple[frozenset[int], Rubric]:
    """The rounds a file is about, and the rubric it is read by."""
    if round is not None:
        found = round_numbered(tx, session, round)
        need_round(sight, round)
        return frozenset([round]), rubric_of(tx, found.rubric)
    counted = frozenset(
        one.number
        for one in tx.rounds(session.number)
        if one.kind in COUNTING and one.state == "closed" and one.number in sight.rounds
    )
    return counted, current_rubric(tx, session)


def _voices(
    tx: Reading,
    session: Session,
    item: str,
    *,
    rounds: Collection[int],
    rubric: Rubric,
    mask: Callable[[str], str],
) -> tuple[Voice, ...]:
    kinds = {one.name: one.kind for one in tx.members(session.number)}
    trusted = admitted(tx, session)
    given: dict[str, list[Rating]] = {}
    for one in tx.ratings(session.number, item=item):
        if one.key.round in rounds and one.key.occasion == 1:
            given.setdefault(one.key.rater, []).append(one)
    voices = [
        _voice(
            tx,
            rubric,
            sorted(ratings, key=lambda one: one.key.round),
            rater=mask(name),
            kind=kinds.get(name, "HUMAN"),
            counts=kinds.get(name, "HUMAN") == "HUMAN" or name in trusted,
        )
        for name, ratings in given.items()
    ]
    # an order by names would tell them
    order = ("HUMAN", "LLM", "CODE")
    return tuple(sorted(voices, key=lambda one: (order.index(one.kind), one.rater)))


def _voice(
    tx: Reading,
    rubric: Rubric,
    ratings: list[Rating],
    *,
    rater: str,
    kind: RaterKind,
    counts: bool,
) -> Voice:
    """A rater's answers of the last round that has one each, with what was said to each."""
    answers: dict[str, str] = {}
    said: dict[str, dict[str, Any]] = {name: {} for name in ("notes", "evidence", "reasons")}
    borderline: set[str] = set()
    tags: dict[str, tuple[str, ...]] = {}
    note = ""
    for one in ratings:
        words = one.words or {}
        note = str(words.get("note", "")) or note
        for name, before in carried(rubric_of(tx, one.rubric), rubric).items():
            if before not in one.answers:
                continue
            answers[name] = one.answers[before]
            borderline.discard(name)
            if before in one.facts.get("borderline", ()):
                borderline.add(name)
            tags[name] = tuple(one.facts.get("tags", {}).get(before, ()))
            told = {**one.facts.get("reasons", {}), **words.get("reasons", {})}
            for field, texts in (*words.items(), ("reasons", told)):
                if field in said:
                    said[field][name] = texts.get(before)
    return Voice(
        rater=rater,
        kind=kind,
        counts=counts,
        answers=answers,
        notes={name: str(text) for name, text in said["notes"].items() if text},
        evidence={name: tuple(texts) for name, texts in said["evidence"].items() if texts},
        reasons={name: str(text) for name, text in said["reasons"].items() if text},
        borderline=frozenset(borderline),
        tags={name: found for name, found in tags.items() if found},
        note=note,
    )


def _flags(tx: Reading, session: Session, sight: Sight, item: str) -> tuple[Flag, ...]:
    return tuple(
        replace(
            one,
            by=sight.mask(one.by),
            decided_by=None if one.decided_by is None else sight.mask(one.decided_by),
        )
        for one in flags_seen(tx, session, sight)
        if one.item == item
    )


def _outcomes(
    tx: Reading, session: Session, item: str, sight: Sight, rounds: Collection[int]
) -> tuple[Outcome, ...]:
    kinds = ("discussed", "no_consensus", "settled")
    return tuple(
        _outcome(one, sight.mask)
        for one in tx.journal(session.number, kinds=kinds, item=item)
        if one.round is None or one.round in rounds
    )


def _outcome(entry: Entry, mask: Callable[[str], str]) -> Outcome:
    words = entry.words or {}
    return Outcome(
        what=entry.kind,  # type: ignore[arg-type]
        criterion=str(entry.criterion),
        by=mask(entry.actor),
        at=entry.at,
        participants=tuple(sorted(mask(str(one)) for one in entry.body.get("participants", ()))),
        text=str(words.get("outcome", words.get("reason", ""))),
        value=entry.body.get("value"),
        how=entry.body.get("how"),
        error=entry.body.get("error"),
        unclear=bool(entry.body.get("unclear")),
    )


def _refusal(tx: Reading, session: Session, item: str) -> str:
    """Why the actor may not decide on an item; empty where they may."""
    try:
        took_part(tx, session, item)
    except Refused as error:
        return str(error)
    return ""
