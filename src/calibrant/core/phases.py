"""Phases of a study: which are over, which may begin, and what is missing.

The rubric lists phases with weeks, numbers of items and conditions. Weeks may overlap, states do
not: a phase opens once all before it are done and its entry conditions hold, and is finished once
its exit conditions do. Whoever leads a study may move on all the same and say why; that is for
the study to record. Nothing here reads a clock: ``today`` is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal, TypeAlias

from calibrant.core.errors import UnknownName
from calibrant.core.process import Condition, Phase
from calibrant.core.rubric import Rubric

PhaseState: TypeAlias = Literal["waiting", "open", "done"]
States: TypeAlias = Mapping[str, PhaseState]
"""By phase, as the journal has it; a phase it does not name is waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a study has come to, as far as conditions ask for it."""

    items: int = 0
    """In the study."""
    items_rated: int = 0
    """With every rating that was planned for them."""
    items_rated_by_all: int = 0
    """By every rater who takes part."""
    items_planned: Mapping[str, int] = field(default_factory=dict)
    """How many items the rounds of each phase have, by phase."""
    agreement_computed: bool = False
    """Since the phase that asks for it was opened."""
    final_agreement_computed: bool = False
    """On all ratings, after the main phase."""
    below_target: tuple[str, ...] = ()
    """Criteria whose agreement misses its target."""
    disagreements_undiscussed: int = 0
    guidelines_updated: bool = False
    cases_open: int = 0
    """Cases that raters set aside for review, not yet looked at."""
    flags_open: int = 0
    """Red flags neither confirmed nor rejected."""
    lessons: int = 0
    rubric_finalised: bool = False


@dataclass(frozen=True, slots=True)
class ConditionView:
    """A condition of a phase: whether it holds, and how things stand in one sentence."""

    condition: Condition
    met: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseView:
    """A phase as it stands today."""

    id: str
    title: str
    state: PhaseState
    first_day: date
    last_day: date
    entry: tuple[ConditionView, ...]
    exit: tuple[ConditionView, ...]
    warnings: tuple[str, ...]


def phase_views(
    rubric: Rubric, start_on: date, today: date, states: States, facts: Facts
) -> tuple[PhaseView, ...]:
    """All phases of a rubric in their order; week 1 begins on ``start_on``."""
    return tuple(
        PhaseView(
            id=phase.id,
            title=phase.title,
            state=states.get(phase.id, "waiting"),
            first_day=_day(start_on, phase.weeks.first - 1, 0),
            last_day=_day(start_on, phase.weeks.last, -1),
            entry=_conditions(rubric, phase, phase.entry, states, facts),
            exit=_conditions(rubric, phase, phase.exit, states, facts),
            warnings=tuple(_warnings(phase, start_on, today, states, facts)),
        )
        for phase in rubric.phases or ()
    )


def _day(start_on: date, weeks: int, days: int) -> date:
    try:
        return start_on + timedelta(weeks=weeks, days=days)
    except OverflowError:  # a plan for longer than the calendar goes
        return date.max


# -- moves


def may_open(rubric: Rubric, phase: str, states: States, facts: Facts) -> tuple[str, ...]:
    """What keeps a phase from being opened, in sentences; nothing where it may be."""
    found = _phase(rubric, phase)
    state = states.get(found.id, "waiting")
    if state != "waiting":
        return (f"{found.title} is {'open already' if state == 'open' else 'done'}.",)
    undone = [one for one in _before(rubric, found) if states.get(one.id) != "done"]
    later = [one for one in _after(rubric, found) if states.get(one.id, "waiting") != "waiting"]
    return (
        *(f"{one.title} is not done." for one in undone),
        *(f"{one.title}, which comes later, has begun." for one in later),
        *(
            one.text
            for one in _conditions(rubric, found, found.entry, states, facts)
            if not one.met and one.condition != "previous_phase_done"  # told above
        ),
    )


def may_finish(rubric: Rubric, phase: str, states: States, facts: Facts) -> tuple[str, ...]:
    """What keeps a phase from being finished, in sentences; nothing where it may be."""
    found = _phase(rubric, phase)
    state = states.get(found.id, "waiting")
    if state != "open":
        return (f"{found.title} is {'not open' if state == 'waiting' else 'done already'}.",)
    views = _conditions(rubric, found, found.exit, states, facts)
    return tuple(one.text for one in views if not one.met)


def _phase(rubric: Rubric, name: str) -> Phase:
    phases = {one.id: one for one in rubric.phases or ()}
    if name not in phases:
        raise UnknownName("phase", name, phases)
    return phases[name]


def _before(rubric: Rubric, phase: Phase) -> tuple[Phase, ...]:
    phases = rubric.phases or ()
    return phases[: phases.index(phase)]


def _after(rubric: Rubric, phase: Phase) -> tuple[Phase, ...]:
    phases = rubric.phases or ()
    return phases[phases.index(phase) + 1 :]


# -- conditions


def _conditions(
    rubric: Rubric,
    phase: Phase,
    conditions: Sequence[Condition],
    states: States,
    facts: Facts,
) -> tuple[ConditionView, ...]:
    return tuple(
        ConditionView(condition, *_held(rubric, phase, condition, states, facts))
        for condition in conditions
    )


def _held(
    rubric: Rubric, phase: Phase, condition: Condition, states: States, facts: Facts
) -> tuple[bool, str]:
    """Whether a condition holds, and how things stand."""
    if condition == "minimum_items_rated_by_all":
        least, now = _minimum(rubric, phase), facts.items_rated_by_all
        return now >= least, f"{_count(now, 'item')} rated by everybody, of at least {least}."
    if condition == "all_items_rated":
        done, all_ = facts.items_rated, facts.items
        return 0 < all_ <= done, f"{_count(done, 'item')} rated in full, of {all_}."
    if condition == "previous_phase_done":
        before = _before(rubric, phase)[-1:]
        met = all(states.get(one.id) == "done" for one in before)
        name = before[0].title if before else "Everything before"
        return met, f"{name} is {'' if met else 'not '}done."
    if condition == "targets_met":
        return _targets(facts)
    if condition in _NONE_LEFT:
        left, what = _NONE_LEFT[condition][0](facts), _NONE_LEFT[condition][1]
        return not left, f"{_count(left, what)} left." if left else f"No {what} left."
    holds, what = _HAPPENED[condition]
    return holds(facts), f"{what} {'' if holds(facts) else 'not yet '}done."


_NONE_LEFT: dict[Condition, tuple[Callable[[Facts], int], str]] = {
    "disagreements_discussed": (lambda f: f.disagreements_undiscussed, "undiscussed disagreement"),
    "flagged_cases_reviewed": (lambda f: f.cases_open, "unreviewed case"),
    "no_open_flags": (lambda f: f.flags_open, "open red flag"),
}
_HAPPENED: dict[Condition, tuple[Callable[[Facts], bool], str]] = {
    "agreement_computed": (lambda f: f.agreement_computed, "Computing agreement:"),
    "final_agreement_computed": (
        lambda f: f.final_agreement_computed,
        "Computing the final agreement:",
    ),
    "guidelines_updated": (lambda f: f.guidelines_updated, "Updating the guidelines:"),
    "lessons_recorded": (lambda f: f.lessons > 0, "Writing down what was learned:"),
    "rubric_finalised": (lambda f: f.rubric_finalised, "Settling the final rubric:"),
}


def _minimum(rubric: Rubric, phase: Phase) -> int:
    """The number of items a phase asks for, or the nearest before it that asks for one."""
    for one in reversed((*_before(rubric, phase), phase)):
        if one.items is not None and one.items.minimum is not None:
            return one.items.minimum
    return 1


def _targets(facts: Facts) -> tuple[bool, str]:
    if not (facts.agreement_computed or facts.final_agreement_computed):
        return False, "Computing agreement: not yet done."
    if facts.below_target:
        return False, f"Agreement is below its target on {', '.join(facts.below_target)}."
    return True, "Agreement reaches its targets."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# -- warnings


def _warnings(
    phase: Phase, start_on: date, today: date, states: States, facts: Facts
) -> Sequence[str]:
    state = states.get(phase.id, "waiting")
    first = _day(start_on, phase.weeks.first - 1, 0)
    last = _day(start_on, phase.weeks.last, -1)
    out: list[str] = []
    if state != "done" and today > last:
        late = _count((today - last).days, "day")
        out.append(f"{phase.title} is behind: it was to be done by {last}, {late} ago.")
    if state == "open" and today < first:
        early = _count((first - today).days, "day")
        out.append(f"{phase.title} is early: it was to begin on {first}, in {early}.")
    planned = facts.items_planned.get(phase.id)
    if phase.items is None or planned is None:
        return out
    least, most = phase.items.minimum, phase.items.maximum
    if least is not None and planned < least:
        out.append(f"{phase.title} has {_count(planned, 'item')}, and needs at least {least}.")
    if most is not None and planned > most:
        out.append(f"{phase.title} has {_count(planned, 'item')}, and is meant for up to {most}.")
    return out
