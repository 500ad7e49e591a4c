"""``calibrant quality``: the worst items, slices that differ, criteria that go together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.reading_options import (
    ReadingOptions,
    reading_options,
    show_blocks,
    write_report,
)
from calibrant.cli.terminal import console, output_option, show_json, visible, wants_json

if TYPE_CHECKING:
    from calibrant.compare.judged import Side
    from calibrant.compare.quality_report import QualityReport
    from calibrant.compare.rating_columns import Reading
    from calibrant.core.item import Item


@click.command()
@click.argument("verdicts", type=click.Path(path_type=Path), metavar="[VERDICTS|RATINGS]",
                required=False)  # fmt: skip
@reading_options
@click.option("--items", "items_path", type=click.Path(path_type=Path, dir_okay=False),
              help="The items: their fields make slices, and questions have a type.")  # fmt: skip
@click.option("--by", multiple=True, metavar="FIELD",
              help="A field of the items or a column to slice by; may be repeated.")  # fmt: skip
@click.option("--rater", "raters", multiple=True, metavar="NAME",
              help="Only this rater's answers; may be repeated.")  # fmt: skip
@click.option("--worst", type=click.IntRange(min=0), default=10, show_default=True,
              help="Items of the low-quality list to tell.")  # fmt: skip
@click.option("--below", type=float, metavar="POINTS",
              help="Low quality is less on any criterion; else half of the highest.")  # fmt: skip
@click.option("--least", type=click.IntRange(min=5), default=10, show_default=True,
              help="Items under which a slice is too small.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, 0.5, min_open=True), default=0.05,
              show_default=True, help="Share of findings that may be false.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Of random draws that small slices are held against.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the report here as .json, or the slices as .csv.")  # fmt: skip
@output_option
def quality(
    verdicts: Path | None,
    reading: ReadingOptions,
    items_path: Path | None,
    by: tuple[str, ...],
    raters: tuple[str, ...],
    worst: int,
    below: float | None,
    least: int,
    rate: float,
    seed: int,
    out: Path | None,
    style: str,
) -> None:
    """Tell where quality is low: the worst items, slices that differ, criteria that go together.

    The file holds verdicts as `calibrant score -o` writes them, or ratings with a rubric or a
    level. Items are sliced by their fields (tags, question type, length) and each slice is held
    against the rest. Of all findings at most 5 in 100 are expected to be false; --rate says so.
    With --study it is about people's answers in its closed main rounds, and its items.

    \b
    Examples:
      calibrant quality verdicts.jsonl --items items.jsonl
      calibrant quality ratings.csv -r ai-response --items items.jsonl --by question_type
      calibrant quality ratings.csv --level ordinal --by topic --by length
      calibrant quality verdicts.jsonl --below 2.5 -o quality.json
      calibrant quality --study advice --by model
    """
    from calibrant.compare.quality_report import Ask
    from calibrant.core.errors import SourceError
    from calibrant.formats.quality_files import quality_of
    from calibrant.formats.writers import check_output

    reading.need_source(verdicts, items_path, level=False)
    if out is not None and out.suffix.lower() not in (".json", ".csv"):
        raise SourceError(f"{out}: write .json (the whole report) or .csv (the slices)")
    if out is not None:
        check_output(out, verdicts, items_path)
    ask = Ask(by, worst, below, least, rate, seed)
    side, how, items, notes = _source(verdicts, items_path, reading, raters)
    found = quality_of(side, how, items, ask, raters)
    found.notes += notes
    if out is not None:
        write_report(found.to_frame(), found.to_dict(), out)
    if not wants_json(style):
        _show(found)
    elif out is None:
        show_json(found.to_dict())


def _source(
    verdicts: Path | None, items_path: Path | None, reading: ReadingOptions, raters: tuple[str, ...]
) -> tuple[Side, Reading, list[Item] | None, list[str]]:
    """What is told of the items, how it is read, the items themselves, and what to note."""
    from calibrant.formats.quality_files import read_all_items, read_side

    if reading.study is not None:
        with reading.study.ratings() as rated:
            gone = rated.redacted
            notes = [f"redacted items are left out: {len(gone):,}"] if gone else []
            return rated.of_raters(raters), rated.how, rated.items, notes
    assert verdicts is not None
    items = None if items_path is None else read_all_items(items_path)
    return read_side(verdicts, reading.encoding), reading.how, items, []


def _show(found: QualityReport) -> None:
    from rich.text import Text

    from calibrant.compare.quality_view import blocks, headline

    screen = console()
    screen.print(Text(headline(found), style="bold"))
    for number, sentence in enumerate(found.findings, 1):
        screen.print(Text(visible(f"{number}. {sentence}")))
    screen.print()
    show_blocks(blocks(found))
    for note in found.notes:
        click.secho(visible(note), err=True, fg="yellow")
    for left in found.excluded:
        reason = visible(left["reason"])
        click.secho(f"left out: {left['rows']:,} rows, {reason}", err=True, fg="yellow")
