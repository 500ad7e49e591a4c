"""Results: final answers and verdicts, on the screen or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.study_call import count, study_command, told
from calibrant.cli.terminal import console, table, wants_json

if TYPE_CHECKING:
    import polars as pl

    from calibrant.study.handle import Study

SHOWN = 30
"""Rows on a terminal."""
_OUT = click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
                    help="Write them here: .csv, .xlsx, .jsonl, .json or .parquet.")  # fmt: skip


@study_command
@_OUT
def finals(study: Study, out: Path | None, style: str) -> None:
    """Show the final answer of every item and criterion, and how it came about.

    Provenance is unanimous, within_tolerance, consensus, adjudicated or forced (by a red flag);
    there is none while the answer waits to be settled.

    \b
    Examples:
      calibrant study finals advice
      calibrant study finals advice -o finals.csv
    """
    frame = study.finals()
    if out is None and not wants_json(style) and not frame.is_empty():
        _show_finals(frame)
        return
    _give(frame, out, style, "no final answers yet: close a main round")


@study_command
@_OUT
@click.option("--enforce", is_flag=True,
              help="Exit with 1 if any item failed, is blocked or undecided.")  # fmt: skip
def verdicts(study: Study, out: Path | None, enforce: bool, style: str) -> None:
    """Show the verdict of every item that was rated in a round that counts.

    Blocked items carry a red flag that nobody has decided yet: they are not passed.

    \b
    Examples:
      calibrant study verdicts advice
      calibrant study verdicts advice -o verdicts.xlsx --enforce
    """
    frame = study.verdicts()
    if out is None and not wants_json(style) and not frame.is_empty():
        _show_verdicts(frame)
    else:
        _give(frame, out, style, "no verdicts yet: close a main round")
    if enforce:
        _enforce(frame)


def _show_finals(frame: pl.DataFrame) -> None:
    rows = [
        (
            one["item"],
            one["criterion"],
            one["answer"] or "–",
            (one["provenance"] or "waits").replace("_", " "),
            one["raters"],
        )
        for one in frame.sort("item", maintain_order=True).head(SHOWN).iter_rows(named=True)
    ]
    _show(("item", "criterion", "answer", "how", "raters"), rows, frame.height)


def _show_verdicts(frame: pl.DataFrame) -> None:
    from rich.text import Text

    colours = {"passed": "green", "failed": "red", "undecided": "yellow"}
    scored = "mean" if "mean" in frame.columns else "score"
    rows = []
    for one in frame.head(SHOWN).iter_rows(named=True):
        why = ["blocked by a red flag"] if one["blocked"] else []
        why += [", ".join(one["flags"])] if one["flags"] else []
        why += [f"to settle: {', '.join(one['missing'])}"] if one["missing"] else []
        known = {*one["missing"], *one["errors"]}
        why += [", ".join(name for name in one["failed_checks"] if name not in known)]
        number = "" if one[scored] is None else f"{one[scored]:.3f}".rstrip("0").rstrip(".")
        told_of = Text(one["verdict"], style=colours.get(one["verdict"], ""))
        rows.append((one["item"], told_of, number, "; ".join(filter(None, why))))
    _show(("item", "verdict", scored, "why"), rows, frame.height)


def _show(header: Sequence[str], rows: Sequence[Sequence[object]], height: int) -> None:
    screen = console()
    screen.print(table(header, rows))
    if height > len(rows):
        screen.print(f"… {height - len(rows):,} more; -o FILE keeps all", style="dim")


def _give(frame: pl.DataFrame, out: Path | None, style: str, nothing: str) -> None:
    if out is None:
        click.echo(frame.write_ndjson() if wants_json(style) else f"{nothing}\n", nl=False)
        return
    from calibrant.formats.writers import check_output, write_frames

    if out.suffix.lower() == ".xlsx":
        from calibrant.formats.workbook_write import write_workbook

        write_workbook([(out.stem[:31], frame)], out)
    else:
        check_output(out)
        write_frames([frame], frame.schema, out)
    told(style, f"wrote {count(frame.height, 'row')} to {out}", rows=frame.height, file=str(out))


def _enforce(frame: pl.DataFrame) -> None:
    """For a pipeline: nothing failed, nothing blocked, and there is something at all."""
    import polars as pl

    failed = frame.filter(pl.col("verdict").cast(pl.String) == "failed").height
    blocked = frame.filter(pl.col("blocked")).height
    unsettled = frame.filter(pl.col("status").cast(pl.String) != "complete").height
    if frame.is_empty() or failed or blocked or unsettled:
        click.secho(
            f"{frame.height} items: {failed} failed, {blocked} blocked, {unsettled} incomplete",
            err=True,
            fg="red",
        )
        raise click.exceptions.Exit(1)
