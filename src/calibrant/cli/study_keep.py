"""Keeping: the journal, redaction, backup and restore, the doctor."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.study_call import (
    cell,
    confirm,
    count,
    db_option,
    listed,
    study_command,
    told,
    yes_option,
)
from calibrant.cli.terminal import output_option, show_json, wants_json

if TYPE_CHECKING:
    from calibrant.core.study import Entry
    from calibrant.study.handle import Study

PART = 1000
"""Lines read at a time."""


@study_command
@click.option("--kind", metavar="KIND", help="Only lines of this kind: rated, flag, round ….")
@click.option("--no-ratings", is_flag=True, help="All but ratings that were handed in.")
@click.option("--who", metavar="NAME", help="Only what this member did.")
@click.option("--item", metavar="ID", help="Only what was done with this item.")
@click.option(
    "--after", type=click.IntRange(min=0), default=0, metavar="N", help="Only lines after this one."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the last so many.")
def journal(
    study: Study,
    kind: str | None,
    no_ratings: bool,
    who: str | None,
    item: str | None,
    after: int,
    limit: int | None,
    style: str,
) -> None:
    """Show everything that happened, in the order of time: who, what, when.

    Ratings that came in are lines without a number, and without what was answered.

    \b
    Examples:
      calibrant study journal advice --limit 20
      calibrant study journal advice --kind rated --who ann
      calibrant study journal advice --format json > journal.json
    """
    rows = [
        {
            "number": one.number or None,
            "at": one.at,
            "actor": one.actor,
            "kind": one.kind,
            "round": one.round,
            "item": one.item,
            "criterion": one.criterion,
            "body": dict(one.body),
            "words": one.words and dict(one.words),
        }
        for one in _lines(
            study, after, limit, kind=kind, ratings=not no_ratings, actor=who, item=item
        )
    ]
    listed(
        style,
        ("", "when", "who", "what", "about", "more"),
        rows,
        nothing="nothing has happened",
        show=lambda one: [
            one["number"] or "",
            one["at"][5:16].replace("T", " "),
            one["actor"],
            one["kind"].replace("_", " "),
            " ".join(map(str, filter(None, (one["item"], one["criterion"])))),
            _brief({**one["body"], **(one["words"] or {})}),
        ],
    )


def _lines(study: Study, after: int, limit: int | None, **asked: Any) -> Iterator[Entry]:
    """All lines after one, a part at a time; or the last ones, read from the end."""
    if limit is not None and not after:
        yield from reversed(study.audit_log(newest_first=True, limit=limit, **asked).lines)
        return
    found: deque[Entry] = deque(maxlen=limit)
    start: str | None = str(after)
    while start is not None:
        part = study.audit_log(start=start, limit=PART, **asked)
        found.extend(part.lines)
        start = part.next
    yield from found


def _brief(facts: dict[str, object]) -> str:
    kept = {key: value for key, value in facts.items() if value not in (None, "", [], False)}
    kept = {key: value for key, value in kept.items() if key not in ("hash", "rubric", "snapshot")}
    told_of = ", ".join(
        f"{key} {json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else cell(value)}"
        for key, value in kept.items()
    )
    return told_of if len(told_of) <= 70 else f"{told_of[:69]}…"


@study_command
@click.argument("item")
@click.option("--reason", required=True, help="Why.")
@yes_option
def redact(study: Study, item: str, reason: str, yes: bool, style: str) -> None:
    """Erase the words of an item for good; its hash, its ratings and this act stay.

    Quotations and notes on it go too. It cannot be undone. Backups that were made before still
    hold the words.

    \b
    Example:
      calibrant study redact advice plan-07 --reason "the person asked for it"
    """
    confirm(f"The words of {item!r} will be erased for good. Go on?", yes)
    study.redact(item, reason=reason)
    told(style, f"{item} is redacted", study=study.name, item=item, redacted=True)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@db_option
@output_option
def backup(file: Path, place: str, style: str) -> None:
    """Copy the whole database into a new file, while others go on working.

    \b
    Example:
      calibrant study backup evaluations-2026-03-02.db
    """
    from calibrant.compose import back_up, shown_place

    back_up(place, file)
    told(style, f"{shown_place(place)} is copied to {file}", db=shown_place(place), file=str(file))


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@yes_option
@db_option
@output_option
def restore(file: Path, yes: bool, place: str, style: str) -> None:
    """Bring a backup back, into an empty database or a new one of either kind.

    \b
    Examples:
      calibrant study restore evaluations-2026-03-02.db --db restored.db
      calibrant study restore evaluations.db --db postgresql://host/evaluations --yes
    """
    from calibrant.compose import restore as fill
    from calibrant.compose import shown_place

    confirm(f"Fill {shown_place(place)} with what {file} holds?", yes)
    fill(place, file)
    told(
        style,
        f"{shown_place(place)} holds what {file} held",
        db=shown_place(place),
        file=str(file),
    )


@click.command()
@db_option
@output_option
def doctor(place: str, style: str) -> None:
    """Look the database over; exit with 1 where something is not in order.

    \b
    Example:
      calibrant study doctor
    """
    from calibrant.compose import examine, shown_place

    found = examine(place)
    if wants_json(style):
        show_json({"db": shown_place(place), "in_order": not found, "findings": found})
    else:
        click.echo(shown_place(place))
        for line in found:
            click.secho(line, fg="red")
        click.echo(count(len(found), "finding") if found else "all is in order")
    if found:
        raise click.exceptions.Exit(1)
