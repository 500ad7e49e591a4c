"""Records of a small study, for the tests of the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from calibrant.core.study import (
    Assignment,
    Draft,
    Entry,
    ItemRecord,
    Key,
    Member,
    Rating,
    Round,
    RubricRecord,
    StudyRecord,
)
from calibrant.ports.store import Writing

HASH = "sha256:" + "0" * 64
RATERS = ("ann", "bea")


def at(minute: int, hour: int = 9) -> str:
    return f"2026-03-02T{hour:02}:{minute:02}:00.000000Z"


def a_study(name: str = "pilot", **changes: Any) -> StudyRecord:
    values: dict[str, Any] = {
        "name": name,
        "title": "A pilot",
        "rubric_id": "small",
        "item_type": "plan",
        "start_on": "2026-03-02",
        "seed": 7,
        "created_at": at(0),
    }
    return StudyRecord(**values | changes)


def a_rubric(version: str = "1.0", hash: str = HASH, **changes: Any) -> RubricRecord:
    values = {"id": "small", "document": '{"id":"small"}', "added_at": at(0)}
    return RubricRecord(version=version, hash=hash, **values | changes)


def an_item(number: int, **changes: Any) -> ItemRecord:
    values: dict[str, Any] = {
        "id": f"i{number}",
        "hash": f"sha256:{number:064}",
        "kind": "plan",
        "position": number,
        "measures": {"exchanges": number},
        "content": f'{{"goal":"goal {number}"}}',
        "source": '{"model":"m"}',
    }
    return ItemRecord(**values | changes)


def a_member(name: str, **changes: Any) -> Member:
    values: dict[str, Any] = {"kind": "HUMAN", "roles": ("reviewer",), "joined_at": at(0)}
    return Member(name=name, **values | changes)


def a_round(number: int = 1, **changes: Any) -> Round:
    values: dict[str, Any] = {
        "kind": "main",
        "state": "open",
        "rubric": HASH,
        "phase": None,
        "plan": {"raters": 2},
    }
    return Round(number=number, **values | changes)


def a_key(item: str = "i1", rater: str = "ann", **changes: Any) -> Key:
    values: dict[str, Any] = {"round": 1, "item": item, "rater": rater}
    return Key(**values | changes)


def a_rating(item: str = "i1", rater: str = "ann", **changes: Any) -> Rating:
    key = changes.pop("key", None) or a_key(item, rater)
    revision = changes.get("revision", 1)
    values: dict[str, Any] = {
        "revision": 1,
        "request": f"{key.round}/{key.item}/{key.rater}/{key.occasion}/{revision}",
        "rubric": HASH,
        "item_hash": HASH,
        "answers": {"tidy": "YES", "depth": "2"},
        "facts": {"sitting": 1},
        "words": {"notes": {"tidy": "well kept"}},
        "started_at": at(1),
        "submitted_at": at(2),
    }
    return Rating(key=key, **values | changes)


def a_draft(item: str = "i1", rater: str = "ann", **changes: Any) -> Draft:
    values: dict[str, Any] = {"body": {"answers": {"tidy": "NO"}}, "saved_at": at(3), "version": 1}
    return Draft(key=a_key(item, rater), **values | changes)


def put_draft(tx: Writing, study: int, draft: Draft, token: str = "tab") -> None:
    """Keep a draft, and give its assignment back."""
    held = {"now": draft.saved_at, "until": at(33)}
    assert tx.keep_draft(study, draft, token=token, **held), draft.key
    tx.release(study, draft.key, token)


def an_entry(kind: str = "flag", **changes: Any) -> Entry:
    return Entry(kind=kind, **{"actor": "ann", "at": at(4)} | changes)


def assignments(items: Iterable[str], raters: Iterable[str] = RATERS) -> list[Assignment]:
    return [
        Assignment(key=a_key(item, rater), position=position)
        for rater in raters
        for position, item in enumerate(items, 1)
    ]


def begin(writing: Writing, items: int = 4, name: str = "pilot") -> int:
    """A study with two raters, an open round and everything assigned to both."""
    study = writing.add_study(a_study(name))
    writing.add_rubric(a_rubric())
    writing.add_items(study, (an_item(number) for number in range(1, items + 1)))
    for rater in RATERS:
        writing.add_member(study, a_member(rater))
    writing.add_round(study, a_round())
    writing.add_assignments(study, assignments([f"i{n}" for n in range(1, items + 1)]))
    return study
