"""What each method says about every item, beside final answers, and why to look again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.rating_tables import CriterionTable, RatingTable
from calibrant.compare.rulers import ALL, number_of
from calibrant.core.errors import SourceError
from calibrant.stats.counts import ABSENT, Patterns
from calibrant.stats.runs import Codes
from calibrant.stats.shares import wilson
from calibrant.stats.votes import Vote

SURE = 0.9
"""Probability of an answer below which somebody should look again."""


@dataclass(frozen=True, slots=True)
class AgainstFinal:
    """How often a method gives the final answer."""

    method: str
    same: int
    decided: int
    undecided: int
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Column:
    """What one method says about each pattern."""

    answer: list[str | None]
    why: list[str]
    probability: NDArray[np.float64] | None = None
    entropy: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """What stands around the patterns."""

    place: NDArray[Any]
    """The pattern of each item, shape (N,)."""
    votes: Patterns
    """The patterns with one answer a person: who answers twice is not two people."""
    judges: Codes
    """Answers that were not counted, a row a judge, shape (J, N)."""
    shuts: NDArray[np.bool_]
    """Which answers shut a gate, shape (K,)."""


def voted(vote: Vote, labels: Sequence[str]) -> Column:
    """What a vote says; where it is undecided, between which answers."""
    why = []
    for decided, between in zip(vote.answer != ABSENT, vote.between, strict=True):
        tied = [labels[int(at)] for at in np.flatnonzero(between)]
        why.append("" if decided or not tied else "tie between " + " and ".join(tied))
    return Column([None if at == ABSENT else labels[int(at)] for at in vote.answer], why)


def modelled(posterior: NDArray[np.float64], labels: Sequence[str]) -> Column:
    """The most probable answer; two that are equally probable are a tie."""
    best = posterior.max(axis=1)
    tied = (posterior >= best[:, None] - 1e-9).sum(axis=1) > 1
    at = posterior.argmax(axis=1)
    answer = [None if even else labels[int(one)] for one, even in zip(at, tied, strict=True)]
    return Column(answer, ["" for _ in answer], best)


def item_table(
    units: pl.DataFrame,
    columns: dict[str, Column],
    found: Patterns,
    labels: Sequence[str],
    where: Where,
) -> pl.DataFrame:
    """One row an item that was answered; every text is made once a pattern."""
    place = where.place
    made: dict[str, pl.Series] = {"answers": pl.Series(_told(found, labels), dtype=pl.String)}
    for name, one in columns.items():
        made[name] = pl.Series(one.answer, dtype=pl.String)
        if one.probability is not None:
            made[f"{name}_probability"] = pl.Series(one.probability.round(6))
        if one.entropy is not None:
            made[f"{name}_entropy"] = pl.Series(one.entropy.round(6))
    made["probability"] = made.get(
        "dawid_skene_probability", pl.repeat(None, len(found.times), dtype=pl.Float64, eager=True)
    )
    shuts = np.append(where.shuts, False)[np.minimum(found.codes, len(labels))]
    made["why"] = pl.Series(_why(columns, np.asarray(shuts.any(axis=0))), dtype=pl.String)
    kept = np.flatnonzero((found.codes != ABSENT).any(axis=0)[place])
    frame = pl.DataFrame({name: one.gather(place[kept]) for name, one in made.items()})
    against_all = pl.Series(_contradicted(where)[kept])
    told = joined(pl.col("why"), against_all, "a judge contradicts all people")
    return pl.concat([units[kept.tolist()], frame.with_columns(told)], how="horizontal")


def joined(why: pl.Expr, hit: pl.Series | pl.Expr, reason: str) -> pl.Expr:
    """Reasons with one more where it holds."""
    more = pl.when(hit).then(pl.lit(reason)).otherwise(pl.lit(""))
    between = pl.when((why != "") & hit).then(pl.lit("; ")).otherwise(pl.lit(""))
    return pl.concat_str(why, between, more).alias("why")


def _contradicted(where: Where) -> NDArray[np.bool_]:
    """The items that two people or more answered all alike, and a judge otherwise."""
    codes = where.votes.codes
    given = codes != ABSENT
    low = np.where(given, codes, np.uint8(ABSENT)).min(axis=0)
    high = np.where(given, codes, np.uint8(0)).max(axis=0)
    alike = (given.sum(axis=0) >= 2) & (low == high)
    judges = where.judges
    other = (judges != ABSENT) & (judges != low[where.place])
    return np.asarray(alike[where.place] & other.any(axis=0))


def _told(found: Patterns, labels: Sequence[str]) -> list[str]:
    """The answers of each pattern with how many gave them, most frequent first."""
    counts = np.stack([(found.codes == at).sum(axis=0) for at in range(len(labels))], axis=1)
    order = np.argsort(-counts, axis=1, kind="stable")
    return [
        ", ".join(f"{labels[at]} {row[at]}" for at in ranks if row[at])
        for row, ranks in zip(counts, order, strict=True)
    ]


def _why(columns: dict[str, Column], shuts: NDArray[np.bool_]) -> list[str]:
    """Why somebody should look at each pattern again; nothing where there is no reason."""
    out = []
    sure = columns["dawid_skene"].probability if "dawid_skene" in columns else None
    for at in range(len(columns["majority"].answer)):
        reasons = [one.why[at] for one in columns.values() if one.why[at]]
        answers = {one.answer[at] for one in columns.values()} - {None}
        if len(answers) > 1:
            reasons.append("methods differ")
        if sure is not None and sure[at] < SURE:
            reasons.append(f"no answer is more than {sure[at]:.2f} probable")
        if shuts[at]:
            reasons.append("somebody's answer shuts a gate")
        out.append("; ".join(dict.fromkeys(reasons)))
    return out


# -- final answers


def final_answers(
    finals: RatingTable | None, rated: CriterionTable, items: pl.DataFrame
) -> pl.Series | None:
    """The final answer of each item, where there is one, in the words of the ratings."""
    if finals is None:
        return None
    named_alike = [one for one in finals.criteria if one.name in (rated.name, ALL)]
    if not named_alike:
        return None
    if len(finals.raters) > 1:
        raise SourceError("the file of final answers has two answers to one item and criterion")
    asked = named_alike[0]
    labels = [*asked.ruler.labels, "NA"]
    if asked.ruler.numeric and rated.ruler.numeric:  # 4 and 4.0 are one answer
        called = {number_of(one): one for one in rated.ruler.labels}
        labels = [called.get(number_of(one), one) for one in labels]
    known = {
        item: labels[code]
        for item, code in zip(finals.units["item"].to_list(), asked.codes[0], strict=True)
        if code != ABSENT
    }
    return pl.Series("final", [known.get(one) for one in items["item"]], dtype=pl.String)


def beside(items: pl.DataFrame, final: pl.Series, methods: Sequence[str]) -> pl.DataFrame:
    """The items with their final answers; where some method says otherwise, that is a reason."""
    apart = pl.any_horizontal(pl.col(name) != pl.col("final") for name in methods)
    told = joined(pl.col("why"), apart.fill_null(False), "the final answer differs")
    return items.with_columns(final).with_columns(told)


def against(items: pl.DataFrame, methods: Sequence[str]) -> list[AgainstFinal]:
    """How often each method gives the final answer, where there is one."""
    settled = items.filter(pl.col("final").is_not_null())
    out = []
    for name in methods:
        decided = settled.filter(pl.col(name).is_not_null())
        same = int((decided[name] == decided["final"]).sum())
        limits = wilson(same, decided.height) if decided.height else None
        undecided = settled.height - decided.height
        out.append(AgainstFinal(name, same, decided.height, undecided, limits))
    return out
