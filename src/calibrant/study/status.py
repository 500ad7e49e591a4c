"""How a study stands, on one screen: for whoever asks, no more than they may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from calibrant.compare.agreement import AgreementReport
from calibrant.core.errors import StudyError
from calibrant.core.phases import PhaseView
from calibrant.core.study import COUNTING, Member, Round, time_of
from calibrant.ports.store import Reading
from calibrant.study.agree import compared
from calibrant.study.discuss import undiscussed
from calibrant.study.flags import flags_seen, open_rounds
from calibrant.study.phases import views
from calibrant.study.recalibrate import COMPARED, Loop, loops
from calibrant.study.rounds import missing_before
from calibrant.study.score import finals_in
from calibrant.study.session import Session, current_rubric, member_named, rubric_of, verb
from calibrant.study.sight import Sight, masks, raters_of, sight_of
from calibrant.study.table import rated, seen

CHECK_IN_DAYS = 7


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """How far a round is; by rater where the actor may know."""

    number: int
    kind: str
    state: str
    done: int
    total: int
    raters: dict[str, tuple[int, int]]
    """Done and all, by rater."""


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A target on a criterion, and what the last round shows."""

    criterion: str
    target: str
    value: float | None
    interval: tuple[float, float] | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A study at a glance."""

    study: str
    title: str
    rubric: str
    week: int
    """From 1 on the day the study begins; below 1 before."""
    items: int
    phases: tuple[PhaseView, ...]
    rounds: tuple[RoundProgress, ...]
    agreement_round: int | None
    agreement: tuple[TargetRow, ...]
    loops: tuple[Loop, ...]
    disagreements: int
    """Waiting to be settled."""
    flags: dict[str, int]
    """Open ones, by what they are."""
    questions: int
    """Not answered yet."""
    next: tuple[str, ...]
    """What to do now, the most pressing first."""


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def status(session: Session) -> Status:
    """How the study stands now."""
    return session.store.read(lambda tx: _status(tx, session))


@verb("lead", "reviewer", "adjudicator", "viewer", shows="nothing")
def progress(session: Session) -> tuple[RoundProgress, ...]:
    """How far each round is; raters are told of their own part."""

    def work(tx: Reading) -> tuple[RoundProgress, ...]:
        me = member_named(tx, session, session.actor)
        return tuple(_progress(tx, session, tx.rounds(session.number), me))

    return session.store.read(work)


def _status(tx: Reading, session: Session) -> Status:
    rubric = current_rubric(tx, session)
    me = member_named(tx, session, session.actor)
    sight = sight_of(tx, session)
    rounds = tx.rounds(session.number)
    closed = [one for one in rounds if one.state == "closed" and one.number in sight.rounds]
    compared_round, report = _agreement(tx, session, sight, closed)
    today = session.clock().date()
    started = date.fromisoformat(session.record.start_on)
    found = Status(
        study=session.name,
        title=session.record.title,
        rubric=rubric.name,
        week=(today - started).days // 7 + 1,
        items=tx.count_items(session.number),
        phases=views(tx, session, rubric),
        rounds=tuple(_progress(tx, session, rounds, me)),
        agreement_round=compared_round,
        agreement=_targets(report),
        loops=tuple(loops(tx, session, closed)),
        disagreements=_waiting(tx, session, sight, closed),
        flags=dict(
            Counter(one.what for one in flags_seen(tx, session, sight) if one.state == "raised")
        ),
        questions=_unanswered(tx, session) if "lead" in me.roles else 0,
        next=(),
    )
    advice = _lead_next if "lead" in me.roles else _rater_next
    return replace(found, next=tuple(advice(tx, session, found)))


def _progress(
    tx: Reading, session: Session, rounds: list[Round], me: Member
) -> Iterator[RoundProgress]:
    counts: dict[int, dict[str, Counter[str]]] = {}
    leads = "lead" in me.roles
    mask = masks(tx, session)
    for one in tx.progress(session.number):
        if "reviewer" in me.roles and not leads and one.rater != me.name:
            continue  # how fast others are is theirs
        name = one.rater if leads else mask(one.rater)
        counts.setdefault(one.round, {}).setdefault(name, Counter())[one.state] += one.count
    for round in rounds:
        by = {
            rater: (found["done"], found["done"] + found["open"])
            for rater, found in sorted(counts.get(round.number, {}).items())
        }
        done, total = (sum(one[at] for one in by.values()) for at in (0, 1))
        yield RoundProgress(round.number, round.kind, round.state, done, total, by)


def _agreement(
    tx: Reading, session: Session, sight: Sight, closed: list[Round]
) -> tuple[int | None, AgreementReport | None]:
    """Of the last closed round in which two people or more rated the same items."""
    for round in reversed(closed):
        if round.kind not in COMPARED:
            continue
        rubric = rubric_of(tx, round.rubric)
        if rubric.agreement is None:
            return None, None
        frame = seen(rated(tx, session, [round.number], rubric), sight)
        try:
            return round.number, compared(frame, rubric)
        except StudyError:
            continue
    return None, None


def _targets(report: AgreementReport | None) -> tuple[TargetRow, ...]:
    return tuple(
        TargetRow(
            str(one.criterion),
            str(one.target),
            None if one.estimate is None else one.estimate.value,
            None if one.estimate is None else one.estimate.interval,
            one.outcome,
        )
        for one in (report.targets if report is not None else ())
    )


def _waiting(tx: Reading, session: Session, sight: Sight, closed: list[Round]) -> int:
    if not any(one.kind in COUNTING for one in closed):
        return 0
    found = finals_in(tx, session, sight, current_rubric(tx, session))
    return found.filter(pl.col("needs_resolution")).height


def _unanswered(tx: Reading, session: Session) -> int:
    asked = {one.number for one in tx.journal(session.number, kinds=("asked",))}
    replied = {int(one.body["question"]) for one in tx.journal(session.number, kinds=("answered",))}
    return len(asked - replied)


def _lead_next(tx: Reading, session: Session, found: Status) -> Iterator[str]:
    panel = raters_of(tx.members(session.number))
    if not found.items:
        yield "add items"
    if not panel:
        yield "add raters"
    if found.questions:
        yield f"answer {_many(found.questions, 'question')}"
    yield from _flags_next(found.flags.get("red_flag", 0), _to_decide(tx, session))
    for round in tx.rounds(session.number):
        yield from _round_next(tx, session, round, found)
    for loop in found.loops:
        yield f"agreement on {loop.criterion} is low (round {loop.round}): {loop.next} comes next"
    if found.disagreements:
        yield f"adjudicate {_many(found.disagreements, 'disagreement')}"
    if found.items and panel and all(one.state == "closed" for one in found.rounds):
        yield "plan the next round" if found.rounds else "plan the first round"
    for phase in found.phases:
        yield from phase.warnings
    yield from _check_in_due(tx, session)


def _flags_next(raised: int, now: int) -> Iterator[str]:
    """Red flags to decide: the number is a part of all that are open, and says so."""
    if now and now == raised:
        yield f"decide {_many(now, 'red flag')}: nothing passes that has one"
    elif now:
        later = "the other is" if raised - now == 1 else "the others are"
        yield (
            f"decide {now:,} of {_many(raised, 'open red flag')}: nothing passes that has one "
            f"({later} of a round that is still open)"
        )


def _to_decide(tx: Reading, session: Session) -> int:
    """Red flags that wait, and whose round does not."""
    opened = open_rounds(tx, session)
    return sum(
        one.what == "red_flag" and one.state == "raised" and one.round not in opened
        for one in flags_seen(tx, session)
    )


def _check_in_due(tx: Reading, session: Session) -> Iterator[str]:
    """Where the rubric wants check-ins, one a week."""
    rubric = current_rubric(tx, session)
    wanted = {one.id for one in rubric.phases or () if one.check_ins}
    opened = [
        one.opened_at
        for one in tx.rounds(session.number)
        if one.state == "open" and one.phase in wanted and one.opened_at is not None
    ]
    if opened:
        held = [one.at for one in tx.journal(session.number, kinds=("check_in",))]
        days = (session.clock() - time_of(max([*held, min(opened)]))).days
        if days >= CHECK_IN_DAYS:
            yield f"hold a check-in: {days} days without one"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _round_next(tx: Reading, session: Session, round: Round, found: Status) -> Iterator[str]:
    if round.state == "planned":
        missing = missing_before(tx, session, round)
        told = f"before round {round.number} opens: {'; '.join(missing)}"
        yield told if missing else f"open round {round.number}"
    elif round.state == "open":
        here = next(one for one in found.rounds if one.number == round.number)
        left = here.total - here.done
        told = f"round {round.number}: {left:,} of {here.total:,} ratings to come"
        yield told if left else f"close round {round.number}: every rating is in"
    elif round.kind == "calibration":
        waiting = undiscussed(tx, session, round)
        if waiting:
            yield f"discuss {_many(waiting, 'disagreement')} of round {round.number}"


def _rater_next(tx: Reading, session: Session, found: Status) -> Iterator[str]:
    for round in found.rounds:
        left = round.total - round.done
        if round.state == "open" and left:
            yield f"rate {_many(left, 'item')} of round {round.number}"
    if not any(round.state == "open" for round in found.rounds):
        yield "nothing to rate: no round is open"
