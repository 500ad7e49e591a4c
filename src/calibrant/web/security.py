"""What every request has to pass, and what every response carries.

Requests that name another host, come from another site or are too large do not reach the
application. Responses may load nothing from elsewhere and run no script but our own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = ("GET", "HEAD", "OPTIONS")
LARGEST = 4 * 2**20
"""Bytes of a request that carries no file."""
LARGEST_OF_STRANGERS = 16 * 2**10
"""Bytes that are read from somebody who has not come in: a name, a password, no more."""
LARGEST_UPLOAD = 64 * 2**20
UPLOADS = "/upload"
"""How the paths end to which files are sent."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": (
        "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()"
    ),
    "x-permitted-cross-domain-policies": "none",
    "x-dns-prefetch-control": "off",
}


class Gatekeeper:
    """Looks at every request before the application does."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        secure: bool,
        knows: Callable[[Scope], bool],
    ) -> None:
        """``hosts`` are the names it answers to, with their ports; ``secure``: by HTTPS.

        ``knows`` tells whether whoever sends a request has come in.
        """
        self.app, self.hosts, self.secure, self.knows = app, frozenset(hosts), secure, knows
        self.carried = carried(secure=secure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on, or answer with what is wrong."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        problem = self._problem(scope, headers)
        if problem is not None:
            await problem(scope, receive, self._adding(scope, send))
            return
        most = LARGEST_UPLOAD if scope["path"].endswith(UPLOADS) else LARGEST
        if _is_long(headers) and not await run_in_threadpool(self.knows, scope):
            # reading it costs more than sending it; the answer is the same as to nothing sent
            receive = _unread
        await self.app(scope, _measured(receive, most), self._adding(scope, send))

    def _problem(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            return PlainTextResponse(
                "This server does not go by that name. Open it by the address it printed.", 421
            )
        if scope["method"] not in SAFE and self._from_elsewhere(headers, host):
            return PlainTextResponse("This request came from another site.", 403)
        length = headers.get("content-length", "0")
        most = LARGEST_UPLOAD if scope["path"].endswith(UPLOADS) else LARGEST
        if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
            return PlainTextResponse(_too_large(most), 413)
        return None

    def _from_elsewhere(self, headers: Headers, host: str) -> bool:
        """Browsers say where a request comes from; programs with a token say nothing."""
        origin = headers.get("origin")
        scheme = "https" if self.secure else "http"
        if origin is not None:
            return origin.lower() != f"{scheme}://{host.lower()}"
        return headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")

    def _adding(self, scope: Scope, send: Send) -> Send:
        """Every response carries the headers; only static files may be kept by the browser."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message["headers"]
                names = {name for name, _ in given}
                message["headers"] = [*given, *(one for one in self.carried if one[0] not in names)]
            await send(message)

        return sending


def carried(*, secure: bool) -> list[tuple[bytes, bytes]]:
    """The headers that every response carries, unless it says otherwise itself."""
    found = HEADERS | {"cache-control": "no-store"}
    if secure:
        found |= {"strict-transport-security": "max-age=31536000"}
    return [(name.encode(), value.encode()) for name, value in found.items()]


def _is_long(headers: Headers) -> bool:
    """Whether more is sent than a stranger has to say, or nobody knows how much."""
    length = headers.get("content-length", "0")  # digits alone, as the gate has looked
    return "transfer-encoding" in headers or int(length[:20]) > LARGEST_OF_STRANGERS


async def _unread() -> Message:
    """A body of which nothing is read."""
    return {"type": "http.request", "body": b"", "more_body": False}


def _measured(receive: Receive, most: int) -> Receive:
    """Stop reading a body that says nothing of its length and goes on too long."""
    seen = 0

    async def receiving() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(413, _too_large(most))
        return message

    return receiving


def _too_large(most: int) -> str:
    return f"That is too large: at most {most // 2**20} MB can be sent here."


def own_hosts(host: str, port: int, others: Collection[str] = ()) -> list[str]:
    """The names a server at that address answers to."""
    names = {host, "127.0.0.1", "localhost", "[::1]", *others}
    found = [f"{name.lower()}:{port}" for name in sorted(names)]
    return found + [name.lower() for name in sorted(names) if port in (80, 443) or name in others]
