"""Means of a large judged set, corrected by a small sample that people labelled as well.

Prediction-powered inference with a tuned weight of the judge (PPI++, Angelopoulos, Duchi and Zrnic
2023). With f what the judge says of all items and y what people say of the labelled ones, the
estimate is the mean of y − λf where people looked, plus λ times the mean of f where they did not.
It is right whatever the judge is worth; a good judge makes it narrow. λ is the weight of least
variance, between 0 (people alone) and 1.

Every design is one sum: an item's influence on the estimate. Strata weigh it, probabilities of
being labelled weigh it, clusters add it up before it is squared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibrant.stats.shares import Z95, wilson

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
How: TypeAlias = Literal["normal", "t", "wilson", "shifted"]
LEAST_LABELS = 10
"""Labelled items (or clusters) below which nothing is estimated."""
MANY_LABELS = 100
"""Below, λ is cross-fitted and the quantile is Student's."""
FEW_ERRORS = 3
"""Items on which people and judge differ below which one error more is allowed for."""
MOST_WEIGHTS = 6
"""Different weights of labels up to which those of each are looked at apart."""


@dataclass(frozen=True, slots=True)
class Sample:
    """M judged items, some of which people labelled."""

    judged: Array
    """Shape (M,)."""
    labels: Array
    """Shape (M,), not a number where there is no label."""
    stratum: NDArray[np.int64] | None = None
    cluster: NDArray[np.int64] | None = None
    probability: Array | None = None
    """Of being labelled, where that was not the same for all items (of a stratum)."""
    step: float = 1.0
    """The least difference that two answers can have."""
    bounds: tuple[float, float] | None = None
    """Between which the mean must lie."""
    found_strata: bool = False
    """Whether strata came with the items, as the judge's answers do, and their shares vary, too."""

    @property
    def labelled(self) -> Mask:
        """Which items have a label."""
        return ~np.isnan(self.labels)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its interval, or the reason there is none."""

    value: float | None = None
    se: float | None = None
    interval: tuple[float, float] | None = None
    how: How | None = None
    weight: float | None = None
    """λ, the weight of the judge."""
    n_labels: int = 0
    n_judged: int = 0
    allowed: bool = False
    """Whether an error was allowed for that so few differing items cannot show."""
    undefined: str | None = None


def judge_alone(sample: Sample) -> Figure:
    """The mean of what the judge says, as if it were never wrong."""
    f, m = sample.judged, len(sample.judged)
    what = "items" if sample.cluster is None else "clusters"
    groups = m if sample.cluster is None else len(np.unique(sample.cluster))
    if groups < 2:
        return Figure(n_judged=m, undefined=f"fewer than two judged {what}")
    value = float(f.mean())
    se = sqrt(_squares((f - value) / m, sample.cluster) * _corrected(groups))
    found = _figure(sample, Figure(value, se, n_judged=m), groups)
    if sample.cluster is None and sample.bounds == (0.0, 1.0) and _binary(f):
        return replace(found, interval=wilson(float(f.sum()), m), how="wilson")
    return found


def people_alone(sample: Sample) -> Figure:
    """The mean of what people say; of a plain share, with Wilson's interval."""
    found = _estimated(sample, lambda model: np.zeros(model.labels))
    y = sample.labels[sample.labelled]
    plain = sample.stratum is None and sample.cluster is None and sample.probability is None
    if found.value is not None and plain and sample.bounds == (0.0, 1.0) and _binary(y):
        return replace(found, interval=wilson(float(y.sum()), len(y)), how="wilson", weight=None)
    return replace(found, weight=None)


def powered(sample: Sample, seed: int = 0) -> Figure:
    """PPI++: λ of least variance; with fewer than 100 labels cross-fitted over two halves."""

    def tuned(model: _Model) -> Array:
        if model.groups >= MANY_LABELS:
            return np.full(model.labels, model.weight(np.ones(model.labels, bool)))
        half = model.halves(np.random.default_rng(seed))
        out = np.empty(model.labels)
        for part in (half, ~half):
            out[part] = model.weight(~part)
        return out

    return _estimated(sample, tuned)


def representative(sample: Sample) -> float | None:
    """How many standard errors the judge's mean lies higher where people looked than elsewhere.

    Beyond 3 or so the labelled items are no random sample of the judged ones.
    """
    model = _Model(sample)
    if model.why_not() is not None or not all(map(len, model.base)):
        return None
    influence = model.influence_of_judge(np.ones(model.labels, bool))
    spread = model.variance(influence)
    if spread <= 0:
        return None
    return float(model.w @ model.apart) / sqrt(spread)


# -- one sum for all designs


class _Model:
    """A sample with the weights of its design."""

    def __init__(self, sample: Sample) -> None:
        self.sample, self.f = sample, sample.judged
        self.lab = np.flatnonzero(sample.labelled)
        self.y = sample.labels[self.lab]
        self.labels, self.items = len(self.lab), len(self.f)
        stratum = np.zeros(self.items, np.int64) if sample.stratum is None else sample.stratum
        self.names, self.stratum = np.unique(stratum, return_inverse=True)
        self.in_stratum = [self.stratum[self.lab] == at for at in range(len(self.names))]
        sizes = np.bincount(self.stratum, minlength=len(self.names))
        self.shares = sizes / self.items
        free = np.ones(self.items, bool)
        if sample.probability is None:
            free[self.lab] = False  # labelled at random: the others are a sample of their own
        self.base = [np.flatnonzero(free & (self.stratum == at)) for at in range(len(self.names))]
        self.base_mean = [float(self.f[one].mean()) if len(one) else 0.0 for one in self.base]
        self.apart = self._apart()
        self.w = self._weights(np.ones(self.labels, bool))

    def _apart(self) -> Array:
        """How far the judge's word on each label lies from its mean on the others of the stratum.

        Where a stratum is labelled to the last item there are no others, and the judge, whose word
        nobody needs there, must not move the estimate.
        """
        there = np.array([len(one) > 0 for one in self.base])[self.stratum[self.lab]]
        middle = np.array(self.base_mean)[self.stratum[self.lab]]
        return np.where(there, self.f[self.lab] - middle, 0.0)

    @property
    def groups(self) -> int:
        """How many independent labels there are: items, or clusters.

        Labels of unequal weight are worth fewer of equal weight (Kish), and so are clusters of
        unequal size: where one holds most labels, its errors hardly show beside the mean.
        """
        sample = self.sample
        if not self.labels or (sample.probability is None and sample.cluster is None):
            return self.labels
        clusters = None if sample.cluster is None else sample.cluster[self.lab]
        return int(round(self.w.sum() ** 2 / _squares(self.w, clusters), 6))

    def why_not(self) -> str | None:
        """Why nothing can be estimated, if nothing can."""
        if self.groups < LEAST_LABELS:
            there, what = self.labels, "labelled items"
            if self.sample.cluster is not None:
                there, what = len(np.unique(self.sample.cluster[self.lab])), "labelled clusters"
            worth = "" if self.groups == there else f", worth {self.groups} of equal weight"
            return f"{there} {what}{worth}: too few, {LEAST_LABELS} at least"
        fewest = min(int(mine.sum()) for mine in self.in_stratum)
        if fewest < 2:
            return f"a stratum has {fewest} labels: two at least are needed in each"
        return None

    def _weights(self, kept: Mask) -> Array:
        """Of the labels: they sum to the share of their stratum among all items."""
        chance = (
            np.ones(self.labels)
            if self.sample.probability is None
            else (self.sample.probability[self.lab])
        )
        out = np.where(kept, 1 / chance, 0.0)
        for share, mine in zip(self.shares, self.in_stratum, strict=True):
            total = out[mine].sum()
            out[mine] *= share / total if total else 0.0
        return out

    def halves(self, random: np.random.Generator) -> Mask:
        """Half of the labels, of each stratum; a cluster is never cut."""
        key = self.lab if self.sample.cluster is None else self.sample.cluster[self.lab]
        names, group = np.unique(key, return_inverse=True)
        first = np.zeros(len(names), np.int64)
        first[group] = self.stratum[self.lab]
        order = np.lexsort((random.random(len(names)), first))
        half = np.zeros(len(names), bool)
        half[order[::2]] = True
        return half[group]

    def centred(self, values: Array, kept: Mask) -> Array:
        """Weighted deviations of labels from the mean of their stratum, shape (M,)."""
        w, out = self._weights(kept), np.zeros(self.items)
        deviation = np.zeros(self.labels)
        for mine in self.in_stratum:
            total = w[mine].sum()
            if total > 0:
                deviation[mine] = values[mine] - np.average(values[mine], weights=w[mine])
                if self.sample.probability is not None:  # as if the label itself were left out
                    deviation[mine] /= np.maximum(1 - w[mine] / total, 0.5)
        out[self.lab] = w * deviation
        return out

    def base_influence(self, weights: Array) -> Array:
        """What the judged items do by moving the judge's mean, λ by stratum, shape (M,)."""
        out = np.zeros(self.items)
        for share, base, mean, weight in zip(
            self.shares, self.base, self.base_mean, weights, strict=True
        ):
            if len(base):
                out[base] += weight * share * (self.f[base] - mean) / len(base)
        return out

    def influence_of_judge(self, kept: Mask) -> Array:
        """What falls away from the influence of each item by one more of λ, shape (M,)."""
        return self.centred(self.apart, kept) - self.base_influence(np.ones(len(self.names)))

    def weight(self, kept: Mask) -> float:
        """λ of least variance, from some of the labels."""
        people = self.centred(self.y, kept)
        judge = self.influence_of_judge(kept)
        spread = self.variance(judge, kept)
        if spread <= 0 or not any(map(len, self.base)):
            return 0.0
        both = (self.variance(people + judge, kept) - self.variance(people - judge, kept)) / 4
        return float(min(1.0, max(0.0, both / spread)))

    def variance(self, influence: Array, kept: Mask | None = None) -> float:
        """Of a sum of independent items or clusters, from all labels or those that are kept."""
        if self.sample.cluster is not None:
            return _squares(influence, self.sample.cluster) * _corrected(self.groups)
        total = 0.0
        for at, (mine, base) in enumerate(zip(self.in_stratum, self.base, strict=True)):
            if self.sample.probability is not None:
                own = influence[self.stratum == at]
                total += float(own @ own)
                continue
            lab, n = influence[self.lab[mine]], int(mine.sum())
            total += float(lab @ lab) * _corrected(n if kept is None else int(kept[mine].sum()))
            total += float(influence[base] @ influence[base]) * _corrected(len(base))
        return total

    def of_shares(self, residuals: Array) -> float:
        """Variance that comes with the shares of strata, where these are not fixed."""
        if not self.sample.found_strata:
            return 0.0
        means = np.array([np.average(residuals[m], weights=self.w[m]) for m in self.in_stratum])
        apart = (means - self.shares @ means)[self.stratum] / self.items
        return _squares(apart, self.sample.cluster)

    def unseen(self, residuals: Array) -> float:
        """Variance to add where so few labels differ that errors cannot show.

        Labels of different weight are looked at apart: an error among heavy ones weighs most.
        """
        extra = 0.0
        gap = self.y - self.f[self.lab]
        for mine in self.in_stratum:
            for part in _alike(self.w, mine):
                n, share = int(part.sum()), float(self.w[part].sum())
                if min(_unlike(self.y[part]), _unlike(gap[part])) >= FEW_ERRORS:
                    continue
                r = residuals[part]
                squares = float(((r - r.mean()) ** 2).sum())
                allowed = (squares + self.sample.step**2) / n
                extra += share**2 / n * max(0.0, allowed - squares / max(1, n - 1))
        return extra


def _alike(weights: Array, among: Mask) -> list[Mask]:
    """Labels by their weight: each different one, or of many a quarter each."""
    own = weights[among].round(12)
    cuts = np.unique(own)
    if len(cuts) > MOST_WEIGHTS:
        cuts = np.unique(np.quantile(own, (0.0, 0.25, 0.5, 0.75), method="lower"))
    place = np.searchsorted(cuts, weights.round(12), side="right")
    return [part for at in range(1, len(cuts) + 1) if (part := among & (place == at)).any()]


def _estimated(sample: Sample, tune: Callable[[_Model], Array]) -> Figure:
    model = _Model(sample)
    counts = Figure(n_labels=model.labels, n_judged=model.items)
    why = model.why_not()
    if why is not None:
        return replace(counts, undefined=why)
    weights = tune(model)
    residuals = model.y - weights * model.apart
    value = float(model.w @ residuals)
    by_stratum = np.array([
        np.average(weights[mine], weights=model.w[mine]) for mine in model.in_stratum
    ])  # fmt: skip
    everyone = np.ones(model.labels, bool)
    influence = model.centred(residuals, everyone) + model.base_influence(by_stratum)
    unseen = model.unseen(residuals)
    shares = model.of_shares(residuals)
    found = replace(
        counts,
        value=value,
        se=sqrt(model.variance(influence) + unseen + shares),
        weight=float(np.average(weights, weights=model.w)),
        allowed=bool(unseen > 0),
    )
    return _figure(sample, found, model.groups, len(model.names))


def _figure(sample: Sample, found: Figure, groups: int | None, strata: int = 1) -> Figure:
    """A value and its error with an interval; neither goes beyond the bounds."""
    assert found.value is not None and found.se is not None
    student = groups is not None and groups < MANY_LABELS
    quantile = Z95
    if groups is not None and student:
        from scipy.special import stdtrit

        quantile = float(stdtrit(max(1, groups - strata), 0.975))
    half = quantile * found.se
    least, most = sample.bounds or (-inf, inf)
    low, value, high = (
        min(max(one, least), most) for one in (found.value - half, found.value, found.value + half)
    )
    return replace(found, value=value, interval=(low, high), how="t" if student else "normal")


def _squares(influence: Array, cluster: NDArray[np.int64] | None) -> float:
    summed = influence if cluster is None else np.bincount(
        np.unique(cluster, return_inverse=True)[1], influence
    )  # fmt: skip
    return float(summed @ summed)


def _corrected(n: int) -> float:
    """What makes a mean square an unbiased one."""
    return n / (n - 1) if n > 1 else 1.0


def _unlike(values: Array) -> int:
    """How many values differ from the most frequent one."""
    _, counts = np.unique(values.round(9), return_counts=True)
    return int(len(values) - counts.max())


def _binary(values: Array) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).all())
