"""Where quality is low, as titled tables of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calibrant.compare.blocks import Block
from calibrant.compare.quality import shown

if TYPE_CHECKING:
    from calibrant.compare.quality_report import QualityReport, SliceFigure

MOST_PAIRS = 10
"""Correlations that are shown."""
MOST_SLICES = 40
"""Rows of slices up to which all are shown; of more only findings and what all items come to."""
MOST_SMALL = 8
"""Slices of a field that are named where they are too small."""


def blocks(found: QualityReport) -> Iterator[Block]:
    """The items, then the numbers."""
    if found.low:
        told = f"{len(found.low)} of {found.n_low}" if len(found.low) < found.n_low else "all"
        rows = [
            (one.item, "–" if one.level is None else f"{one.level:.4g}", one.why)
            for one in found.low
        ]
        yield Block(f"Items of low quality, worst first ({told})", ("item", "level", "why"), rows)
    yield _overall(found)
    if found.slices:
        yield _slices(found)
    if found.too_small:
        yield _small(found)
    if found.pairs:
        yield _pairs(found)


def headline(found: QualityReport) -> str:
    """What the findings about slices rest on."""
    if not found.tested:
        return "No slice could be held against the rest."
    some = sum(one.finding for one in found.slices)
    rate = f"at most {100 * found.ask.rate:g} in 100 of such are expected to be false"
    return (
        f"{some} of {found.tested:,} differences between slices and the rest are findings; {rate}."
    )


def _overall(found: QualityReport) -> Block:
    rows = [(one.quantity, f"{one.n:,}", *_value(one)) for one in found.overall]
    title = f"All items: {found.n_items:,} items, {found.n_sheets:,} sheets"
    return Block(title, ("quantity", "n", "value", "95 % interval"), rows)


def _slices(found: QualityReport) -> Block:
    many = len(found.slices) > MOST_SLICES
    rows = [
        (
            f"{one.field} {one.value}",
            one.quantity,
            f"{one.n:,}",
            " ".join(filter(None, _value(one))),
            _difference(one),
            _p(one),
        )
        for one in found.slices
        if one.finding or not many
    ]
    told = "findings only; -o keeps all" if many else "▸ finding"
    header = ("slice", "quantity", "n", "value, 95 % interval", "to the rest", "p adjusted")
    return Block(f"Slices ({told})", header, rows)


def _value(one: SliceFigure) -> tuple[str, str]:
    if one.mean is None:
        return "–", one.undefined or ""
    value = shown(one.mean, is_share=one.is_share)
    if one.interval is None:
        return value, one.undefined or ""
    low, high = (shown(limit, is_share=one.is_share) for limit in one.interval)
    return value, f"{low} … {high}"


def _difference(one: SliceFigure) -> str:
    if one.difference is None:
        return one.undefined or "–"
    if one.is_share:
        return f"{round(100 * one.difference) + 0:+d} points"
    return f"{round(one.difference, 2) + 0.0:+.2f}"


def _p(one: SliceFigure) -> str:
    if one.adjusted is None:
        return "–"
    told = "< 0.001" if one.adjusted < 0.001 else f"{one.adjusted:.3f}"
    return f"▸ {told}" if one.finding else f"  {told}"


def _small(found: QualityReport) -> Block:
    """Slices that nothing is said of, a line a field and reason."""
    rows = []
    for key in dict.fromkeys((one["field"], one["reason"]) for one in found.too_small):
        some = [one for one in found.too_small if (one["field"], one["reason"]) == key]
        told = ", ".join(f"{one['value']} ({one['n']:,})" for one in some[:MOST_SMALL])
        more = f" and {len(some) - MOST_SMALL:,} more" if len(some) > MOST_SMALL else ""
        rows.append((key[0], told + more, key[1]))
    return Block("Too small to tell", ("field", "slices (items)", "why"), rows)


def _pairs(found: QualityReport) -> Block:
    rows = []
    for pair in found.pairs[:MOST_PAIRS]:
        one = pair.found
        value = "–" if one.value is None else f"{one.value:.2f}"
        limits = one.undefined or ""
        if one.interval is not None:
            limits = f"{one.interval[0]:.2f} … {one.interval[1]:.2f}"
        name = f"{pair.first} · {pair.second}"
        rows.append((name, f"{one.n:,}", one.coefficient, value, limits))
    more = len(found.pairs) - MOST_PAIRS
    title = "Criteria that go together" + (f" (first {MOST_PAIRS} pairs)" if more > 0 else "")
    return Block(title, ("criteria", "n", "coefficient", "value", "95 % interval"), rows)
