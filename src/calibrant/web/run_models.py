"""What the API of running a study takes and gives: status, flags, questions, phases, results."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from calibrant.web.lead_models import Body, Name, Reason

Words = Annotated[str, Field(min_length=1, max_length=20_000)]
Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many.")]
After = Annotated[int, Query(ge=0, le=2**31 - 1, description="Where the part before ended.")]
RoundNumber = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Of this round only.")]


class RoundProgressOut(BaseModel):
    """How far a round is."""

    number: int
    kind: str
    state: str
    done: int
    total: int
    raters: dict[str, tuple[int, int]]
    """Done and all, by rater, as far as the caller may know."""


class ProgressOut(BaseModel):
    """How far all rounds are."""

    rounds: list[RoundProgressOut]


class TargetOut(BaseModel):
    """A target of agreement and what the last round shows."""

    criterion: str | None
    target: str
    value: float | None
    interval: tuple[float, float] | None
    outcome: Literal["met", "not_met", "not_shown"]


class LoopOut(BaseModel):
    """A criterion below its target, and how far the loop is."""

    criterion: str
    round: int
    done: list[str]
    next: str


class ConditionOut(BaseModel):
    """A condition of a phase."""

    condition: str
    met: bool
    text: str


class PhaseOut(BaseModel):
    """A phase as it stands today."""

    id: str
    title: str
    state: Literal["waiting", "open", "done"]
    first_day: date
    last_day: date
    entry: list[ConditionOut]
    exit: list[ConditionOut]
    warnings: list[str]


class PhasesOut(BaseModel):
    """All phases, in their order; none where the rubric plans none."""

    phases: list[PhaseOut]


class StatusOut(BaseModel):
    """A study at a glance."""

    study: str
    title: str
    rubric: str
    week: int
    items: int
    phases: list[PhaseOut]
    rounds: list[RoundProgressOut]
    agreement_round: int | None
    agreement: list[TargetOut]
    loops: list[LoopOut]
    disagreements: int
    flags: dict[str, int]
    questions: int
    next: list[str]


class TroubleOut(BaseModel):
    """What a criterion has given rise to."""

    criterion: str
    disagreements: int
    unclear: int
    questions: int
    edge_cases: int


class TroublesOut(BaseModel):
    """Criteria by how much trouble they make, the worst first."""

    troubles: list[TroubleOut]


class PhaseMove(Body):
    """Why a phase moves although something is missing."""

    override: Reason | None = None


class StepIn(Body):
    """A step of the loop that follows low agreement."""

    criterion: Name
    step: Literal["discuss", "clarify", "retrain"]
    note: Words


class FlagOut(BaseModel):
    """Something about an item that somebody has to look at."""

    number: int
    what: Literal["red_flag", "edge_case", "review"]
    flag: str | None
    item: str
    round: int | None
    by: str
    at: str
    words: dict[str, Any]
    state: Literal["raised", "confirmed", "rejected"]
    decided_by: str | None
    reason: str


class FlagsOut(BaseModel):
    """Flags by number, a part at a time."""

    flags: list[FlagOut]
    total: int
    next: int | None


class FlagIn(Body):
    """A flag on an item."""

    item: Name
    what: Literal["red_flag", "edge_case", "review"]
    flag: Name | None = None
    evidence: Annotated[list[Words], Field(default_factory=list, max_length=50)]
    reason: Annotated[str, Field(max_length=20_000)] = ""


class DecisionIn(Body):
    """What becomes of a flag."""

    confirm: bool
    reason: Reason


class QuestionOut(BaseModel):
    """A question about the rubric, and what the lead answered."""

    number: int
    by: str
    at: str
    item: str | None
    criterion: str | None
    text: str
    answers: list[str]
    shared: bool


class QuestionsOut(BaseModel):
    """Questions by number, a part at a time."""

    questions: list[QuestionOut]
    total: int
    next: int | None


class QuestionIn(Body):
    """A question to the lead."""

    text: Words
    item: Name | None = None
    criterion: Name | None = None


class AnswerIn(Body):
    """An answer of the lead."""

    text: Words
    share: bool = False


class CheckInOut(BaseModel):
    """A meeting on the way, with how agreement stood."""

    number: int
    at: str
    attendees: list[str]
    decisions: str
    actions: str
    snapshot: list[dict[str, Any]]


class CheckInMade(CheckInOut):
    """A check-in that was just recorded."""

    report: str
    """What became of the report that is frozen with it, in words."""


class FrozenOut(BaseModel):
    """A report that was frozen."""

    number: int
    """Of the check-in, or of the entry that says that the phase is done."""
    at: str
    by: str
    what: Literal["check_in", "phase"]
    phase: str | None
    hash: str


class FrozenListOut(BaseModel):
    """Every report that was frozen, in order."""

    reports: list[FrozenOut]


class CheckInsOut(BaseModel):
    """All check-ins, in order."""

    check_ins: list[CheckInOut]


class CheckInIn(Body):
    """A check-in that was held."""

    attendees: Annotated[list[Name], Field(min_length=1, max_length=1000)]
    decisions: Words
    actions: Annotated[str, Field(max_length=20_000)] = ""


class LessonsOut(BaseModel):
    """What was learned, in the order of writing down."""

    lessons: list[str]


class LessonIn(Body):
    """Something that was learned."""

    text: Words


class EntryOut(BaseModel):
    """A line of the audit log."""

    number: int | None
    """Of the journal; a rating that came in has none."""
    kind: str
    actor: str
    at: str
    round: int | None
    item: str | None
    criterion: str | None
    body: dict[str, Any]
    words: dict[str, Any] | None
    said: str
    """The same as a sentence."""


class JournalOut(BaseModel):
    """Lines of the audit log in the order of time, a part at a time."""

    entries: list[EntryOut]
    next: str | None
    """Where to go on; nothing where these were the last."""


class RowsOut(BaseModel):
    """Rows of a table, a part at a time."""

    rows: list[dict[str, Any]]
    total: int
    next: int | None


class ReportOut(BaseModel):
    """A report as data; its parts are described in the handbook."""

    report: dict[str, Any]


class ExportIn(Body):
    """What is to be taken out."""

    what: Name
    pseudonyms: bool = False


class JobOut(BaseModel):
    """A piece of work that goes on by itself."""

    number: str
    title: str
    state: Literal["running", "done", "failed"]
    said: str
    began: str
    by: str
    count: int
    """How far it is, where that can be counted."""


class JobsOut(BaseModel):
    """Work of one kind, the newest first; it is forgotten when the server stops."""

    jobs: list[JobOut]


class JudgeOut(BaseModel):
    """A judge or a check: whether it counts, and how it stands beside people."""

    rater: str
    kind: str
    counts: bool
    items: int
    targets: list[dict[str, Any]]
    low: list[str]
    why: str


class JudgesOut(BaseModel):
    """Judges and checks, and the server that runs ask; null where none is set."""

    judges: list[JudgeOut]
    server: str | None


class JudgeNamed(Body):
    """A judge, and why it is to count although it falls short."""

    rater: Name
    override: Reason | None = None


class JudgeDismissed(Body):
    """A judge that no longer counts."""

    rater: Name
    reason: Reason


class RunIn(Body):
    """A run: a model of the server that the workspace is set to, and nothing of where that is."""

    model: Name
    way: Literal["criterion", "category", "rubric"] = "criterion"


class ForeseenOut(BaseModel):
    """What a run would do."""

    host: str
    leaves_this_machine: bool
    judges: list[dict[str, Any]]
    items: int


class RunOut(JobOut):
    """A run and its figures."""

    figures: dict[str, Any]
