"""The mapping of a calibrated judge: a document, frozen, and named by its content hash."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from calibrant.core.document import Document
from calibrant.core.ids import content_hash

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Scale(Document):
    """The answers to a criterion, as a mapping takes them."""

    criterion: str
    kind: Literal["numbers", "two", "names"]
    """Ordered answers, of which the mean is told; two, of which the share of the last is told; or
    more names, of which each has a share."""
    answers: tuple[str, ...]
    """In the order in which they are cut."""
    points: tuple[Finite, ...]
    """What each is worth where means are told."""
    heard: Literal["probabilities", "answers"]
    """What is listened to: how sure the judge is of each answer, or the one that it gave."""


class Feature(Document):
    """Something that a mapping looks at."""

    criterion: str
    of: Literal["mean", "log-odds", "share"]
    answer: str | None = None
    """Whose share it is."""
    centre: Finite
    spread: Finite
    weights: tuple[Finite, ...]
    """One for each target, by standard deviation of the feature."""


class CriterionMapping(Document):
    """How a judge's answers to one criterion become people's."""

    criterion: str
    method: str
    """In words."""
    kind: Literal["linear", "logistic", "isotonic"]
    penalty: Finite
    intercept: tuple[Finite, ...]
    features: tuple[Feature, ...]
    knots: tuple[tuple[Finite, ...], ...] = ()
    """Of an isotonic mapping: values of the feature, and the target at each."""
    cuts: tuple[Finite, ...] = ()
    """From where on the next answer is given; none where the likeliest one is."""
    n_items: int
    """Items it was fitted to."""


class JudgeMapping(Document):
    """What makes of a judge another rater: the mapping of its answers to people's."""

    judge: str
    card: str | None
    """Hash of the judge's card, where its ratings have one."""
    rubric: str | None
    rubric_hash: str | None
    people: tuple[str, ...]
    folds: int
    repeats: int
    seed: int
    scales: tuple[Scale, ...]
    """Of all criteria that any mapping listens to."""
    criteria: tuple[CriterionMapping, ...]
    as_judged: dict[str, str]
    """Criteria that keep the judge's own answers, and why."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        scales = {one.criterion: one for one in self.scales}
        for one in self.criteria:
            named = [one.criterion, *(feature.criterion for feature in one.features)]
            strange = [name for name in named if name not in scales]
            if strange:
                raise ValueError(f"criteria: {one.criterion} looks at {strange[0]}, of no scale")
            if not _fits(one, scales):
                raise ValueError(f"criteria: the numbers of {one.criterion} do not fit its scale")
        return self

    @cached_property
    def hash(self) -> str:
        """Content hash of all of it."""
        return content_hash(self.model_dump(mode="json"))

    @cached_property
    def new_card(self) -> str:
        """Hash of the card of the rater that judge and mapping are together."""
        return content_hash({"judge": self.judge, "card": self.card, "mapping": self.hash})

    @property
    def rater(self) -> str:
        """The name of that rater: two mappings never share one."""
        return f"{self.judge[:80]}-calibrated-{self.new_card.partition(':')[2][:8]}"

    def to_dict(self) -> dict[str, Any]:
        """For a file: the document with its hash and the card that it makes."""
        return {"hash": self.hash, "rater": self.rater, "card_of_rater": self.new_card} | (
            self.model_dump(mode="json")
        )


def _fits(one: CriterionMapping, scales: Mapping[str, Scale]) -> bool:
    """Whether there are as many numbers of each kind as the scale needs."""
    own, targets = scales[one.criterion], len(one.intercept)
    answers = len(own.answers)
    if targets != (answers if own.kind == "names" else 1) or not one.features:
        return False
    if own.kind == "numbers" and len(own.points) != answers:
        return False
    if len(one.cuts) != (0 if own.kind == "names" else answers - 1):
        return False
    shares = [feature for feature in one.features if feature.of == "share"]
    if any(feature.answer not in scales[feature.criterion].answers for feature in shares):
        return False
    if one.kind == "isotonic":
        return len(one.knots) == 2 and 0 < len(one.knots[0]) == len(one.knots[1])
    return all(len(feature.weights) == targets for feature in one.features)
