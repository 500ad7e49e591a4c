"""The rubric document: one file from which form, judge's question, scoring and handbook follow.

A ``Rubric`` that exists is usable: its pieces fit together (``structure.py`` says how) and its
version and content hash say exactly which rubric it is. It refuses unknown keys, never
carries code, and is never changed in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from calibrant.core import process
from calibrant.core.answer import Value
from calibrant.core.criterion import (
    Aggregation,
    Category,
    Check,
    Criterion,
    Example,
    Gate,
    ItemType,
    RedFlag,
    fold_name,
    is_record_field,
)
from calibrant.core.document import Document, Id, Text, Version
from calibrant.core.errors import UnknownName
from calibrant.core.ids import content_hash
from calibrant.core.scale import AnyScale, Scale
from calibrant.core.structure import Parts, misfits


class Rubric(Document):
    """A versioned set of criteria with scales, weights, gates and everything said about them."""

    format: Literal["1"] = "1"
    """The version of the document's own grammar."""
    id: Id
    version: Version
    title: Text
    item_type: ItemType
    summary: Text
    scope: Text | None = None
    """What a rating is about: the whole item, or a part."""
    stated_version: Text | None = None
    stated_date: Text | None = None
    reviewers: tuple[process.Note, ...] | None = None
    """The kinds of people who rate."""
    independence: Text | None = None
    scales: Annotated[tuple[Scale, ...], Field(min_length=1)]
    categories: tuple[Category, ...] | None = None
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=200)]
    gates: tuple[Gate, ...] | None = None
    red_flags: Annotated[tuple[RedFlag, ...], Field(max_length=64)] | None = None
    aggregation: Aggregation
    agreement: process.Agreement | None
    resolution: process.Resolution | None = None
    panel: process.Policy | None = None
    """How several judges become one answer."""
    calibration: process.Calibration | None = None
    phases: tuple[process.Phase, ...] | None = None
    guidance: process.Guidance | None = None
    pitfalls: tuple[process.Note, ...] | None = None
    difficult_cases: tuple[process.Note, ...] | None = None
    standards: tuple[process.Standard, ...] | None = None
    principles: tuple[process.Note, ...] | None = None
    checks: tuple[Check, ...] | None = None
    update_causes: tuple[process.Cause, ...] | None = None
    changelog: tuple[process.Change, ...] | None = None
    mapping: process.Mapping | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        read = {name: getattr(self, name) for name in Parts.__slots__ if name in self.__dict__}
        found = list(misfits(Parts(**read)))
        if found:
            raise ValueError("; ".join(f"{misfit.place}: {misfit.message}" for misfit in found))
        return self

    @cached_property
    def hash(self) -> str:
        """Content hash of everything the document states.

        What it leaves out does not count, so a grammar that learns a new optional key does not
        give old documents a new identity.
        """
        return content_hash(self.model_dump(mode="python", exclude_defaults=True))

    @property
    def name(self) -> str:
        """``id@version``, as it stands in records."""
        return f"{self.id}@{self.version}"

    @cached_property
    def _scales(self) -> Mapping[str, AnyScale]:
        return {scale.id: scale for scale in self.scales}

    def scale_of(self, criterion: Criterion) -> AnyScale:
        """The scale a criterion is answered on."""
        return self._scales[criterion.scale]

    @cached_property
    def criterion_ids(self) -> tuple[str, ...]:
        """In the document's order, which is the order of every table."""
        return tuple(criterion.id for criterion in self.criteria)

    @cached_property
    def _criteria_by_id(self) -> Mapping[str, Criterion]:
        return {one.id: one for one in self.criteria if not is_record_field(one.id)}

    @cached_property
    def _criteria_by_name(self) -> Mapping[str, Criterion]:
        return {
            fold_name(name): criterion
            for criterion in self.criteria
            for name in (criterion.title, *criterion.aliases, criterion.id)
            if not is_record_field(name)
        }

    def criterion(self, name: str) -> Criterion:
        """The criterion that ``name`` (id, alias or title, in any case) stands for."""
        known = self._criteria_by_id.get(name)
        if known is not None:
            return known
        try:
            return self._criteria_by_name[fold_name(name)]
        except KeyError:
            raise UnknownName("criterion", name, self.criterion_ids) from None

    @cached_property
    def _flags_by_name(self) -> Mapping[str, RedFlag]:
        return {
            fold_name(name): flag
            for flag in self.red_flags or ()
            for name in (flag.title, *flag.aliases, flag.id)
        }

    def red_flag(self, name: str) -> RedFlag:
        """The red flag that ``name`` (id, alias or title, in any case) stands for."""
        try:
            return self._flags_by_name[fold_name(name)]
        except KeyError:
            known = [flag.id for flag in self.red_flags or ()]
            raise UnknownName("red flag", name, known) from None

    @cached_property
    def _failing(self) -> Mapping[str, frozenset[Value]]:
        failing: dict[str, set[Value]] = {}
        for criterion in self.criteria:
            scale = self.scale_of(criterion)
            shut = [
                word
                for gate in self.gates or ()
                for word in gate.fails_on
                if criterion.id in gate.criteria
            ]
            failing[criterion.id] = {
                value
                for value in scale.points_of_scale
                if str(value) in shut or (scale.level == "nominal" and scale.worth(value) == 0)
            }
        return {name: frozenset(values) for name, values in failing.items()}

    def failing_values(self, criterion: Criterion) -> frozenset[Value]:
        """Answers that fail the criterion: worth nothing on a choice scale, or shutting a gate."""
        return self._failing[criterion.id]

    def criteria_of(self, category: str) -> tuple[Criterion, ...]:
        """The criteria of a category, in order."""
        return tuple(one for one in self.criteria if one.category == category)

    def examples(self) -> Iterator[tuple[Criterion, str, Example]]:
        """Every example with the criterion and the level it illustrates."""
        for criterion in self.criteria:
            for level, anchor in criterion.anchors.items():
                for example in anchor.examples:
                    yield criterion, level, example
