"""Fits the weights of cues to labelled sentences: a logistic regression, held back by a penalty.

``python -m bench.fit_cues crisis`` shows what is reached on the half that was not used, and over
groups of sentences left out in turn; ``--write`` fits on both halves and writes the weights.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tests.checks.labelled import SUBJECTS, Subject, records

from calibrant.core.criterion import ItemType
from calibrant.raters.checks import (
    conversation_crisis,
    plan_deception,
    plan_financial,
    plan_legal,
    plan_medical,
)
from calibrant.raters.checks import lexicon as lexicons
from calibrant.raters.checks.cues import ALWAYS, FOUND, Stretch, names
from calibrant.raters.checks.reading import Reading, Scanner
from calibrant.raters.checks.run import Checker

FOLDER = Path(lexicons.__file__).parent / "lexicons"
PENALTY = 1.0
PAIRS_SEEN = 6
"""Sentences in which a pair of classes must stand to be weighed."""
LEAST = 0.04
"""Weights nearer to nought are left out."""
FOUND_COST, PAIR_COST = 0.2, 3.0
"""How dear the weight of what rules found is, and that of a pair, beside that of a class."""

Floats: TypeAlias = NDArray[np.float64]
Bag: TypeAlias = list[frozenset[str]]
"""The stretches of one sentence's record, each as the names of what speaks in it."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the cues of a subject come from, and how often what is raised must be right."""

    cues: str
    stretches: Callable[[Reading], Iterator[Stretch]]
    precision: float
    others: tuple[str, ...] = ()
    """Subjects whose sentences without a finding are without one here, too."""


_PLANS = ("deception", "medical_advice", "legal_advice", "financial_advice", "stereotyping")
SOURCES = {
    "crisis": Source(conversation_crisis.CUES, conversation_crisis.weighed, precision=0.83),
    "deception": Source(
        plan_deception.CUES,
        plan_deception.WEIGHED.stretches,
        precision=0.83,
        others=_PLANS,
    ),
    "medical_advice": Source(
        plan_medical.CUES,
        plan_medical.WEIGHED.stretches,
        precision=0.92,
        others=_PLANS,
    ),
    "legal_advice": Source(
        plan_legal.CUES,
        plan_legal.WEIGHED.stretches,
        precision=0.92,
        others=_PLANS,
    ),
    "financial_advice": Source(
        plan_financial.CUES,
        plan_financial.WEIGHED.stretches,
        precision=0.98,
        others=_PLANS,
    ),
}
"""By the name of a subject."""


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled sentence as names of classes and pairs."""

    positive: bool
    group: str
    bag: Bag


@cache
def _scanner(kind: ItemType) -> Scanner:
    return Checker(kind).scanner


def examples(subject: Subject, split: str, source: Source | None = None) -> list[Example]:
    """The sentences of a split, read by the classes of their check, or of another one."""
    source = source or SOURCES[subject.name]
    out = []
    for record in records(subject.name, split):  # type: ignore[arg-type]
        item = subject.item(record)
        reading = Reading(item, _scanner(item.kind))
        bag = [frozenset(names(one.hits)) for one in source.stretches(reading)]
        out.append(Example(record["positive"], record["note"], bag))
    return out


def ordinary(subject: Subject) -> list[Example]:
    """Sentences of other subjects in which nothing is to be found."""
    listed = SOURCES[subject.name].others
    others = [one for one in SUBJECTS if one.name in listed and one.name != subject.name]
    return [
        one
        for other in others
        for split in ("dev", "dev2")
        for one in examples(other, split, SOURCES[subject.name])
        if not one.positive
    ]


# -- the regression


def fit(given: Sequence[Example], penalty: float = PENALTY) -> dict[str, float]:
    """Weights of classes and pairs; of several stretches, the one that speaks most counts."""
    counts = Counter(name for one in given for name in set().union(*one.bag))
    known = sorted(
        name for name, seen in counts.items() if seen >= (PAIRS_SEEN if ">" in name else 2)
    )
    columns = {name: at for at, name in enumerate(known)}
    costs = np.array([penalty * _dear(name) for name in known] + [0.0])
    weights: dict[str, float] = {}
    for _ in range(3):
        rows, told = [], []
        for one in given:
            for bag in _chosen(one, weights):
                row = np.zeros(len(known) + 1)
                row[[columns[name] for name in bag if name in columns]] = 1.0
                row[-1] = 1.0
                rows.append(row)
                told.append(one.positive)
        found = _logistic(np.array(rows), np.array(told, float), costs)
        weights = dict(zip([*known, ALWAYS], map(float, found), strict=True))
    return weights


def _dear(name: str) -> float:
    """How dear a weight is: what rules found is proved by itself, a pair is a guess."""
    return FOUND_COST if name == FOUND else PAIR_COST if ">" in name else 1.0


def _chosen(one: Example, weights: Mapping[str, float]) -> Bag:
    if not one.positive or len(one.bag) < 2:
        return one.bag
    return [max(one.bag, key=lambda bag: sum(weights.get(name, 0.0) for name in bag))]


def _logistic(rows: Floats, told: Floats, costs: Floats) -> Floats:
    """Newton's steps; the penalty keeps every weight near nought that is not needed."""
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (chance - told) + costs * weights
        bend = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.diag(costs + 1e-6)
        step = np.linalg.solve(bend, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def score(one: Example, weights: Mapping[str, float]) -> float:
    """The highest score of its stretches."""
    sums = [weights[ALWAYS] + sum(weights.get(name, 0.0) for name in bag) for bag in one.bag]
    return max(sums, default=-99.0)


def left_out(
    given: Sequence[Example], penalty: float, more: Sequence[Example] = (), folds: int = 10
) -> Floats:
    """The score of each by weights fitted without it and a tenth of the others."""
    out = np.zeros(len(given))
    for fold in range(folds):
        kept = [one for at, one in enumerate(given) if at % folds != fold]
        weights = fit([*kept, *more], penalty)
        for at in range(fold, len(given), folds):
            out[at] = score(given[at], weights)
    return out


def reached(given: Sequence[Example], scores: Floats, cut: float) -> tuple[float, float]:
    """Precision and recall where a score from ``cut`` up is raised."""
    told = np.array([one.positive for one in given])
    raised = scores >= cut
    hits = float((raised & told).sum())
    return hits / max(float(raised.sum()), 1.0), hits / max(float(told.sum()), 1.0)


def cut_for(given: Sequence[Example], scores: Floats, precision: float) -> float:
    """The lowest cut at which so much of what is raised is right."""
    for cut in np.arange(-3, 3, 0.05):
        if reached(given, scores, cut)[0] >= precision:
            return float(cut)
    return 3.0


# -- writing


def written(weights: Mapping[str, float], cut: float) -> Iterator[str]:
    """The section of weights, the strongest first."""
    yield "weights:"
    yield f"  {ALWAYS}: {weights[ALWAYS] - cut:.2f}"
    strong = [(name, one) for name, one in weights.items() if name != ALWAYS and abs(one) >= LEAST]
    for name, one in sorted(strong, key=lambda pair: (-abs(round(pair[1], 2)), pair[0])):
        yield f"  {name}: {one:.2f}"


def write(name: str, lines: Iterator[str]) -> None:
    """Put the weights at the end of their lexicon."""
    file = FOLDER / f"{name}.yaml"
    kept = re.split(r"^weights:", file.read_text("utf-8"), maxsplit=1, flags=re.MULTILINE)[0]
    file.write_text(kept + "\n".join(lines) + "\n", "utf-8")


def main() -> None:
    """Fit the subjects that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT")
    parser.add_argument("--write", action="store_true", help="fit on both halves and write")
    parser.add_argument("--penalty", type=float, default=PENALTY)
    options = parser.parse_args()
    for subject in SUBJECTS:
        if subject.name not in (options.subjects or SOURCES):
            continue
        source = SOURCES[subject.name]
        first, second = examples(subject, "dev"), examples(subject, "dev2")
        more = [] if not source.others else ordinary(subject)
        weights = fit([*first, *more], options.penalty)
        scores = np.array([score(one, weights) for one in second])
        both = [*first, *second]
        out = left_out(both, options.penalty, more)
        cut = cut_for(both, out, source.precision)
        seen = np.array([score(one, weights) for one in first])
        for what, given, told in (("dev", first, seen), ("dev2", second, scores),
                                  ("left out in turn", both, out)):  # fmt: skip
            at = "  ".join(
                f"{one:.2f}: {reached(given, told, one)[0]:.3f}/{reached(given, told, one)[1]:.3f}"
                for one in (-1, -0.5, 0, cut)
            )
            print(f"{subject.name}, {what}: precision/recall at cuts  {at}")
        if options.write:
            write(source.cues, written(fit([*both, *more], options.penalty), cut))


if __name__ == "__main__":
    main()
