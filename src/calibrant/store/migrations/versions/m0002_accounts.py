"""Accounts: who may come in, by what, and the workspace's own log."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; no row of a study is touched."""
    op.create_table(
        "account",
        *_words("name"),
        *_words("password", nullable=True),
        sa.Column("owner", sa.Boolean, nullable=False),
        *_words("created_at"),
        *_words("closed_at", nullable=True),
        *_words("preferences"),
        _primary("account", "name"),
    )
    op.create_table(
        "login",
        *_words("hash", "account", "made_at", "seen_at", "ends_at"),
        *_words("ended_at", nullable=True),
        *_words("about"),
        _primary("login", "hash"),
        _of_account("login"),
    )
    op.create_table(
        "link",
        *_words("hash", "account"),
        sa.Column("study", sa.Integer, nullable=True),
        *_words("made_by", "made_at", "ends_at"),
        *_words("used_at", "taken_back_at", nullable=True),
        _primary("link", "hash"),
        sa.ForeignKeyConstraint(["study"], ["study.id"], name="fk_link_study"),
    )
    op.create_table(
        "token",
        *_words("hash", "account", "label", "made_at"),
        *_words("ends_at", "used_at", "ended_at", nullable=True),
        sa.Column("may_write", sa.Boolean, nullable=False),
        _primary("token", "hash"),
        _of_account("token"),
    )
    op.create_table(
        "event",
        sa.Column("number", sa.BigInteger, nullable=False),
        *_words("kind", "actor", "at", "body"),
        _primary("event", "number"),
        sa.CheckConstraint("number >= 1", name=op.f("ck_event_number")),
    )
    for table, column in (
        ("login", "account"),
        ("link", "account"),
        ("link", "study"),
        ("token", "account"),
    ):
        op.create_index(f"ix_{table}_{column}", table, [column])
    for statement in _triggers(op.get_bind().dialect.name):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    """A database that has been used is not taken back; its backup is beside it."""
    raise NotImplementedError("restore the backup of the version before")


def _words(*names: str, nullable: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, _TEXT, nullable=nullable) for name in names]


def _primary(table: str, *names: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*names, name=f"pk_{table}")


def _of_account(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["account"], ["account.name"], name=f"fk_{table}_account")


def _triggers(dialect: str) -> Iterator[str]:
    kept = "number, kind, actor, at, body"
    for end, happening in (("delete", "DELETE"), ("update", f"UPDATE OF {kept}")):
        head = f"CREATE TRIGGER event_no_{end} BEFORE {happening} ON event FOR EACH ROW"
        if dialect == "sqlite":
            yield f"{head} BEGIN SELECT RAISE(ABORT, 'event: rows are kept as they are'); END"
        else:
            yield f"{head} EXECUTE FUNCTION calibrant_refuse()"
    if dialect == "sqlite":
        yield (
            "CREATE TRIGGER event_no_replace BEFORE INSERT ON event FOR EACH ROW WHEN "
            "EXISTS (SELECT 1 FROM event WHERE number = NEW.number) "
            "BEGIN SELECT RAISE(ABORT, 'event: a row of that key is kept already'); END"
        )
    else:
        yield (
            "CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON event "
            "FOR EACH STATEMENT EXECUTE FUNCTION calibrant_refuse()"
        )
