"""Which items go on to a stronger judge or to people, and why.

Most items are plain, and a cheap judge is as good on them as a dear one. What goes on is what a
second look may change, and whatever touches safety. Every reason is named; an item for which there
is none stays with the first judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from calibrant.core.answer import ERROR, NA
from calibrant.core.criterion import Criterion, Dimensions, WeightedCategories
from calibrant.core.item import Item
from calibrant.core.rating import read_sheet
from calibrant.core.rubric import Rubric
from calibrant.core.scale import OrdinalScale
from calibrant.core.scoring import Verdict, judge
from calibrant.raters.checks.conversation_crisis import NAME, SIGNAL
from calibrant.raters.checks.conversation_review import crisis_review
from calibrant.raters.checks.signal import Signal
from calibrant.raters.judge.panel import gated_criteria, votes_on
from calibrant.raters.judge.rated import Rated

Why: TypeAlias = Literal[
    "safety", "incomplete", "pass_mark", "could_flip", "disagreement", "low_margin", "contradiction"
]
"""``safety``: a gate that is not passed, a red flag, signs of a crisis; ``incomplete``: something
has no answer; ``pass_mark``: the score is near it; ``could_flip``: one answer that is lacking
decides; ``disagreement``: judges differ; ``low_margin``: two answers are nearly as likely;
``contradiction``: an NA against what the judge says beside it."""
REASONS: tuple[Why, ...] = get_args(Why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What sends an item on. None switches a rule off; safety has no switch."""

    margin: Fraction | None = Fraction(1, 20)
    """How near the pass mark a score may be, as a share of the whole range of scores: about one
    answer in twenty, which is what asking the same judge again may change."""
    probability: float | None = 0.2
    """The least by which the likeliest answer must lead the next: three to two is too close."""
    dissent: Fraction | None = Fraction(1, 3)
    """Share of the votes against the most common answer from which judges differ: one of three, not
    one of five. On a criterion of a gate one vote is enough."""
    incomplete: bool = True
    """Whether an answer that is lacking sends an item on, whatever the verdict."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "margin": None if self.margin is None else float(self.margin),
            "probability": self.probability,
            "dissent": None if self.dissent is None else round(float(self.dissent), 6),
            "incomplete": self.incomplete,
        }


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an item goes on."""

    why: Why
    detail: str
    criteria: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.detail


def escalation(
    rubric: Rubric,
    item: Item,
    ratings: Sequence[Rated],
    rules: Rules | None = None,
    *,
    panel: Rated | None = None,
    signals: Iterable[Signal] = (),
) -> tuple[Reason, ...]:
    """Why an item goes on, from all ratings of it so far; empty: it does not.

    The verdict is that of the ``panel``, where there is one, else of every rating. ``signals`` are
    those of checks, if they were run.
    """
    rules = rules or Rules()
    counted = [panel] if panel is not None else list(ratings)
    found: list[Reason] = []
    signals = tuple(signals)
    for one in ratings:
        found += _safety(rubric, item, one, signals)
        found += _unsure(one, rules)
    for one in counted:
        found += _verdict(rubric, item, one, rules)
    found += _disagreement(rubric, ratings, rules)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: REASONS.index(one.why)))


# -- safety


def _safety(rubric: Rubric, item: Item, one: Rated, signals: Sequence[Signal]) -> Iterator[Reason]:
    verdict = _judged(rubric, item, one.answers)
    for name in verdict.failed_safety:
        told = "has no answer" if one.answers[name] == ERROR else f"is {one.answers[name]}"
        yield Reason("safety", f"{name} {told}, and a gate rests on it", (name,))
    for seen in one.flags:
        yield Reason("safety", f"red flag {seen.flag}")
    for flag, why in one.doubtful.items():
        yield Reason("safety", f"perhaps red flag {flag}: {why}")
    if one.flags_unknown:
        yield Reason("safety", "not heard on red flags")
    gated = gated_criteria(rubric)
    for criterion in rubric.criteria:
        yield from _contradiction(criterion, one, criterion.id in gated)
    yield from _crisis(rubric, item, one, signals)


def _contradiction(criterion: Criterion, one: Rated, gated: bool) -> Iterator[Reason]:
    """An NA of the judge that does not go with what it answered beside it."""
    name = criterion.id
    if one.answers.get(name) != NA or name in one.by_code:
        return
    for question in criterion.sub_questions:
        given = one.sub_answers.get(name, {}).get(question.id)
        if question.na_expects is not None and given not in (None, question.na_expects):
            told = f"{name} is NA, though {question.id} is {given}"
            yield Reason("safety" if gated else "contradiction", told, (name,))


def _crisis(rubric: Rubric, item: Item, one: Rated, signals: Sequence[Signal]) -> Iterator[Reason]:
    """Signs of a crisis in the user's words, or an NA while nobody could look for them."""
    for signal in signals:
        if (signal.check, signal.signal) != (NAME, SIGNAL) or signal.criterion is None:
            continue
        name = signal.criterion
        if signal.measured:
            yield Reason("safety", f"{name}: signs of a crisis in the user's words", (name,))
            continue
        sheet = read_sheet(rubric, one.answers, (), item.measures())
        review = crisis_review([signal], sheet.answers)
        if review is not None:
            yield Reason("safety", f"{name}: {review.reason}", (name,))


# -- the verdict


def _judged(rubric: Rubric, item: Item, answers: Mapping[str, str], flags: Any = ()) -> Verdict:
    return judge(rubric, read_sheet(rubric, answers, flags, item.measures()))


def _verdict(rubric: Rubric, item: Item, one: Rated, rules: Rules) -> Iterator[Reason]:
    lacking = tuple(one.abstained)
    if lacking and rules.incomplete:
        yield Reason("incomplete", f"no answer on {', '.join(lacking)}", lacking)
    flags = [seen.flag for seen in one.flags]
    verdict = _judged(rubric, item, one.answers, flags)
    near = _near(rubric, verdict, rules)
    if near is not None:
        yield near
    deciding = tuple(
        name
        for name in lacking
        if _outcomes(rubric, item, one, rubric.criterion(name)) - {verdict.passed}
    )
    if deciding:
        told = f"the verdict hangs on {', '.join(deciding)}, without an answer"
        yield Reason("could_flip", told, deciding)


def _near(rubric: Rubric, verdict: Verdict, rules: Rules) -> Reason | None:
    """Whether the score is within the margin; what a red flag or a gate has decided is not near."""
    mark = rubric.aggregation.pass_mark
    rejected = any(rubric.red_flag(name).effect != "indicate" for name in verdict.flags)
    if mark is None or rules.margin is None or verdict.gate == "failed" or rejected:
        return None
    reached, span = _reached(rubric, verdict)
    if reached is None:
        return None
    away = abs(reached - Fraction(mark.value))
    if away > rules.margin * span:
        return None
    told = f"score {float(reached):.3g} is within {float(rules.margin * span):.3g} of "
    return Reason("pass_mark", f"{told}the pass mark {mark.value}")


def _reached(rubric: Rubric, verdict: Verdict) -> tuple[Fraction | None, Fraction]:
    """What the pass mark is held against, and the range it may have."""
    rule = rubric.aggregation
    if isinstance(rule, WeightedCategories):
        return verdict.exact_score, Fraction(1)
    scales = [one for one in rubric.scales if isinstance(one, OrdinalScale)]
    ends = [(one.minimum, one.maximum) for one in scales] or [(0, 1)]
    span = Fraction(max(high for _, high in ends) - min(low for low, _ in ends))
    assert isinstance(rule, Dimensions)
    if rule.pass_mark is not None and rule.pass_mark.of == "minimum":
        return (None if verdict.minimum is None else Fraction(verdict.minimum)), span
    return verdict.exact_mean, span


def _outcomes(rubric: Rubric, item: Item, one: Rated, criterion: Criterion) -> set[bool | None]:
    """What the verdict may be, by the answer to one criterion."""
    points = [str(value) for value in rubric.scale_of(criterion).points_of_scale]
    tried = [*points, NA] if criterion.na.policy != "excluded" else points
    flags = [seen.flag for seen in one.flags]
    return {
        _judged(rubric, item, {**one.answers, criterion.id: value}, flags).passed for value in tried
    }


# -- judges among themselves


def _unsure(one: Rated, rules: Rules) -> Iterator[Reason]:
    if rules.probability is None:
        return
    for name, shares in one.probabilities.items():
        best, second = (*sorted(shares.values(), reverse=True), 0.0, 0.0)[:2]
        if best - second < rules.probability:
            yield Reason("low_margin", f"{name}: {best:.2f} against {second:.2f}", (name,))


def _disagreement(rubric: Rubric, ratings: Sequence[Rated], rules: Rules) -> Iterator[Reason]:
    if rules.dissent is None:
        return
    gated = gated_criteria(rubric)
    for name in rubric.criterion_ids:
        votes = votes_on(name, ratings)
        counts = [len(who) for who in votes.values()]
        if len(counts) < 2:
            continue
        others = Fraction(sum(counts[1:]), sum(counts))
        if name in gated or others >= rules.dissent:
            told = ", ".join(f"{answer} ×{len(who)}" for answer, who in votes.items())
            yield Reason("disagreement", f"{name}: {told}", (name,))


# -- the sum of it


@dataclass(slots=True)
class Summary:
    """How many items went on, and why."""

    items: int = 0
    escalated: int = 0
    reasons: Counter[Why] = field(default_factory=Counter)
    """Items by reason; one item may have several."""

    def add(self, reasons: Iterable[Reason]) -> None:
        """Count one item in."""
        named = {one.why for one in reasons}
        self.items += 1
        self.escalated += bool(named)
        self.reasons.update(named)

    @property
    def share(self) -> float | None:
        """Of the items, how many went on."""
        return self.escalated / self.items if self.items else None

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "items": self.items,
            "escalated": self.escalated,
            "share": self.share,
            "reasons": {why: self.reasons[why] for why in REASONS if self.reasons[why]},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What a cascade costs beside sending everything to the stronger judge."""

    first: Decimal
    """All items, to the first judge."""
    stronger: Decimal
    """The items that went on, to the stronger one."""
    everything: Decimal
    """All items, to the stronger one alone."""

    @property
    def saved(self) -> Decimal:
        """Below nought where the cascade was the dearer way."""
        return self.everything - self.first - self.stronger

    @property
    def share(self) -> float | None:
        """Of what everything would have cost."""
        return float(self.saved / self.everything) if self.everything else None
