"""A report of agreement as titled tables of text, for a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calibrant.compare.bars import bar
from calibrant.compare.blocks import MOST_SHOWN, Block, html_of

if TYPE_CHECKING:
    from calibrant.compare.agreement import AgreementReport
    from calibrant.compare.targets import TargetResult
    from calibrant.stats.estimate import Estimate

FULL = 3
"""Criteria up to which every coefficient is shown."""
TOGETHER = "all criteria"


def blocks(found: AgreementReport) -> Iterator[Block]:
    """What to look at first, first."""
    main = [one for one in found.estimates if _of_all(one, found)]
    criteria = list(dict.fromkeys(one.criterion for one in main))
    many = len(criteria) > FULL + 1  # with all of them together
    if many:
        yield _overview(criteria, main)
    else:
        yield from _full(criteria, main)
    yield from _groups(found, many)
    yield from _pairs(found, many)
    yield from _slices(found, many)
    yield from _drivers(found)
    yield from _targets(found)


def html(found: AgreementReport) -> str:
    """The same for a notebook."""
    left = (f"left out: {one['rows']:,} rows, {one['reason']}" for one in found.excluded)
    return html_of(blocks(found), left)


# -- the tables


def _of_all(one: Estimate, found: AgreementReport) -> bool:
    return one.slice is None and one.group is None and one.raters == found.raters


def _overview(criteria: list[str | None], main: list[Estimate]) -> Block:
    """A line for each criterion, the lowest agreement first, all together at the end."""
    rows = []
    for criterion in criteria:
        mine = [one for one in main if one.criterion == criterion and one.na != "answer"]
        by_name = {one.coefficient: one for one in mine if one.weights is None}
        if "krippendorff_alpha" not in by_name:  # every answer is NA
            continue
        alpha = by_name["krippendorff_alpha"]  # at the level of the scale, which comes last
        percent, gwet = by_name["percent"], by_name["gwet_ac"]
        cells = (_number(percent), *_numbers(alpha)[:2], _number(gwet), f"{alpha.n_items:,}")
        lowest = criterion is None, 2.0 if alpha.value is None else alpha.value
        rows.append((lowest, (criterion or TOGETHER, *cells, _reading(alpha))))
    rows.sort(key=lambda row: row[0])
    header = ("criterion", "percent", "alpha", "95 % interval", "AC", "items", "reading")
    return Block("By criterion, lowest first (-o keeps all)", header, [row for _, row in rows])


def _full(criteria: list[str | None], main: list[Estimate]) -> Iterator[Block]:
    for criterion in criteria:
        of_it = [one for one in main if one.criterion == criterion]
        name = criterion or ("All criteria together" if len(criteria) > 1 else "All answers")
        for na in dict.fromkeys(one.na for one in of_it):
            chosen = [one for one in of_it if one.na == na]
            rows = [(_called(one), *_numbers(one), _reading(one)) for one in chosen]
            header = ("coefficient", "value", "95 % interval", "", "reading")
            yield Block(_title(name, na, chosen), header, rows)


def _title(name: str, na: str | None, chosen: list[Estimate]) -> str:
    first = chosen[0]
    told = {"left_out": ", NA left out", "answer": ", NA as an answer", None: ""}[na]
    shares = ", ".join(
        f"{label} {share:.0%}" for label, share in list(first.prevalence.items())[:8]
    )
    ratings = max(one.n_ratings for one in chosen)
    return f"{name}{told}: {first.n_items:,} items, {ratings:,} ratings ({shares})"


def _groups(found: AgreementReport, many: bool) -> Iterator[Block]:
    chosen = [one for one in found.estimates if one.group and one.na != "answer"]
    parts = [(one.group or "", one) for one in chosen]
    yield from _parts(parts, "Groups of raters", "group", many)


def _slices(found: AgreementReport, many: bool) -> Iterator[Block]:
    chosen = [one for one in found.estimates if one.slice and one.na != "answer"]
    parts = [(one.slice or "", one) for one in chosen]
    yield from _parts(parts, "Over rounds, versions and time", "part", many)


def _parts(parts: list[tuple[str, Estimate]], title: str, what: str, many: bool) -> Iterator[Block]:
    """A few estimates of each part; of many criteria AC alone, a column for each part."""
    names = list(dict.fromkeys(name for name, _ in parts))
    if not many and parts:
        level = {one.criterion: one.level for _, one in parts if one.coefficient == "percent"}
        rows: list[tuple[str, ...]] = [
            (name, one.criterion or "", _called(one), *_numbers(one), f"{one.n_items:,}")
            for name, one in parts
            if one.name in ("percent", "cohen_kappa", "gwet_ac")
            or (one.coefficient == "krippendorff_alpha" and one.level == level[one.criterion])
        ]
        header = (what, "criterion", "coefficient", "value", "95 % interval", "", "items")
        yield Block(title, header, rows)
    elif parts:
        shown = names[:MOST_SHOWN]
        cells = {(name, one.criterion): one for name, one in parts if one.name == "gwet_ac"}
        criteria = dict.fromkeys(one.criterion for _, one in parts)
        rows = [
            (criterion or "", *(_cell(cells.get((name, criterion))) for name in shown))
            for criterion in criteria
        ]
        more = f", the first {MOST_SHOWN} of {len(names)}" if len(names) > MOST_SHOWN else ""
        yield Block(f"{title}: AC (-o keeps all{more})", ("criterion", *shown), rows)


def _pairs(found: AgreementReport, many: bool) -> Iterator[Block]:
    """Rater by rater: Cohen's kappa, where it has a value; of many criteria the lowest."""
    pairs = [
        one for one in found.estimates
        if len(one.raters) == 2 and one.name == "cohen_kappa" and one.slice is None
        and one.group is None and one.na != "answer"
    ]  # fmt: skip
    raters = [name for name in found.raters if any(name in one.raters for one in pairs)]
    if not pairs or len(raters) < 3:
        return
    if many or len(raters) > MOST_SHOWN:
        known = sorted((one for one in pairs if one.value is not None), key=_value)[:MOST_SHOWN]
        rows: list[tuple[str, ...]] = [
            (" – ".join(one.raters), one.criterion or "", *_numbers(one), f"{one.n_items:,}")
            for one in known
        ]
        header = ("raters", "criterion", "kappa", "95 % interval", "", "items")
        yield Block("Pairs of raters, lowest kappa first (-o keeps all)", header, rows)
        return
    for criterion in dict.fromkeys(one.criterion for one in pairs):
        kappa = {frozenset(one.raters): one for one in pairs if one.criterion == criterion}
        rows = [
            (first, *(_cell(kappa.get(frozenset((first, second)))) for second in raters))
            for first in raters
        ]
        name = criterion or "All answers"
        yield Block(f"{name}: rater by rater", ("kappa", *raters), rows)


def _value(one: Estimate) -> float:
    return one.value if one.value is not None else 2.0


def _cell(one: Estimate | None) -> str:
    return "·" if one is None or one.value is None else f"{one.value:.2f}"


def _drivers(found: AgreementReport) -> Iterator[Block]:
    worst = sorted(found.drivers, key=lambda one: -one.disagreement)[:MOST_SHOWN]
    if worst:
        rows = [
            (one.item, one.criterion or "", bar(one.disagreement, 8),
             ", ".join(f"{who} {what}" for who, what in list(one.answers.items())[:8]))
            for one in worst
        ]  # fmt: skip
        header = ("item", "criterion", "apart", "answers")
        yield Block("Items that drive the disagreement", header, rows)


def _targets(found: AgreementReport) -> Iterator[Block]:
    """A table for each target, the criterion that is furthest from it first."""
    header = ("criterion", "", "value", "95 % interval", "from target", "why")
    for target in dict.fromkeys(str(one.target) for one in found.targets):
        mine = [one for one in found.targets if str(one.target) == target]
        rows = [_target(one) for one in sorted(mine, key=lambda one: one.margin)]
        yield Block(f"Targets, the furthest first: {target}", header, rows)


def _target(one: TargetResult) -> tuple[str, ...]:
    found = one.estimate
    value, limits, margin = "–", "", ""
    if found is not None and found.value is not None:
        value, limits = _numbers(found)[:2]
        margin = f"{one.margin:+.3f}"
    why = one.why
    if one.more_items:
        why += f"; about {one.more_items:,} more items would settle it"
    outcome = one.outcome.replace("_", " ")
    return one.criterion or "all answers", outcome, value, limits, margin, why


# -- cells


def _number(one: Estimate) -> str:
    return "–" if one.value is None else f"{one.value:.3f}"


def _called(one: Estimate) -> str:
    return one.name.replace("_", " ").replace(":", ", ")


def _reading(one: Estimate) -> str:
    """By convention; the report for machines says whose."""
    return (one.reading or one.undefined or "").partition(" (")[0].partition(":")[0]


def _numbers(one: Estimate) -> tuple[str, str, str]:
    if one.value is None:
        return "–", "", ""
    limits = "" if one.interval is None else f"{one.interval[0]:.2f} … {one.interval[1]:.2f}"
    return f"{one.value:.3f}", limits, bar(max(0.0, min(1.0, one.value)), 8)
