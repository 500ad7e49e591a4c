"""One's own account: password, browsers that are signed in, tokens for programs."""

from __future__ import annotations

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.accounts.means import hash_of
from calibrant.core.errors import AccountError
from calibrant.web.access import HOLDER, SIGNED_IN, Routes, workspace_of
from calibrant.web.render import page, redirect
from calibrant.web.workspace import Visitor

routes = Routes()
HERE = "/account"


@routes.get(HERE, access=SIGNED_IN)
def account(request: Request, visitor: Visitor) -> Response:
    """What there is to see and change about oneself."""
    return _page(request, visitor)


@routes.post("/account/password", access=SIGNED_IN)
def set_password(request: Request, visitor: Visitor, form: FormData) -> Response:
    """Another password; all other browsers are signed out."""
    door = workspace_of(request).door
    old, new, again = (_text(form, name) for name in ("old", "new", "again"))
    try:
        if visitor.via != "cookie":
            raise HTTPException(403, "This is done in a browser, by the person.")
        if new != again:
            raise AccountError("the two new passwords are not the same")
        if door.need(visitor.secret).account.password is None:
            door.choose_password(visitor.secret, new)
        else:
            door.change_password(visitor.secret, old, new)
    except AccountError as error:
        return _page(request, visitor, status=422, wrong=_sentence(error))
    return redirect(request, HERE, "Your password is changed. Other browsers are signed out.")


@routes.post("/account/sign-out-others", access=HOLDER)
def sign_out_others(request: Request, visitor: Visitor) -> Response:
    """End every login but this one."""
    ended = workspace_of(request).door.end_all(visitor.name, by=visitor.name, but=visitor.secret)
    return redirect(request, HERE, f"Signed out elsewhere: {ended}.")


@routes.post("/account/sessions/{hash}/end", access=HOLDER)
def end_session(request: Request, visitor: Visitor, hash: str) -> Response:
    """Sign one browser out."""
    if not workspace_of(request).door.end(visitor.name, hash, by=visitor.name):
        raise HTTPException(404, "That browser is not signed in any more.")
    return redirect(request, HERE, "That browser is signed out.")


@routes.post("/account/tokens", access=HOLDER)
def make_token(request: Request, visitor: Visitor, form: FormData) -> Response:
    """A token for a program; it is shown this once."""
    days = _text(form, "days")
    try:
        token = workspace_of(request).tokens.make(
            visitor.name,
            _text(form, "label"),
            may_write=_text(form, "may_write") == "yes",
            days=int(days) if days.isascii() and days.isdigit() and len(days) < 6 else None,
            administers=_text(form, "administers") == "yes",
            within=visitor.token,
        )
    except AccountError as error:
        return _page(request, visitor, status=422, wrong=_sentence(error))
    return _page(request, visitor, token=token)


@routes.post("/account/tokens/{hash}/end", access=HOLDER)
def end_token(request: Request, visitor: Visitor, hash: str) -> Response:
    """A token lets nobody in from now on."""
    if not workspace_of(request).tokens.end(visitor.name, hash, by=visitor.name):
        raise HTTPException(404, "There is no such token any more.")
    return redirect(request, HERE, "The token is ended.")


def _page(
    request: Request, visitor: Visitor, *, status: int = 200, wrong: str = "", token: str = ""
) -> Response:
    workspace = workspace_of(request)
    found = workspace.owners.account(visitor.name)
    return page(
        request,
        "account.html",
        status=status,
        has_password=found.password is not None,
        sessions=workspace.door.sessions(visitor.name),
        mine=hash_of(visitor.secret),
        tokens=[one for one in workspace.tokens.tokens(visitor.name) if one.ended_at is None],
        wrong=wrong,
        token=token,
    )


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _sentence(error: AccountError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
