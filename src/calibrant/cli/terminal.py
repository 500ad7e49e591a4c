"""What commands share in showing: tables on a terminal, JSON in a pipe."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from calibrant.core.visible import visible as visible  # noqa: PLC0414 - commands take it here

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

F = TypeVar("F", bound=Callable[..., Any])


def output_option(command: F) -> F:
    """``--format``: how to show the result."""
    return click.option(
        "--format",
        "style",
        type=click.Choice(["auto", "text", "json"]),
        default="auto",
        show_default=True,
        help="text on a terminal, JSON in a pipe, unless said otherwise.",
    )(command)


def wants_json(style: str) -> bool:
    """Whether to show JSON."""
    return style == "json" or (style == "auto" and not sys.stdout.isatty())


def show_json(value: Any) -> None:
    """Print a value for machines."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def console(stderr: bool = False) -> Console:
    """A rich console that never takes anybody's text for markup."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=False)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> Table:
    """A plain table; cells are text, whatever they look like."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        box=box.SIMPLE_HEAD,
        title=title or None,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
    )
    for at, name in enumerate(header):
        drawn.add_column(Text(name), no_wrap=at == 0, overflow="ellipsis" if at == 0 else "fold")
    for row in rows:
        drawn.add_row(
            *(cell if isinstance(cell, Text) else Text(visible(str(cell))) for cell in row)
        )
    return drawn


class Bar(Protocol):
    """Tells how far a run is."""

    def __call__(self, done: int, total: int | None, count: int) -> None:
        """So much of so much is done, and so many things came of it."""


@contextmanager
def progress(doing: str, things: str) -> Iterator[Bar]:
    """A bar with rate and time left on a terminal, once a run takes longer than a second."""
    if not sys.stderr.isatty():
        yield lambda done, total, count: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn(doing), BarColumn(), rate, TimeRemainingColumn())
    began = time.monotonic()
    with Progress(*columns, console=console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(doing, total=None, visible=False, rate="")

        def update(done: int, total: int | None, count: int) -> None:
            seconds = time.monotonic() - began
            told = f"{count:,} {things}, {count / max(seconds, 0.001):,.0f} a second"
            drawn.update(task, total=total, completed=done, visible=seconds > 1, rate=told)

        yield update


def write_schema(schema: Any, out: Path | None) -> None:
    """A JSON Schema; only to a .json file, so that no rubric or data is written over by a slip."""
    from calibrant.core.errors import SourceError

    if out is not None and out.suffix.lower() != ".json":
        raise SourceError(f"{out}: a schema is written to a .json file")
    write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", out)


def write_text(text: str, out: Path | None) -> None:
    """To a file, or to standard output."""
    if out is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    from calibrant.core.errors import SourceError

    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise SourceError(f"{out}: {error.strerror}") from error
    click.echo(f"wrote {out}", err=True)


def typed_line(prompt: str, *, err: bool = False) -> str:
    """One line from whoever sits there; raises ``EOFError`` where none comes any more.

    Libraries below handle Ctrl-C in a way that lets a read go on; waiting before reading does not.
    What comes from a pipe is shown as if it were typed.
    """
    from select import select

    click.echo(visible(prompt), nl=False, err=err)
    at_terminal = sys.stdin.isatty()
    if at_terminal:
        select([sys.stdin], [], [])
    line = sys.stdin.readline()
    if not line:
        click.echo(err=err)
        raise EOFError
    if not at_terminal:
        click.echo(visible(line.strip()), err=err)
    return line.strip()
