"""``calibrant combine``: what several raters' answers come to, by counting and by models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.reading_options import (
    ReadingOptions,
    reading_options,
    show_blocks,
    write_report,
)
from calibrant.cli.terminal import output_option, show_json, visible, wants_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from calibrant.compare.combined import CombinedReport
    from calibrant.compare.rating_columns import Reading
    from calibrant.compare.rating_tables import RatingTable


@click.command()
@click.argument("ratings", type=click.Path(path_type=Path), required=False)
@reading_options
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write every item (.csv, .jsonl, .parquet) or the report (.json).")  # fmt: skip
@click.option("--finals", type=click.Path(path_type=Path, dir_okay=False),
              help="A table of final answers to hold beside the others.")  # fmt: skip
@click.option("--anonymous-raters", is_flag=True,
              help="A column is not the same rater throughout: no models.")  # fmt: skip
@click.option("--every-rater", is_flag=True,
              help="Count judges and checks, too, where the table tells them.")  # fmt: skip
@click.option("--smoothing", type=click.FloatRange(min=0), default=0.0, show_default=True,
              help="Answers of every kind added to each rater's, for Dawid–Skene.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Of the starts of MACE.")  # fmt: skip
@output_option
def combine(
    ratings: Path | None,
    reading: ReadingOptions,
    out: Path | None,
    finals: Path | None,
    anonymous_raters: bool,
    every_rater: bool,
    smoothing: float,
    seed: int,
    style: str,
) -> None:
    """Combine several raters' answers: majority, median, Dawid–Skene and MACE side by side.

    RATINGS is any table that `calibrant agree` reads. Items on which the methods differ, hang
    between answers, or are not sure are listed with the reason: people settle them, not this
    command. A rater's repeats, told apart by `occasion`, are further evidence for the models.
    With --study the answers are those of its closed main rounds, beside its final answers.

    \b
    Examples:
      calibrant combine labels.csv --level nominal
      calibrant combine scores.xlsx --wide --level ordinal -o combined.csv
      calibrant combine ratings.csv -r smart-action-plan --finals finals.csv
      calibrant combine --study advice
    """
    from calibrant.compare.combined import combined_of_frames
    from calibrant.formats.writers import check_output

    reading.need_source(ratings, finals)
    if out is not None:
        check_output(out, ratings, finals)
    frames, how, settled = _answers(ratings, finals, reading)
    found = combined_of_frames(
        frames,
        replace(how, anonymous=anonymous_raters),
        str(ratings) if reading.study is None else reading.study.name,
        finals=settled,
        every_rater=every_rater,
        smoothing=smoothing,
        seed=seed,
    )
    if out is not None:
        write_report(found.to_frame(), found.to_dict(every_item=True), out)
    if not wants_json(style):
        _show(found)
    elif out is None:
        show_json(found.to_dict())


def _answers(
    ratings: Path | None, finals: Path | None, reading: ReadingOptions
) -> tuple[Iterable[pl.DataFrame], Reading, RatingTable | None]:
    """The answers, how they are read, and the final ones beside them."""
    if reading.study is not None:
        with reading.study.ratings() as found:
            return found.everybody().frames, found.how, found.finals()
    from calibrant.formats.combining import read_finals
    from calibrant.formats.rating_files import frames_of

    assert ratings is not None
    settled = None if finals is None else read_finals(finals, reading.how, reading.encoding)
    return frames_of(ratings, reading.encoding), reading.how, settled


def _show(found: CombinedReport) -> None:
    from calibrant.compare.combined_view import blocks

    show_blocks(blocks(found))
    if found.left_out:
        names = visible(", ".join(found.left_out))
        click.secho(f"not counted, being no people: {names}", err=True, fg="yellow")
    for one in found.criteria:
        for note in one.notes:
            where = f"{one.criterion}: " if one.criterion else ""
            click.secho(visible(f"{where}{note}"), err=True, fg="yellow")
    for left in found.excluded:
        click.secho(f"left out: {left['rows']:,} rows, {left['reason']}", err=True, fg="yellow")
