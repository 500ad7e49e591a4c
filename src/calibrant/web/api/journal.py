"""The audit log, for programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from calibrant.web.access import Routes, Seat, member
from calibrant.web.journal_words import sentence_of, without_secrets
from calibrant.web.lead_models import TROUBLE
from calibrant.web.run_models import EntryOut, JournalOut, Limit

routes = Routes("/api/v1/studies/{study}", tags=["journal"])


@routes.get("/journal", access=member("lead"), response_model=JournalOut, responses=TROUBLE)
def journal(
    seat: Seat,
    *,
    kind: Annotated[str | None, Query(max_length=100)] = None,
    ratings: Annotated[bool, Query(description="Whether ratings are told as lines.")] = True,
    actor: Annotated[str | None, Query(max_length=500)] = None,
    item: Annotated[str | None, Query(max_length=500)] = None,
    limit: Limit = 100,
    after: Annotated[
        str, Query(max_length=4000, description="Where the part before said to go on (`next`).")
    ] = "",
) -> Any:
    """Everything that happened, in the order of time: who, what, when.

    Ratings that came in are lines as well (`rated`), without what was answered. A line has the
    time at which its act began and is there when it was committed, a moment later: whoever
    follows the log reads the last minutes once more.
    """
    found = seat.study.audit_log(
        kind=kind, ratings=ratings, actor=actor, item=item, start=after, limit=limit
    )
    return {
        "entries": [
            EntryOut(
                number=one.number or None,
                kind=one.kind,
                actor=one.actor,
                at=one.at,
                round=one.round,
                item=one.item,
                criterion=one.criterion,
                body=without_secrets(one.body),
                words=None if one.words is None else dict(one.words),
                said=f"{one.actor} {sentence_of(one)}",
            )
            for one in found.lines
        ],
        "next": found.next,
    }
