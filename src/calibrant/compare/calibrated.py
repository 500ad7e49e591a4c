"""From a judge's answers and people's labels to a calibrated judge: ``calibrant calibrate-judge``.

Every figure is of items that the mapping behind it has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibrant.compare.calibration_report import Calibration, CriterionCalibration
from calibrant.compare.gate_answers import false_passes, shutting_answers
from calibrant.compare.judge_features import (
    FEW_ANSWERS,
    Column,
    Shares,
    columns_of,
    documented,
    heard,
    matrix,
    plain,
)
from calibrant.compare.judged import Side, rated_by_both, told_of_two
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import CriterionTable, RatingTable
from calibrant.core.errors import SourceError
from calibrant.core.judge_mapping import JudgeMapping, Scale
from calibrant.stats.agreement import of_groups
from calibrant.stats.calibration import (
    LEAST_EACH,
    LEAST_ITEMS,
    MANY,
    REPEATS,
    Candidate,
    Figure,
    chosen,
    correlation,
    gain_of,
    held_aside,
    rmse,
    squares,
)
from calibrant.stats.calibration_fit import Array, Kind
from calibrant.stats.counts import ABSENT, Patterns, counts_of, patterns
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.weights import Ruler

PENALTIES = (1.0, 10.0, 100.0, 1000.0)
MOST_HEARD = 0.9
"""Share of the judge's answers that must come with probabilities for these to be listened to."""
NOTHING = "the judge's answers tell nothing about people's that their mean does not"

CLOSE = "the judge's own answers are at least as close to people's as they stand"
_LESS = 1 - 1e-6
"""The part of an error below which it is smaller, and not rounded otherwise."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for."""

    judge: str | None = None
    folds: int = 10
    seed: int = 0
    card: str | None = None
    """Hash of the judge's card, where its ratings have one."""
    rubric_hash: str | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """One criterion as judge and people answered it, of all items."""

    scale: Scale
    ruler: Ruler
    codes: NDArray[np.uint8]
    """The judge's answers, then people's, in the order of the scale; NA is absent."""
    voice: Array
    """Shares of the judge's answers, shape (N, K)."""
    shares: Array
    """Shares of people's answers, of the same shape."""
    shutting: frozenset[str]
    """Answers that shut a gate."""

    @property
    def met(self) -> NDArray[np.bool_]:
        """Items that both have answered."""
        unheard, unsaid = (np.isnan(one).all(axis=1) for one in (self.voice, self.shares))
        return np.asarray(~(unheard | unsaid))


def calibration(
    judged: Side,
    labels: Side | None,
    how: Reading,
    said: Mapping[str, Mapping[str, Shares]],
    wish: Wish,
) -> Calibration:
    """Fit a judge to people, criterion by criterion.

    ``said`` holds the probabilities of the judge's answers, by item and criterion, where it told
    them.
    """
    table, judge, people = rated_by_both(judged, labels, how, judge=wish.judge)
    asked = [_asked(table, one, how, (judge, people), said) for one in table.criteria]
    scales = {one.scale.criterion: one.scale for one in asked}
    voices = {one.scale.criterion: one.voice for one in asked}
    found = [_criterion(one, scales, voices, wish) for one in asked]
    report = Calibration(judge, people, found, None, wish.folds, wish.seed, table.excluded)
    fitted = [one.mapping for one in found if one.mapping is not None]
    if all(one.rmse is None for one in found):
        raise SourceError("\n".join(f"{one.title}: {one.refused}" for one in found))
    used = {
        name for one in fitted for name in (one.criterion, *(f.criterion for f in one.features))
    }
    if fitted:
        report.mapping = JudgeMapping(
            judge=judge,
            card=wish.card,
            rubric=None if how.rubric is None else how.rubric.name,
            rubric_hash=wish.rubric_hash,
            people=people,
            folds=wish.folds,
            repeats=REPEATS,
            seed=wish.seed,
            scales=tuple(scales[name] for name in scales if name in used),
            criteria=tuple(fitted),
            as_judged={one.criterion: one.refused for one in found if one.refused},
        )
    return report


# -- what both said


def _asked(
    table: RatingTable,
    asked: CriterionTable,
    how: Reading,
    who: tuple[str, Sequence[str]],
    said: Mapping[str, Mapping[str, Shares]],
) -> _Asked:
    rows = [table.raters.index(one) for one in (who[0], *who[1])]
    codes, ruler = _in_order(asked.codes[rows], asked.ruler)
    items = [str(one) for one in table.units["item"].to_list()]
    own = [None if code == ABSENT else {ruler.labels[code]: 1.0} for code in codes[0]]
    told = [said.get(item, {}).get(asked.name) for item in items]
    sure = [one if answer is not None else None for one, answer in zip(told, own, strict=True)]
    answered = sum(one is not None for one in own)
    listens = sum(one is not None for one in sure) >= MOST_HEARD * max(1, answered)
    ordered = ruler.level != "nominal"
    scale = Scale(
        criterion=asked.name,
        kind="numbers" if ordered else "two" if len(ruler.labels) == 2 else "names",
        answers=ruler.labels,
        points=tuple(ruler.points.tolist()) if ordered else (),
        heard="probabilities" if listens else "answers",
    )
    counts = counts_of(Patterns(codes[1:], np.ones(codes.shape[1], np.int64)), len(ruler.labels))
    with np.errstate(invalid="ignore"):
        shares = counts.counts / counts.counts.sum(axis=1, keepdims=True)
    shutting = shutting_answers(how.rubric, asked.name)
    return _Asked(scale, ruler, codes, heard(scale, sure if listens else own), shares, shutting)


def _in_order(codes: NDArray[np.uint8], ruler: Ruler) -> tuple[NDArray[np.uint8], Ruler]:
    """Codes in the order in which answers are cut: upwards, or the one that is told last."""
    labels = list(ruler.labels)
    order = list(np.argsort(ruler.points, kind="stable"))
    if ruler.level == "nominal" and len(labels) == 2:
        told = labels.index(told_of_two(labels))
        order = [1 - told, told]
    new = np.full(256, ABSENT, np.uint8)
    new[order] = np.arange(len(order))
    names = tuple(labels[at] for at in order)
    points = ruler.points[order] if ruler.level != "nominal" else ruler.points
    return new[codes], replace(ruler, labels=names, points=points)


def _lacking(asked: _Asked) -> str | None:
    """Why too little is known to fit anything, and how much is needed."""
    met = asked.met
    n = int(met.sum())
    if n < LEAST_ITEMS:
        return (
            f"{n} items that judge and people answered; {LEAST_ITEMS} are needed: "
            f"{LEAST_ITEMS - n} more labels"
        )
    totals = asked.shares[met].sum(axis=0)
    if len(totals) < 2 or plain(asked.scale, asked.shares[met]).std(axis=0).max() < 1e-9:
        return "people's answers are all the same: there is nothing to fit"
    if asked.scale.kind == "numbers":
        return None
    for answer, total in zip(asked.scale.answers, totals, strict=True):
        if total < LEAST_EACH:
            return (
                f"people answer {answer} to {total:.3g} items; {LEAST_EACH} are needed: "
                f"{int(np.ceil(LEAST_EACH - total))} more labels of such items"
            )
    return None


# -- fitting


def _criterion(
    asked: _Asked, scales: Mapping[str, Scale], voices: Mapping[str, Array], wish: Wish
) -> CriterionCalibration:
    scale, met = asked.scale, asked.met
    lacking = _lacking(asked)
    out = CriterionCalibration(scale.criterion, int(met.sum()), scale, refused=lacking)
    if lacking is not None:
        return out
    columns, candidates = _candidates(scale, scales)
    voice = {name: own[met] for name, own in voices.items()}
    features, shares = matrix(columns, scales, voice), asked.shares[met]
    targets, before = plain(scale, shares), plain(scale, asked.voice[met])
    aside = held_aside(features, targets, shares, candidates, folds=wish.folds, seed=wish.seed)
    final = chosen(features, targets, shares, candidates, wish.seed)
    out.chosen = dict(aside.chosen)
    out.method = final.candidate.name
    out.rmse = (rmse(before, targets), rmse(aside.predicted, targets))
    out.constant = rmse(aside.constant, targets)
    out.gain = gain_of(before, aside.predicted, targets)
    if targets.shape[1] == 1:
        people, after = targets[:, 0], aside.predicted[..., 0]
        out.correlation = (correlation(before[:, 0], people), correlation(after, people))
    _compare(out, asked, aside.answers[0], Design(None, wish.seed))
    own, mean, mapped = (
        float(squares(one, targets).sum()) for one in (before, aside.constant, aside.predicted)
    )
    if final.candidate.kind == "constant" or mapped >= mean * _LESS:
        out.refused = NOTHING
        # means of folds go against what was left out of them: that is no correlation
        out.correlation = None if out.correlation is None else (out.correlation[0], Figure(None))
    else:
        out.refused = CLOSE if own <= mapped else _unsafe(out)
    if out.refused is None:
        out.mapping = documented(scale.criterion, final, columns, len(targets))
    return out


def _compare(
    out: CriterionCalibration, asked: _Asked, answers: NDArray[np.int64], design: Design
) -> None:
    """Agreement and errors at gates, of the judge's own answers and of calibrated ones."""
    given, ruler = asked.codes[:, asked.met], asked.ruler
    mapped = np.vstack([answers.astype(np.uint8), given[1:]])
    both = [patterns(np.ascontiguousarray(codes), len(ruler.labels)) for codes in (given, mapped)]
    before, after = (_agreement(found, ruler, design) for found in both)
    out.agreement = (before, after)
    passes = [false_passes(found, ruler, asked.shutting) for found in both]
    if passes[0] is not None and passes[1] is not None:
        out.false_passes = (passes[0], passes[1])


def _unsafe(out: CriterionCalibration) -> str | None:
    """Why a mapping that serves most items must not be used: gates fail closed."""
    if out.false_passes is None or out.false_passes[1].passed <= out.false_passes[0].passed:
        return None
    before, after = out.false_passes
    return (
        f"{after.passed} of {after.failed} items that people failed would pass the gate, "
        f"{before.passed} pass the judge's own answers"
    )


def _agreement(found: Patterns, ruler: Ruler, design: Design) -> list[Estimate]:
    """Kappa and alpha of one rater with people."""
    sample = Patterns(found.codes, np.atleast_2d(found.times))
    people = list(range(1, len(found.codes)))
    weights = "quadratic" if ruler.level != "nominal" else None
    return [
        one
        for one in of_groups(sample, ([0], people), ruler, design)[0]
        if (one.coefficient == "cohen_kappa" and one.weights == weights)
        or (one.coefficient == "krippendorff_alpha" and one.level == ruler.level)
    ]


def _candidates(scale: Scale, scales: Mapping[str, Scale]) -> tuple[list[Column], list[Candidate]]:
    """The ways that are tried, the simplest first, and the features they look at."""
    kind: Kind = "linear" if scale.kind == "numbers" else "logistic"
    known = list(scales.values())
    own = columns_of(scale, each=False)
    sets: list[tuple[str, list[Column], tuple[float, ...]]] = [(_simplest(scale), own, (1.0,))]
    if scale.kind == "numbers" and 2 < len(scale.answers) <= FEW_ANSWERS:
        sets.append(("ridge on its answer shares", columns_of(scale, each=True), PENALTIES))
    if len(known) > 1:
        every = [column for one in known for column in columns_of(one, each=False)]
        sets.append((f"{_called(kind)} on all criteria", every, PENALTIES))
        each = [column for one in known for column in columns_of(one, each=True)]
        if scale.kind == "numbers" and len(each) > len(every):
            sets.append(("ridge on all criteria's answer shares", each, PENALTIES))
    columns = list(dict.fromkeys(column for _, some, _ in sets for column in some))
    candidates = [Candidate("constant", "constant", ())]
    for name, some, penalties in sets:
        places = tuple(map(columns.index, some))
        told = "{}, penalty {:g}" if len(penalties) > 1 else "{}"
        candidates += [Candidate(told.format(name, one), kind, places, one) for one in penalties]
    if scale.kind != "names":
        candidates.append(Candidate("isotonic", "isotonic", (columns.index(own[0]),), 0.0, MANY))
    return columns, candidates


def _called(kind: Kind) -> str:
    return "ridge" if kind == "linear" else "logistic ridge"


def _simplest(scale: Scale) -> str:
    match scale.kind:
        case "numbers":
            return "linear"
        case "two":
            return "logistic (Platt)"
        case _:
            return "logistic, one an answer"
