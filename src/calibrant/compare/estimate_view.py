"""Corrected figures as titled tables of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calibrant.compare.blocks import Block

if TYPE_CHECKING:
    from calibrant.compare.estimate_report import Estimated, EstimateReport, NextLabels

CALLED = {
    "judge_alone": "judge alone",
    "people_alone": "people alone",
    "prediction_powered": "prediction-powered",
    "rogan_gladen": "Rogan–Gladen",
}


FULL = 4
"""Quantities up to which each has a table of its own."""


def blocks(found: EstimateReport) -> Iterator[Block]:
    """A table for each quantity, or one for many; and which items to label next."""
    keys = dict.fromkeys((one.system, one.quantity) for one in found.figures)
    parts = [[one for one in found.figures if (one.system, one.quantity) == key] for key in keys]
    if len(parts) > FULL:
        yield _overview(parts)
    else:
        yield from map(_quantity, parts)
    if found.next is not None:
        yield _next(found.next)


def _overview(parts: list[list[Estimated]]) -> Block:
    """A line for each quantity, with the figure to report."""
    rows = []
    for figures in parts:
        by_method = {one.method: one for one in figures}
        chosen = next((one for one in figures if one.use), by_method["prediction_powered"])
        value, interval, weight, worth = _row(chosen)[2:]
        alone = [_row(by_method[name])[2] for name in ("judge_alone", "people_alone")]
        rows.append((_name(chosen), *alone, value, interval, weight, worth))
    header = ("quantity", "judge", "people", "corrected", "95 % interval", "λ", "worth")
    return Block("Corrected figures (λ: weight of the judge; -o keeps all)", header, rows)


def _name(one: Estimated) -> str:
    return one.quantity if one.system is None else f"{one.system}: {one.quantity}"


def _quantity(figures: list[Estimated]) -> Block:
    name = _name(figures[0])
    judged = max(one.figure.n_judged for one in figures)
    labels = max(one.figure.n_labels for one in figures)
    header = ("", "method", "value", "95 % interval", "λ", "worth")
    rows = [_row(one) for one in figures]
    return Block(
        f"{name}: {judged:,} judged, {labels:,} labelled (▸ report this)",
        header,
        rows,
    )


def _row(one: Estimated) -> tuple[str, ...]:
    figure, mark = one.figure, "▸" if one.use else ""
    if figure.value is None or figure.interval is None:
        return mark, CALLED[one.method], "–", figure.undefined or "", "", ""
    low, high = figure.interval
    return (
        mark,
        CALLED[one.method],
        f"{figure.value:.3f}",
        f"{low:.3f} … {high:.3f}",
        "" if figure.weight is None else f"{figure.weight:.2f}",
        "" if one.worth is None else f"{one.worth:,.0f} labels",
    )


def _next(found: NextLabels) -> Block:
    plan = found.plan
    rows = [
        (name, f"{judged:,}", f"{labelled:,}", f"{spread:.2f}", f"{more:,}")
        for name, judged, labelled, spread, more in zip(
            found.groups, plan.judged, plan.labelled, plan.spread, plan.more, strict=True
        )
    ]
    width = f"± {plan.half_width:.3f} expected, at random ± {plan.half_width_at_random:.3f}"
    header = ("judge says", "judged", "labelled", "spread", "label next")
    return Block(f"Label next, for {found.about}: {width}", header, rows)
