"""The audit log, for programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from calibrant.web.access import Routes, Seat, member
from calibrant.web.journal_words import sentence_of, without_secrets
from calibrant.web.lead_models import TROUBLE
from calibrant.web.run_models import After, EntryOut, JournalOut, Limit

routes = Routes("/api/v1/studies/{study}", tags=["journal"])


@routes.get("/journal", access=member("lead"), response_model=JournalOut, responses=TROUBLE)
def journal(
    seat: Seat,
    kind: Annotated[str | None, Query(max_length=100)] = None,
    actor: Annotated[str | None, Query(max_length=500)] = None,
    limit: Limit = 100,
    after: After = 0,
) -> Any:
    """Everything that happened, in order: who, what, when."""
    found = [
        one
        for one in seat.study.journal(after=after)
        if kind in (None, one.kind) and actor in (None, one.actor)
    ]
    part = found[:limit]
    return {
        "entries": [
            EntryOut(
                number=one.number,
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
            for one in part
        ],
        "next": part[-1].number if len(found) > limit else None,
    }
