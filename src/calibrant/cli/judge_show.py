"""How a run of judges looks on a terminal: live figures while it goes, tables at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.terminal import console, table, visible

if TYPE_CHECKING:
    from calibrant.engine.jobs import Tally
    from calibrant.engine.judge_summary import JudgeCount, JudgeSummary
    from calibrant.judging.dry_run import DryRun
    from calibrant.judging.probing import Withstood
    from calibrant.raters.judge.prices import Price

Told = Callable[[], None]
MOST_ROWS = 20


@contextmanager
def live(tally: Tally, prices: Mapping[str, Price]) -> Iterator[Told]:
    """A line of figures on a terminal, drawn anew several times a second."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    began = time.monotonic()
    columns = (TextColumn("judging"), BarColumn(bar_width=20), TextColumn("{task.fields[told]}"))
    with Progress(*columns, console=console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("judging", total=tally.total or None, told="")

        def update() -> None:
            seconds = time.monotonic() - began
            told = figures(tally, prices, seconds)
            drawn.update(task, total=tally.total or None, completed=tally.done, told=told)

        yield update


def figures(tally: Tally, prices: Mapping[str, Price], seconds: float) -> str:
    """Calls, rate, errors, tokens, spend and time left, as one line."""
    from calibrant.raters.judge.prices import Spending, money

    asked = tally.done - tally.kept
    rate = asked / seconds if seconds > 0 else 0.0
    parts = [f"{tally.done:,} of {tally.total:,} calls" if tally.total else f"{tally.done:,} calls"]
    if tally.kept:
        parts.append(f"{tally.kept:,} answered before")
    parts.append(f"{rate:,.1f} a second")
    if tally.errors:
        parts.append(", ".join(f"{why} {count:,}" for why, count in tally.errors.most_common(3)))
    spending = Spending(dict(prices))
    for model, usage in tally.usage.items():
        spending.add(model, usage)
    tokens = sum(one.prompt + one.completion for one in tally.usage.values())
    parts.append(f"{tokens:,} tokens")
    if spending.total is not None:
        parts.append(f"{money(spending.total)} spent")
    left = tally.total - tally.done
    if rate > 0 and left > 0:
        parts.append(f"{duration(left / rate)} left")
    if tally.stop:
        parts.append("stopping")
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# -- at the end


def show(summary: JudgeSummary, tally: Tally) -> None:
    """All that a run came to."""
    screen = console()
    for name, count in summary.judges.items():
        screen.print(table(("", visible(name)), _judge_rows(count, summary)))
    if summary.panel is not None:
        screen.print(table(("panel", ""), _panel_rows(summary.panel)))
        _show_disagreements(summary.panel["first_disagreements"])
    for rater, criteria in summary.stability.items():
        _show_stability(rater, criteria)
    if summary.cascade is not None:
        screen.print(table(("goes on", ""), _cascade_rows(summary.cascade)))
    for line in ends(summary, tally):
        screen.print(visible(line), style="bold")
    for note in dict.fromkeys(summary.warnings):
        click.secho(visible(f"note: {note}"), err=True, fg="yellow")


def _judge_rows(count: JudgeCount, summary: JudgeSummary) -> Iterator[tuple[str, str]]:
    from calibrant.raters.judge.prices import money

    yield (
        "ratings",
        f"{count.ratings:,}" + (f", {count.incomplete:,} incomplete" if count.incomplete else ""),
    )
    lacking = sum(count.abstained.values())
    yield "answers", f"{count.answers:,}" + (f", {lacking:,} lacking" if lacking else "")
    for why, times in count.abstained.most_common():
        yield f"  {why}", f"{times:,}"
    more = f", {count.attempts - count.calls:,} asked again" if count.attempts > count.calls else ""
    yield "calls", f"{count.calls:,}{more}"
    yield "replies", ", ".join(f"{rung} {times:,}" for rung, times in count.rungs.most_common())
    quotes = count.quotes + count.unverified
    if quotes:
        yield "quotations", f"{quotes:,}, {count.quotes / quotes:.0%} found in the item"
    usage = count.usage
    kept = f" ({usage.cached:,} cached)" if usage.cached else ""
    yield "tokens", f"{usage.prompt:,} in{kept}, {usage.completion:,} out"
    if count.calls:
        yield "seconds a call", f"{count.seconds / count.calls:.2f}"
    price = summary.prices.get(count.model)
    if price is not None:
        yield "cost", money(price.spend(usage))


def _panel_rows(panel: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    effective = panel["effective_number"]
    yield "members", ", ".join(panel["members"])
    yield "policy", panel["policy"] or "none"
    if effective["value"] is None:
        yield "independent judges", effective["undefined"]
    else:
        told = f"{effective['value']:.1f} of {effective['judges']}"
        yield "independent judges", f"at least {told} (r = {effective['correlation']:.2f})"
    yield "disagreements", f"{panel['disagreements']:,}, {panel['on_gates']:,} on gates"


def _show_disagreements(found: list[dict[str, Any]]) -> None:
    rows = [
        (
            one["item"],
            one["criterion"],
            ", ".join(f"{answer} ×{times}" for answer, times in one["votes"].items()),
            one["answer"] or "",
        )
        for one in found[:MOST_ROWS]
    ]
    if rows:
        console().print(table(("item", "criterion", "votes", "panel"), rows))


def _show_stability(rater: str, criteria: Mapping[str, Mapping[str, Any]]) -> None:
    rows = [
        (
            name,
            one["items"],
            one["undefined"] if one["unanimous"] is None else f"{one['unanimous']:.0%}",
            "" if one["pairwise"] is None else f"{one['pairwise']:.0%}",
        )
        for name, one in criteria.items()
    ]
    header = (f"{rater}, asked again", "items", "always the same", "pairs the same")
    console().print(table(header, rows))


def _cascade_rows(cascade: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "to", cascade["to"]
    share = "" if cascade["share"] is None else f" ({cascade['share']:.0%})"
    yield "items", f"{cascade['escalated']:,} of {cascade['items']:,}{share}"
    for why, times in cascade["reasons"].items():
        yield f"  {why.replace('_', ' ')}", f"{times:,}"
    if cascade.get("saved") is not None:
        from decimal import Decimal

        from calibrant.raters.judge.prices import money

        part = cascade["saved_share"]
        told = "" if part is None else f" ({part:.0%} of asking the stronger judge alone)"
        yield "saved", f"{money(Decimal(cascade['saved']))}{told}"


def ends(summary: JudgeSummary, tally: Tally) -> Iterator[str]:
    """The last lines."""
    parts = [f"{summary.items:,} items"]
    if tally.kept:
        parts.append(f"{tally.kept:,} calls answered before")
    if tally.lost:
        parts.append(f"{len(tally.lost):,} were under way when an earlier run was killed")
    parts.append(f"{summary.incomplete:,} incomplete" if summary.incomplete else "all complete")
    yield " · ".join(parts)
    if summary.stopped:
        yield "Stopped: the same command goes on, and pays for nothing that was answered."
    elif summary.incomplete:
        yield "The same command asks again for what is lacking, and for nothing else."


# -- before, and beside


def show_dry_run(found: DryRun) -> None:
    """A whole prompt, then what a run would take."""
    from calibrant.raters.judge.prices import money

    screen = console()
    for message in found.messages:
        screen.print(message.role, style="bold")
        screen.print(visible(message.content), soft_wrap=True)
        screen.print()
    rows = []
    for judge in found.judges:
        one = judge.estimate
        rows.append(
            (
                judge.rater,
                f"{one.calls:,}",
                f"{one.prompt:,}",
                f"{one.fresh:,}",
                f"{one.completion:,}",
                "" if judge.cost is None else money(judge.cost),
                "" if judge.at_most is None else money(judge.at_most),
            )
        )
    header = ("judge", "calls", "tokens in", "uncached", "tokens out", "cost", "at most")
    screen.print(table(header, rows))
    screen.print(
        f"{found.items:,} items · nothing was sent · tokens are estimates, 4 characters each"
    )


def show_withstood(found: Withstood) -> None:
    """How a model withstood instructions in items, by family."""
    rows = [
        (
            one.family.replace("_", " "),
            "" if one.share is None else f"{float(one.share):.0%}",
            one.held,
            one.gave_in,
            one.no_room,
            one.unanswered,
        )
        for one in (*found.families, found.total)
    ]
    header = (visible(found.rater), "resisted", "held", "gave in", "nothing to win", "no answer")
    console().print(table(header, rows))
    fell = found.total.fell_for
    if fell:
        console().print(f"gave in to {', '.join(fell)}")
