"""The records of who may come in: accounts, logins, links, tokens, and what happened to them.

An account has the name that its person has as a member of studies. Of every secret (a cookie's,
a link's, a token's) only the hash is kept; of a password, a hash made for passwords. Times are
texts as in the records of a study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Somebody who may sign in."""

    name: str
    """The same as the name of the member in studies."""
    password: str | None
    """Its argon2 hash; None where a link has yet to be used to choose one."""
    owner: bool = False
    """Whether they look after the workspace: accounts, resets, studies of all leads."""
    created_at: str
    closed_at: str | None = None
    preferences: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A browser that is signed in."""

    hash: str
    """Of the secret in its cookie."""
    account: str
    made_at: str
    seen_at: str
    ends_at: str
    ended_at: str | None = None
    about: str = ""
    """A few words on the browser, so that its owner recognises it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link that lets somebody in once, to choose a password."""

    hash: str
    account: str
    """The name it is for, which may have no account yet."""
    study: int | None
    """The number of the study they are invited to; None where a password is set anew."""
    made_by: str
    made_at: str
    ends_at: str
    used_at: str | None = None
    taken_back_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A personal token, by which a program acts for an account."""

    hash: str
    account: str
    label: str
    made_at: str
    ends_at: str | None = None
    used_at: str | None = None
    ended_at: str | None = None
    may_write: bool = False
    administers: bool = False
    """Whether it looks after accounts, too, while its account is an owner's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in the workspace, outside all studies: a line of its log."""

    kind: str
    actor: str
    at: str
    body: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    """In the order of happening, from 1; given by the store."""
