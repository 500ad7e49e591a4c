"""What commands on tables of ratings share: how a table is read, and where reports are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import click

from calibrant.cli.agree import column_names
from calibrant.cli.study_call import as_option, db_option, opened

if TYPE_CHECKING:
    import polars as pl

    from calibrant.compare.judged import Side
    from calibrant.compare.rating_columns import Reading
    from calibrant.formats.study_ratings import StudyRatings
    from calibrant.study.handle import Study

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
_STUDY_OPTIONS = (
    click.option("--study", "study_name", metavar="NAME",
                 help="The ratings of a study, not of a file."),
    click.option("--round", "number", type=int, metavar="N",
                 help="Of the study: this round; else all main ones."),
    db_option,
    as_option,
)  # fmt: skip

_KNOWS = "a study knows its ratings and rubric; leave the rest out"


@dataclass(frozen=True, slots=True)
class StudyChoice:
    """A study whose ratings are meant, and who looks at it."""

    name: str
    round: int | None
    place: str
    actor: str | None

    def opened(self) -> AbstractContextManager[Study]:
        """The study, closed again whatever happens."""
        return opened(self.place, self.name, self.actor)

    @contextmanager
    def ratings(self) -> Iterator[StudyRatings]:
        """Its ratings as analyses take them."""
        from calibrant.formats.study_ratings import StudyRatings

        with self.opened() as study:
            yield StudyRatings(study, self.round)


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What was said about a table, or which study is meant in its place."""

    how: Reading
    encoding: str | None
    study: StudyChoice | None = None

    def need_source(self, path: Path | None, *more: object, level: bool = True) -> None:
        """A file or a study, and not both; ``more`` is what a study knows of itself.

        Of a file the ``level`` must be known, or a rubric that tells it.
        """
        if self.study is not None:
            if any((path, *more)):
                raise click.UsageError(_KNOWS)
        elif path is None:
            raise click.UsageError("name a file of ratings, or a study with --study NAME")
        elif level and self.how.rubric is None and self.how.level is None:
            raise click.UsageError(f"say --level {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, "
                                   "or give a rubric")  # fmt: skip

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


def reading_options(command: Callable[..., None]) -> Any:
    """Options that tell how a table is read, or which study is meant in its place.

    The command gets them as ``reading``.
    """

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
        study = _study(others)
        if study is not None and any((rubric_name, level, order, wide, columns, encoding)):
            raise click.UsageError(_KNOWS)
        how = _reading(rubric_name, level, order, wide, columns)
        command(reading=ReadingOptions(how, encoding, study), **others)

    out: Any = call
    for option in reversed((*_OPTIONS, *_STUDY_OPTIONS)):
        out = option(out)
    return out


def _study(others: dict[str, Any]) -> StudyChoice | None:
    """The study that was named; what is said about it is taken out of a command's options."""
    name, round = others.pop("study_name"), others.pop("number")
    place, actor = others.pop("place"), others.pop("actor")
    if name is None and round is not None:
        raise click.UsageError("--round goes with --study NAME")
    return None if name is None else StudyChoice(name, round, place, actor)


def _reading(
    rubric_name: str | None,
    level: str | None,
    order: str | None,
    wide: bool,
    columns: str | None,
) -> Reading:
    from calibrant.compare.rating_columns import Reading
    from calibrant.formats.rubric_file import load_rubric

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
