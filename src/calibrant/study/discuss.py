"""Disagreements of a round are talked over, each with an outcome, before the next round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from calibrant.compare.finals import finals
from calibrant.core.errors import StudyError
from calibrant.core.rubric import Rubric
from calibrant.core.study import Round
from calibrant.ports.store import Reading, Writing
from calibrant.study.agree import below, compared
from calibrant.study.session import Session, reason_of, round_numbered, rubric_of, verb
from calibrant.study.sight import named, need_round, sight_of
from calibrant.study.table import people, rated, seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Answers to one criterion about one item that lie apart."""

    round: int
    item: str
    criterion: str
    answers: dict[str, str]
    """By rater, masked where names may not be told."""
    cause: str
    gap: int | None
    discussed: bool


def lows(frame: pl.DataFrame, rubric: Rubric) -> frozenset[str]:
    """Criteria on which people fall short of a target; none where there is nothing to compare."""
    if rubric.agreement is None:
        return frozenset()
    try:
        return frozenset(below(compared(frame, rubric)))
    except StudyError:  # fewer than two raters
        return frozenset()


def low_for_rule(frame: pl.DataFrame, rubric: Rubric) -> frozenset[str]:
    """Criteria below target, where the rubric's rule of disagreement asks for them at all."""
    rule = rubric.resolution
    asked = rule is not None and rule.metric == "low_agreement"
    return lows(people(frame), rubric) if asked else frozenset()


def disputed(frame: pl.DataFrame, rubric: Rubric) -> pl.DataFrame:
    """Item and criterion of every disagreement among people, the widest first."""
    mine = people(frame)
    found = finals(rubric, mine, low=low_for_rule(mine, rubric))
    return (
        found.filter(pl.col("needs_resolution"))
        .with_columns(pl.col("criterion").cast(pl.String))
        .sort(["size", "item", "criterion"], descending=[True, False, False])
    )


def _discussed(tx: Reading, session: Session, round: int) -> set[tuple[str, str]]:
    entries = tx.journal(session.number, kinds=("discussed",))
    return {(str(one.item), str(one.criterion)) for one in entries if one.round == round}


def undiscussed(tx: Reading, session: Session, round: Round) -> int:
    """How many disagreements of a closed round nobody has recorded an outcome for."""
    rubric = rubric_of(tx, round.rubric)
    found = disputed(rated(tx, session, [round.number], rubric), rubric)
    talked = _discussed(tx, session, round.number)
    return sum(pair not in talked for pair in found.select("item", "criterion").iter_rows())


@verb("lead", "reviewer", "adjudicator", shows="seen")
def disputes(session: Session, round: int) -> list[Dispute]:
    """Disagreements of a closed round, the widest first, each with everybody's answer."""

    def work(tx: Reading) -> list[Dispute]:
        sight = sight_of(tx, session)
        rubric = rubric_of(tx, round_numbered(tx, session, round).rubric)
        need_round(sight, round)
        frame = people(seen(rated(tx, session, [round], rubric), sight))
        talked = _discussed(tx, session, round)
        found = disputed(frame, rubric)
        given = _answers_of(frame.filter(pl.col("item").is_in(found["item"].implode())))
        return [
            Dispute(
                round=round,
                item=row["item"],
                criterion=row["criterion"],
                answers={
                    rater: answers[row["criterion"]]
                    for rater, answers in given[row["item"]].items()
                    if answers[row["criterion"]] is not None
                },
                cause=row["cause"],
                gap=row["gap"],
                discussed=(row["item"], row["criterion"]) in talked,
            )
            for row in found.iter_rows(named=True)
        ]

    return session.store.read(work)


def participants_of(tx: Reading, session: Session, given: Sequence[str]) -> list[str]:
    """Members who took part, given by name or mask; raises ``StudyError`` where there is none."""
    found = named(tx, session, given)
    strange = sorted(set(found) - {one.name for one in tx.members(session.number)})
    if strange or not found:
        raise StudyError(f"{strange[0]!r} is not a member" if strange else "say who took part")
    return found


def _answers_of(frame: pl.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    """By item and rater, the row of answers."""
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for row in frame.sort("rater").iter_rows(named=True):
        out.setdefault(row["item"], {})[row["rater"]] = row
    return out


@verb("lead", "reviewer", "adjudicator", shows="seen")
def discuss(
    session: Session,
    round: int,
    item: str,
    criterion: str,
    *,
    outcome: str,
    participants: Sequence[str],
    unclear: bool = False,
) -> None:
    """Record what a discussion came to; ``unclear`` marks that the rubric says too little here."""
    said = reason_of(outcome, "a discussion")

    def work(tx: Writing) -> None:
        sight = sight_of(tx, session)
        rubric = rubric_of(tx, round_numbered(tx, session, round).rubric)
        need_round(sight, round)
        if item in sight.hidden:
            raise StudyError(f"rate item {item!r} first: you have it on your list")
        took_part = participants_of(tx, session, participants)
        if tx.item(session.number, item) is None:
            raise StudyError(f"study {session.name!r} has no item {item!r}")
        entry = session.entry(
            "discussed",
            round=round,
            item=item,
            criterion=rubric.criterion(criterion).id,
            body={"participants": took_part, "unclear": unclear},
            words={"outcome": said},
        )
        tx.log(session.number, [entry])

    session.among(work)
