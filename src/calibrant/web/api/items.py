"""Items, for programs: added as records, listed, read, erased for good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, cast

from fastapi import Path, Query, Request
from starlette.exceptions import HTTPException

from calibrant.core.criterion import ItemType
from calibrant.core.errors import Fault, RecordError
from calibrant.core.item import Item, item_text
from calibrant.core.visible import is_whole
from calibrant.formats.items import read_item as read_record
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.lead_models import (
    TROUBLE,
    Done,
    ItemOut,
    ItemsIn,
    ItemsOut,
    ItemsTaken,
    ItemWords,
    Mistake,
    ReasonIn,
    RedactionOut,
)
from calibrant.web.pages.items import work_on
from calibrant.web.refs import item_ref, read_item
from calibrant.web.upload_check import clash, known_items

routes = Routes("/api/v1/studies/{study}", tags=["items"])
LEAD = member("lead")
Ref = Annotated[str, Path(description="An item, as the list names it.", max_length=4000)]


@routes.get("/items", access=LEAD, response_model=ItemsOut, responses=TROUBLE)
def items(
    seat: Seat,
    find: Annotated[str, Query(max_length=500, description="A part of the id.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="A position.")] = 0,
) -> Any:
    """Items by position, a part at a time."""
    number = seat.study.number
    records, total = seat.study.store.read(
        lambda tx: tx.find_items(number, find, start=after, limit=limit)
    )
    return ItemsOut(
        items=[
            ItemOut(
                ref=item_ref(one.id),
                id=one.id,
                position=one.position,
                hash=one.hash,
                redacted=one.content is None,
            )
            for one in records
        ],
        total=total,
        next=after + limit if after + limit < total else None,
    )


@routes.post("/items", access=LEAD, response_model=ItemsTaken, responses=TROUBLE, status_code=201)
def add_items(request: Request, seat: Seat, body: ItemsIn) -> Any:
    """Add items, at most a thousand at once; the same item twice is one.

    Without `skip_bad`, one bad item keeps all of them out.
    """
    good, faults = _read(seat, body.items)
    if faults and not body.skip_bad:
        raise RecordError(faults)
    came = workspace_of(request).unhurried(seat.study).add_items(good)
    mistakes = [Mistake.of(one) for one in faults]
    return ItemsTaken(added=came.added, known=came.known, mistakes=mistakes)


def _read(seat: Seat, records: Sequence[dict[str, Any]]) -> tuple[list[Item], list[Fault]]:
    known = known_items(seat.study)
    kind = cast("ItemType", seat.study.record.item_type)
    places: dict[str, int] = {}
    good: list[Item] = []
    faults: list[Fault] = []
    for number, record in enumerate(records, 1):
        item, wrong = read_record(record, kind, number)
        if not _is_whole(record):
            message = "half a character (a lone surrogate) cannot be kept; take it out"
            item, wrong = None, [Fault(message, record=number)]
        if item is not None and "id" not in record and "item" not in record:
            item, wrong = None, [Fault("required, but not there", "id", record=number)]
        if item is not None and item.id in places:
            message = f"id {item.id!r} stands in record {places[item.id]} already"
            item, wrong = None, [Fault(message, "id", record=number)]
        faults += wrong
        if item is None:
            continue
        places[item.id] = number
        kept = clash(item, known, places)
        if isinstance(kept, Fault):
            faults.append(kept)
        else:
            good.append(kept)
    return good, faults


def _is_whole(record: dict[str, Any]) -> bool:
    """Whether all its texts can be kept."""
    return is_whole(json.dumps(record, ensure_ascii=False))


def _known(seat: Seat, ref: str) -> str:
    id = read_item(ref)
    if seat.study.store.read(lambda tx: tx.item(seat.study.number, id)) is None:
        raise HTTPException(404, NOT_FOUND)
    return id


@routes.get("/items/{ref}", access=LEAD, response_model=ItemWords, responses=TROUBLE)
def one_item(seat: Seat, ref: Ref) -> Any:
    """One item with its words."""
    item = seat.study.item(_known(seat, ref))
    return ItemWords(id=item.id, kind=item.kind, content=json.loads(item_text(item)))


@routes.get("/items/{ref}/redact", access=LEAD, response_model=RedactionOut, responses=TROUBLE)
def redact_first(seat: Seat, ref: Ref) -> Any:
    """What erasing would touch, before it is done."""
    unrated, rated = work_on(seat, _known(seat, ref))
    return RedactionOut(open=unrated, rated=rated)


@routes.post("/items/{ref}/redact", access=LEAD, response_model=Done, responses=TROUBLE)
def redact(seat: Seat, ref: Ref, body: ReasonIn) -> Any:
    """Erase the words of an item everywhere; this cannot be undone."""
    id = _known(seat, ref)
    seat.study.redact(id, reason=body.reason)
    return Done(said=f"the words of {id} are erased for good")
