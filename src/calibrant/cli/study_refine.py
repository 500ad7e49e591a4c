"""Going on: the next rubric version, phases, check-ins, lessons."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.study_call import (
    count,
    listed,
    names_of,
    study_command,
    told,
)
from calibrant.cli.terminal import console, show_json, table, wants_json

if TYPE_CHECKING:
    from calibrant.core.phases import PhaseView
    from calibrant.core.rubric import Rubric
    from calibrant.study.handle import Study

CAUSES = ("disagreement_pattern", "edge_case", "rater_feedback", "goal_change")
SHOWN = 30
_OVERRIDE = click.option("--override", metavar="REASON", help="Move on all the same: say why.")


@study_command
def troubles(study: Study, style: str) -> None:
    """Show what each criterion has given rise to, the worst first: reasons to write it anew.

    \b
    Example:
      calibrant study troubles advice
    """
    header = ("criterion", "disagreements", "unclear", "questions", "edge cases")
    listed(style, header, (asdict(one) for one in study.troubles()), nothing="none")


@study_command
@click.argument("rubric_file", metavar="RUBRIC")
@click.option("--cause", type=click.Choice(CAUSES), help="What it comes from.")
@click.option("--text", default="", help="What changes and why, in a sentence.")
@click.option("--dry-run", is_flag=True, help="Show what would change, adopt nothing.")
def refine(
    study: Study, rubric_file: str, cause: Any, text: str, dry_run: bool, style: str
) -> None:
    """Put the next version of the rubric in force, with its cause.

    Stored answers are replayed under it first: verdicts that flip, and criteria that must be
    asked again. Rounds made before keep their version.

    \b
    Examples:
      calibrant study refine advice rubric-1.1.yaml --dry-run
      calibrant study refine advice rubric-1.1.yaml --cause edge_case --text "hours include travel"
    """
    from calibrant.formats.rubric_file import load_rubric

    rubric = load_rubric(rubric_file)
    if not dry_run and cause is None:
        raise click.UsageError(f"say --cause: {', '.join(CAUSES)}")
    _replay(study, rubric, style, adopted=not dry_run)
    if not dry_run:
        study.refine(rubric, cause=cause, text=text)
        if not wants_json(style):
            click.echo(f"{rubric.name} is in force; raters acknowledge it before they go on")


def _replay(study: Study, rubric: Rubric, style: str, *, adopted: bool) -> None:
    found = study.replay(rubric)
    flips = found.flips.to_dicts()
    if wants_json(style):
        show_json({**found.diff.to_dict(), "flips": flips, "adopted": adopted, "study": study.name})
        return
    screen = console()
    screen.print(f"{found.diff.old} → {found.diff.new}", style="bold")
    for change in found.diff.changes:
        screen.print(f"  {change.section} {change.subject}: {change.text}")
    again = ", ".join(found.ask_again)
    screen.print(f"to be asked again: {again}" if again else "all stored answers stay valid")
    if flips:
        rows = [(one["item"], one["before"], one["after"]) for one in flips[:SHOWN]]
        screen.print(table(("item", "before", "after"), rows, "Verdicts that flip"))
    screen.print(f"{count(len(flips), 'verdict')} would change" if flips else "no verdict changes")


@study_command
def versions(study: Study, style: str) -> None:
    """Show every version of the rubric that the study has used, and why it came.

    \b
    Example:
      calibrant study versions advice
    """
    rows = [
        {"rubric": one.rubric.name, "since": one.at[:16].replace("T", " "), "cause": one.cause,
         "why": one.why, "hash": one.rubric.hash}
        for one in study.versions()
    ]  # fmt: skip
    listed(
        style,
        ("rubric", "in force since", "cause", "why"),
        rows,
        nothing="none",
        show=lambda one: [one["rubric"], one["since"], one["cause"].replace("_", " "), one["why"]],
    )


@study_command
@click.option("--reason", required=True, help="Why it stays.")
def keep_guidelines(study: Study, reason: str, style: str) -> None:
    """Say that after the discussion the rubric stays as it is.

    \b
    Example:
      calibrant study keep-guidelines advice --reason "the anchors held; the slips were ours"
    """
    study.keep_guidelines(reason=reason)
    told(style, "the rubric stays as it is", study=study.name, kept=True)


@study_command
def finalise(study: Study, style: str) -> None:
    """Say that the version in force is the final one.

    \b
    Example:
      calibrant study finalise advice
    """
    name = study.finalise_rubric()
    told(style, f"{name} is final", study=study.name, rubric=name)


# -- phases


@study_command
def phases(study: Study, style: str) -> None:
    """Show the phases of the rubric's plan, what they wait for, and what is late.

    \b
    Example:
      calibrant study phases advice
    """
    found = study.phases()
    if wants_json(style):
        show_json([_phase(one) for one in found])
        return
    if not found:
        click.echo(f"{study.rubric().name} plans no phases")
        return
    screen = console()
    for one in found:
        days = f"{one.first_day} to {one.last_day}"
        screen.print(f"{one.title} ({one.id})  {one.state}  {days}", style="bold")
        for what, views in (("to begin", one.entry), ("to end", one.exit)):
            for view in views:
                sign, colour = ("✓", "green") if view.met else ("·", "")
                screen.print(f"  {sign} {what}: {view.text}", style=colour)
        for warning in one.warnings:
            screen.print(f"  ! {warning}", style="yellow")


def _phase(one: PhaseView) -> dict[str, Any]:
    conditions = {
        name: [{"met": view.met, "text": view.text} for view in views]
        for name, views in (("entry", one.entry), ("exit", one.exit))
    }
    return {
        "phase": one.id,
        "title": one.title,
        "state": one.state,
        "first_day": one.first_day.isoformat(),
        "last_day": one.last_day.isoformat(),
        **conditions,
        "warnings": list(one.warnings),
    }


@study_command
@click.argument("phase")
@_OVERRIDE
def start_phase(study: Study, phase: str, override: str | None, style: str) -> None:
    """Begin a phase once what it asks for is there.

    \b
    Examples:
      calibrant study start-phase answers initial_annotation
      calibrant study start-phase answers main_annotation --override "two raters are ill"
    """
    study.start_phase(phase, override=override)
    told(style, f"phase {phase} is open", study=study.name, phase=phase, state="open")


@study_command
@click.argument("phase")
@_OVERRIDE
def finish_phase(study: Study, phase: str, override: str | None, style: str) -> None:
    """End a phase once its conditions hold; the report as it is now is frozen with it.

    \b
    Example:
      calibrant study finish-phase answers initial_annotation
    """
    number = study.finish_phase(phase, override=override)
    report, said = _frozen(study, number)
    told(
        style,
        f"phase {phase} is done; {said}",
        study=study.name,
        phase=phase,
        state="done",
        **report,
    )


def _frozen(study: Study, number: int) -> tuple[dict[str, Any], str]:
    """Freeze the report with what just happened: what became of that, for programs and people."""
    from calibrant.cli.agree import steps_told
    from calibrant.compose import freeze_report
    from calibrant.report.asking import Missing
    from calibrant.report.frozen import said

    with steps_told() as say:
        outcome = freeze_report(study, number, say)
    if isinstance(outcome, Missing):
        return {"report": None, "no_report": outcome.why}, said(outcome)
    shown = f"calibrant report {shlex.quote(study.name)} --frozen {number} shows it"
    return {"report": number}, f"{said(outcome)} ({shown})"


# -- check-ins and lessons


@study_command
@click.option("--with", "people", required=True, metavar="A,B", help="Who came.")
@click.option("--decisions", required=True, help="What was decided.")
@click.option("--actions", default="", help="What is to be done.")
def check_in(study: Study, people: str, decisions: str, actions: str, style: str) -> None:
    """Record a check-in; how agreement stands and the whole report are kept with it.

    \b
    Example:
      calibrant study check-in advice --with ann,bob --decisions "hours include travel"
    """
    made = study.check_in(attendees=names_of(people), decisions=decisions, actions=actions)
    report, said = _frozen(study, made.number)
    told(
        style,
        f"check-in {made.number} with {', '.join(made.attendees)}; {said}",
        study=study.name,
        check_in=made.number,
        attendees=made.attendees,
        **report,
    )


@study_command
def check_ins(study: Study, style: str) -> None:
    """Show all check-ins: who came, what was decided, and what was to be done.

    JSON has how agreement stood as well, as far as you may see those rounds.

    \b
    Example:
      calibrant study check-ins advice
    """
    listed(
        style,
        ("", "at", "with", "decisions", "actions"),
        (asdict(one) for one in study.check_ins()),
        nothing="no check-ins yet",
        show=lambda one: [
            one["number"],
            one["at"][:16].replace("T", " "),
            ", ".join(one["attendees"]),
            one["decisions"],
            one["actions"],
        ],
    )


@study_command
@click.argument("text")
def lesson(study: Study, text: str, style: str) -> None:
    """Write down something that was learned.

    \b
    Example:
      calibrant study lesson advice "ten items were too few for inclusivity"
    """
    study.add_lesson(text)
    told(style, "written down", study=study.name, lesson=text)


@study_command
def lessons(study: Study, style: str) -> None:
    """Show what was learned, in the order of writing down.

    \b
    Example:
      calibrant study lessons advice
    """
    rows = ({"number": at, "lesson": text} for at, text in enumerate(study.lessons(), 1))
    listed(style, ("", "lesson"), rows, nothing="no lessons yet")
