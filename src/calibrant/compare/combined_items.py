"""What each method says about every item, beside final answers, and why to look again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.rating_tables import RatingTable
from calibrant.compare.rulers import ALL
from calibrant.core.errors import SourceError
from calibrant.stats.counts import ABSENT, Patterns
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
    place: NDArray[Any],
) -> pl.DataFrame:
    """One row an item that was answered; every text is made once a pattern."""
    made: dict[str, pl.Series] = {"answers": pl.Series(_told(found, labels), dtype=pl.String)}
    for name, one in columns.items():
        made[name] = pl.Series(one.answer, dtype=pl.String)
        if one.probability is not None:
            made[f"{name}_probability"] = pl.Series(one.probability.round(6))
    made["probability"] = made.get(
        "dawid_skene_probability", pl.repeat(None, len(found.times), dtype=pl.Float64, eager=True)
    )
    made["why"] = pl.Series(_why(columns), dtype=pl.String)
    kept = np.flatnonzero((found.codes != ABSENT).any(axis=0)[place])
    frame = pl.DataFrame({name: one.gather(place[kept]) for name, one in made.items()})
    return pl.concat([units[kept.tolist()], frame], how="horizontal")


def _told(found: Patterns, labels: Sequence[str]) -> list[str]:
    """The answers of each pattern with how many gave them, most frequent first."""
    counts = np.stack([(found.codes == at).sum(axis=0) for at in range(len(labels))], axis=1)
    order = np.argsort(-counts, axis=1, kind="stable")
    return [
        ", ".join(f"{labels[at]} {row[at]}" for at in ranks if row[at])
        for row, ranks in zip(counts, order, strict=True)
    ]


def _why(columns: dict[str, Column]) -> list[str]:
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
        out.append("; ".join(dict.fromkeys(reasons)))
    return out


# -- final answers


def final_answers(
    finals: RatingTable | None, criterion: str, items: pl.DataFrame
) -> pl.Series | None:
    """The final answer of each item, where there is one."""
    if finals is None:
        return None
    named_alike = [one for one in finals.criteria if one.name in (criterion, ALL)]
    if not named_alike:
        return None
    if len(finals.raters) > 1:
        raise SourceError("the file of final answers has two answers to one item and criterion")
    asked = named_alike[0]
    labels = [*asked.ruler.labels, "NA"]
    known = {
        item: labels[code]
        for item, code in zip(finals.units["item"].to_list(), asked.codes[0], strict=True)
        if code != ABSENT
    }
    return pl.Series("final", [known.get(one) for one in items["item"]], dtype=pl.String)


def beside(items: pl.DataFrame, final: pl.Series, methods: Sequence[str]) -> pl.DataFrame:
    """The items with their final answers; where some method says otherwise, that is a reason."""
    apart = pl.any_horizontal(pl.col(name) != pl.col("final") for name in methods)
    told = pl.concat_str(
        pl.when(pl.col("why") != "").then(pl.col("why") + "; ").otherwise(pl.lit("")),
        pl.when(apart.fill_null(False))
        .then(pl.lit("the final answer differs"))
        .otherwise(pl.lit("")),
    )
    return items.with_columns(final).with_columns(told.str.strip_suffix("; ").alias("why"))


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
