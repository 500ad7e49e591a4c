"""Where agreement is low: discuss, clarify, retrain, test again, in this order.

The loop is enforced criterion by criterion: a main round does not open while the last round that
was compared falls short on one, and a test round opens only when the steps before it are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from calibrant.core.errors import StudyError
from calibrant.core.study import Round
from calibrant.ports.store import Reading, Writing
from calibrant.study.discuss import lows
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
    """Criteria that the last compared round found low, where the rubric asks for the loop."""
    last = next((one for one in reversed(closed) if one.kind in COMPARED), None)
    if last is None:
        return []
    rubric = rubric_of(tx, last.rubric)
    wanted = rubric.agreement.when_low if rubric.agreement is not None else None
    if not wanted:
        return []
    low = lows(rated(tx, session, [last.number], rubric), rubric)
    taken: dict[str, list[str]] = {}
    for entry in tx.journal(session.number, kinds=("step",)):
        if entry.at >= (last.closed_at or ""):
            taken.setdefault(str(entry.criterion), []).append(str(entry.body["step"]))
    out = []
    for name in rubric.criterion_ids:
        if name in low:
            done = tuple(step for step in wanted if step in taken.get(name, ()))
            left = [step for step in wanted if step not in done]
            out.append(Loop(name, last.number, done, left[0] if left else "test_again"))
    return out


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
