"""``calibrant report``: what a study came to, for people who were not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.agree import steps_told
from calibrant.cli.study_call import as_option, db_option, listed, opened, told
from calibrant.cli.terminal import console, output_option, visible, wants_json

if TYPE_CHECKING:
    from rich.text import Text

    from calibrant.report.findings import Findings
    from calibrant.report.pieces import Piece
    from calibrant.study.handle import Study


@click.command()
@click.argument("study_name", metavar="STUDY")
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write it here: .html (one page), .md or .json (all data).")  # fmt: skip
@click.option("--short", is_flag=True, help="The answer alone, for a slide.")
@click.option("--pseudonyms", is_flag=True,
              help="Members go by other names, the same ones every time; for leads.")  # fmt: skip
@click.option("--frozen", metavar="N|list",
              help="As it was at check-in N or at the end of a phase; list: all.")  # fmt: skip
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@db_option
@as_option
@output_option
def report(
    study_name: str,
    out: Path | None,
    short: bool,
    pseudonyms: bool,
    frozen: str | None,
    force: bool,
    place: str,
    actor: str | None,
    style: str,
) -> None:
    """Report what a study came to: verdicts, agreement, raters, judges, red flags, the rubric.

    The HTML page is one file that needs no network and no script, and prints well. It has what
    the person who asks may see by now; for all but leads names are masked. Every table says what
    it was computed from and which command prints it. Without -o the answer is shown on a
    terminal, and all data go to a pipe as JSON.

    \b
    Examples:
      calibrant report advice
      calibrant report advice -o report.html
      calibrant report advice -o slide.html --short
      calibrant report advice -o shared.html --pseudonyms
      calibrant report advice --as vic > report.json
      calibrant report advice --frozen list
      calibrant report advice --frozen 41 -o march.html
    """
    from calibrant.compose import report_study

    if frozen == "list":
        with opened(place, study_name, actor) as study:
            _list(study, style)
        return
    number = _number(frozen)
    if pseudonyms and number is not None:
        raise click.UsageError("a frozen report has the names of its day, and no pseudonyms")
    if short and out is None and wants_json(style):
        raise click.UsageError("--short is for pages and terminals; JSON has all data")
    with opened(place, study_name, actor) as study, steps_told() as say:
        found = report_study(
            study, out, short=short, pseudonyms=pseudonyms, replace=force, frozen=number,
            on_step=say,
        )  # fmt: skip
    if out is not None:
        told(style, f"wrote {out}", study=study_name, file=str(out))
    elif wants_json(style):
        from calibrant.report.files import json_text

        click.echo(json_text(found).encode("utf-8", "backslashreplace"), nl=False)
    else:
        _show(found)


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise click.UsageError("--frozen takes a number, or list")
    return int(text)


def _list(study: Study, style: str) -> None:
    """The reports that were frozen."""
    from calibrant.report.frozen import title_of

    listed(
        style,
        ("", "at", "frozen with", "by"),
        (
            {"number": one.number, "at": one.at, "with": title_of(one), "by": one.by,
             "hash": one.hash}
            for one in study.frozen_reports()
        ),
        nothing="no report was frozen yet: that is done with check-ins and at the end of phases",
        show=lambda one: [
            one["number"], one["at"][:16].replace("T", " "), one["with"], one["by"]
        ],
    )  # fmt: skip


def _show(found: Findings) -> None:
    """The short version, for the eye."""
    from calibrant.report.outline import parts, under_title

    screen = console()
    screen.print(_text(found.about.title, "bold"))
    screen.print(_text(under_title(found), "dim"))
    for part in parts(found, short=True):
        for piece in part.pieces:
            screen.print()
            for line in _lines(piece):
                screen.print(line)


def _lines(piece: Piece) -> Iterator[Text]:
    from calibrant.report.pieces import Note, Paragraph, Points, Tiles

    match piece:
        case Paragraph(text, _):
            yield _text(text)
        case Note(text):
            yield _text(text, "dim")
        case Points(entries):
            for lead, text in entries:
                yield _text(f"{lead} ", "bold").append(_text(text, "not bold"))
        case Tiles(entries):
            colours = {"good": "green", "bad": "red", "open": "yellow", "plain": ""}
            for one in entries:
                value = _text(f"{one.value:>9}  ", f"bold {colours[one.tone]}".strip())
                yield value.append(_text(one.label, "not bold"))


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(visible(text), style=style)
