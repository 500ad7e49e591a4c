"""Settling disagreements: the queue, decisions, and a walk through all of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.item_view import Line, draw, item_lines
from calibrant.cli.rating_form import Stop, asked
from calibrant.cli.study_call import cell, count, listed, names_of, study_command, told
from calibrant.cli.terminal import visible

if TYPE_CHECKING:
    from calibrant.study.adjudicate import Case
    from calibrant.study.flags import Flag
    from calibrant.study.handle import Study

ERRORS = ("misread_item", "misread_rubric", "missed_evidence", "outside_knowledge", "slip",
          "ambiguous")  # fmt: skip
_LIMIT = click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True,
                      help="Cases of one sitting.")  # fmt: skip
EXCERPT = 12
"""Lines of an item that are shown with a case; the rest on request."""


@study_command
@_LIMIT
def queue(study: Study, limit: int, style: str) -> None:
    """Show what waits to be settled: safety first, then the widest gap. Names are masked.

    \b
    Example:
      calibrant study queue advice --limit 50
    """
    listed(
        style,
        ("item", "criterion", "why", "answers", "tried"),
        (asdict(one) for one in study.queue(limit=limit)),
        nothing="nothing waits to be settled",
        show=lambda one: [
            one["item"],
            one["criterion"] or f"flag {cell(one['flags'])}",
            cell(one["causes"]).replace("_", " "),
            cell(one["answers"]),
            cell(one["tried"]),
        ],
    )


@study_command
@click.argument("item")
@click.argument("criterion")
@click.option("--with", "people", required=True, metavar="A,B", help="Who talked.")
@click.option("--reason", required=True, help="Why they do not agree.")
def no_consensus(
    study: Study, item: str, criterion: str, people: str, reason: str, style: str
) -> None:
    """Record that the reviewers have talked and do not agree: now an adjudicator may decide.

    \b
    Example:
      calibrant study no-consensus advice plan-07 realism --with ann,bob --reason "travel time"
    """
    study.no_consensus(item, criterion, participants=names_of(people), reason=reason)
    told(
        style,
        f"no consensus on {item}, {criterion}: an adjudicator decides",
        study=study.name,
        item=item,
        criterion=criterion,
    )


@study_command
@click.argument("item")
@click.argument("criterion")
@click.argument("value")
@click.option("--how", type=click.Choice(["consensus", "adjudicated"]), required=True,
              help="What the reviewers came to, or a decision.")  # fmt: skip
@click.option("--reason", required=True, help="Why this answer.")
@click.option("--with", "people", metavar="A,B", help="Who came to the consensus.")
@click.option("--source", type=click.Choice(["adopted", "merged", "new"]), default="new",
              show_default=True, help="Somebody's answer, several merged, or new.")  # fmt: skip
@click.option("--error", type=click.Choice(ERRORS), help="What went wrong.")
@click.option("--unclear", is_flag=True, help="The rubric says too little here.")
def settle(
    study: Study,
    item: str,
    criterion: str,
    value: str,
    how: Any,
    reason: str,
    people: str | None,
    source: Any,
    error: Any,
    unclear: bool,
    style: str,
) -> None:
    """Give a disagreement its final answer; what raters answered stays as it is.

    \b
    Examples:
      calibrant study settle advice plan-07 realism 3 --how consensus --with ann,bob \\
        --reason "five hours do not hold the course"
      calibrant study settle advice plan-07 realism 2 --how adjudicated --reason "…" --unclear
    """
    study.settle(
        item,
        criterion,
        value,
        how=how,
        reason=reason,
        participants=names_of(people),
        source=source,
        error=error,
        unclear=unclear,
    )
    told(
        style,
        f"{item}, {criterion}: {value} ({how})",
        study=study.name,
        item=item,
        criterion=criterion,
        value=value,
        how=how,
    )


# -- the walk


@study_command
@_LIMIT
def adjudicate(study: Study, limit: int, style: str) -> None:
    """Go through the queue, case by case: read the item, see the masked answers, decide.

    \b
    Example:
      calibrant study adjudicate advice --as ada
    """
    del style  # a talk is text
    cases = study.queue(limit=limit)
    flags = {one.number: one for one in study.flags()}
    settled = 0
    try:
        for at, case in enumerate(cases, 1):
            head = f"━━ {at} of {len(cases)} · {case.item} "
            draw([Line(""), Line(head.ljust(78, "━"), 0, "bold")])
            _excerpt(study, case.item)
            if case.criterion is None:
                settled += _decide(study, [flags[number] for number in case.flags])
            else:
                settled += _settle(study, case)
    except (Stop, KeyboardInterrupt):
        click.echo("stopped", err=True)
    left = len(study.queue(limit=limit))
    more = f"{left} or more" if left == limit else str(left)
    click.echo(f"{count(settled, 'case')} settled, {more if left else 'none'} left")


def _excerpt(study: Study, item: str, *, whole: bool = False) -> None:
    from calibrant.core.errors import StudyError

    try:
        lines = list(item_lines(study.item(item)))
    except StudyError as error:  # redacted
        lines = [Line(str(error), 0, "dim")]
    draw(iter(lines if whole else lines[:EXCERPT]))
    if len(lines) > EXCERPT and not whole:
        draw([Line(f"… {len(lines) - EXCERPT} more lines: i", 0, "dim")])


def _try(work: Any) -> bool:
    """Whether it was done; a refusal is told, and nothing is lost."""
    from calibrant.core.errors import CalibrantError

    try:
        work()
    except CalibrantError as error:
        click.secho(visible(f"   {error}"), fg="red")
        return False
    return True


def _decide(study: Study, flags: list[Flag]) -> bool:
    flag = flags[0]
    words = flag.words
    quotes = " … ".join(f"“{one}”" for one in words.get("evidence", ())) or words.get("reason", "")
    told_of = (flag.flag or flag.what).replace("_", " ")
    draw([Line(f"flag {flag.number}: {told_of}: {quotes}", 0, "red")])
    while True:
        said = asked("c confirm · r reject · i item · s skip · q quit> ").lower()
        if said == "q":
            raise Stop
        if said == "s":
            return False
        if said == "i":
            _excerpt(study, flag.item, whole=True)
        elif said in ("c", "r"):
            reason = asked("   why?> ")
            if _try(lambda: study.decide_flag(flag.number, confirm=said == "c", reason=reason)):  # noqa: B023
                return True


def _settle(study: Study, case: Case) -> bool:
    criterion = study.rubric().criterion(case.criterion or "")
    draw([Line(f"{criterion.title}: {criterion.question}", 0, "bold")])
    for rater, answer in case.answers.items():
        draw([Line(f"{rater}: {answer}", 3)])
    why = ", ".join(case.causes).replace("_", " ")
    tried = "; the reviewers found no consensus" if case.tried else ""
    draw([Line(f"because of {why}{tried}", 0, "dim")])
    while True:
        said = asked("the final answer · n no consensus · i item · s skip · q quit> ")
        match said.lower():
            case "q":
                raise Stop
            case "s":
                return False
            case "i":
                _excerpt(study, case.item, whole=True)
            case "n":
                _try(lambda: _disagreed(study, case))
            case "":
                continue
            case _:
                if _try(lambda: _settled(study, case, said)):  # noqa: B023
                    return True


def _disagreed(study: Study, case: Case) -> None:
    people = names_of(asked("   who talked? names> "))
    reason = asked("   why do they not agree?> ")
    study.no_consensus(case.item, case.criterion or "", participants=people, reason=reason)
    click.echo("   noted: the answer is yours now")


def _settled(study: Study, case: Case, value: str) -> None:
    how = asked("   c consensus of the reviewers · a your decision> ").lower()
    people = names_of(asked("   who came to it? names> ")) if how == "c" else ()
    reason = asked("   why?> ")
    error = asked(f"   what went wrong? {', '.join(ERRORS)}; Enter for none> ")
    unclear = asked("   does the rubric say too little here? y/N> ").lower() in ("y", "yes")
    study.settle(
        case.item,
        case.criterion or "",
        value,
        how="consensus" if how == "c" else "adjudicated",
        reason=reason,
        participants=people,
        source="adopted" if value in case.answers.values() else "new",
        error=error or None,  # type: ignore[arg-type]
        unclear=unclear,
    )
