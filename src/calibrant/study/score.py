"""Final answers with where they come from, and the verdicts they add up to."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from calibrant.compare.finals import final_verdicts, wide, with_settlements
from calibrant.compare.finals import finals as by_rule
from calibrant.core.resolution import Settlement
from calibrant.core.rubric import Rubric
from calibrant.core.study import COUNTING
from calibrant.ports.store import Reading
from calibrant.study.admit import admitted
from calibrant.study.discuss import first_answers, low_for_rule
from calibrant.study.flags import flags_in
from calibrant.study.session import Session, current_rubric, verb
from calibrant.study.sight import Sight, sight_of
from calibrant.study.table import rated


def main_ratings(tx: Reading, session: Session, sight: Sight, rubric: Rubric) -> pl.DataFrame:
    """What everybody answered in closed rounds that count, as far as it may be seen."""
    rounds = [
        one.number
        for one in tx.rounds(session.number)
        if one.kind in COUNTING and one.state == "closed" and one.number in sight.rounds
    ]
    frame = rated(tx, session, rounds, rubric)
    if sight.hidden:
        frame = frame.filter(~pl.col("item").is_in(list(sight.hidden)))
    return first_answers(frame)


def finals_of(
    tx: Reading,
    session: Session,
    frame: pl.DataFrame,
    rubric: Rubric,
    flags: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """Final answers: forced by ``flags``, else settled by people, else by the rubric's rule.

    People count, and judges that were admitted.
    """
    trusted = list(admitted(tx, session))
    counted = frame.filter((pl.col("kind") == "HUMAN") | pl.col("rater").is_in(trusted))
    found = by_rule(rubric, counted, low=low_for_rule(frame, rubric))
    return with_settlements(rubric, found, settlements(tx, session), flags)


def finals_in(
    tx: Reading,
    session: Session,
    sight: Sight,
    rubric: Rubric,
    flags: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """Final answers of everything that may be seen."""
    frame = main_ratings(tx, session, sight, rubric)
    return finals_of(tx, session, frame, rubric, flags)


def settlements(tx: Reading, session: Session) -> dict[tuple[str, str], list[Settlement]]:
    """What people made of disagreements, by item and criterion, in the order of happening."""
    out: dict[tuple[str, str], list[Settlement]] = {}
    for entry in tx.journal(session.number, kinds=("settled",)):
        one = Settlement(
            value=str(entry.body["value"]),
            how=entry.body["how"],
            by=tuple(entry.body.get("participants", (entry.actor,))),
            reason=str((entry.words or {}).get("reason", "")),
        )
        out.setdefault((str(entry.item), str(entry.criterion)), []).append(one)
    return out


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def finals(session: Session) -> pl.DataFrame:
    """The final answer of every item and criterion, and how it came about.

    ``provenance`` is unanimous, within_tolerance, consensus, adjudicated or forced (by a red flag
    that stands); null where the answer has yet to be settled. What raters said stays in
    ``ratings``.
    """

    def work(tx: Reading) -> pl.DataFrame:
        sight = sight_of(tx, session)
        stand, _ = standing(tx, session, sight)
        return finals_in(tx, session, sight, current_rubric(tx, session), stand)

    return session.store.read(work)


def standing(
    tx: Reading, session: Session, sight: Sight
) -> tuple[dict[str, list[str]], frozenset[str]]:
    """Red flags that stand, by item, and the items on which one is not decided yet."""
    stand: dict[str, list[str]] = {}
    undecided: set[str] = set()
    for one in flags_in(tx, session):
        told = one.round is None or one.round in sight.rounds
        if one.what != "red_flag" or one.state == "rejected" or not told:
            continue
        if one.flag is not None and one.item not in sight.hidden:
            stand.setdefault(one.item, []).append(one.flag)
            undecided |= {one.item} if one.state == "raised" else set()
    return stand, frozenset(undecided)


def verdicts_under(tx: Reading, session: Session, rubric: Rubric) -> pl.DataFrame:
    """The verdict of every rated item under a version of the rubric.

    ``blocked`` marks items with a red flag that nobody has decided: they are not passed.
    """
    sight = sight_of(tx, session)
    stand, undecided = standing(tx, session, sight)
    stand = {item: [one for one in names if _known(rubric, one)] for item, names in stand.items()}
    answers = wide(rubric, finals_in(tx, session, sight, rubric))
    verdicts = final_verdicts(rubric, answers, flags=stand, measures=tx.measures(session.number))
    return verdicts.with_columns(pl.col("item").is_in(list(undecided)).alias("blocked"))


def _known(rubric: Rubric, flag: str) -> bool:
    return any(one.id == flag for one in rubric.red_flags or ())


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def verdicts(session: Session) -> pl.DataFrame:
    """The verdict of every item that has been rated in a round that counts."""

    def work(tx: Reading) -> pl.DataFrame:
        return verdicts_under(tx, session, current_rubric(tx, session))

    return session.store.read(work)
