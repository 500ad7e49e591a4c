"""Judges calibrate like people: on the same items, and they do not count before they agree.

A check never counts in finals of its own accord either: it measures, and people decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from calibrant.compare.agreement import AgreementReport, agreement_of_frames
from calibrant.compare.finals import finals
from calibrant.compare.rating_columns import Reading as TableReading
from calibrant.compare.targets import TargetResult
from calibrant.core.errors import StudyError
from calibrant.core.rating import RaterKind
from calibrant.core.rubric import Rubric
from calibrant.ports.store import Reading, Writing
from calibrant.stats.estimate import Design
from calibrant.study.agree import PEOPLE, below
from calibrant.study.discuss import low_for_rule
from calibrant.study.session import (
    Session,
    current_rubric,
    member_named,
    reason_of,
    rubric_of,
    verb,
)
from calibrant.study.sight import sight_of
from calibrant.study.table import (
    answered,
    carried,
    first_answers,
    long_rows,
    people,
    rated,
    seen,
)


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a judge counts from now on, and what that rests on."""

    rater: str
    admitted: bool
    low: tuple[str, ...]
    """Criteria on which it falls short of people's final answers."""
    overridden: bool
    why: str


def admitted(tx: Reading, session: Session) -> frozenset[str]:
    """Judges and checks that count in finals.

    An admission holds for the version it was given under, and for later ones in which everything
    a rater reads of the criteria is unchanged.
    """
    state: dict[str, bool] = {}
    now = current_rubric(tx, session)
    for entry in tx.journal(session.number, kinds=("admitted",)):
        counts = bool(entry.body["admitted"])
        if counts:
            kept = carried(rubric_of(tx, str(entry.body["rubric"])), now)
            counts = set(kept) == set(now.criterion_ids)
        state[str(entry.body["rater"])] = counts
    return frozenset(name for name, counts in state.items() if counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStanding:
    """A judge or a check: whether it counts, and what letting it count would rest on."""

    rater: str
    kind: RaterKind
    counts: bool
    items: int
    """Calibration items that it has rated."""
    targets: tuple[TargetResult, ...]
    """Its agreement with what people settled on, held against the rubric's targets."""
    low: tuple[str, ...]
    why: str
    """Why its agreement cannot be told; empty where it can."""


@verb("lead", shows="seen")
def judges(session: Session) -> list[JudgeStanding]:
    """Judges and checks that take part, with their agreement with people as far as it is seen."""

    def work(tx: Reading) -> list[JudgeStanding]:
        rubric, trusted = current_rubric(tx, session), admitted(tx, session)
        frame = seen(_calibrated(tx, session, rubric), sight_of(tx, session))
        return [
            _standing(frame, rubric, one.name, one.kind, one.name in trusted)
            for one in tx.members(session.number)
            if one.kind != "HUMAN" and one.left_at is None
        ]

    return session.store.read(work)


def _standing(
    frame: pl.DataFrame, rubric: Rubric, rater: str, kind: RaterKind, counts: bool
) -> JudgeStanding:
    report: AgreementReport | None = None
    why = _untold(frame, rubric, rater)
    if not why:
        try:
            report = beside_people(frame, rubric, rater)
        except StudyError as error:
            why = str(error)
    return JudgeStanding(
        rater=rater,
        kind=kind,
        counts=counts,
        items=frame.filter(pl.col("rater") == rater)["item"].n_unique(),
        targets=() if report is None else tuple(report.targets),
        low=() if report is None else tuple(below(report)),
        why=why,
    )


@verb("lead", shows="seen")
def admit(session: Session, rater: str, *, override: str | None = None) -> Admission:
    """Let a judge count: it meets the rubric's targets on the calibration items, or a reason.

    It is held against what people settled on, never against a consensus it was part of.
    """

    def work(tx: Writing) -> Admission:
        member = member_named(tx, session, rater)
        if member.kind == "HUMAN":
            raise StudyError(f"{rater!r} is a person: people count without being admitted")
        rubric = current_rubric(tx, session)
        low, why = _shortfall(tx, session, rubric, rater)
        fails = bool(low) or bool(why)
        if fails and override is None:
            told = why or f"agreement with people is below target on {', '.join(low)}"
            raise StudyError(f"{rater!r} cannot count yet: {told} (a lead may override it)")
        reason = reason_of(override or "", "an override") if fails else "meets every target"
        body = {
            "rater": rater,
            "admitted": True,
            "low": list(low),
            "overridden": fails,
            "rubric": rubric.hash,
        }
        tx.log(session.number, [session.entry("admitted", body=body, words={"reason": reason})])
        return Admission(rater, True, tuple(low), fails, reason)

    return session.alone(work)


@verb("lead", shows="nothing")
def dismiss(session: Session, rater: str, *, reason: str) -> None:
    """A judge no longer counts; what it said stays readable."""
    why = reason_of(reason, "dismissing a judge")

    def work(tx: Writing) -> None:
        if rater not in admitted(tx, session):
            raise StudyError(f"{rater!r} does not count as it is")
        body = {"rater": rater, "admitted": False}
        tx.log(session.number, [session.entry("admitted", body=body, words={"reason": why})])

    session.alone(work)


def _calibrated(tx: Reading, session: Session, rubric: Rubric) -> pl.DataFrame:
    """Ratings of the rounds on which a judge is held against people."""
    rounds = [
        one.number
        for one in tx.rounds(session.number)
        if one.state == "closed" and one.kind in ("calibration", "recalibration", "test")
    ]
    return rated(tx, session, rounds, rubric)


def _untold(frame: pl.DataFrame, rubric: Rubric, rater: str) -> str:
    """Why agreement of a judge with people cannot be told; empty where it may."""
    if rubric.agreement is None:
        return f"{rubric.name} states no target of agreement"
    if frame.filter(pl.col("rater") == rater).is_empty():
        return "it has not rated the items of a closed calibration round"
    few = _unanswered(frame, rubric, rater)
    return f"it has answered too few calibration items on {', '.join(few)}" if few else ""


def _shortfall(tx: Reading, session: Session, rubric: Rubric, rater: str) -> tuple[list[str], str]:
    """Criteria on which a judge falls short, or why that cannot be told."""
    frame = _calibrated(tx, session, rubric)
    why = _untold(frame, rubric, rater)
    if why:
        return [], why
    try:
        return below(beside_people(frame, rubric, rater)), ""
    except StudyError as error:
        return [], str(error)


def _unanswered(frame: pl.DataFrame, rubric: Rubric, rater: str) -> list[str]:
    """Criteria on which a judge has answered fewer items than the calibration takes."""
    items = people(frame)["item"].n_unique()
    stated = rubric.calibration.items if rubric.calibration is not None else None
    wanted = min(stated or items, items)
    given = answered(long_rows(first_answers(frame.filter(pl.col("rater") == rater)), rubric))
    counts = dict(given.group_by("criterion").len().rows())
    return [name for name in rubric.criterion_ids if counts.get(name, 0) < max(wanted, 1)]


def beside_people(frame: pl.DataFrame, rubric: Rubric, rater: str) -> AgreementReport:
    """A judge held against what people's answers come to by the rubric's rule."""
    mine = people(frame)
    settled = finals(rubric, mine, low=low_for_rule(mine, rubric)).drop_nulls("answer")
    theirs = first_answers(frame).filter(pl.col("rater") == rater)
    judged = answered(long_rows(theirs, rubric))
    table = pl.concat(
        [
            settled.select(
                "item", pl.lit(PEOPLE).alias("rater"), pl.col("criterion").cast(pl.String), "answer"
            ),
            judged.select("item", pl.lit(rater).alias("rater"), "criterion", "answer"),
        ]
    )
    if settled.is_empty() or judged.is_empty():
        raise StudyError("there are no items on which people and the judge have both answered")
    return agreement_of_frames([table], TableReading(rubric=rubric), "study", design=Design())
