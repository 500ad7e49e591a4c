"""What a run of judges would take: one prompt, calls, tokens and cost; nothing is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from calibrant.core.errors import SourceError
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.engine.judge_run import JudgeRun, Source
from calibrant.judging.asking import Asking
from calibrant.judging.in_study import work_of
from calibrant.judging.probing import probe_items
from calibrant.judging.seats import Bench
from calibrant.ports.chat import Ask, Message
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.prices import Estimate, Price, estimate
from calibrant.settings import Settings
from calibrant.study.handle import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class DryJudge:
    """What one judge would take."""

    rater: str
    model: str
    estimate: Estimate
    cost: Decimal | None
    at_most: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a run would take, and one prompt as it would be sent."""

    items: int
    judges: tuple[DryJudge, ...]
    messages: tuple[Message, ...] = ()
    """Empty where nothing is to be asked."""
    schema: Any = None

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "items": self.items,
            "messages": [{"role": one.role, "content": one.content} for one in self.messages],
            "schema": self.schema,
            "judges": [
                {
                    "rater": one.rater,
                    "model": one.model,
                    "calls": one.estimate.calls,
                    "tokens_in": one.estimate.prompt,
                    "tokens_in_uncached": one.estimate.fresh,
                    "tokens_out": one.estimate.completion,
                    "cost": None if one.cost is None else str(one.cost),
                    "at_most": None if one.at_most is None else str(one.at_most),
                }
                for one in self.judges
            ],
        }


def dry_run(source: Source, asking: Asking) -> DryRun:
    """Calls, tokens and cost of a run, as far as can be told; nothing is sent or written."""
    bench = _nobodys_bench(asking)
    run = JudgeRun(source, bench.seats(source.rubric), samples=asking.samples)
    survey = run.survey()
    if survey.first is None:
        raise SourceError(f"{source.path}: holds no items")
    dried = [
        _Dried(seat.judge, [(seat.judge, (item for _, item in source.items()))])
        for seat in run.seats
    ]
    return _told(survey.items, dried, asking)


def dry_study(study: Study, asking: Asking) -> DryRun:
    """The same for the assignments that judges have to do in a study; none is claimed."""
    found = work_of(study, asking, _nobodys_bench(asking))
    dried = [
        _Dried(judge, [(asked, [item]) for asked, item in work], rater)
        for rater, (judge, work) in found.items()
    ]
    items = {item.id for _, work in found.values() for _, item in work}
    return _told(len(items), dried, asking)


def dry_probe(rubric: Rubric, asking: Asking) -> DryRun:
    """The same for the probes of how judges withstand instructions."""
    items, asks = probe_items(rubric)
    alone = replace(asking, samples=1, way="criterion")
    seats = _nobodys_bench(alone).seats(rubric, asks)
    dried = [_Dried(seat.judge, [(seat.judge, items)]) for seat in seats]
    return _told(len(items), dried, alone)


def _nobodys_bench(asking: Asking) -> Bench:
    return Bench(replace(asking, replay=Path()), bytes(32), Settings.here())


@dataclass(slots=True)
class _Dried:
    """What one judge would be asked."""

    judge: Judge
    work: Sequence[tuple[Judge, Iterable[Item]]]
    """A judge is another one under another version of the rubric."""
    rater: str = ""
    """As a study calls it, where that is not its name by now."""
    total: Estimate = field(default_factory=Estimate)
    first: Ask | None = None

    def count(self) -> None:
        """Ask nobody anything, and add it up."""
        for judge, items in self.work:
            for item in items:
                calls = judge.calls(item)
                asks = [judge.ask(one) for one in calls]
                self.first = self.first or next(iter(asks), None)
                self.total += estimate(asks, [len(one.question.criteria) for one in calls])


def _told(items: int, dried: Sequence[_Dried], asking: Asking) -> DryRun:
    prices = asking.stated_prices
    for one in dried:
        one.count()
    first = next((one.first for one in dried if one.first is not None), None)
    return DryRun(
        items=items,
        messages=() if first is None else first.messages,
        schema=None if first is None else first.schema,
        judges=tuple(_judge(one, asking.samples, prices.get(one.judge.model)) for one in dried),
    )


def _judge(dried: _Dried, samples: int, price: Price | None) -> DryJudge:
    total = dried.total.times(samples)
    return DryJudge(
        rater=dried.rater or dried.judge.card.name,
        model=dried.judge.model,
        estimate=total,
        cost=None if price is None else total.cost(price),
        at_most=None if price is None else total.cost_at_most(price),
    )
