"""The tables of the store, the same on SQLite and on PostgreSQL.

Keys are the names that the records themselves have; only a study has a number. Documents are
kept as JSON texts. Texts sort by code point on both databases. What may hold somebody's words
stands in columns of its own (``WORDS``), the only ones of a kept table that can be emptied.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from calibrant.core.rating import RATER_KINDS
from calibrant.core.study import ROUND_KINDS, AssignmentState, RoundState

VERSION = "0004"
"""The revision of the schema that this program reads and writes."""
VERSION_TABLE = "alembic_version"
NAMING = {
    "pk": "pk_%(table_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(referred_table_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}
WORDS: dict[str, tuple[str, ...]] = {
    "rubric": (),
    "item": ("content", "source"),
    "rating": ("words",),
    "journal": ("words",),
    "event": (),
}
"""The tables whose rows are kept for good, and the columns of them that can be emptied."""

metadata = MetaData(naming_convention=NAMING)
_text = Text().with_variant(Text(collation="C"), "postgresql")
_KEY = ("study", "round", "item", "rater", "occasion")


def _word(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, _text, nullable=nullable)


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def _study() -> Column[int]:
    return Column("study", Integer, ForeignKey("study.id"), nullable=False)


def _one_of(column: str, values: Iterable[str]) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _from_one(column: str) -> CheckConstraint:
    return CheckConstraint(f"{column} >= 1", name=column)


def _to(table: str, here: tuple[str, ...], there: tuple[str, ...]) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(here, [f"{table}.{name}" for name in there])


study = Table(
    "study",
    metadata,
    Column("id", Integer, primary_key=True),
    _word("name"),
    _word("title"),
    _word("rubric_id"),
    _word("item_type"),
    _word("start_on"),
    _number("seed"),
    _word("created_at"),
    UniqueConstraint("name"),
)

rubric = Table(
    "rubric",
    metadata,
    _word("hash"),
    _word("id"),
    _word("version"),
    _number("position"),
    _word("document"),
    _word("added_at"),
    PrimaryKeyConstraint("hash"),
    UniqueConstraint("id", "version"),
    _from_one("position"),
)

item = Table(
    "item",
    metadata,
    _study(),
    _word("id"),
    _number("position"),
    _word("hash"),
    _word("kind"),
    _word("measures"),
    _word("content", nullable=True),
    _word("source", nullable=True),
    PrimaryKeyConstraint("study", "id"),
    UniqueConstraint("study", "position"),
    _from_one("position"),
)

member = Table(
    "member",
    metadata,
    _study(),
    _word("name"),
    _number("position"),
    _word("kind"),
    _word("roles"),
    _word("group_name", nullable=True),
    _word("card", nullable=True),
    _word("joined_at"),
    _word("left_at", nullable=True),
    PrimaryKeyConstraint("study", "name"),
    _one_of("kind", RATER_KINDS),
    _from_one("position"),
)

round = Table(
    "round",
    metadata,
    _study(),
    _number("number"),
    _word("kind"),
    _word("state"),
    _word("rubric"),
    _word("phase", nullable=True),
    _word("plan"),
    _word("opened_at", nullable=True),
    _word("closed_at", nullable=True),
    PrimaryKeyConstraint("study", "number"),
    _to("rubric", ("rubric",), ("hash",)),
    _one_of("kind", ROUND_KINDS),
    _one_of("state", get_args(RoundState)),
    _from_one("number"),
)

assignment = Table(
    "assignment",
    metadata,
    Column("study", Integer, nullable=False),
    _number("round"),
    _word("item"),
    _word("rater"),
    _number("occasion"),
    _number("position"),
    _word("state"),
    _word("lease", nullable=True),
    _word("leased_until", nullable=True),
    _number("version"),
    PrimaryKeyConstraint(*_KEY),
    _to("round", ("study", "round"), ("study", "number")),
    _to("item", ("study", "item"), ("study", "id")),
    _to("member", ("study", "rater"), ("study", "name")),
    _one_of("state", get_args(AssignmentState)),
    _from_one("occasion"),
    CheckConstraint("(lease IS NULL) = (leased_until IS NULL)", name="lease"),
    Index(None, "study", "rater", "state", "round", "position"),
    Index(
        "ix_assignment_lease",
        "study",
        "lease",
        "rater",
        "state",
        "round",
        "position",
        sqlite_where=text("lease IS NOT NULL"),
        postgresql_where=text("lease IS NOT NULL"),
    ),
)

draft = Table(
    "draft",
    metadata,
    Column("study", Integer, nullable=False),
    _number("round"),
    _word("item"),
    _word("rater"),
    _number("occasion"),
    _word("body"),
    _word("saved_at"),
    _number("version"),
    PrimaryKeyConstraint(*_KEY),
    _to("assignment", _KEY, _KEY),
)

rating = Table(
    "rating",
    metadata,
    Column("study", Integer, nullable=False),
    _number("round"),
    _word("item"),
    _word("rater"),
    _number("occasion"),
    _number("revision"),
    _word("request"),
    _word("rubric"),
    _word("item_hash"),
    _word("answers"),
    _word("facts"),
    _word("words", nullable=True),
    _word("started_at", nullable=True),
    _word("submitted_at"),
    PrimaryKeyConstraint(*_KEY, "revision"),
    UniqueConstraint("study", "request"),
    _to("round", ("study", "round"), ("study", "number")),
    _to("item", ("study", "item"), ("study", "id")),
    _to("member", ("study", "rater"), ("study", "name")),
    _to("rubric", ("rubric",), ("hash",)),
    _from_one("occasion"),
    _from_one("revision"),
    Index(None, "study", "item"),
    Index(
        "ix_rating_revised",
        *_KEY,
        "revision",
        sqlite_where=text("revision > 1"),
        postgresql_where=text("revision > 1"),
    ),
    Index(
        "ix_rating_handed_in",
        "study",
        "submitted_at",
        "round",
        "item",
        "rater",
        "occasion",
        sqlite_where=text("revision = 1"),
        postgresql_where=text("revision = 1"),
    ),
)

journal = Table(
    "journal",
    metadata,
    _study(),
    _number("number"),
    _word("kind"),
    _word("actor"),
    _word("at"),
    Column("round", BigInteger, nullable=True),
    _word("item", nullable=True),
    _word("criterion", nullable=True),
    _word("body"),
    _word("words", nullable=True),
    PrimaryKeyConstraint("study", "number"),
    _to("round", ("study", "round"), ("study", "number")),
    _to("item", ("study", "item"), ("study", "id")),
    _from_one("number"),
    Index(None, "study", "kind", "number"),
    Index(None, "study", "item", "number"),
    Index(None, "study", "at", "number"),
)

act = Table(
    "act",
    metadata,
    _word("name"),
    _word("done_at"),
    PrimaryKeyConstraint("name"),
)
"""Acts of the last day by name, for connections that broke while one was committed; no content."""

account = Table(
    "account",
    metadata,
    _word("name"),
    _word("password", nullable=True),
    _flag("owner"),
    _word("created_at"),
    _word("closed_at", nullable=True),
    _word("preferences"),
    PrimaryKeyConstraint("name"),
)

login = Table(
    "login",
    metadata,
    _word("hash"),
    _word("account"),
    _word("made_at"),
    _word("seen_at"),
    _word("ends_at"),
    _word("ended_at", nullable=True),
    _word("about"),
    PrimaryKeyConstraint("hash"),
    _to("account", ("account",), ("name",)),
    Index(None, "account"),
)

link = Table(
    "link",
    metadata,
    _word("hash"),
    _word("account"),
    Column("study", Integer, ForeignKey("study.id"), nullable=True),
    _word("made_by"),
    _word("made_at"),
    _word("ends_at"),
    _word("used_at", nullable=True),
    _word("taken_back_at", nullable=True),
    PrimaryKeyConstraint("hash"),
    Index(None, "account"),
    Index(None, "study"),
)

token = Table(
    "token",
    metadata,
    _word("hash"),
    _word("account"),
    _word("label"),
    _word("made_at"),
    _word("ends_at", nullable=True),
    _word("used_at", nullable=True),
    _word("ended_at", nullable=True),
    _flag("may_write"),
    Column("administers", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("hash"),
    _to("account", ("account",), ("name",)),
    Index(None, "account"),
)

event = Table(
    "event",
    metadata,
    _number("number"),
    _word("kind"),
    _word("actor"),
    _word("at"),
    _word("body"),
    PrimaryKeyConstraint("number"),
    _from_one("number"),
)

TABLES = (study, rubric, item, member, round, assignment, draft, rating, journal)
"""Every table that holds something of a study, those that others refer to first."""
WORKSPACE = (account, token, event)
"""Every table that holds something of the workspace and belongs to its backups."""
PASSING = (login, link)
"""What lets somebody in for a while only: no backup holds it, so that none lets anybody in."""


def names(table: Table) -> tuple[str, ...]:
    """The columns of a table, in the order in which rows are loaded and copied."""
    return tuple(column.name for column in table.columns)


def key_columns(table: Table) -> tuple[Column[Any], ...]:
    """The columns that name a row."""
    return tuple(table.primary_key.columns)
