"""``calibrant calibrate-judge``: fit a judge to people's answers, and apply what was fitted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.reading_options import (
    ReadingOptions,
    reading_options,
    show_blocks,
    write_report,
)
from calibrant.cli.terminal import output_option, show_json, visible, wants_json

if TYPE_CHECKING:
    from calibrant.compare.calibration_report import Calibration


@click.command("calibrate-judge")
@click.argument("judged", type=click.Path(path_type=Path), required=False)
@click.argument("labels", type=click.Path(path_type=Path), required=False)
@reading_options
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the mapping here as .json; with --apply, ratings as .jsonl.")  # fmt: skip
@click.option("--apply", "mapping_path", type=click.Path(path_type=Path, dir_okay=False),
              metavar="MAPPING", help="Apply this mapping to JUDGED; fit nothing.")  # fmt: skip
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the figures here as .json, or a row a criterion as .csv.")  # fmt: skip
@click.option("--judge", metavar="RATER", help="Which rater is the judge, where several could be.")
@click.option("--folds", type=click.IntRange(2, 50), default=10, show_default=True,
              help="Parts of the items, each held aside once.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Of the folds, and of the resampling.")  # fmt: skip
@output_option
def calibrate_judge(
    judged: Path | None,
    labels: Path | None,
    reading: ReadingOptions,
    out: Path | None,
    mapping_path: Path | None,
    report: Path | None,
    judge: str | None,
    folds: int,
    seed: int,
    style: str,
) -> None:
    """Fit a judge's probabilities, or its answers, to people's answers.

    JUDGED holds a judge's ratings, as `calibrant judge` writes them or as a table; LABELS holds
    people's answers to some of the items. The method is chosen by the data, and every figure is of
    items that were held aside. With --apply the ratings in JUDGED become those of a new rater.
    With --study both are of its closed main rounds.

    \b
    Examples:
      calibrant calibrate-judge judge.jsonl people.csv -r coaching-conversation -o mapping.json
      calibrant calibrate-judge all.csv --level ordinal --judge gpt
      calibrant calibrate-judge --apply mapping.json more.jsonl -o calibrated.jsonl
      calibrant calibrate-judge --study advice --round 1 -o mapping.json
    """
    reading.need_source(judged, labels, level=mapping_path is None)
    if mapping_path is not None:
        if labels is not None or report is not None:
            raise click.UsageError("--apply takes JUDGED and -o, and fits nothing")
        if out is None:
            raise click.UsageError("--apply needs -o FILE.jsonl")
        _apply(mapping_path, judged, reading, out)
        return
    found = _fit(judged, labels, reading, out, report, judge=judge, folds=folds, seed=seed)
    if wants_json(style):
        show_json(found.to_dict())
    else:
        _show(found)


def _fit(
    judged: Path | None,
    labels: Path | None,
    reading: ReadingOptions,
    out: Path | None,
    report: Path | None,
    *,
    judge: str | None,
    folds: int,
    seed: int,
) -> Calibration:
    from calibrant.core.errors import SourceError
    from calibrant.formats.calibrating import calibrated, side_of
    from calibrant.formats.mapping_file import write_mapping
    from calibrant.formats.writers import check_output

    for path, kinds in ((out, (".json",)), (report, (".json", ".csv"))):
        if path is not None and path.suffix.lower() not in kinds:
            raise SourceError(f"{path}: write {' or '.join(kinds)}")
        if path is not None:
            check_output(path, judged, labels)
    if reading.study is not None:
        with reading.study.ratings() as rated:
            sheets, people, judge = rated.to_calibrate(judge)
            found = calibrated(sheets, people, rated.how, judge=judge, folds=folds, seed=seed)
    else:
        more = None if labels is None else side_of(labels, "labels", reading.encoding)
        found = calibrated(
            judged,
            more,
            reading.how,
            judge=judge,
            folds=folds,
            seed=seed,
            encoding=reading.encoding,
        )
    if report is not None:
        write_report(found.to_frame(), found.to_dict(), report)
    if out is not None:
        if found.mapping is None:
            raise SourceError(f"{out}: not written, as no criterion could be calibrated")
        write_mapping(found.mapping, out)
        click.echo(f"wrote {out}", err=True)
    return found


def _apply(mapping_path: Path, judged: Path | None, reading: ReadingOptions, out: Path) -> None:
    from calibrant.core.errors import SourceError
    from calibrant.formats.judge_ratings import write_ratings
    from calibrant.formats.mapping_file import apply_mapping, read_mapping
    from calibrant.formats.writers import LINE_SUFFIXES, check_output

    if out.suffix.lower() not in LINE_SUFFIXES:
        raise SourceError(f"{out}: ratings of judges are written as .jsonl; name such a file")
    check_output(out, judged, mapping_path)
    mapping = read_mapping(mapping_path)
    source: Any = judged
    if reading.study is not None:
        with reading.study.ratings() as rated:
            source = rated.sheets(rated.need_judge(mapping.judge))
    write_ratings(out, apply_mapping(mapping, source, reading.how, reading.encoding))
    click.echo(f"wrote {out}: ratings of {visible(mapping.rater)}", err=True)


def _show(found: Calibration) -> None:
    from calibrant.compare.calibration_view import blocks

    show_blocks(blocks(found))
    if found.mapping is not None:
        click.echo(visible(f"calibrated, it is another rater: {found.mapping.rater}"))
    for left in found.excluded:
        reason = visible(left["reason"])
        click.secho(f"left out: {left['rows']:,} rows, {reason}", err=True, fg="yellow")
