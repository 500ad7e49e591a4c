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
    from calibrant.compare.judged import Side
    from calibrant.compare.own_items import Authorship


@click.command("validate-judge")
@click.argument("judged", type=click.Path(path_type=Path), required=False)
@click.argument("labels", type=click.Path(path_type=Path), required=False)
@reading_options
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the report here as .json, or a row a criterion as .csv.")  # fmt: skip
@click.option("--judge", metavar="RATER", help="Which rater is the judge, where several could be.")
@click.option("--people", type=click.Choice(["experts", "skilled", "crowd"]), default="skilled",
              show_default=True, help="How far a judge may be behind: 0.2, 0.15, 0.1.")  # fmt: skip
@click.option("--by", multiple=True, metavar="COLUMN",
              help="Does its error depend on this, such as length? May be repeated.")  # fmt: skip
@click.option("--author", metavar="NAME",
              help="Field or column that says who wrote it: does it favour its own?")  # fmt: skip
@click.option("--items", "items_path", type=click.Path(path_type=Path, dir_okay=False),
              help="The items, where these say which model wrote them.")  # fmt: skip
@click.option("--judge-model", "judge_is", multiple=True, metavar="MODEL",
              help="Which model the judge is, or RATER=MODEL; else ratings say so.")  # fmt: skip
@click.option("--enforce", is_flag=True, help="Exit with 1 unless the judge may replace people.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Of the resampling.")  # fmt: skip
@output_option
def validate_judge(
    judged: Path | None,
    labels: Path | None,
    reading: ReadingOptions,
    out: Path | None,
    judge: str | None,
    people: str,
    by: tuple[str, ...],
    author: str | None,
    items_path: Path | None,
    judge_is: tuple[str, ...],
    enforce: bool,
    seed: int,
    style: str,
) -> None:
    """Tell whether a judge may replace people, may pre-sort for them, or may not be used.

    JUDGED holds a judge's ratings, LABELS people's of the same items; one file may hold both,
    where `kind` or --judge tells who is who. The judge is never part of what it is measured
    against. Three people with 30 shared items each are needed, 50 to 100 are better. With --study
    both are of its closed main rounds; its items say who wrote them, and cards which model judges.

    \b
    Examples:
      calibrant validate-judge judge.jsonl people.csv -r coaching-conversation
      calibrant validate-judge all.csv --level nominal --judge gpt --people experts
      calibrant validate-judge judge.csv people.csv --level ordinal --by length
      calibrant validate-judge judge.jsonl people.csv -r ai-response --items items.jsonl
      calibrant validate-judge --study advice --by length
    """
    from calibrant.compare.judge_trust import judge_trust
    from calibrant.core.errors import SourceError
    from calibrant.formats.writers import check_output

    reading.need_source(judged, labels, items_path)
    if out is not None and out.suffix.lower() not in (".json", ".csv"):
        raise SourceError(f"{out}: write .json (the whole report) or .csv (a row a criterion)")
    if out is not None:
        check_output(out, judged, labels, items_path)
    own, models = _models(judge_is)
    if reading.study is not None:
        with reading.study.ratings() as rated:
            side, judge = rated.with_judge(judge, by)
            more, how, wrote = None, rated.how, rated.authorship(author, own, models)
    else:
        assert judged is not None
        side, more, how = reading.side(judged), reading.side(labels), reading.how
        wrote = _authorship(judged, (side, more), reading, (items_path, author), (own, models))
    found = judge_trust(
        side,
        more,
        how,
        judge=judge,
        people=people,  # type: ignore[arg-type]
        by=by,
        authorship=wrote,
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


def _models(said: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Models of the judge, and those of raters by name: ``MODEL``, ``RATER=MODEL``."""
    models: dict[str, tuple[str, ...]] = {}
    for rater, sign, model in (one.partition("=") for one in said):
        if sign:
            models[rater] = (*models.get(rater, ()), model)
    return tuple(one for one in said if "=" not in one), models


def _authorship(
    judged: Path,
    sides: tuple[Side, Side | None],
    reading: ReadingOptions,
    told: tuple[Path | None, str | None],
    models: tuple[tuple[str, ...], dict[str, tuple[str, ...]]],
) -> Authorship:
    """Who wrote the items, where anything was said about it."""
    from calibrant.formats.authors import authorship, models_of
    from calibrant.formats.calibrating import records_of
    from calibrant.formats.quality_files import read_all_items

    (items_path, author), (own, named) = told, models
    if items_path is None and author is None:
        if own or named:
            raise click.UsageError("--judge-model goes with --author or --items")
        return authorship(None, (), reading.how)
    items = None if items_path is None else read_all_items(items_path)
    frames = [frame for side in sides if side is not None for frame in side.frames]
    known = models_of(records_of(judged, reading.encoding)) | named
    return authorship(items, frames, reading.how, author=author, judge_is=own, models=known)


def _show(found: JudgeTrust) -> None:
    from calibrant.compare.judge_trust_view import blocks

    show_blocks(blocks(found))
    if found.own_untold:
        note = f"whether it favours its own items cannot be told: {found.own_untold}"
        click.secho(visible(note), err=True, fg="yellow")
    click.echo(visible(f"{found.judge} {found.answer}"))
    for left in found.excluded:
        reason = visible(left["reason"])
        click.secho(f"left out: {left['rows']:,} rows, {reason}", err=True, fg="yellow")
