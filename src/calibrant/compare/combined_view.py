"""Combined answers as titled tables of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from calibrant.compare.bars import bar
from calibrant.compare.blocks import MOST_SHOWN, Block

if TYPE_CHECKING:
    from calibrant.compare.combined import Combined, CombinedReport, Fit

CALLED = {
    "majority": "majority",
    "median": "median",
    "dawid_skene": "Dawid–Skene",
    "mace": "MACE",
}
FULL = 3
"""Criteria up to which every rater's table of errors is shown."""


def blocks(found: CombinedReport) -> Iterator[Block]:
    """Criteria, raters, final answers, the items to look at again."""
    nameless = [one.criterion for one in found.criteria] == [None]
    for block in _tables(found):
        yield without(block, "criterion") if nameless else block


def without(block: Block, name: str) -> Block:
    """A table without one of its columns, where it has that."""
    if name not in block.header:
        return block
    at = block.header.index(name)
    rows = [(*row[:at], *row[at + 1 :]) for row in block.rows]
    return Block(block.title, (*block.header[:at], *block.header[at + 1 :]), rows)


def _tables(found: CombinedReport) -> Iterator[Block]:
    yield _overview(found)
    yield from _final(found)
    yield from _raters(found)
    if len(found.criteria) <= FULL and len(found.raters) <= MOST_SHOWN:
        yield from _confusions(found)
    yield from _fits(found)
    yield from _items(found)


def _methods(one: Combined) -> list[str]:
    return [name for name in CALLED if name in one.items.columns]


def _overview(found: CombinedReport) -> Block:
    header = ("criterion", "items", "ties", "Dawid–Skene ≠", "MACE ≠", "look again", "")
    rows = []
    for one in found.criteria:
        items, again = one.items, one.differing.height
        voted = items["majority"].is_not_null()
        ties = items.height - int(voted.sum())
        apart = [
            f"{int((items[name] != items['majority']).sum()):,}" if name in items.columns else "–"
            for name in ("dawid_skene", "mace")
        ]
        share = again / items.height if items.height else 0.0
        cells = (f"{items.height:,}", f"{ties:,}", *apart, f"{again:,}", bar(share, 8))
        rows.append((one.criterion or "", *cells))
    return Block("Combined answers; ≠: other than the majority", header, rows)


def _final(found: CombinedReport) -> Iterator[Block]:
    rows = []
    for one in found.criteria:
        for method in one.against_final:
            limits = method.interval
            rows.append(
                (
                    one.criterion or "",
                    CALLED[method.method],
                    f"{method.same:,} of {method.decided:,}",
                    "" if limits is None else f"{limits[0]:.2f} … {limits[1]:.2f}",
                    f"{method.undecided:,}",
                )
            )
    if rows:
        header = ("criterion", "method", "same as final", "95 % interval", "undecided")
        yield Block("Beside the final answers", header, rows)


def _raters(found: CombinedReport) -> Iterator[Block]:
    told = [
        (one.criterion or "", rater)
        for one in found.criteria
        for rater in one.raters
        if rater["accuracy"] is not None
    ]
    told.sort(key=lambda pair: pair[1]["accuracy"])
    if not told:
        return
    rows = [
        (
            rater["rater"],
            criterion,
            f"{rater['answers']:,}",
            f"{rater['accuracy']:.3f}",
            _signed(rater["bias"]),
            f"{rater['competence']:.3f}",
        )
        for criterion, rater in told[:MOST_SHOWN]
    ]
    more = "" if len(told) <= MOST_SHOWN else f", {MOST_SHOWN} of {len(told)}"
    header = ("rater", "criterion", "answers", "right", "leans", "knows")
    title = f"Raters, least often right first{more}"
    block = Block(f"{title} (right, leans: Dawid–Skene; knows: MACE)", header, rows)
    yield block if any(row[4] for row in rows) else without(block, "leans")


def _signed(bias: float | None) -> str:
    return "" if bias is None else f"{bias:+.2f}"


def _confusions(found: CombinedReport) -> Iterator[Block]:
    for one in found.criteria:
        rows = [
            (name, label, *(f"{share:.2f}" for share in table[at]))
            for name, table in one.confusion.items()
            for at, label in enumerate(one.labels)
        ]
        if rows and len(one.labels) <= MOST_SHOWN:
            what = f"{one.criterion}: what" if one.criterion else "What"
            shares = ", ".join(f"{label} {share:.0%}" for label, share in one.shares.items())
            header = ("rater", "true answer", *one.labels)
            title = f"{what} each rater answers, by the true answer ({shares})"
            yield Block(title, header, rows)


def _fits(found: CombinedReport) -> Iterator[Block]:
    header = ("criterion", "model", "rounds", "converged", "height", "how")
    rows = [
        (one.criterion or "", CALLED[fit.model], *_fit(fit))
        for one in found.criteria
        for fit in one.fits
    ]
    yield Block("Models (height: log likelihood, or its bound)", header, rows)


def _fit(fit: Fit) -> tuple[str, ...]:
    if fit.undefined is not None or fit.height is None:
        return "–", "–", "–", fit.undefined or ""
    return f"{fit.rounds:,}", "yes" if fit.converged else "no", f"{fit.height:,.4f}", fit.start


def _items(found: CombinedReport) -> Iterator[Block]:
    """The items to look at again, least sure first."""
    told: list[tuple[float, Combined, dict[str, Any]]] = [
        (-1.0 if row["probability"] is None else row["probability"], one, row)
        for one in found.criteria
        for row in one.differing.head(MOST_SHOWN).iter_rows(named=True)
    ]
    told.sort(key=lambda entry: entry[0])
    if not told:
        return
    shown = told[:MOST_SHOWN]
    methods = [name for name in CALLED if any(name in _methods(one) for _, one, _ in shown)]
    final = ("final",) if any(one.against_final for one in found.criteria) else ()
    rows = [
        (
            row["item"],
            one.criterion or "",
            row["answers"],
            *(_answer(row, name) for name in methods),
            *(row.get(name) or "–" for name in final),
            row["why"],
        )
        for _, one, row in shown
    ]
    called = ["D–S" if name == "dawid_skene" else CALLED[name] for name in methods]
    header = ("item", "criterion", "answers", *called, *final, "why")
    count = sum(one.differing.height for one in found.criteria)
    more = "" if count <= MOST_SHOWN else f", {MOST_SHOWN} of {count:,} (-o keeps all)"
    yield Block(f"Look at these again, least sure first{more}", header, rows)


def _answer(row: dict[str, Any], method: str) -> str:
    answer, share = row.get(method), row.get(f"{method}_probability")
    return f"{answer or '–'}" if share is None else f"{answer or '–'} {share:.2f}"
