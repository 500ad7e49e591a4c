"""``calibrant raters``: how each rater rates, and what to do about it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.agree import steps_told
from calibrant.cli.reading_options import ReadingOptions, reading_options
from calibrant.cli.terminal import console, output_option, show_json, table, visible, wants_json

if TYPE_CHECKING:
    from calibrant.compare.raters import RaterReport


@click.command()
@click.argument("ratings", type=click.Path(path_type=Path), required=False)
@reading_options
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the whole report here as .json, or the diagnostics as .csv.")  # fmt: skip
@click.option("--fair", type=click.Path(path_type=Path, dir_okay=False),
              help="Write what an average rater would have given each item.")  # fmt: skip
@click.option("--in-order", is_flag=True,
              help="Rows stand in the order in which they were rated.")  # fmt: skip
@click.option("--partial-credit", is_flag=True,
              help="Every criterion has steps of its own, however alike their scales.")  # fmt: skip
@output_option
def raters(
    ratings: Path | None,
    reading: ReadingOptions,
    out: Path | None,
    fair: Path | None,
    in_order: bool,
    partial_credit: bool,
    style: str,
) -> None:
    """Tell how each rater rates: severe or lenient, halo, drift, carelessness and more.

    RATINGS is any table that `calibrant agree` reads; people and judges stand in it alike. Columns
    such as time, position, sitting, duration and occasion are used where they are. What is called
    a finding is shown and not small: in 95 of 100 panels without any effect there is none.

    \b
    Examples:
      calibrant raters ratings.csv -r smart-action-plan
      calibrant raters ratings.csv --level ordinal --fair fair.csv
      calibrant raters log.parquet --level ordinal --columns time=submitted_at,duration=took
      calibrant raters ratings.csv --level ordinal --in-order -o raters.json
      calibrant raters --study advice
    """
    # several threads of ours read at a time; more of polars' would stand in their way
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    _check_outputs(ratings, out, fair)
    reading.need_source(ratings, in_order, partial_credit)
    if reading.study is not None:
        with reading.study.opened() as study:
            found = study.rater_report(round=reading.study.round)
    else:
        assert ratings is not None
        found = _of_file(ratings, reading, in_order=in_order, partial_credit=partial_credit)
    _write(found, out, fair)
    if not wants_json(style):
        show_report(found)
    elif out is None:
        show_json(found.to_dict())


def _check_outputs(ratings: Path | None, out: Path | None, fair: Path | None) -> None:
    from calibrant.core.errors import SourceError
    from calibrant.formats.writers import check_output

    for path, kinds in ((out, (".json", ".csv")), (fair, (".csv", ".parquet", ".jsonl"))):
        if path is not None and path.suffix.lower() not in kinds:
            raise SourceError(f"{path}: write {' or '.join(kinds)}")
        if path is not None:
            check_output(path, ratings)


def _of_file(
    path: Path, reading: ReadingOptions, *, in_order: bool, partial_credit: bool
) -> RaterReport:
    from calibrant.formats.rating_files import frames_of

    with steps_told() as say:
        frames = frames_of(path, reading.encoding, say)  # while it is read, the rest is loaded
        from calibrant.compare.raters import raters_of_frames

        return raters_of_frames(
            frames,
            reading.how,
            str(path),
            in_order=in_order,
            partial_credit=partial_credit,
            on_step=say,
        )


def _write(found: RaterReport, out: Path | None, fair: Path | None) -> None:
    from calibrant.formats.writers import flat, write_document, write_frames

    if out is not None and out.suffix.lower() == ".csv":
        frame = flat(found.to_frame())
        write_frames([frame], frame.schema, out)
    elif out is not None:
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(found.to_dict()), indent=1)
        write_document(text + b"\n", out)
    if fair is not None:
        write_frames([found.fair_items], found.fair_items.schema, fair)
    for path in (out, fair):
        if path is not None:
            click.echo(f"wrote {path}", err=True)


def show_report(found: RaterReport) -> None:
    """A report as tables for the eye."""
    from calibrant.compare.raters_view import blocks

    screen = console()
    for block in blocks(found):
        screen.print(table(block.header, block.rows, block.title))
    for note in found.notes:
        click.secho(visible(f"note: {note}"), err=True, fg="yellow")
    for left in found.excluded:
        click.secho(f"left out: {left['rows']:,} rows, {left['reason']}", err=True, fg="yellow")
