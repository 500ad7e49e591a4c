"""The tables of the first version."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_KEY = ("study", "round", "item", "rater", "occasion")
_KEPT = {
    "rubric": ("hash, id, version, position, document, added_at", ()),
    "item": ("study, id, position, hash, kind, measures", ("content", "source")),
    "rating": (
        "study, round, item, rater, occasion, revision, request, rubric, item_hash, answers, "
        "facts, started_at, submitted_at",
        ("words",),
    ),
    "journal": (
        "study, number, kind, actor, at, round, item, criterion, body",
        ("words",),
    ),
}
_UNIQUE = {
    "rubric": (("hash",), ("id", "version")),
    "item": (("study", "id"), ("study", "position")),
    "rating": ((*_KEY, "revision"), ("study", "request")),
    "journal": (("study", "number"),),
}


def upgrade() -> None:
    """Make everything."""
    _studies()
    _rounds()
    _assignments()
    _ratings()
    _journal()
    op.create_table("act", *_words("name", "done_at"), _primary("act", "name"))
    for statement in _triggers(op.get_bind().dialect.name):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    """There is nothing before the first version."""
    raise NotImplementedError("there is nothing before the first version")


def _words(*names: str, nullable: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, _TEXT, nullable=nullable) for name in names]


def _number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=nullable)


def _study() -> sa.Column[int]:
    return sa.Column("study", sa.Integer, nullable=False)


def _key_columns() -> list[sa.Column[int] | sa.Column[str]]:
    return [_study(), _number("round"), *_words("item", "rater"), _number("occasion")]


def _foreign(table: str, parent: str, here: list[str], there: list[str]) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        here, [f"{parent}.{name}" for name in there], name=f"fk_{table}_{parent}"
    )


def _of_study(table: str) -> sa.ForeignKeyConstraint:
    return _foreign(table, "study", ["study"], ["id"])


def _primary(table: str, *names: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*names, name=f"pk_{table}")


def _unique(table: str, *names: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*names, name=f"uq_{table}_{'_'.join(names)}")


def _check(table: str, name: str, rule: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(rule, name=op.f(f"ck_{table}_{name}"))


def _studies() -> None:
    op.create_table(
        "study",
        sa.Column("id", sa.Integer, nullable=False),
        *_words("name", "title", "rubric_id", "item_type", "start_on"),
        _number("seed"),
        *_words("created_at"),
        _primary("study", "id"),
        _unique("study", "name"),
    )
    op.create_table(
        "rubric",
        *_words("hash", "id", "version"),
        _number("position"),
        *_words("document", "added_at"),
        _primary("rubric", "hash"),
        _unique("rubric", "id", "version"),
        _check("rubric", "position", "position >= 1"),
    )
    op.create_table(
        "item",
        _study(),
        *_words("id"),
        _number("position"),
        *_words("hash", "kind", "measures"),
        *_words("content", "source", nullable=True),
        _primary("item", "study", "id"),
        _of_study("item"),
        _unique("item", "study", "position"),
        _check("item", "position", "position >= 1"),
    )
    op.create_table(
        "member",
        _study(),
        *_words("name"),
        _number("position"),
        *_words("kind", "roles"),
        *_words("group_name", "card", nullable=True),
        *_words("joined_at"),
        *_words("left_at", nullable=True),
        _primary("member", "study", "name"),
        _of_study("member"),
        _check("member", "kind", "kind IN ('HUMAN', 'LLM', 'CODE')"),
        _check("member", "position", "position >= 1"),
    )


def _rounds() -> None:
    op.create_table(
        "round",
        _study(),
        _number("number"),
        *_words("kind", "state", "rubric"),
        *_words("phase", nullable=True),
        *_words("plan"),
        *_words("opened_at", "closed_at", nullable=True),
        _primary("round", "study", "number"),
        _of_study("round"),
        _foreign("round", "rubric", ["rubric"], ["hash"]),
        _check(
            "round",
            "kind",
            "kind IN ('onboarding', 'calibration', 'main', 'recalibration', 'test')",
        ),
        _check("round", "state", "state IN ('planned', 'open', 'closed')"),
        _check("round", "number", "number >= 1"),
    )


def _assignments() -> None:
    op.create_table(
        "assignment",
        *_key_columns(),
        _number("position"),
        *_words("state"),
        *_words("lease", "leased_until", nullable=True),
        _number("version"),
        _primary("assignment", *_KEY),
        _foreign("assignment", "round", ["study", "round"], ["study", "number"]),
        _foreign("assignment", "item", ["study", "item"], ["study", "id"]),
        _foreign("assignment", "member", ["study", "rater"], ["study", "name"]),
        _check("assignment", "state", "state IN ('open', 'done', 'withdrawn')"),
        _check("assignment", "occasion", "occasion >= 1"),
        _check("assignment", "lease", "(lease IS NULL) = (leased_until IS NULL)"),
    )
    op.create_index(
        "ix_assignment_study_rater_state_round_position",
        "assignment",
        ["study", "rater", "state", "round", "position"],
    )
    held = sa.text("lease IS NOT NULL")
    op.create_index(
        "ix_assignment_lease",
        "assignment",
        ["study", "lease", "rater", "state", "round", "position"],
        sqlite_where=held,
        postgresql_where=held,
    )
    op.create_table(
        "draft",
        *_key_columns(),
        *_words("body", "saved_at"),
        _number("version"),
        _primary("draft", *_KEY),
        _foreign("draft", "assignment", list(_KEY), list(_KEY)),
    )


def _ratings() -> None:
    op.create_table(
        "rating",
        *_key_columns(),
        _number("revision"),
        *_words("request", "rubric", "item_hash", "answers", "facts"),
        *_words("words", "started_at", nullable=True),
        *_words("submitted_at"),
        _primary("rating", *_KEY, "revision"),
        _unique("rating", "study", "request"),
        _foreign("rating", "round", ["study", "round"], ["study", "number"]),
        _foreign("rating", "item", ["study", "item"], ["study", "id"]),
        _foreign("rating", "member", ["study", "rater"], ["study", "name"]),
        _foreign("rating", "rubric", ["rubric"], ["hash"]),
        _check("rating", "occasion", "occasion >= 1"),
        _check("rating", "revision", "revision >= 1"),
    )
    op.create_index("ix_rating_study_item", "rating", ["study", "item"])
    revised = sa.text("revision > 1")
    op.create_index(
        "ix_rating_revised",
        "rating",
        [*_KEY, "revision"],
        sqlite_where=revised,
        postgresql_where=revised,
    )


def _journal() -> None:
    op.create_table(
        "journal",
        _study(),
        _number("number"),
        *_words("kind", "actor", "at"),
        _number("round", nullable=True),
        *_words("item", "criterion", nullable=True),
        *_words("body"),
        *_words("words", nullable=True),
        _primary("journal", "study", "number"),
        _of_study("journal"),
        _foreign("journal", "round", ["study", "round"], ["study", "number"]),
        _foreign("journal", "item", ["study", "item"], ["study", "id"]),
        _check("journal", "number", "number >= 1"),
    )
    op.create_index("ix_journal_study_kind_number", "journal", ["study", "kind", "number"])
    op.create_index("ix_journal_study_item_number", "journal", ["study", "item", "number"])


def _triggers(dialect: str) -> Iterator[str]:
    if dialect == "postgresql":
        yield (
            "CREATE FUNCTION calibrant_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '%: rows are kept as they are', TG_TABLE_NAME "
            "USING ERRCODE = 'restrict_violation'; END $$"
        )
    for table, (kept, words) in _KEPT.items():
        filled = " OR ".join(f"NEW.{name} IS NOT NULL" for name in words)
        events = [("delete", "DELETE", ""), ("update", f"UPDATE OF {kept}", "")]
        if words:
            events.append(("words", f"UPDATE OF {', '.join(words)}", filled))
        for end, event, when in events:
            head = f"CREATE TRIGGER {table}_no_{end} BEFORE {event} ON {table} FOR EACH ROW"
            if dialect == "sqlite":
                rule = f"{head} WHEN {when}" if when else head
                yield f"{rule} BEGIN SELECT RAISE(ABORT, '{table}: rows are kept as they are'); END"
            else:
                rule = f"{head} WHEN ({when})" if when else head
                yield f"{rule} EXECUTE FUNCTION calibrant_refuse()"
        yield (
            _no_replace(table)
            if dialect == "sqlite"
            else (
                f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION calibrant_refuse()"
            )
        )


def _no_replace(table: str) -> str:
    there = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} WHERE "  # noqa: S608 - names of the schema
        + " AND ".join(f"{name} = NEW.{name}" for name in key)
        + ")"
        for key in _UNIQUE[table]
    )
    return (
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} FOR EACH ROW WHEN {there} "
        f"BEGIN SELECT RAISE(ABORT, '{table}: a row of that key is kept already'); END"
    )
