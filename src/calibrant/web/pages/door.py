"""Coming in and leaving: signing in, invitations, links that the program printed."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import Response

from calibrant.core.errors import AccountError, TooOften
from calibrant.web.access import PUBLIC, Routes, workspace_of
from calibrant.web.render import page, redirect
from calibrant.web.workspace import Visitor

routes = Routes()


@routes.get("/sign-in", access=PUBLIC)
def sign_in(request: Request, visitor: Visitor | None, next: str = "/") -> Response:
    """Where one signs in; whoever is in goes on."""
    if visitor is not None:
        return redirect(request, _local(next))
    return page(request, "sign_in.html", next=_local(next), name="", wrong="")


@routes.post("/sign-in", access=PUBLIC)
def signed_in(request: Request, form: FormData) -> Response:
    """Let somebody in who knows their password."""
    name, back = _text(form, "name"), _local(_text(form, "next"))
    door = workspace_of(request).door
    try:
        secret = door.enter(
            name, _text(form, "password"), about=_browser(request), address=_address(request)
        )
    except AccountError as error:
        status = 429 if isinstance(error, TooOften) else 403
        wrong = _sentence(str(error))
        return page(request, "sign_in.html", status=status, next=back, name=name, wrong=wrong)
    return _entered(request, secret, back)


@routes.post("/sign-out", access=PUBLIC)
def sign_out(request: Request, visitor: Visitor | None) -> Response:
    """End the login of this browser."""
    workspace = workspace_of(request)
    if visitor is not None and visitor.via == "cookie":
        workspace.door.leave(visitor.secret)
    response = redirect(request, "/sign-in", "You are signed out.")
    response.delete_cookie(workspace.cookie, path="/")
    return response


@routes.get("/enter/{secret}", access=PUBLIC)
def enter(request: Request, secret: str) -> Response:
    """A link that the program printed when it started; a click on the page comes in by it."""
    return page(request, "enter.html", secret=secret)


@routes.post("/enter/{secret}", access=PUBLIC)
def entered(request: Request, secret: str) -> Response:
    """Let in whoever runs the program."""
    workspace = workspace_of(request)
    account = workspace.entries.use(secret)
    if account is None:
        wrong = "This link leads nowhere any more: start the program again for a new one."
        return page(request, "sign_in.html", status=403, next="/", name="", wrong=wrong)
    cookie = workspace.door.admit(account, about=_browser(request), by="the program")
    return _entered(request, cookie, "/")


@routes.get("/invite/{secret}", access=PUBLIC)
def invitation(request: Request, secret: str) -> Response:
    """What an invitation asks for: a password of one's own choice."""
    try:
        link = workspace_of(request).links.look(secret)
    except AccountError as error:
        return page(request, "invite.html", status=404, link=None, wrong=_sentence(str(error)))
    return page(request, "invite.html", link=link, secret=secret, wrong="")


@routes.post("/invite/{secret}", access=PUBLIC)
def accepted(request: Request, secret: str, form: FormData) -> Response:
    """Use an invitation up: the account is there, and its person is in."""
    links = workspace_of(request).links
    try:
        link = links.look(secret)
    except AccountError as error:
        return page(request, "invite.html", status=404, link=None, wrong=_sentence(str(error)))
    wrong = ""
    if _text(form, "password") != _text(form, "again"):
        wrong = "The two passwords are not the same."
    else:
        try:
            cookie = links.accept(secret, _text(form, "password"), about=_browser(request))
            to = "/" if link.study is None else f"/s/{link.study}"
            return _entered(request, cookie, to)
        except AccountError as error:
            wrong = _sentence(str(error))
    return page(request, "invite.html", status=422, link=link, secret=secret, wrong=wrong)


def _entered(request: Request, secret: str, to: str) -> Response:
    workspace = workspace_of(request)
    response = redirect(request, to)
    response.set_cookie(
        workspace.cookie,
        secret,
        max_age=30 * 86_400,
        path="/",
        httponly=True,
        samesite="lax",
        secure=workspace.secure,
    )
    return response


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _local(path: str) -> str:
    """A path of ours, and nothing that could lead elsewhere."""
    parts = urlsplit(path)
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_ours and not parts.scheme and not parts.netloc else "/"


def _browser(request: Request) -> str:
    return request.headers.get("user-agent", "")


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
