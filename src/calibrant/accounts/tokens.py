"""Personal tokens: how programs act for an account.

A token is shown once, when it is made; what is kept of it lets nobody in.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from calibrant.accounts.means import Means, hash_of, plain
from calibrant.core.account import Account, Token
from calibrant.core.errors import AccountError
from calibrant.core.study import time_of

SIGN = "cal_"
"""How every token begins, so that people and scanners recognise one that leaked."""
MOST_LABEL = 100
MOST_DAYS = 3660
MOST_TOKENS = 50
SELDOM = timedelta(minutes=10)
"""How often at most it is written down that a token is used."""
FRESH = timedelta(seconds=5)
"""How long it may take until a token that another process ended lets nobody in here."""
MOST_KNOWN = 1_000


@dataclass(frozen=True, slots=True)
class _Known:
    token: Token
    account: Account
    read_at: datetime


class Tokens:
    """Makes tokens and recognises them."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._changes = 0
        self._turn = threading.Lock()

    def make(self, account: str, label: str, *, may_write: bool, days: int | None) -> str:
        """A new token, to be shown this once; it ends after so many days, or never."""
        named = plain(label, MOST_LABEL)
        if not named:
            raise AccountError("a token needs a few words: say what it is for")
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise AccountError(f"a token lasts from 1 to {MOST_DAYS} days, or for good")
        found = self._means.accounts.account(account)
        if found is None or found.closed_at is not None:
            raise AccountError(f"{account!r} has no open account")
        if len([one for one in self.tokens(account) if one.ended_at is None]) >= MOST_TOKENS:
            raise AccountError(f"there are {MOST_TOKENS} tokens already: end one first")
        secret = SIGN + self._means.draw()
        token = Token(
            hash=hash_of(secret),
            account=account,
            label=named,
            made_at=self._means.now(),
            ends_at=None if days is None else self._means.later(days=days),
            may_write=may_write,
        )
        event = self._means.event("token_made", account, label=named, may_write=may_write)
        self._means.accounts.add_token(token, event)
        return secret

    def visitor(self, secret: str) -> tuple[Token, Account] | None:
        """What a token stands for and whose it is; None where it lets nobody in (any more)."""
        if not secret.startswith(SIGN):
            return None
        hash = hash_of(secret)
        now = self._means.clock()
        with self._turn:
            known, changes = self._known.get(hash), self._changes
        if known is None or now - known.read_at > FRESH or now < known.read_at:
            known = self._look_up(hash, now, changes)
        if known is None:
            return None
        token = known.token
        if token.ends_at is not None and time_of(token.ends_at) <= now:
            return None
        if token.used_at is None or now - time_of(token.used_at) > SELDOM:
            self._means.accounts.touch_token(token.hash, self._means.now())
            self.forget()
        return token, known.account

    def tokens(self, account: str) -> list[Token]:
        """All tokens of an account, the newest first."""
        return self._means.accounts.tokens(account)

    def end(self, account: str, hash: str, *, by: str) -> bool:
        """End a token of an account; False where there is nothing to end."""
        event = self._means.event("token_ended", by, account=account)
        ended = self._means.accounts.end_token(account, hash, event)
        self.forget()
        return ended

    def forget(self) -> None:
        """Look every token up anew: something about one has changed in this process."""
        with self._turn:
            self._changes += 1
            self._known.clear()

    def _look_up(self, hash: str, now: datetime, changes: int) -> _Known | None:
        found = self._means.accounts.token(hash)
        good = found is not None and found[0].ended_at is None and found[1].closed_at is None
        known = _Known(found[0], found[1], now) if found is not None and good else None
        with self._turn:
            if known is not None and changes == self._changes:
                self._known[hash] = known
                while len(self._known) > MOST_KNOWN:
                    self._known.popitem(last=False)
        return known
