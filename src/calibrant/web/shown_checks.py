"""What checks measured in an item, where the rubric lets a reviewer see it while rating."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.core.errors import RubricError
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.raters.checks.run import Checker, shown_while_rating

_CHECKERS: dict[str, Checker] = {}


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement in words, with the words of the item it rests on."""

    check: str
    what: str
    value: str
    note: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownChecks:
    """The checks a reviewer sees with an item; their names are kept with the rating."""

    names: tuple[str, ...] = ()
    measurements: tuple[Measurement, ...] = ()


def shown_checks(rubric: Rubric, item: Item) -> ShownChecks:
    """Measurements of the checks that the rubric shows; most rubrics show none."""
    if not any(one.enabled and one.show_while_rating for one in rubric.checks or ()):
        return ShownChecks()
    try:
        checker = _CHECKERS.get(rubric.hash) or Checker(item.kind, rubric)
    except RubricError:  # a check that this installation lacks keeps nobody from rating
        return ShownChecks()
    _CHECKERS[rubric.hash] = checker
    shown = shown_while_rating(checker, checker.signals(item))
    found = tuple(
        Measurement(
            one.check.replace("_", " "),
            one.signal.replace("_", " "),
            _value(one.measured, one.not_measured),
            one.note,
            tuple(dict.fromkeys(span.text for span in one.spans)),
        )
        for one in shown.signals
    )
    return ShownChecks(shown.checks, found)


def _value(measured: object, not_measured: str | None) -> str:
    if not_measured is not None:
        return f"not measured: {not_measured}"
    match measured:
        case bool():
            return "yes" if measured else "no"
        case float():
            return f"{measured:.3g}"
    return str(measured)
