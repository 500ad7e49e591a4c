"""How each rater of a study rates, computed on what was there before anybody adjudicated."""

from __future__ import annotations

import polars as pl

from calibrant.compare.raters import RaterReport, raters_of_frames
from calibrant.compare.rating_columns import Reading as TableReading
from calibrant.core.errors import StudyError
from calibrant.core.rubric import Rubric
from calibrant.core.study import COUNTING
from calibrant.ports.store import Reading
from calibrant.study.session import Session, current_rubric, round_numbered, rubric_of, verb
from calibrant.study.sight import need_round, sight_of
from calibrant.study.table import answered, long_rows, rated, seen


@verb("lead", "adjudicator", "viewer", shows="seen")
def rater_report(session: Session, *, round: int | None = None) -> RaterReport:
    """Severity, halo, drift and more of everybody who rated, people, judges and checks alike.

    In a round, or over all rounds that count. An item that a rater had again, in the same round
    or a later one, tells whether the rater agrees with themselves, and counts once.
    """

    def work(tx: Reading) -> tuple[pl.DataFrame, Rubric]:
        sight = sight_of(tx, session)
        if round is not None:
            found = round_numbered(tx, session, round)
            need_round(sight, round)
            if found.kind == "onboarding":
                raise StudyError(f"round {round} was rated together: there is nothing to compare")
            rubric = rubric_of(tx, found.rubric)
            return seen(rated(tx, session, [round], rubric), sight), rubric
        rubric = current_rubric(tx, session)
        counting = [one.number for one in tx.rounds(session.number) if one.kind in COUNTING]
        return seen(rated(tx, session, counting, rubric), sight), rubric

    frame, rubric = session.store.read(work)
    rows = answered(long_rows(frame.sort("time", "item", "rater"), rubric))
    if rows["rater"].n_unique() < 2:
        raise StudyError("raters are held against one another: it takes two who rated")
    again = (pl.col("round") * 1_000 + pl.col("occasion")).rank("dense").over("item", "rater")
    table = rows.select(
        "item", "rater", "kind", "criterion", "answer", "time", again.alias("occasion")
    )
    return raters_of_frames([table], TableReading(rubric=rubric), "study")
