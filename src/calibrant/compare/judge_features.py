"""What a mapping looks at in a judge's answers: the same when it is fitted and when applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from calibrant.compare.rulers import number_of
from calibrant.core.judge_mapping import CriterionMapping, Feature, Scale
from calibrant.stats.calibration import Chosen
from calibrant.stats.calibration_fit import Array, Fit, log_odds

Shares: TypeAlias = Mapping[str, float]
"""How much of a judge's answer falls to each answer of the scale."""
FEW_ANSWERS = 10
"""Answers of a scale up to which each of their shares is looked at by itself."""


@dataclass(frozen=True, slots=True)
class Column:
    """One feature, before anything is fitted."""

    criterion: str
    of: Literal["mean", "log-odds", "share"]
    answer: str | None = None


def heard(scale: Scale, said: Sequence[Shares | None]) -> Array:
    """Shares of each answer, shape (N, K), which come to 1; not a number where nothing was said.

    NA has no share: how likely it is says nothing about the others.
    """
    place = {answer: at for at, answer in enumerate(scale.answers)}
    numbers = {number_of(one): at for one, at in place.items() if number_of(one) is not None}
    out = np.full((len(said), len(place)), np.nan)
    for row, shares in enumerate(said):
        found = np.zeros(len(place))
        for answer, share in (shares or {}).items():
            at = place.get(answer, numbers.get(number_of(answer)))
            if at is not None:
                found[at] += share
        if found.sum() > 1e-6:
            out[row] = found / found.sum()
    return out


def plain(scale: Scale, shares: Array) -> Array:
    """What the judge says as it stands, shape (N, T): the mean, the share of the last, or all."""
    if scale.kind == "numbers":
        return np.asarray(shares @ np.array(scale.points)[:, None])
    return shares[:, -1:] if scale.kind == "two" else shares


def columns_of(scale: Scale, *, each: bool) -> list[Column]:
    """The features of one criterion: one that sums it up, or ``each`` answer's share."""
    if scale.kind == "names" or (each and len(scale.answers) <= FEW_ANSWERS):
        return [Column(scale.criterion, "share", one) for one in scale.answers]
    return [Column(scale.criterion, "mean" if scale.kind == "numbers" else "log-odds")]


def matrix(
    columns: Sequence[Column | Feature], scales: Mapping[str, Scale], shares: Mapping[str, Array]
) -> Array:
    """Features of items, shape (N, F), from the shares of each criterion's answers."""
    out = []
    for one in columns:
        scale, own = scales[one.criterion], shares[one.criterion]
        if one.of == "share" and one.answer is not None:
            out.append(own[:, scale.answers.index(one.answer)])
        else:
            value = plain(scale, own)[:, 0]
            out.append(value if one.of == "mean" else log_odds(value))
    return np.column_stack(out)


# -- between fits and documents


def documented(
    criterion: str, chosen: Chosen, columns: Sequence[Column], n_items: int
) -> CriterionMapping:
    """A fitted mapping as a document."""
    fit = chosen.fit
    assert fit.kind != "constant"
    features = tuple(
        Feature(
            criterion=columns[at].criterion,
            of=columns[at].of,
            answer=columns[at].answer,
            centre=_rounded(fit.centre)[place],
            spread=_rounded(fit.spread)[place],
            weights=_rounded(fit.weights[place]),
        )
        for place, at in enumerate(fit.columns)
    )
    return CriterionMapping(
        criterion=criterion,
        method=chosen.candidate.name,
        kind=fit.kind,
        penalty=fit.penalty,
        intercept=_rounded(fit.intercept),
        features=features,
        knots=tuple(map(_rounded, fit.knots or ())),
        cuts=_rounded(chosen.cuts),
        n_items=n_items,
    )


def _rounded(values: Array) -> tuple[float, ...]:
    """Ten digits: the last ones differ from machine to machine, and would change the hash."""
    return tuple(float(f"{one:.10g}") for one in values.tolist())


def predicted(
    mapping: CriterionMapping, scales: Mapping[str, Scale], shares: Mapping[str, Array]
) -> tuple[Array, list[str | None]]:
    """What people would say, shape (N, T), and the answer to each item.

    There is no answer where nothing is known of the judge's own to this criterion.
    """
    values = _fit(mapping)(matrix(mapping.features, scales, shares))
    answers = scales[mapping.criterion].answers
    if values.shape[1] > 1:
        place = values.argmax(axis=1)
    else:
        place = np.searchsorted(np.array(mapping.cuts), values[:, 0], side="right")
    known = ~np.isnan(shares[mapping.criterion][:, 0])
    return values, [answers[at] if known[row] else None for row, at in enumerate(place)]


def _fit(mapping: CriterionMapping) -> Fit:
    features = mapping.features
    return Fit(
        mapping.kind,
        tuple(range(len(features))),
        mapping.penalty,
        np.array([one.centre for one in features]),
        np.array([one.spread for one in features]),
        np.array(mapping.intercept),
        np.array([one.weights for one in features]),
        (np.array(mapping.knots[0]), np.array(mapping.knots[1])) if mapping.knots else None,
    )
