"""Judges in their seats: each with its model, and one connection for each server."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from calibrant.core.errors import SourceError
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.engine.jobs import Seat
from calibrant.judging.asking import Asking, is_file
from calibrant.ports.chat import Chat
from calibrant.raters.chat.nobody import Nobody
from calibrant.raters.judge.card import Parameters
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.questions import Question
from calibrant.settings import Server, Settings

Asks: TypeAlias = Callable[[Item], Sequence[Question]]
_PLACE = re.compile(r"@([\w.-]+:\d{1,5}(?:/.*)?|[^@]*/v1/?)$", re.ASCII)
"""What looks like a server without http: taken for a part of the name, another would be asked."""
LOCAL_TIMEOUT = 900.0
"""Seconds that a model in this process has at least: small machines read slowly."""


class Bench:
    """The judges of a run in their seats: each with its model, one connection for each server."""

    def __init__(self, asking: Asking, key: bytes, settings: Settings) -> None:
        self.asking, self.key, self.settings = asking, key, settings
        self._chats: dict[str, Chat] = {}
        self.servers: list[Server] = []

    def seats(self, rubric: Rubric, asks: Asks | None = None) -> list[Seat]:
        """All judges of the first stage; ``asks`` chooses the questions about an item."""
        named = [*self.asking.models, *map(str, self.asking.files)]
        found = [self.seat(rubric, one, asks) for one in named]
        names = [one.judge.card.name for one in found]
        for name in names:
            if names.count(name) > 1:
                raise SourceError(f"{name} is named twice: ask one model more often by --samples")
        return found

    def seat(
        self, rubric: Rubric, named: str, asks: Asks | None = None, *, once: bool = False
    ) -> Seat:
        """One judge: a model of a server, or a file; ``once``: it is asked for no more samples."""
        parameters = (replace(self.asking, samples=1) if once else self.asking).parameters
        if is_file(named):
            model = f"{Path(named).stem}@{_fingerprint(Path(named))}"
            judge = self._judge(rubric, model, replace(parameters, seed=0), asks)
            # one after the other: the next question finds the item read, and nothing waits in line
            timeout = max(self.asking.timeout, LOCAL_TIMEOUT)
            return Seat(judge, self._local(named), at_once=1, timeout=timeout)
        model, url = _model_at(named)
        judge = self._judge(rubric, model, parameters, asks)
        return Seat(judge, self._server(url))

    def _judge(
        self, rubric: Rubric, model: str, parameters: Parameters, asks: Asks | None
    ) -> Judge:
        way = self.asking.way
        return Judge(rubric, model, way=way, parameters=parameters, key=self.key, asks=asks)

    def _server(self, url: str | None) -> Chat:
        from calibrant.raters.chat.openai import OpenAIChat

        if self.asking.replay is not None:
            return Nobody()
        server = self.settings.server(url or self.asking.base_url, usual=url is None)
        if server.url not in self._chats:
            self.servers.append(server)
            self._chats[server.url] = OpenAIChat(
                server.url, server.key, timeout=self.asking.timeout
            )
        return self._chats[server.url]

    def _local(self, path: str) -> Chat:
        from calibrant.raters.chat.local import LocalModel

        if self.asking.replay is not None:
            return Nobody()
        if path not in self._chats:
            timeout = max(self.asking.timeout, LOCAL_TIMEOUT)
            self._chats[path] = LocalModel(path, timeout=timeout)
        return self._chats[path]

    async def close(self) -> None:
        """Let all connections and models go."""
        for chat in self._chats.values():
            await chat.close()


def _model_at(named: str) -> tuple[str, str | None]:
    """``NAME@URL`` in its two parts; names may hold an @ of their own."""
    for sign in ("@http://", "@https://"):
        name, found, rest = named.partition(sign)
        if found and name:
            return name, f"{sign[1:]}{rest}"
    if not named.strip():
        raise SourceError("a model has no name: say --model NAME or NAME@URL")
    place = _PLACE.search(named)
    if place:
        raise SourceError(f"{named}: {place[1]} is no URL; begin it with http:// or https://")
    return named.strip(), None


def _fingerprint(path: Path) -> str:
    """Tells two files of one name apart without reading gigabytes: size, beginning and end."""
    edge = 1 << 20
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            digest = hashlib.sha256(str(size).encode() + file.read(edge))
            file.seek(max(0, size - edge))
            digest.update(file.read(edge))
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from None
    return digest.hexdigest()[:12]
