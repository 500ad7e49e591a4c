"""Invitation links: how somebody comes to have an account, and to a new password.

A link holds a secret, lets in once, and ends after two weeks. Registration is closed: nobody has
an account who was not sent a link. As an account acts in studies under its name, nobody may make
a link for a name that stands for somebody in a study they do not lead.
"""

from __future__ import annotations

from collections.abc import Sequence

from calibrant.accounts.means import hash_of
from calibrant.accounts.sign_in import Door
from calibrant.core.account import Account, Link
from calibrant.core.errors import AccountError
from calibrant.core.ids import NAME_RULE, read_name
from calibrant.core.study import Member
from calibrant.ports.store import Reading, Store

LINK_DAYS = 14


class Links:
    """Makes links and lets people in by them."""

    def __init__(self, door: Door, store: Store) -> None:
        """``store`` tells who is a member of which study; ``door`` begins logins."""
        self._door = door
        self._means = door.means
        self._store = store

    # -- making

    def invite(self, name: str, study: int | None, *, by: str, as_owner: bool = True) -> str:
        """The secret of a link for a name without an account; earlier links of it end.

        ``study`` is the one they are invited to; only an owner invites to none. Not ``as_owner``,
        an owner invites as any lead does: by a token that does the work of studies.
        """
        named = self.may_invite(name, study, by=by, as_owner=as_owner)
        return self._make(named, study, by)

    def may_invite(self, name: str, study: int | None, *, by: str, as_owner: bool = True) -> str:
        """The name as it is kept; raises ``AccountError`` where ``by`` may not invite it."""
        named = read_name(name)
        if not named:
            raise AccountError(f"the name of an account {NAME_RULE}")
        inviting = self._open(by)
        account = self._means.accounts.account(named)
        if account is not None and account.closed_at is None:
            raise AccountError(f"{named!r} has an account: they sign in and need no link")
        panels = self._store.read(_panels)
        if study is not None and study not in panels:
            raise AccountError(f"there is no study number {study}")
        if any(one.name == named and one.kind != "HUMAN" for all in panels.values() for one in all):
            raise AccountError(f"{named!r} is the name of a judge or a check: take another")
        if inviting.owner and as_owner:
            return named
        if study is None or not _leads(panels[study], by):
            raise AccountError("only who leads a study invites to it")
        if account is not None:
            raise AccountError(f"the account {named!r} was closed: ask an owner to open it")
        for members in panels.values():
            if any(one.name == named for one in members) and not _leads(members, by):
                raise AccountError(
                    f"{named!r} takes part in another study: ask an owner to invite them, or "
                    "choose another name if it is somebody else"
                )
        return named

    def reset(self, name: str, *, by: str) -> str:
        """The secret of a link to set a new password, by an owner."""
        if not self._open(by).owner:
            raise AccountError("only an owner makes links to set a new password")
        return self.reset_unasked(name, by=by)

    def reset_unasked(self, name: str, *, by: str) -> str:
        """As ``reset``, for whoever runs the program itself and needs nobody's leave."""
        account = self._means.accounts.account(name)
        if account is None:
            raise AccountError(f"there is no account {name!r}")
        return self._make(account.name, None, by)

    # -- using

    def look(self, secret: str) -> Link:
        """A link that still lets in; raises ``AccountError`` with why it does not."""
        link = self._means.accounts.link(hash_of(secret))
        if link is None:
            raise AccountError("this link is not known: look whether all of it was copied")
        if link.used_at is not None:
            raise AccountError("this link was used already: sign in, or ask for a new one")
        if link.taken_back_at is not None:
            raise AccountError("this link was taken back: use the latest one, or ask for a new one")
        if link.ends_at <= self._means.now():
            raise AccountError("this link is too old: ask for a new one")
        return link

    def accept(self, secret: str, password: str, *, about: str = "") -> str:
        """Use a link up with a password of one's choice; the secret for a cookie.

        The account is made, or gets that password and is signed out everywhere else.
        """
        link = self.look(secret)
        kept = self._means.passwords.hash(password, link.account)
        cookie, login = self._means.new_login(link.account, about)
        before = self._means.accounts.account(link.account)
        event = self._means.event(
            "link_used",
            link.account,
            study=link.study,
            began=before is None or before.password is None,
            opened=before is not None and before.closed_at is not None,
        )
        used = self._means.accounts.use_link(link.hash, password=kept, login=login, event=event)
        if used is None:  # somebody was quicker: say what they did
            self.look(secret)
            raise AccountError("this link could not be used: ask for a new one")
        self._door.forget()
        return cookie

    # -- ending

    def links(self, study: int | None) -> list[Link]:
        """The links of a study (or those for passwords alone), the newest first."""
        return self._means.accounts.links(study)

    def waiting(self, study: int | None) -> list[Link]:
        """Those of them that still let in."""
        now = self._means.now()
        return [
            one
            for one in self.links(study)
            if one.used_at is None and one.taken_back_at is None and one.ends_at > now
        ]

    def take_back(self, hash: str, study: int | None, *, by: str) -> bool:
        """End a link of a study; False where there is nothing to end."""
        link = self._means.accounts.link(hash)
        if link is None or link.study != study:
            return False
        event = self._means.event("link_taken_back", by, account=link.account, study=study)
        return self._means.accounts.take_back_link(hash, event)

    def _make(self, name: str, study: int | None, by: str) -> str:
        secret, now = self._means.draw(), self._means.now()
        link = Link(
            hash=hash_of(secret),
            account=name,
            study=study,
            made_by=by,
            made_at=now,
            ends_at=self._means.later(days=LINK_DAYS),
        )
        event = self._means.event("link_made", by, account=name, study=study)
        self._means.accounts.add_link(link, event)
        return secret

    def _open(self, name: str) -> Account:
        account = self._means.accounts.account(name)
        if account is None or account.closed_at is not None:
            raise AccountError(f"{name!r} has no open account")
        return account


def _panels(tx: Reading) -> dict[int, list[Member]]:
    """The members of every study, by its number."""
    return {number: tx.members(number) for number, _ in tx.studies()}


def _leads(members: Sequence[Member], name: str) -> bool:
    return any(one.name == name and "lead" in one.roles and not one.left_at for one in members)
