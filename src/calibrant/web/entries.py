"""Links that this process printed when it started: they lead in while it runs, and no longer."""

from __future__ import annotations

import hmac
import secrets
import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Entry:
    account: str
    again: bool


class Entries:
    """Secrets that lead to an account; kept in memory, told to whoever runs the program."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._turn = threading.Lock()

    def add(self, account: str, *, again: bool = False) -> str:
        """A secret for an account; it works once, or ``again`` and again."""
        secret = secrets.token_urlsafe(32)
        with self._turn:
            self._entries[secret] = _Entry(account, again)
        return secret

    def use(self, secret: str) -> str | None:
        """The account that a secret leads to; None where it leads nowhere (any more)."""
        with self._turn:
            for known, entry in list(self._entries.items()):
                if hmac.compare_digest(known.encode(), secret.encode("utf-8", "replace")):
                    if not entry.again:
                        del self._entries[known]
                    return entry.account
        return None
