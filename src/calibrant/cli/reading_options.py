"""What commands on tables of ratings share: how a table is read, and where reports are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import click

from calibrant.cli.agree import column_names

if TYPE_CHECKING:
    import polars as pl

    from calibrant.compare.judged import Side
    from calibrant.compare.rating_columns import Reading

LEVELS = ("nominal", "ordinal", "interval", "ratio")
_OPTIONS = (
    click.option("-r", "--rubric", "rubric_name", metavar="RUBRIC",
                 help="A built-in rubric or a YAML file: level, order and NA."),
    click.option("--level", type=click.Choice(LEVELS),
                 help="Level of measurement, where no rubric tells it."),
    click.option("--order", metavar="LOW,…,HIGH",
                 help="Answers of an ordinal scale, lowest first."),
    click.option("--wide", is_flag=True, help="One row an item, one column a rater."),
    click.option("--columns", metavar="item=…,rater=…", help="What your columns are called."),
    click.option("--encoding", metavar="NAME",
                 help="The file's encoding, where it cannot be told."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What was said about a table."""

    how: Reading
    encoding: str | None

    @overload
    def side(self, path: Path) -> Side: ...

    @overload
    def side(self, path: Path | None) -> Side | None: ...

    def side(self, path: Path | None) -> Side | None:
        """A file that is held beside another; None where there is none."""
        from calibrant.compare.judged import Side
        from calibrant.formats.rating_files import frames_of

        if path is None:
            return None
        return Side(list(frames_of(path, self.encoding)), str(path))


def reading_options(*, required: bool = True) -> Callable[[Callable[..., None]], Any]:
    """Options that tell how a table is read; the command gets them as ``reading``."""

    def add(command: Callable[..., None]) -> Any:
        @wraps(command)
        def call(
            *,
            rubric_name: str | None,
            level: str | None,
            order: str | None,
            wide: bool,
            columns: str | None,
            encoding: str | None,
            **others: Any,
        ) -> None:
            how = _reading(rubric_name, level, order, wide, columns, required)
            command(reading=ReadingOptions(how, encoding), **others)

        out: Any = call
        for option in reversed(_OPTIONS):
            out = option(out)
        return out

    return add


def _reading(
    rubric_name: str | None,
    level: str | None,
    order: str | None,
    wide: bool,
    columns: str | None,
    required: bool,
) -> Reading:
    from calibrant.compare.rating_columns import Reading
    from calibrant.formats.rubric_file import load_rubric

    if rubric_name is None and level is None and required:
        raise click.UsageError("say --level nominal, ordinal, interval or ratio, or give a rubric")
    if rubric_name is not None and (level or order):
        raise click.UsageError("the rubric says level and order; leave --level and --order out")
    return Reading(
        rubric=load_rubric(rubric_name) if rubric_name else None,
        level=level,  # type: ignore[arg-type]
        order=tuple(part.strip() for part in (order or "").split(",") if part.strip()),
        columns=column_names(columns),
        wide=wide,
    )


def write_report(frame: pl.DataFrame, whole: dict[str, Any], out: Path) -> None:
    """The whole report as .json, or its rows as any other file that can be written."""
    import msgspec

    from calibrant.formats.writers import flat, write_document, write_frames

    if out.suffix.lower() == ".json":
        write_document(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n", out)
    else:
        rows = flat(frame) if out.suffix.lower() == ".csv" else frame
        write_frames([rows], rows.schema, out)
    click.echo(f"wrote {out}", err=True)


def show_blocks(found: Any) -> None:
    """Titled tables for the eye."""
    from calibrant.cli.terminal import console, table

    screen = console()
    for block in found:
        screen.print(table(block.header, block.rows, block.title))
