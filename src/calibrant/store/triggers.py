"""What the databases themselves refuse: any change of a row that is kept for good.

Rows of ratings, of the journal, of the workspace's events, of rubrics and of items are neither
changed nor deleted; only columns that hold words can be emptied. Programs cannot do otherwise by
mistake, whatever they are, unless they take the triggers away; ``doctor`` tells when somebody has.
"""

from __future__ import annotations

from collections.abc import Iterator

from calibrant.store.schema import WORDS, metadata, names

PHRASE = "rows are kept as they are"
"""Stands in every refusal."""
DOUBLED = "a row of that key is kept already"
"""Stands in SQLite's refusal of a row that would take the place of another."""
_UNIQUE = {
    "rubric": (("hash",), ("id", "version")),
    "item": (("study", "id"), ("study", "position")),
    "rating": (
        ("study", "round", "item", "rater", "occasion", "revision"),
        ("study", "request"),
    ),
    "journal": (("study", "number"),),
    "event": (("number",),),
}
_FUNCTION = "calibrant_refuse"


def trigger_names(dialect: str) -> frozenset[str]:
    """The triggers that a database of that kind must have."""
    ends = {"delete", "update"}
    return frozenset(
        f"{table}_no_{end}"
        for table, words in WORDS.items()
        for end in ends
        | ({"words"} if words else set())
        | ({"replace"} if dialect == "sqlite" else {"truncate"})
    )


def statements(dialect: str) -> Iterator[str]:
    """What makes the triggers."""
    if dialect == "postgresql":
        yield (
            f"CREATE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '%: {PHRASE}', TG_TABLE_NAME "
            "USING ERRCODE = 'restrict_violation'; END $$"
        )
    for table, words in WORDS.items():
        kept = ", ".join(n for n in names(metadata.tables[table]) if n not in words)
        make = _on_sqlite if dialect == "sqlite" else _on_postgres
        yield make(f"{table}_no_delete", f"DELETE ON {table}", "")
        yield make(f"{table}_no_update", f"UPDATE OF {kept} ON {table}", "")
        if words:
            filled = " OR ".join(f"NEW.{name} IS NOT NULL" for name in words)
            yield make(f"{table}_no_words", f"UPDATE OF {', '.join(words)} ON {table}", filled)
        if dialect == "sqlite":
            yield _no_replace(table)
        else:
            yield (
                f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
                f"FOR EACH STATEMENT EXECUTE FUNCTION {_FUNCTION}()"
            )


def _on_sqlite(name: str, event: str, when: str) -> str:
    table = event.split(" ON ")[1]
    condition = f" WHEN {when}" if when else ""
    return (
        f"CREATE TRIGGER {name} BEFORE {event} FOR EACH ROW{condition} "
        f"BEGIN SELECT RAISE(ABORT, '{table}: {PHRASE}'); END"
    )


def _on_postgres(name: str, event: str, when: str) -> str:
    condition = f" WHEN ({when})" if when else ""
    return (
        f"CREATE TRIGGER {name} BEFORE {event} FOR EACH ROW{condition} "
        f"EXECUTE FUNCTION {_FUNCTION}()"
    )


def _no_replace(table: str) -> str:
    """``INSERT OR REPLACE`` deletes without a trigger for deleting, so it is met before."""
    there = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} WHERE "  # noqa: S608 - names of the schema
        + " AND ".join(f"{name} = NEW.{name}" for name in key)
        + ")"
        for key in _UNIQUE[table]
    )
    return (
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} FOR EACH ROW WHEN {there} "
        f"BEGIN SELECT RAISE(ABORT, '{table}: {DOUBLED}'); END"
    )
