"""What became of the items: verdicts, scores, and the final answers behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calibrant.core.answer import NA
from calibrant.core.scale import OrdinalScale, values_as_text
from calibrant.stats.shares import wilson

if TYPE_CHECKING:
    from calibrant.core.criterion import Criterion
    from calibrant.core.rubric import Rubric

BINS = 20
"""Bars of a histogram, at most."""


@dataclass(frozen=True, slots=True)
class Share:
    """Some items among all, with the interval of their share."""

    name: str
    count: int
    share: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Bin:
    """Items whose score lies from ``low`` to ``high``; the upper limit belongs to the next bin."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """How scores are distributed."""

    name: str
    """``score``, or ``mean`` where dimensions stand side by side."""
    items: int
    mean: float
    median: float
    lowest: float
    highest: float
    quartiles: tuple[float, float]
    limits: tuple[float, float]
    """The ends of what can be scored."""
    pass_mark: str | None
    """As the rubric states it: ``>= 0.8``."""
    mark: float | None
    """The same as a number, where it is one of this score."""
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAnswers:
    """The final answers to one criterion."""

    criterion: str
    title: str
    gate: bool
    """Whether it keeps a gate."""
    answers: dict[str, int]
    """How many items have each answer, in the order of the scale; NA last."""
    waiting: int
    """Items whose answer has yet to be settled."""
    failed: int
    """Items that failed it; of a scale of numbers only where a gate says so."""
    failing: bool
    """Whether any answer fails it at all."""
    mean: float | None
    """On a scale of numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What became of all items that were rated in rounds that count."""

    items: int
    outcomes: tuple[Share, ...]
    """Passed, failed, undecided."""
    rated: int
    """Undecided only because the rubric states no pass mark: rated in full."""
    blocked: int
    """Undecided under a red flag that nobody has decided."""
    incomplete: int
    """Undecided with an answer that is missing, in error, or to be settled."""
    safety_failed: int
    """With a gate that an answer shuts."""
    pass_mark: bool
    """Whether the rubric states one."""
    scores: Scores | None
    criteria: tuple[CriterionAnswers, ...]


def verdicts_of(rubric: Rubric, verdicts: pl.DataFrame, finals: pl.DataFrame) -> Verdicts:
    """Verdicts and final answers of a study, counted."""
    outcome = verdicts["verdict"].cast(pl.String)
    complete = verdicts["status"].cast(pl.String) == "complete"
    has_mark = rubric.aggregation.pass_mark is not None
    undecided = outcome == "undecided"
    open_still = undecided & complete & ~verdicts["blocked"]
    return Verdicts(
        items=verdicts.height,
        outcomes=tuple(
            share_of(name, int((outcome == name).sum()), verdicts.height)
            for name in ("passed", "failed", "undecided")
        ),
        rated=0 if has_mark else int(open_still.sum()),
        blocked=int((undecided & verdicts["blocked"]).sum()),
        incomplete=int((undecided & ~complete).sum()),
        safety_failed=int((verdicts["gate"].cast(pl.String) == "failed").sum()),
        pass_mark=has_mark,
        scores=_scores(rubric, verdicts),
        criteria=_criteria(rubric, finals, _failures(verdicts)),
    )


def share_of(name: str, count: int, items: int) -> Share:
    """A share with Wilson's interval."""
    if not items:
        return Share(name, count, None, None)
    return Share(name, count, count / items, wilson(count, items))


# -- scores


def _scores(rubric: Rubric, verdicts: pl.DataFrame) -> Scores | None:
    name = "mean" if "mean" in verdicts.columns else "score"
    values = verdicts[name].drop_nulls().to_numpy()
    if not values.size:
        return None
    limits = _limits(rubric, name)
    rule = rubric.aggregation.pass_mark
    told = None if rule is None else f"{getattr(rule, 'of', 'score')} {rule.op} {rule.value}"
    own = rule is not None and getattr(rule, "of", "score") == name
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return Scores(
        name=name,
        items=len(values),
        mean=round(float(values.mean()), 6),
        median=round(middle, 6),
        lowest=float(values.min()),
        highest=float(values.max()),
        quartiles=(round(low, 6), round(high, 6)),
        limits=limits,
        pass_mark=told,
        mark=float(rule.value) if own and rule is not None else None,
        bins=_bins(values, limits),
    )


def _limits(rubric: Rubric, name: str) -> tuple[float, float]:
    if name == "score":
        return 0.0, 1.0
    scales = [rubric.scale_of(one) for one in rubric.criteria]
    ordered = [one for one in scales if isinstance(one, OrdinalScale)]
    if not ordered:
        return 0.0, 1.0
    return float(min(one.minimum for one in ordered)), float(max(one.maximum for one in ordered))


def _bins(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], limits: tuple[float, float]
) -> tuple[Bin, ...]:
    """Equal bins over the whole scale; the last one has its upper limit."""
    low, high = limits
    edges = np.linspace(low, high, BINS + 1).round(9)
    # a score on an edge belongs to the bin that begins there, however it was rounded
    place = np.searchsorted(edges, values + 1e-9, side="right") - 1
    counts = np.bincount(place.clip(0, BINS - 1), minlength=BINS)
    return tuple(Bin(float(edges[at]), float(edges[at + 1]), int(counts[at])) for at in range(BINS))


# -- criteria


def _failures(verdicts: pl.DataFrame) -> dict[str, int]:
    """How many items failed each criterion, unsettled and missing answers left out."""
    rows = verdicts.select("item", "failed_checks", "missing", "errors")
    kept = rows.select(
        pl.col("failed_checks")
        .list.set_difference(pl.col("missing"))
        .list.set_difference(pl.col("errors"))
        .alias("name")
    )
    counted = kept.explode("name").drop_nulls().group_by("name").len()
    return {str(name): int(count) for name, count in counted.iter_rows()}


def _criteria(
    rubric: Rubric, finals: pl.DataFrame, failures: dict[str, int]
) -> tuple[CriterionAnswers, ...]:
    gated = {name for gate in rubric.gates or () for name in gate.criteria}
    given: dict[str, dict[str | None, int]] = {}
    counted = finals.group_by(pl.col("criterion").cast(pl.String), "answer").len()
    for name, answer, count in counted.iter_rows():
        given.setdefault(name, {})[answer] = count
    return tuple(
        _criterion(rubric, one, given.get(one.id, {}), failures.get(one.id, 0), one.id in gated)
        for one in rubric.criteria
    )


def _criterion(
    rubric: Rubric, one: Criterion, given: dict[str | None, int], failed: int, gate: bool
) -> CriterionAnswers:
    scale = rubric.scale_of(one)
    points = [*values_as_text(scale)]
    answers = {text: given.get(text, 0) for text in points}
    if given.get(NA):
        answers[NA] = given[NA]
    count = sum(answers[text] for text in points)
    mean = None
    if isinstance(scale, OrdinalScale) and count:
        mean = round(sum(int(text) * answers[text] for text in points) / count, 6)
    return CriterionAnswers(
        criterion=one.id,
        title=one.title,
        gate=gate,
        answers=answers,
        waiting=given.get(None, 0),
        failed=failed,
        failing=bool(rubric.failing_values(one)),
        mean=mean,
    )
