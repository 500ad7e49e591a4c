"""What everything in this room works with: where accounts are kept, the time, and chance."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from calibrant.accounts.passwords import Passwords
from calibrant.core.account import Account, Event, Login
from calibrant.core.study import time_text
from calibrant.ports.accounts import Accounts
from calibrant.ports.clock import Clock

LOGIN_DAYS = 30
"""How long a browser stays signed in after it was last used."""
MOST_ABOUT = 200


@dataclass(frozen=True, slots=True)
class Means:
    """Handed in from outside, so that time and chance can be told to tests."""

    accounts: Accounts
    clock: Clock
    draw: Callable[[], str]
    """Gives a secret that nobody can guess, fit for cookies and addresses."""
    passwords: Passwords = field(default_factory=Passwords)

    def now(self) -> str:
        """The present moment, as records keep it."""
        return time_text(self.clock())

    def later(self, **span: float) -> str:
        """The moment after a span of time: ``later(days=14)``."""
        return time_text(self.clock() + timedelta(**span))

    def event(self, kind: str, actor: str, **body: Any) -> Event:
        """A line of the workspace's log, now."""
        return Event(kind=kind, actor=actor, at=self.now(), body=body)

    def new_login(self, account: str, about: str) -> tuple[str, Login]:
        """The secret for a cookie, and the login it stands for; not kept yet."""
        secret, now = self.draw(), self.now()
        ends_at = self.later(days=LOGIN_DAYS)
        kept = plain(about, MOST_ABOUT)
        login = Login(
            hash=hash_of(secret),
            account=account,
            made_at=now,
            seen_at=now,
            ends_at=ends_at,
            about=kept,
        )
        return secret, login


@dataclass(frozen=True, slots=True)
class Entered:
    """Somebody who is in: whose account, and by which login."""

    account: Account
    login: Login


def hash_of(secret: str) -> str:
    """What is kept of a secret that was drawn by chance, from which nobody finds it again."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def plain(text: str, most: int) -> str:
    """Somebody's words on one line, without signs that cannot be seen, as far as they fit."""
    return "".join(sign for sign in text if sign.isprintable()).strip()[:most]
