"""Where judges are asked, and with which key: read from the environment and from ``.env``.

Keys are never given on a command line, where other users of a machine can read them, and a key
goes to the server it belongs to and to no other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from calibrant.core.errors import SourceError

OWN_URL, OWN_KEY = "CALIBRANT_BASE_URL", "CALIBRANT_API_KEY"
OPENAI_URL, OPENAI_KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
OPENAI_HOST = "api.openai.com"
KEY_OF_HOST = "CALIBRANT_API_KEY_"
"""Followed by the host in capitals, with _ for every other sign: the key for that server alone."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server and what opens it."""

    url: str
    key: str | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        """Its name, for people."""
        return urlsplit(self.url).hostname or self.url

    @property
    def tells_the_key(self) -> bool:
        """Whether the key would travel unencrypted to another machine."""
        return self.key is not None and self.url.startswith("http:") and not self.is_near

    @property
    def is_near(self) -> bool:
        """Whether it is on this machine."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


class Settings:
    """What the environment says; a line of ``.env`` counts where the environment says nothing."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._file = _read_env(folder / ".env")
        self._given = dict(environment)
        self._values = {**self._file, **self._given}

    @classmethod
    def here(cls) -> Settings:
        """Those of this process, in this folder."""
        return cls(os.environ, Path())

    def server(self, url: str | None, *, usual: bool = True) -> Server:
        """The server at ``url``, or the one that is set; raises ``SourceError`` where none is.

        ``usual`` tells whether it is the one that the general key is meant for.
        """
        own = self._values.get(OWN_URL)
        chosen = url or own or self._values.get(OPENAI_URL)
        if not chosen:
            raise SourceError(
                f"no server is named: say --base-url URL or set {OWN_URL} (such as "
                "http://127.0.0.1:8080/v1), or use --local MODEL.gguf; nothing is sent otherwise"
            )
        by_file = not url and chosen not in (self._given.get(OWN_URL), self._given.get(OPENAI_URL))
        # a file in somebody's folder names a server: no key but its own may go there
        return Server(chosen, _key_for(chosen, usual, self._file if by_file else self._values))


def _key_for(url: str, is_usual: bool, values: Mapping[str, str]) -> str | None:
    """Its own key; the key that is set for the usual server goes to no other."""
    host = urlsplit(url).hostname or ""
    own = values.get(KEY_OF_HOST + re.sub(r"[^A-Z0-9]", "_", host.upper()))
    if own:
        return own
    usual = values.get(OWN_URL)
    meant = _same_place(url, usual) if usual else is_usual
    if values.get(OWN_KEY) and meant:
        return values[OWN_KEY]
    openai = values.get(OPENAI_URL)
    if host == OPENAI_HOST or (openai and _same_place(url, openai)):
        return values.get(OPENAI_KEY) or None
    return None


def _same_place(one: str, other: str) -> bool:
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.netloc) == (second.scheme, second.netloc)


_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*", re.ASCII)


def _read_env(path: Path) -> dict[str, str]:
    """``NAME=value`` lines; quotes around a value are left out, nothing in it is expanded."""
    try:
        text = path.read_text("utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {type(error).__name__}") from None
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None or line.lstrip().startswith("#"):
            continue
        name, value = match.groups()
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
        found[name] = value[1:-1] if quoted else value.partition(" #")[0].rstrip()
    return found
