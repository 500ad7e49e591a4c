"""A value, its interval and its target on one line: where the marks of the drawing stand."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.report.wording import coefficient

WIDTH = 160
"""Units of the drawing from its lowest value to 1."""
OUTCOMES = {
    "met": ("reached", "good"),
    "not_met": ("not reached", "bad"),
    "not_shown": ("not shown by so few items", "warn"),
}
"""What became of a target, in words, and the look of it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The marks of one drawing, in units from the left."""

    low: float
    high: float
    value: float | None
    target: float | None
    zero: float
    """Where 0 stands: to the right of the edge where the interval goes below it."""
    told: str
    """The same in words, for whoever does not see it."""


def interval_of(
    value: float | None, interval: tuple[float, float] | None, target: float | None
) -> Interval | None:
    """The drawing of an estimate; None where there is nothing to draw."""
    if value is None:
        return None
    limits = interval or (value, value)
    least = min(0.0, limits[0], value)

    def place(at: float) -> float:
        return round((min(at, 1.0) - least) / (1.0 - least) * WIDTH, 1)

    told = f"{value:.2f}"
    told += f", between {interval[0]:.2f} and {interval[1]:.2f}" if interval else ""
    told += f"; the target is {target:g}" if target is not None else ""
    goal = None if target is None else place(target)
    return Interval(place(limits[0]), place(limits[1]), place(value), goal, place(0.0), told)


def target_value(target: str) -> float | None:
    """The number in a target as it is written: ``percent > 0.8``."""
    try:
        return float(target.rpartition(" ")[2])
    except ValueError:
        return None


def coefficient_words(target: str) -> str:
    """A target as people read it: ``Krippendorff's alpha (ordinal) at least 0.6``."""
    name, _, rest = target.partition(" ")
    sign, _, number = rest.partition(" ")
    said = {">": "above", ">=": "at least"}.get(sign, sign)
    return f"{coefficient(name)} {said} {number}".strip()
