"""What accounts ask of the place where they are kept.

Every method is one transaction: what it changes and the event that tells of it are both kept
when it returns, or neither is. Only hashes of secrets come here, never secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from calibrant.core.account import Account, Event, Link, Login, Token


class Accounts(Protocol):
    """A place where accounts are kept."""

    def account(self, name: str) -> Account | None:
        """The account of that name, open or closed."""

    def accounts(self) -> list[Account]:
        """All accounts, by name."""

    def add_account(self, record: Account, event: Event) -> None:
        """An account of a name that is free; raises ``Doubled``."""

    def set_password(
        self, name: str, password: str | None, event: Event, *, but: str | None = None
    ) -> None:
        """Another password, or none; ends all logins of the account ``but`` the one of a hash."""

    def rehash_password(self, name: str, before: str, after: str) -> None:
        """The same password under another hash, unless it was changed meanwhile."""

    def close_account(self, name: str, event: Event) -> None:
        """Nobody comes in by that name any more: its logins, tokens and links end."""

    def set_owner(self, name: str, owner: bool, event: Event) -> None:
        """Somebody begins or ceases to look after the workspace."""

    def set_preferences(self, name: str, preferences: Mapping[str, Any]) -> None:
        """What somebody likes, in the place of what was kept before."""

    def add_login(self, login: Login, event: Event | None = None) -> None:
        """A browser signs in."""

    def login(self, hash: str) -> tuple[Login, Account] | None:
        """A login and whose it is, ended or not."""

    def touch_login(self, hash: str, *, seen_at: str, ends_at: str) -> None:
        """A login is used, and lasts longer for it."""

    def end_login(self, hash: str, event: Event) -> bool:
        """End a login at the event's time; False where it had ended, and nothing is logged."""

    def end_logins(self, account: str, event: Event, *, but: str | None = None) -> int:
        """End all logins of an account ``but`` the one of a hash; how many."""

    def logins(self, account: str, now: str) -> list[Login]:
        """The logins of an account that still let in, the one seen last first."""

    def add_link(self, link: Link, event: Event) -> None:
        """A link; those made before for the same name are taken back."""

    def link(self, hash: str) -> Link | None:
        """A link, used or not."""

    def links(self, study: int | None) -> list[Link]:
        """The links of a study (or those for passwords alone), the newest first."""

    def use_link(
        self, hash: str, *, password: str | None, login: Login, event: Event
    ) -> Link | None:
        """Use a link up: the account is made or opened, its password set, and a login begins.

        All logins it had before end. None where the link was used, taken back or over by the
        time of the event: of two who use it at once, one gets it.
        """

    def take_back_link(self, hash: str, event: Event) -> bool:
        """End a link that was not used; False where there is nothing to end."""

    def add_token(self, token: Token, event: Event) -> None:
        """A token."""

    def token(self, hash: str) -> tuple[Token, Account] | None:
        """A token and whose it is, ended or not."""

    def tokens(self, account: str) -> list[Token]:
        """All tokens of an account, the newest first."""

    def touch_token(self, hash: str, used_at: str) -> None:
        """A token is used."""

    def end_token(self, account: str, hash: str, event: Event) -> bool:
        """End a token of an account; False where there is nothing to end."""

    def log(self, event: Event) -> None:
        """Append an event; the place numbers it."""

    def events(
        self, after: int = 0, limit: int = 1000, *, kind: str | None = None, name: str | None = None
    ) -> list[Event]:
        """Events after a number, in the order of happening: of a kind, by or about somebody."""

    def last_events(
        self,
        limit: int = 100,
        *,
        kind: str | None = None,
        name: str | None = None,
        before: int | None = None,
    ) -> list[Event]:
        """The newest events, the last one first: of a kind, by or about somebody, before one."""

    def count_events(self, *, kind: str | None = None, name: str | None = None) -> int:
        """How many events there are."""
