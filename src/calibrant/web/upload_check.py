"""An uploaded file held against a study: which rows are good, and what is wrong with the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from calibrant.core.criterion import ItemType
from calibrant.core.errors import Fault, one_line
from calibrant.core.item import Item, item_of, item_text
from calibrant.formats.items import Duplicate, stream_items
from calibrant.formats.tables import Place
from calibrant.study.handle import Study

PREVIEWED = 3
MOST_FAULTS = 20_000
"""Faults that are listed; a file with more is the wrong file, and their number is told."""
MOST_DUPLICATES = 100
TOLD_EVERY = 250


@dataclass(frozen=True, slots=True)
class Wrong:
    """A fault of one row, as its page shows it."""

    row: int | None
    """As a spreadsheet numbers it. In JSON, the record."""
    field: str
    column: str
    """The column that was said to be that field; empty where none is meant."""
    message: str
    hint: str


@dataclass(slots=True)
class Checked:
    """What a file would bring to the study."""

    good: int = 0
    """New items."""
    known: int = 0
    """Items the study has already, with the same content."""
    bad: int = 0
    """Rows that are no item."""
    faults: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    duplicates: int = 0
    alike: list[str] = field(default_factory=list)
    """The first of the rows whose content stood in the file before."""
    preview: list[Item] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: int = 0


def check(
    path: Path,
    kind: ItemType,
    columns: Mapping[str, str | None],
    known: Mapping[str, str],
    *,
    place: Place | None,
) -> Iterator[Checked]:
    """Reads the file to its end; gives what is known so far every now and then, and at the end.

    ``place`` is where its table stands; None where it is none.
    """
    header = (place.header or 1) if place is not None else 0
    found = Checked()
    called = {field: column for column, field in columns.items() if field is not None}
    bad: set[int | None] = set()
    places: dict[str, int] = {}
    for entry in stream_items(
        path, kind, notes=found.notes, columns=columns, places=places, place=place
    ):
        found.seen += 1
        match entry if isinstance(entry, Fault | Duplicate) else clash(entry, known, places):
            case Fault() as fault:
                bad.add(fault.record)
                found.bad, found.faults = len(bad), found.faults + 1
                if len(found.wrong) < MOST_FAULTS:
                    found.wrong.append(_wrong(fault, header, called))
            case Duplicate() as twice:
                found.duplicates += 1
                if len(found.alike) < MOST_DUPLICATES:
                    found.alike.append(_alike(twice, header))
            case _:
                _count(found, entry, known)
        if found.seen % TOLD_EVERY == 0:
            yield found
    yield found


def _count(found: Checked, item: Item | Fault | Duplicate, known: Mapping[str, str]) -> None:
    assert not isinstance(item, Fault | Duplicate)
    if item.id in known:
        found.known += 1
    else:
        found.good += 1
    if len(found.preview) < PREVIEWED:
        found.preview.append(item)


def _wrong(fault: Fault, header: int, called: Mapping[str, str]) -> Wrong:
    message = fault.message
    if header:  # people find rows by the numbers that their spreadsheet shows
        message = _RECORD.sub(lambda found: f"row {int(found[1]) + header}", message)
    return Wrong(
        _row(fault.record, header),
        one_line(fault.path[:200]),
        called.get(fault.path.rpartition(".")[2], ""),
        one_line(message[:400]),
        one_line(fault.hint[:200]) or _advice(fault.message),
    )


_RECORD = re.compile(r"\brecord (\d+)")
_ADVICE = (
    ("required, but not there", "fill it in, or choose another column for it"),
    ("must not be empty", "fill it in, or choose another column for it"),
    ("stands in record", "give one of the two another id"),
    ("cells where the header", "look for a stray separator, or put the text in quotes"),
    ("needs the id", "write the id of its item on every row"),
    ("on an earlier row", "say the same on all rows of one plan, or leave the others empty"),
    ("must be", "change what stands there"),
)


def _advice(message: str) -> str:
    return next((told for words, told in _ADVICE if words in message), "")


def _row(record: int | None, header: int) -> int | None:
    """The row of a record: records are counted from the header, which in JSON is row 0."""
    return record + header if record is not None else None


def _alike(one: Duplicate, header: int) -> str:
    row, first = _row(one.record, header), _row(one.first_record, header)
    return one_line(f"Row {row} ({one.id}) says the same as row {first} ({one.first_id}).")


def clash(
    item: Item, known: Mapping[str, str], places: Mapping[str, int] | None = None
) -> Item | Fault:
    """A fault where the study has another item of that name."""
    if item.id not in known or known[item.id] == _kept_hash(item):
        return item
    message = f"item {item.id!r} is in the study already with another content"
    hint = "give it another id: ratings of the old text would seem to be about the new one"
    return Fault(message, "id", record=(places or {}).get(item.id), hint=hint)


def _kept_hash(item: Item) -> str:
    return item_of(item.kind, item.id, item_text(item)).hash


def good_items(
    path: Path,
    kind: ItemType,
    columns: Mapping[str, str | None],
    known: Mapping[str, str],
    *,
    place: Place | None,
) -> Iterator[Item]:
    """The rows that are items, and no others."""
    for entry in stream_items(path, kind, columns=columns, place=place):
        if isinstance(entry, Fault | Duplicate):
            continue
        if not isinstance(clash(entry, known), Fault):
            yield entry


def known_items(study: Study) -> dict[str, str]:
    """Ids and content of what the study has."""
    return dict(study.store.read(lambda tx: tx.item_keys(study.number)))
