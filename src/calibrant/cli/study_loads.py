"""Ratings that nobody types in: scored spreadsheets, and the rubric's own checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.study_call import count, study_command, told
from calibrant.cli.terminal import progress, visible

if TYPE_CHECKING:
    import polars as pl

    from calibrant.core.study import Member
    from calibrant.raters.checks.run import Checker
    from calibrant.study.claim import Task
    from calibrant.study.handle import Study

KINDS = click.Choice(["onboarding", "calibration", "main", "recalibration", "test"])
GROUP = "checks"
"""What the checks of a rubric are called among the raters."""


@study_command
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--kind", type=KINDS, default="main", show_default=True, help="Of the round.")
@click.option("--columns", metavar="item=…,rater=…", help="What your columns are called.")
@click.option("--rater", metavar="WHO", help="Who scored it, where no column says so.")
@click.option("--add-raters", is_flag=True, help="Add raters that the study does not know.")
@click.option("--encoding", metavar="NAME", help="The file's encoding, where it cannot be told.")
def import_scores(
    study: Study,
    file: Path,
    kind: Any,
    columns: str | None,
    rater: str | None,
    add_raters: bool,
    encoding: str | None,
    style: str,
) -> None:
    """Take in a spreadsheet that is scored already, as a closed round of its own.

    FILE is CSV, XLSX, JSONL or Parquet: long rows (item, rater, criterion, answer), a wide table
    (item, rater, a column for each criterion) or sheets. Items are those of the study. Every bad
    row is named, and then nothing is kept.

    \b
    Examples:
      calibrant study import-scores advice scored.xlsx --add-raters
      calibrant study import-scores advice ann.csv --rater ann --columns item=plan_id
    """
    from calibrant.cli.agree import column_names
    from calibrant.formats.score_tables import read_scores

    table = read_scores(
        file, study.rubric(), columns=column_names(columns), rater=rater, encoding=encoding
    )
    added = _add_raters(study, table, file) if add_raters else []
    found = study.import_ratings(table.drop("kind", strict=False), kind=kind, source=str(file))
    told(
        style,
        f"round {found.round}: {count(found.ratings, 'rating')} of {count(found.items, 'item')} by "
        + ", ".join(f"{name} ({many})" for name, many in found.raters.items())
        + (f"; {count(found.flags, 'red flag')} to decide" if found.flags else "")
        + (f"; {count(found.missing, 'answer')} missing" if found.missing else ""),
        study=study.name,
        round=found.round,
        ratings=found.ratings,
        flags=found.flags,
        items=found.items,
        raters=found.raters,
        missing=found.missing,
        added=added,
    )


def _add_raters(study: Study, table: pl.DataFrame, file: Path) -> list[str]:
    """Add those whom the study does not know; where the table tells a kind, with that."""
    import polars as pl

    known = {one.name for one in study.members()}
    kind = pl.col("kind") if "kind" in table.columns else pl.lit("HUMAN").alias("kind")
    pairs = table.select("rater", kind).unique("rater", maintain_order=True)
    added = []
    for name, told_kind in pairs.sort("rater").iter_rows():
        if name in known:
            continue
        what = str(told_kind or "HUMAN").upper()
        card = None if what == "HUMAN" else {"kind": what, "name": name, "from": file.name}
        study.add_member(name, kind=what, card=card)  # type: ignore[arg-type]
        added.append(name)
    return added


# -- checks


@study_command
def check(study: Study, style: str) -> None:
    """Let the rubric's checks rate their assignments, as a rater of kind CODE.

    The first time, the checks join the study with their card, and rounds that are planned from
    then on count them in. They answer what they can measure, and put items up for review where
    they find the words of a red flag; they never decide.

    \b
    Example:
      calibrant study check advice
    """
    from calibrant.raters.checks.run import Checker

    now, joined = _checks(study, Checker(study.record.item_type, study.rubric()))  # type: ignore[arg-type]
    rated = 0
    faults: list[str] = []
    with progress("checking", "items") as bar:
        for member in [now, *_earlier(study, now)]:
            mine = replace(study, actor=member.name)
            rated += _rate_as(mine, faults, lambda done, total: bar(done, total, done))
    for line in faults:
        click.secho(visible(line), err=True, fg="red")
    told(
        style,
        (f"{now.name} has joined: it rates in rounds that are planned from now on\n" * joined)
        + f"{count(rated, 'item')} checked",
        study=study.name,
        rater=now.name,
        joined=joined,
        rated=rated,
        bad=len(faults),
    )
    if faults:
        raise click.exceptions.Exit(2)


def _rate_as(mine: Study, faults: list[str], on_part: Callable[[int, int], None]) -> int:
    """Let one card of checks do its assignments; how many."""
    from calibrant.core.errors import StudyError
    from calibrant.engine.worker import work_off
    from calibrant.raters.checks.form import check_form
    from calibrant.raters.checks.run import Checker

    total = sum(one.open for one in mine.duties())
    checkers: dict[str, Checker] = {}

    def rate(task: Task) -> Any:
        if task.rubric.hash not in checkers:
            made = Checker(task.item.kind, task.rubric)
            if made.card.name != mine.actor:
                raise StudyError(
                    f"{mine.actor} is a card of other checks than these: let it leave, and its "
                    f"work goes to {made.card.name}"
                )
            checkers[task.rubric.hash] = made
        return check_form(checkers[task.rubric.hash], task.item)

    try:
        done = work_off(
            mine,
            rate,
            token=f"worker of {mine.actor}",
            on_part=lambda count: on_part(count, total),
        )
    except StudyError as error:
        faults.append(str(error))
        return 0
    faults += [f"{item}: {fault}" for item, fault in done.faults]
    return done.rated


def _earlier(study: Study, now: Member) -> list[Member]:
    """Checks under other cards that have work to do."""
    found = [
        one
        for one in study.members()
        if one.kind == "CODE" and one.group == GROUP and one.left_at is None and one != now
    ]
    return [one for one in found if any(d.open for d in replace(study, actor=one.name).duties())]


def _checks(study: Study, checker: Checker) -> tuple[Member, bool]:
    """The member that these checks are, and whether it joined now.

    Another version of the rubric, of a check or of a lexicon is another rater.
    """
    card = checker.card
    for one in study.members():
        if one.name == card.name and one.left_at is None:
            return one, False
    return study.add_member(card.name, kind="CODE", card=card.to_dict(), group=GROUP), True
