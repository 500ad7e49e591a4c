"""Rounds: planned with the workload shown first, opened, extended, closed, dropped."""

from __future__ import annotations

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.core.errors import StudyError
from calibrant.core.plan import overlap_plan
from calibrant.core.study import COUNTING, Round
from calibrant.ports.store import Reading
from calibrant.study.rounds import TOGETHER, USUAL_SAMPLE, Planned
from calibrant.study.sight import raters_of
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.form_fields import sentence, text_of
from calibrant.web.plan_form import KINDS, PlanForm, next_kind, plan_words, way_words
from calibrant.web.render import page, redirect
from calibrant.web.setup import steps_of

routes = Routes()
LEAD = member("lead")


@routes.get("/s/{study}/rounds", access=LEAD)
def rounds(request: Request, seat: Seat) -> Response:
    """All rounds, with how far each is and what can be done with it."""
    study = seat.study
    versions = {one.rubric.hash: one.rubric.version for one in study.versions()}
    far = {one.number: one for one in study.progress()}
    dropped = _dropped(seat)
    rows = [
        {
            "round": one,
            "far": far[one.number],
            "version": versions.get(one.rubric, ""),
            "plan": plan_words(one),
            "dropped": one.number in dropped,
            "missing": study.blockers(one.number) if one.state == "planned" else [],
        }
        for one in reversed(study.rounds())
    ]
    return page(
        request,
        "rounds.html",
        seat=seat,
        rows=rows,
        kinds=KINDS,
        waiting=without_round(seat),
        steps=steps_of(seat),
    )


def _dropped(seat: Seat) -> set[int]:
    """Rounds that were given up before they opened."""
    return {one.number for one in seat.study.rounds() if one.closed_at and not one.opened_at}


def without_round(seat: Seat) -> int:
    """Items that no main round has, and that one could take."""
    number = seat.study.number

    def work(tx: Reading) -> int:
        counting = [one.number for one in tx.rounds(number) if one.kind in COUNTING]
        return tx.count_unplaced(number, counting)

    return seat.study.store.read(work)


# -- planning


@routes.get("/s/{study}/rounds/plan", access=LEAD)
def plan_first(request: Request, seat: Seat) -> Response:
    """The form of a new round, filled in as the rubric would have it."""
    rubric = seat.study.rubric()
    asked = request.query_params.get("kind", "")
    kind = asked if asked in KINDS else next_kind(rubric, seat.study.rounds())
    return _planning(request, seat, PlanForm.usual(rubric, kind))


def _planning(
    request: Request,
    seat: Seat,
    form: PlanForm,
    wrong: str = "",
    *,
    preview: Planned | None = None,
    is_other: bool = False,
) -> Response:
    rubric = seat.study.rubric()
    panel = raters_of(seat.study.members())
    usual = overlap_plan(rubric)
    asked = rubric.calibration.items if rubric.calibration is not None else None
    return page(
        request,
        "rounds_plan.html",
        seat=seat,
        status=422 if wrong else 200,
        form=form,
        kinds=KINDS,
        together=TOGETHER,
        panel=panel,
        usual=usual,
        usual_sample=asked or USUAL_SAMPLE,
        rubric=rubric,
        items=seat.study.store.read(lambda tx: tx.count_items(seat.study.number)),
        waiting=without_round(seat),
        preview=preview,
        is_other=is_other,
        how=way_words(preview.round.plan) if preview is not None else "",
        most=max(preview.workload.values(), default=0) if preview is not None else 0,
        wrong=wrong,
        steps=steps_of(seat),
    )


@routes.post("/s/{study}/rounds/plan", access=LEAD)
def plan(request: Request, seat: Seat, form: FormData) -> Response:
    """Show the workload that a plan makes; or, asked to, keep it as a round.

    What was changed after it was shown is shown again: nobody keeps a plan unseen.
    """
    typed = PlanForm.read(form)
    is_other = text_of(form, "seen") not in ("", typed.mark)
    asked = text_of(form, "act") == "keep"
    keeping = asked and not is_other
    study = workspace_of(request).unhurried(seat.study)
    try:
        found = study.plan_round(**typed.arguments(), dry_run=not keeping)
    except (StudyError, ValueError) as error:
        return _planning(request, seat, typed, sentence(error))
    if not keeping:
        return _planning(request, seat, typed, preview=found, is_other=asked)
    said = f"Round {found.round.number} is planned. Raters begin when you open it."
    return redirect(request, f"{seat.path}/rounds/{found.round.number}", said)


# -- one round


def _round(seat: Seat, number: str) -> Round:
    """The round that an address names."""
    for one in seat.study.rounds():
        if str(one.number) == number:
            return one
    raise HTTPException(404, NOT_FOUND)


@routes.get("/s/{study}/rounds/{number}", access=LEAD)
def one_round(request: Request, seat: Seat, number: str) -> Response:
    """One round: how far it is by rater, and what would happen next."""
    return _shown(request, seat, number)


def _shown(request: Request, seat: Seat, number: str, wrong: str = "", typed: str = "") -> Response:
    found = _round(seat, number)
    far = next(one for one in seat.study.progress() if one.number == found.number)
    versions = {one.rubric.hash: one.rubric for one in seat.study.versions()}
    return page(
        request,
        "rounds_one.html",
        seat=seat,
        status=422 if wrong else 200,
        round=found,
        far=far,
        left=far.total - far.done,
        kind=KINDS[found.kind],
        plan=plan_words(found),
        rubric=versions.get(found.rubric),
        missing=seat.study.blockers(found.number) if found.state == "planned" else [],
        more=without_round(seat) if _takes_more(found) else 0,
        dropped=bool(found.closed_at and not found.opened_at),
        wrong=wrong,
        typed=typed,
    )


def _takes_more(found: Round) -> bool:
    return found.state != "closed" and found.kind in COUNTING and "way" in found.plan


@routes.post("/s/{study}/rounds/{number}/open", access=LEAD)
def open_(request: Request, seat: Seat, number: str, form: FormData) -> Response:
    """Let raters begin; with a reason where something is missing first."""
    found, why = _round(seat, number), text_of(form, "override")
    try:
        seat.study.open_round(found.number, override=why or None)
    except StudyError as error:
        return _shown(request, seat, number, sentence(error), why)
    return redirect(request, f"{seat.path}/rounds/{number}", f"Round {number} is open.")


@routes.get("/s/{study}/rounds/{number}/close", access=LEAD)
def close_first(request: Request, seat: Seat, number: str) -> Response:
    """What closing would do, before it is done."""
    return _ending(request, seat, number, "close")


@routes.post("/s/{study}/rounds/{number}/close", access=LEAD)
def close(request: Request, seat: Seat, number: str, form: FormData) -> Response:
    """End a round."""
    found, why = _round(seat, number), text_of(form, "reason")
    try:
        seat.study.close_round(found.number, reason=why or None)
    except StudyError as error:
        return _ending(request, seat, number, "close", wrong=sentence(error), why=why)
    said = f"Round {number} is closed. Its answers may be compared now."
    return redirect(request, f"{seat.path}/rounds/{number}", said)


@routes.get("/s/{study}/rounds/{number}/drop", access=LEAD)
def drop_first(request: Request, seat: Seat, number: str) -> Response:
    """What giving a planned round up would do."""
    return _ending(request, seat, number, "drop")


@routes.post("/s/{study}/rounds/{number}/drop", access=LEAD)
def drop(request: Request, seat: Seat, number: str, form: FormData) -> Response:
    """Give a planned round up."""
    found, why = _round(seat, number), text_of(form, "reason")
    try:
        seat.study.drop_round(found.number, reason=why)
    except StudyError as error:
        return _ending(request, seat, number, "drop", wrong=sentence(error), why=why)
    said = f"Round {number} is dropped; its items are free again."
    return redirect(request, f"{seat.path}/rounds", said)


def _ending(
    request: Request, seat: Seat, number: str, act: str, *, wrong: str = "", why: str = ""
) -> Response:
    found = _round(seat, number)
    far = next(one for one in seat.study.progress() if one.number == found.number)
    left = {name: total - done for name, (done, total) in far.raters.items() if total > done}
    return page(
        request,
        "rounds_end.html",
        seat=seat,
        status=422 if wrong else 200,
        round=found,
        act=act,
        far=far,
        left=left,
        undone=sum(left.values()),
        discuss=found.kind == "calibration",
        wrong=wrong,
        reason=why,
    )


@routes.post("/s/{study}/rounds/{number}/extend", access=LEAD)
def extend(request: Request, seat: Seat, number: str) -> Response:
    """Give out items that came in since, by the round's own plan."""
    found = _round(seat, number)
    study = workspace_of(request).unhurried(seat.study)
    try:
        added = study.extend_round(found.number)
    except StudyError as error:
        return _shown(request, seat, number, sentence(error))
    said = f"{added:,} more {'item' if added == 1 else 'items'} in round {number}."
    return redirect(request, f"{seat.path}/rounds/{number}", said)
