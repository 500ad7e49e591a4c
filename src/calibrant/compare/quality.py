"""From what was said of items to where quality is low, and what may be said about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np

from calibrant.compare.quality_items import Quantity, Rated
from calibrant.compare.quality_report import Ask, LowItem, Pair, QualityReport, SliceFigure
from calibrant.compare.quality_slices import Slice, Words, slices_of
from calibrant.core.errors import SourceError
from calibrant.stats.association import associated
from calibrant.stats.multiple import benjamini_hochberg
from calibrant.stats.slice_tests import difference_interval, difference_p, mean_interval

HIGH, SURELY = 0.7, 0.5
"""A correlation is called high from here on, if its interval begins no lower than that."""
_LISTED = 6
"""Criteria that are named in a reason."""


def quality_report(
    rated: Rated, fields: Mapping[str, Words], ask: Ask, source: str
) -> QualityReport:
    """Low items, slices and correlations; ``fields`` are those to slice by."""
    if not rated.items:
        raise SourceError(f"{source}: the table is empty")
    if ask.worst < 0 or ask.least < 2 or not 0 < ask.rate < 1:
        raise SourceError("worst must be 0 or more, least 2 or more, rate between 0 and 1")
    low = low_items(rated, ask.below)
    slices, too_small, notes = _sliced(rated, fields, ask)
    figures = _decided([figure for _, figure in slices], ask.rate)
    pairs = _pairs(rated.quantities, ask.least)
    everything = np.ones(len(rated.items), bool)
    nowhere = Slice("", "", everything, ~everything)
    out = QualityReport(
        source=source,
        n_items=len(rated.items),
        n_sheets=rated.sheets,
        ask=ask,
        low=low[: ask.worst],
        n_low=len(low),
        overall=[_alone(nowhere, one) for one in rated.quantities],
        slices=figures,
        too_small=too_small,
        pairs=pairs,
        notes=[*rated.notes, *notes],
        excluded=rated.excluded,
    )
    halves = [cut.halves for cut, _ in slices]
    out.findings = [*_slice_findings(figures, halves), *_pair_findings(pairs)]
    return out


# -- the low-quality list


def low_items(rated: Rated, below: float | None = None) -> list[LowItem]:
    """Items with a shut gate, a flag, a failed verdict or points under the mark, worst first."""
    levels = _levels(rated)
    points = [one for one in rated.quantities if one.role == "criterion" and not one.is_share]
    answers = [] if rated.has_verdicts else [one for one in rated.quantities if one.is_share]
    answers = [one for one in answers if one.good]
    out = []
    for at, item in enumerate(rated.items):
        low = {one.name: float(one.values[at]) for one in points
               if one.values[at] < (one.top / 2 if below is None else below)}  # fmt: skip
        low |= {one.name: float(one.values[at]) for one in answers if one.values[at] < 0.5}
        cause = rated.causes[at]
        if not (cause.gate or cause.flags or cause.failed or low):
            continue
        found = LowItem(
            item=item,
            level=None if np.isnan(levels[at]) else round(float(levels[at]), 4),
            sheets=cause.sheets,
            failed=cause.failed,
            gate=tuple(sorted(cause.gate)),
            flags=tuple(sorted(cause.flags)),
            failed_criteria=tuple(name for name, _ in cause.criteria.most_common()),
            low={name: round(value, 4) for name, value in sorted(low.items(), key=_second)},
            why="",
        )
        out.append(replace(found, why=_why(found)))
    return sorted(out, key=_badness)


def _second(pair: tuple[str, float]) -> float:
    return pair[1]


def _badness(one: LowItem) -> tuple[bool, bool, float, int, str]:
    """Of equals the shorter name comes first, 9 before 10, in whatever order rows come."""
    level = np.inf if one.level is None else one.level
    return not one.gate, not one.flags, level, len(one.item), one.item


def _levels(rated: Rated) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The score of each item, or the mean of its criteria where all are points or all shares."""
    score = next((one for one in rated.quantities if one.role == "score"), None)
    if score is not None:
        return score.values
    criteria = [one for one in rated.quantities if one.role == "criterion"]
    if len({one.is_share for one in criteria}) != 1 or not all(one.good for one in criteria):
        return np.full(len(rated.items), np.nan)
    stacked = np.array([one.values for one in criteria])
    n = (~np.isnan(stacked)).sum(axis=0)
    return np.where(n > 0, np.nansum(stacked, axis=0) / np.maximum(n, 1), np.nan)


def _why(one: LowItem) -> str:
    parts = []
    if one.gate:
        parts.append(f"gate: {', '.join(one.gate)}")
    if one.flags:
        parts.append(f"flag: {', '.join(one.flags)}")
    if one.failed:
        parts.append("failed" + (f" by {one.failed} of {one.sheets}" if one.sheets > 1 else ""))
    rest = [name for name in one.failed_criteria if name not in one.gate and name not in one.low]
    if rest:
        more = f" and {len(rest) - _LISTED} more" if len(rest) > _LISTED else ""
        parts.append(f"not met: {', '.join(rest[:_LISTED])}{more}")
    if one.low:
        told = [f"{name} {value:.4g}" for name, value in list(one.low.items())[:_LISTED]]
        parts.append(f"low: {', '.join(told)}")
    return "; ".join(parts)


# -- slices


def _sliced(
    rated: Rated, fields: Mapping[str, Words], ask: Ask
) -> tuple[list[tuple[Slice, SliceFigure]], list[dict[str, Any]], list[str]]:
    out, too_small, notes = [], [], []
    for name, words in fields.items():
        found = slices_of(name, words, rated.items)
        unknown = sum(not words.get(item) for item in rated.items)
        if unknown:
            notes.append(f"{name}: not known of {unknown:,} of {len(rated.items):,} items")
        if len(found) < 2:
            told = f"only {found[0].value!r}" if found else "nothing"
            notes.append(f"{name}: says {told}, so there is nothing to compare")
            continue
        for cut in found:
            n, rest = int(cut.inside.sum()), int(cut.rest.sum())
            if min(n, rest) < ask.least:
                few = "rest" if n >= ask.least else "slice"
                reason = f"fewer than {ask.least} items in the {few}"
                too_small.append({"field": name, "value": cut.value, "n": n, "reason": reason})
            else:
                out += [(cut, _beside(cut, one, ask)) for one in rated.quantities]
    return out, too_small, notes


def _alone(cut: Slice, one: Quantity) -> SliceFigure:
    """A quantity in a slice, without the rest."""
    values = one.values[cut.inside]
    values = values[~np.isnan(values)]
    figure = SliceFigure(cut.field, cut.value, one.name, one.is_share, len(values))
    if not len(values):
        return replace(figure, undefined="no answers")
    interval = mean_interval(values, is_share=one.plain)
    return replace(
        figure,
        mean=float(values.mean()),
        interval=_clipped(interval.limits, one),
        undefined=interval.undefined,
    )


def _beside(cut: Slice, one: Quantity, ask: Ask) -> SliceFigure:
    """A quantity in a slice and in the rest, and whether they differ."""
    figure, least = _alone(cut, one), ask.least
    inside, rest = (
        one.values[side][~np.isnan(one.values[side])] for side in (cut.inside, cut.rest)
    )
    if min(len(inside), len(rest)) < least:
        few = len(inside) if len(inside) < least else len(rest)
        side = "slice" if len(inside) < least else "rest"
        reason = f"{few} items of the {side} were answered, fewer than {least}"
        return replace(figure, n_rest=len(rest), undefined=reason)
    # what is drawn for one figure hangs neither on the others nor on the order of rows
    name = crc32("\n".join((cut.field, cut.value, one.name)).encode())
    random = np.random.default_rng([ask.seed, name])
    p, test = difference_p(inside, rest, random, is_share=one.plain)
    between = difference_interval(inside, rest, is_share=one.plain)
    return replace(
        figure,
        n_rest=len(rest),
        rest=float(rest.mean()),
        difference=float(inside.mean() - rest.mean()),
        difference_interval=between.limits,
        p=p,
        test=test,
        undefined=figure.undefined or between.undefined,
    )


def _clipped(limits: tuple[float, float] | None, one: Quantity) -> tuple[float, float] | None:
    """Limits within what is possible: averaged shares lie between 0 and 1, too."""
    bounds = (0.0, 1.0) if one.is_share else one.bounds
    if limits is None or bounds is None:
        return limits
    return max(bounds[0], limits[0]), min(bounds[1], limits[1])


def _decided(figures: list[SliceFigure], rate: float) -> list[SliceFigure]:
    """Which differences are findings, false ones held down over all."""
    tested = [at for at, one in enumerate(figures) if one.p is not None]
    adjusted = benjamini_hochberg([figures[at].p or 0.0 for at in tested])
    for at, value in zip(tested, adjusted, strict=True):
        figures[at] = replace(figures[at], adjusted=float(value), finding=bool(value <= rate))
    return figures


def _slice_findings(figures: list[SliceFigure], halves: list[bool]) -> list[str]:
    """The surest first; of two halves only the lower one is told."""
    told = [
        one
        for one, half in zip(figures, halves, strict=True)
        if one.finding and not (half and (one.difference or 0.0) > 0)
    ]
    return [_sentence(one) for one in sorted(told, key=lambda one: one.p or 0.0)]


def _sentence(one: SliceFigure) -> str:
    assert one.mean is not None and one.rest is not None and one.difference is not None
    here, there = (shown(value, is_share=one.is_share) for value in (one.mean, one.rest))
    sign, word = (-1, "lower") if one.difference < 0 else (1, "higher")
    scale, digits, unit = (100, 0, " points") if one.is_share else (1, 2, "")
    gap = f"{sign * scale * one.difference:.{digits}f}{unit} {word}"
    if one.difference_interval is not None:
        low, high = sorted(sign * scale * limit for limit in one.difference_interval)
        gap += f" ({low:.{digits}f} to {high:.{digits}f})"
    return (
        f"{one.field} {one.value} ({one.n:,} items): {one.quantity} is {here}, {gap} than {there} "
        f"in the other {one.n_rest:,}."
    )


def shown(value: float, *, is_share: bool) -> str:
    """A share or a mean for the eye."""
    return f"{100 * value:.0f}%" if is_share else f"{value:.2f}"


# -- correlations


def _pairs(quantities: Sequence[Quantity], least: int) -> list[Pair]:
    """Every two criteria, those that go together most first; what has no value comes last.

    Taken as raters answered: a red flag that forces all criteria makes them alike.
    """
    criteria = [one for one in quantities if one.role == "criterion"]
    out = []
    for one, other in combinations(criteria, 2):
        if one.criterion == other.criterion:
            continue
        shares = one.plain and other.plain
        first, second = (side.values if side.answered is None else side.answered
                         for side in (one, other))  # fmt: skip
        found = associated(first, second, shares=shares, least=max(least, 5))
        value = found.value or 0.0
        low, high = found.interval or (value, value)
        sure = low >= SURELY or high <= -SURELY
        out.append(Pair(one.name, other.name, found, abs(value) >= HIGH and sure))
    return sorted(out, key=lambda one: -abs(one.found.value or 0.0))


def _pair_findings(pairs: Sequence[Pair]) -> list[str]:
    return [_pair_sentence(one) for one in pairs if one.high]


def _pair_sentence(one: Pair) -> str:
    assert one.found.value is not None
    value, limits = one.found.value, one.found.interval
    sure = f", {limits[0]:.2f} to {limits[1]:.2f}" if limits else ""
    name = "phi" if one.found.coefficient == "phi" else "Spearman"
    start = f"{one.first} and {one.second} ({one.found.n:,} items, {name} {value:.2f}{sure})"
    if value < 0:
        return f"{start} pull against each other: what is good for one is bad for the other."
    return f"{start} go together: one quality asked twice, or halo."
