"""The application: all routes, behind one gate, with errors told in words."""

from __future__ import annotations

import gzip
import mimetypes
from importlib import import_module, resources
from itertools import islice
from pkgutil import iter_modules

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Scope

from calibrant import __version__
from calibrant.core.errors import CalibrantError, RecordError, Refused, Stale, StoreError
from calibrant.web import api, pages
from calibrant.web.access import SignInNeeded, sign_in_address, visitor_of
from calibrant.web.api_document import document
from calibrant.web.render import page, static_mark
from calibrant.web.security import Gatekeeper, carried
from calibrant.web.workspace import Workspace

BUSIEST = "calibrant.web.api.rating"
"""Looked through first: routes are tried one after the other, and this is what people wait for."""
KEPT = "public, max-age=31536000, immutable"
MOST_FAULTS = 100
"""Mistakes in the shape of what was sent that are told."""


def make_app(workspace: Workspace) -> FastAPI:
    """The application that serves a workspace."""
    app = FastAPI(
        title="calibrant",
        version=__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    app.state.workspace = workspace
    for name in sorted(_modules(), key=lambda name: name != BUSIEST):
        app.router.routes.extend(import_module(name).routes.router.routes)
    app.add_api_route("/static/{mark}/{path:path}", _static, include_in_schema=False)
    app.add_exception_handler(SignInNeeded, _at_the_door)
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(HTTPException, _http_trouble)
    app.add_exception_handler(CalibrantError, _trouble)
    app.add_exception_handler(Exception, _surprise)
    app.add_middleware(
        Gatekeeper, hosts=workspace.hosts, secure=workspace.secure, knows=_has_come_in
    )
    return app


def _modules() -> list[str]:
    """Every module with routes."""
    return [
        one.name
        for room in (pages, api)
        for one in iter_modules(room.__path__, f"{room.__name__}.")
    ]


def _has_come_in(scope: Scope) -> bool:
    return visitor_of(Request(scope)) is not None


_FILES: dict[str, tuple[bytes, bytes, str]] = {}


async def _static(request: Request, mark: str, path: str) -> Response:
    """A file of ours; it is read once, and browsers keep it for good."""
    if not _FILES:
        folder = resources.files("calibrant.web") / "static"
        for part in folder.iterdir():
            for one in part.iterdir() if part.is_dir() else ():
                kind = mimetypes.guess_type(one.name)[0] or "application/octet-stream"
                content = one.read_bytes()
                packed = gzip.compress(content, mtime=0)  # no secret is in these: packing is safe
                _FILES[f"{part.name}/{one.name}"] = (content, packed, kind)
    if path not in _FILES or mark != static_mark():
        return Response("There is no such file.", 404, media_type="text/plain")
    content, packed, kind = _FILES[path]
    headers = {"cache-control": KEPT, "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", "") and len(packed) < len(content):
        content, headers["content-encoding"] = packed, "gzip"
    return Response(content, media_type=kind, headers=headers)


_static.access = "static"  # type: ignore[attr-defined]


def _is_program(request: Request) -> bool:
    wants = Headers(scope=request.scope).get("accept", "")
    return request.url.path.startswith("/api/") or wants.startswith("application/json")


async def _at_the_door(request: Request, error: Exception) -> Response:
    if _is_program(request):
        said = {"error": "sign in, or send a token", "faults": []}
        return JSONResponse(said, 401, {"www-authenticate": "Bearer"})
    return RedirectResponse(sign_in_address(request), 303)


async def _http_trouble(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and error.detail == "Not Found":
        error = HTTPException(404, "There is nothing at this address.")
    if error.status_code == 405:
        error = HTTPException(405, "This address cannot be used that way.", error.headers)
    if error.status_code == 400:  # not even bytes that can be read: nothing of ours says 400
        return await _shapeless(request, [])
    return _told(request, error.status_code, str(error.detail), headers=error.headers)


async def _misfit(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = list(islice(error.errors(), MOST_FAULTS))
    faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found]
    return await _shapeless(request, faults)


async def _shapeless(request: Request, faults: list[str]) -> Response:
    """What was sent does not have the right shape; told only to whoever may send anything."""
    access = getattr(request.scope["route"].endpoint, "access", None)
    try:
        if access is not None:
            await run_in_threadpool(access.enter, request)
    except SignInNeeded as needed:
        return await _at_the_door(request, needed)
    except HTTPException as refused:
        return await _http_trouble(request, refused)
    return _told(request, 422, "What was sent does not have the right shape.", faults=faults)


STATUS = ((Refused, 403), (Stale, 409), (StoreError, 503))


async def _trouble(request: Request, error: Exception) -> Response:
    """What calibrant itself has to say against it, in its own words."""
    status = next((code for kind, code in STATUS if isinstance(error, kind)), 422)
    faults = [str(one) for one in error.faults] if isinstance(error, RecordError) else []
    return _told(request, status, str(error), faults=faults)


async def _surprise(request: Request, error: Exception) -> Response:
    """A mistake of ours: nothing of its inside is shown; it stands in the server's log."""
    sentence = "Something went wrong here, and it was written down. What was saved is kept."
    response = _told(request, 500, sentence)
    # this one does not pass the gate on its way out
    for name, value in carried(secure=request.app.state.workspace.secure):
        response.headers.setdefault(name.decode(), value.decode())
    return response


TITLES = {
    401: "Please sign in",
    403: "This is not for you",
    404: "Nothing here",
    409: "Somebody was quicker",
    413: "Too large",
    422: "That does not fit yet",
    429: "A little patience",
    503: "The database cannot be reached",
}


def _told(
    request: Request,
    status: int,
    sentence: str,
    *,
    faults: list[str] | None = None,
    headers: object = None,
) -> Response:
    extra = dict(headers) if isinstance(headers, dict) else None
    if _is_program(request):
        return JSONResponse({"error": sentence, "faults": faults or []}, status, extra)
    title = TITLES.get(status, "That did not work")
    try:
        shown: Response = page(request, "error.html", status=status, title=title, sentence=sentence)
    except Exception:  # who asks cannot be looked up either: say it all the same
        shown = PlainTextResponse(f"{title}. {sentence}", status)
    shown.headers.update(extra or {})
    return shown
