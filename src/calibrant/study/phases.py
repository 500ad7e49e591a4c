"""Phases of a study as its rubric plans them: begun and finished when their conditions hold.

Check-ins, lessons and the finished rubric are what phases ask for beside ratings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from calibrant.core.errors import StudyError, UnknownName
from calibrant.core.phases import Facts, PhaseState, PhaseView, may_finish, may_open, phase_views
from calibrant.core.rubric import Rubric
from calibrant.core.study import COUNTING, Round, RoundKind
from calibrant.ports.store import Reading, Writing
from calibrant.study.agree import below, compared
from calibrant.study.discuss import undiscussed
from calibrant.study.flags import Flag, flags_in, flags_seen
from calibrant.study.session import Session, current_rubric, reason_of, rubric_of, verb
from calibrant.study.sight import raters_of, sight_of
from calibrant.study.table import rated


def states_of(tx: Reading, session: Session) -> dict[str, PhaseState]:
    """What the journal says of each phase."""
    states: dict[str, PhaseState] = {}
    for entry in tx.journal(session.number, kinds=("phase",)):
        states[str(entry.body["phase"])] = entry.body["state"]
    return states


def phase_is_open(tx: Reading, session: Session, phase: str) -> bool:
    """Whether a phase is under way."""
    return states_of(tx, session).get(phase) == "open"


def round_phase(tx: Reading, session: Session, rubric: Rubric, kind: RoundKind) -> str | None:
    """The phase that a new round of a kind belongs to; None where the rubric plans none.

    A main round goes with the phase of the whole set, a calibration round with the phase of the
    sample that is the same for all; others belong to no phase.
    """
    for phase in rubric.phases or ():
        counts = phase.items
        if counts is None:
            continue
        if counts.all if kind == "main" else kind == "calibration" and counts.same_for_all:
            return phase.id
    return None


def facts_of(tx: Reading, session: Session, rubric: Rubric, flags: Sequence[Flag]) -> Facts:
    """What the study has come to, as far as conditions ask for it; ``flags`` are those counted."""
    rounds = tx.rounds(session.number)
    closed = [one for one in rounds if one.state == "closed"]
    ended = [one for one in closed if one.kind != "onboarding"]
    full, by_all, given = _rated(tx, session, rounds)
    kinds = [one.kind for one in tx.journal(session.number, kinds=("lesson", "finalised"))]
    versions = list(tx.journal(session.number, kinds=("rubric",)))
    planned: dict[str, int] = defaultdict(int)
    for round in rounds:
        if round.phase is not None:
            planned[round.phase] += given.get(round.number, 0)
    low, computed = _shown(tx, session, ended)
    return Facts(
        items=tx.count_items(session.number),
        items_rated=full,
        items_rated_by_all=by_all,
        items_planned=dict(planned),
        agreement_computed=bool(computed),
        disagreements_undiscussed=sum(
            undiscussed(tx, session, one) for one in closed if one.kind == "calibration"
        ),
        guidelines_updated=len(versions) > 1 or _kept(tx, session),
        below_target=low,
        cases_open=sum(one.state == "raised" and one.what != "red_flag" for one in flags),
        flags_open=sum(one.state == "raised" and one.what == "red_flag" for one in flags),
        final_agreement_computed=bool(computed & set(COUNTING)),
        lessons=kinds.count("lesson"),
        rubric_finalised="finalised" in kinds,
    )


def _shown(
    tx: Reading, session: Session, ended: Sequence[Round]
) -> tuple[tuple[str, ...], set[str]]:
    """Criteria below target in the last round that shows agreement; the kinds of all that do."""
    low: tuple[str, ...] = ()
    computed: set[str] = set()
    for round in ended:
        rubric = rubric_of(tx, round.rubric)
        try:
            report = compared(rated(tx, session, [round.number], rubric), rubric)
        except StudyError:  # nobody rated what another did
            continue
        low = tuple(sorted(below(report)))
        computed.add(round.kind)
    return low, computed


def _kept(tx: Reading, session: Session) -> bool:
    """Whether the lead has said that the rubric stays as it is after the discussion."""
    return any(
        one.body.get("what") == "guidelines_kept"
        for one in tx.journal(session.number, kinds=("override",))
    )


def _rated(
    tx: Reading, session: Session, rounds: Sequence[Round]
) -> tuple[int, int, Mapping[int, int]]:
    """How many items have all planned ratings of rounds that count, how many everybody's.

    And how many items each round has.
    """
    people = {one.name for one in raters_of(tx.members(session.number)) if one.kind == "HUMAN"}
    kinds = {one.number: one.kind for one in rounds}
    given: dict[int, set[str]] = defaultdict(set)
    wanting: set[str] = set()
    done: dict[str, set[str]] = defaultdict(set)
    counted: set[str] = set()
    for part in tx.assignment_rows(session.number):
        for number, item, rater, state in part:
            given[number].add(item)
            if state == "done" and kinds[number] in COUNTING:
                counted.add(item)
            if state == "done" and rater in people and kinds[number] != "onboarding":
                done[item].add(rater)
            elif state == "open" and kinds[number] in COUNTING:
                wanting.add(item)
    by_all = sum(len(raters) == len(people) for raters in done.values())
    return len(counted - wanting), by_all, {number: len(items) for number, items in given.items()}


def views(tx: Reading, session: Session, rubric: Rubric) -> tuple[PhaseView, ...]:
    """All phases as they stand today, for the actor: flags that they may not see do not count."""
    if not rubric.phases:
        return ()
    start = date.fromisoformat(session.record.start_on)
    today = session.clock().date()
    facts = facts_of(tx, session, rubric, flags_seen(tx, session))
    return phase_views(rubric, start, today, states_of(tx, session), facts)


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def phases(session: Session) -> tuple[PhaseView, ...]:
    """The phases with their dates, conditions and warnings; none where the rubric plans none."""
    return session.store.read(lambda tx: views(tx, session, current_rubric(tx, session)))


@verb("lead", shows="nothing")
def start_phase(session: Session, phase: str, *, override: str | None = None) -> None:
    """Begin a phase once what it asks for is there; ``override`` begins it with a reason."""
    session.alone(lambda tx: _move(tx, session, phase, "open", override))


@verb("lead", shows="nothing")
def finish_phase(session: Session, phase: str, *, override: str | None = None) -> int:
    """End a phase once its conditions hold; ``override`` ends it with a reason.

    The number of this act, by which a report can be kept with it.
    """
    session.alone(lambda tx: _move(tx, session, phase, "done", override))
    ends = session.store.read(lambda tx: list(tx.journal(session.number, kinds=("phase",))))
    return max(one.number for one in ends if one.body["phase"] == phase)


def _move(
    tx: Writing, session: Session, phase: str, state: PhaseState, override: str | None
) -> None:
    rubric = current_rubric(tx, session)
    if not rubric.phases:
        raise StudyError(f"{rubric.name} plans no phases")
    states = states_of(tx, session)
    facts = facts_of(tx, session, rubric, flags_in(tx, session))
    asked = may_open if state == "open" else may_finish
    missing = asked(rubric, phase, states, facts)
    wrong = states.get(phase, "waiting") != ("waiting" if state == "open" else "open")
    if missing and (wrong or override is None):
        raise StudyError(" ".join(missing) + ("" if wrong else " (A lead may override it.)"))
    told: dict[str, Any] = {"phase": phase, "state": state}
    if state == "done":  # how things stood when it ended, for good
        closed = [one.number for one in tx.rounds(session.number) if one.state == "closed"]
        told["snapshot"] = _snapshot(tx, session, closed)
    entries = [session.entry("phase", body=told)]
    if missing:
        why = reason_of(override or "", "an override")
        body = {"what": f"phase {phase} {state}", "missing": list(missing)}
        entries.insert(0, session.entry("override", body=body, words={"reason": why}))
    tx.log(session.number, entries)


@verb("lead", shows="nothing")
def keep_guidelines(session: Session, *, reason: str) -> None:
    """Say that after the discussion the rubric stays as it is."""
    why = reason_of(reason, "keeping the rubric as it is")
    entry = session.entry("override", body={"what": "guidelines_kept"}, words={"reason": why})
    session.alone(lambda tx: tx.log(session.number, [entry]))


@verb("lead", shows="nothing")
def finalise_rubric(session: Session) -> str:
    """Say that the version in force is the final one; its name."""

    def work(tx: Writing) -> str:
        rubric = current_rubric(tx, session)
        body = {"hash": rubric.hash, "version": rubric.version}
        tx.log(session.number, [session.entry("finalised", body=body)])
        return rubric.name

    return session.alone(work)


# -- check-ins and lessons


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIn:
    """A meeting on the way: who came, what was decided, and how agreement stood."""

    number: int
    at: str
    attendees: tuple[str, ...]
    decisions: str
    actions: str
    snapshot: tuple[dict[str, Any], ...]
    """Targets and what they stood at; empty where the reader may not see that round yet."""


@verb("lead", shows="seen")
def check_in(
    session: Session, *, attendees: Sequence[str], decisions: str, actions: str = ""
) -> CheckIn:
    """Record a check-in, with the agreement of all rounds that count as it stands now."""
    said = reason_of(decisions, "a check-in")

    def look(tx: Reading) -> list[dict[str, Any]]:
        known = [one.name for one in tx.members(session.number)]
        for name in attendees:
            if name not in known:
                raise UnknownName("member", name, known)
        if not attendees:
            raise StudyError("say who attended")
        return _snapshot(tx, session, [one.number for one in tx.rounds(session.number)])

    shot = session.store.read(look)  # takes seconds on a large study: nobody waits for it to write
    body = {"attendees": sorted(attendees), "snapshot": shot}
    words = {"decisions": said, "actions": actions}
    entry = session.entry("check_in", body=body, words=words)
    session.alone(lambda tx: tx.log(session.number, [entry]))
    return check_ins(session)[-1]


def _snapshot(tx: Reading, session: Session, among: Sequence[int]) -> list[dict[str, Any]]:
    """Targets on what is there by now, whoever may see it: it is kept, not shown."""
    rubric = current_rubric(tx, session)
    counting = [one.number for one in tx.rounds(session.number) if one.kind in COUNTING]
    rounds = [one for one in counting if one in among]
    try:
        report = compared(rated(tx, session, rounds, rubric), rubric)
    except StudyError:
        return []
    return [{**one.to_dict(), "rounds": rounds} for one in report.targets]


@verb("lead", "viewer", shows="seen")
def check_ins(session: Session) -> list[CheckIn]:
    """All check-ins; how agreement stood is told once the actor may see those rounds."""

    def work(tx: Reading) -> list[CheckIn]:
        sight = sight_of(tx, session)
        return [
            CheckIn(
                number=one.number,
                at=one.at,
                attendees=tuple(sorted(map(sight.mask, one.body["attendees"]))),
                decisions=str((one.words or {}).get("decisions", "")),
                actions=str((one.words or {}).get("actions", "")),
                snapshot=tuple(
                    row for row in one.body["snapshot"] if set(row["rounds"]) <= sight.rounds
                ),
            )
            for one in tx.journal(session.number, kinds=("check_in",))
        ]

    return session.store.read(work)


@verb("lead", "reviewer", "adjudicator", shows="nothing")
def add_lesson(session: Session, text: str) -> None:
    """Write down something that was learned."""
    said = reason_of(text, "a lesson")
    entry = session.entry("lesson", body={"text": said})
    session.among(lambda tx: tx.log(session.number, [entry]))


@verb("lead", "viewer", shows="nothing")
def lessons(session: Session) -> list[str]:
    """What was learned, in the order of writing down."""
    return session.store.read(
        lambda tx: [str(one.body["text"]) for one in tx.journal(session.number, kinds=("lesson",))]
    )
