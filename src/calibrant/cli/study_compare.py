"""Comparing: agreement, disagreements and their discussion, judges that count."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from calibrant.cli.study_call import cell, listed, names_of, numbered, study_command, told
from calibrant.cli.terminal import show_json, wants_json

if TYPE_CHECKING:
    from calibrant.study.handle import Study

_WITH = click.option("--with", "people", required=True, metavar="A,B", help="Who took part.")


@study_command
@click.option("--round", "number", type=int, metavar="N", help="Of this round; else all main ones.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND",
              help="HUMAN (unless said), LLM, CODE; may be repeated.")  # fmt: skip
@click.option("--enforce", is_flag=True, help="Exit with 1 unless every target is met.")
def agree(
    study: Study, number: int | None, kinds: tuple[str, ...], enforce: bool, style: str
) -> None:
    """Tell how far raters agree, on what was there before anybody adjudicated.

    \b
    Examples:
      calibrant study agree advice --round 1
      calibrant study agree advice --kind HUMAN --kind LLM
    """
    found = study.agreement(round=number, kinds=[one.upper() for one in kinds] or ("HUMAN",))
    if wants_json(style):
        show_json(found.to_dict())
    else:
        from calibrant.cli.agree import show_report

        show_report(found)
    if enforce and not found.met:
        click.secho("not every target is met", err=True, fg="red")
        raise click.exceptions.Exit(1)


@study_command
@click.argument("number", type=int, required=False, metavar="[ROUND]")
@click.option("--open", "undiscussed", is_flag=True, help="Only those not discussed yet.")
def disputes(study: Study, number: int | None, undiscussed: bool, style: str) -> None:
    """Show the disagreements of a closed round, the widest first.

    \b
    Examples:
      calibrant study disputes advice 1
      calibrant study disputes advice 1 --open
    """
    found = study.disputes(numbered(study, number, "closed"))
    listed(
        style,
        ("item", "criterion", "answers", "discussed"),
        (asdict(one) for one in found if not (undiscussed and one.discussed)),
        nothing="no disagreements",
        show=lambda one: [
            one["item"],
            one["criterion"],
            cell(one["answers"]),
            "yes" if one["discussed"] else "not yet",
        ],
    )


@study_command
@click.argument("number", type=int, metavar="ROUND")
@click.argument("item")
@click.argument("criterion")
@click.option("--outcome", required=True, help="What it came to.")
@_WITH
@click.option("--unclear", is_flag=True, help="The rubric says too little here.")
def discuss(
    study: Study,
    number: int,
    item: str,
    criterion: str,
    outcome: str,
    people: str,
    unclear: bool,
    style: str,
) -> None:
    """Record what the discussion of a disagreement came to.

    \b
    Example:
      calibrant study discuss advice 1 plan-07 realism --with ann,bob \\
        --outcome "hours a week include travel" --unclear
    """
    study.discuss(
        number, item, criterion, outcome=outcome, participants=names_of(people), unclear=unclear
    )
    told(
        style,
        f"discussed: {item}, {criterion}",
        study=study.name,
        round=number,
        item=item,
        criterion=criterion,
    )


@study_command
@click.argument("criterion")
@click.argument("step_name", metavar="STEP", type=click.Choice(["discuss", "clarify", "retrain"]))
@click.option("--note", required=True, help="What was done.")
def step(study: Study, criterion: str, step_name: str, note: str, style: str) -> None:
    """Record a step of the loop for a criterion on which agreement is low.

    Steps are discuss, clarify and retrain, in the rubric's order; then comes a test round.

    \b
    Example:
      calibrant study step advice realism clarify --note "hours include travel: see version 1.1"
    """
    study.take_step(criterion, step_name, note=note)  # type: ignore[arg-type]
    told(
        style,
        f"{criterion}: {step_name} is done",
        study=study.name,
        criterion=criterion,
        step=step_name,
    )


@study_command
@click.argument("rater")
@click.option("--override", metavar="REASON", help="Let it count all the same, and say why.")
def admit(study: Study, rater: str, override: str | None, style: str) -> None:
    """Let a judge count: it meets the targets on the calibration items, or you say why.

    \b
    Examples:
      calibrant study admit advice judge-1
      calibrant study admit advice judge-1 --override "pilot, reported apart"
    """
    found = study.admit_judge(rater, override=override)
    low = f", below target on {', '.join(found.low)}" if found.low else ""
    told(
        style,
        f"{rater} counts from now on ({found.why}{low})",
        study=study.name,
        rater=rater,
        admitted=True,
        low=found.low,
        overridden=found.overridden,
    )


@study_command
@click.argument("rater")
@click.option("--reason", required=True, help="Why.")
def dismiss(study: Study, rater: str, reason: str, style: str) -> None:
    """A judge no longer counts; what it said stays readable.

    \b
    Example:
      calibrant study dismiss advice judge-1 --reason "its provider changed the model"
    """
    study.dismiss_judge(rater, reason=reason)
    told(style, f"{rater} no longer counts", study=study.name, rater=rater, admitted=False)
