"""Items come in, once; and their words can be erased for good."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import polars as pl

from calibrant.core.errors import Refused, StudyError
from calibrant.core.ids import canonical
from calibrant.core.item import Item, item_of, item_text
from calibrant.core.study import ItemRecord
from calibrant.ports.store import Reading, Writing
from calibrant.study.session import Session, reason_of, verb

PART = 2_000
"""Items that are committed together."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What became of items that were handed in."""

    added: int
    known: int
    """There already, with the same content: left as they are."""


@verb("lead", shows="nothing")
def add_items(
    session: Session,
    items: Iterable[Item],
    on_part: Callable[[int], None] = lambda count: None,
) -> Intake:
    """Take items in, in their order, a part at a time; ``on_part`` hears how many there are by now.

    The same item twice is one, so what was stopped halfway can be done again. An id that stands
    for another content already is refused: old ratings would seem to speak of the new text.
    """
    known = dict(session.store.read(lambda tx: tx.item_keys(session.number)))
    came = Intake(0, 0)
    for part in _parts(items):
        records = [one for one in (_record(session, item, known) for item in part) if one]
        came = Intake(came.added + len(records), came.known + len(part) - len(records))
        if records:
            session.alone(partial(_take_in, session, records))
        on_part(came.added + came.known)
    return came


def _parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    source = iter(items)
    while part := list(islice(source, PART)):
        yield part


def _take_in(session: Session, records: list[ItemRecord], tx: Writing) -> None:
    tx.add_items(session.number, records)
    body = {"added": len(records), "first": records[0].position}
    tx.log(session.number, [session.entry("items", body=body)])


def _record(session: Session, item: Item, known: dict[str, str]) -> ItemRecord | None:
    """The item as a record, or None where it is here already; marks it as known."""
    if item.kind != session.record.item_type:
        raise StudyError(
            f"item {item.id!r} is a {item.kind}; this study judges {session.record.item_type}s"
        )
    text = item_text(item)
    kept = item_of(item.kind, item.id, text)  # 5 and Decimal("5") are one content
    content = kept.hash
    if known.get(item.id, content) != content:
        raise StudyError(f"item {item.id!r} is here already with another content; rename it")
    if item.id in known:
        return None
    known[item.id] = content
    return ItemRecord(
        id=item.id,
        hash=content,
        kind=item.kind,
        position=len(known),
        measures=kept.measures(),
        content=text,
        source=canonical(item.more) if item.more else None,
    )


def item_in(tx: Reading, session: Session, id: str) -> Item:
    """An item with its words; raises ``StudyError`` where there is none, or none any more."""
    return item_kept(tx, session, id)[0]


def item_kept(tx: Reading, session: Session, id: str) -> tuple[Item, str]:
    """The same, with the hash of its content."""
    record = tx.item(session.number, id)
    if record is None:
        raise StudyError(f"study {session.name!r} has no item {id!r}")
    return words_of(record), record.hash


def words_of(record: ItemRecord) -> Item:
    """An item as it is read; raises ``StudyError`` where its words are gone."""
    if record.content is None:
        raise StudyError(f"item {record.id!r} has been redacted: its words are gone")
    return item_of(record.kind, record.id, record.content)  # type: ignore[arg-type]


def redacted(tx: Reading, session: Session) -> frozenset[str]:
    """Items whose words are gone."""
    entries = tx.journal(session.number, kinds=("redacted",))
    return frozenset(str(one.body["item"]) for one in entries)


@verb("lead", "adjudicator", shows="nothing")
def item(session: Session, id: str) -> Item:
    """An item with its words, as raters see it: not where it comes from."""
    return session.store.read(lambda tx: item_in(tx, session, id))


@verb("lead", shows="nothing")
def items(session: Session) -> pl.DataFrame:
    """All items: id, hash, kind, position, whether redacted, and what their file said beside.

    The last is kept from a lead who rates, till all their rounds are closed: raters are not told
    where items come from.
    """

    def work(tx: Reading) -> pl.DataFrame:
        blind = _still_rates(tx, session)
        rows = [
            (
                one.id,
                one.hash,
                one.kind,
                one.position,
                one.content is None,
                None if blind else one.source,
            )
            for one in tx.items(session.number)
        ]
        names = ["item", "hash", "kind", "position", "redacted", "source"]
        types = [pl.String, pl.String, pl.String, pl.Int64, pl.Boolean, pl.String]
        return pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")

    return session.store.read(work)


@verb("lead", shows="nothing")
def whole_items(session: Session) -> list[Item]:
    """All items with their words and what their file said beside, redacted ones left out.

    For leads, and not while they rate: raters are not told where items come from.
    """

    def work(tx: Reading) -> list[Item]:
        if _still_rates(tx, session):
            raise Refused(
                "you rate in a round that is not closed: where items come from is told after it, "
                "or to a lead who does not rate"
            )
        return [
            replace(words_of(one), more=json.loads(one.source) if one.source else {})
            for one in tx.items(session.number)
            if one.content is not None
        ]

    return session.store.read(work)


def _still_rates(tx: Reading, session: Session) -> bool:
    """Whether a round in which the actor rates is not closed."""
    states = {one.number: one.state for one in tx.rounds(session.number)}
    mine = tx.assignments(session.number, rater=session.actor)
    return any(states[one.key.round] != "closed" for one in mine)


@verb("lead", shows="nothing")
def redact(session: Session, item: str, *, reason: str) -> None:
    """Erase an item's words everywhere; its hash, its ratings and this act stay.

    Quotations and notes on the item go too, since they may repeat it, and assignments that are
    open are withdrawn. It cannot be undone.
    """
    why = reason_of(reason, "redaction")

    def work(tx: Writing) -> None:
        record = tx.item(session.number, item)
        if record is None:
            raise StudyError(f"study {session.name!r} has no item {item!r}")
        # nobody can rate what has no words
        undone = [one.key for one in tx.assignments(session.number, item=item, state="open")]
        tx.set_assignment_state(session.number, undone, "withdrawn")
        tx.redact_item(session.number, item)
        body = {"item": item, "hash": record.hash, "reason": why}
        tx.log(session.number, [session.entry("redacted", body=body)])

    session.alone(work)
