"""What the API on disagreements takes and gives: disputes, threads, cases, settlements."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, Field

from calibrant.core.item import item_text
from calibrant.core.rating import RaterKind
from calibrant.study.adjudicate import Case, Error, Source
from calibrant.study.case_file import Came, CaseFile, Outcome, Voice
from calibrant.study.discuss import Dispute
from calibrant.study.flags import Flag
from calibrant.study.thread import MOST, Comment
from calibrant.web.lead_models import Body
from calibrant.web.refs import item_ref

Name = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[str, Field(min_length=1, max_length=MOST)]
People = Annotated[list[Name], Field(min_length=1, max_length=200)]
"""By name, or by mask where names are masked; ``you`` is whoever asks."""


class DisputeOut(BaseModel):
    """Answers to one criterion about one item that lie apart."""

    ref: str
    """Of the item, for addresses."""
    item: str
    criterion: str
    answers: dict[str, str]
    """By rater, masked where names may not be told."""
    cause: str
    gap: int | None
    discussed: bool

    @classmethod
    def of(cls, one: Dispute) -> DisputeOut:
        """A disagreement, as it is sent."""
        return cls(
            ref=item_ref(one.item),
            item=one.item,
            criterion=one.criterion,
            answers=one.answers,
            cause=one.cause,
            gap=one.gap,
            discussed=one.discussed,
        )


class DisputesOut(BaseModel):
    """Disagreements of a round, the widest first."""

    disputes: list[DisputeOut]
    total: int
    next: int | None
    """Where the next part begins."""


class CommentOut(BaseModel):
    """One contribution to a thread."""

    number: int
    round: int
    item: str
    criterion: str
    by: str
    at: str
    text: str

    @classmethod
    def of(cls, one: Comment) -> CommentOut:
        """A comment, as it is sent."""
        return cls(
            number=one.number,
            round=one.round,
            item=one.item,
            criterion=one.criterion,
            by=one.by,
            at=one.at,
            text=one.text,
        )


class CommentsOut(BaseModel):
    """A thread, the oldest first."""

    comments: list[CommentOut]
    next: int | None
    """Send it as ``after`` for the rest."""


class CommentIn(Body):
    """A comment on a disagreement."""

    item: Name
    criterion: Name
    text: Words


class OutcomeIn(Body):
    """What the discussion of a disagreement came to."""

    item: Name
    criterion: Name
    outcome: Words
    participants: People
    unclear: bool = False


class ConsensusIn(Body):
    """What the reviewers agree on."""

    item: Name
    criterion: Name
    value: Name
    reason: Words
    participants: People
    unclear: bool = False


class NoConsensusIn(Body):
    """That the reviewers have talked, and do not agree."""

    item: Name
    criterion: Name
    reason: Words
    participants: People


class SettlementIn(Body):
    """A decision on a disagreement."""

    criterion: Name
    value: Name
    reason: Words
    source: Source = "new"
    error: Error | None = None
    unclear: bool = False


class FlagDecisionIn(Body):
    """Whether a flag stands."""

    confirm: bool
    reason: Words


class CaseOut(BaseModel):
    """Something that waits to be settled."""

    ref: str
    item: str
    criterion: str | None
    causes: list[str]
    safety: bool
    answers: dict[str, str]
    gap: int | None
    flags: list[int]
    tried: bool

    @classmethod
    def of(cls, one: Case) -> CaseOut:
        """A case, as it is sent."""
        return cls(
            ref=item_ref(one.item),
            item=one.item,
            criterion=one.criterion,
            causes=list(one.causes),
            safety=one.safety,
            answers=one.answers,
            gap=one.gap,
            flags=list(one.flags),
            tried=one.tried,
        )


class QueueOut(BaseModel):
    """What waits, the most urgent first."""

    cases: list[CaseOut]


class VoiceOut(BaseModel):
    """What one rater said."""

    rater: str
    kind: RaterKind
    counts: bool
    answers: dict[str, str]
    notes: dict[str, str]
    evidence: dict[str, list[str]]
    reasons: dict[str, str]
    borderline: list[str]
    tags: dict[str, list[str]]
    note: str

    @classmethod
    def of(cls, one: Voice) -> VoiceOut:
        """A voice, as it is sent."""
        return cls(
            rater=one.rater,
            kind=one.kind,
            counts=one.counts,
            answers=dict(one.answers),
            notes=dict(one.notes),
            evidence={name: list(texts) for name, texts in one.evidence.items()},
            reasons=dict(one.reasons),
            borderline=sorted(one.borderline),
            tags={name: list(found) for name, found in one.tags.items()},
            note=one.note,
        )


class CaseFlagOut(BaseModel):
    """A flag on the item."""

    number: int
    what: str
    flag: str | None
    by: str
    state: str
    words: dict[str, Any]
    reason: str

    @classmethod
    def of(cls, one: Flag) -> CaseFlagOut:
        """A flag, as it is sent."""
        return cls(
            number=one.number,
            what=one.what,
            flag=one.flag,
            by=one.by,
            state=one.state,
            words=dict(one.words),
            reason=one.reason,
        )


class OutcomeOut(BaseModel):
    """What people made of a disagreement."""

    what: Came
    criterion: str
    by: str
    at: str
    participants: list[str]
    text: str
    value: str | None
    how: str | None
    error: str | None
    unclear: bool

    @classmethod
    def of(cls, one: Outcome) -> OutcomeOut:
        """An outcome, as it is sent."""
        return cls(
            what=one.what,
            criterion=one.criterion,
            by=one.by,
            at=one.at,
            participants=list(one.participants),
            text=one.text,
            value=one.value,
            how=one.how,
            error=one.error,
            unclear=one.unclear,
        )


class CaseFileOut(BaseModel):
    """An item with everything that may be seen of what was said about it."""

    item: str
    content: dict[str, Any] | None
    rubric: str
    voices: list[VoiceOut]
    flags: list[CaseFlagOut]
    outcomes: list[OutcomeOut]
    comments: list[CommentOut]
    refusal: str
    first: str | None

    @classmethod
    def of(cls, one: CaseFile) -> CaseFileOut:
        """A file, as it is sent."""
        return cls(
            item=one.item,
            content=None if one.content is None else json.loads(item_text(one.content)),
            rubric=one.rubric.name,
            voices=[VoiceOut.of(voice) for voice in one.voices],
            flags=[CaseFlagOut.of(flag) for flag in one.flags],
            outcomes=[OutcomeOut.of(outcome) for outcome in one.outcomes],
            comments=[CommentOut.of(comment) for comment in one.comments],
            refusal=one.refusal,
            first=one.first,
        )
