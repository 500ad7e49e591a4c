"""What the verbs of a study share: which database, who acts, how the outcome is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calibrant.cli.terminal import (
    console,
    output_option,
    show_json,
    table,
    typed_line,
    visible,
    wants_json,
)

if TYPE_CHECKING:
    from calibrant.study.handle import Study

F = TypeVar("F", bound=Callable[..., Any])
USUAL_DB = "calibrant.db"


def db_option(command: F) -> F:
    """``--db``: where studies are kept."""
    return click.option(
        "--db",
        "place",
        envvar="CALIBRANT_DB",
        default=USUAL_DB,
        show_default=True,
        metavar="PLACE",
        help="A SQLite file or postgresql://…; also CALIBRANT_DB.",
    )(command)


def as_option(command: F) -> F:
    """``--as``: who acts."""
    return click.option(
        "--as",
        "actor",
        envvar="CALIBRANT_ACTOR",
        metavar="NAME",
        help="Who acts; the lead unless said. Also CALIBRANT_ACTOR.",
    )(command)


def yes_option(command: F) -> F:
    """``--yes``: do not ask."""
    return click.option("--yes", is_flag=True, help="Do not ask; for scripts.")(command)


def study_command(work: Callable[..., None]) -> click.Command:
    """A verb of one study: NAME comes first, ``--db``, ``--as`` and ``--format`` at the end.

    ``work`` gets the study, opened for whoever acts, and its own parameters; ``style`` too, which
    says how to show the outcome.
    """

    def run(study_name: str, place: str, actor: str | None, **named: Any) -> None:
        with opened(place, study_name, actor) as study:
            work(study, **named)

    run.__click_params__ = list(getattr(work, "__click_params__", ()))  # type: ignore[attr-defined]
    last = db_option(as_option(output_option(lambda: None)))
    run.__click_params__[:0] = _params(last)  # type: ignore[attr-defined]
    named = click.argument("study_name", metavar="NAME")(run)
    return click.command(name=work.__name__.rstrip("_"), help=work.__doc__)(named)


def _params(command: Any) -> list[click.Parameter]:
    return list(command.__click_params__)


@contextmanager
def opened(place: str, name: str, actor: str | None = None) -> Iterator[Study]:
    """The study, closed again whatever happens."""
    from calibrant.compose import open_study

    study = open_study(place, name, actor=actor)
    try:
        yield study
    finally:
        study.store.close()


def told(style: str, sentence: str, **record: Any) -> None:
    """What an act came to: a sentence, or one line of JSON in a pipe."""
    if wants_json(style):
        click.echo(json.dumps(record, ensure_ascii=False, default=str))
    else:
        click.echo(visible(sentence))


def listed(
    style: str,
    header: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    *,
    nothing: str,
    show: Callable[[Mapping[str, Any]], Sequence[Any]] | None = None,
) -> None:
    """Records as a table, or as JSON in a pipe; ``nothing`` is said where there are none."""
    found = list(rows)
    if wants_json(style):
        show_json([{key: plain(value) for key, value in one.items()} for one in found])
        return
    if not found:
        click.echo(nothing)
        return
    cells = show or (lambda one: [cell(value) for value in one.values()])
    console().print(table(header, [cells(one) for one in found]))


def plain(value: Any) -> Any:
    """A value as JSON knows it."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def cell(value: Any) -> str:
    """A value as a cell of a table."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def names_of(text: str | None) -> tuple[str, ...]:
    """``a, b`` as names."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def confirm(question: str, yes: bool) -> None:
    """Go on only if the user says so; where nobody can be asked, ``--yes`` says it."""
    if yes:
        return
    try:
        said = typed_line(f"{question} [y/N]: ", err=True).lower()
    except EOFError:
        raise click.UsageError(f"{question} Say --yes where nobody can be asked.") from None
    if said not in ("y", "yes"):
        raise click.exceptions.Abort


def count(number: int, what: str) -> str:
    """``1 item``, ``2 items``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def numbered(study: Study, number: int | None, state: str) -> int:
    """The round that is meant; where none is named, the only one in that state."""
    if number is not None:
        return number
    found = [one.number for one in study.rounds() if one.state == state]
    if len(found) == 1:
        return found[0]
    told_of = ", ".join(map(str, found))
    which = f"rounds {told_of} are {state}: say which" if found else f"no round is {state}"
    raise click.UsageError(which)
