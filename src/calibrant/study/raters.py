"""How each rater of a study rates, computed on what was there before anybody adjudicated."""

from __future__ import annotations

import polars as pl

from calibrant.compare.raters import RaterReport, raters_of_frames
from calibrant.compare.rating_columns import Reading as TableReading
from calibrant.core.errors import StudyError
from calibrant.study.agree import rated_alone
from calibrant.study.session import Session, verb
from calibrant.study.table import answered, long_rows


@verb("lead", "adjudicator", "viewer", shows="seen")
def rater_report(session: Session, *, round: int | None = None) -> RaterReport:
    """Severity, halo, drift and more of everybody who rated, people, judges and checks alike.

    In a round, or over all rounds that count. An item that a rater had again, in the same round
    or a later one, tells whether the rater agrees with themselves, and counts once.
    """
    frame, rubric = session.store.read(lambda tx: rated_alone(tx, session, round))
    rows = answered(long_rows(frame.sort("time", "item", "rater"), rubric))
    if rows["rater"].n_unique() < 2:
        raise StudyError("raters are held against one another: it takes two who rated")
    again = (pl.col("round") * 1_000 + pl.col("occasion")).rank("dense").over("item", "rater")
    table = rows.select(
        "item", "rater", "kind", "criterion", "answer", "time", again.alias("occasion")
    )
    return raters_of_frames([table], TableReading(rubric=rubric), "study")
