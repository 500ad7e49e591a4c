"""A server of chat completions at an address: one request, one reply, or what went wrong.

A thin layer over aiohttp, because thousands of calls a second go through it. The key is in the
session's headers and nowhere else that is ever shown: no exception of aiohttp, which carry the
headers of their request, leaves this module or hangs on one that does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from calibrant.core.errors import ChatError
from calibrant.ports.chat import Ask, Class, Reply, Trouble
from calibrant.raters.chat.completion import NEWER_LIMIT, Asker, reply_of
from calibrant.raters.chat.refusals import trouble_of, wants_other_limit

if TYPE_CHECKING:
    import aiohttp
    import yarl

LARGEST = 8 * 1024 * 1024
"""Bytes of an answer; a longer one is not read on."""
IDLE = 4.0
"""Seconds that an idle connection is kept: common servers let go after five, and a request sent
at that moment would be lost."""
CONNECTING = 20.0
"""Seconds in which a connection must come about."""
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
    path = parts.path.rstrip("/").removesuffix(_PATH) or "/v1"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{path}{_PATH}"


class OpenAIChat:
    """Chat completions of a server; asks once, keeps connections, follows no redirect.

    Nothing of the environment counts: no proxy, no ``.netrc``. ``timeout`` is for a whole call,
    from the connection to the last byte. ``connections`` bounds how many are open at once; 0
    leaves that to who asks.
    """

    def __init__(
        self, base_url: str, key: str | None = None, *, timeout: float = 120.0, connections: int = 0
    ) -> None:
        self._url = endpoint(base_url)
        self._key = key.strip() if key else None
        if self._key and not (self._key.isascii() and self._key.isprintable()):
            raise ChatError("the key holds a sign that no key has")
        if not timeout > 0:
            raise ChatError("the time-out must be more than 0 seconds")
        self._timeout, self._connections = timeout, connections
        self._asker = Asker()
        self._target: yarl.URL
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"OpenAIChat({self._url!r})"

    async def ask(self, ask: Ask) -> Reply:
        """The reply; raises ``Trouble``."""
        asker = self._asker
        limit = asker.limit
        status, headers, answer = await self._post(asker.body(ask))
        if status != 200 and limit != NEWER_LIMIT and wants_other_limit(status, answer):
            asker.limit = NEWER_LIMIT  # nothing was answered yet, so this is still asking once
            status, headers, answer = await self._post(asker.body(ask))
        if status == 200:
            return reply_of(answer)
        trouble = trouble_of(status, headers, answer, ask, self._key)
        del answer  # it may tell the key back, and a traceback shows what a frame holds
        raise trouble

    async def close(self) -> None:
        """Let the connections go; who asks afterwards is refused."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the answer."""
        session = self._session or self._open()
        response = None
        try:
            response = await session.post(self._target, data=body, allow_redirects=False)
            stream = response.content
            answer = await stream.readany()
            if not stream.at_eof():
                answer = await _rest(stream, answer)
            if len(answer) <= LARGEST:
                return response.status, response.headers, answer
            trouble = Trouble("no_reply", f"an answer of more than {LARGEST} bytes")
        except Exception as error:
            trouble = _trouble_on_the_way(error, session)
        except BaseException:
            _drop(response)
            raise
        # Out of the handler: the error of aiohttp holds the headers of its request, with the key,
        # and must not even be the context of what others see.
        _drop(response)
        raise trouble

    def _open(self) -> aiohttp.ClientSession:
        """The session, made where a loop is running, with what never changes from call to call."""
        if self._closed:
            raise Trouble("refused", "this connection to a model is closed")
        try:
            import aiohttp
            import yarl
        except ImportError:
            needed = "asking a server needs aiohttp: pip install 'calibrant[judge]'"
            raise ChatError(needed) from None
        self._target = yarl.URL(self._url)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=IDLE),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=CONNECTING),
            headers=self._headers(),
            trust_env=False,
        )
        return self._session

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


async def _rest(stream: aiohttp.StreamReader, start: bytes) -> bytes:
    """A body that came in pieces, up to more bytes than any may have."""
    pieces, size = [start], len(start)
    while size <= LARGEST and not stream.at_eof():
        piece = await stream.readany()
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _drop(response: aiohttp.ClientResponse | None) -> None:
    """Close the connection of an answer that is not read to its end."""
    if response is not None:
        response.close()


def _trouble_on_the_way(error: Exception, session: aiohttp.ClientSession) -> Trouble:
    """What kept an answer from coming; told by the kind of error, never by its words."""
    import aiohttp

    why: Class = "connection"
    if isinstance(error, TimeoutError):
        why, detail = "timeout", "no whole answer in time"
    elif isinstance(error, aiohttp.ClientSSLError | aiohttp.ClientConnectorCertificateError):
        why, detail = "refused", "the server's certificate is not trusted, or no TLS came about"
    elif isinstance(error, aiohttp.ClientConnectorDNSError):
        detail = "the name of the server is not known"
    elif isinstance(error, aiohttp.ClientConnectorError):
        detail = "the server takes no connection"
    elif isinstance(error, aiohttp.ClientResponseError):
        why, detail = "no_reply", "an answer that is no HTTP"
    elif isinstance(error, aiohttp.ClientPayloadError):
        detail = "the connection ended in the middle of the answer"
    elif isinstance(error, aiohttp.ClientError | OSError) or session.closed:
        detail = "the connection ended before an answer"
    else:
        raise error
    return Trouble(why, detail)
