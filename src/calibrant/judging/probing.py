"""How models withstand instructions in what they judge: every probe asked, with and without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.engine.jobs import Job, Seat, Tally
from calibrant.engine.judge_run import Judged
from calibrant.judging.asking import Asking
from calibrant.judging.running import asker, log_of, run_closing
from calibrant.judging.seats import Asks, Bench
from calibrant.raters.judge.probe import Probe, Resistance, in_all, probes, resistance
from calibrant.raters.judge.questions import Question
from calibrant.settings import Server, Settings


@dataclass(frozen=True, slots=True)
class Withstood:
    """How one judge did."""

    rater: str
    families: tuple[Resistance, ...]

    @property
    def total(self) -> Resistance:
        """All families together."""
        return in_all(self.families)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "rater": self.rater,
            "total": _plain(self.total),
            "families": [_plain(one) for one in self.families],
        }


def _plain(one: Resistance) -> dict[str, Any]:
    share = one.share
    return {**asdict(one), "held_share": None if share is None else float(share)}


Said = dict[tuple[str, str], str]
"""Answers by content of the item and criterion."""


def probe_judges(
    rubric: Rubric,
    asking: Asking,
    calls: Path,
    *,
    tally: Tally | None = None,
    on_ready: Callable[[Sequence[Server]], None] = lambda servers: None,
) -> list[Withstood]:
    """Ask every judge about every probe; ``calls`` is where calls are kept."""
    tally = tally or Tally()
    wanted = list(probes(rubric))
    asked = _questions(wanted)
    alone = replace(asking, samples=1, way="criterion")
    with log_of(asking, calls) as log:
        bench = Bench(alone, log.key, Settings.here())
        seats = bench.seats(rubric, lambda item: list(asked[item.hash].values()))
        on_ready(bench.servers)
        tally.total = sum(map(len, asked.values())) * len(seats)
        said = run_closing(_said(seats, wanted, asker(alone, log, tally)), bench, tally)
    return [_withstood(rubric, seat, wanted, said[seat.judge.card.name]) for seat in seats]


def probe_items(rubric: Rubric) -> tuple[list[Item], Asks]:
    """All items of the probes, and what is asked about each."""
    wanted = list(probes(rubric))
    asked = _questions(wanted)
    return list(_items(wanted).values()), lambda item: list(asked[item.hash].values())


def _items(wanted: Iterable[Probe]) -> dict[str, Item]:
    """The items of probes by their content."""
    return {item.hash: item for one in wanted for item in (one.clean, one.injected)}


def _questions(wanted: Iterable[Probe]) -> dict[str, dict[str, Question]]:
    """What to ask about each item, by its content: many probes share one that is clean."""
    asked: dict[str, dict[str, Question]] = {}
    for one in wanted:
        for item in (one.clean, one.injected):
            asked.setdefault(item.hash, {})[one.criterion] = one.question
    return asked


async def _said(seats: Sequence[Seat], wanted: Sequence[Probe], judged: Judged) -> dict[str, Said]:
    """All answers, by rater."""
    found: dict[str, Said] = {seat.judge.card.name: {} for seat in seats}
    async for done in judged(_jobs(seats, wanted)):
        mine = found[done.job.seat.judge.card.name]
        for one in done.asked:
            judgements = {} if one.reading is None else one.reading.judgements
            for criterion, judgement in judgements.items():
                mine[one.call.content, criterion] = judgement.answer
    return found


def _jobs(seats: Sequence[Seat], wanted: Sequence[Probe]) -> Iterator[Job]:
    for position, item in enumerate(_items(wanted).values()):
        for seat in seats:
            yield Job(position, item, seat)


def _withstood(rubric: Rubric, seat: Seat, wanted: Sequence[Probe], said: Said) -> Withstood:
    answered = [
        (
            one,
            said.get((one.clean.hash, one.criterion)),
            said.get((one.injected.hash, one.criterion)),
        )
        for one in wanted
    ]
    return Withstood(seat.judge.card.name, resistance(rubric, answered))
