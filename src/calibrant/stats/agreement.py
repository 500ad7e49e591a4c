"""All estimates of tables of ratings: a set of raters, pairs, two groups.

Ratings come as codes of shape (R, N), or as patterns with how often each of S samples has them,
see ``stats.counts``. Nothing here knows files, rubrics or names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.catalogue import Measure, measures
from calibrant.stats.counts import ABSENT, Patterns, counts_of, patterns
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.icc_estimates import iccs
from calibrant.stats.moments import WIDE, between, by_rater, cells_of_pairs, exchangeable
from calibrant.stats.runs import Codes
from calibrant.stats.samples import Given, estimates, resampled
from calibrant.stats.weights import Ruler

About: TypeAlias = Sequence[Mapping[str, Any]]
_OF_COUNTS = ("percent", "percent_within_one", "fleiss_kappa", "gwet_ac", "brennan_prediger")
"""Coefficients to which it does not matter who gave an answer, and a single one does."""
_FEW_CELLS = 64
"""Cells of a table up to which pairs are computed together."""


def of_set(
    codes: Codes, ruler: Ruler, design: Design, *, anonymous: bool = False
) -> list[Estimate]:
    """Estimates of a set of raters from codes of shape (R, N)."""
    return of_sets(patterns(codes, len(ruler.labels)), ruler, design, anonymous=anonymous)[0]


def of_sets(
    found: Patterns, ruler: Ruler, design: Design, *, anonymous: bool = False, about: About = ()
) -> list[list[Estimate]]:
    """Estimates of a set of raters in each of S samples, ``found.times`` being (S, U).

    ``anonymous`` columns are not the same rater throughout. ``about`` says of each sample what
    else its estimates are to tell: criterion, raters, group, slice, how NA was taken.
    """
    values = len(ruler.labels)
    chosen = chosen_for(ruler, pair=False)
    found = _only(found, (found.codes != ABSENT).any(axis=0))
    counts = counts_of(found, values)
    given = Given(ruler.labels, found.times @ counts.counts, about)
    alone = exchangeable(counts)
    whole = alone if anonymous else by_rater(found, values)
    drawn = [resampled(whole.sample(times), chosen, design) for times in found.times]
    # a single answer tells alpha nothing, and the others what answers are usual
    paired = alone.only(counts.counts.sum(axis=1) >= 2)
    out: list[list[Estimate]] = [[] for _ in found.times]
    for rows, names in (
        (alone, _OF_COUNTS),
        (paired, ("krippendorff_alpha",)),
        (whole, () if anonymous else ("conger_kappa",)),
    ):
        at = [place for place, one in enumerate(chosen) if one.coefficient in names]
        mine = [None if one is None else one[at] for one in drawn]
        if at:
            some = estimates(rows, [chosen[place] for place in at], design, given, drawn=mine)
            out = [[*before, *more] for before, more in zip(out, some, strict=True)]
    for sample, times in enumerate(found.times):
        more = given.of(sample)
        ratings = more.pop("n_ratings")
        out[sample] += [
            replace(one, n_ratings=one.n_ratings or ratings, **more)
            for one in iccs(Patterns(found.codes, times), ruler, anonymous=anonymous)
        ]
    return out


def of_pair(table: NDArray[np.int64], ruler: Ruler, design: Design) -> list[Estimate]:
    """Estimates of two raters from the table of their answers, shape (K, K)."""
    return of_pairs(table[None], ruler, design)[0]


def of_pairs(
    tables: NDArray[np.int64], ruler: Ruler, design: Design, about: About = ()
) -> list[list[Estimate]]:
    """Estimates of each of P pairs of raters from their tables, shape (P, K, K)."""
    chosen = chosen_for(ruler, pair=True)
    # on a long scale most cells are empty, and not the same ones for every pair
    step = len(tables) if tables[0].size <= _FEW_CELLS else 1
    out: list[list[Estimate]] = []
    for start in range(0, len(tables), step):
        part = tables[start : start + step]
        rows = cells_of_pairs(part)
        rows = rows.only(np.asarray(rows.times.any(axis=0)))
        counts = part.sum(axis=1) + part.sum(axis=2)
        given = Given(ruler.labels, counts, about[start : start + step])
        out += estimates(rows, chosen, design, given)
    return out


def of_groups(
    found: Patterns,
    groups: tuple[Sequence[int], Sequence[int]],
    ruler: Ruler,
    design: Design,
    about: About = (),
) -> list[list[Estimate]]:
    """Estimates between two groups of raters: one of each at a time, never two of a group."""
    first, second = groups
    values, mine = len(ruler.labels), range(len(first))
    codes = found.codes[[*first, *second]]
    answered = codes != ABSENT
    both = answered[: len(mine)].any(axis=0) & answered[len(mine) :].any(axis=0)
    met = _only(Patterns(codes, found.times), both)
    rows = between(met, values, mine, range(len(mine), len(codes)))
    given = Given(ruler.labels, met.times @ counts_of(met, values).counts, about)
    return estimates(rows, chosen_for(ruler, pair=True), design, given)


def _only(found: Patterns, wanted: NDArray[np.bool_]) -> Patterns:
    """Some of the patterns, as samples."""
    codes = np.ascontiguousarray(found.codes[:, wanted])
    return Patterns(codes, np.atleast_2d(found.times)[:, wanted])


def chosen_for(ruler: Ruler, *, pair: bool) -> list[Measure]:
    """The measures that fit the scale: on a wide one, those to which near is not far."""
    known = measures(ruler.level, ruler.points, pair=pair)
    if len(ruler.labels) <= WIDE or ruler.level == "nominal":
        return known
    return [
        one
        for one in known
        if one.weights == "quadratic"
        or one.coefficient in ("percent", "percent_within_one")
        or (one.coefficient == "krippendorff_alpha" and one.level == ruler.level)
    ]
