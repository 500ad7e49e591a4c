"""What a run of judges would take: one prompt, calls, tokens and cost; nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from calibrant.core.errors import SourceError
from calibrant.engine.jobs import Seat
from calibrant.engine.judge_run import JudgeRun, Source
from calibrant.judging.asking import Asking
from calibrant.judging.seats import Bench
from calibrant.ports.chat import Message
from calibrant.raters.judge.prices import Estimate, Price, estimate
from calibrant.settings import Settings


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
    messages: tuple[Message, ...]
    schema: Any
    judges: tuple[DryJudge, ...]

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
    bench = Bench(replace(asking, replay=Path()), bytes(32), Settings.here())
    run = JudgeRun(source, bench.seats(source.rubric), samples=asking.samples)
    survey = run.survey()
    if survey.first is None:
        raise SourceError(f"{source.path}: holds no items")
    prices = asking.stated_prices
    judge = run.seats[0].judge
    first = judge.ask(judge.calls(survey.first)[0])
    return DryRun(
        items=survey.items,
        messages=first.messages,
        schema=first.schema,
        judges=tuple(_dry(source, one, asking.samples, prices) for one in run.seats),
    )


def _dry(source: Source, seat: Seat, samples: int, prices: dict[str, Price]) -> DryJudge:
    judge, total = seat.judge, Estimate()
    for _, item in source.items():
        calls = judge.calls(item)
        total += estimate(
            [judge.ask(one) for one in calls], [len(one.question.criteria) for one in calls]
        )
    total = total.times(samples)
    price = prices.get(judge.model)
    return DryJudge(
        rater=judge.card.name,
        model=judge.model,
        estimate=total,
        cost=None if price is None else total.cost(price),
        at_most=None if price is None else total.cost_at_most(price),
    )
