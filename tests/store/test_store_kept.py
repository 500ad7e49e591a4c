"""What is kept is kept: no program changes or deletes it, and redaction empties words only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError
from tests.store.store_kit import a_draft, a_key, a_rating, an_entry, an_item, begin, put_draft

from calibrant.core.errors import StoreError
from calibrant.store.open import open_store
from calibrant.store.sql import SqlStore

CHANGES = [
    "UPDATE rating SET answers = '{}'",
    "UPDATE rating SET answers = answers",
    "UPDATE rating SET revision = 7, words = NULL",
    "UPDATE rating SET words = '{}'",
    "UPDATE rating SET submitted_at = 'later' WHERE item = 'i1'",
    "DELETE FROM rating",
    "DELETE FROM rating WHERE item = 'i1'",
    "UPDATE journal SET body = '{}'",
    "UPDATE journal SET words = 'x'",
    "UPDATE journal SET number = number + 100",
    "DELETE FROM journal",
    "UPDATE rubric SET document = '{}'",
    "UPDATE rubric SET version = '9'",
    "DELETE FROM rubric",
    "UPDATE item SET content = 'x'",
    "UPDATE item SET source = 'x', content = NULL",
    "UPDATE item SET hash = 'x'",
    "UPDATE item SET id = 'x'",
    "DELETE FROM item",
    "DELETE FROM study",
    "UPDATE study SET id = 99",
    "UPDATE assignment SET state = 'lost'",
    "UPDATE round SET kind = 'party'",
]
ON_SQLITE = [
    "INSERT OR REPLACE INTO rating SELECT study, round, item, rater, occasion, revision, request, "
    "rubric, item_hash, '{}', facts, words, started_at, submitted_at FROM rating",
    "INSERT OR REPLACE INTO rating SELECT study, round, 'i4', rater, occasion, revision, request, "
    "rubric, item_hash, '{}', facts, words, started_at, submitted_at FROM rating",
    "UPDATE OR REPLACE rating SET item = 'i2'",
    "REPLACE INTO journal SELECT study, number, 'x', actor, at, round, item, criterion, body, "
    "words FROM journal",
    "REPLACE INTO item SELECT study, id, position, hash, kind, measures, 'x', source FROM item",
    "REPLACE INTO item SELECT study, 'x', position, hash, kind, measures, 'x', source FROM item",
    "REPLACE INTO rubric SELECT hash, id, version, position, '{}', added_at FROM rubric",
]
ON_POSTGRES = ["TRUNCATE rating", "TRUNCATE journal", "TRUNCATE study CASCADE"]


@pytest.fixture
def full(store: SqlStore) -> int:
    study = store.write(begin)
    store.write(lambda w: w.add_ratings(study, [a_rating("i1"), a_rating("i2")]))
    store.write(
        lambda w: w.log(study, [an_entry(item=f"i{n}", words={"quote": "q"}) for n in (1, 2)])
    )
    return study


def contents(store: SqlStore, study: int) -> list[object]:
    return store.read(
        lambda r: [
            r.studies(),
            list(r.items(study)),
            r.rubrics("small"),
            r.rounds(study),
            list(r.assignments(study)),
            list(r.ratings(study, all_revisions=True)),
            list(r.journal(study)),
        ]
    )


def test_plain_sql_changes_nothing_that_is_kept(store: SqlStore, full: int) -> None:
    before = contents(store, full)
    more = ON_SQLITE if store.dialect.name == "sqlite" else ON_POSTGRES
    for statement in [*CHANGES, *more]:
        with pytest.raises(DBAPIError), store.engine.connect() as connection:
            connection.exec_driver_sql(statement)
            connection.commit()
    assert contents(store, full) == before


def test_redaction_empties_every_word_of_an_item_and_nothing_else(
    store: SqlStore, full: int
) -> None:
    store.write(lambda w: put_draft(w, full, a_draft("i1")))
    store.write(lambda w: put_draft(w, full, a_draft("i2")))
    store.write(lambda w: w.redact_item(full, "i1"))
    store.write(lambda w: w.redact_item(full, "i1"))
    assert store.read(lambda r: list(r.items(full)))[:2] == [
        an_item(1, content=None, source=None),
        an_item(2),
    ]
    assert store.read(lambda r: list(r.ratings(full))) == [
        a_rating("i1", words=None),
        a_rating("i2"),
    ]
    first = an_entry(item="i1", number=1)
    assert store.read(lambda r: list(r.journal(full))) == [
        first,
        replace(first, number=2, item="i2", words={"quote": "q"}),
    ]
    assert store.read(lambda r: r.draft(full, a_key("i1"))) is None
    assert store.read(lambda r: r.draft(full, a_key("i2"))) is not None
    with pytest.raises(StoreError, match="no item none"):
        store.write(lambda w: w.redact_item(full, "none"))


def test_redacted_words_are_not_left_in_the_file(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "s.db"), create=True)
    study = store.write(begin)
    secret = "the unmistakable secret"
    large = f"{secret} " * 2000  # fills pages that are free afterwards
    store.write(lambda w: w.add_items(study, [an_item(9, content=large, source=large)]))
    store.write(lambda w: w.add_ratings(study, [a_rating("i9", words={"quote": secret})]))
    store.write(lambda w: w.log(study, [an_entry(item="i9", words={"quote": secret})]))
    store.write(lambda w: w.redact_item(study, "i9"))
    left = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert b"sha256:" in left
    assert secret.encode() not in left
    store.close()
