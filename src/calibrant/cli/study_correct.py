"""One's own ratings: looking at them, and correcting them while the round is open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.item_view import Line, draw
from calibrant.cli.rating_form import Form, Stop
from calibrant.cli.study_call import listed, study_command, told
from calibrant.cli.study_rate import submissions, summed, tell
from calibrant.cli.terminal import progress

if TYPE_CHECKING:
    from calibrant.core.errors import Fault
    from calibrant.core.study import Rating
    from calibrant.study.collect import Submission, Taken
    from calibrant.study.handle import Study


@study_command
@click.argument("item", required=False)
@click.option("--round", "number", type=int, metavar="N", help="Of this round, where several are.")
@click.option("--occasion", type=int, metavar="N", help="Of this occasion, where it came again.")
@click.option("--reason", default="", help="Why; kept in the journal.")
@click.option("--file", "path", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="Correct by forms from a file instead: JSONL, one a line.")  # fmt: skip
def correct(
    study: Study,
    item: str | None,
    number: int | None,
    occasion: int | None,
    reason: str,
    path: Path | None,
    style: str,
) -> None:
    """Correct your rating of ITEM while its round is open; what you said before is kept too.

    The form opens with everything you have said: type the number of a criterion to change it,
    Enter to hand in. Nothing is changed unless you hand in. With --file each line is a whole form,
    as for `rate --file`; forms with faults are named, and the exit status is then 2.

    \b
    Examples:
      calibrant study correct advice plan-07 --as ann --reason "read the wrong week"
      calibrant study correct advice --file answers.jsonl --as ann
    """
    if (item is None) == (path is None):
        raise click.UsageError("name the ITEM, or --file")
    if path is not None:
        _from_file(study, path, reason, style)
        return
    assert item is not None
    taken = study.take_up(_meant(study, item, number, occasion).key)
    try:
        made = _in_a_form(study, taken, reason)
    except (Stop, KeyboardInterrupt):
        made = None
    if made is None:
        told("text", f"the rating of {item} is as it was")
        return
    told("text", f"{item} is corrected: revision {made.revision}")


def _meant(study: Study, item: str, number: int | None, occasion: int | None) -> Rating:
    """The one rating that can be meant; else it is told what there is."""
    opened = {one.number for one in study.rounds() if one.state == "open"}
    found = [
        one
        for one in study.my_ratings(round=number)
        if one.key.item == item and one.key.round in opened and occasion in (None, one.key.occasion)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise click.UsageError(f"you have no rating of {item!r} in an open round: see `ratings`")
    places = "; ".join(f"--round {one.key.round} --occasion {one.key.occasion}" for one in found)
    raise click.UsageError(f"say which: {places}")


def _in_a_form(study: Study, taken: Taken, reason: str) -> Rating | None:
    """Let the rater change what they said; None where they did not hand it in."""
    from calibrant.core.errors import RecordError
    from calibrant.study.collect import Submission

    def ask_lead(text: str, criterion: str) -> None:
        study.ask(text, item=taken.item.id, criterion=criterion or None)

    key, started = taken.key, study.now()
    head = f"━━ {key.item} · round {key.round} · revision {taken.revision} "
    draw([Line(""), Line(head.ljust(78, "━"), 0, "bold")])
    form = Form(taken.item, taken.rubric, taken.form, save=lambda changed: None, ask_lead=ask_lead)
    form.show()
    while form.fill() == "hand_in":
        act = f"{key.round}/{key.item}/{study.actor}/{key.occasion}/{taken.revision + 1}"
        handed = Submission(key=key, form=form.form, request=act, started_at=started)
        try:
            return study.correct(handed, revision=taken.revision, reason=reason)
        except RecordError as error:
            tell(error.faults)
    return None


def _from_file(study: Study, path: Path, reason: str, style: str) -> None:
    from calibrant.core.errors import Fault, RecordError, StudyError

    faults: list[Fault] = []
    done = 0
    with progress("correcting", "ratings") as bar:
        latest = {one.key: one.revision for one in study.my_ratings()}
        for number, one in submissions(study, path, faults):
            try:
                _correct(study, one, latest.get(one.key, 1), reason)
            except RecordError as error:
                faults += [
                    Fault(each.message, each.path, str(path), record=number, hint=each.hint)
                    for each in error.faults
                ]
            except StudyError as error:
                faults.append(Fault(str(error), "", str(path), record=number))
            else:
                done += 1
                bar(done, None, done)
    summed(style, study, faults, corrected=done)


def _correct(study: Study, one: Submission, revision: int, reason: str) -> None:
    """Correct the latest revision; one that came from the same form already is left alone."""
    from dataclasses import replace

    from calibrant.core.errors import Stale

    def by(before: int) -> None:
        study.correct(
            replace(one, request=f"{one.request}/{before}"), revision=before, reason=reason
        )

    if revision > 1:
        try:
            by(revision - 1)
            return
        except Stale:
            pass
    by(revision)


@study_command
@click.option("--round", "number", type=int, metavar="N", help="Only this round.")
def ratings(study: Study, number: int | None, style: str) -> None:
    """Show what you have handed in so far, the latest revision of each rating.

    A rating of an item that you will be asked about once more is not shown till then.

    \b
    Examples:
      calibrant study ratings advice --as ann
      calibrant study ratings advice --as ann --round 2 --format json
    """
    listed(
        style,
        ("round", "item", "revision", "handed in", "answers"),
        map(_rating, study.my_ratings(round=number)),
        nothing="no ratings yet",
        show=lambda one: [
            one["round"],
            one["item"],
            one["revision"],
            one["submitted_at"][:16].replace("T", " "),
            ", ".join(f"{name} {answer}" for name, answer in one["answers"].items()),
        ],
    )


def _rating(one: Rating) -> dict[str, Any]:
    return {
        "round": one.key.round,
        "item": one.key.item,
        "occasion": one.key.occasion,
        "revision": one.revision,
        "submitted_at": one.submitted_at,
        "answers": dict(one.answers),
        "flags": list(one.facts.get("flags", ())),
        "words": dict(one.words or {}),
    }
