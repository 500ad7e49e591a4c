"""Disagreements of closed rounds are talked over here, each with an outcome."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.core.errors import CalibrantError, Refused
from calibrant.core.study import COUNTING, Round
from calibrant.study.discuss import Dispute
from calibrant.web.access import NOT_FOUND, Routes, Seat, member
from calibrant.web.cases import cause_words, drawn_item, levels, said_on, who_talks
from calibrant.web.form_fields import sentence, text_of, texts_of
from calibrant.web.kept import comes_later, kept_for
from calibrant.web.pages.results import waiting_page
from calibrant.web.refs import item_ref, read_item
from calibrant.web.render import page, redirect

routes = Routes()
TALKERS = member("lead", "reviewer", "adjudicator")
NUMBER = 2**31
A_PAGE = 200
"""Disagreements on one page."""


@routes.get("/s/{study}/discuss", access=TALKERS)
def discuss(
    request: Request,
    seat: Seat,
    *,
    round: int = 0,
    only: str = "",
    criterion: str = "",
    at: int = 1,
    now: bool = False,
) -> Response:
    """The disagreements of a closed round, the widest first; of the last one unless told."""
    rounds = closed_rounds(seat)
    if not rounds:
        return page(request, "discuss.html", seat=seat, rounds=[], chosen=None, disputes=[])
    chosen = next((one for one in rounds if one.number == round), None if round else rounds[-1])
    if chosen is None:
        raise HTTPException(404, NOT_FOUND)
    if not now and comes_later(request, seat, _kept_as(chosen.number)):
        return waiting_page(request, seat, "Discuss", "discuss", whole=True)
    rubric = _rubric(seat, chosen)
    about = criterion if criterion in rubric.criterion_ids else ""
    found = [
        one
        for one in _disputes(request, seat, chosen.number)
        if not about or one.criterion == about
    ]
    waiting = [one for one in found if not one.discussed]
    listed = waiting if only == "open" else found
    last = max(1, -(-len(listed) // A_PAGE))
    at = min(max(at, 1), last)
    return page(
        request,
        "discuss.html",
        seat=seat,
        rounds=rounds,
        chosen=chosen,
        counts=chosen.kind in COUNTING,
        only=only,
        about=about,
        about_title=rubric.criterion(about).title if about else "",
        done=sum(one.discussed for one in found),
        total=len(found),
        first=dispute_path(seat, waiting[0]) if waiting else "",
        at=at,
        last=last,
        disputes=[
            (
                one,
                dispute_path(seat, one),
                rubric.criterion(one.criterion).title,
                cause_words(one.cause, rubric),
            )
            for one in listed[(at - 1) * A_PAGE : at * A_PAGE]
        ],
    )


def _kept_as(round: int) -> str:
    return f"disputes {round}"


def _disputes(request: Request, seat: Seat, round: int) -> list[Dispute]:
    """The disagreements of a round, as they stand."""
    return kept_for(request, seat, _kept_as(round), lambda study: study.disputes(round))


def closed_rounds(seat: Seat) -> list[Round]:
    """Rounds whose disagreements may be talked over: compared when they are closed."""
    return [one for one in seat.study.rounds() if one.state == "closed"]


def _rubric(seat: Seat, round: Round) -> Any:
    """The version that a round pins."""
    return next(one.rubric for one in seat.study.versions() if one.rubric.hash == round.rubric)


def dispute_path(seat: Seat, one: Dispute) -> str:
    """Where a disagreement is."""
    query = urlencode({"criterion": one.criterion})
    return f"{seat.path}/discuss/{one.round}/{item_ref(one.item)}?{query}"


@routes.get("/s/{study}/discuss/{round}/{item}", access=TALKERS)
def dispute(
    request: Request, seat: Seat, round: str, item: str, *, criterion: str = "", now: bool = False
) -> Response:
    """One disagreement: everybody's answers, the anchors, the thread and what came of it."""
    is_closed = _number(round) in {one.number for one in closed_rounds(seat)}
    if not now and is_closed and comes_later(request, seat, _kept_as(_number(round))):
        return waiting_page(request, seat, "Discuss", "discuss", whole=True)
    return _shown(request, seat, _number(round), read_item(item), criterion)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:12]) < NUMBER:
        raise HTTPException(404, NOT_FOUND)
    return int(text)


def _shown(
    request: Request,
    seat: Seat,
    number: int,
    item: str,
    criterion: str,
    *,
    wrong: str = "",
    typed: FormData | None = None,
) -> Response:
    round = next((one for one in closed_rounds(seat) if one.number == number), None)
    if round is None:
        raise HTTPException(404, NOT_FOUND)
    file = seat.study.case_file(item, round=number)
    asked = file.rubric.criterion(criterion)
    said = said_on(file, asked)
    disputes = _disputes(request, seat, number)
    places = [(one.item, one.criterion) for one in disputes]
    here = places.index((item, asked.id)) if (item, asked.id) in places else None
    counts = round.kind in COUNTING
    return page(
        request,
        "discuss_one.html",
        seat=seat,
        status=422 if wrong else 200,
        round=round,
        file=file,
        criterion=asked,
        heard=said,
        levels=levels(file.rubric, asked, [one.voice for one in said]),
        drawn=drawn_item(file, [one.quotes for one in said]),
        people=who_talks(seat, file.voices),
        thread=[one for one in file.comments if one.criterion == asked.id],
        at=here,
        dispute=disputes[here] if here is not None else None,
        total=len(disputes),
        before=dispute_path(seat, disputes[here - 1]) if here else "",
        after=_after(seat, disputes, here),
        undecided=_undecided(seat, disputes, here),
        counts=counts,
        settled=file.settled(asked.id),
        wrong=wrong,
        typed={
            name: text_of(typed, name) if typed is not None else ""
            for name in ("act", "text", "outcome", "value", "unclear")
        },
        took_part=texts_of(typed, "participants") if typed is not None else [],
    )


def _after(seat: Seat, disputes: list[Dispute], here: int | None) -> str:
    following = disputes[here + 1 : here + 2] if here is not None else disputes[:1]
    return dispute_path(seat, following[0]) if following else ""


def _undecided(seat: Seat, disputes: list[Dispute], here: int | None) -> str:
    """The next disagreement without an outcome, after this one or from the beginning."""
    start = 0 if here is None else here + 1
    waiting = [one for one in disputes[start:] + disputes[: max(start - 1, 0)] if not one.discussed]
    return dispute_path(seat, waiting[0]) if waiting else ""


@routes.post("/s/{study}/discuss/{round}/{item}", access=TALKERS)
def act(request: Request, seat: Seat, round: str, item: str, form: FormData) -> Response:
    """A comment, an outcome, a consensus or none: whichever form was sent."""
    number, id, criterion = _number(round), read_item(item), text_of(form, "criterion")
    try:
        said = _done(seat, number, id, criterion, form)
    except Refused:
        raise
    except CalibrantError as error:
        return _shown(request, seat, number, id, criterion, wrong=sentence(error), typed=form)
    to = f"{seat.path}/discuss/{number}/{item}?{urlencode({'criterion': criterion})}"
    ends = text_of(form, "act") != "comment" and text_of(form, "onward")
    if ends:
        disputes = _disputes(request, seat, number)
        places = [(one.item, one.criterion) for one in disputes]
        here = places.index((id, criterion)) if (id, criterion) in places else None
        to = _undecided(seat, disputes, here) or f"{seat.path}/discuss?round={number}"
    return redirect(request, to, said)


def _done(seat: Seat, round: int, item: str, criterion: str, form: FormData) -> str:
    """Do what the form asks for; what to say of it."""
    people = texts_of(form, "participants")
    unclear = bool(text_of(form, "unclear"))
    outcome = text_of(form, "outcome")
    match text_of(form, "act"):
        case "comment":
            seat.study.comment(round, item, criterion, text_of(form, "text"))
            return "Your comment stands in the thread."
        case "outcome":
            seat.study.discuss(
                round, item, criterion, outcome=outcome, participants=people, unclear=unclear
            )
            return "The outcome is noted."
        case "consensus":
            value = text_of(form, "value")
            if not value:
                raise CalibrantError("choose the answer that you agree on")
            seat.study.settle(
                item,
                criterion,
                value,
                how="consensus",
                reason=outcome,
                participants=people,
                unclear=unclear,
            )
            return f"Settled by consensus: {criterion} of {item} is {value}."
        case "no_consensus":
            seat.study.no_consensus(item, criterion, participants=people, reason=outcome)
            return "Noted: no consensus. It goes to an adjudicator."
    raise HTTPException(422, "Say what this is: a comment, an outcome, a consensus or none.")
