"""A model in this process: llama.cpp answers on the loopback, and nothing leaves the machine.

Its server listens on 127.0.0.1 at a port that the system picks, asks for a key that is made up
anew each time, and is told to fetch nothing. Talking to it over HTTP, as to any other server,
leaves one way of asking, and lets several questions run at once in its slots.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path
from typing import Any

from calibrant.core.errors import ChatError
from calibrant.ports.chat import Ask, Reply, Trouble
from calibrant.raters.chat.openai import OpenAIChat

MAGIC = b"GGUF"
"""How a file of a model begins."""
CONTEXT = 8192
"""Tokens that a question and its reply may take, where nothing else is said."""
KEPT_PROMPTS = 512
"""Megabytes of prompts already read that the server keeps for others that begin alike."""
SILENT = -1
"""How much llama.cpp says on standard error: nothing."""
_NEEDED = "a local model needs xllamacpp: pip install 'calibrant[local]'"


class LocalModel:
    """A GGUF file that answers; refuses files that are not there or are no GGUF at once.

    The model is loaded at the first question, or by ``start``. ``context`` is for each question
    with its reply, 0 for what the model was trained for; ``slots`` is how many are answered at
    once; ``threads`` is how many of the machine's cores it takes: all but one, if nothing is said.
    ``timeout`` is generous: small machines read some hundred tokens a second.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        context: int = CONTEXT,
        slots: int = 1,
        threads: int | None = None,
        seed: int = 0,
        timeout: float = 900.0,
    ) -> None:
        self.path = _checked(Path(path))
        if context < 0 or slots < 1 or (threads is not None and threads < 1) or seed < 0:
            raise ChatError("context and seed may not be negative; slots and threads begin at 1")
        self._context, self._slots, self._threads = context, slots, threads
        self._seed, self._timeout = seed, timeout
        self._server: Any = None
        self._chat: OpenAIChat | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    def __repr__(self) -> str:
        return f"LocalModel({str(self.path)!r})"

    async def start(self) -> None:
        """Load the model, if it is not loaded yet; raises ``ChatError`` where it cannot be."""
        async with self._starting:
            if self._closed:
                raise Trouble("refused", "this model is closed")
            if self._chat is None:
                key = secrets.token_urlsafe(32)
                self._server = await asyncio.to_thread(self._load, key)
                address = self._server.listening_address
                self._chat = OpenAIChat(address, key, timeout=self._timeout)

    async def ask(self, ask: Ask) -> Reply:
        """The reply; raises ``Trouble``."""
        if self._chat is None:
            await self.start()
        assert self._chat is not None
        return await self._chat.ask(ask)

    async def close(self) -> None:
        """Let the model and its memory go; questions still under way end as dropped."""
        async with self._starting:
            self._closed = True
            chat, self._chat = self._chat, None
            if chat is not None:
                await chat.close()
            held, self._server = [self._server], None
            # Its last reference ends the server, which waits for what it is doing.
            await asyncio.to_thread(held.clear)

    def _load(self, key: str) -> Any:
        """The running server; ready when this returns."""
        try:
            import xllamacpp
        except ImportError:
            raise ChatError(_NEEDED) from None
        try:
            return xllamacpp.Server(self._parameters(xllamacpp.CommonParams(), key))
        except RuntimeError:
            told = f"llama.cpp cannot load {self.path}: damaged, of a newer kind, or too large"
            raise ChatError(told) from None

    def _parameters(self, wanted: Any, key: str) -> Any:
        """What llama.cpp is told."""
        wanted.model.path = str(self.path)
        wanted.model_alias = {self.path.name}
        wanted.hostnames, wanted.port = ["127.0.0.1"], 0
        wanted.api_keys = [key]
        wanted.offline, wanted.ui, wanted.endpoint_slots = True, False, False
        wanted.verbosity = SILENT
        wanted.n_parallel = self._slots
        wanted.n_ctx = self._context * self._slots  # llama.cpp shares it out among the slots
        wanted.cache_ram_mib = KEPT_PROMPTS
        wanted.sampling.seed = self._seed
        wanted.warmup = False
        # its threads wait for each other: where other work takes one core, all of them stand still
        threads = self._threads or max(1, (os.cpu_count() or 1) - 1)
        wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
        return wanted


def _checked(path: Path) -> Path:
    """The path, where a GGUF file stands."""
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise ChatError(f"{path}: {error.strerror or 'cannot be read'}") from None
    if start != MAGIC:
        raise ChatError(f"{path}: not a GGUF file, which is what llama.cpp reads")
    return path
