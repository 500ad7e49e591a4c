"""``calibrant validate-judge``: may this judge stand in for people?"""

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
    from calibrant.compare.judge_trust import JudgeTrust


@click.command("validate-judge")
@click.argument("judged", type=click.Path(path_type=Path))
@click.argument("labels", type=click.Path(path_type=Path), required=False)
@reading_options()
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the report here as .json, or a row a criterion as .csv.")  # fmt: skip
@click.option("--judge", metavar="RATER", help="Which rater is the judge, where several could be.")
@click.option("--people", type=click.Choice(["experts", "skilled", "crowd"]), default="skilled",
              show_default=True, help="How far a judge may be behind: 0.2, 0.15, 0.1.")  # fmt: skip
@click.option("--by", multiple=True, metavar="COLUMN",
              help="Does its error depend on this, such as length? May be repeated.")  # fmt: skip
@click.option("--enforce", is_flag=True, help="Exit with 1 unless the judge may replace people.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Of the resampling.")  # fmt: skip
@output_option
def validate_judge(
    judged: Path,
    labels: Path | None,
    reading: ReadingOptions,
    out: Path | None,
    judge: str | None,
    people: str,
    by: tuple[str, ...],
    enforce: bool,
    seed: int,
    style: str,
) -> None:
    """Tell whether a judge may replace people, may pre-sort for them, or may not be used.

    JUDGED holds a judge's ratings, LABELS people's of the same items; one file may hold both,
    where `kind` or --judge tells who is who. The judge is never part of what it is measured
    against. Three people with 30 shared items each are needed, 50 to 100 are better.

    \b
    Examples:
      calibrant validate-judge judge.jsonl people.csv -r coaching-conversation
      calibrant validate-judge all.csv --level nominal --judge gpt --people experts
      calibrant validate-judge judge.csv people.csv --level ordinal --by length --by family
    """
    from calibrant.compare.judge_trust import judge_trust
    from calibrant.core.errors import SourceError
    from calibrant.formats.writers import check_output

    if out is not None and out.suffix.lower() not in (".json", ".csv"):
        raise SourceError(f"{out}: write .json (the whole report) or .csv (a row a criterion)")
    if out is not None:
        check_output(out, judged, labels)
    found = judge_trust(
        reading.side(judged),
        reading.side(labels),
        reading.how,
        judge=judge,
        people=people,  # type: ignore[arg-type]
        by=by,
        seed=seed,
    )
    if out is not None:
        write_report(found.to_frame(), found.to_dict(), out)
    if not wants_json(style):
        _show(found)
    elif out is None:
        show_json(found.to_dict())
    if enforce and found.answer.word != "may replace":
        raise click.exceptions.Exit(1)


def _show(found: JudgeTrust) -> None:
    from calibrant.compare.judge_trust_view import blocks

    show_blocks(blocks(found))
    click.echo(visible(f"{found.judge} {found.answer}"))
    for left in found.excluded:
        reason = visible(left["reason"])
        click.secho(f"left out: {left['rows']:,} rows, {reason}", err=True, fg="yellow")
