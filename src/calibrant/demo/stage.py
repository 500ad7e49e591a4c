"""A demo study in the making: whoever acts uses the study's own verbs, at a time of the story.

Nothing here goes round the door: what a form says is accepted or refused as anybody's would be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from math import floor
from random import Random

from calibrant.core.errors import RecordError
from calibrant.core.ids import content_hash
from calibrant.core.parts import parts_of
from calibrant.core.rubric import Rubric
from calibrant.core.study import Role, time_text
from calibrant.demo.calendar import Calendar
from calibrant.demo.hands import EVERYWHERE, Hand, Spread, filled_in
from calibrant.demo.material import Material
from calibrant.ports.store import Store
from calibrant.report.frozen import freeze
from calibrant.study.claim import Task
from calibrant.study.collect import Submission
from calibrant.study.handle import Study
from calibrant.study.open import create, enter

LEAD, REVIEWER, ADJUDICATOR, VIEWER = "Dana", "Robin", "Alex", "Noor"
"""The lead, the reviewer and the adjudicator a visitor goes in as; and somebody who looks on."""
HANDS: Mapping[str, Hand] = {
    REVIEWER: Hand(severity=0.1, words=0.5),
    "Amara": Hand(severity=0.35, noise=0.9, words=0.6),
    "Jonas": Hand(severity=-0.45, halo=0.12, words=0.25),
    "Mei": Hand(noise=0.8, words=0.5),
    "Ines": Hand(severity=-0.1, noise=0.9, words=0.4),
    "Yusuf": Hand(severity=0.2, noise=1.1, halo=0.08, words=0.35),
    "Tobias": Hand(severity=-0.25, noise=1.2, words=0.3),
    "Priya": Hand(severity=0.15, noise=0.8, words=0.55),
}
"""Everybody who rates, with the way they do it."""
HOLDER = "demo"
"""Who holds what simulated raters claim."""
MANY = 500
"""More than anybody has to rate."""
READING = 4.0
"""Words a second that a rater takes in while judging."""
THINKING = 15.0
"""Seconds for each criterion."""


class Stage:
    """One study with its story's calendar and its simulated raters."""

    def __init__(
        self,
        store: Store,
        name: str,
        rubric: Rubric,
        material: Material,
        *,
        title: str,
        calendar: Calendar,
        began: int,
        seed: int,
        spread: Spread,
    ) -> None:
        """Begin a study ``began`` days ago."""
        self.calendar = calendar
        self.items, self.truths = material.items, dict(material.truths)
        self.spread = dict(spread)
        self.seed = f"{seed}/{name}"
        calendar.turn_to(began, 9)
        made = create(
            store,
            name,
            rubric,
            lead=LEAD,
            clock=calendar,
            start_on=calendar.day(began),
            title=title,
            seed=seed % 2**31,
            mask_key=content_hash(["mask", self.seed]),
        )
        self.lead = Study(made.store, made.number, made.record, made.actor, made.clock)

    def seat(self, actor: str) -> Study:
        """The study in somebody's hands."""
        found = enter(self.lead.store, self.lead.name, actor=actor, clock=self.calendar)
        return Study(found.store, found.number, found.record, found.actor, found.clock)

    def panel(self, **groups: Sequence[str]) -> None:
        """Raters by the kind of person they are; with the adjudicator and the onlooker."""
        for group, names in groups.items():
            for name in names:
                self.lead.add_member(name, group=group)
        others: tuple[tuple[str, Role], ...] = ((ADJUDICATOR, "adjudicator"), (VIEWER, "viewer"))
        for name, role in others:
            self.lead.add_member(name, roles=(role,))

    def check_in(self, *, attendees: Sequence[str], decisions: str, actions: str) -> None:
        """The lead records a check-in, with the report of that day."""
        made = self.lead.check_in(attendees=attendees, decisions=decisions, actions=actions)
        freeze(self.lead, made.number)

    def finish_phase(self, phase: str) -> None:
        """The lead ends a phase, with the report of that day."""
        freeze(self.lead, self.lead.finish_phase(phase))

    def train(self, criterion: str) -> None:
        """From now on raters agree on a criterion as on others; what lay between counts as less."""
        self.spread[criterion] = self.spread[EVERYWHERE]
        for name, one in self.truths.items():
            leaning = one.quality[criterion]
            if isinstance(leaning, int | float):
                settled = {**one.quality, criterion: floor(leaning)}
                self.truths[name] = replace(one, quality=settled)

    def rate(self, rater: str, round: int, ago: int, hour: int, *, most: int | None = None) -> int:
        """Somebody sits down and hands in what they have to do in a round; how many that was.

        They take at most ``most``, in their own order, and give back what is of another round.
        """
        self.calendar.turn_to(ago, hour)
        mine = self.seat(rater)
        claimed = mine.claim(token=HOLDER, limit=MANY if most is None else most)
        tasks = [one for one in claimed if one.key.round == round]
        for one in claimed:
            if one.key.round != round:
                mine.release(one.key, token=HOLDER)
        if not tasks:
            return 0
        usual, self.calendar.pace = self.calendar.pace, timedelta(seconds=self._seconds(tasks))
        sitting = f"{round}-{ago}-{hour}"
        outcomes = mine.submit_many(list(self._submissions(tasks, sitting)))
        self.calendar.pace = usual
        for outcome in outcomes:
            if isinstance(outcome, RecordError):
                raise outcome
        return len(outcomes)

    def _seconds(self, tasks: Sequence[Task]) -> float:
        """What one of these takes: reading, and a moment for each criterion."""
        words = sum(len(part.text.split()) for one in tasks for part in parts_of(one.item))
        criteria = len(tasks[0].rubric.criteria)
        return words / len(tasks) / READING + criteria * THINKING

    def _submissions(self, tasks: Sequence[Task], sitting: str) -> Iterator[Submission]:
        """Forms as they will be handed in one after the other, each begun after the one before."""
        looks = 0  # at the clock: one for a rating, one for each flag or mark that comes with it
        for at, task in enumerate(tasks):
            key = task.key
            form = filled_in(
                HANDS[key.rater],
                task.rubric,
                task.item,
                self.truths[key.item],
                key,
                seed=self.seed,
                spread=self.spread,
            )
            pause = Random(f"{self.seed}/{key}").uniform(0, 0.5)  # noqa: S311 - a simulation
            yield Submission(
                key=key,
                form=form | {"sitting": {"id": sitting, "position": at}},
                request=f"{key.round}/{key.item}/{key.occasion}",
                version=task.version,
                lease=task.lease,
                started_at=time_text(self.calendar.moment + self.calendar.pace * (looks + pause)),
            )
            looks += 1 + len(form["flags"]) + sum(name in form for name in ("edge_case", "review"))
