"""What waits to be settled, for programs: the queue, the file of an item, decisions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from calibrant.web.access import Routes, Seat, member
from calibrant.web.case_models import (
    CaseFileOut,
    CaseOut,
    FlagDecisionIn,
    QueueOut,
    SettlementIn,
)
from calibrant.web.lead_models import TROUBLE, Done
from calibrant.web.refs import read_item

routes = Routes("/api/v1/studies/{study}", tags=["adjudication"])
DECIDERS = member("lead", "adjudicator")
Ref = Annotated[str, Path(description="An item, as the queue names it.", max_length=4000)]


@routes.get("/queue", access=DECIDERS, response_model=QueueOut, responses=TROUBLE)
def queue(seat: Seat, limit: Annotated[int, Query(ge=1, le=1000)] = 20) -> Any:
    """What waits to be settled: safety first, then the widest gap and the heaviest criterion.

    What is settled leaves the queue, so that the next ones come up.
    """
    return QueueOut(cases=[CaseOut.of(one) for one in seat.study.queue(limit=limit)])


@routes.get("/cases/{item}", access=DECIDERS, response_model=CaseFileOut, responses=TROUBLE)
def case(seat: Seat, item: Ref) -> Any:
    """An item with what everybody said of it in closed rounds that count; raters are masked."""
    return CaseFileOut.of(seat.study.case_file(read_item(item)))


@routes.post(
    "/cases/{item}/settlements",
    access=DECIDERS,
    response_model=Done,
    responses=TROUBLE,
    status_code=201,
)
def settle(seat: Seat, item: Ref, body: SettlementIn) -> Any:
    """Give a disagreement its final answer; what raters answered stays as it was."""
    seat.study.settle(
        read_item(item),
        body.criterion,
        body.value,
        how="adjudicated",
        reason=body.reason,
        source=body.source,
        error=body.error,
        unclear=body.unclear,
    )
    return Done(said="settled")


@routes.post(
    "/cases/flags/{number}",
    access=DECIDERS,
    response_model=Done,
    responses=TROUBLE,
    status_code=201,
)
def decide_flag(
    seat: Seat, number: Annotated[int, Path(ge=1, lt=2**31)], body: FlagDecisionIn
) -> Any:
    """Confirm or reject a flag, and with it the same red flag that others raised on the item."""
    seat.study.decide_flag(number, confirm=body.confirm, reason=body.reason)
    return Done(said="confirmed" if body.confirm else "rejected")
