"""From a judged set and some labels to corrected figures: what ``calibrant estimate`` shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.estimate_report import Estimated, EstimateReport, NextLabels, Wish
from calibrant.compare.judged import Array, Judged, Quantity, Side, item_column, judged_set
from calibrant.compare.rating_columns import Reading
from calibrant.core.errors import SourceError
from calibrant.stats.next_labels import draw, groups_of, plan
from calibrant.stats.prediction_powered import (
    Figure,
    Sample,
    judge_alone,
    people_alone,
    powered,
    representative,
)
from calibrant.stats.rogan_gladen import rogan_gladen

FAR = 3.0
"""Standard errors from which labels are no random sample of the judged items."""


def estimated(judged: Side, labels: Side | None, how: Reading, wish: Wish) -> EstimateReport:
    """Every figure of a judged set and its labels; of several systems, their differences too."""
    if wish.system is None:
        found = judged_set(judged, labels, how, judge=wish.judge)
        return _of_one(found, _design(found, judged, labels, how, wish), wish)
    systems = list(dict.fromkeys(_words(judged, wish.system)))
    if len(systems) < 2:
        raise SourceError(f"{judged.name}: column {wish.system!r} names fewer than two systems")
    sets = {}
    for name in systems:
        own = _of_system(judged, wish.system, name)
        more = None if labels is None else _of_system(labels, wish.system, name)
        found = judged_set(own, more, how, judge=wish.judge)
        sets[name] = (found, _design(found, own, more, how, wish))
    return _of_several(sets, wish)


def _words(side: Side, column: str) -> list[str]:
    """The words in a column, in their order."""
    if any(column not in one.columns for one in side.frames):
        raise SourceError(f"{side.name}: there is no column {column!r}")
    return [
        str(value)
        for one in side.frames
        for value in one[column].drop_nulls().unique(maintain_order=True).to_list()
    ]


def _of_system(side: Side, column: str, name: str) -> Side:
    if any(column not in one.columns for one in side.frames):
        raise SourceError(f"{side.name}: there is no column {column!r}")
    frames = [one.filter(pl.col(column).cast(pl.String) == name) for one in side.frames]
    return Side(frames, f"{side.name}, {name}")


# -- the design of a sample


@dataclass(frozen=True, slots=True)
class _Design:
    stratum: NDArray[np.int64] | None
    cluster: NDArray[np.int64] | None
    probability: Array | None
    found_strata: bool = False

    def of(self, rows: NDArray[np.int64]) -> _Design:
        """The design of some of the items."""
        return _Design(
            None if self.stratum is None else self.stratum[rows],
            None if self.cluster is None else self.cluster[rows],
            None if self.probability is None else self.probability[rows],
            self.found_strata,
        )


def _design(found: Judged, judged: Side, labels: Side | None, how: Reading, wish: Wish) -> _Design:
    frames = [*judged.frames, *(labels.frames if labels is not None else ())]
    stratum = cluster = probability = None
    by_name = {one.name: one for one in found.quantities}
    if wish.strata is not None:
        if wish.strata in by_name:
            said = by_name[wish.strata].judge.total
            stratum = groups_of(np.where(np.isnan(said), np.inf, said))
        else:
            stratum = _numbered(found, item_column(frames, how, wish.strata), wish.strata)
    if wish.cluster is not None:
        cluster = _numbered(found, item_column(frames, how, wish.cluster), wish.cluster)
    if wish.probability is not None:
        probability = _probabilities(found, item_column(frames, how, wish.probability))
    return _Design(stratum, cluster, probability, wish.strata in by_name)


def _numbered(found: Judged, by_item: dict[str, str], column: str) -> NDArray[np.int64]:
    without = sum(one not in by_item for one in found.items)
    if without:
        raise SourceError(f"{without:,} items have nothing in column {column!r}")
    words = [by_item[one] for one in found.items]
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def _probabilities(found: Judged, by_item: dict[str, str]) -> Array:
    """Of the items that have one; those that people labelled must."""
    out = np.full(len(found.items), np.nan)
    for at, item in enumerate(found.items):
        if item in by_item:
            try:
                out[at] = float(by_item[item])
            except ValueError:
                raise SourceError(f"{by_item[item][:40]!r} is no probability") from None
    if not ((out > 0) & (out <= 1) | np.isnan(out)).all():
        raise SourceError("a probability of being labelled must be above 0 and at most 1")
    return out


def _sample(
    one: Quantity, design: _Design, judge: Array, people: Array, *, bounded: bool = True
) -> Sample:
    """The items that the judge answered."""
    kept = ~np.isnan(judge)
    labels = people[kept]
    probability = None if design.probability is None else design.probability[kept]
    if probability is not None and np.isnan(probability[~np.isnan(labels)]).any():
        raise SourceError("some labelled items have no probability of being labelled")
    return Sample(
        judge[kept],
        labels,
        None if design.stratum is None else design.stratum[kept],
        None if design.cluster is None else design.cluster[kept],
        probability,
        one.step,
        one.bounds if bounded else None,
        design.found_strata,
    )


# -- figures


Estimator = Callable[[Sample], Figure]


def _methods(wish: Wish) -> dict[str, Estimator]:
    return {
        "judge_alone": judge_alone,
        "people_alone": people_alone,
        "prediction_powered": lambda sample: powered(sample, wish.seed),
    }


def _figure(one: Quantity, design: _Design, estimate: Estimator) -> tuple[Figure, Array, Array]:
    """A figure, and what judge and people say of each item as plain numbers.

    Where NA was answered, the figure is a ratio: the value over how far it applies. It is taken
    to first order: each item counts by how far it moves the ratio.
    """
    judge, people = one.judge, one.people
    whole = np.nansum(judge.applies < 1) == np.nansum(people.applies < 1) == 0
    if whole:
        found = estimate(_sample(one, design, judge.total, people.total))
        return found, judge.total, people.total
    top = estimate(_sample(one, design, judge.total, people.total, bounded=False))
    below = estimate(_sample(one, design, judge.applies, people.applies, bounded=False))
    if top.value is None or below.value is None or below.value <= 0:
        why = top.undefined or "it applies to no item"
        none = Figure(n_labels=top.n_labels, n_judged=top.n_judged, undefined=why)
        return none, judge.total, people.total
    ratio = top.value / below.value
    moved = [(said.total - ratio * said.applies) / below.value for said in (judge, people)]
    found = estimate(_sample(one, design, *moved, bounded=False))
    if found.value is None or found.interval is None:
        return found, judge.total, people.total
    low, value, high = (
        min(max(ratio + part, one.bounds[0]), one.bounds[1])
        for part in (found.interval[0], found.value, found.interval[1])
    )
    found = replace(found, value=value, interval=(low, high))
    return found, ratio + moved[0], ratio + moved[1]


def _figures(
    one: Quantity, design: _Design, wish: Wish, system: str | None
) -> tuple[list[Estimated], list[str]]:
    """By every method, and what is to be said about them."""
    by_method = {name: _figure(one, design, how)[0] for name, how in _methods(wish).items()}
    notes = []
    where = one.name if system is None else f"{system}, {one.name}"
    off = representative(_sample(one, design, one.judge.total, one.people.total))
    shifted = wish.shifted
    if off is not None and abs(off) > FAR and not wish.shifted:
        notes.append(
            f"{where}: the judge's mean lies {abs(off):.1f} standard errors "
            f"{'higher' if off > 0 else 'lower'} where people looked than elsewhere: labels are "
            "no random sample, and these figures are off unless strata or probabilities say how "
            "they were drawn; with labels from elsewhere say --shifted"
        )
    if one.is_share:
        by_method["rogan_gladen"] = _shifted(one)
        if wish.shifted and by_method["rogan_gladen"].value is None:
            notes.append(f"{where}: {by_method['rogan_gladen'].undefined}")
    elif wish.shifted:
        notes.append(f"{where}: labels from elsewhere can correct shares, not means")
    best = "rogan_gladen" if shifted else "prediction_powered"
    powered_one = by_method["prediction_powered"]
    if powered_one.allowed:
        notes.append(
            f"{where}: judge and people differ on so few labelled items that one error more "
            "was allowed for"
        )
    return [
        Estimated(
            one.name, one.criterion, system, name, figure,
            name == best and figure.value is not None,
            _worth(figure, by_method["people_alone"]) if name == "prediction_powered" else None,
        )
        for name, figure in by_method.items()
    ], notes  # fmt: skip


def _shifted(one: Quantity) -> Figure:
    """Rogan and Gladen's figure: labels give the error rates, the other items the share."""
    if np.nansum(one.judge.applies < 1) or np.nansum(one.people.applies < 1):
        return Figure(undefined="NA is among the answers")
    judged, labelled = ~np.isnan(one.judge.total), ~np.isnan(one.people.total)
    both = judged & labelled
    return rogan_gladen(
        one.people.total[both], one.judge.total[both], one.judge.total[judged & ~labelled]
    )


def _worth(figure: Figure, people: Figure) -> float | None:
    if figure.se is None or people.se is None or figure.se <= 0:
        return None
    return figure.n_labels * (people.se / figure.se) ** 2


def _of_one(found: Judged, design: _Design, wish: Wish) -> EstimateReport:
    report = EstimateReport([], found.judge, found.people, _left_out(found), seed=wish.seed)
    if not found.quantities:
        raise SourceError("there is nothing to estimate: no answer on a scale, no verdict")
    for one in found.quantities:
        figures, notes = _figures(one, design, wish, None)
        report.figures += figures
        report.notes += notes
    if wish.next:
        report.next = _next(found, design, wish)
    return report


def _left_out(found: Judged) -> list[dict[str, Any]]:
    """Rows that were not read, and labels that the judge has no answer to."""
    out = list(found.excluded)
    for one in found.quantities:
        alone = int((np.isnan(one.judge.total) & ~np.isnan(one.people.total)).sum())
        if alone:
            reason = f"{one.name}: labelled, and not answered by the judge"
            out.append({"reason": reason, "rows": alone})
    return out


# -- two systems


def _of_several(sets: dict[str, tuple[Judged, _Design]], wish: Wish) -> EstimateReport:
    first = next(iter(sets.values()))[0]
    people = tuple(dict.fromkeys(one for found, _ in sets.values() for one in found.people))
    report = EstimateReport([], first.judge, people, [], seed=wish.seed)
    for name, (found, design) in sets.items():
        if not found.quantities:
            report.notes.append(f"{name}: there is nothing to estimate, no answer on a scale")
        for one in found.quantities:
            figures, notes = _figures(one, design, wish, name)
            report.figures += figures
            report.notes += notes
        report.excluded += [
            {**one, "reason": f"{name}: {one['reason']}"} for one in _left_out(found)
        ]
    for a, b in combinations(sets, 2):
        report.figures += _differences(sets[a], sets[b], f"{a} − {b}", wish)
    return report


def _differences(
    one: tuple[Judged, _Design], other: tuple[Judged, _Design], name: str, wish: Wish
) -> list[Estimated]:
    """How far two systems are apart, item by item, over the items that both answered."""
    (left, design), (right, _) = one, other
    place = {item: at for at, item in enumerate(right.items)}
    shared = [(at, place[item]) for at, item in enumerate(left.items) if item in place]
    by_name = {each.name: each for each in right.quantities}
    out = []
    for mine in left.quantities:
        theirs = by_name.get(mine.name)
        if theirs is None:
            continue
        for method, how in _methods(wish).items():
            figure = Figure(undefined="no item was answered by both systems")
            if shared:
                figure = _difference(mine, theirs, (design, other[1]), shared, how)
            use = method == "prediction_powered" and figure.value is not None
            out.append(Estimated(mine.name, mine.criterion, name, method, figure, use))
    return out


def _difference(
    mine: Quantity,
    theirs: Quantity,
    designs: tuple[_Design, _Design],
    shared: list[tuple[int, int]],
    how: Estimator,
) -> Figure:
    here, there = np.transpose(shared)
    own, judge, people = _figure(mine, designs[0], how)
    other, other_judge, other_people = _figure(theirs, designs[1], how)
    if own.value is None or other.value is None:
        return Figure(undefined=own.undefined or other.undefined)
    paired = designs[0].of(here)
    apart = _sample(
        mine, paired, judge[here] - other_judge[there], people[here] - other_people[there],
        bounded=False,
    )  # fmt: skip
    return how(apart)


# -- which items to label next


def _next(found: Judged, design: _Design, wish: Wish) -> NextLabels:
    wanted = wish.about or wish.strata
    by_name = {one.name: one for one in found.quantities}
    about = wanted if wanted in by_name else found.quantities[0].name
    if wish.about is not None and wish.about not in by_name:
        raise SourceError(f"there is no quantity {wish.about!r}; there are: {', '.join(by_name)}")
    one = by_name[about]
    answered = np.flatnonzero(~np.isnan(one.judge.total))
    sample = _sample(one, design, one.judge.total, one.people.total)
    groups = groups_of(sample.judged)
    names = [_range(sample.judged[groups == at]) for at in range(int(groups.max(initial=-1)) + 1)]
    shared = plan(sample, groups, wish.next)
    chosen = draw(groups, sample.labelled, shared.more, wish.seed)
    return NextLabels(about, names, shared, [found.items[at] for at in answered[chosen]])


def _range(values: Array) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
