"""What a run of judges came to, in numbers: answers, reasons, tokens, money, and disagreement.

Everything is counted from the ratings as they were written, so that a run that was stopped and
taken up again tells the same as one that was not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from calibrant.core.answer import ERROR
from calibrant.engine.judge_run import JudgeRun, Record, Survey, counted
from calibrant.formats.judge_ratings import RatingsFile
from calibrant.ports.chat import NO_USAGE, Usage
from calibrant.raters.judge.cascade import Saving
from calibrant.raters.judge.families import kin_judges
from calibrant.raters.judge.panel import AnswerTable, answer_tables, disagreements, no_policy
from calibrant.raters.judge.prices import Price
from calibrant.raters.judge.rated import Rated
from calibrant.stats.panel import effective_number, repeat_stability


@dataclass(slots=True)
class JudgeCount:
    """What became of one judge's ratings."""

    model: str
    ratings: int = 0
    incomplete: int = 0
    """Ratings that lack answers."""
    answers: int = 0
    abstained: Counter[str] = field(default_factory=Counter)
    """Answers that are lacking, by reason."""
    calls: int = 0
    attempts: int = 0
    rungs: Counter[str] = field(default_factory=Counter)
    quotes: int = 0
    unverified: int = 0
    usage: Usage = NO_USAGE
    """Tokens of all replies, those that could not be read too."""
    seconds: float = 0.0
    paid: set[str] | None = None
    """Calls that are counted, where items with the same words share some."""

    def add(self, record: Record) -> None:
        """Count one rating in."""
        told = record["metadata"]
        self.ratings += 1
        self.answers += sum(answer != ERROR for answer in record["answers"].values())
        self.answers += len(told.get("withheld", ()))
        self.abstained.update(counted(told.get("abstained", {}).values()))
        if told.get("flags_unknown"):
            self.abstained.update(counted([told["flags_unknown"]]))
        self.incomplete += bool(told.get("abstained") or told.get("flags_unknown"))
        self.quotes += sum(map(len, record.get("evidence", {}).values()))
        self.unverified += told.get("unverified", 0)
        for call in told["calls"]:
            if self.paid is not None:
                if call["id"] in self.paid:
                    continue
                self.paid.add(call["id"])
            self.calls += 1
            self.attempts += call["attempts"]
            self.rungs[call["rung"] or "none"] += 1
            self.seconds += call["seconds"]
            self.usage += Usage(**(call["usage"] or {}))

    def to_dict(self, price: Price | None) -> dict[str, Any]:
        """For machines; latency is the mean of the calls."""
        return {
            "model": self.model,
            "ratings": self.ratings,
            "incomplete": self.incomplete,
            "answers": self.answers,
            "abstained": dict(self.abstained.most_common()),
            "calls": self.calls,
            "attempts": self.attempts,
            "rungs": dict(self.rungs.most_common()),
            "quotes": self.quotes,
            "unverified": self.unverified,
            "tokens": asdict(self.usage),
            "seconds_per_call": round(self.seconds / self.calls, 6) if self.calls else None,
            "cost": None if price is None else str(price.spend(self.usage)),
        }


@dataclass(slots=True, kw_only=True)
class JudgeSummary:
    """What a run came to."""

    rubric: str
    items: int
    judges: dict[str, JudgeCount] = field(default_factory=dict)
    """By name of the rater."""
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)
    panel: dict[str, Any] | None = None
    stability: dict[str, dict[str, Any]] = field(default_factory=dict)
    cascade: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    stopped: bool = False

    @property
    def incomplete(self) -> int:
        """Ratings that lack answers."""
        return sum(one.incomplete for one in self.judges.values())

    @property
    def cost(self) -> Decimal | None:
        """What all ratings cost, those of earlier runs too; None where no price is stated."""
        known = [one for one in self.judges.values() if one.model in self.prices]
        spent = (self.prices[one.model].spend(one.usage) for one in known)
        return sum(spent, Decimal(0)) if known else None

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "rubric": self.rubric,
            "items": self.items,
            "ratings": sum(one.ratings for one in self.judges.values()),
            "incomplete": self.incomplete,
            "stopped": self.stopped,
            "cost": None if self.cost is None else str(self.cost),
            "judges": {
                name: one.to_dict(self.prices.get(one.model)) for name, one in self.judges.items()
            },
            "panel": self.panel,
            "stability": self.stability,
            "cascade": self.cascade,
            "warnings": self.warnings,
            "cards": self.cards,
        }


def summed_up(
    run: JudgeRun, survey: Survey, ratings: RatingsFile, prices: Mapping[str, Price]
) -> JudgeSummary:
    """What the ratings of a run come to."""
    rubric = run.source.rubric
    judges = {seat.judge.card.hash: seat.judge for seat in run.all_seats}
    found = JudgeSummary(rubric=rubric.name, items=survey.items, prices=prices)
    found.cards = {
        one.card.name: {**one.card.to_dict(), "hash": card} for card, one in judges.items()
    }
    for record in ratings.ratings():
        name, judge = record["rater"], judges[record["metadata"]["card"]]
        if name not in found.judges:
            found.judges[name] = JudgeCount(judge.model, paid=set() if survey.duplicates else None)
        found.judges[name].add(record)
    found.warnings += survey.notes + list(_warnings(run, survey))
    if len(run.seats) * run.samples > 1:
        several = [one for _, some in run.rated(ratings) for one in some]
        tables = answer_tables(rubric, several)
        found.panel = _panel(run, several, tables)
        found.stability = dict(_stability(tables))
    if run.cascade is not None:
        found.cascade = _cascade(run, found)
    return found


def _warnings(run: JudgeRun, survey: Survey) -> Iterator[str]:
    models = [seat.judge.model for seat in run.seats]
    yield from map(str, kin_judges(models))
    yield from map(str, survey.authors.kin(models))
    if survey.duplicates:
        yield f"{survey.duplicates} items have the words of another, and are asked about once"
    if len(models) * run.samples > 1 and run.policy is None:
        yield no_policy(run.source.rubric)


def _panel(
    run: JudgeRun, ratings: Sequence[Rated], tables: Sequence[AnswerTable]
) -> dict[str, Any]:
    """How many judges they are worth, and where they differ."""
    effective = effective_number([one.codes for one in tables], [one.ordered for one in tables])
    differing = disagreements(run.source.rubric, ratings, run.policy)
    panel = run.panel
    return {
        "rater": None if panel is None else panel.name,
        "policy": run.policy,
        "members": [one.name for one in tables[0].members] if tables else [],
        "effective_number": asdict(effective),
        "disagreements": len(differing),
        "on_gates": sum(one.gated for one in differing),
        "first_disagreements": [
            {"item": one.item, "criterion": one.criterion, "answer": one.answer}
            | {"votes": {answer: len(who) for answer, who in one.votes.items()}}
            for one in differing[:20]
        ],
    }


def _stability(tables: Iterable[AnswerTable]) -> Iterator[tuple[str, dict[str, Any]]]:
    """By judge and criterion, where a judge has been asked more than once."""
    stable: dict[str, dict[str, Any]] = {}
    for table in tables:
        for rater in dict.fromkeys(one.rater for one in table.members):
            rows = [at for at, one in enumerate(table.members) if one.rater == rater]
            if len(rows) > 1:
                told = asdict(repeat_stability(table.codes[rows]))
                stable.setdefault(rater, {})[table.criterion] = told
    yield from stable.items()


def _cascade(run: JudgeRun, found: JudgeSummary) -> dict[str, Any]:
    """What went on, and what that saved."""
    assert run.cascade is not None
    stronger = run.cascade.stronger
    told: dict[str, Any] = {
        "to": "people" if stronger is None else stronger.judge.card.name,
        "rules": run.cascade.rules.to_dict(),
        **run.escalated.to_dict(),
    }
    saving = None if stronger is None else _saving(run, found, stronger.judge.card.name)
    if saving is not None:
        told["saved"] = str(saving.saved)
        told["saved_share"] = saving.share
    return told


def _saving(run: JudgeRun, found: JudgeSummary, stronger: str) -> Saving | None:
    """Beside sending everything to the stronger judge, at what it took for an item on the mean."""
    count = found.judges.get(stronger)
    first = [one for name, one in found.judges.items() if name != stronger]
    if count is None or any(one.model not in found.prices for one in (count, *first)):
        return None
    spent = found.prices[count.model].spend(count.usage)
    return Saving(
        first=sum((found.prices[one.model].spend(one.usage) for one in first), Decimal(0)),
        stronger=spent,
        everything=spent / count.ratings * run.escalated.items,
    )
