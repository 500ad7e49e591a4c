"""Who is compared with whom: all raters, groups, pairs, slices of the items, criteria together.

Criteria with the same scale are a family. Their answers are grouped into patterns once, and what
follows works on patterns: its cost does not grow with the number of items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.compare.rating_tables import CriterionTable, RatingTable
from calibrant.compare.rulers import ALL
from calibrant.stats.agreement import of_groups, of_pairs, of_sets
from calibrant.stats.counts import ABSENT, Patterns, dense, grouped, pair_tables_of
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.pooled import of_pool
from calibrant.stats.weights import Ruler

MOST_PAIRS = 300
"""Pairs of raters up to which each pair is reported."""
RESAMPLED_PAIRS = 60
"""Pairs up to which their intervals are resampled; above, they come from the standard error."""


@dataclass(frozen=True, slots=True)
class Family:
    """S criteria with the same scale, and the patterns of their answers."""

    criteria: list[CriterionTable]
    found: Patterns
    """Times of shape (S, U); NA is the number of places on the scale."""
    place: NDArray[Any]
    """The pattern of each item, shape (S, N)."""

    @property
    def ruler(self) -> Ruler:
        """The scale."""
        return self.criteria[0].ruler

    @property
    def names(self) -> list[str | None]:
        """The criteria; None where the table names none."""
        return [None if one.name == ALL else one.name for one in self.criteria]

    def answered(self) -> Patterns:
        """The patterns with NA left out."""
        codes = self.found.codes
        left = np.where(codes == len(self.ruler.labels), np.uint8(ABSENT), codes)
        return Patterns(left, self.found.times)

    def among(self, found: Patterns, wanted: NDArray[np.bool_]) -> Patterns:
        """The same patterns, counted among some items."""
        return Patterns(found.codes, _times(self.place[:, wanted], found.codes.shape[1]))


def families(table: RatingTable) -> list[Family]:
    """The criteria by their scales."""
    groups: list[list[CriterionTable]] = []
    for criterion in table.criteria:
        like = next((group for group in groups if _alike(group[0], criterion)), None)
        if like is None:
            groups.append([criterion])
        else:
            like.append(criterion)
    return [_family(group) for group in groups]


def _alike(one: CriterionTable, other: CriterionTable) -> bool:
    """Whether two criteria have so few patterns, on the same scale, that counting both is one."""
    few = dense(len(one.codes), len(one.ruler.labels) + 1)
    return few and one.has_na == other.has_na and one.ruler.same_as(other.ruler)


def _family(criteria: list[CriterionTable]) -> Family:
    codes = np.stack([one.codes for one in criteria], axis=1)  # (R, S, N)
    raters, samples, items = codes.shape
    labels = len(criteria[0].ruler.labels)
    found, places = grouped(codes.reshape(raters, samples * items), labels + 1)
    place = places().reshape(samples, items)
    return Family(criteria, Patterns(found.codes, _times(place, found.codes.shape[1])), place)


def _times(place: NDArray[Any], patterns: int) -> NDArray[np.int64]:
    return np.stack([np.bincount(one, minlength=patterns) for one in place])


def compared(table: RatingTable, family: Family, design: Design) -> Iterator[Estimate]:
    """Every estimate of a family, with NA left out and as an answer."""
    for na, found, ruler in _ways(family):
        yield from _way(table, family, found, ruler, design, na=na)


def together(table: RatingTable, related: list[Family], design: Design) -> list[Estimate]:
    """Estimates over all criteria, where there are several and all have the same scale."""
    criteria = table.criteria
    if len(criteria) < 2 or not all(one.ruler.same_as(criteria[0].ruler) for one in criteria):
        return []
    family = related[0] if len(related) == 1 else _family(criteria)
    return [
        replace(one, raters=table.raters, na=na)
        for na, found, ruler in _ways(family)
        for one in of_pool(found, family.place, ruler, design, anonymous=table.anonymous)
    ]


def _ways(family: Family) -> Iterator[tuple[Any, Patterns, Ruler]]:
    """Patterns with NA left out; and, where NA was given, with NA as an answer."""
    ruler, has_na = family.ruler, any(one.has_na for one in family.criteria)
    labels = ruler.labels
    if labels:  # otherwise every answer is NA
        yield "left_out" if has_na else None, family.answered(), ruler
    if not has_na:
        return
    codes = family.found.codes
    if ruler.level == "nominal":
        labels = (*labels, "NA")
    else:  # whether the criterion applies at all
        applies = np.where(codes == len(labels), np.uint8(1), np.uint8(0))
        codes = np.where(codes == ABSENT, np.uint8(ABSENT), applies)
        labels = ("applicable", "NA")
    points = np.arange(len(labels), dtype=np.float64)
    yield "answer", Patterns(codes, family.found.times), Ruler(labels, "nominal", points, False)


def _way(
    table: RatingTable, family: Family, found: Patterns, ruler: Ruler, design: Design, *, na: Any
) -> Iterator[Estimate]:
    names = family.names
    raters = table.raters

    def about(**more: Any) -> list[dict[str, Any]]:
        return [{"criterion": name, "na": na, **more} for name in names]

    yield from _of(table, found, ruler, design, about(raters=raters))
    for group, members in _groups(table).items():
        if isinstance(members, tuple):
            own = tuple(raters[at] for part in members for at in part)
            more = about(raters=own, group=group)
            yield from chain.from_iterable(of_groups(found, members, ruler, design, more))
        else:
            own = tuple(raters[at] for at in members)
            some = Patterns(found.codes[members], found.times)
            yield from _of(table, some, ruler, design, about(raters=own, group=group))
    quick = Design(design.method or "fisher", design.seed)
    for part, wanted in table.slices().items():
        some = family.among(found, wanted)
        yield from _of(table, some, ruler, quick, about(raters=raters, slice=part))
    if not table.anonymous and len(raters) > 2:
        yield from _pairs(table, found, ruler, design, about())


def _of(
    table: RatingTable, found: Patterns, ruler: Ruler, design: Design, about: list[dict[str, Any]]
) -> Iterator[Estimate]:
    """Estimates of a set of raters; of two, Cohen's kappa too."""
    out = of_sets(found, ruler, design, anonymous=table.anonymous, about=about)
    if len(found.codes) == 2 and not table.anonymous:
        tables = pair_tables_of(found, len(ruler.labels))[:, 0, 1]
        for some, pair in zip(out, of_pairs(tables, ruler, design, about), strict=True):
            some += [one for one in pair if one.coefficient == "cohen_kappa"]
    return chain.from_iterable(out)


def _groups(table: RatingTable) -> dict[str, Any]:
    """Raters by kind: of one kind among themselves, of two kinds one against the other."""
    by_kind: dict[str, list[int]] = {}
    for at, rater in enumerate(table.raters):
        if rater in table.kinds:
            by_kind.setdefault(table.kinds[rater], []).append(at)
    if len(by_kind) < 2:
        return {}
    within = {f"{kind}–{kind}": group for kind, group in by_kind.items() if len(group) > 1}
    across = {f"{a}–{b}": (by_kind[a], by_kind[b]) for a, b in combinations(sorted(by_kind), 2)}
    return {**within, **across}


def _pairs(
    table: RatingTable, found: Patterns, ruler: Ruler, design: Design, about: list[dict[str, Any]]
) -> Iterator[Estimate]:
    """Of each criterion and each pair of raters who met."""
    pairs = list(combinations(range(len(table.raters)), 2))
    if len(pairs) > MOST_PAIRS:
        return
    if len(pairs) > RESAMPLED_PAIRS and design.method is None:
        design = Design("fisher", design.seed)
    first, second = np.transpose(pairs)
    tables = pair_tables_of(found, len(ruler.labels))[:, first, second]  # (S, P, K, K)
    sample, pair = np.nonzero(tables.any(axis=(2, 3)))
    if not len(sample):
        return
    more = [
        {**about[s], "raters": (table.raters[first[p]], table.raters[second[p]])}
        for s, p in zip(sample, pair, strict=True)
    ]
    yield from chain.from_iterable(of_pairs(tables[sample, pair], ruler, design, more))
