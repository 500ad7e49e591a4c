"""``calibrant agree``: how far raters agree, and what to do about it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.terminal import (
    console,
    output_option,
    show_json,
    table,
    wants_json,
)

if TYPE_CHECKING:
    from calibrant.compare.agreement import AgreementReport
    from calibrant.core.rubric import Rubric


@click.command()
@click.argument("ratings", type=click.Path(path_type=Path))
@click.option("-r", "--rubric", "rubric_name", metavar="RUBRIC",
              help="A built-in rubric or a YAML file: level, order, NA and targets.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the whole report here as .json, or the estimates as .csv.")  # fmt: skip
@click.option("--level", type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
              help="Level of measurement, where no rubric tells it.")  # fmt: skip
@click.option("--order", metavar="LOW,…,HIGH", help="Answers of an ordinal scale, lowest first.")
@click.option("--wide", is_flag=True, help="One row an item, one column a rater.")
@click.option("--columns", metavar="item=…,rater=…", help="What your columns are called.")
@click.option("--anonymous-raters", is_flag=True,
              help="A column is not the same rater throughout.")  # fmt: skip
@click.option("--target", "targets", multiple=True, metavar="TARGET",
              help="Such as krippendorff_alpha:ordinal>=0.6; may be repeated.")  # fmt: skip
@click.option("--enforce", is_flag=True, help="Exit with 1 unless every target is met.")
@click.option("--method", type=click.Choice(["bca", "fisher", "normal", "t"]),
              help="How intervals are made; bca below 1,000 items, else fisher.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the resampling."
)
@click.option("--encoding", metavar="NAME", help="The file's encoding, where it cannot be told.")
@output_option
def agree(
    ratings: Path,
    rubric_name: str | None,
    out: Path | None,
    level: str | None,
    order: str | None,
    wide: bool,
    columns: str | None,
    anonymous_raters: bool,
    targets: tuple[str, ...],
    enforce: bool,
    method: str | None,
    seed: int,
    encoding: str | None,
    style: str,
) -> None:
    """Tell how far raters agree, with intervals, and what to do about it.

    RATINGS is any table, CSV, JSONL, Parquet or XLSX: long rows (item, rater, criterion, answer,
    under these or other usual names), or with --wide one column a rater. No set-up is needed.

    \b
    Examples:
      calibrant agree ratings.csv -r smart-action-plan
      calibrant agree labels.csv --level nominal --columns rater=annotator,answer=label
      calibrant agree scores.xlsx --wide --level ordinal
      calibrant agree ratings.csv -r ai-response --target "cohen_kappa>=0.6" --enforce
    """
    # several threads of ours read at a time; more of polars' would stand in their way
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    from calibrant.compare.rating_columns import Reading
    from calibrant.core.errors import SourceError
    from calibrant.formats.rating_files import frames_of
    from calibrant.formats.writers import check_output

    rubric = _rubric(rubric_name) if rubric_name else None
    if rubric is None and level is None:
        raise click.UsageError("say --level nominal, ordinal, interval or ratio, or give a rubric")
    if rubric is not None and (level or order):
        raise click.UsageError("the rubric says level and order; leave --level and --order out")
    if out is not None and out.suffix.lower() not in (".json", ".csv"):
        raise SourceError(f"{out}: write .json (the whole report) or .csv (the estimates)")
    if out is not None:
        check_output(out, ratings)
    if enforce and not targets and (rubric is None or rubric.agreement is None):
        raise click.UsageError("there is no target to enforce; name one with --target")
    how = Reading(
        rubric=rubric,
        level=level,  # type: ignore[arg-type]
        order=tuple(part.strip() for part in (order or "").split(",") if part.strip()),
        columns=column_names(columns),
        wide=wide,
        anonymous=anonymous_raters,
    )
    with steps_told() as say:
        frames = frames_of(ratings, encoding, say)  # while it is read, the rest is loaded
        from calibrant.compare.agreement import agreement_of_frames
        from calibrant.stats.estimate import Design

        design = Design(method, seed)  # type: ignore[arg-type]
        found = agreement_of_frames(
            frames, how, str(ratings), targets=targets, design=design, on_step=say
        )
    _write(found, out)
    if not wants_json(style):
        show_report(found)
    elif out is None:
        show_json(found.to_dict())
    if enforce and not found.met:
        missed = [one for one in found.targets if one.outcome != "met"]
        click.secho(f"{len(missed)} of {len(found.targets)} targets not met", err=True, fg="red")
        raise click.exceptions.Exit(1)


def _rubric(name: str) -> Rubric:
    from calibrant.formats.rubric_file import load_rubric

    return load_rubric(name)


def column_names(columns: str | None) -> dict[str, str]:
    """``item=…,rater=…`` as a mapping of our names to theirs."""
    out = {}
    for part in (columns or "").split(","):
        if part.strip():
            ours, sign, theirs = part.partition("=")
            if not sign:
                raise click.BadParameter(
                    f"{part!r}: write item=NAME,rater=NAME", param_hint="--columns"
                )
            out[ours.strip()] = theirs.strip()
    return out


def _write(found: AgreementReport, out: Path | None) -> None:
    if out is None:
        return
    import msgspec

    from calibrant.formats.writers import flat, write_document, write_frames

    if out.suffix.lower() == ".csv":
        frame = flat(found.to_frame())
        write_frames([frame], frame.schema, out)
    else:
        text = msgspec.json.format(msgspec.json.encode(found.to_dict()), indent=1)
        write_document(text + b"\n", out)
    click.echo(f"wrote {out}", err=True)


# -- for the eye


def show_report(found: AgreementReport) -> None:
    """A report as tables for the eye."""
    from rich.text import Text

    from calibrant.compare.agreement_view import blocks

    screen = console()
    for block in blocks(found):
        rows = [[Text(cell, style=_COLOURS.get(cell, "")) for cell in row] for row in block.rows]
        screen.print(table(block.header, rows, block.title))
    for left in found.excluded:
        click.secho(f"left out: {left['rows']:,} rows, {left['reason']}", err=True, fg="yellow")


_COLOURS = {"met": "green", "not met": "red", "not shown": "yellow"}


@contextmanager
def steps_told() -> Iterator[Callable[[str], None]]:
    """What is being done, on a terminal, once a run takes longer than a second."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    began = time.monotonic()
    status = console(stderr=True).status("")

    def say(step: str) -> None:
        if time.monotonic() - began > 1:
            status.update(step)
            status.start()

    try:
        yield say
    finally:
        status.stop()
