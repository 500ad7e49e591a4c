"""The mapping of a calibrated judge: a document, frozen, and named by its content hash."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

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
