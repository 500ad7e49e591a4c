"""The workspace in its owner's hands: accounts, links to come in, what happened."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import Response

from calibrant.core.errors import AccountError
from calibrant.web.access import OWNER, Routes, workspace_of
from calibrant.web.event_words import told
from calibrant.web.form_fields import sentence, text_of
from calibrant.web.people import invitation_address, reset_address
from calibrant.web.render import page, redirect
from calibrant.web.workspace import Visitor

routes = Routes()
HERE = "/workspace"
LAST = 8
"""Lines of the log that are shown; all of it has a page of its own."""


@routes.get(HERE, access=OWNER)
def workspace_page(request: Request, visitor: Visitor) -> Response:
    """All accounts, and the workspace's own log."""
    return _page(request, visitor)


@routes.post("/workspace/invite", access=OWNER)
def invite(request: Request, visitor: Visitor, form: FormData) -> Response:
    """A link for somebody who has no account; it is shown this once."""
    links = workspace_of(request).links

    def made(name: str) -> str:
        return invitation_address(request, links.invite(name, None, by=visitor.name))

    return _link(request, visitor, form, made)


@routes.post("/workspace/reset", access=OWNER)
def reset(request: Request, visitor: Visitor, form: FormData) -> Response:
    """A link for somebody who has forgotten their password; it is shown this once."""
    return _link(request, visitor, form, lambda name: reset_address(request, visitor, name))


@routes.post("/workspace/sign-out", access=OWNER)
def sign_out(request: Request, visitor: Visitor, form: FormData) -> Response:
    """Sign somebody out everywhere."""
    name = text_of(form, "name")
    ended = workspace_of(request).door.end_all(name, by=visitor.name)
    return redirect(request, HERE, f"{name} is signed out ({ended}).")


@routes.post("/workspace/owner", access=OWNER)
def set_owner(request: Request, visitor: Visitor, form: FormData) -> Response:
    """Somebody begins or ceases to look after the workspace."""
    name, is_owner = text_of(form, "name"), form.get("owner") == "yes"
    workspace_of(request).owners.set_owner(name, is_owner, by=visitor.name)
    said = f"{name} looks after the workspace too." if is_owner else f"{name} is no owner any more."
    return redirect(request, HERE, said)


@routes.post("/workspace/close", access=OWNER)
def close(request: Request, visitor: Visitor, form: FormData) -> Response:
    """Close an account: nobody comes in by it; what was done stays."""
    name = text_of(form, "name")
    workspace_of(request).owners.close(name, by=visitor.name)
    return redirect(request, HERE, f"The account {name} is closed; its ratings stay.")


def _link(
    request: Request, visitor: Visitor, form: FormData, make: Callable[[str], str]
) -> Response:
    name = text_of(form, "name")
    try:
        link = make(name)
    except AccountError as error:
        return _page(request, visitor, status=422, wrong=sentence(error))
    return _page(request, visitor, link=link, link_for=name)


def _page(
    request: Request,
    visitor: Visitor,
    *,
    status: int = 200,
    wrong: str = "",
    link: str = "",
    link_for: str = "",
) -> Response:
    workspace = workspace_of(request)
    return page(
        request,
        "workspace.html",
        status=status,
        accounts=workspace.owners.accounts(),
        events=told(request, workspace.owners.last_events(LAST)),
        place=workspace.opened.shown,
        wrong=wrong,
        link=link,
        link_for=link_for,
    )
