"""How a rubric is used: agreement targets, resolution, calibration, phases, history.

These parts of a rubric document are data for the study that runs it. What a document does
not state is ``none``; nothing here has a default that would invent a rule.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from calibrant.core.document import (
    AtLeast,
    Count,
    Document,
    Flag,
    Id,
    Number,
    Share,
    Text,
    Version,
)

Coefficient: TypeAlias = Literal[
    "percent",
    "percent_within_one",
    "cohen_kappa",
    "fleiss_kappa",
    "conger_kappa",
    "krippendorff_alpha",
    "gwet_ac",
    "brennan_prediger",
    "icc",
]
Policy: TypeAlias = Literal["median_ties_lower", "majority", "strictest", "median"]


class Note(Document):
    """A titled piece of advice to a reviewer."""

    id: Id | None = None
    title: Text
    text: Text
    criteria: tuple[Id, ...] = ()
    """The criteria it speaks of; none means all."""


class Guidance(Document):
    """Advice by moment."""

    before: tuple[Note, ...] | None = None
    during: tuple[Note, ...] | None = None
    after: tuple[Note, ...] | None = None


class Standard(Document):
    """A form that items should have; a SHOULD never fails an item by itself."""

    id: Id
    title: Text
    force: Literal["should"]
    text: Text
    criteria: tuple[Id, ...] = ()
    rules: Annotated[tuple[Text, ...], Field(min_length=1)]


class Target(Document):
    """The agreement a round must reach."""

    coefficient: Coefficient
    weights: Literal["linear", "quadratic"] | None = None
    """Of a weighted coefficient. The level of measurement comes from the scale."""
    op: AtLeast
    value: Annotated[Number, Field(ge=-1, le=1)]
    decided_on: Literal["point", "lower_limit"]
    """Whether the estimate itself or the lower limit of its interval must reach the value."""
    applies: Literal["always", "two_complete_raters", "otherwise"] = "always"
    """One coefficient may serve two raters without gaps and another every other design."""
    stated_label: Text | None = None
    """What the document calls this level; readings are computed separately."""


class Overlap(Document):
    """How much of the main set is rated by two or more raters."""

    minimum: Count
    share: Share


class Agreement(Document):
    """Targets, all of which must be met, and what to do when they are not."""

    targets: Annotated[tuple[Target, ...], Field(min_length=1)]
    measured_on: Text | None = None
    overlap: Overlap | None = None
    when_low: tuple[Literal["discuss", "clarify", "retrain", "test_again"], ...] | None = None
    """Steps to go through, in this order, for a criterion below target."""


class Resolution(Document):
    """When a disagreement must be resolved, by whom, and what the final answer is."""

    metric: Literal["distance", "difference", "low_agreement"]
    """``distance``: highest minus lowest, against ``value``; ``difference``: any two answers
    that are not the same; ``low_agreement``: cases of a criterion below its target."""
    op: AtLeast | None = None
    value: Number | None = None
    by: tuple[Literal["discussion", "consensus", "adjudicator"], ...] | None = None
    """Who resolves, first to last resort."""
    final: Policy | None = None
    """The final answer where no resolution is required."""

    @model_validator(mode="after")
    def _trigger(self) -> Self:
        given = {self.op is not None, self.value is not None}
        if given != {self.metric == "distance"}:
            raise ValueError("op and value go with metric distance, and only with it")
        return self


class Calibration(Document):
    """What raters do together before their ratings count."""

    onboarding: Text | None = None
    items: Count | None = None
    """How many items all raters score first; the same ones for everyone."""
    raters: Literal["all"] | None = None
    before: Text | None = None
    discuss: Flag | None = None
    """Whether every disagreement is discussed before the main round opens."""
    repeat: Text | None = None


class Range(Document):
    """From ``first`` to ``last``, both included."""

    first: Count
    last: Count

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.first > self.last:
            raise ValueError("first must not be above last")
        return self


class ItemCount(Document):
    """How many items a phase handles."""

    minimum: Count | None = None
    maximum: Count | None = None
    all: Flag = False
    """The whole set."""
    same_for_all: Flag = False
    """Whether every rater gets the same ones."""


Condition: TypeAlias = Literal[
    "minimum_items_rated_by_all",
    "all_items_rated",
    "previous_phase_done",
    "agreement_computed",
    "disagreements_discussed",
    "guidelines_updated",
    "targets_met",
    "flagged_cases_reviewed",
    "no_open_flags",
    "final_agreement_computed",
    "lessons_recorded",
    "rubric_finalised",
]


class Phase(Document):
    """A stretch of the plan."""

    id: Id
    title: Text
    weeks: Range
    items: ItemCount | None = None
    check_ins: Flag = False
    tasks: Annotated[tuple[Text, ...], Field(min_length=1)]
    entry: tuple[Condition, ...] = ()
    exit: tuple[Condition, ...] = ()


Cause: TypeAlias = Literal["disagreement_pattern", "edge_case", "rater_feedback", "goal_change"]


class Change(Document):
    """One line of the version history."""

    version: Version
    date: Text | None = None
    """As stated by the document; not checked against a calendar."""
    cause: Cause | None = None
    text: Text


class Renamed(Document):
    """A criterion of the previous version and what it became."""

    previous: Id
    now: Id
    answers: Literal["valid", "ask_again"]
    """Whether answers given to the old criterion may stand for the new one."""


class Mapping(Document):
    """How the criteria of the previous version relate to this one's."""

    from_version: Version
    renamed: tuple[Renamed, ...] = ()
    added: tuple[Id, ...] = ()
    dropped: tuple[Id, ...] = ()
