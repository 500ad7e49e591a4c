"""The door: signing in, being recognised, signing out."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from calibrant.accounts.limits import Limit, Seldom
from calibrant.accounts.means import LOGIN_DAYS, Entered, Means, hash_of
from calibrant.core.account import Account, Login
from calibrant.core.errors import AccountError
from calibrant.core.ids import MAX_NAME
from calibrant.core.study import time_of

FREE_OF_ACCOUNT = 5
"""Wrong passwords for one account before waits begin."""
FREE_OF_ADDRESS = 20
"""Wrong passwords from one address, behind which a whole office may sit."""
FRESH = timedelta(seconds=5)
"""How long it may take until a login that another process ended lets nobody in here."""
SELDOM = timedelta(hours=1)
"""How often at most it is written down that a login is used."""
MOST_KNOWN = 10_000
WRONG = "the name or the password is not right"
SOMEBODY = "somebody"
"""Who acts in the log where an address is told to wait: which names it tried is not kept."""


@dataclass(frozen=True, slots=True)
class _Known:
    entered: Entered
    read_at: datetime


class Door:
    """Lets people in who know their password, and recognises them until they leave."""

    def __init__(self, means: Means, key: bytes) -> None:
        """``key`` is the secret of the workspace, from which tokens against forgery follow."""
        self.means = means
        self._key = key
        self._of_account = Limit(means.clock, FREE_OF_ACCOUNT)
        self._of_address = Limit(means.clock, FREE_OF_ADDRESS)
        self._failures = Seldom(means.clock)
        self._held = Seldom(means.clock)
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._changes = 0
        self._turn = threading.Lock()

    # -- coming in

    def enter(self, name: str, password: str, *, about: str = "", address: str = "") -> str:
        """The secret for a cookie, for whoever knows the password.

        Raises ``AccountError`` where it is wrong, and ``TooOften`` where it was so too often; in
        the same words whether or not there is such an account.
        """
        account = self._proved(name.strip(), password, address)
        event = self.means.event("signed_in", account.name, address=address)
        secret, login = self.means.new_login(account.name, about)
        self.means.accounts.add_login(login, event)
        return secret

    def admit(self, name: str, *, about: str = "", by: str) -> str:
        """The secret for a cookie, without a password: for whoever runs the program itself."""
        account = self.means.accounts.account(name)
        if account is None or account.closed_at is not None:
            raise AccountError(f"{name!r} has no open account")
        secret, login = self.means.new_login(account.name, about)
        event = self.means.event("signed_in", account.name, admitted_by=by)
        self.means.accounts.add_login(login, event)
        return secret

    def change_password(self, secret: str, old: str, new: str, *, address: str = "") -> None:
        """Another password, for whoever knows the old one; all other browsers are signed out."""
        entered = self.need(secret)
        name = entered.account.name
        self._proved(name, old, address)
        kept = self.means.passwords.hash(new, name)
        event = self.means.event("password_set", name)
        self.means.accounts.set_password(name, kept, event, but=entered.login.hash)
        self.forget()

    def choose_password(self, secret: str, new: str) -> None:
        """A first password, for whoever came in by a link; refused where there is one."""
        entered = self.need(secret)
        name = entered.account.name
        known = self.means.accounts.account(name)
        if known is None or known.password is not None:
            raise AccountError("you have a password: change it instead")
        kept = self.means.passwords.hash(new, name)
        event = self.means.event("password_set", name)
        self.means.accounts.set_password(name, kept, event, but=entered.login.hash)
        self.forget()

    def _proved(self, name: str, password: str, address: str) -> Account:
        """The open account whose password this is."""
        name = name[: MAX_NAME + 1]  # attempts are remembered by name, and none is longer
        if address:
            try:
                self._of_address.attempt(address)
            except AccountError:
                self._tell_held(SOMEBODY, address)
                raise
        try:
            self._of_account.attempt(name)
        except AccountError:
            if address:
                self._of_address.take_back(address)
            if self.means.accounts.account(name) is not None:
                self._tell_held(name, address)
            raise
        account = self.means.accounts.account(name)
        kept = None if account is None or account.closed_at is not None else account.password
        right = self.means.passwords.is_right(kept, password)
        if account is None or kept is None or not right:
            if account is not None and self._failures.lets(name):
                self.means.accounts.log(
                    self.means.event("sign_in_failed", account.name, address=address)
                )
            raise AccountError(WRONG)
        self._of_account.clear(name)
        if address:
            self._of_address.take_back(address)
        renewed = self.means.passwords.renewed(kept, password)
        if renewed is not None:
            self.means.accounts.rehash_password(name, kept, renewed)
        return account

    def _tell_held(self, name: str, address: str) -> None:
        """Write down that somebody was too often wrong and has to wait, once a minute at most."""
        if self._held.lets(address if name == SOMEBODY else name):
            event = self.means.event("sign_in_held", name, address=address)
            self.means.accounts.log(event)

    # -- being in

    def visitor(self, secret: str) -> Entered | None:
        """Who the secret of a cookie stands for; None where it lets nobody in (any more)."""
        hash = hash_of(secret)
        now = self.means.clock()
        with self._turn:
            known, changes = self._known.get(hash), self._changes
        if known is None or now - known.read_at > FRESH or now < known.read_at:
            known = self._look_up(hash, now, changes)
        if known is None or time_of(known.entered.login.ends_at) <= now:
            return None
        if now - time_of(known.entered.login.seen_at) > SELDOM:
            self._touch(known.entered.login)
        return known.entered

    def need(self, secret: str) -> Entered:
        """Who the secret stands for; raises ``AccountError`` where that is nobody."""
        found = self.visitor(secret)
        if found is None:
            raise AccountError("you are signed out: sign in again")
        return found

    def csrf(self, secret: str) -> str:
        """What a form must carry, so that no other site can send it for this login."""
        return hmac.new(self._key, secret.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def is_csrf(self, secret: str, given: str) -> bool:
        """Whether a form carries what it must, told in the same time whatever is given."""
        return hmac.compare_digest(self.csrf(secret).encode(), given.encode("utf-8", "replace"))

    # -- leaving

    def leave(self, secret: str) -> None:
        """Sign this browser out."""
        hash = hash_of(secret)
        found = self.means.accounts.login(hash)
        if found is not None:
            self.means.accounts.end_login(hash, self.means.event("signed_out", found[1].name))
        self.forget(hash)

    def sessions(self, account: str) -> list[Login]:
        """The browsers that are signed in to an account, the one seen last first."""
        return self.means.accounts.logins(account, self.means.now())

    def end(self, account: str, hash: str, *, by: str) -> bool:
        """Sign one browser of an account out; False where it is none of them."""
        if hash not in {one.hash for one in self.sessions(account)}:
            return False
        event = self.means.event("login_ended", by, account=account)
        ended = self.means.accounts.end_login(hash, event)
        self.forget(hash)
        return ended

    def end_all(self, account: str, *, by: str, but: str | None = None) -> int:
        """Sign all browsers of an account out, ``but`` the one of that secret; how many."""
        event = self.means.event("logins_ended", by, account=account)
        kept = None if but is None else hash_of(but)
        ended = self.means.accounts.end_logins(account, event, but=kept)
        self.forget()
        return ended

    def forget(self, hash: str | None = None) -> None:
        """Look a login (or all) up anew: something about it has changed in this process."""
        with self._turn:
            self._changes += 1
            if hash is None:
                self._known.clear()
            else:
                self._known.pop(hash, None)

    def _look_up(self, hash: str, now: datetime, changes: int) -> _Known | None:
        found = self.means.accounts.login(hash)
        good = found is not None and found[0].ended_at is None and found[1].closed_at is None
        known = _Known(Entered(found[1], found[0]), now) if found is not None and good else None
        with self._turn:
            if known is None:
                self._known.pop(hash, None)
            elif changes == self._changes:  # else it may have ended while it was read
                self._known[hash] = known
                self._known.move_to_end(hash)
                while len(self._known) > MOST_KNOWN:
                    self._known.popitem(last=False)
        return known

    def _touch(self, login: Login) -> None:
        ends_at = self.means.later(days=LOGIN_DAYS)
        self.means.accounts.touch_login(login.hash, seen_at=self.means.now(), ends_at=ends_at)
        self.forget(login.hash)
