"""Records become rows, and rows records.

A row is a plain tuple in the order of the table's columns. Documents become compact JSON in the
order they came in. Both databases must keep the same texts, so what only one of them could keep
is refused here: the character NUL, and names too long for an index.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from calibrant.core.errors import StoreError, one_line
from calibrant.core.ids import content_hash
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
from calibrant.ports.store import AnswerRow

Row: TypeAlias = tuple[Any, ...]
MAX_NAME_BYTES = 1000
"""Two names must fit into one entry of an index."""

_exact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_ascii = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_fast = msgspec.json.Encoder().encode
_counts = msgspec.json.Decoder().decode
"""Reads what code counted: numbers by plain names, so that no surrogate can be among them."""


def document(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Any document as JSON; raises ``StoreError`` on what JSON cannot say."""
    plain = value if isinstance(value, dict | list | tuple) else dict(value)
    try:
        data = _fast(plain)
        if b"null" not in data:  # what it writes for numbers that are none
            return data.decode()
    except (TypeError, ValueError):
        pass
    try:
        text = _exact(plain)
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, as models write it
        return _ascii(plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"a document cannot be kept as JSON: {error}") from error
    return text


def named(text: str, what: str) -> str:
    """A name that both databases can keep and find; raises ``StoreError`` otherwise."""
    if "\0" in text:
        raise StoreError(f"{what} {one_line(text[:80])}: the character NUL cannot be kept")
    if len(text) > MAX_NAME_BYTES // 4 or not text.isascii():
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise StoreError(f"{what} {text[:80]!a}: half a character cannot be kept") from None
        if size > MAX_NAME_BYTES:
            shown = one_line(text[:40])
            raise StoreError(
                f"{what} {shown}…: longer than {MAX_NAME_BYTES} bytes; give a shorter one"
            )
    return text


def without_nul(row: Row) -> Row:
    """The row, once it is known that both databases can keep its texts."""
    for value in row:
        if isinstance(value, str) and "\0" in value:
            shown = one_line(value[:80])
            raise StoreError(f"the character NUL cannot be kept; take it out of {shown}")
    return row


def described(table: str, row: Row) -> str:
    """A row by its name, fit for a message: without any of its content."""
    shown = [one_line(str(value)) for value in row]
    match table:
        case "rating":
            round_, item, rater, occasion, revision, request = shown[1:7]
            what = f"round {round_}, item {item}, rater {rater}, occasion {occasion}"
            return f"rating ({what}, revision {revision}, request {request})"
        case "assignment" | "draft":
            round_, item, rater, occasion = shown[1:5]
            return f"{table} (round {round_}, item {item}, rater {rater}, occasion {occasion})"
        case "item":
            return f"item {shown[1]} (position {shown[2]})"
        case "rubric":
            return f"rubric {shown[1]} {shown[2]}"
        case "study" | "account" | "event":
            return f"{table} {shown[0]}"
        case _:
            return f"{table} {shown[1]}"


def study_row(record: StudyRecord) -> dict[str, Any]:
    """All columns but the number, which the database gives."""
    without_nul(
        (record.title, record.rubric_id, record.item_type, record.start_on, record.created_at)
    )
    return {
        "name": named(record.name, "study"),
        "title": record.title,
        "rubric_id": record.rubric_id,
        "item_type": record.item_type,
        "start_on": record.start_on,
        "seed": record.seed,
        "created_at": record.created_at,
    }


def study_record(row: Row) -> tuple[int, StudyRecord]:
    """A study and its number."""
    number, name, title, rubric_id, item_type, start_on, seed, created_at = row
    return number, StudyRecord(
        name=name,
        title=title,
        rubric_id=rubric_id,
        item_type=item_type,
        start_on=start_on,
        seed=seed,
        created_at=created_at,
    )


def rubric_row(record: RubricRecord, position: int) -> Row:
    """A version, and its place among the versions of its rubric."""
    named(record.hash, "rubric")
    named(f"{record.id} {record.version}", "rubric")
    return without_nul(
        (record.hash, record.id, record.version, position, record.document, record.added_at)
    )


def rubric_record(row: Row) -> RubricRecord:
    """A version."""
    hash_, id_, version, _, document_, added_at = row
    return RubricRecord(hash=hash_, id=id_, version=version, document=document_, added_at=added_at)


def item_row(study: int, record: ItemRecord) -> Row:
    """An item."""
    return without_nul(
        (
            study,
            named(record.id, "item"),
            record.position,
            record.hash,
            record.kind,
            document(record.measures),
            record.content,
            record.source,
        )
    )


def item_record(row: Row) -> ItemRecord:
    """An item."""
    _, id_, position, hash_, kind, measures, content, source = row
    return ItemRecord(
        id=id_,
        hash=hash_,
        kind=kind,
        position=position,
        measures=_counts(measures),
        content=content,
        source=source,
    )


def member_row(study: int, member: Member, position: int) -> Row:
    """A member, and the place in the order of joining."""
    return without_nul(
        (
            study,
            named(member.name, "member"),
            position,
            member.kind,
            document(member.roles),
            member.group,
            member.card,
            member.joined_at,
            member.left_at,
        )
    )


def member_record(row: Row) -> Member:
    """A member."""
    _, name, _, kind, roles, group, card, joined_at, left_at = row
    return Member(
        name=name,
        kind=kind,
        roles=tuple(json.loads(roles)),
        group=group,
        card=card,
        joined_at=joined_at,
        left_at=left_at,
    )


def round_row(study: int, round: Round) -> Row:
    """A round."""
    plan = document(round.plan)
    times = (round.opened_at, round.closed_at)
    return without_nul(
        (study, round.number, round.kind, round.state, round.rubric, round.phase, plan, *times)
    )


def round_record(row: Row) -> Round:
    """A round."""
    _, number, kind, state, rubric, phase, plan, opened_at, closed_at = row
    return Round(
        number=number,
        kind=kind,
        state=state,
        rubric=rubric,
        phase=phase,
        plan=json.loads(plan),
        opened_at=opened_at,
        closed_at=closed_at,
    )


def key_row(study: int, key: Key) -> Row:
    """The columns that name an assignment, a draft or a rating."""
    if "\0" in key.item or "\0" in key.rater:
        named(key.item, "item")
        named(key.rater, "rater")
    return study, key.round, key.item, key.rater, key.occasion


def assignment_row(study: int, one: Assignment) -> Row:
    """An assignment."""
    state = (one.position, one.state, one.lease, one.leased_until, one.version)
    return key_row(study, one.key) + state


def assignment_record(row: Row) -> Assignment:
    """An assignment."""
    _, round_, item, rater, occasion, position, state, lease, leased_until, version = row
    return Assignment(
        key=Key(round=round_, item=item, rater=rater, occasion=occasion),
        position=position,
        state=state,
        lease=lease,
        leased_until=leased_until,
        version=version,
    )


def draft_row(study: int, draft: Draft) -> Row:
    """A draft."""
    return (*key_row(study, draft.key), document(draft.body), draft.saved_at, draft.version)


def draft_record(row: Row) -> Draft:
    """A draft."""
    _, round_, item, rater, occasion, body, saved_at, version = row
    return Draft(
        key=Key(round=round_, item=item, rater=rater, occasion=occasion),
        body=json.loads(body),
        saved_at=saved_at,
        version=version,
    )


def rating_row(study: int, one: Rating) -> Row:
    """A rating."""
    if "\0" in f"{one.rubric}{one.item_hash}{one.submitted_at}{one.started_at}":
        without_nul((one.rubric, one.item_hash, one.submitted_at, one.started_at))
    return (
        *key_row(study, one.key),
        one.revision,
        named(one.request, "request"),
        one.rubric,
        one.item_hash,
        document(one.answers),
        document(one.facts),
        None if one.words is None else document(one.words),
        one.started_at,
        one.submitted_at,
    )


def rating_record(row: Row) -> Rating:
    """A rating."""
    _, round_, item, rater, occasion, revision, request, rubric, item_hash = row[:9]
    answers_, facts, words, started_at, submitted_at = row[9:]
    return Rating(
        key=Key(round=round_, item=item, rater=rater, occasion=occasion),
        revision=revision,
        request=request,
        rubric=rubric,
        item_hash=item_hash,
        answers=json.loads(answers_),
        facts=json.loads(facts),
        words=None if words is None else json.loads(words),
        started_at=started_at,
        submitted_at=submitted_at,
    )


def answer_row(study: int, one: AnswerRow, item_hash: str) -> Row:
    """A rating that comes from a table: without words, its request made from its key."""
    round_, item, rater, occasion, revision, rubric, answers_, facts, submitted_at = one
    request = f"row:{round_}:{occasion}:{revision}:{len(item)}:{item}:{rater}"
    if "\0" in f"{request}{rubric}{answers_}{facts}{submitted_at}":
        without_nul((request, *one))
    if len(request) > MAX_NAME_BYTES // 4:
        request = content_hash(request)
    row = (study, round_, item, rater, occasion, revision, request, rubric, item_hash)
    return (*row, answers_, facts, None, None, submitted_at)


def entry_row(study: int, number: int, entry: Entry) -> Row:
    """A line of the journal under its number."""
    return without_nul(
        (
            study,
            number,
            entry.kind,
            entry.actor,
            entry.at,
            entry.round,
            entry.item,
            entry.criterion,
            document(entry.body),
            None if entry.words is None else document(entry.words),
        )
    )


def entry_record(row: Row) -> Entry:
    """A line of the journal."""
    _, number, kind, actor, at, round_, item, criterion, body, words = row
    return Entry(
        kind=kind,
        actor=actor,
        at=at,
        number=number,
        round=round_,
        item=item,
        criterion=criterion,
        body=json.loads(body),
        words=None if words is None else json.loads(words),
    )
