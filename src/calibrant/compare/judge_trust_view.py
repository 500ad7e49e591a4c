"""A judge beside people as titled tables of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calibrant.compare.blocks import MOST_SHOWN, Block
from calibrant.compare.combined_view import without

if TYPE_CHECKING:
    from calibrant.compare.judge_trust import CriterionTrust, JudgeTrust
    from calibrant.stats.estimate import Estimate

FULL = 3
"""Criteria up to which confusions and people are shown one by one."""


def blocks(found: JudgeTrust) -> Iterator[Block]:
    """The answers, what they rest on, and errors at gates on lines of their own."""
    nameless = [one.criterion for one in found.criteria] == [None]
    for block in _tables(found):
        shown = without(block, "criterion") if nameless else block
        for name in ("bias", "r"):
            shown = shown if _told(shown, name) else without(shown, name)
        yield shown


def _told(block: Block, name: str) -> bool:
    """Whether a column says anything."""
    at = block.header.index(name) if name in block.header else -1
    return at < 0 or any(row[at] for row in block.rows)


def _tables(found: JudgeTrust) -> Iterator[Block]:
    yield _answers(found)
    yield _agreement(found)
    yield from _gates(found)
    yield _test(found)
    yield from _effects(found)
    yield from _own_items(found)
    yield from _stability(found)
    if len(found.criteria) <= FULL:
        yield from _matches(found)
        yield from _confusions(found)


def _answers(found: JudgeTrust) -> Block:
    rows = []
    for one in sorted(found.criteria, key=lambda each: each.answer.rank):
        what, _, why = str(one.answer).partition(": ")
        rows.append((one.criterion or "", what, why))
    title = f"{found.judge} beside {len(found.people)} people"
    return Block(title, ("criterion", "answer", "why"), rows)


def _agreement(found: JudgeTrust) -> Block:
    """The judge with people, beside people with each other."""
    header = ("criterion", "items", "", "percent", "alpha", "95 % interval", "AC", "bias")
    rows = []
    for one in found.criteria:
        name = one.criterion or ""
        bias = "" if one.bias is None else f"{round(one.bias.value, 2) + 0.0:+.2f}"
        rows.append((name, f"{one.n_items:,}", "judge", *_figures(one.agreement), bias))
        if one.ceiling:
            rows.append((name, "", "people", *_figures(one.ceiling), ""))
    return Block("Agreement with people, beside people's own (the ceiling)", header, rows)


def _figures(estimates: list[Estimate]) -> tuple[str, str, str, str]:
    by_name = {one.coefficient: one for one in estimates}
    alpha = by_name.get("krippendorff_alpha")
    limits = "" if alpha is None or alpha.interval is None else (
        f"{alpha.interval[0]:.2f} … {alpha.interval[1]:.2f}"
    )  # fmt: skip
    percent, gwet = by_name.get("percent"), by_name.get("gwet_ac")
    return _number(percent), _number(alpha), limits, _number(gwet)


def _number(one: Estimate | None) -> str:
    return "–" if one is None or one.value is None else f"{one.value:.3f}"


def _gates(found: JudgeTrust) -> Iterator[Block]:
    rows = []
    for one in found.criteria:
        passes = one.false_passes
        if passes is None:
            continue
        limits = passes.interval
        rows.append(
            (
                one.criterion or "",
                f"{passes.passed:,} of {passes.failed:,}",
                "–" if limits is None else f"{limits[0]:.2f} … {limits[1]:.2f}",
                f"{passes.stopped:,} of {passes.let_through:,}",
            )
        )
    if rows:
        header = ("criterion", "false passes", "95 % interval", "false failures")
        yield Block("At the gates: what people failed and the judge passed", header, rows)


def _test(found: JudgeTrust) -> Block:
    header = ("criterion", "wins", "advantage", "z", "95 % interval", "kappa", "r")
    rows = []
    for one in found.criteria:
        tested = [match for match in one.test.matches if match.p is not None]
        wins = sum(match.won for match in tested)
        advantage = "–" if one.test.advantage is None else f"{one.test.advantage:.2f}"
        r = "" if one.correlation is None else f"{one.correlation:.2f}"
        cells = (f"{wins} of {len(tested)}", advantage, *_among(one), r)
        rows.append((one.criterion or "", *cells))
    epsilon = found.criteria[0].test.epsilon
    title = (
        f"May it take a person's place? It may if it wins against half of them (ε = {epsilon:g})"
    )
    return Block(title, header, rows)


def _among(one: CriterionTrust) -> tuple[str, str, str]:
    among = one.among
    if among.judge is None or among.z is None:
        return "–", among.undefined or "", ""
    limits = "" if among.interval is None else f"{among.interval[0]:.1f} … {among.interval[1]:.1f}"
    return f"{among.z:+.1f}", limits, among.reading or ""


def _effects(found: JudgeTrust) -> Iterator[Block]:
    """What the judge's error depends on."""
    rows = []
    for one in found.criteria:
        for effect in one.effects:
            slope = effect.slope
            what = effect.column if effect.word is None else f"{effect.column} = {effect.word}"
            if slope.value is None or slope.interval is None or slope.p is None:
                rows.append((what, one.criterion or "", "–", slope.undefined or "", "", ""))
                continue
            limits = f"{slope.interval[0]:+.3f} … {slope.interval[1]:+.3f}"
            said = "stands" if effect.found else ""
            value = f"{slope.value:+.3f}"
            rows.append((what, one.criterion or "", value, limits, f"{slope.p:.3f}", said))
    if rows:
        header = ("depends on", "criterion", "judge − people", "95 % interval", "p", "")
        title = "What its error depends on (numbers: by standard deviation)"
        yield Block(title, header, rows)


def _own_items(found: JudgeTrust) -> Iterator[Block]:
    """Whether the judge favours what it or its family wrote."""
    rows = []
    for one in found.criteria:
        for own in one.own_items:
            slope = own.slope
            items = f"{own.n_own:,} : {own.n_others:,}"
            about = (own.what.split()[1], one.criterion or "", own.against.split()[-1], items)
            if slope.value is None or slope.interval is None or slope.p is None:
                rows.append((*about, "–", slope.undefined or "", ""))
                continue
            limits = f"{slope.interval[0]:+.2f} … {slope.interval[1]:+.2f}"
            p = f"▸ {_p(slope.p)}" if own.found else _p(slope.p)
            rows.append((*about, f"{slope.value:+.2f}", limits, p))
    if rows:
        header = ("its own", "criterion", "beyond", "items", "more", "95 % interval", "p")
        title = "Does it favour its own? What it gives these more, beyond people or other judges"
        yield Block(f"{title} (▸ stands)", header, rows)


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _stability(found: JudgeTrust) -> Iterator[Block]:
    rows = []
    for one in found.criteria:
        if one.stability is not None:
            low, high = one.stability.interval
            told = f"{one.stability.same:,} of {one.stability.items:,}"
            rows.append((one.criterion or "", told, f"{low:.2f} … {high:.2f}"))
    if rows:
        header = ("criterion", "the same again", "95 % interval")
        yield Block("Asked again", header, rows)


def _matches(found: JudgeTrust) -> Iterator[Block]:
    """The judge against each person."""
    rows: list[tuple[str, ...]] = []
    for one in found.criteria:
        for who, match in zip(found.people, one.test.matches, strict=True):
            if match.p is None or match.advantage is None or match.behind is None:
                rows.append(
                    (who, one.criterion or "", f"{match.items:,}", "–", "–", "–", "too few")
                )
                continue
            said = "matched" if match.won else "not matched" if match.lost else "open"
            cells = f"{match.items:,}", f"{match.advantage:.2f}", f"{match.behind:+.2f}"
            rows.append((who, one.criterion or "", *cells, f"{match.p:.3f}", said))
    header = ("person", "criterion", "items", "judge as close", "behind", "p", "")
    more = "" if len(rows) <= MOST_SHOWN else f", {MOST_SHOWN} of {len(rows)}"
    title = f"Against each person{more} (-o keeps all)"
    yield Block(title, header, rows[:MOST_SHOWN])


def _confusions(found: JudgeTrust) -> Iterator[Block]:
    for one in found.criteria:
        if len(one.labels) > MOST_SHOWN or not any(map(any, one.confusion)):
            continue
        rows = [
            (label, *(f"{n:,}" for n in row))
            for label, row in zip(one.labels, one.confusion, strict=True)
        ]
        what = f"{one.criterion}: most" if one.criterion else "Most"
        header = ("people \\ judge", *one.labels)
        yield Block(f"{what} people's answer, and the judge's", header, rows)
