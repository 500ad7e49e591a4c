"""``calibrant score``: answers in, verdicts out, and a summary."""

from __future__ import annotations

import shutil
import sys
import tempfile
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.terminal import (
    console,
    output_option,
    progress,
    show_json,
    table,
    wants_json,
)
from calibrant.compare.bars import bar

if TYPE_CHECKING:
    import polars as pl

    from calibrant.core.errors import Fault
    from calibrant.core.rubric import Rubric
    from calibrant.formats.score_file import ScoreRun, Summary

SHOWN_ROWS = 20
SHOWN_FAULTS = 100
"""On a terminal; a file or a pipe gets every one."""


def _a_rate(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """What is not a number is below no rate, and would pass any run."""
    if value is not None and isnan(value):
        raise click.BadParameter("nan is not a rate")
    return value


@click.command()
@click.argument("answers", type=click.Path(path_type=Path))
@click.option("-r", "--rubric", "rubric_name", required=True, metavar="RUBRIC",
              help="A built-in rubric or a YAML file.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write verdicts here: .jsonl, .json, .csv or .parquet.")  # fmt: skip
@click.option("--items", type=click.Path(path_type=Path),
              help="The items, to apply the rubric's preconditions.")  # fmt: skip
@click.option("--fail-under", type=click.FloatRange(0, 1), metavar="RATE", callback=_a_rate,
              help="Exit with 1 below this rate; incomplete or left out fails.")  # fmt: skip
@click.option("--fail-on-gate", is_flag=True,
              help="Exit with 1 if any gate failed or is unknown.")  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Leave bad records out instead of stopping.")
@click.option("--ignore", multiple=True, metavar="NAME",
              help="A column or field to leave aside; may be repeated.")  # fmt: skip
@click.option("--encoding", metavar="NAME", help="The file's encoding, where it cannot be told.")
@output_option
def score(
    answers: Path,
    rubric_name: str,
    out: Path | None,
    items: Path | None,
    fail_under: float | None,
    fail_on_gate: bool,
    skip_bad: bool,
    ignore: tuple[str, ...],
    encoding: str | None,
    style: str,
) -> None:
    """Turn answers into verdicts by a rubric.

    ANSWERS is JSONL with one sheet a line ({"id": …, "answers": {…}, "flags": […]}), a wide
    table (CSV, Parquet, XLSX: id, one column a criterion), or long rows (item, rater, criterion,
    answer). Every (item, rater) gets a verdict.

    Exit status: 0, or 1 when a condition you set is not met, or 2 when records are malformed;
    then all of them are listed and nothing is written.

    \b
    Examples:
      calibrant score answers.jsonl -r coaching-conversation -o verdicts.jsonl
      calibrant score ratings.csv -r smart-action-plan -o verdicts.csv
      calibrant score answers.parquet -r coaching-conversation --items chats.jsonl --fail-under 0.9
    """
    from calibrant.core.errors import RecordError
    from calibrant.formats.rubric_file import load_rubric
    from calibrant.formats.score_file import ScoreRun
    from calibrant.formats.writers import check_output

    rubric = load_rubric(rubric_name)
    if out is not None:
        check_output(out, answers, items)
    told = _FaultList()
    with progress("scoring", "sheets") as bar_of:
        try:
            run = ScoreRun(
                rubric,
                answers,
                items=items,
                skip_bad=skip_bad,
                encoding=encoding,
                ignore=ignore,
                on_fault=told,
                on_progress=lambda read, sheets: bar_of(read.done, read.total, sheets),
            )
            head = _write(run, out, style)
        except RecordError:
            told.close()
            bad = run.summary.bad_records
            click.echo(
                f"{_many(bad, 'bad record')}: nothing was written. "
                "Mend them, or leave them out with --skip-bad.",
                err=True,
            )
            raise click.exceptions.Exit(2) from None
    told.close()
    _show(run.summary, head, out, style, _mark(rubric))
    if _falls_short(run.summary, fail_under, fail_on_gate):
        raise click.exceptions.Exit(1)


class _FaultList:
    """Prints every fault as it comes; a terminal is spared after the first hundred."""

    def __init__(self) -> None:
        self.count = 0
        self.limit = SHOWN_FAULTS if sys.stderr.isatty() else None

    def __call__(self, fault: Fault) -> None:
        self.count += 1
        if self.limit is None or self.count <= self.limit:
            click.secho(str(fault), err=True, fg="red")

    def close(self) -> None:
        """Tell how many were not shown."""
        if self.limit is not None and self.count > self.limit:
            more = self.count - self.limit
            click.echo(f"… and {more} more (all of them with 2> faults.txt)", err=True)


def _write(run: ScoreRun, out: Path | None, style: str) -> pl.DataFrame | None:
    """Write the verdicts where they go; a few rows to show where they go nowhere."""
    from calibrant.formats.writers import write_lines

    if out is not None:
        run.write(out)
        return None
    if wants_json(style):
        # nothing is to come out of a run that fails at its end
        with tempfile.TemporaryFile() as file:
            write_lines(run.lines(), file)
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return None
    head: pl.DataFrame | None = None
    for frame in run.frames():
        head = frame.head(SHOWN_ROWS) if head is None else head
    return head


def _show(
    summary: Summary, head: pl.DataFrame | None, out: Path | None, style: str, mark: str
) -> None:
    if wants_json(style):
        if out is not None:
            show_json(summary.to_dict())
        else:
            click.echo(_line(summary), err=True)
        return
    screen = console()
    if head is not None:
        screen.print(_rows(head, mark))
        if summary.sheets > head.height:
            screen.print(f"… {summary.sheets - head.height} more; -o FILE keeps all", style="dim")
    screen.print(f"{summary.rubric}: {_line(summary)}", style="bold")
    if summary.pass_rate is not None and summary.pass_interval is not None:
        low, high = summary.pass_interval
        screen.print(
            f"pass rate {bar(summary.pass_rate)} {summary.pass_rate:.1%} "
            f"(95 % interval {low:.1%} to {high:.1%}, of {summary.complete} complete)"
        )
    _counts(summary)
    for note in dict.fromkeys(summary.notes):
        click.secho(f"note: {note}", err=True, fg="yellow")
    if out is not None:
        click.echo(f"wrote {out}", err=True)


def _mark(rubric: Rubric) -> str:
    """The pass mark in signs, ``>= 0.80``."""
    mark = rubric.aggregation.pass_mark
    return "" if mark is None else f"{mark.op} {mark.value}"


def _line(summary: Summary) -> str:
    parts = [_many(summary.sheets, "sheet"), f"{summary.complete} complete"]
    if summary.incomplete:
        parts.append(f"{summary.incomplete} incomplete")
    if summary.has_pass_mark:
        parts += [f"{summary.passed} passed", f"{summary.failed} failed"]
        parts.append(f"{summary.undecided} undecided")
    else:
        parts += [f"{summary.failed} failed", "no pass mark is stated"]
    if summary.gate_failed or summary.gate_unknown:
        parts.append(f"gate failed {summary.gate_failed}, unknown {summary.gate_unknown}")
    if summary.flagged:
        parts.append(f"{summary.flagged} failed by a red flag")
    if summary.bad_records:
        parts.append(f"{_many(summary.bad_records, 'bad record')} left out")
    return " · ".join(parts)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _counts(summary: Summary) -> None:
    """What fails most, what is missing, what the dimensions average."""
    screen = console()
    if summary.failed_checks:
        rows = [
            (
                name,
                count,
                bar(count / summary.sheets, 12),
                summary.missing.get(name, ""),
                summary.errors.get(name, ""),
            )
            for name, count in summary.failed_checks.most_common(8)
        ]
        header = ("fails most", "sheets", "", "missing", "errors")
        screen.print(table(header, rows))
    means = summary.means()
    if means:
        screen.print(
            table(("dimension", "mean"), [(name, f"{m:.2f}") for name, m in means.items()])
        )
    flags = [(name, count) for name, count in summary.flags.most_common() if count]
    if flags:
        screen.print(table(("red flag", "sheets"), flags))


def _rows(head: pl.DataFrame, mark: str) -> object:
    """A few verdicts, for the eye; ``mark`` says what a score has to reach."""
    from rich.text import Text

    colours = {"passed": "green", "failed": "red", "undecided": "yellow"}
    keys = [name for name in ("id", "rater", "round", "occasion") if name in head.columns]
    scored = "mean" if "mean" in head.columns else "score"
    rows = []
    for row in head.iter_rows(named=True):
        settled = row["status"] == "complete" and row["passed"] is None
        verdict = Text("rated") if settled else Text(row["verdict"], style=colours[row["verdict"]])
        why = [", ".join(row["flags"])] if row["flags"] else []
        why += [f"missing {', '.join(row['missing'])}"] if row["missing"] else []
        why += [f"error {', '.join(row['errors'])}"] if row["errors"] else []
        answered = [
            one for one in row["failed_checks"] if one not in row["missing"] + row["errors"]
        ]
        why += [", ".join(answered)] if answered else []
        if row["verdict"] == "failed" and not why:
            why.append(f"not {mark}")
        number = "" if row[scored] is None else f"{row[scored]:.3f}".rstrip("0").rstrip(".")
        rows.append(
            (*(row[key] or "" for key in keys), verdict, number, row["gate"] or "", "; ".join(why))
        )
    return table((*keys, "verdict", scored, "gate", "why"), rows)


def _falls_short(summary: Summary, fail_under: float | None, fail_on_gate: bool) -> bool:
    short = False
    if fail_under is not None and (summary.strict_rate is None or summary.strict_rate < fail_under):
        told = "there is no pass rate to hold against"
        if summary.strict_rate is not None:
            told = (
                f"pass rate {summary.strict_rate:.1%}, incomplete and left out as not passed, "
                "is below"
            )
        click.secho(f"{told} {fail_under:.1%}", err=True, fg="red")
        short = True
    if fail_on_gate and (summary.gate_failed or summary.gate_unknown):
        click.secho(
            f"gate failed on {summary.gate_failed} sheets, unknown on {summary.gate_unknown}",
            err=True,
            fg="red",
        )
        short = True
    return short
