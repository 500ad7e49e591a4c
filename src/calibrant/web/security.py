"""What every request has to pass, and what every response carries.

Requests that name another host, come from another site or are too large do not reach the
application. Responses may load nothing from elsewhere and run no script but our own.
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = ("GET", "HEAD", "OPTIONS")
LARGEST = 4 * 2**20
"""Bytes of a request that carries no file."""
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

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], secure: bool) -> None:
        """``hosts`` are the names it answers to, with their ports; ``secure``: by HTTPS."""
        self.app, self.hosts, self.secure = app, frozenset(hosts), secure

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
            return PlainTextResponse(
                f"That is too large: at most {most // 2**20} MB can be sent here.", 413
            )
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
                guard(MutableHeaders(scope=message), secure=self.secure)
            await send(message)

        return sending


def guard(headers: MutableHeaders, *, secure: bool) -> None:
    """Add to the headers of a response what every response carries."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("cache-control", "no-store")
    if secure:
        headers.setdefault("strict-transport-security", "max-age=31536000")


def _measured(receive: Receive, most: int) -> Receive:
    """Stop reading a body that says nothing of its length and goes on too long."""
    seen = 0

    async def receiving() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                return {"type": "http.disconnect"}
        return message

    return receiving


def own_hosts(host: str, port: int, others: Collection[str] = ()) -> list[str]:
    """The names a server at that address answers to."""
    names = {host, "127.0.0.1", "localhost", "[::1]", *others}
    found = [f"{name.lower()}:{port}" for name in sorted(names)]
    return found + [name.lower() for name in sorted(names) if port in (80, 443) or name in others]
