"""A server of chat completions at an address: one request, one reply, or what went wrong.

The key is in the head of requests and nowhere else that is ever shown.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from calibrant.core.errors import ChatError
from calibrant.ports.chat import Ask, Reply, Trouble
from calibrant.raters.chat.completion import NEWER_LIMIT, Asker, reply_of
from calibrant.raters.chat.refusals import trouble_of, wants_other_limit

if TYPE_CHECKING:
    from calibrant.raters.chat.wire import Wire

_PATH = "/chat/completions"


def endpoint(base_url: str) -> str:
    """The address that completions are asked for at.

    ``https://host`` and ``https://host/`` mean ``https://host/v1``; an address with a path is taken
    as it is, with or without a slash at its end, or the last part of the endpoint itself.
    """
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port
    except ValueError:
        raise ChatError("the base URL is not an address: check its host and port") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ChatError("the base URL must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ChatError("the base URL holds a name or password: give the key in the environment")
    if parts.query or parts.fragment:
        raise ChatError("the base URL must end with its path: no '?' and no '#'")
    if re.search(r"[\x00-\x20\x7f\\]", base_url.strip()):
        raise ChatError("the base URL holds a space or a sign that no address has")
    if not _is_name(parts.hostname):
        raise ChatError("the base URL names no host: write a name of other letters as xn--...")
    path = parts.path.rstrip("/").removesuffix(_PATH) or "/v1"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{path}{_PATH}"


def _is_name(host: str) -> bool:
    """Whether a host is one for the network, and the very one: ``ß`` would be another's ``ss``."""
    try:
        return host.encode("idna").decode("idna") == host or host.isascii()
    except UnicodeError:
        return False


class OpenAIChat:
    """Chat completions of a server; asks once, keeps connections, follows no redirect.

    Nothing of the environment counts: no proxy, no ``.netrc``. ``timeout`` is for a whole call,
    from the connection to the last byte.
    """

    def __init__(self, base_url: str, key: str | None = None, *, timeout: float = 120.0) -> None:
        self._url = endpoint(base_url)
        self._key = key.strip() if key else None
        if self._key and not (self._key.isascii() and self._key.isprintable()):
            raise ChatError("the key holds a sign that no key has")
        if not timeout > 0:
            raise ChatError("the time-out must be more than 0 seconds")
        self._timeout = timeout
        self._asker = Asker()
        self._wire: Wire | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"OpenAIChat({self._url!r})"

    async def ask(self, ask: Ask) -> Reply:
        """The reply; raises ``Trouble``."""
        asker, wire = self._asker, self._wire or self._open()
        limit = asker.limit
        status, headers, answer = await wire.post(asker.body(ask))
        if status != 200 and limit != NEWER_LIMIT and wants_other_limit(status, answer):
            asker.limit = NEWER_LIMIT  # nothing was answered yet, so this is still asking once
            status, headers, answer = await wire.post(asker.body(ask))
        if status == 200:
            try:
                return reply_of(answer)
            except Trouble as met:
                trouble = met.with_traceback(None)
        else:
            trouble = trouble_of(status, headers, answer, ask, self._key)
        del answer, headers  # they may tell the key back, and a traceback shows what a frame holds
        raise trouble

    async def close(self) -> None:
        """Let the connections go; who asks afterwards is refused."""
        self._closed = True
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()
            await asyncio.sleep(0)  # connections end when the loop comes round

    def _open(self) -> Wire:
        """Get ready to ask, when somebody first does."""
        if self._closed:
            raise Trouble("refused", "this connection to a model is closed")
        try:
            from calibrant.raters.chat.wire import Wire
        except ImportError:
            needed = "asking a server needs httptools: pip install 'calibrant[judge]'"
            raise ChatError(needed) from None
        self._wire = Wire(self._url, self._headers(), timeout=self._timeout)
        return self._wire

    def _headers(self) -> dict[str, str]:
        """Headers of every request; answers come as they are, not packed: unpacking costs time."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "calibrant",
        }
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return headers
