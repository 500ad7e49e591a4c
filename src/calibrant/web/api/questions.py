"""Questions to the lead, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Path

from calibrant.web.access import Routes, Seat, member
from calibrant.web.lead_models import TROUBLE, Done
from calibrant.web.run_models import After, AnswerIn, Limit, QuestionIn, QuestionsOut

routes = Routes("/api/v1/studies/{study}", tags=["questions"])
ASKERS = member("lead", "reviewer", "adjudicator")


@routes.get("/questions", access=ASKERS, response_model=QuestionsOut, responses=TROUBLE)
def questions(seat: Seat, limit: Limit = 100, after: After = 0) -> Any:
    """Your questions and those shared with all; a lead reads every one."""
    found = seat.study.questions()
    rest = [one for one in found if one.number > after]
    part = rest[:limit]
    return {
        "questions": [asdict(one) for one in part],
        "total": len(found),
        "next": part[-1].number if len(rest) > limit else None,
    }


@routes.post("/questions", access=ASKERS, status_code=201, response_model=Done, responses=TROUBLE)
def ask(seat: Seat, body: QuestionIn) -> Any:
    """Ask the lead about the rubric; say nothing of the answer you have in mind."""
    seat.study.ask(body.text, item=body.item, criterion=body.criterion)
    return Done(said="asked")


@routes.post(
    "/questions/{number}/answer", access=member("lead"), response_model=Done, responses=TROUBLE
)
def answer(seat: Seat, number: Annotated[int, Path(ge=1, lt=2**31)], body: AnswerIn) -> Any:
    """Answer a question; shared, everybody reads it."""
    seat.study.answer_question(number, body.text, share=body.share)
    return Done(said=f"question {number} is answered")
