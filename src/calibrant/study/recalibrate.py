"""Where agreement is low: discuss, clarify, retrain, test again, in this order.

The loop is enforced criterion by criterion: a main round does not open while the last round that
was compared falls short on one, and a test round opens only when the steps before it are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from calibrant.core.errors import StudyError
from calibrant.core.study import Entry, Round
from calibrant.ports.store import Reading, Writing
from calibrant.study.agree import below, compared
from calibrant.study.session import Session, current_rubric, reason_of, rubric_of, verb
from calibrant.study.table import rated

Step: TypeAlias = Literal["discuss", "clarify", "retrain", "test_again"]
COMPARED = ("calibration", "main", "recalibration", "test")


@dataclass(frozen=True, slots=True)
class Loop:
    """A criterion below its target, and how far the loop is."""

    criterion: str
    round: int
    """In which it fell short."""
    done: tuple[str, ...]
    next: str
    """The step to take now."""


def loops(tx: Reading, session: Session, closed: Sequence[Round]) -> list[Loop]:
    """Criteria in a loop: found low in a round, and not shown to be better by a test since.

    A test ends the loop of a criterion when the steps before it were taken and the criterion,
    measured in that test, meets its targets. Falling short in any round begins it anew.
    """
    rubric = current_rubric(tx, session)
    wanted = rubric.agreement.when_low if rubric.agreement is not None else None
    if not wanted:
        return []
    taken = list(tx.journal(session.number, kinds=("step",)))
    found: dict[str, Loop] = {}
    for round in closed:
        if round.kind not in COMPARED:
            continue
        low, met = _measured(tx, session, round)
        for name in low:
            done = _steps(taken, name, round.closed_at or "", wanted)
            found[name] = Loop(name, round.number, done, _next(done, wanted))
        for name in met:
            loop = found.get(name)
            before = _steps(taken, name, _closed(closed, loop), wanted, round.opened_at)
            if loop and round.kind == "test" and _next(before, wanted) == "test_again":
                del found[name]
    return [found[name] for name in rubric.criterion_ids if name in found]


def _closed(rounds: Sequence[Round], loop: Loop | None) -> str:
    return next((one.closed_at or "" for one in rounds if loop and one.number == loop.round), "")


def _measured(tx: Reading, session: Session, round: Round) -> tuple[list[str], list[str]]:
    """Criteria that a round shows to be low, and those that it shows to meet their targets."""
    rubric = rubric_of(tx, round.rubric)
    try:
        report = compared(rated(tx, session, [round.number], rubric), rubric)
    except StudyError:  # fewer than two raters: nothing is shown
        return [], []
    low = below(report)
    shown = {str(one.criterion) for one in report.targets}
    return low, [name for name in rubric.criterion_ids if name in shown and name not in low]


def _steps(
    taken: Sequence[Entry],
    criterion: str,
    since: str,
    wanted: Sequence[str],
    until: str | None = None,
) -> tuple[str, ...]:
    """Steps taken for a criterion in a stretch of time, in the rubric's order."""
    mine = {
        str(one.body["step"])
        for one in taken
        if one.criterion == criterion and one.at >= since and (until is None or one.at <= until)
    }
    return tuple(step for step in wanted if step in mine)


def _next(done: Sequence[str], wanted: Sequence[str]) -> str:
    return next((step for step in wanted if step not in done), "test_again")


def loop_blockers(
    tx: Reading, session: Session, round: Round, closed: Sequence[Round]
) -> list[str]:
    """What the loop wants before this round opens."""
    if round.kind not in ("main", "test"):
        return []
    waiting = loops(tx, session, closed)
    if round.kind == "test":
        waiting = [one for one in waiting if one.next != "test_again"]
    return [
        f"agreement on {one.criterion} is low in round {one.round}: next comes {one.next}"
        for one in waiting
    ]


@verb("lead", shows="nothing")
def take_step(session: Session, criterion: str, step: Step, *, note: str) -> None:
    """Record a step of the loop for a criterion; steps come in the rubric's order."""
    if step not in get_args(Step) or step == "test_again":
        raise StudyError("steps are discuss, clarify and retrain; testing again is a test round")
    said = reason_of(note, "a step")

    def work(tx: Writing) -> None:
        name = current_rubric(tx, session).criterion(criterion).id
        closed = [one for one in tx.rounds(session.number) if one.state == "closed"]
        found = next((one for one in loops(tx, session, closed) if one.criterion == name), None)
        if found is None:
            raise StudyError(
                f"there is no loop to go through for {name}: agreement is not low, or the rubric "
                "asks for none"
            )
        if found.next != step:
            raise StudyError(f"for {name} the next step is {found.next}, not {step}")
        entry = session.entry(
            "step",
            round=found.round,
            criterion=name,
            body={"step": step},
            words={"note": said},
        )
        tx.log(session.number, [entry])

    session.alone(work)
