"""Pages from templates: everything is text unless it was made by our own Markdown."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from secrets import randbelow, token_hex
from typing import Any
from urllib.parse import quote, unquote

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse

from calibrant.core.study import time_of
from calibrant.web.access import Seat, visitor_of, workspace_of
from calibrant.web.keys import KEYS
from calibrant.web.refs import item_ref, task_ref
from calibrant.web.words import markdown, shown
from calibrant.web.workspace import Visitor

SMALL = 8_000
"""Bytes of a page that is not worth packing."""
PADDING = 400
"""Random bytes at the end of a packed page, at most."""
FLASH = "calibrant_said"
"""The cookie that carries one sentence over a redirect."""


@cache
def static_mark() -> str:
    """Names the content of all static files: a new version has new addresses."""
    digest = hashlib.sha256()
    for path in sorted(_static_files(), key=str):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _static_files() -> list[Any]:
    folder = resources.files("calibrant.web") / "static"
    return [one for part in folder.iterdir() if part.is_dir() for one in part.iterdir()]


def static(path: str) -> str:
    """The address of a static file."""
    return f"/static/{static_mark()}/{path}"


def moment(text: str | None, form: str = "%-d %b %Y, %H:%M") -> Markup:
    """A time as people read it; scripts turn it into the reader's own time zone."""
    if not text:
        return Markup("")
    at = time_of(text)
    return Markup('<time datetime="{}">{} UTC</time>').format(text, at.strftime(form))


def day(text: str | None) -> str:
    """A day as people read it."""
    if not text:
        return ""
    return datetime.fromisoformat(text[:10]).replace(tzinfo=UTC).strftime("%-d %b %Y")


def many(count: int, one: str, more: str = "") -> str:
    """``1 item``, ``2 items``."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


@cache
def environment() -> Environment:
    """All templates, with what they may call."""
    made = Environment(
        loader=PackageLoader("calibrant.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"shown": shown, "markdown": markdown, "moment": moment, "day": day}
    calls: dict[str, Callable[..., Any] | Any] = {
        "static": static,
        "item_ref": item_ref,
        "task_ref": task_ref,
        "many": many,
        "KEYS": KEYS,
    }
    made.globals |= calls
    return made


def page(
    request: Request,
    template: str,
    *,
    seat: Seat | None = None,
    status: int = 200,
    **values: Any,
) -> HTMLResponse:
    """A page, with what every page shows: who is signed in, where they are, what was just done."""
    visitor: Visitor | None = seat.visitor if seat is not None else visitor_of(request)
    said = request.cookies.get(FLASH, "")
    body = (
        environment()
        .get_template(template)
        .render(
            request=request,
            visitor=visitor,
            seat=seat,
            said=unquote(said),
            csrf=visitor.csrf if visitor is not None else "",
            csrf_field=_csrf_field(visitor),
            **values,
        )
    )
    # half a character, as models write it, is no reason to show nothing
    response = HTMLResponse(body.encode("utf-8", "replace"), status)
    if len(response.body) > SMALL and "gzip" in request.headers.get("accept-encoding", ""):
        _pack(response)
    if said:
        response.delete_cookie(FLASH, path="/")
    return response


def _pack(response: HTMLResponse) -> None:
    """Send a page packed; how long that is tells nobody what it says.

    A page holds the token of its forms and words from its address. Without the padding, whoever
    can choose those words and measure many answers could guess the token sign by sign.
    """
    padding = f"<!-- {token_hex(randbelow(PADDING))} -->".encode()
    response.body = gzip.compress(bytes(response.body) + padding, 5, mtime=0)
    response.headers["content-encoding"] = "gzip"
    response.headers["content-length"] = str(len(response.body))
    response.headers["vary"] = "accept-encoding"


def redirect(request: Request, to: str, said: str = "") -> RedirectResponse:
    """On to another page after something was done, with a sentence that says so."""
    response = RedirectResponse(to, 303)
    if said:
        response.set_cookie(
            FLASH,
            quote(said[:600]),
            max_age=60,
            path="/",
            httponly=True,
            samesite="lax",
            secure=workspace_of(request).secure,
        )
    return response


def _csrf_field(visitor: Visitor | None) -> Markup:
    if visitor is None:
        return Markup("")
    return Markup('<input type="hidden" name="csrf" value="{}">').format(visitor.csrf)
