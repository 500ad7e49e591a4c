"""Accounts of the workspace, for the programs of its owners: listed, invited, looked after.

A program needs a token that an owner made for this. Links are told once, in the answer to the
call that makes them, and kept nowhere.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.exceptions import HTTPException

from calibrant.accounts.links import LINK_DAYS
from calibrant.core.account import Account
from calibrant.web.access import NOT_FOUND, OWNER, Routes, workspace_of
from calibrant.web.account_models import (
    AccountOut,
    AccountsOut,
    EndedOut,
    EventOut,
    EventsOut,
    InviteIn,
    OwnerIn,
)
from calibrant.web.event_words import told
from calibrant.web.lead_models import TROUBLE, InvitationOut
from calibrant.web.people import invitation_address, reset_address
from calibrant.web.refs import read_item
from calibrant.web.run_models import After, Limit
from calibrant.web.workspace import Visitor

routes = Routes("/api/v1", tags=["accounts"])
Ref = Annotated[str, Path(description="An account, as the list names it.", max_length=4000)]


@routes.get("/accounts", access=OWNER, response_model=AccountsOut, responses=TROUBLE)
def accounts(request: Request, visitor: Visitor, limit: Limit = 100, after: After = 0) -> Any:
    """Everybody who has, or had, an account."""
    found = workspace_of(request).owners.accounts()
    return AccountsOut(
        accounts=[AccountOut.of(one) for one in found[after : after + limit]],
        total=len(found),
        next=after + limit if after + limit < len(found) else None,
    )


@routes.get("/accounts/{ref}", access=OWNER, response_model=AccountOut, responses=TROUBLE)
def one_account(request: Request, visitor: Visitor, ref: Ref) -> Any:
    """One account."""
    return AccountOut.of(_known(request, ref))


def _known(request: Request, ref: str) -> Account:
    name = read_item(ref)
    found = workspace_of(request).door.means.accounts.account(name)
    if found is None:
        raise HTTPException(404, NOT_FOUND)
    return found


@routes.get("/events", access=OWNER, response_model=EventsOut, responses=TROUBLE)
def events(
    request: Request,
    visitor: Visitor,
    *,
    kind: Annotated[str | None, Query(max_length=100)] = None,
    name: Annotated[str | None, Query(max_length=500, description="By or about them.")] = None,
    limit: Limit = 100,
    after: After = 0,
) -> Any:
    """What happened to accounts, in order; ``after`` is the number of the last one read."""
    kept = workspace_of(request).door.means.accounts
    found = kept.events(after, limit + 1, kind=kind, name=name)
    shown = [
        EventOut(
            number=one.number,
            at=one.at,
            actor=one.actor,
            kind=one.kind,
            body=dict(one.body),
            said=f"{one.actor} {sentence}",
        )
        for one, _, sentence in told(request, found[:limit])
    ]
    return EventsOut(events=shown, next=shown[-1].number if len(found) > limit else None)


@routes.post(
    "/invitations", access=OWNER, response_model=InvitationOut, responses=TROUBLE, status_code=201
)
def invite(request: Request, visitor: Visitor, body: InviteIn) -> Any:
    """A link for somebody who has no account; one made before ends.

    Whoever is to take part in a study is invited by its members: that adds them to it too.
    """
    secret = workspace_of(request).links.invite(body.name, None, by=visitor.name)
    address = invitation_address(request, secret)
    return InvitationOut(name=body.name, address=address, days=LINK_DAYS)


@routes.post(
    "/accounts/{ref}/reset-link",
    access=OWNER,
    response_model=InvitationOut,
    responses=TROUBLE,
    status_code=201,
)
def reset(request: Request, visitor: Visitor, ref: Ref) -> Any:
    """A link by which somebody chooses a new password; a token makes none for its own account."""
    name = _known(request, ref).name
    return InvitationOut(name=name, address=reset_address(request, visitor, name), days=LINK_DAYS)


@routes.post("/accounts/{ref}/sign-out", access=OWNER, response_model=EndedOut, responses=TROUBLE)
def sign_out(request: Request, visitor: Visitor, ref: Ref) -> Any:
    """Sign somebody out of all browsers; their tokens stay."""
    name = _known(request, ref).name
    return EndedOut(ended=workspace_of(request).door.end_all(name, by=visitor.name))


@routes.put("/accounts/{ref}/owner", access=OWNER, response_model=AccountOut, responses=TROUBLE)
def set_owner(request: Request, visitor: Visitor, ref: Ref, body: OwnerIn) -> Any:
    """Somebody begins or ceases to look after the workspace; one always does."""
    name = _known(request, ref).name
    workspace_of(request).owners.set_owner(name, body.owner, by=visitor.name)
    return AccountOut.of(_known(request, ref))


@routes.post("/accounts/{ref}/close", access=OWNER, response_model=AccountOut, responses=TROUBLE)
def close(request: Request, visitor: Visitor, ref: Ref) -> Any:
    """Close an account: logins, tokens and links end at once; what was done stays."""
    name = _known(request, ref).name
    workspace_of(request).owners.close(name, by=visitor.name)
    return AccountOut.of(_known(request, ref))
