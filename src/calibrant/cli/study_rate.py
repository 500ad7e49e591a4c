"""Rating in the terminal, or from a file of forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.item_view import Line, draw
from calibrant.cli.rating_form import Form, Stop
from calibrant.cli.study_call import confirm, count, study_command, told, yes_option
from calibrant.cli.terminal import progress, visible

if TYPE_CHECKING:
    from calibrant.core.errors import Fault
    from calibrant.core.study import Key
    from calibrant.study.claim import Task
    from calibrant.study.collect import Submission
    from calibrant.study.handle import Study

PART = 200
"""Forms of a file that are handed in together."""


@study_command
@click.option("--handbook", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the handbook of this version here first: .html or .md.")  # fmt: skip
@yes_option
def acknowledge(study: Study, handbook: Path | None, yes: bool, style: str) -> None:
    """Say that you have read the rubric: before the first rating, and after each new version.

    \b
    Examples:
      calibrant study acknowledge advice --as ann --handbook handbook.html
      calibrant study acknowledge advice --as ann --yes
    """
    rubric = study.rubric()
    if handbook is not None:
        from calibrant.cli.rubric import write_handbook

        write_handbook(rubric, handbook)
    else:
        click.echo(
            visible(
                f"{rubric.name}: {rubric.title}\n"
                "read it with --handbook FILE, or: calibrant rubric render RUBRIC -o FILE"
            ),
            err=True,
        )
    confirm(f"{study.actor}: have you read {rubric.name}?", yes)
    name = study.acknowledge()
    told(
        style,
        f"{study.actor} has read {name}",
        study=study.name,
        member=study.actor,
        rubric=name,
    )


@study_command
@click.option("--file", "path", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="Hand in forms from a file instead: JSONL, one a line.")  # fmt: skip
def rate(study: Study, path: Path | None, style: str) -> None:
    """Rate your items, one after the other, in a form.

    Each criterion is asked with its anchors. Type a value, or y, n and a for YES, NO and NA; ?
    tells everything else: notes, borderline marks, red flags, questions to the lead, back, later.
    Every answer is kept at once, so you can stop at any time and go on later.

    With --file, each line is a form: {"item": …, "answers": {…}, "notes": {…}, "flags": […]}, with
    "round" where several are open and "occasion" for a repeat. Forms with faults are named, the
    others are handed in; the exit status is then 2.

    \b
    Examples:
      calibrant study rate advice --as ann
      calibrant study rate advice --as ann --file answers.jsonl
    """
    if path is not None:
        _from_file(study, path, style)
        return
    sitting = re.sub("[^0-9TZ]", "", study.now())
    done, set_aside = 0, set[Any]()
    try:
        while (task := _next(study, set_aside)) is not None:
            handed = _one(study, task, {"id": sitting, "position": done + 1})
            done += handed
            if not handed:
                set_aside.add(task.key)
    except (Stop, KeyboardInterrupt):
        click.echo("stopped: what you have said is kept", err=True)
    left = sum(one.open for one in study.duties())
    told(
        "text",
        f"{count(done, 'rating')} handed in, {left:,} to go"
        + (f"; {len(set_aside)} set aside for later" if set_aside else ""),
    )


def _next(study: Study, set_aside: set[Key]) -> Task | None:
    """The next assignment that was not set aside in this sitting."""
    tasks = study.claim(token=_token(study), limit=len(set_aside) + 1)
    return next((one for one in tasks if one.key not in set_aside), None)


def _token(study: Study) -> str:
    """One for all terminals of a person: whoever was cut off goes on where they were."""
    return f"terminal of {study.actor}"[:100]


def _one(study: Study, task: Task, sitting: dict[str, Any]) -> bool:
    """Fill in one form and hand it in; False where it was set aside. Ends by raising ``Stop``."""
    from calibrant.core.errors import RecordError, Stale
    from calibrant.study.collect import Submission

    version, started = task.version, study.now()

    def save(form: dict[str, Any]) -> None:
        nonlocal version
        version = study.save_draft(task.key, form, version=version, token=task.lease)

    def ask_lead(text: str, criterion: str) -> None:
        study.ask(text, item=task.item.id, criterion=criterion or None)

    duty = next(one for one in study.duties() if one.round == task.key.round)
    place = f"{duty.done + 1} of {duty.done + duty.open}"
    head = f"━━ {task.item.id} · round {task.key.round} ({duty.kind}) · {place} "
    draw([Line(""), Line(head.ljust(78, "━"), 0, "bold")])
    form = Form(task.item, task.rubric, task.draft, save=save, ask_lead=ask_lead)
    form.show()
    while True:
        end = form.fill()
        if end == "quit":
            raise Stop
        if end == "later":
            return False
        try:
            study.submit(
                Submission(
                    key=task.key,
                    form={**form.form, "sitting": sitting},
                    request=f"{task.key.round}/{task.key.item}/{study.actor}/{task.key.occasion}/1",
                    version=version,
                    lease=task.lease,
                    started_at=started,
                )
            )
        except RecordError as error:
            tell(error.faults)
        except Stale as error:
            click.secho(visible(str(error)), fg="red")
            return False
        else:
            click.secho(f"{task.item.id} is in.", fg="green")
            return True


def tell(faults: tuple[Fault, ...]) -> None:
    """What keeps a form from being handed in."""
    click.secho(f"Not handed in yet, {count(len(faults), 'thing')} to mend:", fg="red")
    for fault in faults:
        hint = f" ({fault.hint})" if fault.hint else ""
        click.secho(visible(f"  {fault.path}: {fault.message}{hint}"), fg="red")


# -- from a file


def _from_file(study: Study, path: Path, style: str) -> None:
    faults: list[Fault] = []
    handed = 0
    with progress("handing in", "ratings") as bar:
        part: list[tuple[int, Submission]] = []
        for number, one in submissions(study, path, faults):
            part.append((number, one))
            if len(part) == PART:
                handed += _hand_in(study, path, part, faults)
                bar(handed, None, handed)
                part = []
        handed += _hand_in(study, path, part, faults)
    summed(style, study, faults, handed_in=handed)


def summed(style: str, study: Study, faults: list[Fault], **done: int) -> None:
    """What became of a file of forms: how many went through, and every fault of the others."""
    for fault in faults:
        click.secho(str(fault), err=True, fg="red")
    bad = len({fault.record for fault in faults})
    ((how, many),) = done.items()
    told(
        style,
        f"{count(many, 'rating')} {how.replace('_', ' ')}"
        + (f", {count(bad, 'form')} not" if bad else ""),
        study=study.name,
        **done,
        bad=bad,
    )
    if faults:
        raise click.exceptions.Exit(2)


def submissions(study: Study, path: Path, faults: list[Fault]) -> Iterator[tuple[int, Submission]]:
    """Forms of a file with their numbers; what is no form goes to the faults."""
    from calibrant.core.errors import Fault
    from calibrant.core.ids import content_hash, read_name
    from calibrant.core.study import Key
    from calibrant.formats.records import read_records
    from calibrant.study.collect import Submission

    opened = [one.number for one in study.rounds() if one.state == "open"]
    for record in read_records(path, None).stream:
        if record.fault is not None:
            faults.append(record.fault)
            continue
        form = dict(record.value) if isinstance(record.value, dict) else {}
        item = read_name(form.pop("item", form.pop("id", "")))
        round = form.pop("round", opened[0] if len(opened) == 1 else None)
        occasion = form.pop("occasion", 1)
        wrong = (
            "names no item" if not item
            else "no round is open" if not opened
            else f"rounds {opened} are open: say which" if round is None
            else "round and occasion are whole numbers" if {type(round), type(occasion)} != {int}
            else ""
        )  # fmt: skip
        if wrong:
            faults.append(Fault(wrong, "", str(path), record=record.number))
            continue
        key = Key(round=round, item=item, rater=study.actor, occasion=occasion)
        act = content_hash([round, item, study.actor, occasion, form]).partition(":")[2][:32]
        yield record.number, Submission(key=key, form=form, request=f"file/{act}")


def _hand_in(
    study: Study, path: Path, part: list[tuple[int, Submission]], faults: list[Fault]
) -> int:
    """How many were taken; one that the study refuses does not hold up the others."""
    from calibrant.core.errors import Fault, RecordError, StudyError

    if not part:
        return 0
    try:
        outcomes: list[Any] = list(study.submit_many([one for _, one in part]))
    except StudyError as error:
        if len(part) == 1:
            faults.append(Fault(str(error), "", str(path), record=part[0][0]))
            return 0
        return sum(_hand_in(study, path, [one], faults) for one in part)
    taken = 0
    for (number, _), outcome in zip(part, outcomes, strict=True):
        if isinstance(outcome, RecordError):
            faults += [
                Fault(one.message, one.path, str(path), record=number, hint=one.hint)
                for one in outcome.faults
            ]
        else:
            taken += 1
    return taken
