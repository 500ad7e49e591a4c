"""The runs of ``calibrant judge``: over a file, in a study, dry, or with probes."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.judge_show import live, show, show_dry_run, show_withstood
from calibrant.cli.study_call import count, opened, told
from calibrant.cli.terminal import show_json, visible, wants_json

if TYPE_CHECKING:
    from calibrant.core.errors import Fault
    from calibrant.engine.jobs import Tally
    from calibrant.engine.judge_summary import JudgeSummary
    from calibrant.judging.asking import Asking
    from calibrant.judging.dry_run import DryRun
    from calibrant.raters.judge.prices import Price
    from calibrant.settings import Server

REDRAW = 0.2
"""Seconds from one look at the figures to the next."""
NO_WORK = (
    "nothing is to be asked: no open round has work left for these judges; one that is new joins "
    "with its first run, and rates in rounds that are planned from then on"
)
SILENT = 5.0
"""Seconds without any answer after which that is said."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where items come from, as the command names it."""

    items: Path
    rubric: str
    encoding: str | None
    skip_bad: bool


def over_file(
    asking: Asking, named: Source, out: Path | None, *, dry_run: bool, style: str
) -> None:
    """Judge a file of items, or tell what that would take."""
    from calibrant.engine.jobs import Tally
    from calibrant.engine.judge_run import Source as Items
    from calibrant.formats.rubric_file import load_rubric
    from calibrant.judging.dry_run import dry_run as dry
    from calibrant.judging.over_file import judge_file

    source = Items(
        path=named.items,
        rubric=load_rubric(named.rubric),
        encoding=named.encoding,
        skip_bad=named.skip_bad,
    )
    if dry_run:
        _tell_dry_run(dry(source, asking), asking, style)
        return
    target = out or Path(f"{named.items.stem}.ratings.jsonl")
    tally = Tally()
    with _bad_records(), _watched(tally, asking.stated_prices):
        summary = judge_file(
            source, asking, target, tally=tally, on_fault=_tell_fault, on_ready=_tell_servers
        )
    if wants_json(style):
        show_json({**summary.to_dict(), "run": tallied(tally), "out": str(target)})
    else:
        show(summary, tally, replayed=asking.replay is not None)
        if not summary.stopped:
            _tell_files(summary, target, named.rubric)
    _leave(tally, incomplete=bool(summary.incomplete))


def _tell_dry_run(found: DryRun, asking: Asking, style: str) -> None:
    if wants_json(style):
        show_json(found.to_dict())
    else:
        show_dry_run(found, asking.escalate_to)


def _tell_files(summary: JudgeSummary, out: Path, rubric: str) -> None:
    from calibrant.formats.judge_ratings import panel_path
    from calibrant.judging.over_file import escalated_path

    written = [out]
    if summary.panel is not None and summary.panel["rater"] is not None:
        written.append(panel_path(out))
    if summary.cascade is not None:
        written.append(escalated_path(out))
    for path in written:
        click.echo(f"wrote {path}", err=True)
    click.echo(f"Next: calibrant score {shlex.quote(str(out))} -r {shlex.quote(rubric)}", err=True)


def in_study(asking: Asking, place: str, name: str, *, dry_run: bool, style: str) -> None:
    """Let judges do their assignments."""
    from calibrant.engine.jobs import Tally
    from calibrant.judging.dry_run import dry_study
    from calibrant.judging.in_study import judge_study, study_calls

    tally = Tally()
    with opened(place, name) as study:
        if dry_run:
            dry = dry_study(study, asking)
            _tell_dry_run(dry, asking, style)
            if not dry.messages:
                click.echo(NO_WORK, err=True)
            return
        with _watched(tally, asking.stated_prices):
            found = judge_study(
                study, asking, study_calls(place, name), tally=tally, on_ready=_tell_servers
            )
        study_name = study.name
    for line in found.faults:
        click.secho(visible(line), err=True, fg="red")
    told(
        style,
        "\n".join(found.told("the same command")),
        study=study_name,
        **asdict(found),
        run=tallied(tally),
    )
    _leave(tally, incomplete=bool(found.unreached), faults=bool(found.faults))


def probe(asking: Asking, rubric_name: str, *, dry_run: bool, style: str) -> None:
    """Measure how models withstand instructions in items."""
    from calibrant.engine.jobs import Tally
    from calibrant.formats.rubric_file import load_rubric
    from calibrant.judging.dry_run import dry_probe
    from calibrant.judging.probing import probe_judges

    tally, rubric = Tally(), load_rubric(rubric_name)
    if dry_run:
        _tell_dry_run(dry_probe(rubric, asking), asking, style)
        return
    with _watched(tally, asking.stated_prices):
        calls = Path(f"probe-{rubric.id}.calls")
        found = probe_judges(rubric, asking, calls, tally=tally, on_ready=_tell_servers)
    if wants_json(style):
        judges = [one.to_dict() for one in found]
        show_json({"rubric": rubric.name, "judges": judges, "run": tallied(tally)})
    else:
        for one in found:
            show_withstood(one)
    _leave(tally, incomplete=any(one.total.unanswered for one in found))


# -- while it runs


@contextmanager
def _watched(tally: Tally, prices: Mapping[str, Price]) -> Iterator[None]:
    """Show how far it is; the first Ctrl-C asks the run to stop, the second one stops it."""
    ended = threading.Event()

    def stop(number: int, frame: Any) -> None:
        if tally.stop:
            raise KeyboardInterrupt
        tally.stop = True
        click.echo("stopping after the calls under way; Ctrl-C again to leave them", err=True)

    before = signal.signal(signal.SIGINT, stop)
    try:
        with live(tally, prices) as update:

            def redraw() -> None:
                began, warned = time.monotonic(), False
                while not ended.wait(REDRAW):
                    update()
                    if not warned and time.monotonic() - began > SILENT and _unheard(tally):
                        warned = True
                        click.secho(_no_answer(tally), err=True, fg="yellow")

            drawing = threading.Thread(target=redraw, daemon=True)
            drawing.start()
            try:
                yield
            finally:
                ended.set()
                drawing.join()
    finally:
        signal.signal(signal.SIGINT, before)


def _unheard(tally: Tally) -> bool:
    """Whether calls went wrong, and none was answered."""
    return bool(tally.errors) and tally.done == tally.kept and not tally.usage


def _no_answer(tally: Tally) -> str:
    why = ", ".join(f"{name} {times:,}" for name, times in tally.errors.most_common(3))
    return (
        f"note: no call was answered yet ({why}): is the server up, and its address right? "
        "It is asked on; Ctrl-C stops."
    )


@contextmanager
def _bad_records() -> Iterator[None]:
    """Records with faults were named one by one; what is left to say is what to do."""
    from calibrant.core.errors import RecordError

    try:
        yield
    except RecordError as error:
        bad = len({fault.record for fault in error.faults})
        click.echo(
            f"{count(bad, 'bad record')}: nothing was sent. Mend them, or leave them out with "
            "--skip-bad.",
            err=True,
        )
        raise click.exceptions.Exit(2) from None


def _tell_fault(fault: Fault) -> None:
    click.secho(visible(str(fault)), err=True, fg="red")


def _tell_servers(servers: Sequence[Server]) -> None:
    for one in servers:
        if one.tells_the_key:
            click.secho(
                visible(f"note: the key travels unencrypted to {one.host}: use https"),
                err=True,
                fg="yellow",
            )


def tallied(tally: Tally) -> dict[str, Any]:
    """What this run itself did, for machines."""
    return {
        "calls": tally.done,
        "seconds": round(tally.seconds, 3),
        "kept": tally.kept,
        "retried": tally.retried,
        "errors": dict(tally.errors.most_common()),
        "abstained": dict(tally.abstained.most_common()),
        "tokens": {model: asdict(usage) for model, usage in tally.usage.items()},
        "under_way_at_a_kill": list(tally.lost),
        "not_known_to_server": [list(one) for one in tally.steps],
        "stopped": tally.stopped or ("by hand" if tally.stop else ""),
    }


def _leave(tally: Tally, *, incomplete: bool, faults: bool = False) -> None:
    """End with the status that says how it went."""
    if tally.stopped:
        click.secho(visible(f"stopped: {tally.stopped}"), err=True, fg="red")
    if tally.stop:
        sys.exit(130)
    if faults:
        raise click.exceptions.Exit(2)
    if incomplete or tally.stopped:
        raise click.exceptions.Exit(1)
