"""The records of a study: one fact each, none of them changed afterwards.

A *study* is items, a panel and rounds; each round pins one version of a rubric. What raters hand
in becomes *ratings*; everything else that happens (flags, discussions, questions, decisions,
overrides) becomes *entries* of the journal, from which the state of the study follows.

Times are texts in UTC, to the microsecond, so that they sort as they stand:
``2026-03-02T09:30:00.000000Z``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from calibrant.core.rating import RaterKind

Role: TypeAlias = Literal["lead", "reviewer", "adjudicator", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)
RoundKind: TypeAlias = Literal["onboarding", "calibration", "main", "recalibration", "test"]
ROUND_KINDS: tuple[RoundKind, ...] = get_args(RoundKind)
COUNTING: tuple[RoundKind, ...] = ("main",)
"""Rounds whose ratings enter results; the others are practice, and are compared only."""
RoundState: TypeAlias = Literal["planned", "open", "closed"]
AssignmentState: TypeAlias = Literal["open", "done", "withdrawn"]
TIME_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def time_text(moment: datetime) -> str:
    """A moment as records keep it; raises ``ValueError`` on one without a time zone."""
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return moment.astimezone(UTC).strftime(TIME_FORM)


@lru_cache(maxsize=4096)  # the same few are asked for with every request
def time_of(text: str) -> datetime:
    """The moment a record keeps."""
    return datetime.strptime(text, TIME_FORM).replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRecord:
    """A study as such."""

    name: str
    title: str
    rubric_id: str
    """All its rubric versions carry this id."""
    item_type: str
    start_on: str
    """The day on which week 1 begins: ``2026-03-02``."""
    seed: int
    """From which all chance in it follows: orders, repeats, choices."""
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricRecord:
    """A version of a rubric in the store: its document never changes."""

    hash: str
    id: str
    version: str
    document: str
    """The document as JSON."""
    added_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRecord:
    """An item of a study. A redacted one has lost its words and kept its hash."""

    id: str
    hash: str
    kind: str
    position: int
    """In the order of coming in, from 1."""
    measures: Mapping[str, int]
    """What code counted in it, for preconditions."""
    content: str | None
    """The item as JSON, or None once it is redacted."""
    source: str | None = None
    """What the file said beside the item, as JSON (which model wrote it): hidden from raters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Somebody or something that takes part: a person, a judge or a check."""

    name: str
    kind: RaterKind
    roles: tuple[Role, ...]
    group: str | None = None
    """The kind of person: adviser, annotator, or a word of one's own."""
    card: str | None = None
    """The card of a judge or a check, as JSON."""
    joined_at: str
    left_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One pass of rating, pinned to one version of the rubric."""

    number: int
    kind: RoundKind
    state: RoundState
    rubric: str
    """Hash of the version in force."""
    phase: str | None
    plan: Mapping[str, Any]
    """How its assignments were made."""
    opened_at: str | None = None
    closed_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Key:
    """Which rating is meant: unique in a study."""

    round: int
    item: str
    rater: str
    occasion: int = 1
    """Tells a rater's repeats of one item apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A durable promise of a rating."""

    key: Key
    position: int
    """In its rater's own order."""
    state: AssignmentState = "open"
    lease: str | None = None
    """Who holds it: a token that only the holder knows."""
    leased_until: str | None = None
    version: int = 0
    """Grows with every saved draft and submission: what a stale page is told by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a rater has so far: anything may be missing, and nothing counts yet."""

    key: Key
    body: Mapping[str, Any]
    saved_at: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One rater's answers about one item on one occasion, accepted and kept for good.

    A correction is a further revision; the highest one counts and all of them stay.
    """

    key: Key
    revision: int
    request: str
    """Names the act of handing in: the same act twice is one rating."""
    rubric: str
    item_hash: str
    answers: Mapping[str, str]
    """By criterion: a value of the scale, ``NA`` or ``ERROR``."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Without anybody's words: flags, borderline marks, tags, sitting, checks shown, reasons."""
    words: Mapping[str, Any] | None = None
    """Notes, quotes, a judge's reply: emptied when the item is redacted."""
    started_at: str | None = None
    submitted_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something that happened, by whom and when: a line of the journal."""

    kind: str
    actor: str
    at: str
    number: int = 0
    """In the order of happening, from 1; given by the store."""
    round: int | None = None
    item: str | None = None
    criterion: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    """Without anybody's words on an item."""
    words: Mapping[str, Any] | None = None
    """Quotes and reasons that may repeat what an item says: emptied when it is redacted."""


FROZEN, FROZEN_DATA = "report", "report_data"
"""Kinds of entries: a report was frozen, and what it said, which is long and read only for it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How many assignments of a rater in a round are in a state."""

    round: int
    rater: str
    state: AssignmentState
    count: int
