"""Rounds: planned, opened, extended, closed, dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.study_call import (
    cell,
    confirm,
    count,
    listed,
    names_of,
    numbered,
    study_command,
    told,
    yes_option,
)
from calibrant.cli.terminal import console, show_json, table, wants_json
from calibrant.compare.bars import bar

if TYPE_CHECKING:
    from calibrant.core.plan import Plan
    from calibrant.study.handle import Study

KINDS = click.Choice(["onboarding", "calibration", "main", "recalibration", "test"])
_OVERRIDE = click.option("--override", metavar="REASON", help="Go on all the same, and say why.")


@study_command
@click.option("--kind", type=KINDS, default="main", show_default=True, help="Of the round.")
@click.option("--everyone", is_flag=True, help="Every rater rates every item.")
@click.option("--per-item", type=click.IntRange(min=1), metavar="N", help="Raters for each item.")
@click.option("--overlap", metavar="SHARE", help="This share of the items goes to several raters.")
@click.option("--minimum", type=click.IntRange(min=0), default=0, metavar="N",
              help="At least so many items in the overlap.")  # fmt: skip
@click.option("--repeats", metavar="SHARE", default="0", show_default=True,
              help="0.05 to 0.10: items that silently come again.")  # fmt: skip
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="So many items, by chance.")
@click.option("--items", "chosen", metavar="A,B|FILE",
              help="These items: ids, or a text file of them.")  # fmt: skip
@click.option("--raters", "who", metavar="A,B", help="Only these raters.")
@click.option("--dry-run", is_flag=True, help="Show the workload, keep nothing.")
def plan(
    study: Study,
    kind: str,
    everyone: bool,
    per_item: int | None,
    overlap: str | None,
    minimum: int,
    repeats: str,
    sample: int | None,
    chosen: str | None,
    who: str | None,
    dry_run: bool,
    style: str,
) -> None:
    """Make a round, and see what it asks of each rater. It opens later.

    People share the items out by the plan, judges and checks rate them all. A main round takes
    the items that no main round has. Without a plan the rubric decides.

    \b
    Examples:
      calibrant study plan advice --kind calibration
      calibrant study plan advice --per-item 2 --repeats 0.05 --dry-run
      calibrant study plan advice --overlap 0.2 --minimum 30
    """
    found = study.plan_round(
        kind,  # type: ignore[arg-type]
        plan=_plan(everyone, per_item, overlap, minimum, repeats),
        items=None if chosen is None else _ids(chosen),
        sample=sample,
        raters=names_of(who) or None,
        dry_run=dry_run,
    )
    missing = [] if dry_run else study.blockers(found.round.number)
    if wants_json(style):
        show_json(
            {
                "round": found.round.number,
                "kind": found.round.kind,
                "items": found.items,
                "plan": dict(found.round.plan),
                "workload": found.workload,
                "kept": not dry_run,
                "missing": missing,
            }
        )
        return
    most = max(found.workload.values(), default=0)
    rows = [(name, many, bar(many / most if most else 0)) for name, many in found.workload.items()]
    number = found.round.number
    screen = console()
    screen.print(table(("rater", "ratings", ""), rows, f"Round {number} ({kind})"))
    screen.print(f"{count(found.items, 'item')}, {sum(found.workload.values()):,} ratings")
    for line in missing:
        screen.print(f"before it opens: {line}", style="yellow")
    if dry_run:
        screen.print("nothing was kept: leave --dry-run out", style="dim")
    elif not missing:
        screen.print(f"next: calibrant study open {study.name} {number}", style="dim")


def _plan(
    everyone: bool, per_item: int | None, overlap: str | None, minimum: int, repeats: str
) -> Plan | None:
    from calibrant.core.plan import Plan

    if sum((everyone, per_item is not None, overlap is not None)) > 1:
        raise click.UsageError("choose one of --everyone, --per-item and --overlap")
    stated: dict[str, object] = {"repeats": repeats}
    if per_item is not None:
        stated |= {"way": "per_item", "raters": per_item}
    elif overlap is not None:
        stated |= {"way": "overlap", "share": overlap, "minimum": minimum}
    elif everyone or repeats != "0":
        stated |= {"way": "everyone"}
    else:
        return None
    try:
        return Plan.from_dict(stated)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _ids(text: str) -> list[str]:
    """Ids between commas, or one a line of a file."""
    path = Path(text)
    if path.suffix and path.is_file():
        return [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]
    return list(names_of(text))


@study_command
@click.argument("number", type=int, required=False, metavar="[ROUND]")
@_OVERRIDE
def open_(study: Study, number: int | None, override: str | None, style: str) -> None:
    """Let raters begin. What has to happen first is told.

    \b
    Examples:
      calibrant study open advice
      calibrant study open advice 2 --override "the two calibrated last month"
    """
    found = study.open_round(numbered(study, number, "planned"), override=override)
    told(
        style,
        f"round {found.number} ({found.kind}) is open",
        study=study.name,
        round=found.number,
        state=found.state,
    )


@study_command
@click.argument("number", type=int, required=False, metavar="[ROUND]")
@click.option("--reason", help="Why it ends before every rating is in.")
@yes_option
def close(study: Study, number: int | None, reason: str | None, yes: bool, style: str) -> None:
    """End a round: from now on answers may be compared, and none are taken.

    Where ratings are still to come, a reason is wanted; these assignments are withdrawn.

    \b
    Examples:
      calibrant study close advice
      calibrant study close advice 2 --reason "enough for the report" --yes
    """
    which = numbered(study, number, "open")
    here = next((one for one in study.progress() if one.number == which), None)
    left = here.total - here.done if here is not None and here.state == "open" else 0
    if left and reason:
        confirm(
            f"{count(left, 'assignment')} of round {which} will be withdrawn. Close it?",
            yes,
        )
    found = study.close_round(which, reason=reason)
    told(
        style,
        f"round {found.number} ({found.kind}) is closed"
        + (f"; {count(left, 'assignment')} withdrawn" if left else ""),
        study=study.name,
        round=found.number,
        state=found.state,
        withdrawn=left,
    )


@study_command
@click.argument("number", type=int, required=False, metavar="[ROUND]")
@click.option("--reason", required=True, help="Why it is given up.")
def drop(study: Study, number: int | None, reason: str, style: str) -> None:
    """Give a planned round up: its items are free for another one.

    \b
    Examples:
      calibrant study drop advice --reason "the rubric has a new version"
      calibrant study drop advice 3 --reason "planned by mistake"
    """
    found = study.drop_round(numbered(study, number, "planned"), reason=reason)
    told(
        style,
        f"round {found.number} ({found.kind}) is dropped",
        study=study.name,
        round=found.number,
        state="dropped",
    )


@study_command
@click.argument("number", type=int, metavar="ROUND")
def extend(study: Study, number: int, style: str) -> None:
    """Give out items that came in since, by the round's own plan; orders stay put.

    \b
    Example:
      calibrant study extend advice 2
    """
    added = study.extend_round(number)
    told(
        style,
        f"{count(added, 'item')} more in round {number}",
        study=study.name,
        round=number,
        items=added,
    )


@study_command
def rounds(study: Study, style: str) -> None:
    """Show all rounds, and how far each is.

    \b
    Example:
      calibrant study rounds advice
    """
    versions = {one.rubric.hash: one.rubric.name for one in study.versions()}
    far = {one.number: one for one in study.progress()}
    rows = [
        {
            "round": one.number,
            "kind": one.kind,
            "state": one.state,
            "rubric": versions.get(one.rubric, one.rubric),
            "done": far[one.number].done,
            "total": far[one.number].total,
            "opened": one.opened_at and one.opened_at[:10],
            "closed": one.closed_at and one.closed_at[:10],
        }
        for one in study.rounds()
    ]
    listed(
        style,
        ("round", "kind", "state", "version", "done", "of", "opened", "closed"),
        rows,
        nothing="no round yet: plan one",
        show=lambda one: [cell(v).rpartition("@")[2] for v in one.values()],
    )
