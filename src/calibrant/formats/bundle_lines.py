"""Records of a study as the lines of a bundle, and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from calibrant.core.ids import canonical
from calibrant.core.study import Assignment, Entry, ItemRecord, Key, Member, Rating, Round
from calibrant.core.visible import is_whole

T = TypeVar("T")


class _Line(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What a line must hold, no more and no less."""


class _Item(_Line):
    id: str
    hash: str
    kind: str
    position: int
    measures: dict[str, int]
    content: dict[str, Any] | None
    source: dict[str, Any] | None


class _Member(_Line):
    name: str
    kind: str
    roles: list[str]
    group: str | None
    card: dict[str, Any] | None
    joined_at: str
    left_at: str | None


class _Round(_Line):
    number: int
    kind: str
    state: str
    rubric: str
    phase: str | None
    plan: dict[str, Any]
    opened_at: str | None
    closed_at: str | None


class _Assignment(_Line):
    round: int
    item: str
    rater: str
    occasion: int
    position: int
    state: str
    version: int


class _Rating(_Line):
    round: int
    item: str
    rater: str
    occasion: int
    revision: int
    request: str
    rubric: str
    item_hash: str
    answers: dict[str, str]
    facts: dict[str, Any]
    words: dict[str, Any] | None
    started_at: str | None
    submitted_at: str


class _Entry(_Line):
    number: int
    kind: str
    actor: str
    at: str
    round: int | None
    item: str | None
    criterion: str | None
    body: dict[str, Any]
    words: dict[str, Any] | None


class Codec(Generic[T]):
    """How one kind of record is written and read."""

    def __init__(
        self,
        shape: type[_Line],
        write: Callable[[T], dict[str, Any]],
        read: Callable[[Any], T],
    ) -> None:
        self._shape, self.write, self._read = shape, write, read

    def read(self, value: Any, *, odd: bool = True) -> T:
        """The record; raises ``msgspec.ValidationError`` where the line is of another shape.

        ``odd`` says that the line has escapes, so that texts may hold what no database keeps.
        """
        line = msgspec.convert(value, self._shape)
        if odd:
            for name in self._shape.__struct_fields__:
                _kept(getattr(line, name), name)
        return self._read(line)


def _kept(value: Any, name: str) -> None:
    if isinstance(value, str) and ("\0" in value or not is_whole(value)):
        raise msgspec.ValidationError(f"{name} has NUL or half a character, which cannot be kept")


def _document(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _text(document: Any) -> str | None:
    if document is None:
        return None
    text = canonical(document)
    if not is_whole(text):
        raise msgspec.ValidationError("half a character cannot be kept")
    return text


def _key(line: Any) -> Key:
    return Key(round=line.round, item=line.item, rater=line.rater, occasion=line.occasion)


def _key_fields(key: Key) -> dict[str, Any]:
    return {"round": key.round, "item": key.item, "rater": key.rater, "occasion": key.occasion}


ITEMS = Codec[ItemRecord](
    _Item,
    lambda one: {
        "id": one.id,
        "hash": one.hash,
        "kind": one.kind,
        "position": one.position,
        "measures": dict(one.measures),
        "content": _document(one.content),
        "source": _document(one.source),
    },
    lambda line: ItemRecord(
        id=line.id,
        hash=line.hash,
        kind=line.kind,
        position=line.position,
        measures=line.measures,
        content=_text(line.content),
        source=_text(line.source),
    ),
)
MEMBERS = Codec[Member](
    _Member,
    lambda one: {
        "name": one.name,
        "kind": one.kind,
        "roles": list(one.roles),
        "group": one.group,
        "card": _document(one.card),
        "joined_at": one.joined_at,
        "left_at": one.left_at,
    },
    lambda line: Member(
        name=line.name,
        kind=line.kind,
        roles=tuple(line.roles),
        group=line.group,
        card=_text(line.card),
        joined_at=line.joined_at,
        left_at=line.left_at,
    ),
)
ROUNDS = Codec[Round](
    _Round,
    lambda one: {
        "number": one.number,
        "kind": one.kind,
        "state": one.state,
        "rubric": one.rubric,
        "phase": one.phase,
        "plan": dict(one.plan),
        "opened_at": one.opened_at,
        "closed_at": one.closed_at,
    },
    lambda line: Round(
        number=line.number,
        kind=line.kind,
        state=line.state,
        rubric=line.rubric,
        phase=line.phase,
        plan=line.plan,
        opened_at=line.opened_at,
        closed_at=line.closed_at,
    ),
)
ASSIGNMENTS = Codec[Assignment](
    _Assignment,
    lambda one: {
        **_key_fields(one.key),
        "position": one.position,
        "state": one.state,
        "version": one.version,
    },
    lambda line: Assignment(
        key=_key(line), position=line.position, state=line.state, version=line.version
    ),
)
RATINGS = Codec[Rating](
    _Rating,
    lambda one: {
        **_key_fields(one.key),
        "revision": one.revision,
        "request": one.request,
        "rubric": one.rubric,
        "item_hash": one.item_hash,
        "answers": dict(one.answers),
        "facts": dict(one.facts),
        "words": None if one.words is None else dict(one.words),
        "started_at": one.started_at,
        "submitted_at": one.submitted_at,
    },
    lambda line: Rating(
        key=_key(line),
        revision=line.revision,
        request=line.request,
        rubric=line.rubric,
        item_hash=line.item_hash,
        answers=line.answers,
        facts=line.facts,
        words=line.words,
        started_at=line.started_at,
        submitted_at=line.submitted_at,
    ),
)
JOURNAL = Codec[Entry](
    _Entry,
    lambda one: {
        "number": one.number,
        "kind": one.kind,
        "actor": one.actor,
        "at": one.at,
        "round": one.round,
        "item": one.item,
        "criterion": one.criterion,
        "body": dict(one.body),
        "words": None if one.words is None else dict(one.words),
    },
    lambda line: Entry(
        kind=line.kind,
        actor=line.actor,
        at=line.at,
        number=line.number,
        round=line.round,
        item=line.item,
        criterion=line.criterion,
        body=line.body,
        words=line.words,
    ),
)
