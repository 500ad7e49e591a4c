"""``calibrant rubric``: write, check, read and compare rubrics."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.terminal import (
    console,
    output_option,
    show_json,
    table,
    wants_json,
    write_schema,
    write_text,
)

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric

SCHEMA_NAME = "calibrant-rubric.schema.json"


@click.group()
def rubric() -> None:
    """Write, check, read and compare rubrics.

    A RUBRIC is the name of a built-in one (see `calibrant rubric list`) or a YAML file.
    """


@rubric.command()
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), default="rubric.yaml")
@click.option("--like", metavar="NAME", help="Start from a built-in rubric.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def init(path: Path, like: str | None, force: bool) -> None:
    """Write a commented rubric to start from.

    The JSON Schema goes beside it, so that editors complete and check while you type.

    \b
    Examples:
      calibrant rubric init
      calibrant rubric init my-rubric.yaml --like smart-action-plan
    """
    from calibrant.core.errors import SourceError, UnknownName
    from calibrant.formats.rubric_file import builtin_names, rubric_schema

    if path.exists() and not force:
        raise SourceError(f"{path} is there already; --force replaces it")
    if like is None:
        text = resources.files("calibrant.formats").joinpath("starter.yaml").read_text("utf-8")
    elif like in builtin_names():
        text = resources.files("calibrant.rubrics").joinpath(f"{like}.yaml").read_text("utf-8")
        text = f"# yaml-language-server: $schema={SCHEMA_NAME}\n{text}"
    else:
        raise UnknownName("rubric", like, builtin_names())
    write_text(text, path)
    schema = path.with_name(SCHEMA_NAME)
    write_text(json.dumps(rubric_schema(), indent=1, ensure_ascii=False) + "\n", schema)
    click.echo(f"Next: edit {path}, then run `calibrant rubric validate {path}`.", err=True)


@rubric.command("list")
@output_option
def list_rubrics(style: str) -> None:
    """List the built-in rubrics."""
    from calibrant.formats.rubric_file import builtin_names, load_rubric

    rubrics = [load_rubric(name) for name in builtin_names()]
    if wants_json(style):
        show_json([_facts(one) for one in rubrics])
        return
    rows = [(r.id, r.version, r.item_type, len(r.criteria), r.title) for r in rubrics]
    console().print(table(("name", "version", "judges", "criteria", "title"), rows))


def _facts(one: Rubric) -> dict[str, object]:
    return {
        "id": one.id,
        "version": one.version,
        "hash": one.hash,
        "title": one.title,
        "item_type": one.item_type,
        "criteria": list(one.criterion_ids),
        "red_flags": [flag.id for flag in one.red_flags or ()],
    }


@rubric.command()
@click.argument("rubric_name", metavar="RUBRIC")
@output_option
def show(rubric_name: str, style: str) -> None:
    """Show a rubric: criteria, scales, weights, gates, pass mark.

    \b
    Examples:
      calibrant rubric show coaching-conversation
      calibrant rubric show my-rubric.yaml --format json
    """
    from calibrant.formats.rubric_file import load_rubric

    one = load_rubric(rubric_name)
    if wants_json(style):
        show_json({**one.model_dump(mode="json"), "hash": one.hash})
        return
    screen = console()
    screen.print(f"{one.title}  ({one.name})", style="bold")
    screen.print(one.summary)
    screen.print(f"{one.hash}", style="dim")
    weights = {category.id: category.weight for category in one.categories or ()}
    gated = {name for gate in one.gates or () for name in gate.criteria}
    rows = []
    for criterion in one.criteria:
        points = one.scale_of(criterion).points_of_scale
        answers = (
            f"{points[0]}–{points[-1]}"
            if isinstance(points[0], int)
            else "/".join(map(str, points))
        )
        weight = weights.get(criterion.category or "")
        place = "gate" if criterion.id in gated else str(weight) if weight is not None else ""
        rows.append(
            (
                criterion.id,
                criterion.title,
                criterion.category or "",
                place,
                answers,
                criterion.na.policy,
            )
        )
    screen.print(table(("id", "criterion", "category", "weight", "answers", "NA"), rows))
    if one.red_flags:
        flags = [(flag.id, flag.title, flag.effect.replace("_", " ")) for flag in one.red_flags]
        screen.print(table(("red flag", "", "effect"), flags))
    mark = one.aggregation.pass_mark
    screen.print(f"Pass mark: {f'{mark.op} {mark.value}' if mark else 'not stated'}")


@rubric.command()
@click.argument("files", nargs=-1, required=True, metavar="RUBRIC...")
@output_option
def validate(files: tuple[str, ...], style: str) -> None:
    """Check rubric files; all mistakes at once, with line, path and a suggestion.

    The exit status is 2 where any file has a mistake.

    \b
    Example:
      calibrant rubric validate my-rubric.yaml
    """
    from calibrant.core.errors import CalibrantError, Fault, RubricError
    from calibrant.core.structure import empty_categories
    from calibrant.formats.rubric_file import load_rubric

    results: list[dict[str, Any]] = []
    faults: list[Fault] = []
    for name in files:
        try:
            one = load_rubric(name)
            empty = empty_categories(one.categories or (), one.criteria)
            warned = [f"category {each!r} has no criteria and counts in full" for each in empty]
            results.append(
                {
                    "file": name,
                    "valid": True,
                    "rubric": one.name,
                    "hash": one.hash,
                    "warnings": warned,
                }
            )
        except RubricError as error:
            faults += error.faults
            told = [
                {"line": f.line, "path": f.path, "message": f.message, "hint": f.hint}
                for f in error.faults
            ]
            results.append({"file": name, "valid": False, "faults": told})
        except CalibrantError as error:
            faults.append(Fault(str(error), source=name))
            results.append({"file": name, "valid": False, "faults": [{"message": str(error)}]})
    if wants_json(style):
        show_json(results)
    else:
        for fault in faults:
            click.secho(str(fault), err=True, fg="red")
        for result in results:
            if result["valid"]:
                click.secho(f"{result['file']}: valid ({result['rubric']})", fg="green")
                for line in result["warnings"]:
                    click.secho(f"{result['file']}: warning: {line}", err=True, fg="yellow")
        if faults:
            click.echo(f"{len(faults)} mistake{'s' * (len(faults) > 1)} found.", err=True)
    if faults:
        raise click.exceptions.Exit(2)


@rubric.command()
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write it here.")
def schema(out: Path | None) -> None:
    """Print the JSON Schema of rubric files, for editors.

    \b
    Example:
      calibrant rubric schema -o calibrant-rubric.schema.json
    """
    from calibrant.formats.rubric_file import rubric_schema

    write_schema(rubric_schema(), out)


@rubric.command()
@click.argument("rubric_name", metavar="RUBRIC")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A .html or .md file; Markdown to standard output without it.",
)
def render(rubric_name: str, out: Path | None) -> None:
    """Write the reviewer's handbook, as Markdown or as one printable HTML page.

    \b
    Examples:
      calibrant rubric render ai-response -o handbook.html
      calibrant rubric render my-rubric.yaml | less
    """
    from calibrant.formats.rubric_file import load_rubric

    write_handbook(load_rubric(rubric_name), out)


def write_handbook(rubric: Rubric, out: Path | None) -> None:
    """The handbook of a rubric, in the form that the name of the file asks for."""
    from calibrant.core.errors import SourceError
    from calibrant.formats.handbook import handbook
    from calibrant.formats.handbook_pages import to_html, to_markdown

    suffix = out.suffix.lower() if out is not None else ".md"
    if suffix not in (".md", ".markdown", ".html", ".htm"):
        raise SourceError(f"{out}: a handbook is .html or .md")
    blocks = handbook(rubric)
    write_text(to_html(blocks) if suffix.startswith(".htm") else to_markdown(blocks), out)


@rubric.command()
@click.argument("old")
@click.argument("new")
@output_option
def diff(old: str, new: str, style: str) -> None:
    """Tell what changed in meaning between two versions of a rubric.

    Shows which stored answers stay valid and which criteria must be asked again. One version
    number with two different contents is an error.

    \b
    Example:
      calibrant rubric diff my-rubric-1.0.yaml my-rubric-1.1.yaml
    """
    from calibrant.core.diff import diff_rubrics
    from calibrant.formats.rubric_file import load_rubric

    found = diff_rubrics(load_rubric(old), load_rubric(new))
    if wants_json(style):
        show_json(found.to_dict())
        return
    screen = console()
    screen.print(f"{found.old} → {found.new}", style="bold")
    for note in found.notes:
        click.secho(f"note: {note}", err=True, fg="yellow")
    if not found.changes:
        screen.print("Nothing changed in meaning.")
    else:
        rows = [
            (one.section, one.subject, one.text, _clip(one.before), _clip(one.after))
            for one in found.changes
        ]
        screen.print(table(("about", "what", "change", "before", "after"), rows))
    names = {after: before for before, after in found.renamed}
    valid = [f"{name} (was {names[name]})" if name in names else name for name in found.valid]
    screen.print(f"Answers stay valid: {', '.join(valid) or 'none'}")
    screen.print(f"Must be asked again: {', '.join(found.ask_again) or 'none'}")
    if found.verdicts_change:
        screen.print("Verdicts may change on the same answers: score them again.")


def _clip(text: str | None, length: int = 60) -> str:
    plain = " ".join((text or "").split())
    return plain if len(plain) <= length else plain[: length - 1] + "…"
