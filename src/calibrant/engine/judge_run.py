"""Judges over a file of items: counted first, then asked, combined, and sent on where in doubt.

All records are read before anything is sent: a file with faults costs nothing. What is asked, and
in which order, follows from the items and the judges alone, so that a run made again asks for the
same and gets what was answered from the log.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from calibrant.core.errors import Fault, RecordError
from calibrant.core.item import Item
from calibrant.core.process import Policy
from calibrant.core.rubric import Rubric
from calibrant.engine.jobs import Done, Job, Seat, Tally
from calibrant.formats.items import Duplicate, stream_items
from calibrant.formats.judge_ratings import RatingsFile, panel_record, rating_record
from calibrant.raters.checks.run import Checker
from calibrant.raters.judge.cascade import Reason, Rules, escalation
from calibrant.raters.judge.cascade import Summary as Escalated
from calibrant.raters.judge.families import Authors
from calibrant.raters.judge.panel import Member, Panel
from calibrant.raters.judge.questions import questions
from calibrant.raters.judge.rated import Rated

Judged: TypeAlias = Callable[[Iterable[Job]], AsyncIterator[Done]]
"""Asks for jobs and gives what became of them, as ``engine.judging.judged`` does."""
Record: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Survey:
    """What a file of items holds, before anything is asked."""

    items: int = 0
    bad: int = 0
    calls: int = 0
    """Of the first judges; what goes on to another is not known yet."""
    first: Item | None = None
    authors: Authors = field(default_factory=Authors)
    duplicates: int = 0
    """Items with the words of another: these are asked about once."""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file of items, read as often as needed."""

    path: Path
    rubric: Rubric
    encoding: str | None = None
    skip_bad: bool = False

    def entries(self, notes: list[str] | None = None) -> Iterator[Item | Fault | Duplicate]:
        """Everything in the file."""
        return stream_items(self.path, self.rubric.item_type, self.encoding, notes)

    def items(self) -> Iterator[tuple[int, Item]]:
        """Items with their places."""
        found = (one for one in self.entries() if not isinstance(one, Fault | Duplicate))
        return enumerate(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Who looks again, and at what: a stronger judge, or people where there is none."""

    rules: Rules
    stronger: Seat | None = None


class JudgeRun:
    """One run: these judges, this file."""

    def __init__(
        self,
        source: Source,
        seats: Sequence[Seat],
        *,
        samples: int = 1,
        policy: Policy | None = None,
        cascade: Cascade | None = None,
    ) -> None:
        self.source, self.seats, self.samples = source, tuple(seats), samples
        self.policy, self.cascade = policy, cascade
        self.escalated = Escalated()
        self.reasons: dict[str, tuple[Reason, ...]] = {}
        """Of items that go on, by name."""

    @property
    def all_seats(self) -> tuple[Seat, ...]:
        """With the stronger judge, where there is one."""
        stronger = self.cascade.stronger if self.cascade is not None else None
        return self.seats if stronger is None else (*self.seats, stronger)

    # -- before

    def survey(self, on_fault: Callable[[Fault], None] = lambda fault: None) -> Survey:
        """Read the whole file; raises ``RecordError`` with every fault, or leaves bad ones out."""
        found, faults = Survey(), []
        for entry in self.source.entries(found.notes):
            match entry:
                case Fault():
                    faults.append(entry)
                    on_fault(entry)
                case Duplicate():
                    found.duplicates += 1
                case _:
                    found.items += 1
                    found.first = found.first or entry
                    found.authors.add(entry.more)
                    for seat in self.seats:
                        found.calls += self._number(seat, entry) * self.samples
        found.bad = len({fault.record for fault in faults})
        if faults and not self.source.skip_bad:
            raise RecordError(faults)
        return found

    # -- asking

    async def run(self, judged: Judged, ratings: RatingsFile, tally: Tally) -> None:
        """Ask everything that is not answered; what comes in is written at once."""
        await self._ask(judged, self._first(ratings, tally), ratings)
        if self.cascade is None or tally.stop:
            return
        self._decide(ratings)
        stronger = self.cascade.stronger
        if stronger is not None:
            await self._ask(judged, self._again(ratings, tally, stronger), ratings)

    async def _ask(self, judged: Judged, jobs: Iterable[Job], ratings: RatingsFile) -> None:
        async for done in judged(jobs):
            job = done.job
            ratings.add(rating_record(job.seat.judge, job.item, job.sample, done.asked))

    def _first(self, ratings: RatingsFile, tally: Tally) -> Iterator[Job]:
        """Every judge and sample on every item, in an order of chance that is always the same."""
        turns = [(seat, sample) for seat in self.seats for sample in range(1, self.samples + 1)]
        for position, item in self.source.items():
            order = random.Random(f"turns of {item.id}")  # noqa: S311 - an order, no secret
            for seat, sample in order.sample(turns, len(turns)):
                if ratings.wants(position, item, seat.judge.card, sample):
                    yield Job(position, item, seat, sample)
                else:
                    tally.total -= self._number(seat, item)

    def _again(self, ratings: RatingsFile, tally: Tally, seat: Seat) -> Iterator[Job]:
        further = [one for one in self.source.items() if one[1].id in self.reasons]
        tally.total += sum(self._number(seat, item) for _, item in further)
        for position, item in further:
            if ratings.wants(position, item, seat.judge.card):
                yield Job(position, item, seat, 1)
            else:
                tally.total -= self._number(seat, item)

    def _number(self, seat: Seat, item: Item) -> int:
        """Calls that a rating takes."""
        return len(questions(self.source.rubric, item, seat.judge.way))

    # -- what it comes to

    def rated(self, ratings: RatingsFile) -> Iterator[tuple[Item, list[Rated]]]:
        """Every item with the ratings of the first judges, as far as there are any."""
        cards = {seat.judge.card.hash for seat in self.seats}
        items = self.source.items()
        for name, records in groupby(ratings.ratings(), key=lambda one: str(one["item"])):
            mine = [Rated.of_record(one) for one in records if one["metadata"]["card"] in cards]
            item = next((item for _, item in items if item.id == name), None)
            if item is None:
                return  # what earlier runs have rated beside comes last
            if mine:
                yield item, mine

    @property
    def panel(self) -> Panel | None:
        """All judges and samples as one rater; None where it is one, or nobody says how."""
        members = [
            Member(seat.judge.card.name, seat.judge.card.hash, sample)
            for seat in self.seats
            for sample in range(1, self.samples + 1)
        ]
        if len(members) < 2 or self.policy is None:
            return None
        return Panel(self.source.rubric, members, self.policy)

    def panel_records(self, ratings: RatingsFile) -> Iterator[Record]:
        """The panel's rating of every item."""
        panel = self.panel
        if panel is not None:
            for _, some in self.rated(ratings):
                yield panel_record(panel.rate(some))

    def _decide(self, ratings: RatingsFile) -> None:
        """Which items go on, and why."""
        assert self.cascade is not None
        rubric, panel = self.source.rubric, self.panel
        checker = Checker(rubric.item_type, rubric)
        for item, some in self.rated(ratings):
            reasons = escalation(
                rubric,
                item,
                some,
                self.cascade.rules,
                panel=None if panel is None else panel.rate(some).rated,
                signals=checker.signals(item),
            )
            self.escalated.add(reasons)
            if reasons:
                self.reasons[item.id] = reasons

    def escalated_records(self) -> Iterator[Record]:
        """Items that go on, each with its reasons."""
        for name, reasons in self.reasons.items():
            yield {
                "item": name,
                "why": list(dict.fromkeys(one.why for one in reasons)),
                "reasons": [str(one) for one in reasons],
            }


def counted(reasons: Iterable[str]) -> dict[str, int]:
    """Reasons by their class, most frequent first; details differ in every item."""
    return dict(Counter(one.partition(":")[0] for one in reasons).most_common())
