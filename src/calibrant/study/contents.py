"""Everything a study holds, to be taken elsewhere: as of one moment, record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from calibrant.core.errors import Refused
from calibrant.core.study import (
    Assignment,
    Entry,
    ItemRecord,
    Member,
    Rating,
    Round,
    RubricRecord,
    StudyRecord,
)
from calibrant.ports.store import Reading
from calibrant.study.audit import whole_log
from calibrant.study.pseudonyms import Pseudonyms, entry_of_key
from calibrant.study.score import finals_in, standing, verdicts_under
from calibrant.study.session import Session, current_rubric, rubric_of, verb
from calibrant.study.sight import sight_of, whole_sight
from calibrant.study.table import KEYS, answer_frames, long_rows

T = TypeVar("T")
_NUMBERS = ("round", "occasion")
LONG = pl.Schema(
    {
        name: pl.Int64() if name in _NUMBERS else pl.String()
        for name in (*KEYS, "rubric", "criterion", "answer")
    }
)
"""The columns of a long table of ratings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """All records of a study in their order; the many are read as they are asked for.

    Drafts and leases are no part of it: nobody has handed them in.
    """

    study: StudyRecord
    rubrics: tuple[RubricRecord, ...]
    """Every version used, in the order of coming in force."""
    members: tuple[Member, ...]
    rounds: tuple[Round, ...]
    items: Callable[[], Iterator[ItemRecord]]
    assignments: Callable[[], Iterator[Assignment]]
    """By round, rater, position, item and occasion; without leases."""
    ratings: Callable[[], Iterator[Rating]]
    """All revisions, by key and revision."""
    journal: Callable[[], Iterator[Entry]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What follows from the records, for analysis."""

    ratings: Callable[[], Iterator[pl.DataFrame]]
    """Answers that count, one a row, in parts and in no order."""
    finals: Callable[[], pl.DataFrame]
    verdicts: Callable[[], pl.DataFrame]
    log: Callable[[], Iterator[Entry]]
    """The audit log: the journal with a line for each rating that came in, by time."""


@verb("lead", shows="all")
def contents(
    session: Session, take: Callable[[Contents, Tables], T], *, pseudonyms: bool = False
) -> T:
    """Hand everything to ``take``, as of one moment; what ``take`` makes of it.

    With ``pseudonyms`` members go by other names throughout (``keep_pseudonyms`` comes first). A
    lead who rates takes nothing while a round is open, or one is planned in which they will rate.
    After that they take everything, also what others said of an item that they never came to
    rate: nobody is kept from leaving with the data. ``take`` is called again where the connection
    was lost.
    """

    def work(tx: Reading) -> T:
        need_all(tx, session)
        named = Pseudonyms.of(tx, session) if pseudonyms else None
        return take(_contents(tx, session, named), _tables(tx, session, named))

    return session.store.read(work)


def follows(tx: Reading, session: Session) -> Tables:
    """The tables that follow from the records, whoever acts: to hold a copy against them."""
    return _tables(tx, session, None)


def need_all(tx: Reading, session: Session) -> None:
    """The actor may take every answer there is by now; raises ``Refused`` with the reason."""
    mine = list(tx.assignments(session.number, rater=session.actor))
    ahead = {one.key.round for one in mine if one.state == "open"}
    sight = sight_of(tx, session)
    for round in tx.rounds(session.number):
        if round.state == "open" and round.number not in sight.rounds:
            raise Refused(
                f"you rate in this study and round {round.number} is open: everything can be "
                "taken out when it is closed, or by a lead who does not rate"
            )
        if round.state == "planned" and round.number in ahead:
            raise Refused(
                f"round {round.number} is planned with items for you, and you have not rated them "
                "yet: everything can be taken out when it is closed, or by a lead who does not rate"
            )


def _contents(tx: Reading, session: Session, named: Pseudonyms | None) -> Contents:
    study = session.number
    adopted = dict.fromkeys(str(one.body["hash"]) for one in tx.journal(study, kinds=("rubric",)))
    rubrics = [tx.rubric(hash) for hash in adopted]
    members, rounds = tx.members(study), tx.rounds(study)

    def assignments() -> Iterator[Assignment]:
        for one in tx.assignments(study):
            yield _without_lease(one)

    plain = Contents(
        study=session.record,
        rubrics=tuple(one for one in rubrics if one is not None),
        members=tuple(members),
        rounds=tuple(rounds),
        items=lambda: tx.items(study),
        assignments=assignments,
        ratings=lambda: tx.ratings(study, all_revisions=True),
        journal=lambda: tx.journal(study),
    )
    return plain if named is None else _renamed(tx, study, plain, named)


def _without_lease(one: Assignment) -> Assignment:
    if one.lease is None:
        return one
    return Assignment(key=one.key, position=one.position, state=one.state, version=one.version)


def _renamed(tx: Reading, study: int, plain: Contents, named: Pseudonyms) -> Contents:
    """The same under other names, and in the order of those."""

    def assignments() -> Iterator[Assignment]:
        raters = sorted((one.name for one in plain.members), key=named.name)
        for round in plain.rounds:
            for rater in raters:
                for one in tx.assignments(study, round=round.number, rater=rater):
                    yield named.assignment(_without_lease(one))

    def ratings() -> Iterator[Rating]:
        waiting: list[Rating] = []
        for one in plain.ratings():
            place = (one.key.round, one.key.item)
            if waiting and place != (waiting[0].key.round, waiting[0].key.item):
                yield from sorted(waiting, key=lambda each: (each.key, each.revision))
                waiting = []
            waiting.append(named.rating(one))
        yield from sorted(waiting, key=lambda each: (each.key, each.revision))

    return Contents(
        study=named.study(plain.study),
        rubrics=plain.rubrics,
        members=tuple(named.member(one) for one in plain.members),
        rounds=tuple(named.round(one) for one in plain.rounds),
        items=plain.items,
        assignments=assignments,
        ratings=ratings,
        journal=lambda: map(named.entry, plain.journal()),
    )


def is_pseudonymous(journal: Iterator[Entry]) -> bool:
    """Whether these entries are of a study whose members go by other names."""
    return any(entry_of_key(one) and one.body["key"] is None for one in journal)


def _tables(tx: Reading, session: Session, named: Pseudonyms | None) -> Tables:
    def told(frame: pl.DataFrame) -> pl.DataFrame:
        if named is None:
            return frame
        names = {name: named.name(name) for name in frame["rater"].unique()}
        return frame.with_columns(pl.col("rater").replace_strict(names, return_dtype=pl.String))

    def ratings() -> Iterator[pl.DataFrame]:
        for version, frame in answer_frames(tx, session):
            yield told(long_rows(frame, rubric_of(tx, version))).select(list(LONG)).cast(LONG)

    def finals() -> pl.DataFrame:
        sight = whole_sight(tx, session)
        forced = standing(tx, session, sight).confirmed
        return finals_in(tx, session, sight, current_rubric(tx, session), forced)

    def verdicts() -> pl.DataFrame:
        return verdicts_under(tx, session, current_rubric(tx, session), whole_sight(tx, session))

    def log() -> Iterator[Entry]:
        lines = whole_log(tx, session)
        return lines if named is None else map(named.entry, lines)

    return Tables(ratings=ratings, finals=finals, verdicts=verdicts, log=log)
