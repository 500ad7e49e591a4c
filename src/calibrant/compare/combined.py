"""From a table of ratings to one answer an item: what ``calibrant combine`` shows.

Counting (majority, median) and models of raters (Dawid and Skene, MACE) stand side by side, beside
final answers where a file gives them. What a method does not decide, it does not answer, and says
why. Nothing here changes a rating, and nothing is final: that is for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.combined_items import (
    AgainstFinal,
    Column,
    Where,
    against,
    beside,
    final_answers,
    item_table,
    modelled,
    voted,
)
from calibrant.compare.gate_answers import shutting_answers
from calibrant.compare.rating_columns import Reading, named
from calibrant.compare.rating_tables import CriterionTable, RatingTable, rating_table
from calibrant.compare.rulers import ALL, number_of
from calibrant.core.rubric import Rubric
from calibrant.stats.counts import ABSENT, Patterns, grouped
from calibrant.stats.dawid_skene import DawidSkene, dawid_skene
from calibrant.stats.mace import Mace, mace
from calibrant.stats.votes import majority, median
from calibrant.stats.weights import Ruler

LEAST_RATERS, LEAST_ITEMS = 3, 10
"""With fewer, who errs cannot be told."""
FEW_ANSWERS = 30
"""Answers of a rater below which a table of errors is not to be trusted."""
_OCCASION = " · occasion "


@dataclass(frozen=True, slots=True)
class Fit:
    """How a model was fitted, or why it was not."""

    model: str
    rounds: int = 0
    converged: bool = False
    height: float | None = None
    """Log likelihood of Dawid and Skene; bound of the log evidence of MACE."""
    start: str = ""
    undefined: str | None = None


@dataclass(slots=True)
class Combined:
    """What the answers to one criterion come to."""

    criterion: str | None
    labels: tuple[str, ...]
    items: pl.DataFrame
    """One row an item: what each method says, how surely, and why to look again."""
    raters: list[dict[str, Any]]
    """Answers, accuracy, bias and competence of each."""
    confusion: dict[str, list[list[float]]]
    """By rater: a row for each true answer, as Dawid and Skene's model sees it."""
    shares: dict[str, float]
    """How frequent each true answer is, by the same model."""
    fits: list[Fit]
    against_final: list[AgainstFinal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def differing(self) -> pl.DataFrame:
        """The items to look at again, those with the least sure answers first."""
        found = self.items.filter(pl.col("why") != "")
        return found.sort("probability", nulls_last=False, maintain_order=True)

    def to_dict(self, *, every_item: bool = False) -> dict[str, Any]:
        """For machines; the items that need a look, or all of them."""
        shown = self.items if every_item else self.differing
        return {
            "criterion": self.criterion,
            "labels": list(self.labels),
            "n_items": self.items.height,
            "shares": self.shares,
            "raters": self.raters,
            "confusion": self.confusion,
            "fits": [_record(one) for one in self.fits],
            "against_final": [_record(one) for one in self.against_final],
            "notes": self.notes,
            "items" if every_item else "differing": shown.to_dicts(),
        }


@dataclass(slots=True)
class CombinedReport:
    """What a table of ratings comes to, criterion by criterion."""

    criteria: list[Combined]
    raters: tuple[str, ...]
    left_out: tuple[str, ...]
    """Raters who are no people, where people were told apart: they are not counted."""
    excluded: list[dict[str, Any]]
    seed: int

    def to_dict(self, *, every_item: bool = False) -> dict[str, Any]:
        """For machines."""
        return {
            "raters": list(self.raters),
            "left_out": list(self.left_out),
            "excluded": self.excluded,
            "seed": self.seed,
            "criteria": [one.to_dict(every_item=every_item) for one in self.criteria],
        }

    def to_frame(self) -> pl.DataFrame:
        """One row an item and criterion."""
        parts = [
            one.items.insert_column(0, pl.lit(one.criterion, pl.String).alias("criterion"))
            for one in (replace(each, items=each.items.clone()) for each in self.criteria)
        ]
        return pl.concat(parts, how="diagonal_relaxed")


def _record(one: Any) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def combined_of_frames(
    frames: Iterable[pl.DataFrame],
    how: Reading,
    source: str,
    *,
    finals: RatingTable | None = None,
    every_rater: bool = False,
    smoothing: float = 0.0,
    seed: int = 0,
) -> CombinedReport:
    """What the ratings in parts of a file come to; repeats of a rater are further evidence.

    Where the table tells people from judges and checks, only people are counted, unless
    ``every_rater`` says otherwise: a judge must not be part of what it is measured against.
    """
    table = rating_table(_by_occasion(frames, how, source), replace(how, columns={}), source)
    rows, left_out = _counted(table, every_rater)
    people = _People(table, rows, how.rubric)
    return CombinedReport(
        [_combined(people, one, finals, smoothing, seed) for one in table.criteria],
        people.names,
        left_out,
        table.excluded,
        seed,
    )


def _by_occasion(
    frames: Iterable[pl.DataFrame], how: Reading, source: str
) -> Iterable[pl.DataFrame]:
    """Every occasion of a rater as a row of its own; whose it is stands in the name."""
    for frame in frames:
        known = named(frame, how, source)
        if {"rater", "occasion"} <= set(known.columns):
            again = pl.concat_str(pl.col("rater"), pl.lit(_OCCASION), pl.col("occasion"))
            first = pl.col("occasion").cast(pl.String).is_in(["", "1"])
            several = pl.when(first | pl.col("occasion").is_null())
            known = known.with_columns(several.then("rater").otherwise(again).alias("rater"))
            known = known.drop("occasion")
        yield known


def _counted(table: RatingTable, every_rater: bool) -> tuple[list[int], tuple[str, ...]]:
    """The rows of codes that count, and the raters that do not."""
    kinds = set(table.kinds.values())
    rows = list(range(len(table.raters)))
    if every_rater or "HUMAN" not in kinds or len(kinds) == 1:
        return rows, ()
    kept = [at for at in rows if table.kinds.get(table.raters[at]) == "HUMAN"]
    others = [_owner(table.raters[at]) for at in rows if at not in kept]
    return kept, tuple(dict.fromkeys(others))


def _owner(name: str) -> str:
    return name.partition(_OCCASION)[0]


def _occasion(name: str) -> tuple[float, str]:
    """In which order occasions come: by number, others behind by name; the first has none."""
    told = name.partition(_OCCASION)[2]
    number = number_of(told) if told else 0.0
    return (np.inf if number is None else number), told


class _People:
    """Who is counted: rows of codes, and whose each is."""

    def __init__(self, table: RatingTable, rows: Sequence[int], rubric: Rubric | None) -> None:
        self.table, self.rubric = table, rubric
        self.others = [at for at in range(len(table.raters)) if at not in rows]
        self.rows = sorted(rows, key=lambda at: _occasion(table.raters[at]))  # earliest first
        owners = [_owner(table.raters[at]) for at in self.rows]
        self.names = tuple(dict.fromkeys(_owner(table.raters[at]) for at in rows))
        self.rater_of = [self.names.index(one) for one in owners]
        self.kinds = {_owner(name): kind for name, kind in table.kinds.items()}

    def shutting(self, criterion: str) -> frozenset[str]:
        """The answers to a criterion that shut a gate."""
        return shutting_answers(self.rubric, criterion)

    def votes(self, found: Patterns) -> Patterns:
        """One row a rater, their earliest answer: repeats give nobody a second vote."""
        codes = np.full((len(self.names), found.codes.shape[1]), ABSENT, np.uint8)
        for rater, row in zip(self.rater_of, found.codes, strict=True):
            codes[rater] = np.where(codes[rater] == ABSENT, row, codes[rater])
        return Patterns(codes, found.times)

    def why_no_model(self, found: Patterns, values: int) -> str | None:
        """Why raters cannot be modelled, if they cannot."""
        several = (self.votes(found).codes != ABSENT).sum(axis=0) >= 2
        items = int(found.times[several].sum())
        if self.table.anonymous:
            return "raters are not told apart"
        if len(self.names) < LEAST_RATERS:
            return f"{len(self.names)} raters: from fewer than three nobody can tell who errs"
        if items < LEAST_ITEMS:
            return f"{items} items with two answers: too few, {LEAST_ITEMS} at least"
        if values < 2 or len(np.unique(found.codes[found.codes != ABSENT])) < 2:
            return "no variation: all answers are the same"
        return None


def _combined(
    people: _People,
    asked: CriterionTable,
    finals: RatingTable | None,
    smoothing: float,
    seed: int,
) -> Combined:
    ruler = asked.ruler
    labels = (*ruler.labels, "NA") if asked.has_na else ruler.labels
    found, places = grouped(asked.codes[people.rows], len(labels))
    votes = people.votes(found)
    why_not = people.why_no_model(found, len(labels))
    skene = guess = None
    if why_not is None:
        skene = dawid_skene(found, len(labels), people.rater_of, smoothing=smoothing)
        guess = mace(found, len(labels), people.rater_of, seed=seed)
    columns: dict[str, Column] = {"majority": voted(majority(votes, len(labels)), labels)}
    if ruler.level != "nominal":
        on_scale = np.where(votes.codes < len(ruler.labels), votes.codes, ABSENT)
        middle = median(Patterns(on_scale, found.times), len(ruler.labels))
        columns["median"] = voted(middle, ruler.labels)
    if skene is not None and guess is not None:
        columns["dawid_skene"] = modelled(skene.posterior, labels)
        known = modelled(guess.posterior, labels)
        columns["mace"] = replace(known, entropy=guess.entropy)
    shuts = np.array([label in people.shutting(asked.name) for label in labels], bool)
    where = Where(places(), votes, asked.codes[people.others], shuts)
    items = item_table(people.table.units, columns, found, labels, where)
    name = None if asked.name == ALL else asked.name
    final = final_answers(finals, asked, items)
    if final is not None:
        items = beside(items, final, list(columns))
    return Combined(
        name,
        labels,
        items,
        _raters(people, found, skene, guess, None if asked.has_na else ruler),
        {} if skene is None else _confusion(people, skene),
        {} if skene is None else _shares(labels, skene),
        _fits(skene, guess, why_not, smoothing),
        [] if final is None else against(items, list(columns)),
        _notes(people, found, skene),
    )


# -- raters and models


def _raters(
    people: _People,
    found: Patterns,
    skene: DawidSkene | None,
    guess: Mace | None,
    ruler: Ruler | None,
) -> list[dict[str, Any]]:
    labels = _answers_of(people, found)
    bias = None
    if skene is not None and ruler is not None and ruler.level != "nominal":
        bias = skene.bias(ruler.points)
    return [
        {
            "rater": name,
            "kind": people.kinds.get(name),
            "answers": int(labels[at]),
            "accuracy": None if skene is None else round(float(skene.accuracy[at]), 6),
            "bias": None if bias is None else round(float(bias[at]), 6),
            "competence": None if guess is None else round(float(guess.competence[at]), 6),
        }
        for at, name in enumerate(people.names)
    ]


def _answers_of(people: _People, found: Patterns) -> NDArray[np.int64]:
    by_row = ((found.codes != ABSENT) * found.times).sum(axis=1)
    return np.bincount(people.rater_of, by_row, len(people.names)).astype(np.int64)


def _confusion(people: _People, skene: DawidSkene) -> dict[str, list[list[float]]]:
    return dict(zip(people.names, skene.confusion.round(6).tolist(), strict=True))


def _shares(labels: Sequence[str], skene: DawidSkene) -> dict[str, float]:
    return dict(zip(labels, skene.shares.round(6).tolist(), strict=True))


def _fits(
    skene: DawidSkene | None, guess: Mace | None, why_not: str | None, smoothing: float
) -> list[Fit]:
    if skene is None or guess is None:
        return [Fit(name, undefined=why_not) for name in ("dawid_skene", "mace")]
    prior = f", {smoothing:g} answers of every kind added" if smoothing else ""
    return [
        Fit(
            "dawid_skene",
            skene.rounds,
            skene.converged,
            skene.log_likelihood,
            f"from shares of answers{prior}",
        ),
        Fit(
            "mace",
            guess.rounds,
            guess.converged,
            guess.bound,
            f"best of {guess.starts} starts, seed {guess.seed}",
        ),
    ]


def _notes(people: _People, found: Patterns, skene: DawidSkene | None) -> list[str]:
    if skene is None:
        return []
    notes = []
    few = int((_answers_of(people, found) < FEW_ANSWERS).sum())
    if few:
        notes.append(
            f"{few} of {len(people.names)} raters have fewer than {FEW_ANSWERS} answers: their "
            "tables of errors are guesses; read MACE before Dawid–Skene"
        )
    if skene.turned:
        notes.append(
            "some true answer is most often called by another's name: do not use Dawid–Skene here"
        )
    return notes
