"""How far raters agree, computed on what was there before anybody adjudicated."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from hashlib import blake2b
from io import BytesIO

import polars as pl

from calibrant.compare.agreement import AgreementReport, agreement_of_frames
from calibrant.compare.rating_columns import Reading as TableReading
from calibrant.compare.targets import TargetResult
from calibrant.core.errors import StudyError
from calibrant.core.rubric import Rubric
from calibrant.core.study import COUNTING
from calibrant.ports.store import Reading
from calibrant.stats.estimate import Design
from calibrant.study.session import Session, current_rubric, round_numbered, rubric_of, verb
from calibrant.study.sight import need_round, sight_of
from calibrant.study.table import answered, first_answers, long_rows, rated, seen

PEOPLE = "people"
"""The name under which what people settled on stands beside a judge."""
KEPT = 64
"""Reports that are kept at hand: resampling takes most of a second, and the ratings of a closed
round stay as they are."""
_REPORTS: OrderedDict[bytes, AgreementReport] = OrderedDict()


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def agreement(
    session: Session, *, round: int | None = None, kinds: Collection[str] = ("HUMAN",)
) -> AgreementReport:
    """Agreement in a round, or over all rounds that count, held against the rubric's targets.

    People alone unless other kinds are asked for. Training rounds never enter. Answers under
    different versions are taken together only where the criterion's text is unchanged.
    """
    frame, rubric = session.store.read(lambda tx: rated_alone(tx, session, round))
    return compared(frame, rubric, kinds)


@verb("lead", "adjudicator", "viewer", shows="seen")
def answers(session: Session, *, round: int | None = None) -> tuple[pl.DataFrame, Rubric]:
    """What raters answered each by themselves, a row a rating, and the rubric it is read by.

    In a round, or over all rounds that count; a column for each criterion, and ``facts`` as JSON.
    """
    return session.store.read(lambda tx: rated_alone(tx, session, round))


def rated_alone(tx: Reading, session: Session, round: int | None) -> tuple[pl.DataFrame, Rubric]:
    """What raters answered each by themselves, as far as the actor may see it, and the rubric.

    In a round, or in all that count.
    """
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


def compared(
    frame: pl.DataFrame, rubric: Rubric, kinds: Collection[str] = ("HUMAN",)
) -> AgreementReport:
    """Agreement of the ratings of a frame; first occasions only, repeats are for oneself."""
    mine = first_answers(frame.filter(pl.col("kind").is_in(list(kinds))))
    # a store gives ratings in no order, and limits are resampled from the order they stand in
    rows = answered(long_rows(mine.sort("item", "rater"), rubric))
    if rows["rater"].n_unique() < 2:
        raise StudyError("agreement takes two raters or more who rated the same items")
    return _report(rows.select("item", "rater", "criterion", "answer"), rubric)


def _report(table: pl.DataFrame, rubric: Rubric) -> AgreementReport:
    """The report on a table, from hand where the same was asked before: it follows from both."""
    content = BytesIO()
    table.write_ipc(content)
    key = blake2b(content.getbuffer(), key=rubric.hash.encode()[-64:]).digest()
    found = _REPORTS.get(key)
    if found is None:
        how = TableReading(rubric=rubric)
        found = agreement_of_frames([table], how, "study", design=Design())
        _REPORTS[key] = found
        while len(_REPORTS) > KEPT:
            _REPORTS.popitem(last=False)
    return found


def below(report: AgreementReport) -> list[str]:
    """Criteria that do not meet a target.

    Answers that never vary leave a coefficient undefined; where all raters gave the same ones,
    that is no disagreement.
    """
    missed: dict[str, TargetResult] = {
        str(one.criterion): one
        for one in report.targets
        if one.outcome != "met" and not _all_alike(report, one)
    }
    return list(missed)


def _all_alike(report: AgreementReport, result: TargetResult) -> bool:
    if result.estimate is None or result.estimate.value is not None:
        return False
    found = [
        one.value
        for one in report.estimates
        if one.coefficient == "percent" and one.criterion == result.criterion
    ]
    return bool(found) and all(value == 1 for value in found)
