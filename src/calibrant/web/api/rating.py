"""Rating by programs, and by the scripts of the rating page: tasks, drafts, ratings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from calibrant.core.errors import RecordError, Refused, Stale, StudyError
from calibrant.core.item import item_text
from calibrant.core.study import Key, Rating
from calibrant.study.claim import Task
from calibrant.study.collect import Submission
from calibrant.study.handle import Study
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.criterion_view import decided
from calibrant.web.forms import differences, field_of, known_fields, sentence
from calibrant.web.pages.past import open_rounds, taken_up
from calibrant.web.rating_models import (
    Clash,
    CorrectionIn,
    DifferenceOut,
    Done,
    DraftIn,
    DraftOut,
    DutiesOut,
    DutyOut,
    FaultOut,
    Faulty,
    MeasuredOut,
    NextOut,
    OwnRatingOut,
    Problem,
    RatingIn,
    RatingOut,
    RatingsOut,
    TaskOut,
    TaskQuestionIn,
)
from calibrant.web.rating_page import HOLDER, address, moment_given, next_address
from calibrant.web.refs import read_task, task_ref
from calibrant.web.shown_checks import shown_checks

Ref = Annotated[str, Path(description="An assignment, as `tasks/next` names it.", max_length=4000)]
TROUBLE: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "Nobody is signed in."},
    403: {"model": Problem, "description": "Not for this role."},
    404: {"model": Problem, "description": "No such study or task of yours."},
}
TAKEN: dict[int | str, dict[str, Any]] = TROUBLE | {
    409: {"model": Clash, "description": "What was sent rests on an older version."},
    422: {"model": Faulty, "description": "Something is to be mended first."},
}
routes = Routes("/api/v1/studies/{study}", tags=["rating"])


@routes.get("/tasks/next", access=member("reviewer"), response_model=NextOut, responses=TROUBLE)
def next_task(seat: Seat) -> Any:
    """The next item to rate; it is yours for half an hour, and every saved draft renews that."""
    tasks = seat.study.claim(token=HOLDER)
    return NextOut(task=_task(seat.study, tasks[0]) if tasks else None)


@routes.get("/tasks/{task}", access=member("reviewer"), response_model=TaskOut, responses=TAKEN)
def one_task(seat: Seat, task: Ref) -> Any:
    """One of your open assignments; 409 where it is handed in, or open in another place."""
    key = _known(seat, task)
    tasks = seat.study.claim(token=HOLDER, key=key)
    if tasks:
        return _task(seat.study, tasks[0])
    return _clash(seat.study, key, {}, "this one is not open here")


def _task(study: Study, task: Task) -> TaskOut:
    checks = shown_checks(task.rubric, task.item)
    return TaskOut(
        task=task_ref(task.key),
        address=address(study, task.key),
        round=task.key.round,
        item=task.item.id,
        kind=task.item.kind,
        content=item_text(task.item),
        rubric=task.rubric.hash,
        criteria=list(task.rubric.criterion_ids),
        decided=decided(task.rubric, task.item),
        version=task.version,
        draft=None if task.draft is None else dict(task.draft),
        leased_until=task.leased_until,
        shown=list(checks.names),
        measured=[MeasuredOut(**asdict(one)) for one in checks.measurements],
    )


@routes.put(
    "/tasks/{task}/draft",
    access=member("reviewer"),
    response_model=DraftOut,
    responses=TAKEN,
    quick=True,
)
def save(seat: Seat, task: Ref, body: DraftIn) -> Any:
    """Keep what there is so far; 409 with both versions where another tab has saved since."""
    key = read_task(task, seat.visitor.name)
    unknown = known_fields(body.form)
    if unknown:
        return _faulty([FaultOut(path="", field="", message=f"there is no field {unknown[0]!r}",
                                 hint="")])  # fmt: skip
    try:
        version = seat.study.save_draft(key, body.form, version=body.version, token=HOLDER)
    except Stale as error:
        return _clash(seat.study, key, body.form, str(error))
    except StudyError as error:
        return _refused(seat.study, key, body.form, error)
    return DraftOut(version=version, saved_at=seat.study.now())


@routes.post(
    "/tasks/{task}/rating",
    access=member("reviewer"),
    status_code=201,
    response_model=RatingOut,
    responses=TAKEN,
    quick=True,
)
def hand_in(request: Request, seat: Seat, task: Ref, body: RatingIn) -> Any:
    """Hand a rating in; complete, or every fault of it at once. Sent twice, it is one rating."""
    study, key = seat.study, read_task(task, seat.visitor.name)
    submission = Submission(
        key=key,
        form=body.form,
        request=body.request,
        version=body.version,
        lease=HOLDER,
        started_at=moment_given(study, body.started_at or ""),
    )
    try:
        rating = study.submit(submission)
    except RecordError as error:
        return _mend(error, body.form)
    except Stale as error:
        return _clash(study, key, body.form, str(error))
    except StudyError as error:
        return _refused(study, key, body.form, error)
    workspace_of(request).tallies.handed_in(study, key)
    return _rating(rating, next_address(study, key))


@routes.post(
    "/tasks/{task}/correction",
    access=member("reviewer"),
    status_code=201,
    response_model=RatingOut,
    responses=TAKEN,
)
def correct(seat: Seat, task: Ref, body: CorrectionIn) -> Any:
    """Put a rating of your own in the place of the last one, while the round is open."""
    study, key = seat.study, _known(seat, task)
    started = moment_given(study, body.started_at or "")
    submission = Submission(key=key, form=body.form, request=body.request, started_at=started)
    try:
        rating = study.correct(submission, revision=body.revision, reason=body.reason)
    except RecordError as error:
        return _mend(error, body.form)
    except Stale as error:
        return _clash(study, key, body.form, str(error))
    return _rating(rating)


@routes.post(
    "/tasks/{task}/release", access=member("reviewer"), response_model=Done, responses=TROUBLE
)
def release(seat: Seat, task: Ref) -> Any:
    """Give an assignment back before its half hour is over; the draft stays."""
    given = seat.study.release(_known(seat, task), token=HOLDER)
    return Done(said="given back" if given else "it was not held here")


@routes.post(
    "/tasks/{task}/question",
    access=member("reviewer"),
    status_code=201,
    response_model=Done,
    responses=TROUBLE,
)
def ask(seat: Seat, task: Ref, body: TaskQuestionIn) -> Any:
    """Ask the lead about the rubric, or about this item; say no score."""
    seat.study.ask(body.text, item=_known(seat, task).item, criterion=body.criterion or None)
    return Done(said="Your question is with the lead. The answer will be under Questions.")


@routes.get("/duties", access=member("reviewer"), response_model=DutiesOut, responses=TROUBLE)
def duties(seat: Seat) -> Any:
    """What you have done and have to do, round by round."""
    found = seat.study.duties()
    return DutiesOut(
        duties=[DutyOut(round=one.round, kind=one.kind, done=one.done, open=one.open)
                for one in found]
    )  # fmt: skip


@routes.post("/acknowledge", access=member("reviewer"), response_model=Done, responses=TROUBLE)
def acknowledge(seat: Seat) -> Any:
    """Say that you have read the rubric, as it stands and as open rounds use it."""
    return Done(said=f"you have read {seat.study.acknowledge()}")


@routes.get(
    "/ratings/mine", access=member("reviewer"), response_model=RatingsOut, responses=TROUBLE
)
def my_ratings(
    seat: Seat,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
) -> Any:
    """Your own ratings, the latest first."""
    part, total = seat.study.latest_ratings(start=after, limit=limit)
    return RatingsOut(
        ratings=[_rating(one) for one in part],
        total=total,
        after=after + limit if after + limit < total else None,
    )


@routes.get(
    "/ratings/mine/{task}",
    access=member("reviewer"),
    response_model=OwnRatingOut,
    responses=TROUBLE,
)
def my_rating(seat: Seat, task: Ref) -> Any:
    """One of your own ratings with the item, as it was handed in; 404 while it is asked again."""
    found = taken_up(seat.study, read_task(task, seat.visitor.name))
    return OwnRatingOut(
        task=task_ref(found.key),
        round=found.key.round,
        item=found.item.id,
        kind=found.item.kind,
        content=item_text(found.item),
        rubric=found.rubric.hash,
        revision=found.revision,
        form=dict(found.form),
        is_open=found.key.round in open_rounds(seat.study),
    )


def _known(seat: Seat, task: str) -> Key:
    """One's own assignment; anything else is not found."""
    key = read_task(task, seat.visitor.name)
    if seat.study.place(key, token=HOLDER) is None:
        raise HTTPException(404, NOT_FOUND)
    return key


def _refused(study: Study, key: Key, form: dict[str, Any], error: StudyError) -> JSONResponse:
    """Why the study does not take it; asked only now, so that what is taken is taken quickly."""
    if isinstance(error, Refused):
        raise error
    place = study.place(key, token=HOLDER)
    if place is None:
        raise HTTPException(404, NOT_FOUND)
    if place.round_state == "closed":
        raise StudyError(f"round {key.round} is closed: nothing can be handed in any more")
    if place.state == "withdrawn":
        raise StudyError("this item was taken back from you: rate the next one")
    if place.state == "done":
        return _clash(study, key, form, str(error))
    raise error


def _rating(rating: Rating, following: str = "") -> RatingOut:
    return RatingOut(
        task=task_ref(rating.key),
        round=rating.key.round,
        item=rating.key.item,
        revision=rating.revision,
        rubric=rating.rubric,
        answers=dict(rating.answers),
        submitted_at=rating.submitted_at,
        next=following,
    )


def _mend(error: RecordError, form: dict[str, Any]) -> JSONResponse:
    return _faulty(
        [
            FaultOut(
                path=one.path,
                field=field_of(one, form),
                message=one.message,
                hint=one.hint,
                sentence=sentence(one),
            )
            for one in error.faults
        ]
    )


def _faulty(faults: list[FaultOut]) -> JSONResponse:
    told = Faulty(error="not taken yet: there is something to mend", faults=faults)
    return JSONResponse(told.model_dump(), 422)


def _clash(study: Study, key: Key, form: dict[str, Any], told: str) -> JSONResponse:
    """What is kept in the place of what was sent; one's own in any case."""
    place = study.place(key, token=HOLDER)
    state: Literal["open", "done", "elsewhere"] = "elsewhere"
    version, kept, rows = 0, {}, []
    tasks = study.claim(token=HOLDER, key=key) if place and place.state == "open" else []
    if tasks:
        state, version, kept = "open", tasks[0].version, dict(tasks[0].draft or {})
        rows = differences(tasks[0].rubric, form, kept)
    elif place is not None and place.state == "done":
        state = "done"
        try:
            taken = study.take_up(key)
        except Refused:
            raise
        except StudyError:  # an item that comes again: what was said the first time stays hidden
            pass
        else:
            version, kept = taken.revision, dict(taken.form)
            rows = differences(taken.rubric, form, kept)
    out = Clash(
        error=told,
        state=state,
        version=version,
        form=kept,
        differences=[
            DifferenceOut(field=one.field, label=one.label, mine=one.mine, theirs=one.theirs)
            for one in rows
        ],
    )
    return JSONResponse(out.model_dump(), 409)
