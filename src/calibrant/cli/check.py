"""``calibrant check``: items in, signals out, and a summary by signal."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.items import KINDS
from calibrant.cli.terminal import (
    console,
    output_option,
    progress,
    show_json,
    table,
    wants_json,
)
from calibrant.core.criterion import ItemType

if TYPE_CHECKING:
    from calibrant.core.errors import Fault
    from calibrant.formats.signals import CheckRun, CheckSummary, Record

SHOWN_ITEMS, SHOWN_PLACES = 3, 3
"""Up to so many items are shown signal by signal, each with so many places."""


@click.command()
@click.argument("items", type=click.Path(path_type=Path))
@click.option("-r", "--rubric", "rubric_name", metavar="RUBRIC",
              help="A built-in rubric or a YAML file; else the built-in one.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write signals here: .jsonl, .csv or .parquet.")  # fmt: skip
@click.option("--ratings", type=click.Path(path_type=Path, dir_okay=False),
              help="Write suggested answers here, as ratings that `agree` reads.")  # fmt: skip
@click.option("--kind", type=KINDS, help="What the items are; told from each record otherwise.")
@click.option("--resume", is_flag=True, help="Go on where an interrupted run with -o stopped.")
@click.option("--skip-bad", is_flag=True, help="Leave bad records out instead of stopping.")
@click.option("--encoding", metavar="NAME", help="The file's encoding, where it cannot be told.")
@output_option
def check(
    items: Path,
    rubric_name: str | None,
    out: Path | None,
    ratings: Path | None,
    kind: ItemType | None,
    resume: bool,
    skip_bad: bool,
    encoding: str | None,
    style: str,
) -> None:
    """Measure items with checks, and quote what they found.

    A check measures, quotes and suggests; it never scores. The rubric's section `checks` switches
    checks off, changes their parameters and adds others; without one, all checks run that fit.

    Each signal says what was measured, against which threshold, where in the item (part, start,
    end, text), and what it suggests: an answer, a red flag for somebody to confirm, or a hint.
    What could not be measured says why.

    Exit status: 0, or 2 when records are malformed; then all of them are listed.

    \b
    Examples:
      calibrant check chats.jsonl
      calibrant check plans.csv -r smart-action-plan -o signals.parquet
      calibrant check chats.jsonl -o signals.jsonl --ratings code.csv
      calibrant check chats.jsonl -o signals.jsonl --resume
    """
    from calibrant.formats.rubric_file import load_rubric
    from calibrant.formats.signals import CheckRun
    from calibrant.formats.writers import check_output

    if resume and out is None:
        raise click.UsageError("--resume goes on with a file: name it with -o")
    for path in (out, ratings):
        if path is not None:
            check_output(path, items, ratings if path is out else None)
    told = _told_faults()
    lines = _lines(items)
    with progress("checking", "items") as bar_of:

        def on_progress(done: int) -> None:
            if done % 50 == 0:
                bar_of(done, lines, done)

        run = CheckRun(
            items,
            load_rubric(rubric_name) if rubric_name else None,
            kind=kind,
            encoding=encoding,
            skip_bad=skip_bad,
            on_fault=told,
            on_progress=on_progress,
        )
        records = _run(run, out, ratings, resume, style)
    _show(run.summary, records, out, style)


def _run(
    run: CheckRun, out: Path | None, ratings: Path | None, resume: bool, style: str
) -> list[Record]:
    """Run, write where it goes, and give back the first records, to be shown."""
    from calibrant.core.errors import RecordError
    from calibrant.formats.signal_tables import finish, write_ratings
    from calibrant.formats.signals import partial_of, read_record_file

    with tempfile.TemporaryDirectory() as folder:
        goal = out or Path(folder) / "signals.jsonl"
        try:
            partial = run.write(goal, resume)
        except RecordError:
            if not run.summary.bad_records:
                raise  # it is no record of the items that is faulty
            told = "Mend them, or leave them out with --skip-bad."
            if out is not None:
                told += " What was read is kept: --resume goes on."
            bad = run.summary.bad_records
            click.echo(f"{bad} bad record{'s' * (bad != 1)}: nothing was written. {told}", err=True)
            raise click.exceptions.Exit(2) from None
        except KeyboardInterrupt:
            if out is not None:
                click.echo(f"{partial_of(out)} is kept: --resume goes on with it", err=True)
            raise click.exceptions.Abort from None
        first = []
        if run.summary.items <= SHOWN_ITEMS:
            first = list(read_record_file(partial))
        if ratings is not None:
            write_ratings(partial, ratings)
        if out is not None:
            finish(partial, out)
        elif wants_json(style):
            with partial.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
                sys.stdout.buffer.flush()
    return first


def _told_faults() -> Callable[[Fault], None]:
    return lambda fault: click.secho(str(fault), err=True, fg="red")


def _lines(path: Path) -> int | None:
    """How many records a file of lines holds; of other files one cannot tell at a glance."""
    if path.suffix.lower() not in (".jsonl", ".ndjson") or not path.is_file():
        return None
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


# -- what is shown


def _show(summary: CheckSummary, records: list[Record], out: Path | None, style: str) -> None:
    if wants_json(style):
        if out is not None:
            show_json(summary.to_dict())
        else:
            click.echo(_line(summary), err=True)
        return
    screen = console()
    for record in records:
        _show_item(record)
    if not records:
        screen.print(table(_COUNTS, _count_rows(summary)))
    screen.print(_line(summary), style="bold")
    for note in dict.fromkeys(summary.notes):
        click.secho(f"note: {note}", err=True, fg="yellow")
    if out is not None:
        click.echo(f"wrote {out}", err=True)


_COUNTS = ("signal", "items", "mean", "beyond", "evidence for")


def _show_item(record: Record) -> None:
    """Every signal of an item, and the first places it rests on."""
    from rich.text import Text

    screen = console()
    screen.print(record["item"], style="bold")
    for signal in record["signals"]:
        measured = signal.get("measured", f"not measured ({signal.get('not_measured')})")
        told = f"{measured:.3g}" if isinstance(measured, float) else str(measured)
        if "threshold" in signal:
            beyond = signal.get("exceeded")
            state = {True: "beyond", False: "not beyond"}.get(beyond, "against")
            told += f", {state} {signal['threshold']}"
        suggestion = signal.get("suggestion") or {}
        said = suggestion.get("answer") or suggestion.get("flag") or suggestion.get("text")
        owner = signal.get("criterion") or ""
        line = Text(f"  {signal['signal']}: ")
        line.append(told, style="yellow" if signal.get("exceeded") else "")
        line.append(f" → {owner} {said}".replace("  ", " ") if said else "", style="cyan")
        screen.print(line)
        spans = signal.get("spans", [])
        for one in spans[:SHOWN_PLACES]:
            screen.print(f"    {one['part']}: “{_short(one['text'])}”", style="dim")
        if len(spans) > SHOWN_PLACES:
            screen.print(f"    … {len(spans) - SHOWN_PLACES} more", style="dim")


def _short(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= 50 else f"{one[:49]}…"


def _count_rows(summary: CheckSummary) -> Iterator[tuple[Any, ...]]:
    twice = Counter(name for _, name in summary.signals)
    for (check_name, name), count in sorted(summary.signals.items()):
        tried = count.measured + count.not_measured.total()
        said = (
            f"{'flag' if what.startswith('flag ') else what.removeprefix(f'{count.criterion} ')} "
            f"{times}"
            for what, times in count.suggested.most_common(3)
        )
        yield (
            name if twice[name] == 1 else f"{name} ({check_name})",
            tried if count.measured == tried else f"{count.measured} of {tried}",
            "" if count.mean is None else f"{count.mean:.3g}",
            count.exceeded or "",
            ": ".join(filter(None, (count.criterion, ", ".join(said)))),
        )


def _line(summary: CheckSummary) -> str:
    one = summary.items == 1
    parts = [f"{summary.items} item" if one else f"{summary.items} items"]
    parts.append(f"{len(summary.signals)} signals")
    if summary.resumed:
        parts.append(f"{summary.resumed} from the interrupted run")
    failed = sum(
        times
        for count in summary.signals.values()
        for why, times in count.not_measured.items()
        if why.startswith("failed:")
    )
    if failed:
        parts.append(f"a check failed {failed} times")
    if summary.bad_records:
        parts.append(f"{summary.bad_records} bad records left out")
    return " · ".join(parts)
