"""From a table of ratings to the many-facet model: which answers are steps, and worth what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from calibrant.compare.rating_tables import CriterionTable, RatingTable
from calibrant.compare.rulers import ALL
from calibrant.core.errors import SourceError
from calibrant.stats.counts import ABSENT
from calibrant.stats.rasch import NoFit, Rasch
from calibrant.stats.rasch_design import MOST_STEPS, asked_of, subsets
from calibrant.stats.rasch_fit import fit
from calibrant.stats.rater_effects import probabilities

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric

Floats = NDArray[np.float64]
NO_PLACE = "nothing but lowest or highest answers, or no item shared with others"
"""Why a rater is nowhere on the line."""
MOST_NAMED = 8
"""Raters named of each subset."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The answers of a criterion as steps."""

    steps: NDArray[np.intp]
    """The step of each code."""
    points: Floats
    """What each step is worth."""
    labels: tuple[str, ...]
    """The answer on each step, lowest first."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The model of a table, or why there is none."""

    criteria: tuple[int, ...]
    """Which criteria of the table are in it."""
    ladders: tuple[Ladder, ...]
    means: Floats
    """The mean answer to each of these; nan where nobody answered."""
    model: Rasch | None
    reason: str | None
    notes: tuple[str, ...]

    def points(self, criterion: int) -> Floats:
        """What the steps of a criterion of the model are worth, as far as anybody took them."""
        assert self.model is not None
        asked = self.model.asked
        at = next(at for at, one in enumerate(asked.families) if criterion in one)
        return self.ladders[criterion].points[asked.values[at]]

    def expected(self, theta: Floats, severity: float = 0.0) -> Floats:
        """The answer to each criterion that a rater of that severity is expected to give, (C, n).

        Of a criterion without a place, whose answers hardly vary, that is their mean.
        """
        assert self.model is not None
        out = np.repeat(self.means[:, None], len(theta), axis=1)
        for criterion in np.flatnonzero(self.model.asked.criteria):
            tail = self.model.tails(int(criterion), severity, theta)
            out[criterion] = self.points(int(criterion)) @ probabilities(tail)
        return out

    def fair(self, theta: Floats, severity: float = 0.0) -> Floats:
        """The mean answer that a rater of that severity is expected to give."""
        answered = np.isfinite(self.means)
        return np.asarray(self.expected(theta, severity)[answered].mean(axis=0))


def fitted(table: RatingTable, rubric: Rubric | None, *, partial_credit: bool) -> Fitted:
    """The model of whatever criteria have an order. Refuses raters who are not connected."""
    ladders, notes = _ladders(table, rubric)
    used = tuple(ladders)
    if not used:
        return Fitted(
            (), (), np.empty(0), None, "no criterion has answers in an order", tuple(notes)
        )
    chosen = [table.criteria[at] for at in used]
    codes = np.stack([_stepped(one, ladders[at]) for at, one in zip(used, chosen, strict=True)])
    connected(table.raters, codes)
    kinds = [at if partial_credit else ladders[used[at]].labels for at in range(len(used))]
    families = [
        [at for at, kind in enumerate(kinds) if kind == one] for one in dict.fromkeys(kinds)
    ]
    own = tuple(ladders.values())
    means = np.array([_mean(*one) for one in zip(codes, own, strict=True)])
    try:
        asked = asked_of(codes, families)
        notes += _left_out(table, asked.raters)
        return Fitted(used, own, means, fit(asked), None, tuple(notes))
    except NoFit as error:
        return Fitted(used, own, means, None, str(error), tuple(notes))


def _mean(codes: NDArray[np.uint8], ladder: Ladder) -> float:
    """What the answers to a criterion are worth on average; nan where there is none."""
    times = np.bincount(codes.reshape(-1), minlength=256)[: len(ladder.points)]
    return float(times @ ladder.points / times.sum()) if times.any() else float("nan")


def connected(raters: tuple[str, ...], codes: NDArray[np.uint8]) -> None:
    """Refuse raters whose severities nothing links: they rated no item in common."""
    present = (codes != ABSENT).any(axis=0)
    parts = subsets(present)
    if len(parts) > 1:
        told = "; ".join(f"({at + 1}) {_names(raters, one)}" for at, one in enumerate(parts[:10]))
        raise SourceError(
            f"these {len(parts)} sets of raters share no item: {told}. Nobody can tell severe "
            "raters from poor items then: let some raters of each set rate items of another"
        )


def _names(raters: tuple[str, ...], part: list[int]) -> str:
    shown = ", ".join(raters[one] for one in part[:MOST_NAMED])
    return shown + (f" and {len(part) - MOST_NAMED} more" if len(part) > MOST_NAMED else "")


def _left_out(table: RatingTable, kept: NDArray[np.bool_]) -> list[str]:
    gone = [name for name, there in zip(table.raters, kept, strict=True) if not there]
    if not gone:
        return []
    return [f"without a place, {NO_PLACE}: {', '.join(gone)}"]


def _ladders(table: RatingTable, rubric: Rubric | None) -> tuple[dict[int, Ladder], list[str]]:
    found: dict[int, Ladder] = {}
    notes = []
    for at, one in enumerate(table.criteria):
        worth = _worth(one, rubric)
        if worth is None:
            notes.append(f"{one.name or 'the answers'}: no order among {len(one.ruler.labels)} "
                         "answers, so no severity")  # fmt: skip
        elif len(set(worth)) > MOST_STEPS:
            notes.append(f"{one.name or 'the answers'}: {len(set(worth))} different answers, more "
                         f"than {MOST_STEPS} steps: round them")  # fmt: skip
        else:
            found[at] = _ladder(one, worth)
            if one.ruler.level == "nominal" and rubric is None:
                notes.append(f"severe means nearer to {found[at].labels[0]!r}, lenient nearer to "
                             f"{found[at].labels[-1]!r}")  # fmt: skip
    return found, list(dict.fromkeys(notes))


def _ladder(one: CriterionTable, worth: list[float]) -> Ladder:
    points, steps = np.unique(np.array(worth), return_inverse=True)
    labels = tuple(
        one.ruler.labels[int(np.flatnonzero(steps == at)[0])] for at in range(len(points))
    )
    return Ladder(steps.astype(np.intp), points, labels)


def _worth(one: CriterionTable, rubric: Rubric | None) -> list[float] | None:
    """What each code is worth, if there is an order among them."""
    if one.ruler.level != "nominal":
        return [float(point) for point in one.ruler.points]
    if rubric is not None:
        asked = rubric.criteria[0] if one.name == ALL else rubric.criterion(one.name)
        scale = rubric.scale_of(asked)
        worth = [scale.worth(value) for value in scale.points_of_scale]
        if None not in worth and len(set(worth)) > 1:
            return [float(point) for point in worth if point is not None]
    return [0.0, 1.0] if len(one.ruler.labels) == 2 else None


def _stepped(one: CriterionTable, ladder: Ladder) -> NDArray[np.uint8]:
    """Codes of a criterion as steps; NA is no step."""
    table = np.full(256, ABSENT, np.uint8)
    table[: len(ladder.steps)] = ladder.steps
    found = one.codes.tobytes().translate(table.tobytes())
    return np.frombuffer(found, np.uint8).reshape(one.codes.shape)
