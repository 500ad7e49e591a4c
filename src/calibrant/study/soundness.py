"""Whether records that come from elsewhere make a study: every fault of them, with its place.

Records are looked at one after the other, in the order in which a study leaves; what is kept in
mind is names, never contents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from pydantic import ValidationError

from calibrant.core.answer import ERROR, NA
from calibrant.core.errors import Fault
from calibrant.core.ids import canonical, content_hash, read_name
from calibrant.core.item import KINDS, item_of
from calibrant.core.rating import RATER_KINDS, FlagState
from calibrant.core.rubric import Rubric
from calibrant.core.scale import values_as_text
from calibrant.core.study import (
    FROZEN,
    FROZEN_DATA,
    ROLES,
    ROUND_KINDS,
    Assignment,
    AssignmentState,
    Entry,
    ItemRecord,
    Key,
    Member,
    Rating,
    Round,
    RoundState,
    RubricRecord,
    StudyRecord,
)
from calibrant.study.flags import FlagKind

MAX_FAULTS = 200
"""Faults that are told; where there are more, nobody reads on."""
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_LARGEST = 2**62
_BODIES: dict[str, dict[str, type | tuple[type, ...]]] = {
    "acknowledged": {"hash": str},
    "admitted": {"rater": str, "admitted": bool},
    "answered": {"question": int, "share": bool},
    "check_in": {"attendees": list, "snapshot": list},
    "flag": {"what": str},
    "flag_decided": {"flags": list, "state": str},
    "lesson": {"text": str},
    "phase": {"phase": str, "state": str},
    "pseudonyms": {"key": (str, type(None))},
    FROZEN: {"of": int, "what": str, "lines": int, "hash": str},
    "rubric": {"hash": str},
    "settled": {"value": str, "how": str, "rubric": str},
    "step": {"step": str},
}
"""What a study reads of entries, by their kind."""


class TooMany(Exception):
    """There are more faults than anybody reads."""


@dataclass(slots=True)
class _Tally:
    """Which assignments, without keeping them: two tallies of the same ones are equal."""

    count: int = 0
    mark: int = 0

    def add(self, key: Key) -> None:
        self.count += 1
        self.mark ^= hash((key.item, key.occasion))


@dataclass(slots=True)
class Soundness:
    """What has been seen of a study so far, and what is wrong with it."""

    study: StudyRecord
    source: str
    """Of the file that is looked at now."""
    faults: list[Fault] = field(default_factory=list)
    rubrics: dict[str, Rubric] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    items: dict[str, str] = field(default_factory=dict)
    """Hashes by id."""
    rounds: list[Round] = field(default_factory=list)
    _record: int = 0
    _last: tuple[Any, ...] = ()
    _allowed: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    _flags: set[int] = field(default_factory=set)
    _adopted: list[str] = field(default_factory=list)
    _occasions: set[int] = field(default_factory=set)
    """Check-ins and phases that are done."""
    _document: str | None = ""
    """The hash of the report that was read last; None where it stayed behind."""
    _done: dict[tuple[int, str], _Tally] = field(default_factory=dict)
    _rated: dict[tuple[int, str], _Tally] = field(default_factory=dict)
    """Of each round and rater."""

    def turn_to(self, source: str) -> None:
        """Another file comes."""
        self.source, self._record, self._last = source, 0, ()

    def fault(self, message: str, path: str = "") -> None:
        """Write one down; raises ``TooMany`` where it is enough."""
        self.faults.append(Fault(message, path, self.source, record=self._record or None))
        if len(self.faults) >= MAX_FAULTS:
            raise TooMany

    def _next(self) -> int:
        self._record += 1
        return self._record

    def _time(self, text: str | None, path: str, *, needed: bool = True) -> None:
        if text is None and not needed:
            return
        if text is None or not _TIME.fullmatch(text):
            self.fault(f"{str(text)[:40]!r} is no time such as 2026-03-02T09:30:00.000000Z", path)

    def _ordered(self, place: tuple[Any, ...]) -> None:
        """Records come in their order, none of them twice."""
        if self._last and place <= self._last:
            self.fault("stands twice or out of order")
        self._last = place

    # -- one record each

    def look_at_study(self) -> None:
        """The study as such."""
        one = self.study
        if read_name(one.name) != one.name or not one.name:
            self.fault("is no name of a study", "name")
        if one.item_type not in KINDS:
            self.fault(f"{one.item_type[:40]!r} is no kind of item", "item_type")
        if not _DAY.fullmatch(one.start_on):
            self.fault(f"{one.start_on[:40]!r} is no day such as 2026-03-02", "start_on")
        if abs(one.seed) > _LARGEST:
            self.fault("is too large a number", "seed")
        self._time(one.created_at, "created_at")

    def rubric(self, record: RubricRecord) -> None:
        """A version of the rubric."""
        try:
            rubric = Rubric.model_validate_json(record.document)
        except ValidationError as error:
            self.fault(f"is no rubric: {error.error_count()} of its entries cannot be read")
            return
        except RecursionError:
            self.fault("is no rubric: nested too deeply")
            return
        if (rubric.id, rubric.item_type) != (self.study.rubric_id, self.study.item_type):
            self.fault(f"{rubric.name} is not the rubric of this study")
        versions = {one.version for one in self.rubrics.values()}
        if rubric.hash in self.rubrics or rubric.version in versions:
            self.fault(f"{rubric.name} is there twice")
        self.rubrics[rubric.hash] = rubric

    def member(self, one: Member) -> None:
        """A member."""
        self._next()
        if read_name(one.name) != one.name or not one.name:
            self.fault("is no name of a member", "name")
        if one.name in self.members:
            self.fault(f"{one.name[:80]!r} is a member twice", "name")
        if one.kind not in RATER_KINDS or not one.roles or not set(one.roles) <= set(ROLES):
            self.fault(f"kinds are {', '.join(RATER_KINDS)}; roles are {', '.join(ROLES)}")
        if (one.kind == "HUMAN") != (one.card is None):
            self.fault("judges and checks have a card, people have none", "card")
        if one.kind != "HUMAN" and set(one.roles) != {"reviewer"}:
            self.fault("only people lead, adjudicate or view", "roles")
        self._time(one.joined_at, "joined_at")
        self._time(one.left_at, "left_at", needed=False)
        self.members[one.name] = one

    def item(self, one: ItemRecord) -> None:
        """An item: its hash is that of its content."""
        number = self._next()
        if one.position != number:
            self.fault(f"has position {one.position}; {number} comes next", "position")
        if not one.id or read_name(one.id) != one.id or one.id in self.items:
            self.fault(f"{one.id[:80]!r} is no name of an item, or stands twice", "id")
        self.items[one.id] = one.hash
        if one.kind != self.study.item_type:
            self.fault(f"is a {one.kind[:40]}; this study judges {self.study.item_type}s", "kind")
        elif one.content is not None:
            self._content(one)

    def _content(self, one: ItemRecord) -> None:
        assert one.content is not None
        try:
            item = item_of(one.kind, one.id, one.content)  # type: ignore[arg-type]
        except (ValidationError, RecursionError, TypeError, ValueError):
            self.fault(f"is not what a {one.kind} looks like", "content")
            return
        if item.hash != one.hash:
            self.fault("the hash is not that of the content", "hash")
        if item.measures() != dict(one.measures):
            self.fault("code counts otherwise", "measures")

    def round(self, one: Round) -> None:
        """A round."""
        number = self._next()
        if one.number != number:
            self.fault(f"is round {one.number}; {number} comes next", "number")
        if one.kind not in ROUND_KINDS or one.state not in get_args(RoundState):
            self.fault("is of no kind or state that rounds have")
        if one.rubric not in self.rubrics:
            self.fault("its rubric is not here", "rubric")
        self._time(one.opened_at, "opened_at", needed=one.state == "open")  # or it was dropped
        self._time(one.closed_at, "closed_at", needed=one.state == "closed")
        self.rounds.append(one)

    def assignment(self, one: Assignment) -> None:
        """An assignment."""
        self._next()
        key = one.key
        self._ordered((key.round, key.rater, one.position, key.item, key.occasion))
        self._refers(key)
        if one.state not in get_args(AssignmentState):
            self.fault(f"{one.state[:40]!r} is no state of an assignment", "state")
        place = self.rounds[key.round - 1] if 1 <= key.round <= len(self.rounds) else None
        if one.state == "open" and place is not None and place.state == "closed":
            self.fault(f"is open, and round {key.round} is closed", "state")
        if one.state == "done":
            self._done.setdefault((key.round, key.rater), _Tally()).add(key)
        if not 0 <= one.version < _LARGEST or not 0 <= one.position < _LARGEST:
            self.fault("is out of range", "version or position")

    def _refers(self, key: Key) -> bool:
        before = len(self.faults)
        if not 1 <= key.round <= len(self.rounds):
            self.fault(f"there is no round {key.round}", "round")
        if key.item not in self.items:
            self.fault(f"there is no item {key.item[:80]!r}", "item")
        member = self.members.get(key.rater)
        if member is None:
            self.fault(f"there is no member {key.rater[:80]!r}", "rater")
        if not 1 <= key.occasion < _LARGEST:
            self.fault("is out of range", "occasion")
        return len(self.faults) == before

    def rating(self, one: Rating) -> None:
        """A rating: of an item as it stands, under the round's rubric, on its scales."""
        self._next()
        key = one.key
        place = (key.round, key.item, key.rater, key.occasion)
        first = self._last[:4] != place
        if one.revision != (1 if first else self._last[4] + 1):
            self.fault("revisions come one after the other, from 1", "revision")
        self._ordered((*place, one.revision))
        if first:
            self._rated.setdefault((key.round, key.rater), _Tally()).add(key)
        if not one.request:
            self.fault("is empty", "request")
        self._time(one.submitted_at, "submitted_at")
        self._time(one.started_at, "started_at", needed=False)
        if not self._refers(key):
            return
        if one.rubric != self.rounds[key.round - 1].rubric:
            self.fault("is not the rubric of its round", "rubric")
        elif one.rubric in self.rubrics:
            self._answers(one)
        if one.item_hash != self.items[key.item]:
            self.fault("is not the hash of its item", "item_hash")
        if self.rounds[key.round - 1].opened_at is None:
            self.fault(f"round {key.round} was never open", "round")

    def _answers_to(self, rubric: str, name: str) -> frozenset[str]:
        allowed = self._allowed.get((rubric, name))
        if allowed is None:
            allowed = self._allowed[rubric, name] = answers_to(self.rubrics[rubric], name)
        return allowed

    def _answers(self, one: Rating) -> None:
        for name, answer in one.answers.items():
            allowed = self._answers_to(one.rubric, name)
            if answer not in allowed:
                what = "is no answer to it" if allowed else "there is no such criterion"
                self.fault(f"{answer[:60]!r} {what}", f"answers.{name[:80]}")

    def entry(self, one: Entry) -> None:
        """A line of the journal."""
        number = self._next()
        if one.number != number:
            self.fault(f"is number {one.number}; {number} comes next", "number")
        if one.actor not in self.members:
            self.fault(f"there is no member {one.actor[:80]!r}", "actor")
        if one.round is not None and not 1 <= one.round <= len(self.rounds):
            self.fault(f"there is no round {one.round}", "round")
        if one.item is not None and one.item not in self.items:
            self.fault(f"there is no item {one.item[:80]!r}", "item")
        self._time(one.at, "at")
        before = len(self.faults)
        for name, kind in _BODIES.get(one.kind, {}).items():
            value = one.body.get(name, ...)
            if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
                self.fault(f"an entry of the kind {one.kind} has to say this", f"body.{name}")
        if len(self.faults) == before:
            self._meaning(one)

    def _meaning(self, one: Entry) -> None:
        """What other records rest on."""
        match one.kind:
            case "rubric":
                self._adopted.append(one.body["hash"])
                if one.body["hash"] not in self.rubrics:
                    self.fault("the version it puts in force is not here", "body.hash")
            case "flag":
                self._flags.add(one.number)
                red = one.body["what"] == "red_flag"
                if one.body["what"] not in get_args(FlagKind) or one.item is None:
                    self.fault("is no flag on an item", "body.what")
                elif red and not isinstance(one.body.get("flag"), str):
                    self.fault("a red flag has a name", "body.flag")
            case "flag_decided":
                if any(
                    type(flag) is not int or flag not in self._flags for flag in one.body["flags"]
                ):
                    self.fault("decides a flag that nobody raised", "body.flags")
                if one.body["state"] not in get_args(FlagState):
                    self.fault("is no state of a flag", "body.state")
            case "settled":
                self._settled(one)
            case "admitted":
                self._admitted(one)
            case "phase" | "check_in":
                self._occasion(one)
            case _ if one.kind in (FROZEN, FROZEN_DATA):
                self._frozen(one)

    def _occasion(self, one: Entry) -> None:
        """A check-in, or a phase that begins or ends."""
        if one.body.get("state") != "open":
            self._occasions.add(one.number)
        if one.kind == "phase" and one.body["state"] not in ("open", "done"):
            self.fault("is no state of a phase", "body.state")
        if one.kind == "check_in" and not all(map(_is_snapshot, one.body["snapshot"])):
            self.fault("is no snapshot of targets", "body.snapshot")

    def _frozen(self, one: Entry) -> None:
        """A frozen report: of something that happened, and what it said is what comes before it."""
        if one.kind == FROZEN:
            if one.body["of"] not in self._occasions:
                self.fault("is kept with no check-in and no end of a phase", "body.of")
            if self._document not in (None, one.body["hash"]):
                self.fault("is not the hash of what was frozen", "body.hash")
            self._document = ""
        elif one.item is None:
            said = one.body.get("findings")
            self._document = content_hash(said) if isinstance(said, str) else None
            if said is not None and self._document is None:
                self.fault("is no text", "body.findings")

    def _settled(self, one: Entry) -> None:
        """A settlement: by people, with an answer to a criterion of the version it names."""
        value, version = one.body["value"], one.body["rubric"]
        by = one.body.get("participants", [])
        if one.body["how"] not in ("consensus", "adjudicated"):
            self.fault("is no way to settle", "body.how")
        if not isinstance(by, list) or not all(isinstance(name, str) for name in by):
            self.fault("is no list of members", "body.participants")
        if one.item is None or one.criterion is None:
            self.fault("settles nothing: it names no item or no criterion")
        elif version not in self.rubrics:
            self.fault("the version it was settled under is not here", "body.rubric")
        elif value == ERROR or value not in self._answers_to(version, one.criterion):
            self.fault(f"{value[:60]!r} is no answer to {one.criterion[:80]}", "body.value")

    def _admitted(self, one: Entry) -> None:
        """A judge counts, under a version, or no longer."""
        if one.body["rater"] not in self.members:
            self.fault(f"there is no member {one.body['rater'][:80]!r}", "body.rater")
        version = one.body.get("rubric")
        if one.body["admitted"] and not (isinstance(version, str) and version in self.rubrics):
            self.fault("the version it counts under is not here", "body.rubric")

    def _all_rated(self) -> None:
        """Whatever is done has a rating, and nothing else has one."""
        for round, rater in sorted(self._done.keys() | self._rated.keys()):
            done = self._done.get((round, rater), _Tally())
            rated = self._rated.get((round, rater), _Tally())
            if done != rated:
                self.fault(
                    f"in round {round} {rater[:80]!r} has {done.count} assignments that are done "
                    f"and ratings for {rated.count}, or for others than those"
                )

    def conclude(self) -> None:
        """What can be told only at the end."""
        self._record = 0
        self._all_rated()
        if not any("lead" in one.roles and one.left_at is None for one in self.members.values()):
            self.fault("nobody leads this study")
        if not self._adopted:
            self.fault("no version of a rubric was ever put in force")
        unused = set(self.rubrics) - set(self._adopted)
        if unused:
            self.fault(f"the rubric {min(unused)} was never put in force")


def _is_snapshot(row: Any) -> bool:
    return isinstance(row, Mapping) and isinstance(row.get("rounds"), list)


def answers_to(rubric: Rubric, name: str) -> frozenset[str]:
    """The answers to a criterion as they are kept; none where there is no such criterion."""
    if name not in rubric.criterion_ids:
        return frozenset()
    criterion = rubric.criterion(name)
    na = () if criterion.na.policy == "excluded" else (NA,)
    return frozenset([*values_as_text(rubric.scale_of(criterion)), *na, ERROR])


def rubric_record(document: Any, at: str) -> RubricRecord | None:
    """A version from its document, or None where it is none that can be read."""
    text = canonical(document)
    try:
        rubric = Rubric.model_validate_json(text)
    except (ValidationError, RecursionError):
        return None
    return RubricRecord(
        hash=rubric.hash, id=rubric.id, version=rubric.version, document=text, added_at=at
    )
