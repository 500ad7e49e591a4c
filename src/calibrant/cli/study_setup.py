"""Beginning a study: create it, add items and raters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from calibrant.cli.items import table_options
from calibrant.cli.study_call import (
    count,
    db_option,
    listed,
    names_of,
    study_command,
    told,
)
from calibrant.cli.terminal import output_option, progress

if TYPE_CHECKING:
    from calibrant.core.criterion import ItemType
    from calibrant.core.errors import Fault
    from calibrant.core.item import Item
    from calibrant.study.handle import Study

KINDS = click.Choice(["HUMAN", "LLM", "CODE"], case_sensitive=False)


@click.command()
@click.argument("name")
@click.option("-r", "--rubric", "rubric_name", required=True, metavar="RUBRIC",
              help="A built-in rubric or a YAML file.")  # fmt: skip
@click.option("--lead", metavar="NAME", envvar="CALIBRANT_ACTOR", required=True,
              help="Who leads it; also CALIBRANT_ACTOR.")  # fmt: skip
@click.option("--start", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY",
              help="When week 1 begins, such as 2026-03-02; else today.")  # fmt: skip
@click.option("--title", default="", help="A title for people.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="From which all chance in it follows.")  # fmt: skip
@db_option
@output_option
def create(
    name: str,
    rubric_name: str,
    lead: str,
    start: datetime | None,
    title: str,
    seed: int,
    place: str,
    style: str,
) -> None:
    """Begin a study of a rubric; the database is made where there is none.

    \b
    Examples:
      calibrant study create advice -r smart-action-plan --lead lena
      calibrant study create chats -r rubric.yaml --lead lena --start 2026-03-02
      calibrant study create advice -r ai-response --lead lena --db postgresql://host/evaluations
    """
    from calibrant.compose import create_study, shown_place
    from calibrant.formats.rubric_file import load_rubric

    rubric = load_rubric(rubric_name)
    day: date | None = start.date() if start else None
    made = create_study(place, name, rubric, lead=lead, start_on=day, title=title, seed=seed)
    made.store.close()
    told(
        style,
        f"study {made.name} of {rubric.name}, led by {made.actor}, begins {made.record.start_on}\n"
        f"kept in {shown_place(place)}\n"
        f"next: calibrant study items {made.name} FILE",
        study=made.name,
        rubric=rubric.name,
        lead=made.actor,
        start_on=made.record.start_on,
        db=shown_place(place),
    )


@click.command("list")
@db_option
@output_option
def list_(place: str, style: str) -> None:
    """Show the studies of a database.

    \b
    Example:
      calibrant study list
    """
    from calibrant.compose import studies

    rows = (
        {
            "study": one.name,
            "title": one.title,
            "rubric": one.rubric_id,
            "begins": one.start_on,
            "created": one.created_at[:10],
        }
        for one in studies(place)
    )
    listed(style, ("study", "title", "rubric", "begins", "created"), rows, nothing="no study yet")


@study_command
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--skip-bad", is_flag=True, help="Leave bad records out instead of stopping.")
@click.option("--encoding", metavar="NAME", help="The file's encoding, where it cannot be told.")
@table_options
def items(
    study: Study,
    file: Path,
    skip_bad: bool,
    encoding: str | None,
    sheet: str | None,
    header_row: int | None,
    style: str,
) -> None:
    """Add items from a file: JSONL, JSON, CSV, Parquet or XLSX.

    The whole file is checked first and every bad record is named; then the items come in. The
    same item twice is one, so what was interrupted can be done again.

    \b
    Examples:
      calibrant study items advice plans.jsonl
      calibrant study items advice plans.xlsx --skip-bad
    """
    source = _Source(study, file, encoding, sheet, header_row)
    total = _checked(source, skip_bad)
    with progress("adding", "items") as bar:
        came = study.add_items(_good(source), on_part=lambda done: bar(done, total, done))
    told(
        style,
        f"{count(came.added, 'item')} added, {came.known:,} were there already",
        study=study.name,
        added=came.added,
        known=came.known,
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of items for a study, and how it is to be read."""

    study: Study
    file: Path
    encoding: str | None
    sheet: str | None
    header_row: int | None

    def entries(self) -> Iterator[Any]:
        """Its items, faults and duplicates."""
        from calibrant.formats.items import stream_items
        from calibrant.formats.tables import Place

        kind = cast("ItemType", self.study.record.item_type)
        place = Place(self.sheet, self.header_row)
        return stream_items(self.file, kind, self.encoding, place=place)


def _checked(source: _Source, skip_bad: bool) -> int:
    """How many good items the file holds; every fault is told, and stops it unless skipped."""
    from calibrant.core.errors import Fault
    from calibrant.formats.items import Duplicate

    bad: set[object] = set()
    good = 0
    file = source.file
    known = dict(source.study.items().select("item", "hash").iter_rows())
    with progress("checking", "items") as bar:
        for found in source.entries():
            entry = found if isinstance(found, Fault | Duplicate) else _clash(found, known, file)
            if isinstance(entry, Fault):
                bad.add(entry.record or entry.message)
                click.secho(str(entry), err=True, fg="red")
            elif isinstance(entry, Duplicate):
                click.secho(f"{file}: {entry}", err=True, fg="yellow")
            else:
                good += 1
                if good % 500 == 0:
                    bar(good, None, good)
    if bad and not skip_bad:
        click.echo(
            f"{count(len(bad), 'bad record')}: nothing was added. Mend them, or leave them out "
            "with --skip-bad.",
            err=True,
        )
        raise click.exceptions.Exit(2)
    return good


def _clash(item: Item, known: dict[str, str], file: Path) -> Item | Fault:
    """A fault where the study has another item of that name."""
    from calibrant.core.errors import Fault
    from calibrant.core.item import item_of, item_text

    if item.id not in known or known[item.id] == item_of(item.kind, item.id, item_text(item)).hash:
        return item
    message = f"item {item.id!r} is in the study already with another content"
    return Fault(message, "id", str(file), hint="rename it")


def _good(source: _Source) -> Iterator[Item]:
    from calibrant.core.errors import Fault
    from calibrant.formats.items import Duplicate

    known = dict(source.study.items().select("item", "hash").iter_rows())
    for entry in source.entries():
        if isinstance(entry, Fault | Duplicate):
            continue
        if not isinstance(_clash(entry, known, source.file), Fault):
            yield entry


@study_command
@click.argument("who")
@click.option("--kind", type=KINDS, default="HUMAN", show_default=True, help="Of the rater.")
@click.option("--group", metavar="WORD", help="adviser, annotator, or a word of your own.")
@click.option("--role", "roles", multiple=True, metavar="ROLE",
              help="reviewer (unless said), adjudicator, viewer, lead; repeatable.")  # fmt: skip
@click.option("--card", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="JSON with everything that shapes a judge's answers.")  # fmt: skip
def add_rater(
    study: Study,
    who: str,
    kind: str,
    group: str | None,
    roles: tuple[str, ...],
    card: Path | None,
    style: str,
) -> None:
    """Add a person, a judge or a check. Checks of the rubric join with `study check`.

    \b
    Examples:
      calibrant study add-rater advice ann --group adviser
      calibrant study add-rater advice ada --role adjudicator
      calibrant study add-rater advice judge-1 --kind LLM --card judge.json
    """
    member = study.add_member(
        who,
        kind=kind.upper(),  # type: ignore[arg-type]
        roles=roles or ("reviewer",),  # type: ignore[arg-type]
        group=group,
        card=None if card is None else _card(card),
    )
    told(
        style,
        f"{member.name} takes part as {', '.join(member.roles)}",
        study=study.name,
        member=member.name,
        kind=member.kind,
        roles=member.roles,
        group=member.group,
    )


def _card(path: Path) -> dict[str, Any]:
    from calibrant.core.errors import SourceError

    try:
        read = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SourceError(f"{path}: is no JSON: {error}") from error
    if not isinstance(read, dict) or not read:
        raise SourceError(f"{path}: a card is an object with what shapes the rater's answers")
    return read


@study_command
def raters(study: Study, style: str) -> None:
    """Show who takes part. Raters are told of nobody but themselves and the lead.

    \b
    Example:
      calibrant study raters advice
    """
    rows = (
        {
            "name": one.name,
            "kind": one.kind,
            "roles": one.roles,
            "group": one.group,
            "joined": one.joined_at[:10],
            "left": one.left_at and one.left_at[:10],
        }
        for one in study.members()
    )
    header = ("name", "kind", "roles", "group", "joined", "left")
    listed(style, header, rows, nothing="nobody yet")


@study_command
@click.argument("who")
@click.argument("wanted", metavar="ROLE,…")
def roles(study: Study, who: str, wanted: str, style: str) -> None:
    """Give somebody other roles: lead, reviewer, adjudicator, viewer.

    \b
    Example:
      calibrant study roles advice ann reviewer,adjudicator
    """
    study.set_roles(who, names_of(wanted))  # type: ignore[arg-type]
    said = ", ".join(names_of(wanted))
    told(style, f"{who} is {said} now", study=study.name, member=who, roles=names_of(wanted))


@study_command
@click.argument("who")
@click.option("--reason", required=True, help="Why they leave.")
def leave(study: Study, who: str, reason: str, style: str) -> None:
    """Somebody leaves: their ratings stay, their open work goes to the others.

    \b
    Example:
      calibrant study leave advice bob --reason "moved to another project"
    """
    handover = study.leave(who, reason=reason)
    moved = ", ".join(f"{name} {number}" for name, number in sorted(handover.moved.items()))
    told(
        style,
        f"{who} has left"
        + (f"; taken over by {moved}" if moved else "")
        + (f"; nobody can take {', '.join(handover.left_over)}" if handover.left_over else ""),
        study=study.name,
        member=who,
        moved=dict(handover.moved),
        left_over=handover.left_over,
    )
