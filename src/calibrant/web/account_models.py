"""What the API on accounts takes and gives: one's own, and those of the workspace."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from calibrant.accounts.tokens import MOST_ADMINISTERING_DAYS, MOST_DAYS, MOST_LABEL
from calibrant.core.account import Account, Login, Token
from calibrant.web.lead_models import Body, Name
from calibrant.web.refs import item_ref

# -- one's own


class TokenOut(BaseModel):
    """A token; of its secret nothing is known any more."""

    id: str = Field(description="Its name in addresses; it lets nobody in.")
    label: str = Field(description="What it is for.")
    may_write: bool
    administers: bool = Field(description="Whether it looks after accounts, too.")
    made_at: str
    used_at: str | None
    ends_at: str | None = Field(description="Null: it lasts until it is ended.")

    @classmethod
    def of(cls, one: Token) -> TokenOut:
        """A token, as it is told of."""
        return cls(
            id=one.hash,
            label=one.label,
            may_write=one.may_write,
            administers=one.administers,
            made_at=one.made_at,
            used_at=one.used_at,
            ends_at=one.ends_at,
        )


class TokensOut(BaseModel):
    """Your tokens that let in, the newest first."""

    tokens: list[TokenOut]


class TokenIn(Body):
    """A token to make."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "nightly import", "may_write": True, "days": 90}]}
    )
    label: Annotated[str, Field(min_length=1, max_length=MOST_LABEL)]
    may_write: bool = False
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] | None = 90
    administers: bool = Field(
        default=False,
        description=(
            "Whether it looks after accounts, too: for owners, in a browser, and for "
            f"{MOST_ADMINISTERING_DAYS} days at most. Whoever holds it can do what an owner can."
        ),
    )


class TokenMade(TokenOut):
    """A new token."""

    token: str = Field(description="Its secret, told this once and kept nowhere.")


class MeOut(BaseModel):
    """Who you are here, and what you came in by."""

    name: str
    owner: bool
    has_password: bool
    may_begin_studies: bool
    via: Literal["cookie", "token"]
    token: TokenOut | None = Field(description="The token by which you ask, where it is one.")


class SessionOut(BaseModel):
    """A browser that is signed in."""

    id: str = Field(description="Its name in addresses; it lets nobody in.")
    about: str = Field(description="A few words on the browser.")
    made_at: str
    seen_at: str
    ends_at: str
    this: bool = Field(description="Whether it is the one that asks.")

    @classmethod
    def of(cls, one: Login, mine: str) -> SessionOut:
        """A login, as it is told of; ``mine`` is the hash of the one that asks."""
        return cls(
            id=one.hash,
            about=one.about,
            made_at=one.made_at,
            seen_at=one.seen_at,
            ends_at=one.ends_at,
            this=one.hash == mine,
        )


class SessionsOut(BaseModel):
    """The browsers that are signed in, the one seen last first."""

    sessions: list[SessionOut]


class EndedOut(BaseModel):
    """How many browsers were signed out."""

    ended: int


# -- those of the workspace


class AccountOut(BaseModel):
    """An account of the workspace."""

    ref: str = Field(description="Its name in addresses.")
    name: str
    owner: bool
    has_password: bool = Field(description="False while a link has yet to be used.")
    created_at: str
    closed_at: str | None

    @classmethod
    def of(cls, one: Account) -> AccountOut:
        """An account, as owners see it."""
        return cls(
            ref=item_ref(one.name),
            name=one.name,
            owner=one.owner,
            has_password=one.password is not None,
            created_at=one.created_at,
            closed_at=one.closed_at,
        )


class AccountsOut(BaseModel):
    """Accounts by name, a part at a time."""

    accounts: list[AccountOut]
    total: int
    next: int | None = Field(description="Send it as `after` for the rest.")


class EventOut(BaseModel):
    """Something that happened to accounts."""

    number: int
    at: str
    actor: str
    kind: str
    body: dict[str, Any] = Field(description="Whom or what it was about.")
    said: str = Field(description="The same as a sentence.")


class EventsOut(BaseModel):
    """What happened, in order, a part at a time."""

    events: list[EventOut]
    next: int | None = Field(description="Send it as `after` for the rest.")


class OwnerIn(Body):
    """Whether somebody looks after the workspace."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"owner": True}]})
    owner: bool


class InviteIn(Body):
    """Somebody to invite to the workspace, and to no study yet."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "ann"}]})
    name: Name
