"""``calibrant study status``: one calm screen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from calibrant.cli.study_call import count, plain, study_command
from calibrant.cli.terminal import console, show_json, visible, wants_json
from calibrant.compare.bars import bar

if TYPE_CHECKING:
    from rich.text import Text

    from calibrant.study.handle import Study
    from calibrant.study.status import RoundProgress, Status, TargetRow

WIDTH = 80
MOST_RATERS, MOST_TARGETS, MOST_NEXT = 8, 12, 5
"""Lines of each part; the screen is one."""


@study_command
def status(study: Study, style: str) -> None:
    """See how the study stands, on one screen: progress, agreement, what to do next.

    Everybody sees what they may see by now: raters their own part, the lead all of it.

    \b
    Examples:
      calibrant study status advice
      calibrant study status advice --as ann
    """
    from calibrant.compose import shown_place

    found = study.status()
    ctx = click.get_current_context()
    place = shown_place(ctx.params["place"])
    if wants_json(style):
        show_json({**plain(asdict(found)), "db": place, "actor": study.actor})
        return
    screen = console()
    for line in _lines(found):
        screen.print(line, no_wrap=True, overflow="ellipsis", crop=True, width=WIDTH)
    # a path is to be copied, so it is told whole, however long
    screen.print(_text(place, "dim"), soft_wrap=True)


def _lines(found: Status) -> Iterator[Text]:
    yield from _head(found)
    yield from _rounds(found)
    yield from _agreement(found)
    yield from _open_things(found)
    yield from _next(found)
    yield _text("")


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(visible(text), style=style)


def _titled(title: str) -> Iterator[Text]:
    yield _text("")
    yield _text(title, "bold")


def _head(found: Status) -> Iterator[Text]:
    title = found.title if found.title == found.study else f"{found.title} ({found.study})"
    week = f"week {found.week}" if found.week > 0 else "not begun"
    right = f"{found.rubric} · {count(found.items, 'item')} · {week}"
    gap = " " * max(WIDTH - len(title) - len(right), 2)
    yield _text(f"{title}{gap}", "bold").append(right, style="dim")
    if found.phases:
        line = _text("")
        for at, phase in enumerate(found.phases):
            sign = {"done": "✓ ", "open": "● ", "waiting": "○ "}[phase.state]
            look = {"done": "green", "open": "bold cyan", "waiting": "dim"}[phase.state]
            line.append("  " if at else "").append(visible(sign + phase.title), style=look)
        yield line


def _rounds(found: Status) -> Iterator[Text]:
    if not found.rounds:
        return
    yield from _titled("Rounds")
    for one in found.rounds[-4:]:
        share = one.done / one.total if one.total else 0.0
        name = f"{one.number} {one.kind}"
        line = _text(f"  {name:<18}{one.state:<9}{bar(share)} {one.done:,} of {one.total:,}")
        if one.state == "closed":
            line.stylize("dim")
        yield line
    current = [one for one in found.rounds if one.state == "open"]
    for one in current:
        yield from _raters(one)


def _raters(round: RoundProgress) -> Iterator[Text]:
    behind = sorted(round.raters.items(), key=lambda pair: _share(pair[1]))
    for name, (done, total) in behind[:MOST_RATERS]:
        short = name if len(name) <= 22 else f"{name[:21]}…"
        colour = "green" if done == total else ""
        yield _text(f"    {short:<23}  {bar(_share((done, total)))} {done:,} of {total:,}", colour)
    if len(behind) > MOST_RATERS:
        yield _text(f"    … {len(behind) - MOST_RATERS} more raters", "dim")


def _share(counts: tuple[int, int]) -> float:
    done, total = counts
    return done / total if total else 0.0


def _agreement(found: Status) -> Iterator[Text]:
    if found.agreement_round is None:
        return
    targets = sorted({one.target for one in found.agreement})
    of_all = f" against {targets[0]}" if len(targets) == 1 else ""
    yield from _titled(f"Agreement in round {found.agreement_round}{of_all}")
    order = {"not_met": 0, "not_shown": 1}
    rows = sorted(found.agreement, key=lambda one: order.get(one.outcome, 2))
    for one in rows[:MOST_TARGETS]:
        yield _target(one, "" if of_all else one.target)
    if len(rows) > MOST_TARGETS:
        yield _text(f"  … {len(rows) - MOST_TARGETS} more targets", "dim")


def _target(one: TargetRow, target: str) -> Text:
    value = "   –" if one.value is None else f"{one.value:5.2f}"
    span = "" if one.interval is None else f"{one.interval[0]:.2f} … {one.interval[1]:.2f}"
    share = min(max(one.value or 0.0, 0.0), 1.0)
    look = {"met": ("✓", "green"), "not_met": ("✗", "red")}.get(one.outcome, ("?", "yellow"))
    line = _text(f"  {one.criterion[:17]:<18}").append(look[0], style=look[1])
    line.append(f" {value} {bar(share, 10)} {span:<13}")
    return line.append(f" {visible(target)}", style="dim")


def _open_things(found: Status) -> Iterator[Text]:
    waiting: list[tuple[str, int, str]] = [
        ("to settle", found.disagreements, "yellow"),
        ("red flags", found.flags.get("red_flag", 0), "red"),
        ("edge cases", found.flags.get("edge_case", 0), "yellow"),
        ("to review", found.flags.get("review", 0), "yellow"),
        ("questions", found.questions, "yellow"),
    ]
    yield from _titled("Open")
    line = _text("  ")
    for at, (what, many, colour) in enumerate(waiting):
        line.append("   " if at else "")
        line.append(f"{many:,} {what}", style=colour if many else "dim")
    yield line


def _next(found: Status) -> Iterator[Text]:
    yield from _titled("Next")
    for at, line in enumerate(found.next[:MOST_NEXT]):
        first = True
        for part in _wrapped(line):
            yield _text(f"  {'→' if first else ' '} {part}", "" if at else "bold")
            first = False
    if len(found.next) > MOST_NEXT:
        yield _text(f"    … {len(found.next) - MOST_NEXT} more", "dim")
    if not found.next:
        yield _text("  nothing waits for you", "dim")


def _wrapped(line: str) -> list[str]:
    from textwrap import wrap

    return wrap(line, WIDTH - 5) or [""]
