"""Columns of an uploaded file: what there are, and which field of an item each one may be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from calibrant.core.criterion import ItemType
from calibrant.core.ids import canonical
from calibrant.formats.items import COLUMNS
from calibrant.formats.records import Record, read_records
from calibrant.formats.table_places import Glance, glance_at
from calibrant.formats.tables import NoHeader, Place

BESIDE, SHOW, OUT = "beside", "show", "out"
"""Choices that are no field: kept but not shown to raters, shown by its own name, left out."""
LOOKED_AT = 200
"""Records whose fields are listed; in a table all have the same."""
SAMPLES = 3
MOST_SAMPLE = 90
MOST_COLUMNS = 300
ANOTHER_ROW = "Choose the row in which the names of the columns stand."


@dataclass(frozen=True, slots=True)
class Field:
    """Something a column can be."""

    name: str
    what: str
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the file, with the first things it says."""

    name: str
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Looked:
    """What a first look at a file shows."""

    columns: tuple[Column, ...]
    is_table: bool
    """Rows under a header; otherwise JSON records, whose fields stand for columns."""
    fields: tuple[Field, ...]
    others: tuple[tuple[str, str], ...]
    """Choices that are no field, with what they mean."""
    notes: tuple[str, ...]
    place: Place | None = None
    """Where its table is read."""
    glance: Glance | None = None
    """The first rows of a table, from which its header is chosen."""
    trouble: str = ""
    """Why there are no columns: the row that was taken for the header is none."""


_ID = Field("id", "id of the item")
_SAID = (
    Field("question", "question that was asked", needed=True),
    Field("response", "response to be judged", needed=True),
    Field("reference", "reference answer"),
    Field("as_of", "day for which facts are judged"),
)
_STEPS = (
    Field("action", "action: one row for each", needed=True),
    Field("metric", "metric of the action"),
    Field("baseline", "baseline of the metric"),
    Field("target", "target of the metric"),
    Field("deadline", "deadline of the action"),
    Field("rationale", "reason for the action"),
    Field("effort_estimate", "effort of the action"),
    Field("first_step", "first step of the action"),
    Field("goal", "profile: goal", needed=True),
    Field("hours_per_week", "profile: hours a week"),
    Field("timeframe_weeks", "profile: weeks there are"),
    Field("skills", "profile: skills"),
    Field("barriers", "profile: barriers"),
    Field("confidence", "profile: confidence, 1 to 5"),
    Field("lacks", "profile: what the person lacks"),
)
_ROWS: dict[ItemType, tuple[Field, ...]] = {
    "plan": (_ID, *_STEPS),
    "response": (_ID, *_SAID),
    "conversation": (
        _ID,
        Field("role", "who speaks: user, assistant or system"),
        Field("content", "what they say: one row for each message"),
        Field("user", "what the user says: one row for each exchange"),
        Field("assistant", "what the assistant replies"),
    ),
    "free": (_ID,),
}
_JSON: dict[ItemType, tuple[Field, ...]] = {
    "plan": (
        _ID,
        Field("profile", "profile of the person", needed=True),
        Field("actions", "actions of the plan", needed=True),
    ),
    "response": (_ID, *_SAID),
    "conversation": (
        _ID,
        Field("messages", "messages with role and content"),
        Field("turns", "pairs of user and assistant, as turns"),
        Field("exchanges", "pairs of user and assistant, as exchanges"),
    ),
    "free": (_ID,),
}
_ALSO = {
    "id": "item item_id itemid key nr no number record_id case case_id uid example_id plan_id "
    "conversation_id dialogue_id thread_id chat_id",
    "question": "prompt query input user_message ask instruction request user_input customer",
    "response": "answer output completion reply generated model_output assistant_response result "
    "response_text answer_text",
    "reference": "gold expected reference_answer ground_truth truth ideal",
    "as_of": "date day asof",
    "action": "step task activity actions todo action_text",
    "metric": "measure indicator kpi",
    "baseline": "current starting_point now",
    "deadline": "due due_date by when until",
    "rationale": "reason why justification",
    "effort_estimate": "effort hours time_needed estimate",
    "first_step": "start_with begin first",
    "goal": "aim objective career_goal profile_goal",
    "hours_per_week": "weekly_hours hours_week hours_a_week available_hours time_per_week",
    "timeframe_weeks": "timeframe weeks duration_weeks",
    "skills": "skill strengths abilities",
    "barriers": "barrier obstacles challenges constraints",
    "confidence": "confidence_level",
    "lacks": "missing_resources resources_missing lack",
    "role": "speaker sender author from",
    "content": "message text utterance",
    "user": "human client user_text",
    "assistant": "bot ai coach agent model_reply assistant_text",
    "messages": "conversation dialogue chat transcript history",
    "turns": "",
    "exchanges": "pairs",
    "profile": "person user_profile",
    "actions": "steps plan action_plan action_items",
}
"""Names by which people call the fields."""
_OTHERS = ((BESIDE, "keep beside it, hidden from raters"), (OUT, "leave out"))
_FREE_OTHERS = ((SHOW, "show it to raters"), (OUT, "leave out"))


def look(path: Path, kind: ItemType, place: Place | None = None) -> Looked:
    """The columns of a file, and what they can be for items of that kind.

    Without ``place`` it is guessed where a table stands; without its header, that alone.
    """
    glance = glance_at(path, place.sheet if place is not None else None)
    if glance is not None and (place is None or place.header is None):
        place = glance.place
    samples: dict[str, list[str]] = {}
    notes: list[str] = []
    trouble = ""
    try:
        records = read_records(path, place=place)
        notes = records.notes
        for record in islice(records.stream, LOOKED_AT):
            _note_fields(record, samples)
    except NoHeader as error:
        if glance is None:
            raise
        trouble = str(error)
    return Looked(
        columns=tuple(Column(name, tuple(found)) for name, found in samples.items()),
        is_table=glance is not None,
        fields=(_ROWS if glance is not None else _JSON)[kind],
        others=_FREE_OTHERS if kind == "free" else _OTHERS,
        notes=tuple(notes),
        place=place if glance is not None else None,
        glance=glance,
        trouble=trouble,
    )


def _note_fields(record: Record, samples: dict[str, list[str]]) -> None:
    if not isinstance(record.value, Mapping):
        return
    for key, value in record.value.items():
        name = str(key)
        if name not in samples and len(samples) >= MOST_COLUMNS:
            continue
        found = samples.setdefault(name, [])
        if value is not None and len(found) < SAMPLES:
            found.append(_short(value))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else _written(value)
    line = " ".join(text[: 4 * MOST_SAMPLE].split())
    return line if len(line) <= MOST_SAMPLE else f"{line[: MOST_SAMPLE - 1]}…"


def _written(value: Any) -> str:
    try:
        return canonical(value)
    except (TypeError, ValueError, RecursionError):
        return str(type(value).__name__)


def guess(looked: Looked) -> dict[str, str]:
    """What each column probably is: by its name, then by other names people use, then nearly."""
    names = [column.name for column in looked.columns]
    left = {field.name for field in looked.fields}
    usual = looked.others[0][0]
    found: dict[str, str] = {}
    for told in (_by_name, _by_other_name, _nearly):
        for name in names:
            field = told(_plain(name), left) if name not in found else None
            if field is not None:
                found[name] = field
                left.discard(field)
    return {name: found.get(name, usual) for name in names}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_")


def _by_name(name: str, left: Iterable[str]) -> str | None:
    bare = name.removeprefix("profile_")
    return next((field for field in left if field in (name, bare)), None)


def _by_other_name(name: str, left: Iterable[str]) -> str | None:
    return next((field for field in left if name in _ALSO.get(field, "").split()), None)


def _nearly(name: str, left: Iterable[str]) -> str | None:
    near = difflib.get_close_matches(name[:80], sorted(left), n=1, cutoff=0.84)
    return near[0] if near else None


def troubles(looked: Looked, kind: ItemType, choices: Mapping[str, str]) -> list[str]:
    """What keeps a choice of columns from making items, in sentences."""
    if looked.trouble:
        return [f"{looked.trouble[:1].upper()}{looked.trouble[1:]}.", ANOTHER_ROW]
    known = {field.name for field in looked.fields}
    others = {name for name, _ in looked.others}
    by_field: dict[str, list[str]] = {}
    for column, choice in choices.items():
        if choice in known:
            by_field.setdefault(choice, []).append(column)
        elif choice not in others:
            return [f"{column!r} cannot be {choice[:40]!r}: choose from the list"]
    told = [
        f"Two columns are the {field}: {' and '.join(map(repr, columns))}. Choose one of them."
        for field, columns in by_field.items()
        if len(columns) > 1
    ]
    if not looked.columns:
        return told
    told += [
        _missing(field) for field in looked.fields if field.needed and field.name not in by_field
    ]
    return told + _unspoken(looked, kind, set(by_field))


def _missing(field: Field) -> str:
    part, _, _ = field.what.partition(": ")
    named = f"{field.name} of the profile" if part == "profile" else part
    return f"No column is the {named}: choose one."


def _unspoken(looked: Looked, kind: ItemType, given: set[str]) -> list[str]:
    """A conversation needs one whole shape."""
    if kind != "conversation":
        return []
    if looked.is_table:
        whole = ({"role", "content"}, {"user", "assistant"})
        if sum(one <= given for one in whole) != 1:
            return ["A conversation has role and content, or user and assistant: choose two."]
        if given & whole[0] and given & whole[1]:
            return ["Choose role and content, or user and assistant, and not some of both."]
        return []
    if len(given & {"messages", "turns", "exchanges"}) != 1:
        return ["A conversation has messages, turns or exchanges: choose one."]
    return []


def names_for(looked: Looked, kind: ItemType, choices: Mapping[str, str]) -> dict[str, str | None]:
    """The names under which the reader of items is to see each column; None leaves it out."""
    fields = {field.name for field in looked.fields}
    taken = {"id", "item"} if kind == "free" else COLUMNS
    named: dict[str, str | None] = {}
    for column, choice in choices.items():
        if choice in fields:
            named[column] = choice
        elif choice == OUT:
            named[column] = None
        elif column.strip().lower().removeprefix("profile.") in taken:
            named[column] = f"{column} (column)"  # it would be read as a field that it is not
    return named
