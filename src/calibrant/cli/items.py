"""``calibrant items``: check files of items, print their schemas."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from calibrant.cli.terminal import (
    console,
    output_option,
    show_json,
    table,
    wants_json,
    write_schema,
)
from calibrant.core.criterion import ItemType

KINDS = click.Choice(["plan", "response", "conversation", "free"])
F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def items() -> None:
    """Check files of items, and print their JSON Schemas.

    Items are plans, responses, conversations or free-form records, in JSONL, JSON, CSV, Parquet
    or XLSX.
    """


def table_options(command: F) -> F:
    """``--sheet`` and ``--header-row``: where in a file its table stands."""
    sheet = click.option("--sheet", metavar="NAME", help="The sheet of a workbook to read.")
    row = click.option(
        "--header-row",
        type=click.IntRange(1, 1_000_000),
        metavar="N",
        help="The row of the table's header, where titles stand above it.",
    )
    return sheet(row(command))


@items.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--kind", type=KINDS, help="What the items are; told from each record otherwise.")
@click.option("--encoding", metavar="NAME", help="The file's encoding, where it cannot be told.")
@table_options
@output_option
def check(
    file: Path,
    kind: ItemType | None,
    encoding: str | None,
    sheet: str | None,
    header_row: int | None,
    style: str,
) -> None:
    """Read a file of items and tell every bad record and every duplicate.

    The exit status is 2 where any record is bad.

    \b
    Examples:
      calibrant items check plans.xlsx --kind plan --sheet Plans --header-row 3
      calibrant items check conversations.jsonl
    """
    from calibrant.core.errors import Fault
    from calibrant.formats.items import Duplicate, stream_items
    from calibrant.formats.tables import Place

    place = Place(sheet, header_row)
    notes: list[str] = []
    kinds: Counter[str] = Counter()
    faults: list[Fault] = []
    duplicates: list[Duplicate] = []
    for entry in stream_items(file, kind, encoding, notes, place=place):
        match entry:
            case Fault():
                faults.append(entry)
            case Duplicate():
                duplicates.append(entry)
            case _:
                kinds[entry.kind] += 1
    if wants_json(style):
        show_json(
            {
                "file": str(file),
                "items": dict(kinds),
                "bad": [
                    {"record": f.record, "field": f.path, "message": f.message} for f in faults
                ],
                "duplicates": [
                    {
                        "record": d.record,
                        "id": d.id,
                        "first_record": d.first_record,
                        "first_id": d.first_id,
                    }
                    for d in duplicates
                ],
                "notes": notes,
            }
        )
    else:
        for fault in faults:
            click.secho(str(fault), err=True, fg="red")
        for line in [*notes, *(f"{file}: {one}" for one in duplicates)]:
            click.secho(line, err=True, fg="yellow")
        rows = [(name, count) for name, count in sorted(kinds.items())]
        console().print(table(("kind", "items"), rows or [("none", 0)]))
    if faults:
        bad = len({fault.record for fault in faults})
        click.echo(f"{bad} bad record{'s' * (bad > 1)}.", err=True)
        sys.exit(2)


@items.command()
@click.argument("kind", type=KINDS)
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write it here.")
def schema(kind: ItemType, out: Path | None) -> None:
    """Print the JSON Schema of one record of a kind.

    \b
    Example:
      calibrant items schema conversation -o conversation.schema.json
    """
    from calibrant.formats.items import item_schema

    write_schema(item_schema(kind), out)
