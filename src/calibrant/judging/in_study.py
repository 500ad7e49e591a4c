"""Judges in a study: they join it with their cards, and do their assignments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from calibrant.core.errors import SourceError
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.core.study import Member
from calibrant.engine.jobs import Done, Job, Seat, Tally
from calibrant.engine.judge_study import StudyWork
from calibrant.judging.asking import PEOPLE, Asking
from calibrant.judging.running import asker, log_of, run_closing
from calibrant.judging.seats import Bench
from calibrant.raters.checks.run import Checker
from calibrant.raters.judge.card import KIND
from calibrant.raters.judge.cascade import escalation
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.rated import rated
from calibrant.settings import Server, Settings
from calibrant.study.handle import Study

GROUP = "judges"
"""What judges are called among the raters of a study."""
TOKEN = "calibrant judge"  # noqa: S105 - it names who holds assignments, and opens nothing
"""Who holds a judge's assignments: always the same, so that a run made again has them at once."""


@dataclass(slots=True)
class StudyJudged:
    """What judges did in a study."""

    joined: list[str] = field(default_factory=list)
    """Judges that take part from now on."""
    rated: dict[str, int] = field(default_factory=dict)
    unreached: dict[str, int] = field(default_factory=dict)
    """Items that a server said nothing about; they stay open."""
    faults: list[str] = field(default_factory=list)
    stopped: bool = False

    def told(self, again: str) -> list[str]:
        """What it came to, a line each; ``again`` goes on with what stays open."""
        lines = [
            f"{one} has joined: it rates in rounds that are planned from now on"
            for one in self.joined
        ]
        lines += [
            f"{rater}: {_items(many)} rated"
            if many
            else f"{rater}: nothing to rate, as no open round has work left for it"
            for rater, many in self.rated.items()
            if many or rater not in (*self.joined, *self.unreached)
        ]
        return lines + [
            f"{rater}: {_items(many)} stay open, as the server could not be asked; {again} goes "
            "on with them"
            for rater, many in self.unreached.items()
        ]


def _items(many: int) -> str:
    return f"{many:,} item" if many == 1 else f"{many:,} items"


class _StudyJudge:
    """One judge of a study, under whichever versions of the rubric it has work to do."""

    def __init__(self, bench: Bench, named: str, study: Study) -> None:
        self.bench, self.named, self.study = bench, named, study
        self._seats: dict[str, Seat] = {}
        self.now = self.seat_of(study.rubric())

    def seat_of(self, rubric: Rubric) -> Seat:
        """In its seat, for a version of the rubric."""
        if rubric.hash not in self._seats:
            self._seats[rubric.hash] = self.bench.seat(rubric, self.named)
        return self._seats[rubric.hash]

    def members(self) -> list[Member]:
        """Those that this judge is: under the rubric of now and, with work to do, earlier ones."""
        mine = self.now.judge.card
        found = []
        for one in self.study.members():
            if one.kind != KIND or one.left_at is not None or one.card is None:
                continue
            if one.name == mine.name or _same_judge(json.loads(one.card), mine.to_dict()):
                found.append(one)
        return found

    def join(self) -> Member:
        """Take part from now on."""
        card = self.now.judge.card
        return self.study.add_member(card.name, kind=KIND, card=card.to_dict(), group=GROUP)


def _same_judge(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two cards differ in the version of the rubric, and what follows from it, alone."""
    of_rubric = {"rubric", "rubric_hash", "facts"}
    return {key: value for key, value in one.items() if key not in of_rubric} == {
        key: value for key, value in other.items() if key not in of_rubric
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What one judge of a run would do in a study."""

    rater: str
    joins: bool
    """It is new here, and would take part from then on."""
    waiting: int
    """Assignments of open rounds that it would be asked about."""


def foreseen(study: Study, asking: Asking) -> list[Foreseen]:
    """What a run would do, judge by judge; nothing is sent or written."""
    bench = Bench(replace(asking, replay=Path()), bytes(32), Settings.here())
    waiting: Counter[str] = Counter()
    for round in study.progress():
        if round.state == "open":
            waiting.update({name: total - done for name, (done, total) in round.raters.items()})
    found = []
    for named in [*asking.models, *map(str, asking.files)]:
        judge = _StudyJudge(bench, named, study)
        mine, name = [one.name for one in judge.members()], judge.now.judge.card.name
        found += [Foreseen(rater=one, joins=False, waiting=waiting[one]) for one in mine]
        if name not in mine:
            found.append(Foreseen(rater=name, joins=True, waiting=0))
    return found


Work: TypeAlias = list[tuple[Judge, Item]]
"""Items, each with the judge that is asked about it, under the rubric of the item's round."""


def work_of(study: Study, asking: Asking, bench: Bench) -> dict[str, tuple[Judge, Work]]:
    """By rater, a judge of a run and what it has to do; nothing is claimed."""
    _need_once(asking)
    found: dict[str, tuple[Judge, Work]] = {}
    for named in [*asking.models, *map(str, asking.files)]:
        mine = _StudyJudge(bench, named, study)
        judge = mine.now.judge
        found[judge.card.name] = judge, []  # where it is new, there is nothing yet
        for one in mine.members():
            todo = replace(study, actor=one.name).waiting()
            found[one.name] = judge, [(mine.seat_of(task.rubric).judge, task.item) for task in todo]
    return found


def study_calls(place: str, name: str) -> Path:
    """Where calls for a study are kept: beside its file, or here where it is on a server."""
    folder = Path() if "://" in place else Path(place).parent
    stem = "calibrant" if "://" in place else Path(place).name
    safe = "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in name)
    return folder / f"{stem}.{safe}.calls"


def judge_study(
    study: Study,
    asking: Asking,
    calls: Path,
    *,
    tally: Tally | None = None,
    on_ready: Callable[[Sequence[Server]], None] = lambda servers: None,
) -> StudyJudged:
    """Let judges do their assignments in a study; one that is new joins it.

    A judge rates in rounds that were planned after it joined. ``calls`` is where calls are kept.
    """
    _need_once(asking)
    tally, found = tally or Tally(), StudyJudged()
    with log_of(asking, calls) as log:
        bench = Bench(asking, log.key, Settings.here())
        names = [*asking.models, *map(str, asking.files)]
        todo = [
            (member, judge)
            for judge in [_StudyJudge(bench, one, study) for one in names]
            for member in _taking_part(judge, found)
        ]
        on_ready(bench.servers)
        work = _rate_all(todo, asker(asking, log, tally), reviewer(asking), found)
        run_closing(work, bench, tally)
    found.stopped = tally.stop
    return found


def _need_once(asking: Asking) -> None:
    if asking.samples > 1 or asking.escalate_to not in (None, PEOPLE):
        raise SourceError(
            "in a study each judge rates its assignments once: no --samples, and --escalate-to "
            f"only {PEOPLE}, who are asked to look at what is doubtful"
        )


def _taking_part(judge: _StudyJudge, found: StudyJudged) -> list[Member]:
    members = judge.members()
    if judge.now.judge.card.name not in [one.name for one in members]:
        members.append(judge.join())
        found.joined.append(members[-1].name)
    return members


def reviewer(asking: Asking) -> Callable[[Done], str]:
    """Why people should look at an item, where doubtful ones are to go to them."""
    if asking.escalate_to is None:
        return lambda done: ""
    checkers: dict[str, Checker] = {}

    def review(done: Done) -> str:
        judge, item = done.job.seat.judge, done.job.item
        mine = rated(judge.rubric, judge.card, item, done.job.sample, done.asked)
        rubric = judge.rubric
        if rubric.hash not in checkers:
            checkers[rubric.hash] = Checker(rubric.item_type, rubric)
        signals = checkers[rubric.hash].signals(item)
        reasons = escalation(rubric, item, [mine], asking.rules, signals=signals)
        return "; ".join(map(str, reasons))

    return review


async def _rate_all(
    todo: Sequence[tuple[Member, _StudyJudge]],
    judged: Callable[[Iterable[Job]], AsyncIterator[Done]],
    review: Callable[[Done], str],
    found: StudyJudged,
) -> None:
    for member, judge in todo:
        mine = replace(judge.study, actor=member.name)
        work = StudyWork(mine, judge.seat_of, TOKEN, review)
        await work.run(judged)
        found.rated[member.name] = work.worked.rated
        if work.unreached:
            found.unreached[member.name] = work.unreached
        found.faults += [f"{item}: {fault}" for item, fault in work.worked.faults]
