"""``calibrant estimate``: a large judged set, corrected by a small sample of people's labels."""

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
from calibrant.cli.terminal import output_option, show_json, visible, wants_json

if TYPE_CHECKING:
    from calibrant.compare.estimate_report import EstimateReport, Wish
    from calibrant.compare.judged import Side
    from calibrant.compare.rating_columns import Reading


@click.command()
@click.argument("judged", type=click.Path(path_type=Path), required=False)
@click.argument("labels", type=click.Path(path_type=Path), required=False)
@reading_options
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the report here as .json, or the figures as .csv.")  # fmt: skip
@click.option("--judge", metavar="RATER", help="Which rater is the judge, where several could be.")
@click.option("--strata", metavar="NAME",
              help="A column that labels were drawn by, or a quantity.")  # fmt: skip
@click.option("--cluster", metavar="COLUMN", help="Items that belong together, such as one user's.")
@click.option("--probability", metavar="COLUMN",
              help="How probable it was that an item is labelled.")  # fmt: skip
@click.option("--system", metavar="COLUMN", help="Compare the systems that this column names.")
@click.option("--shifted", is_flag=True,
              help="Labels come from another mix of items.")  # fmt: skip
@click.option("--next", "label_next", type=click.IntRange(min=0), default=0, metavar="N",
              help="Which N items to label next for the narrowest interval.")  # fmt: skip
@click.option("--about", metavar="QUANTITY", help="The quantity that --next is for.")
@click.option("--next-out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the items to label next here, one a line.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Of halves of small samples, and of the items to label next.")  # fmt: skip
@output_option
def estimate(
    judged: Path | None,
    labels: Path | None,
    reading: ReadingOptions,
    out: Path | None,
    judge: str | None,
    strata: str | None,
    cluster: str | None,
    probability: str | None,
    system: str | None,
    shifted: bool,
    label_next: int,
    about: str | None,
    next_out: Path | None,
    seed: int,
    style: str,
) -> None:
    """Estimate pass rates and means of a judged set, corrected by labels that people gave.

    JUDGED holds a judge's answers to many items, LABELS people's answers to some of them; both
    are ratings, or verdicts as `calibrant score -o` writes them. One file may hold both, where
    `kind` or --judge tells who is who. Labels must be a random sample of the judged items.
    With --study both are of its closed main rounds, and columns are fields of its items.

    \b
    Examples:
      calibrant estimate judge.jsonl people.csv -r coaching-conversation
      calibrant estimate judge-verdicts.jsonl people-verdicts.jsonl --next 50
      calibrant estimate all.csv --level nominal --judge gpt --cluster user
      calibrant estimate judge.csv people.csv --level ordinal --system model
      calibrant estimate --study advice --system model
    """
    from calibrant.compare.estimate_report import Wish
    from calibrant.compare.estimated import estimated
    from calibrant.core.errors import SourceError
    from calibrant.formats.writers import check_output

    reading.need_source(judged, labels, level=False)
    if out is not None and out.suffix.lower() not in (".json", ".csv"):
        raise SourceError(f"{out}: write .json (the whole report) or .csv (the figures)")
    if out is not None:
        check_output(out, judged, labels)
    if next_out is not None and not label_next:
        raise click.UsageError("--next-out needs --next N")
    wish = Wish(
        judge=judge,
        strata=strata,
        cluster=cluster,
        probability=probability,
        system=system,
        shifted=shifted,
        next=label_next,
        about=about,
        seed=seed,
    )
    found = estimated(*_sides(judged, labels, reading, wish), wish)
    if out is not None:
        write_report(found.to_frame(), found.to_dict(), out)
    if next_out is not None and found.next is not None:
        from calibrant.cli.terminal import write_text

        write_text("".join(f"{item}\n" for item in found.next.items), next_out)
    if not wants_json(style):
        _show(found)
    elif out is None:
        show_json(found.to_dict())


def _sides(
    judged: Path | None, labels: Path | None, reading: ReadingOptions, wish: Wish
) -> tuple[Side, Side | None, Reading]:
    """Judge and people, and how their tables are read."""
    if reading.study is None:
        assert judged is not None
        return reading.side(judged), reading.side(labels), reading.how
    with reading.study.ratings() as found:
        fields = (wish.strata, wish.cluster, wish.probability, wish.system)
        return found.with_judge(wish.judge, fields)[0], None, found.how


def _show(found: EstimateReport) -> None:
    from calibrant.compare.estimate_view import blocks

    show_blocks(blocks(found))
    for note in found.notes:
        click.secho(visible(note), err=True, fg="yellow")
    for left in found.excluded:
        reason = visible(left["reason"])
        click.secho(f"left out: {left['rows']:,} rows, {reason}", err=True, fg="yellow")
