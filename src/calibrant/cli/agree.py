"""``calibrant agree``: how far raters agree, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.terminal import (
    bar,
    console,
    output_option,
    show_json,
    table,
    wants_json,
    write_text,
)

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.formats.agreement import AgreementReport
    from calibrant.formats.targets import TargetResult
    from calibrant.stats.estimate import Estimate

FULL = 3
"""Criteria up to which every coefficient is shown."""
MOST_SHOWN = 12
"""Rows of a table on a terminal."""


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
@click.option("--seed", type=int, default=0, show_default=True, help="Of the resampling.")
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
    from calibrant.core.errors import SourceError
    from calibrant.formats.agreement import agreement_of_file
    from calibrant.formats.rating_columns import Reading
    from calibrant.formats.writers import check_output
    from calibrant.stats.estimate import Design

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
        columns=_mapping(columns),
        wide=wide,
        anonymous=anonymous_raters,
    )
    design = Design(method, seed)  # type: ignore[arg-type]
    found = agreement_of_file(ratings, how, targets=targets, design=design, encoding=encoding)
    _write(found, out)
    if not wants_json(style):
        _show(found)
    elif out is None:
        show_json(found.to_dict())
    if enforce and not found.met:
        missed = [one for one in found.targets if one.outcome != "met"]
        click.secho(f"{len(missed)} of {len(found.targets)} targets not met", err=True, fg="red")
        raise click.exceptions.Exit(1)


def _rubric(name: str) -> Rubric:
    from calibrant.formats.rubric_file import load_rubric

    return load_rubric(name)


def _mapping(columns: str | None) -> dict[str, str]:
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

    from calibrant.formats.writers import flat, write_frames

    if out.suffix.lower() == ".csv":
        frame = flat(found.to_frame())
        write_frames([frame], frame.schema, out)
        click.echo(f"wrote {out}", err=True)
    else:
        text = msgspec.json.format(msgspec.json.encode(found.to_dict()), indent=1)
        write_text(text.decode() + "\n", out)


# -- for the eye


def _show(found: AgreementReport) -> None:
    screen = console()
    main = [one for one in found.estimates if one.slice is None and one.group is None
            and one.raters == found.raters]  # fmt: skip
    criteria = list(dict.fromkeys(one.criterion for one in main))
    if len(criteria) > FULL:
        screen.print(_overview(criteria, main))
    for criterion in criteria if len(criteria) <= FULL else ():
        for na in dict.fromkeys(one.na for one in main if one.criterion == criterion):
            chosen = [one for one in main if one.criterion == criterion and one.na == na]
            screen.print(_estimates(_title(criterion, na, chosen), chosen))
    _groups(found)
    _matrix(found)
    _slices(found)
    _drivers(found)
    if found.targets:
        screen.print(table(
            ("target", "criterion", "", "value", "interval", "why"),
            [_target(one) for one in found.targets], "Targets",
        ))  # fmt: skip
    for left in found.excluded:
        click.secho(f"left out: {left['rows']:,} rows, {left['reason']}", err=True, fg="yellow")


def _overview(criteria: list[str | None], main: list[Estimate]) -> object:
    """A line for each criterion, the lowest agreement first."""
    rows = []
    for criterion in criteria:
        mine = [one for one in main if one.criterion == criterion and one.na != "answer"]
        by_name = {one.coefficient: one for one in mine if one.weights is None}
        alpha = by_name["krippendorff_alpha"]  # at the level of the scale, which comes last
        percent, gwet = by_name["percent"], by_name["gwet_ac"]
        lowest = 2.0 if alpha.value is None else alpha.value
        cells = (_number(percent), *_numbers(alpha)[:2], _number(gwet), f"{alpha.n_items:,}")
        rows.append((lowest, (criterion or "", *cells, _reading(alpha))))
    rows.sort(key=lambda row: row[0])
    header = ("criterion", "percent", "alpha", "95 % interval", "AC", "items", "reading")
    return table(header, [row for _, row in rows], "By criterion, lowest first (-o keeps all)")


def _number(one: Estimate) -> str:
    return "–" if one.value is None else f"{one.value:.3f}"


def _title(criterion: str | None, na: str | None, chosen: list[Estimate]) -> str:
    first = chosen[0]
    told = {"left_out": ", NA left out", "answer": ", NA as an answer", None: ""}[na]
    shares = ", ".join(
        f"{label} {share:.0%}" for label, share in list(first.prevalence.items())[:8]
    )
    ratings = max(one.n_ratings for one in chosen)
    name = criterion or "All answers"
    return f"{name}{told}: {first.n_items:,} items, {ratings:,} ratings ({shares})"


def _estimates(title: str, chosen: list[Estimate]) -> object:
    rows = [(_called(one), *_numbers(one), _reading(one)) for one in chosen]
    return table(("coefficient", "value", "95 % interval", "", "reading"), rows, title)


def _called(one: Estimate) -> str:
    return one.name.replace("_", " ").replace(":", ", ")


def _reading(one: Estimate) -> str:
    """By convention; the report for machines says whose."""
    return (one.reading or one.undefined or "").partition(" (")[0].partition(":")[0]


def _numbers(one: Estimate) -> tuple[str, str, str]:
    if one.value is None:
        return "–", "", ""
    low, high = one.interval or (float("nan"), float("nan"))
    drawn = bar(max(0.0, min(1.0, one.value)), 8)
    return f"{one.value:.3f}", f"{low:.2f} … {high:.2f}", drawn


def _groups(found: AgreementReport) -> None:
    chosen = [one for one in found.estimates if one.group and _headline(one)]
    if chosen:
        rows = [(one.group, one.criterion or "", _called(one), *_numbers(one)) for one in chosen]
        header = ("group", "criterion", "coefficient", "value", "95 % interval", "")
        console().print(table(header, rows, "Groups of raters"))


def _headline(one: Estimate) -> bool:
    """The few estimates that a table of many rows shows."""
    if one.na == "answer":
        return False
    alpha = one.coefficient == "krippendorff_alpha" and one.level != "nominal"
    return alpha or one.name in ("percent", "cohen_kappa", "gwet_ac")


def _matrix(found: AgreementReport) -> None:
    """Rater by rater: Cohen's kappa, or agreement where it has no value."""
    pairs = [
        one for one in found.estimates
        if len(one.raters) == 2 and one.name == "cohen_kappa" and one.slice is None
        and one.group is None and one.na != "answer"
    ]  # fmt: skip
    raters = [name for name in found.raters if any(name in one.raters for one in pairs)]
    if not pairs or not 2 < len(raters) <= MOST_SHOWN:
        return
    for criterion in dict.fromkeys(one.criterion for one in pairs):
        by_pair = {frozenset(one.raters): one for one in pairs if one.criterion == criterion}
        rows = []
        for first in raters:
            cells = []
            for second in raters:
                one = by_pair.get(frozenset((first, second)))
                cells.append("·" if first == second else "" if one is None or one.value is None
                             else f"{one.value:.2f}")  # fmt: skip
            rows.append((first, *cells))
        console().print(
            table(("kappa", *raters), rows, f"{criterion or 'All answers'}: rater by rater")
        )


def _slices(found: AgreementReport) -> None:
    chosen = [one for one in found.estimates if one.slice and _headline(one)]
    if chosen:
        rows = [
            (
                one.slice,
                one.criterion,
                _called(one),
                *_numbers(one),
                f"{one.n_items:,}",
            )
            for one in chosen
        ]
        header = ("part", "criterion", "coefficient", "value", "95 % interval", "", "items")
        console().print(table(header, rows, "Over rounds, versions and time"))


def _drivers(found: AgreementReport) -> None:
    worst = sorted(found.drivers, key=lambda one: -one.disagreement)[:MOST_SHOWN]
    if worst:
        rows = [
            (one.item, one.criterion or "", bar(one.disagreement, 8),
             ", ".join(f"{who} {what}" for who, what in list(one.answers.items())[:8]))
            for one in worst
        ]  # fmt: skip
        header = ("item", "criterion", "apart", "answers")
        console().print(table(header, rows, "Items that drive the disagreement"))


def _target(one: TargetResult) -> tuple[object, ...]:
    from rich.text import Text

    colour = {"met": "green", "not_met": "red", "not_shown": "yellow"}[one.outcome]
    told = Text(one.outcome.replace("_", " "), style=colour)
    found = one.estimate
    value = "–" if found is None or found.value is None else f"{found.value:.3f}"
    limits = ""
    if found is not None and found.interval is not None:
        limits = f"{found.interval[0]:.2f} … {found.interval[1]:.2f}"
    why = one.why
    if one.more_items:
        why += f"; about {one.more_items:,} more would settle it"
    return str(one.target), one.criterion or "", told, value, limits, why
