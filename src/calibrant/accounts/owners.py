"""Looking after accounts: the first owner, who else is one, closing an account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calibrant.accounts.links import Links
from calibrant.accounts.sign_in import Door
from calibrant.accounts.tokens import Tokens
from calibrant.core.account import Account, Event
from calibrant.core.errors import AccountError, Doubled
from calibrant.core.ids import NAME_RULE, read_name

MOST_PREFERENCES = 50


class Owners:
    """What owners do with accounts, and what everybody does with their own."""

    def __init__(self, door: Door, links: Links, tokens: Tokens) -> None:
        self._door = door
        self._means = door.means
        self._links = links
        self._tokens = tokens

    def is_begun(self) -> bool:
        """Whether there is any account."""
        return bool(self._means.accounts.accounts())

    def begin(self, name: str) -> str:
        """The first owner of a workspace; the secret of the link by which they choose a password.

        Where there are accounts already this is refused: ask an owner for a link.
        """
        known = self._means.accounts.accounts()
        if any(one.password is not None for one in known) or len(known) > 1:
            raise AccountError("this workspace has accounts: ask an owner for a link")
        if not known:
            self.add(name, owner=True, by=name)
        elif known[0].name != read_name(name):
            raise AccountError(f"this workspace was begun by {known[0].name!r}")
        return self._links.reset_unasked(read_name(name), by=read_name(name))

    def add(self, name: str, *, owner: bool = False, by: str) -> Account:
        """An account without a password: it is entered by a link, or by ``Door.admit``."""
        named = read_name(name)
        if not named:
            raise AccountError(f"the name of an account {NAME_RULE}")
        record = Account(name=named, password=None, owner=owner, created_at=self._means.now())
        try:
            event = self._means.event("account_made", by, account=named, owner=owner)
            self._means.accounts.add_account(record, event)
        except Doubled:
            raise AccountError(f"there is an account {named!r} already") from None
        return record

    def accounts(self) -> list[Account]:
        """All accounts, by name."""
        return self._means.accounts.accounts()

    def account(self, name: str) -> Account:
        """An open account; raises ``AccountError`` where there is none."""
        return self._need(name)

    def last_events(self, limit: int, **sought: Any) -> list[Event]:
        """What happened last in the workspace, the newest first; ``sought`` as ``Accounts`` has it.

        All that is done to accounts, links, logins and tokens stands there, and who took data out.
        What somebody likes (a theme) and when they were last seen are no lines.
        """
        return self._means.accounts.last_events(limit, **sought)

    def count_events(self, **sought: Any) -> int:
        """How many lines of the log there are."""
        return self._means.accounts.count_events(**sought)

    def set_owner(self, name: str, owner: bool, *, by: str) -> None:
        """Somebody begins or ceases to look after the workspace; one always does."""
        self._need(name)
        if not owner:
            self._keep_one(name)
        event = self._means.event("owner_set", by, account=name, owner=owner)
        self._means.accounts.set_owner(name, owner, event)
        self._look_anew()

    def close(self, name: str, *, by: str) -> None:
        """Close an account: its logins, tokens and links end at once; what it did stays."""
        self._need(name)
        self._keep_one(name)
        event = self._means.event("account_closed", by, account=name)
        self._means.accounts.close_account(name, event)
        self._look_anew()

    def set_preferences(self, name: str, preferences: Mapping[str, Any]) -> None:
        """What somebody likes (a theme, a way of rating), in the place of what was kept."""
        if len(preferences) > MOST_PREFERENCES:
            raise AccountError(f"at most {MOST_PREFERENCES} preferences are kept")
        self._means.accounts.set_preferences(name, preferences)
        self._look_anew()

    def _need(self, name: str) -> Account:
        account = self._means.accounts.account(name)
        if account is None or account.closed_at is not None:
            raise AccountError(f"{name!r} has no open account")
        return account

    def _keep_one(self, name: str) -> None:
        """Refuse to take the last owner away."""
        owners = [one.name for one in self.accounts() if one.owner and one.closed_at is None]
        if owners == [name]:
            raise AccountError(f"{name!r} is the only owner: make somebody else one first")

    def _look_anew(self) -> None:
        self._door.forget()
        self._tokens.forget()
