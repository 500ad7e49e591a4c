"""Disagreements are settled here, one after the other, by keyboard if one likes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.core.criterion import Criterion
from calibrant.core.errors import CalibrantError, Refused
from calibrant.study.adjudicate import Case
from calibrant.study.case_file import CaseFile
from calibrant.study.flags import Flag
from calibrant.web.access import NOT_FOUND, Routes, Seat, member
from calibrant.web.cases import (
    ERRORS,
    Level,
    Said,
    cause_words,
    drawn_item,
    levels,
    said_on,
    tally,
    who_talks,
)
from calibrant.web.form_fields import sentence, text_of, texts_of
from calibrant.web.kept import comes_later, kept_for
from calibrant.web.pages.results import waiting_page
from calibrant.web.refs import item_ref, read_item
from calibrant.web.render import page, redirect

routes = Routes()
DECIDERS = member("lead", "adjudicator")
LISTED = 50
"""Cases in the list beside the one that is open; more come up as these are settled."""
LONGEST = 10
"""Digits of a number in a form."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which case is meant: a criterion of an item, or a flag on it."""

    item: str
    criterion: str | None = None
    flag: int | None = None

    def is_of(self, case: Case) -> bool:
        """Whether a case of the queue is this one."""
        same = (case.item, case.criterion) == (self.item, self.criterion)
        return same and (self.criterion is not None or self.flag in case.flags)


@routes.get("/s/{study}/adjudicate", access=DECIDERS)
def queue(
    request: Request, seat: Seat, *, at: int = 0, item: str = "", of: str = "", now: bool = False
) -> Response:
    """The case that waits at this place of the queue, from nought; the first unless told.

    ``item`` and ``of``, its criterion, are the case settled last, to which a link leads back.
    """
    if not now and comes_later(request, seat, "queue"):
        return waiting_page(request, seat, "Adjudicate", "adjudicate", whole=True)
    cases = _queue(request, seat)
    last = _path(seat, read_item(item), criterion=of) if item and of else ""
    if not cases:
        return page(request, "adjudicate_done.html", seat=seat, last=last)
    case = cases[min(max(at, 0), len(cases) - 1)]
    flag = case.flags[0] if case.flags else None
    asked = Asked(case.item, case.criterion, flag)
    return _shown(request, seat, asked, cases=cases, last=last)


def _queue(request: Request, seat: Seat) -> list[Case]:
    """The first cases that wait."""
    return kept_for(request, seat, "queue", lambda study: study.queue(limit=LISTED))


@routes.get("/s/{study}/adjudicate/{item}", access=DECIDERS)
def case(
    request: Request,
    seat: Seat,
    item: str,
    *,
    criterion: str = "",
    flag: int = 0,
    now: bool = False,
) -> Response:
    """One case: a criterion of an item, or a flag on it; settled ones too."""
    if not now and comes_later(request, seat, "queue"):
        return waiting_page(request, seat, "Adjudicate", "adjudicate", whole=True)
    return _shown(request, seat, Asked(read_item(item), criterion or None, flag or None))


def case_path(seat: Seat, case: Case) -> str:
    """Where a case of the queue is."""
    if case.criterion is None:
        return _path(seat, case.item, flag=case.flags[0])
    return _path(seat, case.item, criterion=case.criterion)


def _path(seat: Seat, item: str, **query: str | int) -> str:
    return f"{seat.path}/adjudicate/{item_ref(item)}?{urlencode(query)}"


def _shown(
    request: Request,
    seat: Seat,
    asked: Asked,
    *,
    cases: list[Case] | None = None,
    wrong: str = "",
    typed: FormData | None = None,
    last: str = "",
) -> Response:
    cases = _queue(request, seat) if cases is None else cases
    at = next((at for at, one in enumerate(cases) if asked.is_of(one)), None)
    file, flag = _file(seat, asked)
    criterion = file.rubric.criterion(asked.criterion) if asked.criterion is not None else None
    said = said_on(file, criterion)
    quotes = [one.quotes for one in said]
    if flag is not None:
        quotes.append(tuple(flag.words.get("evidence", ())))
    return page(
        request,
        "adjudicate.html",
        seat=seat,
        status=422 if wrong else 200,
        file=file,
        criterion=criterion,
        heard=said,
        levels=_levels(file, criterion, said),
        flag=flag,
        flag_title=_flag_title(file, flag),
        other_flags=[
            (one, _flag_title(file, one))
            for one in file.flags
            if one.state == "raised" and one is not flag
        ],
        drawn=drawn_item(file, quotes),
        people=who_talks(seat, file.voices),
        errors=ERRORS,
        cases=[(one, case_path(seat, one), _causes(one, file), tally(one)) for one in cases],
        is_cut=len(cases) == LISTED,
        at=at,
        before=case_path(seat, cases[at - 1]) if at else "",
        after=_after(seat, cases, at),
        waits=criterion is not None and file.first is not None and not file.tried(criterion.id),
        settled=criterion is not None and file.settled(criterion.id),
        wrong=wrong,
        last=last,
        typed=_typed(typed),
    )


def _levels(file: CaseFile, criterion: Criterion | None, said: list[Said]) -> list[Level]:
    voices = [one.voice for one in said]
    return levels(file.rubric, criterion, voices) if criterion is not None else []


def _after(seat: Seat, cases: list[Case], at: int | None) -> str:
    following = cases[at + 1 : at + 2] if at is not None else cases[:1]
    return case_path(seat, following[0]) if following else ""


def _file(seat: Seat, asked: Asked) -> tuple[CaseFile, Flag | None]:
    """The file of an item, and the flag that is meant; not found where neither is asked for."""
    file = seat.study.case_file(asked.item)
    flag = next((one for one in file.flags if one.number == asked.flag), None)
    if asked.criterion is None and flag is None:
        raise HTTPException(404, NOT_FOUND)
    closed = [one.number for one in seat.study.rounds() if one.state == "closed"]
    if not file.voices and flag is not None and flag.round in closed:
        return seat.study.case_file(asked.item, round=flag.round), flag
    return file, flag


def _flag_title(file: CaseFile, flag: Flag | None) -> str:
    if flag is None:
        return ""
    return cause_words(flag.flag or flag.what, file.rubric)


def _causes(case: Case, file: CaseFile) -> list[str]:
    return [cause_words(one, file.rubric) for one in case.causes]


def _typed(form: FormData | None) -> dict[str, Any]:
    """What was typed into a form that could not be taken, so that nothing of it is lost."""
    if form is None:
        return {"value": "", "source": "new", "error": "", "reason": "", "unclear": False,
                "participants": [], "attempt": ""}  # fmt: skip
    return {
        "value": text_of(form, "value"),
        "source": text_of(form, "source") or "new",
        "error": text_of(form, "error"),
        "reason": text_of(form, "reason"),
        "unclear": bool(text_of(form, "unclear")),
        "participants": texts_of(form, "participants"),
        "attempt": text_of(form, "attempt"),
    }


@routes.post("/s/{study}/adjudicate/{item}", access=DECIDERS)
def settle(request: Request, seat: Seat, item: str, form: FormData) -> Response:
    """Settle a case, and go on to the next."""
    id, criterion = read_item(item), text_of(form, "criterion")
    typed = _typed(form)
    try:
        seat.study.settle(
            id,
            criterion,
            typed["value"] or _nothing(),
            how="adjudicated",
            reason=typed["reason"],
            source=typed["source"],
            error=typed["error"] or None,
            unclear=typed["unclear"],
        )
    except Refused:
        raise
    except CalibrantError as error:
        return _shown(request, seat, Asked(id, criterion), wrong=sentence(error), typed=form)
    title = seat.study.case_file(id).rubric.criterion(criterion).title
    to = f"{_next(seat, form)}&{urlencode({'item': item_ref(id), 'of': criterion})}"
    return redirect(request, to, f"Settled: {title} of {id} is {typed['value']}.")


def _nothing() -> str:
    raise CalibrantError("choose the final answer")


def _next(seat: Seat, form: FormData) -> str:
    """The case that stands where the settled one stood."""
    return f"{seat.path}/adjudicate?at={_number(text_of(form, 'at')) or 0}"


def _number(text: str) -> int | None:
    """A whole number that can be one of ours."""
    known = text.isascii() and text.isdigit() and len(text) < LONGEST
    return int(text) if known else None


@routes.post("/s/{study}/adjudicate/{item}/attempt", access=DECIDERS)
def attempt(request: Request, seat: Seat, item: str, form: FormData) -> Response:
    """Record that the reviewers have talked and found no consensus: now somebody may decide."""
    id, criterion = read_item(item), text_of(form, "criterion")
    try:
        seat.study.no_consensus(
            id,
            criterion,
            participants=texts_of(form, "participants"),
            reason=text_of(form, "attempt"),
        )
    except Refused:
        raise
    except CalibrantError as error:
        return _shown(request, seat, Asked(id, criterion), wrong=sentence(error), typed=form)
    to = f"{seat.path}/adjudicate/{item}?{urlencode({'criterion': criterion})}"
    return redirect(request, to, "Noted: the reviewers found no consensus. The answer is yours.")


@routes.post("/s/{study}/adjudicate/{item}/flag", access=DECIDERS)
def decide_flag(request: Request, seat: Seat, item: str, form: FormData) -> Response:
    """Confirm or reject a flag; back to the case it was decided beside, or on to the next."""
    id, number = read_item(item), _number(text_of(form, "number"))
    verdict = text_of(form, "verdict")
    if number is None or verdict not in ("confirm", "reject"):
        raise HTTPException(422, "Say whether the flag is confirmed or rejected.")
    beside = text_of(form, "beside")
    try:
        seat.study.decide_flag(number, confirm=verdict == "confirm", reason=text_of(form, "reason"))
    except Refused:
        raise
    except CalibrantError as error:
        asked = Asked(id, beside) if beside else Asked(id, flag=number)
        return _shown(request, seat, asked, wrong=sentence(error), typed=form)
    said = f"The flag is {'confirmed' if verdict == 'confirm' else 'rejected'}."
    if beside:
        to = f"{seat.path}/adjudicate/{item}?{urlencode({'criterion': beside})}"
        return redirect(request, to, said)
    return redirect(request, _next(seat, form), said)
