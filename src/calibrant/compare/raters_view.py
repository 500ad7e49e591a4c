"""A report on raters as titled tables of text, for a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calibrant.compare.blocks import Block, html_of
from calibrant.compare.rater_words import advice, sentence

if TYPE_CHECKING:
    from calibrant.compare.rater_diagnostics import Diagnostic
    from calibrant.compare.raters import RaterProfile, RaterReport

MOST_SHOWN = 12
"""Rows of a table that would be long."""
MOVED = 10
"""Items shown whose fair average is furthest from the observed one."""
LEAST = 0.05
"""Points by which a fair average has to differ from the observed one to be shown."""
_COLUMNS = {
    "halo": "halo",
    "identical rows": "same",
    "central tendency": "slope",
    "carelessness": "random",
    "drift": "drift",
    "fatigue": "fatigue",
    "recency": "recency",
    "NA overuse": "NA",
}
"""Diagnostics that stand side by side, and their headings."""


def blocks(found: RaterReport) -> Iterator[Block]:
    """What to do something about first."""
    yield _findings(found)
    yield _profiles(found)
    yield from _effects(found)
    yield from _moved(found)
    yield from _missing(found)


def html(found: RaterReport) -> str:
    """The same for a notebook."""
    return html_of(blocks(found), found.notes)


def _findings(found: RaterReport) -> Block:
    rows = [
        (one.rater, one.kind, sentence(one), _p(one.adjusted), advice(one) or "")
        for one in sorted(found.findings, key=lambda one: (one.rater, one.adjusted or 0))
    ]
    if not rows:
        return Block(
            "Findings", ("",), [("none: nothing is both shown and large enough to matter",)]
        )
    return Block("Findings", ("rater", "what", "finding", "p", "what to do"), rows)


def _profiles(found: RaterReport) -> Block:
    ranked = sorted(found.profiles, key=_severity)
    shown = ranked if len(ranked) <= 2 * MOST_SHOWN else ranked[:MOST_SHOWN] + ranked[-MOST_SHOWN:]
    kinds = any(one.kind for one in found.profiles)
    rows = [
        (
            one.rater,
            *([one.kind or ""] if kinds else []),
            f"{one.items:,}",
            _number(one.severity.value, "+.2f"),
            _limits(one.severity.interval),
            _number(one.observed),
            _number(one.fair),
            _number(one.infit),
            _number(one.outfit),
        )
        for one in shown
    ]
    header = (
        "rater", *(["kind"] if kinds else []), "items", "severity", "interval",
        "mean", "fair", "infit", "outfit",
    )  # fmt: skip
    return Block(_title(found, len(shown)), header, rows)


def _title(found: RaterReport, shown: int) -> str:
    title = "Severity in logits with 95 % intervals, most severe first, 0 the average rater"
    if shown < len(found.profiles):
        title += f" ({shown} of {len(found.profiles)}, -o keeps all)"
    if found.separation is not None:
        told = found.separation
        title += f"; separation {told.separation:.2f}, reliability {told.reliability:.2f}"
    return title


def _severity(one: RaterProfile) -> tuple[bool, float]:
    value = one.severity.value
    return value is None, -(value or 0.0)


def _effects(found: RaterReport) -> Iterator[Block]:
    """Effects side by side, those with a value for anybody; findings have a star."""
    by_rater: dict[str, dict[str, Diagnostic]] = {}
    for one in found.diagnostics:
        if one.criterion is None and one.kind in _COLUMNS and one.estimate.value is not None:
            by_rater.setdefault(one.rater, {})[one.kind] = one
    kinds = [kind for kind in _COLUMNS if any(kind in mine for mine in by_rater.values())]
    if not kinds:
        return
    rows = [
        (rater, *(_star(mine.get(kind)) for kind in kinds))
        for rater, mine in list(by_rater.items())[: 2 * MOST_SHOWN]
    ]
    title = "Effects beside the panel's, * a finding (-o has errors, intervals and p)"
    yield Block(title, ("rater", *(_COLUMNS[kind] for kind in kinds)), rows)


def _star(one: Diagnostic | None) -> str:
    if one is None or one.estimate.value is None:
        return "–"
    return f"{one.estimate.value:+.2f}{'*' if one.found else ''}"


def _moved(found: RaterReport) -> Iterator[Block]:
    """Items that severe or lenient raters moved furthest."""
    frame = found.fair_items.drop_nulls(["observed", "fair"])
    if not frame.height:
        return
    frame = frame.with_columns((frame["fair"] - frame["observed"]).alias("moved"))
    frame = frame.sort(frame["moved"].abs(), descending=True).head(MOVED)
    rows = [
        (one["item"], f"{one['observed']:.2f}", f"{one['fair']:.2f}", f"{one['moved']:+.2f}")
        for one in frame.to_dicts()
        if abs(one["moved"]) >= LEAST
    ]
    if rows:
        title = "Items an average rater would have rated otherwise (--fair keeps all)"
        yield Block(title, ("item", "observed", "fair", "difference"), rows)


def _missing(found: RaterReport) -> Iterator[Block]:
    """What could not be looked for, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in found.diagnostics:
        if one.estimate.undefined:
            raters = reasons.setdefault((one.kind, one.estimate.undefined), [])
            if one.rater not in raters:
                raters.append(one.rater)
    everybody = len(found.profiles)
    rows = [
        (kind, "all raters" if len(who) == everybody else _some(who), why)
        for (kind, why), who in reasons.items()
    ]
    if rows:
        yield Block("Not looked for", ("what", "of whom", "why"), rows)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _number(value: float | None, form: str = ".2f") -> str:
    return "–" if value is None else format(value, form)


def _limits(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:+.2f}…{interval[1]:+.2f}"


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"
