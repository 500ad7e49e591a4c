"""Whether a judge favours what it wrote itself, or what its family wrote.

Its gap to people on its own items is held against its gap on those of others: that its items are
better, or that it is mild to all, makes no difference. Other judges are a second measure, for what
all judges like: of each item, those that are no relatives of its author or of the judge. Who wrote
an item is told, or there is no answer; names are never guessed at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from calibrant.compare.judged import Array
from calibrant.core.model_names import UNKNOWN, Relation, family_of, relation
from calibrant.stats.error_regression import Slope, contrast

What: TypeAlias = Literal["own model", "own family"]
Against: TypeAlias = Literal["people", "other judges"]
NO_AUTHORS = "nothing says who wrote the items; name a column with --author, or give --items"
_SIDES: dict[What, tuple[tuple[Relation, ...], tuple[Relation, ...]]] = {
    "own model": (("own",), ("other", "unclear")),
    "own family": (("own", "family"), ("other",)),
}
"""Authors on either side. Relatives are no others; whose family is not known may be a relative."""
_WANTED: tuple[tuple[What, Relation], ...] = (("own model", "own"), ("own family", "family"))


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who wrote the items, and which models the judges are."""

    authors: Mapping[str, str] = field(default_factory=dict)
    """By item, as far as it is told."""
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By rater, as far as it is told; a panel has several."""
    judge_is: tuple[str, ...] = ()
    """The models that the judge is, whatever it is called, where somebody says so."""
    untold: str = NO_AUTHORS
    """Why no author is told, where none is."""

    def about(self, judge: str, items: Iterable[str]) -> Authorship:
        """The same of these items alone, the judge having a name."""
        known = {item: self.authors[item] for item in items if item in self.authors}
        models = {**self.models, judge: self.judge_is} if self.judge_is else self.models
        untold = self.untold
        if self.authors and not known:
            untold = "no author of any of these items is told; do they go by other names?"
        return Authorship(known, models, untold=untold)

    def why_not(self, judge: str) -> str:
        """Why nothing can be told of a judge's own items; empty where something may."""
        if not self.authors:
            return self.untold
        if not self.models.get(judge):
            return f"it is not told which model {judge} is; say --judge-model NAME"
        near = {one for one, count in self.counts(judge).items() if count}
        models = ", ".join(self.models[judge])
        if not near & {"own", "family"}:
            known = any(family_of(one) != UNKNOWN for one in self.models[judge])
            kin = " or its family" if known else ", and its family is not known"
            return f"no item is told to be by {models}{kin}"
        if not near & {"other", "unclear"}:
            return f"all items are by {models} or its family: there are none to hold them against"
        return ""

    def counts(self, judge: str) -> dict[str, int]:
        """Items by how near their authors are to the judge."""
        models = self.models.get(judge)
        if not models:
            return {}
        found: Counter[Relation] = Counter()
        for author, items in Counter(self.authors.values()).items():  # few of them wrote many
            found[relation(models, author)] += items
        return {one: found[one] for one in ("own", "family", "unclear", "other")}

    def wanted(self, judge: str) -> list[What]:
        """What can be asked: of the family only where it wrote items that the judge did not."""
        counts = self.counts(judge)
        return [what for what, one in _WANTED if counts.get(one)]

    def near(self, rater: str, items: Sequence[str]) -> list[Relation | None]:
        """How near the author of each item is to a rater; None where that is not told."""
        models = self.models.get(rater)
        known = {
            author: relation(models, author) if models else None
            for author in set(self.authors.values())
        }
        return [known.get(self.authors.get(item, "")) for item in items]

    def strangers(self, judge: str, raters: Sequence[str]) -> list[str]:
        """Judges that are known to be no relatives of this one."""
        mine = self.models.get(judge, ())
        return [
            one
            for one in raters
            if one != judge
            and self.models.get(one)
            and all(relation(mine, model) == "other" for model in self.models[one])
        ]


@dataclass(frozen=True, slots=True)
class OwnEffect:
    """How much more a judge gives its own items than others do, less what it gives the rest."""

    what: What
    against: Against
    slope: Slope
    n_own: int
    n_others: int
    found: bool = False
    """Whether it stands when all effects are looked at together."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """How far above others a judge is on each of some items; not a number where unknown."""

    people: Array | None
    """None where the answers have no order."""
    judges: Array | None
    """Above other judges; None where there are none that are no relatives."""
    beside: Array | None = None
    """What is held equal, shape (N, K)."""


def own_effects(
    gaps: Gaps, near: Sequence[Relation | None], wanted: Sequence[What], seed: int
) -> list[OwnEffect]:
    """Against people and against other judges; ``near`` is of the author of each item."""
    measures: list[tuple[Against, Array | None]] = [("people", gaps.people)]
    if gaps.judges is not None:
        measures.append(("other judges", gaps.judges))
    return [
        _effect(gaps, near, (what, against), gap, seed)
        for what in wanted
        for against, gap in measures
    ]


def _effect(
    gaps: Gaps,
    near: Sequence[Relation | None],
    asked: tuple[What, Against],
    gap: Array | None,
    seed: int,
) -> OwnEffect:
    own_side, other_side = _SIDES[asked[0]]
    own = np.array([one in own_side for one in near], bool)
    others = np.array([one in other_side for one in near], bool)
    if gap is None:
        unordered = Slope(undefined="answers without an order: there is no more or less of them")
        return OwnEffect(*asked, unordered, int(own.sum()), int(others.sum()))
    known = (own | others) & ~np.isnan(gap)
    beside = None
    if gaps.beside is not None:
        known &= ~np.isnan(gaps.beside).any(axis=1)
        beside = gaps.beside[known]
    random = np.random.default_rng(seed)
    slope = contrast(gap[known], own[known], random, beside)
    return OwnEffect(*asked, slope, int((own & known).sum()), int((others & known).sum()))
