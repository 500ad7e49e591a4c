"""Rounds: planned, opened, closed. What a round needs before it opens is told in sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from calibrant.core.errors import StudyError
from calibrant.core.ids import content_hash
from calibrant.core.plan import Plan, overlap_plan, planned
from calibrant.core.rubric import Rubric
from calibrant.core.study import (
    COUNTING,
    ROUND_KINDS,
    Assignment,
    Entry,
    Member,
    Round,
    RoundKind,
)
from calibrant.ports.store import Reading, Writing
from calibrant.study.discuss import undiscussed
from calibrant.study.intake import redacted
from calibrant.study.members import assigned
from calibrant.study.phases import phase_is_open, round_phase
from calibrant.study.recalibrate import loop_blockers
from calibrant.study.session import (
    Session,
    current_rubric,
    member_named,
    reason_of,
    round_numbered,
    rubric_of,
    verb,
)
from calibrant.study.sight import raters_of

TOGETHER: tuple[RoundKind, ...] = ("onboarding", "calibration", "recalibration", "test")
"""Rounds in which all raters get the same items."""
USUAL_SAMPLE = 10
"""Items that raters share where neither the lead nor the rubric says how many."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A round with what it asks of each rater."""

    round: Round
    items: int
    workload: dict[str, int]


@verb("lead", shows="nothing")
def plan_round(
    session: Session,
    kind: RoundKind = "main",
    *,
    plan: Plan | None = None,
    items: Collection[str] | None = None,
    sample: int | None = None,
    raters: Collection[str] | None = None,
    dry_run: bool = False,
) -> Planned:
    """Make a round with its assignments, pinned to the rubric as it stands; it opens later.

    People share the items out by ``plan``; judges and checks rate them all. A main round takes
    what no main round has, a sample is drawn by the study's seed. With ``dry_run`` nothing is
    kept: see the workload first.
    """
    if kind not in ROUND_KINDS:
        raise StudyError(f"a round is one of {', '.join(ROUND_KINDS)}")

    def look(tx: Reading) -> tuple[Planned, list[Assignment]]:
        rubric = current_rubric(tx, session)
        how = _plan(rubric, kind, plan)
        chosen = _chosen(tx, session, kind, items, _sample(rubric, kind, sample))
        panel = _panel(tx, session, raters)
        number = len(tx.rounds(session.number)) + 1
        made = Round(
            number=number,
            kind=kind,
            state="planned",
            rubric=rubric.hash,
            phase=round_phase(tx, session, rubric, kind),
            plan=how.to_dict(),
        )
        assignments = _assignments(session, made, how, chosen, panel)
        loads = Counter(one.key.rater for one in assignments)
        return Planned(made, len(chosen), dict(sorted(loads.items()))), assignments

    def work(tx: Writing) -> Planned:
        found, assignments = look(tx)
        tx.add_round(session.number, found.round)
        tx.add_assignments(session.number, assignments)
        tx.log(session.number, [_told(session, found.round, "planned", items=found.items)])
        return found

    # who only looks holds up nobody who saves
    return session.store.read(look)[0] if dry_run else session.alone(work)


def _told(session: Session, round: Round, state: str, **more: object) -> Entry:
    body = {"state": state, "kind": round.kind, "rubric": round.rubric, **more}
    return session.entry("round", round=round.number, body=body)


def _plan(rubric: Rubric, kind: RoundKind, plan: Plan | None) -> Plan:
    everyone = Plan(way="everyone")
    if kind in TOGETHER:
        if plan is not None and plan.way != "everyone":
            raise StudyError(f"in a {kind} round all raters get the same items")
        return plan or everyone
    return plan or (overlap_plan(rubric) if rubric.agreement is not None else everyone)


def _sample(rubric: Rubric, kind: RoundKind, sample: int | None) -> int | None:
    if sample is not None and sample < 1:
        raise StudyError("a sample has one item or more")
    if kind == "main" or sample is not None:
        return sample
    stated = rubric.calibration.items if rubric.calibration is not None else None
    if kind == "calibration" and stated is None and rubric.phases:
        counts = (
            one.items.minimum for one in rubric.phases if one.items and one.items.same_for_all
        )
        stated = next((one for one in counts if one), None)
    return stated or USUAL_SAMPLE


def _chosen(
    tx: Reading,
    session: Session,
    kind: RoundKind,
    items: Collection[str] | None,
    sample: int | None,
) -> list[str]:
    gone = redacted(tx, session)
    known = [id for id, _ in tx.item_keys(session.number) if id not in gone]
    if items is not None:
        strange = sorted(set(items) - set(known))
        if strange:
            told = "has been redacted" if strange[0] in gone else "is not in this study"
            raise StudyError(f"item {strange[0]!r} {told}")
        return sorted(set(items))
    rounds = tx.rounds(session.number)
    taken, used = _given_out(tx, session)
    pool = known
    if kind == "main":
        pool = [id for id in known if id not in taken]
    elif kind == "recalibration":
        pool = [id for id in known if id in taken]
    if sample is not None:
        salt = [session.record.seed, kind, len(rounds)]
        # of practice items, those that nobody has seen come first
        pool = sorted(pool, key=lambda id: (id in used, content_hash([*salt, id])))[:sample]
    if not pool or len(pool) < (sample or 1):
        told = f"a {kind} round wants {sample or 'new'} items, and there are {len(pool)}"
        raise StudyError(told + ("" if kind == "recalibration" else ": add items"))
    return pool


def _given_out(tx: Reading, session: Session) -> tuple[set[str], set[str]]:
    """Items that are rated or to be rated in rounds that count, and those anybody was ever given.

    What was withdrawn before it was rated is free again.
    """
    counting = {one.number for one in tx.rounds(session.number) if one.kind in COUNTING}
    taken: set[str] = set()
    used: set[str] = set()
    for part in tx.assignment_rows(session.number):
        used.update(item for _, item, _, _ in part)
        taken.update(
            item for number, item, _, state in part if number in counting and state != "withdrawn"
        )
    return taken, used


def _panel(tx: Reading, session: Session, raters: Collection[str] | None) -> list[Member]:
    active = raters_of(tx.members(session.number))
    strange = sorted(set(raters or ()) - {one.name for one in active})
    if strange:
        raise StudyError(f"{strange[0]!r} does not rate in this study")
    panel = [one for one in active if raters is None or one.name in raters]
    if not panel:
        raise StudyError("nobody rates in this study yet: add raters first")
    return panel


def _assignments(
    session: Session,
    round: Round,
    plan: Plan,
    items: Sequence[str],
    panel: Iterable[Member],
    *,
    first: dict[str, int] | None = None,
    loads: dict[str, int] | None = None,
    before: int = 0,
) -> list[Assignment]:
    """People by the plan, the others on every item."""
    seed = session.record.seed * 1_000_003 + round.number
    people = [one.name for one in panel if one.kind == "HUMAN"]
    others = [one.name for one in panel if one.kind != "HUMAN"]
    try:
        placed = (
            planned(
                items,
                people,
                plan,
                seed=seed,
                loads=loads,
                first_position=first,
                before=before,
            )
            if people
            else []
        )
    except ValueError as error:
        raise StudyError(str(error)) from error
    if others:
        placed += planned(items, others, Plan(way="everyone"), seed=seed, first_position=first)
    return [assigned(round.number, one) for one in placed]


@verb("lead", shows="nothing")
def extend_round(session: Session, number: int) -> int:
    """Give out items that came in since, by the round's own plan; orders made before stay put."""

    def work(tx: Writing) -> int:
        round = round_numbered(tx, session, number)
        if round.state == "closed" or round.kind not in COUNTING:
            raise StudyError("only a main round that is not closed takes in more items")
        new = _chosen(tx, session, round.kind, None, None)
        loads: dict[str, int] = defaultdict(int)
        last: dict[str, int] = defaultdict(int)
        seen: set[str] = set()
        for one in tx.assignments(session.number, round=number):
            loads[one.key.rater] += 1
            last[one.key.rater] = max(last[one.key.rater], one.position)
            seen.add(one.key.item)
        panel = [one for one in raters_of(tx.members(session.number)) if one.name in last]
        assignments = _assignments(
            session,
            round,
            Plan.from_dict(round.plan),
            new,
            panel,
            first={name: at + 1 for name, at in last.items()},
            loads=dict(loads),
            before=len(seen),
        )
        tx.add_assignments(session.number, assignments)
        tx.log(session.number, [_told(session, round, "extended", items=len(new))])
        return len(new)

    return session.alone(work)


@verb("lead", shows="nothing")
def blockers(session: Session, number: int) -> list[str]:
    """What has to happen before a round may open; empty when nothing has."""
    return session.store.read(
        lambda tx: missing_before(tx, session, round_numbered(tx, session, number))
    )


def missing_before(tx: Reading, session: Session, round: Round) -> list[str]:
    """What has to happen before a round may open."""
    rubric = rubric_of(tx, round.rubric)
    earlier = [one for one in tx.rounds(session.number) if one.state == "closed"]
    missing: list[str] = []
    if rubric.hash != current_rubric(tx, session).hash:
        missing.append("a newer version of the rubric is in force: drop the round, plan it again")
    asked = rubric.calibration
    together = any(one.kind == "onboarding" for one in [*earlier, round])
    if asked is not None and asked.onboarding and not together:
        missing.append("raters look at sample ratings together first: an onboarding round")
    if round.kind == "main" and asked is not None and asked.items:
        missing += _uncalibrated(tx, session, rubric, earlier, asked.items)
    if round.phase is not None and not phase_is_open(tx, session, round.phase):
        missing.append(f"phase {round.phase} is not open")
    return missing + loop_blockers(tx, session, round, earlier)


def _uncalibrated(
    tx: Reading, session: Session, rubric: Rubric, earlier: list[Round], wanted: int
) -> list[str]:
    """What is missing of the calibration: everybody on the same items, and all talked over."""
    rounds = [one for one in earlier if one.kind == "calibration"]
    if not rounds:
        return [f"all raters rate the same {wanted} items first: a calibration round"]
    done: dict[str, set[str]] = defaultdict(set)
    for round in rounds:
        for one in tx.assignments(session.number, round=round.number, state="done"):
            done[one.key.rater].add(one.key.item)
    people = [one.name for one in raters_of(tx.members(session.number)) if one.kind == "HUMAN"]
    missing = [
        f"{name} has calibrated on {len(done[name])} of {wanted} items"
        for name in people
        if len(done[name]) < wanted
    ]
    if rubric.calibration is not None and rubric.calibration.discuss:
        for round in rounds:
            waiting = undiscussed(tx, session, round)
            if waiting:
                missing.append(f"{waiting} disagreements of round {round.number} are not discussed")
    return missing


@verb("lead", shows="nothing")
def open_round(session: Session, number: int, *, override: str | None = None) -> Round:
    """Let raters begin. What is missing first is told; ``override`` opens it with a reason."""

    def work(tx: Writing) -> Round:
        round = round_numbered(tx, session, number)
        if round.state != "planned":
            raise StudyError(f"round {number} is {round.state} already")
        missing = missing_before(tx, session, round)
        if missing and override is None:
            raise StudyError(
                f"round {number} cannot open yet: {'; '.join(missing)} (a lead may override it, "
                "with a reason)"
            )
        now = session.now()
        tx.set_round_state(session.number, number, "open", now)
        entries = [_told(session, round, "open")]
        if missing:
            why = reason_of(override or "", "an override")
            body = {"what": "open", "missing": missing}
            told = session.entry("override", round=number, body=body, words={"reason": why})
            entries.insert(0, told)
        tx.log(session.number, entries)
        return replace(round, state="open", opened_at=now)

    return session.alone(work)


@verb("lead", shows="nothing")
def close_round(session: Session, number: int, *, reason: str | None = None) -> Round:
    """End a round: from now on answers may be compared, and none are taken any more.

    Where assignments are open a reason is wanted; they are withdrawn.
    """

    def work(tx: Writing) -> Round:
        round = round_numbered(tx, session, number)
        if round.state != "open":
            raise StudyError(f"round {number} is {round.state}")
        now = session.now()
        # first of all no more ratings: what is being handed in now is waited for
        tx.set_round_state(session.number, number, "closed", now)
        undone = [one.key for one in tx.assignments(session.number, round=number, state="open")]
        if undone and not (reason or "").strip():
            raise StudyError(
                f"{len(undone):,} assignments of round {number} are not done; close it with a "
                "reason, and they are withdrawn"
            )
        tx.set_assignment_state(session.number, undone, "withdrawn")
        told = _told(session, round, "closed", withdrawn=len(undone))
        tx.log(session.number, [replace(told, words={"reason": reason} if reason else None)])
        return replace(round, state="closed", closed_at=now)

    return session.alone(work)


@verb("lead", shows="nothing")
def drop_round(session: Session, number: int, *, reason: str) -> Round:
    """Give a planned round up: its assignments are withdrawn, and its items are free again."""
    why = reason_of(reason, "dropping a round")

    def work(tx: Writing) -> Round:
        round = round_numbered(tx, session, number)
        if round.state != "planned":
            raise StudyError(f"round {number} is {round.state}: only a planned one is dropped")
        now = session.now()
        tx.set_round_state(session.number, number, "closed", now)
        keys = [one.key for one in tx.assignments(session.number, round=number, state="open")]
        tx.set_assignment_state(session.number, keys, "withdrawn")
        told = _told(session, round, "dropped", withdrawn=len(keys))
        tx.log(session.number, [replace(told, words={"reason": why})])
        return replace(round, state="closed", closed_at=now)

    return session.alone(work)


@verb("lead", "reviewer", "adjudicator", "viewer", shows="nothing")
def rounds(session: Session) -> list[Round]:
    """All rounds, in order. Which file one was read from is told to leads only."""

    def work(tx: Reading) -> list[Round]:
        found = tx.rounds(session.number)
        if "lead" in member_named(tx, session, session.actor).roles:
            return found
        return [replace(one, plan=_without_source(one.plan)) for one in found]

    return session.store.read(work)


def _without_source(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plan.items() if name != "source"}
