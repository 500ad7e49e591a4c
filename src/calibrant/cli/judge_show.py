"""How a run of judges looks on a terminal: live figures while it goes, tables at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, get_args

import click

from calibrant.cli.study_call import count
from calibrant.cli.terminal import console, table, visible

if TYPE_CHECKING:
    from calibrant.engine.jobs import Tally
    from calibrant.engine.judge_summary import JudgeCount, JudgeSummary
    from calibrant.judging.dry_run import DryRun
    from calibrant.judging.probing import Withstood
    from calibrant.raters.judge.prices import Price

Told = Callable[[], None]
MOST_ROWS = 20
BAR = 8
"""Signs of the bar; figures take the rest of the line."""


@contextmanager
def live(tally: Tally, prices: Mapping[str, Price]) -> Iterator[Told]:
    """A line of figures on a terminal, drawn anew several times a second."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    began, screen = time.monotonic(), console(stderr=True)
    columns = (TextColumn("judging"), BarColumn(bar_width=BAR), TextColumn("{task.fields[told]}"))
    with Progress(*columns, console=screen, transient=True) as drawn:
        task = drawn.add_task("judging", total=tally.total or None, told="")

        def update() -> None:
            seconds = time.monotonic() - began
            told = figures(tally, prices, seconds, width=screen.width - BAR - len("judging  "))
            drawn.update(task, total=tally.total or None, completed=tally.done, told=told)

        yield update


def figures(
    tally: Tally, prices: Mapping[str, Price], seconds: float, width: int | None = None
) -> str:
    """Calls, rate, errors, tokens, spend and time left, as one line.

    Where there is no room for all of them, tokens go first, then the rate, what was answered
    before, and at last what went wrong in each way.
    """
    from calibrant.raters.judge.prices import Spending, money

    asked = tally.done - tally.kept
    rate = asked / seconds if seconds > 0 else 0.0
    parts = [f"{tally.done:,} of {tally.total:,} calls" if tally.total else f"{tally.done:,} calls"]
    before = f"{tally.kept:,} answered before"
    if tally.kept:
        parts.append(before)
    speed = f"{rate:,.1f} a second"
    parts.append(speed)
    wrong = ", ".join(f"{why} {times:,}" for why, times in tally.errors.most_common(3))
    if wrong:
        parts.append(wrong)
    spending = Spending(dict(prices))
    for model, usage in tally.usage.items():
        spending.add(model, usage)
    tokens = sum(one.prompt + one.completion for one in tally.usage.values())
    taken = f"{tokens:,} tokens"
    parts.append(taken)
    if spending.total is not None:
        parts.append(f"{money(spending.total)} spent")
    left = tally.total - tally.done
    if rate > 0 and left > 0:
        parts.append(f"{duration(left / rate)} left")
    if tally.stop:
        parts.append("stopping")
    shorter = {taken: "", speed: "", before: "", wrong: f"{tally.errors.total():,} errors"}
    for one, instead in shorter.items():
        if width is not None and len(" · ".join(parts)) > width:
            parts = [instead if part == one else part for part in parts]
            parts = [part for part in parts if part]
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# -- at the end


def show(summary: JudgeSummary, tally: Tally, *, replayed: bool = False) -> None:
    """All that a run came to."""
    screen = console()
    for name, one in summary.judges.items():
        screen.print(table(("", visible(name)), _judge_rows(one, summary)))
    if summary.panel is not None:
        screen.print(table(("panel", ""), _panel_rows(summary.panel)))
        _show_disagreements(summary.panel["first_disagreements"], summary.panel["disagreements"])
    for rater, criteria in summary.stability.items():
        _show_stability(rater, criteria)
    if summary.cascade is not None:
        screen.print(table(("goes on", ""), _cascade_rows(summary.cascade)))
    for line in ends(summary, tally, replayed=replayed):
        screen.print(visible(line), style="bold")
    lacks = [f"the server of {model} does not know {what}" for model, what in tally.steps]
    for note in dict.fromkeys((*summary.warnings, *lacks)):
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


def _show_disagreements(found: list[dict[str, Any]], total: int) -> None:
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
    if total > len(rows):
        console().print(f"and {total - len(rows):,} more disagreements")


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

        saved, part = Decimal(cascade["saved"]), cascade["saved_share"]
        if saved < 0:
            yield "saved", f"nothing: {money(-saved)} more than asking the stronger judge alone"
            return
        told = "" if part is None else f" ({part:.0%} of asking the stronger judge alone)"
        yield "saved", f"{money(saved)}{told}"


def ends(summary: JudgeSummary, tally: Tally, *, replayed: bool = False) -> Iterator[str]:
    """The last lines."""
    parts = [count(summary.items, "item")]
    if replayed:
        parts.append("read from the log")
    elif tally.kept:
        parts.append(f"{tally.kept:,} calls answered before")
    elif not tally.known and not summary.stopped:
        parts.append("nothing was asked, as all was answered before")
    if tally.lost:
        parts.append(f"{count(len(tally.lost), 'call')} under way when an earlier run ended")
    if summary.incomplete:
        parts.append(f"{summary.incomplete:,} incomplete")
    elif summary.stopped:
        ratings = sum(one.ratings for one in summary.judges.values())
        parts.append(f"{count(tally.done, 'call')} and {count(ratings, 'rating')} so far")
    else:
        parts.append("all complete")
    yield " · ".join(parts)
    if summary.stopped:
        yield "Stopped: the same command goes on, and pays for nothing that was answered."
    elif summary.incomplete and replayed:
        yield "What is not recorded was not asked by this judge about these items."
    elif summary.incomplete:
        yield from _what_is_lacking(summary)


def _what_is_lacking(summary: JudgeSummary) -> Iterator[str]:
    """Whether asking again helps: where nobody answered it does, where a model did it may not."""
    from calibrant.ports.chat import Class

    reasons = [pair for one in summary.judges.values() for pair in one.abstained.items()]
    unheard = sum(times for why, times in reasons if why in get_args(Class))
    replied = sum(times for why, times in reasons) - unheard
    if unheard:
        yield "The same command asks again for what is lacking, and for nothing else."
    if replied:
        yield (
            f"Replies that give no answer ({replied:,}) are kept: read them under metadata. More "
            "--attempts ask again; another --way, --max-tokens or model may do better, in a new -o."
        )


# -- before, and beside


def show_dry_run(found: DryRun, goes_on_to: str | None = None) -> None:
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
    drawn = table(header, rows)
    for at, column in enumerate(drawn.columns):  # names may be broken, numbers never
        column.no_wrap, column.overflow = at > 0, "fold"
    screen.print(drawn)
    screen.print(
        f"{count(found.items, 'item')} · nothing was sent · tokens are estimates, 4 characters each"
    )
    if goes_on_to is not None:
        screen.print(f"not counted: doubtful items that go on to {visible(goes_on_to)}")


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
