"""No server at all: for replays and dry runs, in which nothing may be sent."""

from __future__ import annotations

from calibrant.ports.chat import Ask, Reply, Trouble


class Nobody:
    """Refuses every question."""

    async def ask(self, ask: Ask) -> Reply:
        """No reply; raises ``Trouble``."""
        raise Trouble("refused", "there is no server to ask")

    async def close(self) -> None:
        """Nothing is held."""
