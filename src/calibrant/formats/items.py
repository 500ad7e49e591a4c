"""Items from files: every good record kept, every bad one named, duplicates told.

JSONL and Parquet are read as a stream. In CSV and XLSX a plan or a conversation takes several
rows with its id repeated, so those files are gathered first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from calibrant.core.criterion import ItemType
from calibrant.core.errors import Fault, nearest
from calibrant.core.ids import NAME_RULE, read_name
from calibrant.core.item import Action, Item, Profile, adapter
from calibrant.core.structure import path_text
from calibrant.formats.conversations import SHAPES, exchanges_of
from calibrant.formats.pydantic_errors import deepest
from calibrant.formats.records import Record, Records, read_records
from calibrant.formats.tables import Place

_ACTION_KEYS = tuple(one.name for one in fields(Action) if one.name != "more")
_PROFILE_KEYS = tuple(one.name for one in fields(Profile) if one.name != "more")


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A record whose content stood in the file before."""

    record: int
    id: str
    first_record: int
    first_id: str

    def __str__(self) -> str:
        return (
            f"record {self.record} ({self.id}) has the same content as "
            f"record {self.first_record} ({self.first_id})"
        )


@dataclass(slots=True)
class ItemFile:
    """What reading a file of items gave."""

    items: list[Item] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_items(
    source: str | Path, kind: ItemType | None = None, encoding: str | None = None
) -> ItemFile:
    """All items of a file; ``kind`` is told from each record where it is not given."""
    out = ItemFile()
    for entry in stream_items(source, kind, encoding, out.notes):
        match entry:
            case Fault():
                out.faults.append(entry)
            case Duplicate():
                out.duplicates.append(entry)
            case _:
                out.items.append(entry)
    return out


def stream_items(
    source: str | Path,
    kind: ItemType | None = None,
    encoding: str | None = None,
    notes: list[str] | None = None,
    *,
    columns: Mapping[str, str | None] | None = None,
    places: dict[str, int] | None = None,
    place: Place | None = None,
) -> Iterator[Item | Fault | Duplicate]:
    """Items, faults and duplicates of a file in its order; a duplicate follows its item.

    ``columns`` gives columns (fields, in JSON) of other names the names they are known by; a
    column that is to be None is left out. ``places`` is told in which record each item stands.
    ``place`` says where in the file a table stands.
    """
    path = Path(source)
    records = read_records(path, encoding, place)
    if columns:
        records.stream = _renamed(records.stream, columns)
    if notes is not None:
        notes += records.notes
    stream = _gathered(records, path, kind) if records.table else records.stream
    ids = places if places is not None else {}
    hinted: set[str] = set()
    contents: dict[str, tuple[int, str]] = {}
    for record in stream:
        if record.fault is not None:
            yield record.fault
            continue
        item, faults = read_item(record.value, kind, record.number, str(path))
        yield from faults
        if item is None:
            continue
        if item.id in ids:
            message = f"id {item.id!r} stands in record {ids[item.id]} already"
            yield Fault(message, "id", str(path), record=record.number)
            continue
        ids[item.id] = record.number
        near = _near_miss(record.value) if kind is None and item.kind == "free" else None
        if near and notes is not None and near not in hinted:
            hinted.add(near)
            notes.append(f"{path.name}: record {record.number} is read as free-form: {near}")
        try:
            content = item.hash
        except RecursionError:
            yield Fault("nested too deeply", "", str(path), record=record.number)
            continue
        yield item
        first = contents.setdefault(content, (record.number, item.id))
        if first[0] != record.number:
            yield Duplicate(record.number, item.id, *first)


def _renamed(stream: Iterator[Record], columns: Mapping[str, str | None]) -> Iterator[Record]:
    """Records with the names that somebody chose for their fields."""
    for record in stream:
        if not isinstance(record.value, Mapping):
            yield record
            continue
        named = ((columns.get(str(key), str(key)), one) for key, one in record.value.items())
        yield Record(record.number, {key: one for key, one in named if key is not None})


def read_item(
    record: Any, kind: ItemType | None = None, number: int = 1, source: str = ""
) -> tuple[Item | None, list[Fault]]:
    """One item from a parsed record, or everything that is wrong with it."""
    if not isinstance(record, Mapping) and not (isinstance(record, list) and kind != "free"):
        return None, [Fault("must be an object", source=source, record=number)]
    shaped, faults = _shape(record, kind or _kind_of(record), number)
    item: Item | None = None
    if not faults:
        kind = kind or _kind_of(record)
        try:
            item = adapter(kind).validate_python(shaped)
        except ValidationError as error:
            faults = [_fault(detail) for detail in deepest(error)]
    located = [Fault(one.message, one.path, source, record=number, hint=one.hint) for one in faults]
    return item, located


def _fault(detail: ErrorDetails) -> Fault:
    messages = {
        "missing": "required, but not there",
        "string_pattern_mismatch": "must be a day such as 2025-02-28",
        "too_short": "must hold at least one entry",
        "string_type": "must be text",
        "tuple_type": "must be a list",
        "decimal_parsing": "must be a number",
        "decimal_type": "must be a number",
        "int_parsing": "must be a whole number",
        "int_from_float": "must be a whole number",
        "int_type": "must be a whole number",
    }
    told = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return Fault(messages.get(detail["type"], told), path_text(detail["loc"]))


def _kind_of(record: Any) -> ItemType:
    if isinstance(record, list) or any(shape in record for shape in SHAPES):
        return "conversation"
    if "actions" in record or "profile" in record:
        return "plan"
    return "response" if "question" in record and "response" in record else "free"


_TELLING = (*SHAPES, "actions", "profile", "question", "response")
"""Fields that tell the kind of an item."""


def _near_miss(record: Mapping[str, Any]) -> str | None:
    """Why a free-form item may have been meant for another kind."""
    for name in record:
        meant = nearest(str(name).strip().lower(), _TELLING)
        if meant is not None and name not in _TELLING:
            return f"it has {str(name)[:40]!r}; did you mean {meant!r}?"
    alone = [name for name in ("question", "response") if name in record]
    return f"it has a {alone[0]}, and a response has both question and response" if alone else None


def _shape(record: Any, kind: ItemType, number: int) -> tuple[dict[str, Any], list[Fault]]:
    """The record in the shape of its kind; unknown fields go to ``more``."""
    if isinstance(record, list):
        record = {"exchanges": record}
    identity, faults = _id(record, number)
    rest = {str(key): value for key, value in record.items() if key not in ("id", "item")}
    match kind:
        case "plan":
            shaped = _split(rest, ("profile", "actions"))
            shaped["profile"] = _inner(rest.get("profile"), _PROFILE_KEYS, "profile", faults)
            actions = rest.get("actions")
            if isinstance(actions, list):
                shaped["actions"] = [
                    _inner(action, _ACTION_KEYS, f"actions[{index}]", faults)
                    for index, action in enumerate(actions)
                ]
            elif actions is None:
                faults.append(Fault("required, but not there", path="actions"))
        case "response":
            shaped = _split(rest, ("question", "response", "reference", "as_of"))
        case "conversation":
            exchanges, preamble, found = exchanges_of(rest)
            faults += found
            shaped = {"exchanges": exchanges, "preamble": preamble}
            shaped["more"] = {key: value for key, value in rest.items() if key not in SHAPES}
        case "free":
            shaped = {"content": rest}
            if not any(value is not None and str(value).strip() for value in rest.values()):
                faults.append(Fault("holds nothing to judge"))
    return {"id": identity, **shaped}, faults


def _id(record: Mapping[str, Any], number: int) -> tuple[str, list[Fault]]:
    name = read_name(record.get("id", record.get("item", f"record-{number}")))
    return name, [] if name else [Fault(NAME_RULE, path="id")]


def _split(record: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """Known fields that are stated, and ``more`` for the rest."""
    shaped = {key: record[key] for key in known if record.get(key) is not None}
    return {**shaped, "more": {key: value for key, value in record.items() if key not in known}}


def _inner(value: Any, known: tuple[str, ...], place: str, faults: list[Fault]) -> Any:
    """A part of a plan; numbers given for text are text."""
    if value is None:
        faults.append(Fault("required, but not there", path=place))
        return {}
    if not isinstance(value, Mapping):
        faults.append(Fault("must be an object", path=place))
        return {}
    shaped = _split(value, known)
    for key in set(known) & set(_ACTION_KEYS) & shaped.keys():
        number = shaped[key]
        if isinstance(number, int | float) and not isinstance(number, bool):
            whole = isinstance(number, float) and number.is_integer() and abs(number) < 1e15
            shaped[key] = str(int(number) if whole else number)
    return shaped


# -- tables


_MESSAGE, _PAIR = ("role", "content"), ("user", "assistant")


def _gathered(records: Records, path: Path, kind: ItemType | None) -> Iterator[Record]:
    """Rows of a table as records: one a row, or several rows with one id as one record."""
    rows: dict[Any, list[Record]] = {}
    for raw in records.stream:
        record = raw if raw.fault is not None else Record(raw.number, _folded(raw.value))
        if record.fault is not None:
            yield record
        elif kind in ("response", "free") or not _is_part(record.value):
            yield Record(record.number, {k: v for k, v in record.value.items() if v is not None})
        elif isinstance(name := _name_in(record.value), str | int | float):
            rows.setdefault(name, []).append(record)
        else:
            message = "every row needs the id of its item"
            fault = Fault(message, "id", str(path), record=record.number)
            yield Record(record.number, None, fault)
    for group in rows.values():
        yield _plan_of(group, path) if "action" in group[0].value else _conversation_of(group)


COLUMNS = frozenset(
    ("id", "item", "reference", "as_of", *_MESSAGE, *_PAIR, *_TELLING, *_ACTION_KEYS,
     *_PROFILE_KEYS)
)  # fmt: skip
"""Columns that are known in any case."""


def _folded(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its known columns in small letters; a name that then stood twice is left."""
    names = {name: str(name).strip().lower() for name in row}
    plain = Counter(names.values())
    return {
        names[name] if names[name] in COLUMNS and plain[names[name]] == 1 else name: value
        for name, value in row.items()
    }


def _name_in(row: Mapping[str, Any]) -> Any:
    return row.get("id", row.get("item"))


def _is_part(row: Mapping[str, Any]) -> bool:
    """Whether a row is an action of a plan, or a message or an exchange of a conversation."""
    return "action" in row or row.keys() >= set(_MESSAGE) or row.keys() >= set(_PAIR)


def _plan_of(group: list[Record], path: Path) -> Record:
    """A plan from its rows: profile columns may be repeated or stand on the first row only."""
    profile: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for record in group:
        for key, value in record.value.items():
            name = key.removeprefix("profile.")
            if value is None or key in _ACTION_KEYS:
                continue
            target = profile if name in _PROFILE_KEYS or key != name else more
            if target.setdefault(name, value) != value:
                message = f"{value!r} here, {target[name]!r} on an earlier row of the same plan"
                fault = Fault(message, name, str(path), record=record.number)
                return Record(record.number, None, fault)
    actions = [
        {key: record.value[key] for key in _ACTION_KEYS if record.value.get(key) is not None}
        for record in group
    ]
    return Record(group[0].number, {**more, "profile": profile, "actions": actions})


def _conversation_of(group: list[Record]) -> Record:
    """A conversation from its rows; other columns are taken from where they first say something."""
    first = group[0].value
    shape, keys = ("messages", _MESSAGE) if "role" in first else ("exchanges", _PAIR)
    entries = [{key: record.value.get(key) for key in keys} for record in group]
    more: dict[str, Any] = {}
    for record in group:
        for key, value in record.value.items():
            if value is not None and key not in keys:
                more.setdefault(key, value)
    return Record(group[0].number, {**more, shape: entries})


# -- schema


def item_schema(kind: ItemType) -> dict[str, Any]:
    """JSON Schema of one record of that kind."""
    if kind == "conversation":
        schema = _conversation_schema()
    elif kind == "free":
        schema = {"type": "object", "minProperties": 1}
    else:
        schema = _open(adapter(kind).json_schema())
    schema.setdefault("properties", {})["id"] = {"type": ["string", "integer"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"calibrant item: {kind}",
        **schema,
    }


def _open(node: Any) -> Any:
    """The schema without ``more``: unknown fields are kept, not refused; the id may be absent."""
    if isinstance(node, list):
        return [_open(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    out = {key: _open(value) for key, value in node.items()}
    if isinstance(out.get("properties"), dict):
        out["properties"].pop("more", None)
    if isinstance(out.get("required"), list):
        out["required"] = [name for name in out["required"] if name != "id"]
    return out


def _conversation_schema() -> dict[str, Any]:
    text = {"type": "string", "pattern": r"\S"}
    message = {
        "type": "object",
        "properties": {"role": {"enum": ["system", "user", "assistant"]}, "content": text},
        "required": ["role", "content"],
    }
    named = {
        "type": "object",
        "properties": {"user": text, "assistant": text},
        "required": ["user", "assistant"],
    }
    pair = {"type": "array", "prefixItems": [text, text], "items": False, "minItems": 2}
    pairs = {"type": "array", "items": {"anyOf": [named, pair]}, "minItems": 1}
    shapes: dict[str, Any] = {
        "messages": {"type": "array", "items": message, "minItems": 2},
        "turns": pairs,
        "exchanges": pairs,
    }
    return {
        "anyOf": [
            {"type": "object", "properties": {name: shape}, "required": [name]}
            for name, shape in shapes.items()
        ]
        + [pairs]
    }
