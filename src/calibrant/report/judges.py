"""How far judges may be trusted: each beside people, under the ceiling of people's agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from calibrant.compare.judge_trust import judge_trust
from calibrant.compare.judged import Side
from calibrant.compare.rating_columns import Reading
from calibrant.core.answer import ERROR
from calibrant.report.agreement import Figure, figure
from calibrant.report.asking import Asked, Missing
from calibrant.study.table import carried

if TYPE_CHECKING:
    from calibrant.compare.judge_trust import CriterionTrust, JudgeTrust
    from calibrant.core.rubric import Rubric
    from calibrant.core.study import Round

COMPARED = ("percent", "krippendorff_alpha", "gwet_ac", "cohen_kappa")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCriterion:
    """A judge beside people on one criterion."""

    criterion: str | None
    answer: str
    """may replace, may pre-sort, needs more human labels, may not be used."""
    why: str
    more_labels: int | None
    items: int
    with_people: tuple[Figure, ...]
    """Agreement of the judge with people."""
    ceiling: tuple[Figure, ...]
    """Agreement of people with each other, on the same items."""
    bias: float | None
    bias_interval: tuple[float, float] | None
    bias_of: str | None
    false_passes: int | None
    """At a gate: items that people failed and the judge let through."""
    people_failed: int | None

    def alpha(self, side: str) -> Figure | None:
        """Krippendorff's alpha of a side: ``with_people`` or ``ceiling``."""
        found: tuple[Figure, ...] = getattr(self, side)
        alphas = [one for one in found if one.coefficient.startswith("krippendorff_alpha")]
        return alphas[-1] if alphas else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What may be done with a judge."""

    judge: str
    rounds: tuple[int, ...]
    people: int
    answer: str
    """The least that is said of any criterion."""
    why: str
    criteria: tuple[JudgeCriterion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """All judges that rated, and those that could not be held beside people."""

    judges: tuple[Judge, ...]
    left_out: dict[str, str]
    """By name, and why."""


def judges_of(
    asked: Asked, rounds: list[Round], versions: dict[str, Rubric], *, leads: bool
) -> Judges | None:
    """Hold each judge beside people; None where no judge rated.

    A lead knows at once whether there are any; others are told by the answers they may see.
    """
    if leads and not any(one.kind == "LLM" for one in asked.study.members()):
        return None
    answers = asked.study.ratings()
    names = answers.filter(pl.col("kind") == "LLM")["rater"].unique().sort().to_list()
    if not names:
        return None
    now = asked.study.rubric()
    kinds = {one.number: one.kind for one in rounds}
    table = _current(answers, versions, now)
    found: list[Judge] = []
    left_out: dict[str, str] = {}
    for name in names:
        chosen, used = _beside(table, name, kinds)
        told = asked.get(lambda _, rows=chosen, who=name: _trust(rows, now, who))  # type: ignore[misc]
        if isinstance(told, Missing):
            left_out[asked.naming.name(name)] = told.why
        else:
            found.append(_judge(asked, told, used))
    return Judges(judges=tuple(found), left_out=left_out)


def _current(answers: pl.DataFrame, versions: dict[str, Rubric], now: Rubric) -> pl.DataFrame:
    """Answers that stand under the version in force: where what raters read is unchanged."""
    parts = []
    for version in answers["rubric"].unique(maintain_order=True):
        kept = {before: name for name, before in carried(versions[version], now).items()}
        mine = answers.filter((pl.col("rubric") == version) & (pl.col("answer") != ERROR))
        mine = mine.filter(pl.col("criterion").is_in(list(kept)))
        names = pl.col("criterion").cast(pl.String).replace_strict(kept, return_dtype=pl.String)
        parts.append(mine.with_columns(names))
    return pl.concat(parts) if parts else answers


def _beside(
    table: pl.DataFrame, judge: str, kinds: Mapping[int, str]
) -> tuple[pl.DataFrame, tuple[int, ...]]:
    """Answers of a judge and of people, in the rounds in which the judge rated.

    Rounds that count go first; a judge that was only calibrated is held beside people there. Of
    several answers to one item each rater's last counts.
    """
    rated = set(table.filter(pl.col("rater") == judge)["round"].unique().to_list())
    main = {one for one in rated if kinds.get(one) == "main"}
    practice = {one for one in rated if kinds.get(one) != "onboarding"}
    used = tuple(sorted(main or practice))
    both = table.filter(
        pl.col("round").is_in(used)
        & ((pl.col("rater") == judge) | (pl.col("kind") == "HUMAN"))
        & (pl.col("occasion") == 1)
    )
    if len(used) > 1:
        both = both.sort("round", maintain_order=True).unique(
            ["item", "rater", "criterion"], keep="last", maintain_order=True
        )
    # limits are resampled from the order that answers stand in
    return both.sort("item", "rater", maintain_order=True), used


def _trust(rows: pl.DataFrame, rubric: Rubric, judge: str) -> JudgeTrust:
    table = rows.select("item", "rater", "kind", "criterion", "answer")
    return judge_trust(Side([table], "study"), None, Reading(rubric=rubric), judge=judge)


def _judge(asked: Asked, found: JudgeTrust, rounds: tuple[int, ...]) -> Judge:
    return Judge(
        judge=asked.naming.name(found.judge),
        rounds=rounds,
        people=len(found.people),
        answer=found.answer.word,
        why=found.answer.why,
        criteria=tuple(map(_criterion, found.criteria)),
    )


def _criterion(one: CriterionTrust) -> JudgeCriterion:
    passes, bias = one.false_passes, one.bias
    return JudgeCriterion(
        criterion=one.criterion,
        answer=one.answer.word,
        why=one.answer.why,
        more_labels=one.answer.more_labels,
        items=one.n_items,
        with_people=tuple(figure(each) for each in one.agreement if each.coefficient in COMPARED),
        ceiling=tuple(figure(each) for each in one.ceiling if each.coefficient in COMPARED),
        bias=None if bias is None else bias.value,
        bias_interval=None if bias is None else bias.interval,
        bias_of=None if bias is None else bias.what,
        false_passes=None if passes is None else passes.passed,
        people_failed=None if passes is None else passes.failed,
    )
