"""Personal tokens: how programs act for an account.

A token is shown once, when it is made; what is kept of it lets nobody in. It does no more than
its account may do, and by itself only the work of studies: accounts are looked after by a token
that an owner makes for it in person, and which ends. A token that one of those makes does less
than it and ends with it at the latest, so that one that leaked cannot stay by making others.
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
MOST_ADMINISTERING_DAYS = 90
"""How long a token lasts at most that looks after accounts."""
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

    def make(
        self,
        account: str,
        label: str,
        *,
        may_write: bool,
        days: int | None,
        administers: bool = False,
        within: Token | None = None,
    ) -> str:
        """A new token, to be shown this once; it ends after so many days, or never.

        ``administers`` is for owners, and for some days only. ``within`` is the token by which
        it is asked for, where a program does: it has to look after accounts itself.
        """
        named = plain(label, MOST_LABEL)
        if not named:
            raise AccountError("a token needs a few words: say what it is for")
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise AccountError(f"a token lasts from 1 to {MOST_DAYS} days, or for good")
        found = self._means.accounts.account(account)
        if found is None or found.closed_at is not None:
            raise AccountError(f"{account!r} has no open account")
        if administers:
            _need_administering(found, days, within)
        ends_at = None if days is None else self._means.later(days=days)
        if within is not None:
            ends_at = _ends_within(within, ends_at)
        if len([one for one in self.tokens(account) if one.ended_at is None]) >= MOST_TOKENS:
            raise AccountError(f"there are {MOST_TOKENS} tokens already: end one first")
        secret = SIGN + self._means.draw()
        token = Token(
            hash=hash_of(secret),
            account=account,
            label=named,
            made_at=self._means.now(),
            ends_at=ends_at,
            may_write=may_write or administers,
            administers=administers,
        )
        event = self._means.event(
            "token_made",
            account,
            label=named,
            may_write=token.may_write,
            administers=administers,
            by_token=None if within is None else within.label,
        )
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
        label = next((one.label for one in self.tokens(account) if one.hash == hash), "")
        event = self._means.event("token_ended", by, account=account, label=label)
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


def _need_administering(account: Account, days: int | None, within: Token | None) -> None:
    """Whoever holds such a token can do what an owner does: it is made knowingly, and ends."""
    if not account.owner:
        raise AccountError("only an owner makes a token that looks after accounts")
    if within is not None:
        raise AccountError("a token that looks after accounts is made by a person, in a browser")
    if days is None or days > MOST_ADMINISTERING_DAYS:
        raise AccountError(
            f"a token that looks after accounts lasts at most {MOST_ADMINISTERING_DAYS} days"
        )


def _ends_within(within: Token, ends_at: str | None) -> str | None:
    if not within.administers:
        raise AccountError("this token does the work of studies: it makes no other")
    ends = [one for one in (within.ends_at, ends_at) if one is not None]
    return min(ends, default=None)
