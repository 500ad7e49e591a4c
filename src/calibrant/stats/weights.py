"""How far apart two answers are: weights of agreement and distances of disagreement.

Matrices have shape (K, K). A weight is 1 for the same answer and falls to 0; a distance is 0 for
the same answer. ``points`` are what the answers stand for: places on an ordinal scale, numbers on
an interval or ratio scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]
Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
Weights: TypeAlias = Literal["linear", "quadratic", "ordinal"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True, slots=True)
class Ruler:
    """What the codes of a table stand for."""

    labels: tuple[str, ...]
    """By code."""
    level: Level
    points: Matrix
    """Places or numbers by code, shape (K,)."""
    numeric: bool
    """Whether the points are numbers that may be averaged."""

    def same_as(self, other: Ruler) -> bool:
        """Whether codes mean the same on both."""
        return (
            self.labels == other.labels
            and self.level == other.level
            and self.numeric == other.numeric
            and np.array_equal(self.points, other.points)
        )


def identity(values: int) -> Matrix:
    """Only the same answer agrees."""
    return np.eye(values)


def agreement_weights(kind: Weights | None, points: Matrix) -> Matrix:
    """Weights of partial agreement; ``ordinal`` are Gwet's, by the pairs that lie between."""
    gap = np.abs(points[:, None] - points[None, :])
    widest = gap.max(initial=0) or 1.0
    match kind:
        case None:
            return identity(len(points))
        case "linear":
            return np.asarray(1 - gap / widest)
        case "quadratic":
            return np.asarray(1 - (gap / widest) ** 2)
        case "ordinal":
            between = np.abs(np.subtract.outer(np.arange(len(points)), np.arange(len(points)))) + 1
            pairs = between * (between - 1) / 2
            return np.asarray(1 - pairs / (pairs.max(initial=0) or 1.0))


def within_one(points: Matrix) -> Matrix:
    """Answers at most one step of the scale apart agree; a step is the least gap there is."""
    gap = np.abs(points[:, None] - points[None, :])
    return np.asarray(gap <= gap[gap > 0].min(initial=np.inf), np.float64)


def squared_gap(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Interval distance, shape (..., K, K)."""
    return (points[..., :, None] - points[..., None, :]) ** 2


def ratio_distance(points: Matrix) -> Matrix:
    """Ratio distance; two zeros are the same."""
    total = points[:, None] + points[None, :]
    gap = points[:, None] - points[None, :]
    return np.divide(gap, total, out=np.zeros_like(gap), where=total != 0) ** 2
