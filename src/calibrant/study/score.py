"""Final answers with where they come from, and the verdicts they add up to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from calibrant.compare.finals import final_verdicts, wide, with_settlements
from calibrant.compare.finals import finals as by_rule
from calibrant.core.resolution import Settlement
from calibrant.core.rubric import Rubric
from calibrant.core.study import COUNTING
from calibrant.ports.store import Reading
from calibrant.study.admit import admitted
from calibrant.study.discuss import low_for_rule
from calibrant.study.flags import flags_in
from calibrant.study.session import Session, current_rubric, rubric_of, verb
from calibrant.study.sight import Sight, sight_of
from calibrant.study.table import carried, first_answers, rated


def main_ratings(
    tx: Reading, session: Session, sight: Sight, rubric: Rubric, item: str | None = None
) -> pl.DataFrame:
    """What everybody answered in closed rounds that count, as far as it may be seen.

    About one item, where it is named.
    """
    rounds = [
        one.number
        for one in tx.rounds(session.number)
        if one.kind in COUNTING and one.state == "closed" and one.number in sight.rounds
    ]
    frame = rated(tx, session, rounds, rubric, item)
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
    return with_settlements(rubric, found, settlements(tx, session, rubric), flags)


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


def settlements(
    tx: Reading, session: Session, rubric: Rubric
) -> dict[tuple[str, str], list[Settlement]]:
    """What people made of disagreements, by item and criterion, in the order of happening.

    What was settled under another version stands where answers do: where the text is unchanged.
    """
    stands: dict[str, dict[str, str]] = {}
    out: dict[tuple[str, str], list[Settlement]] = {}
    for entry in tx.journal(session.number, kinds=("settled",)):
        version = str(entry.body["rubric"])
        if version not in stands:
            kept = carried(rubric_of(tx, version), rubric)
            stands[version] = {before: now for now, before in kept.items()}
        name = stands[version].get(str(entry.criterion))
        if name is None:
            continue
        one = Settlement(
            value=str(entry.body["value"]),
            how=entry.body["how"],
            by=tuple(entry.body.get("participants", (entry.actor,))),
            reason=str((entry.words or {}).get("reason", "")),
        )
        out.setdefault((str(entry.item), name), []).append(one)
    return out


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def finals(session: Session) -> pl.DataFrame:
    """The final answer of every item and criterion, and how it came about.

    ``provenance`` is unanimous, within_tolerance, consensus, adjudicated or forced (by a confirmed
    red flag); null where the answer has yet to be settled. What raters said stays in
    ``ratings``.
    """

    def work(tx: Reading) -> pl.DataFrame:
        sight = sight_of(tx, session)
        forced = standing(tx, session, sight).confirmed
        return finals_in(tx, session, sight, current_rubric(tx, session), forced)

    return session.store.read(work)


@dataclass(frozen=True, slots=True)
class Standing:
    """What red flags do to items."""

    confirmed: dict[str, list[str]]
    """Flags that somebody has confirmed, by item: they have their effect."""
    blocked: frozenset[str]
    """Items under a flag of somebody who counts that is not decided: they do not pass."""


def standing(tx: Reading, session: Session, sight: Sight) -> Standing:
    """Red flags as they stand, as far as they may be seen.

    A flag by a judge that was not admitted, or by a check, only proposes: it waits in the queue.
    """
    confirmed: dict[str, list[str]] = {}
    blocked: set[str] = set()
    kinds = {one.name: one.kind for one in tx.members(session.number)}
    trusted = admitted(tx, session)
    for one in flags_in(tx, session):
        told = one.round is None or one.round in sight.rounds
        if one.what != "red_flag" or one.flag is None or not told or one.item in sight.hidden:
            continue
        if one.state == "confirmed":
            confirmed.setdefault(one.item, []).append(one.flag)
        elif one.state == "raised" and (kinds.get(one.by) == "HUMAN" or one.by in trusted):
            blocked.add(one.item)
    return Standing(confirmed, frozenset(blocked))


def verdicts_under(
    tx: Reading, session: Session, rubric: Rubric, sight: Sight | None = None
) -> pl.DataFrame:
    """The verdict of every rated item under a version of the rubric, as far as the actor sees.

    ``blocked`` marks items with a red flag that nobody has decided: they are not passed, and
    undecided till then.
    """
    sight = sight or sight_of(tx, session)
    found = standing(tx, session, sight)
    known = {one.id for one in rubric.red_flags or ()}
    confirmed = found.confirmed.items()
    flags = {item: [one for one in names if one in known] for item, names in confirmed}
    answers = wide(rubric, finals_in(tx, session, sight, rubric))
    verdicts = final_verdicts(rubric, answers, flags=flags, measures=tx.measures(session.number))
    waits = pl.col("item").is_in(list(found.blocked))
    failed = pl.col("verdict") == "failed"
    return verdicts.with_columns(
        waits.alias("blocked"),
        pl.when(waits).then(False).otherwise("passed").alias("passed"),
        pl.when(waits & ~failed)
        .then(pl.lit("undecided", verdicts.schema["verdict"]))
        .otherwise("verdict")
        .alias("verdict"),
    )


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def verdicts(session: Session) -> pl.DataFrame:
    """The verdict of every item that has been rated in a round that counts."""

    def work(tx: Reading) -> pl.DataFrame:
        return verdicts_under(tx, session, current_rubric(tx, session))

    return session.store.read(work)
