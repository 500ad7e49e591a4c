"""Flags, for programs: listed, raised, decided."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Path

from calibrant.web.access import Routes, Seat, member
from calibrant.web.lead_models import TROUBLE, Done
from calibrant.web.run_models import After, DecisionIn, FlagIn, FlagsOut, Limit

routes = Routes("/api/v1/studies/{study}", tags=["flags"])


@routes.get("/flags", access=member(), response_model=FlagsOut, responses=TROUBLE)
def flags(
    seat: Seat,
    *,
    state: Literal["raised", "confirmed", "rejected"] | None = None,
    what: Literal["red_flag", "edge_case", "review"] | None = None,
    limit: Limit = 100,
    after: After = 0,
) -> Any:
    """Flags that you may see by now: your own, and others' where you see their answers."""
    found = [one for one in seat.study.flags(state=state) if what in (None, one.what)]
    rest = [one for one in found if one.number > after]
    part = rest[:limit]
    return {
        "flags": [asdict(one) for one in part],
        "total": len(found),
        "next": part[-1].number if len(rest) > limit else None,
    }


@routes.post(
    "/flags",
    access=member("lead", "reviewer", "adjudicator"),
    status_code=201,
    response_model=Done,
    responses=TROUBLE,
)
def raise_flag(seat: Seat, body: FlagIn) -> Any:
    """Flag an item: a red flag with words of the item, an edge case, something to review."""
    seat.study.raise_flag(
        body.item, what=body.what, flag=body.flag, evidence=body.evidence, reason=body.reason
    )
    return Done(said=f"{body.item} is flagged")


@routes.post(
    "/flags/{number}/decision",
    access=member("lead", "adjudicator"),
    response_model=Done,
    responses=TROUBLE,
)
def decide(seat: Seat, number: Annotated[int, Path(ge=1, lt=2**31)], body: DecisionIn) -> Any:
    """Confirm or reject a flag, and the same red flag that others raised on the item."""
    seat.study.decide_flag(number, confirm=body.confirm, reason=body.reason)
    return Done(said=f"flag {number} is {'confirmed' if body.confirm else 'rejected'}")
