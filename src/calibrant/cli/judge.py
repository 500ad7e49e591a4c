"""``calibrant judge``: items to a language model by a rubric, ratings back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.study_call import db_option
from calibrant.cli.terminal import output_option

if TYPE_CHECKING:
    from calibrant.judging.asking import Asking

WAYS = click.Choice(["criterion", "category", "rubric"])
POLICIES = click.Choice(["majority", "strictest", "median", "median_ties_lower"])
PEOPLE = "people"


def _server_options(command: Any) -> Any:
    """Who is asked, and where."""
    for option in reversed((
        click.option("--model", "models", multiple=True, metavar="NAME[@URL]",
                     help="A model of the server; repeatable: a panel."),
        click.option("--local", "files", multiple=True, metavar="MODEL.gguf",
                     type=click.Path(path_type=Path, dir_okay=False),
                     help="A model in this process, offline; repeatable."),
        click.option("--base-url", metavar="URL",
                     help="An OpenAI-compatible server; also CALIBRANT_BASE_URL."),
        click.option("-j", "--concurrency", default=16, show_default=True, metavar="N",
                     type=click.IntRange(1, 10_000), help="Calls at a time, at most."),
        click.option("--attempts", default=5, show_default=True, type=click.IntRange(1, 100),
                     help="Times to ask before a call counts as lost."),
        click.option("--timeout", default=120.0, show_default=True, metavar="SECONDS",
                     type=click.FloatRange(0.1, 86_400), help="How long to wait for a reply."),
    )):  # fmt: skip
        command = option(command)
    return command


def _asking_options(command: Any) -> Any:
    """How it is asked."""
    for option in reversed((
        click.option("--way", type=WAYS, default="criterion", show_default=True,
                     help="What one call asks about; all of the rubric is cheapest."),
        click.option("--samples", default=1, show_default=True, type=click.IntRange(1, 100),
                     help="Times each model judges each item."),
        click.option("--temperature", type=click.FloatRange(0, 2),
                     help="0 for one sample, 0.7 for several, unless said."),
        click.option("--max-tokens", default=1024, show_default=True,
                     type=click.IntRange(16, 1_000_000), help="Of a reply, for each criterion."),
        click.option("--probabilities/--no-probabilities", default=True, show_default=True,
                     help="Ask for log-probabilities, and keep P(answer)."),
    )):  # fmt: skip
        command = option(command)
    return command


def _outcome_options(command: Any) -> Any:
    """What comes of it."""
    for option in reversed((
        click.option("--policy", type=POLICIES,
                     help="How a panel becomes one answer, where the rubric does not say."),
        click.option("--escalate-to", metavar="NAME[@URL]|MODEL.gguf|people",
                     help="Who judges doubtful items again."),
        click.option("--near", default=0.05, show_default=True, type=click.FloatRange(0, 1),
                     help="Doubtful: so close to the pass mark."),
        click.option("--unsure", default=0.2, show_default=True, type=click.FloatRange(0, 1),
                     help="Doubtful: the likeliest answer leads by less."),
        click.option("--price", "prices", multiple=True, metavar="NAME=IN/OUT[/CACHED]",
                     help="Of a million tokens; repeatable."),
        click.option("--calls", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                     help="Where calls are kept; OUT.calls unless said."),
        click.option("--replay", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                     help="Judge from calls that were kept; nothing is sent."),
    )):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("items", required=False, type=click.Path(path_type=Path))
@click.option("-r", "--rubric", "rubric_name", metavar="RUBRIC",
              help="A built-in rubric or a YAML file.")  # fmt: skip
@_server_options
@_asking_options
@_outcome_options
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
              help="Write ratings here: .jsonl.")  # fmt: skip
@click.option("--study", "study_name", metavar="NAME",
              help="Do the judge's assignments in a study instead.")  # fmt: skip
@db_option
@click.option(
    "--dry-run", is_flag=True, help="Show a prompt, calls, tokens and cost; send nothing."
)
@click.option("--probe", is_flag=True, help="Measure how a model resists instructions in items.")
@click.option("--skip-bad", is_flag=True, help="Leave bad records out instead of stopping.")
@click.option("--encoding", metavar="NAME", help="The file's encoding, where it cannot be told.")
@output_option
def judge(
    items: Path | None,
    rubric_name: str | None,
    out: Path | None,
    study_name: str | None,
    place: str,
    dry_run: bool,
    probe: bool,
    skip_bad: bool,
    encoding: str | None,
    style: str,
    **named: Any,
) -> None:
    """Let language models judge ITEMS by a rubric, and keep everything they said.

    Any OpenAI-compatible server will do, and `--local` needs none. The key comes from
    CALIBRANT_API_KEY or from `.env`, never from the command line. Ctrl-C stops after the calls
    under way; the same command goes on, and pays for nothing that was answered.

    An answer is on the scale, NA, or an error with its reason. A server that fails makes a rating
    incomplete; it never says anything about the item, and asking again asks only for what is
    missing.

    Exit status: 0; 1 when answers are missing; 2 when records or options are wrong; 130 when
    stopped.

    \b
    Examples:
      calibrant judge chats.jsonl -r coaching-conversation --local model.gguf -o ratings.jsonl
      calibrant judge chats.jsonl -r coaching-conversation --model gpt-x --dry-run
      calibrant judge plans.csv -r smart-action-plan --model a --model b --samples 3
      calibrant judge chats.jsonl -r coaching-conversation --model small --escalate-to large
      calibrant judge --study advice --model gpt-x
      calibrant judge --probe -r ai-response --local model.gguf
      calibrant judge plans.csv -r smart-action-plan --model a --replay ratings.jsonl.calls
    """
    from calibrant.cli import judge_runs

    asking = _asking(named)
    if study_name is not None:
        _without("--study", ITEMS=items, **{"-r": rubric_name, "-o": out, "--probe": probe})
        judge_runs.in_study(asking, place, study_name, dry_run=dry_run, style=style)
        return
    if rubric_name is None:
        raise click.UsageError("name a rubric with -r, or a study with --study")
    if probe:
        _without("--probe", ITEMS=items, **{"-o": out})
        judge_runs.probe(asking, rubric_name, dry_run=dry_run, style=style)
        return
    if items is None:
        raise click.UsageError("name a file of ITEMS, or use --study or --probe")
    source = judge_runs.Source(items, rubric_name, encoding, skip_bad)
    judge_runs.over_file(asking, source, out, dry_run=dry_run, style=style)


def _without(option: str, **others: Any) -> None:
    """Options that say something else; raises a usage error."""
    given = [name for name, value in others.items() if value]
    if given:
        raise click.UsageError(f"{option} goes without {', '.join(given)}")


def _asking(named: dict[str, Any]) -> Asking:
    from calibrant.judging.asking import Asking

    models: Sequence[str] = named.pop("models")
    files: Sequence[Path] = named.pop("files")
    if not models and not files:
        raise click.UsageError("name a model with --model, or a file with --local")
    return Asking(models=tuple(models), files=tuple(files), **named)
