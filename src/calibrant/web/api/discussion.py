"""Disagreements of closed rounds, for programs: read, commented on, talked over, agreed on."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from calibrant.web.access import Routes, Seat, member
from calibrant.web.case_models import (
    CaseFileOut,
    CommentIn,
    CommentOut,
    CommentsOut,
    ConsensusIn,
    DisputeOut,
    DisputesOut,
    NoConsensusIn,
    OutcomeIn,
)
from calibrant.web.lead_models import TROUBLE, Done
from calibrant.web.refs import read_item

routes = Routes("/api/v1/studies/{study}", tags=["discussion"])
TALKERS = member("lead", "reviewer", "adjudicator")
Number = Annotated[int, Path(ge=1, lt=2**31, description="Of a closed round.")]
Ref = Annotated[str, Path(description="An item, as the list names it.", max_length=4000)]
Limit = Annotated[int, Query(ge=1, le=1000)]
After = Annotated[int, Query(ge=0, lt=2**31)]


@routes.get(
    "/rounds/{number}/disputes", access=TALKERS, response_model=DisputesOut, responses=TROUBLE
)
def disputes(
    seat: Seat,
    number: Number,
    *,
    limit: Limit = 100,
    after: After = 0,
    undiscussed: bool = False,
    criterion: Annotated[str | None, Query(max_length=200, description="Of it alone.")] = None,
) -> Any:
    """Disagreements of a closed round, the widest first, with everybody's answer."""
    found = [
        one
        for one in seat.study.disputes(number)
        if not (undiscussed and one.discussed) and criterion in (None, one.criterion)
    ]
    return DisputesOut(
        disputes=[DisputeOut.of(one) for one in found[after : after + limit]],
        total=len(found),
        next=after + limit if after + limit < len(found) else None,
    )


@routes.get(
    "/rounds/{number}/files/{item}", access=TALKERS, response_model=CaseFileOut, responses=TROUBLE
)
def file(seat: Seat, number: Number, item: Ref) -> Any:
    """An item with what raters said of it in a closed round, and what came of it."""
    return CaseFileOut.of(seat.study.case_file(read_item(item), round=number))


@routes.get(
    "/rounds/{number}/comments", access=TALKERS, response_model=CommentsOut, responses=TROUBLE
)
def comments(seat: Seat, number: Number, limit: Limit = 100, after: After = 0) -> Any:
    """Comments on the disagreements of a round; ``after`` is the number of the last one read."""
    found = [one for one in seat.study.comments(round=number) if one.number > after]
    shown = [CommentOut.of(one) for one in found[:limit]]
    return CommentsOut(comments=shown, next=shown[-1].number if len(found) > limit else None)


@routes.post(
    "/rounds/{number}/comments",
    access=TALKERS,
    response_model=Done,
    responses=TROUBLE,
    status_code=201,
)
def comment(seat: Seat, number: Number, body: CommentIn) -> Any:
    """Say something about a disagreement, for all who may see its answers."""
    seat.study.comment(number, body.item, body.criterion, body.text)
    return Done(said="the comment stands in the thread")


@routes.post(
    "/rounds/{number}/outcomes",
    access=TALKERS,
    response_model=Done,
    responses=TROUBLE,
    status_code=201,
)
def outcome(seat: Seat, number: Number, body: OutcomeIn) -> Any:
    """Record what a discussion came to."""
    seat.study.discuss(
        number,
        body.item,
        body.criterion,
        outcome=body.outcome,
        participants=body.participants,
        unclear=body.unclear,
    )
    return Done(said="the outcome is noted")


@routes.post("/consensus", access=TALKERS, response_model=Done, responses=TROUBLE, status_code=201)
def consensus(seat: Seat, body: ConsensusIn) -> Any:
    """Settle a disagreement by what two or more of its raters agree on."""
    seat.study.settle(
        body.item,
        body.criterion,
        body.value,
        how="consensus",
        reason=body.reason,
        participants=body.participants,
        unclear=body.unclear,
    )
    return Done(said="settled by consensus")


@routes.post(
    "/no-consensus", access=TALKERS, response_model=Done, responses=TROUBLE, status_code=201
)
def no_consensus(seat: Seat, body: NoConsensusIn) -> Any:
    """Record that the reviewers do not agree: now an adjudicator may decide."""
    seat.study.no_consensus(
        body.item, body.criterion, participants=body.participants, reason=body.reason
    )
    return Done(said="noted: no consensus")
