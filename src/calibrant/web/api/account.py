"""One's own account, for programs: who one is, browsers that are signed in, tokens.

A token that does the work of studies reads about its account and may end itself. What else
changes there is changed in a browser, or by a token that looks after accounts. Passwords are no
business of programs.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from starlette.exceptions import HTTPException

from calibrant.accounts.means import hash_of
from calibrant.web.access import HOLDER, SIGNED_IN, Routes, may_create, workspace_of
from calibrant.web.account_models import (
    EndedOut,
    MeOut,
    SessionOut,
    SessionsOut,
    TokenIn,
    TokenMade,
    TokenOut,
    TokensOut,
)
from calibrant.web.lead_models import TROUBLE, Done
from calibrant.web.workspace import Visitor

routes = Routes("/api/v1/account", tags=["account"])
Id = Annotated[str, Path(max_length=100, description="As the list names it.")]


@routes.get("", access=SIGNED_IN, response_model=MeOut, responses=TROUBLE)
def me(request: Request, visitor: Visitor) -> Any:
    """Who you are, and what you or your token may do."""
    workspace = workspace_of(request)
    return MeOut(
        name=visitor.name,
        owner=visitor.is_owner,
        has_password=workspace.owners.account(visitor.name).password is not None,
        may_begin_studies=may_create(workspace, visitor),
        via=visitor.via,
        token=None if visitor.token is None else TokenOut.of(visitor.token),
    )


@routes.get("/sessions", access=SIGNED_IN, response_model=SessionsOut, responses=TROUBLE)
def sessions(request: Request, visitor: Visitor) -> Any:
    """Where you are signed in."""
    found = workspace_of(request).door.sessions(visitor.name)
    mine = hash_of(visitor.secret)
    return SessionsOut(sessions=[SessionOut.of(one, mine) for one in found])


@routes.delete("/sessions", access=HOLDER, response_model=EndedOut, responses=TROUBLE)
def sign_out_others(request: Request, visitor: Visitor) -> Any:
    """Sign all your browsers out, but the one that asks."""
    door = workspace_of(request).door
    return EndedOut(ended=door.end_all(visitor.name, by=visitor.name, but=visitor.secret))


@routes.delete("/sessions/{session}", access=HOLDER, response_model=Done, responses=TROUBLE)
def end_session(request: Request, visitor: Visitor, session: Id) -> Any:
    """Sign one of your browsers out."""
    if not workspace_of(request).door.end(visitor.name, session, by=visitor.name):
        raise HTTPException(404, "That browser is not signed in any more.")
    return Done(said="that browser is signed out")


@routes.get("/tokens", access=SIGNED_IN, response_model=TokensOut, responses=TROUBLE)
def tokens(request: Request, visitor: Visitor) -> Any:
    """Your tokens: what each is for, what it may do, and when it was used."""
    found = workspace_of(request).tokens.tokens(visitor.name)
    return TokensOut(tokens=[TokenOut.of(one) for one in found if one.ended_at is None])


@routes.post("/tokens", access=HOLDER, response_model=TokenMade, responses=TROUBLE, status_code=201)
def make_token(request: Request, visitor: Visitor, body: TokenIn) -> Any:
    """A new token; its secret is in this answer and nowhere else.

    One that a token asks for does the work of studies, and ends with that token at the latest.
    """
    workspace = workspace_of(request)
    secret = workspace.tokens.make(
        visitor.name,
        body.label,
        may_write=body.may_write,
        days=body.days,
        administers=body.administers,
        within=visitor.token,
    )
    made = workspace.tokens.visitor(secret)
    assert made is not None
    return TokenMade(token=secret, **TokenOut.of(made[0]).model_dump())


@routes.delete("/tokens/{token}", access=SIGNED_IN, response_model=Done, responses=TROUBLE)
def end_token(request: Request, visitor: Visitor, token: Id) -> Any:
    """A token lets nobody in from now on. A token may end itself."""
    if visitor.token is None or visitor.token.hash != token:
        HOLDER.enter(request)
    if not workspace_of(request).tokens.end(visitor.name, token, by=visitor.name):
        raise HTTPException(404, "There is no such token any more.")
    return Done(said="the token is ended")
