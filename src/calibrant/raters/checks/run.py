"""All chosen checks over one item: signals out, whatever a check does.

A check that raises becomes a signal that says so; it never stops a run. Signals speak of the
criteria and red flags that the rubric has, and of no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from calibrant.core.answer import NA
from calibrant.core.criterion import ItemType
from calibrant.core.document import holds
from calibrant.core.errors import one_line
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.raters.checks.card import Card, card_of
from calibrant.raters.checks.reading import Reading, Scanner, readings
from calibrant.raters.checks.registry import Chosen, chosen_checks
from calibrant.raters.checks.signal import Hint, ProposeFlag, Signal, SuggestAnswer, Suggestion

PRECONDITION = "precondition"
"""The name under which a rubric's own preconditions come among signals."""


class Checker:
    """The checks that a rubric chooses for one kind of item, ready to run."""

    def __init__(self, kind: ItemType, rubric: Rubric | None = None) -> None:
        self.kind = kind
        self.rubric = rubric
        self.chosen = chosen_checks(kind, rubric)

    @cached_property
    def scanner(self) -> Scanner:
        """One search for the lexicons of all chosen checks."""
        return Scanner(one for chosen in self.chosen for one in chosen.definition.lexicons)

    @cached_property
    def card(self) -> Card:
        """Who these checks are, as a rater."""
        return card_of(self.kind, self.chosen, self.rubric)

    def signals(self, item: Item) -> tuple[Signal, ...]:
        """What all checks measured in an item, check by check."""
        return self.signals_of([item])[0]

    def signals_of(self, items: Sequence[Item]) -> list[tuple[Signal, ...]]:
        """The same for each of some items, which are read together: this is what makes it quick.

        All of them are held in memory at once; ``shelf.shelves`` says how many are good to take.
        """
        for item in items:
            if item.kind != self.kind:
                raise ValueError(f"these checks read a {self.kind}, not a {item.kind}")
        read = readings(items, self.scanner)
        out = [list(precondition_signals(item, self.rubric)) for item in items]
        for chosen in self.chosen:  # one check over all items: its code stays at hand
            for signals, reading in zip(out, read, strict=True):
                signals.extend(_run(chosen, reading))
        return [tuple(signals) for signals in out]


def _run(chosen: Chosen, reading: Reading) -> Iterable[Signal]:
    definition = chosen.definition
    given = reading if definition.reads == "reading" else reading.item
    try:
        return [_fitted(one, chosen) for one in definition.function(given, chosen.values)]
    except Exception as error:
        if len(reading.shelf.items) > 1:  # no item may fail because of those beside it
            return _run(chosen, Reading(reading.item, reading.shelf.scanner))
        told = one_line(f"{type(error).__name__}: {error}"[:300])
        return [Signal(definition.name, definition.name, not_measured=f"failed: {told}")]


def _fitted(signal: Signal, chosen: Chosen) -> Signal:
    """The signal in the names of the rubric."""
    if not isinstance(signal, Signal):
        raise TypeError(f"a check gives signals, not {type(signal).__name__}")
    criterion, suggestion = signal.criterion, signal.suggestion
    criteria = chosen.criteria
    fits = (
        signal.check == chosen.definition.name
        and (criterion is None or criteria.get(criterion) == criterion)
        and (suggestion is None or _suits(suggestion, chosen) is suggestion)
    )
    if fits:
        return signal
    return signal._replace(
        check=chosen.definition.name,
        criterion=None if criterion is None else criteria.get(criterion),
        suggestion=None if suggestion is None else _suits(suggestion, chosen),
    )


def _suits(suggestion: Suggestion, chosen: Chosen) -> Suggestion | None:
    """The suggestion in the names of the rubric; ``None`` where it has nothing of the kind."""
    match suggestion:
        case ProposeFlag():
            return suggestion if suggestion.flag in chosen.flags else None
        case SuggestAnswer():
            to = chosen.criteria.get(suggestion.criterion)
            if to == suggestion.criterion and not suggestion.decides:
                return suggestion
            # only a precondition of the rubric lets code decide
            return None if to is None else SuggestAnswer(to, suggestion.answer)
        case Hint():
            to = chosen.criteria.get(suggestion.criterion)
            if to == suggestion.criterion:
                return suggestion
            return None if to is None else Hint(to, suggestion.text)


def precondition_signals(item: Item, rubric: Rubric | None) -> Iterator[Signal]:
    """What the rubric leaves to code: where a precondition holds, the answer is NA."""
    measures = item.measures()
    for criterion in rubric.criteria if rubric is not None else ():
        condition = criterion.precondition
        if condition is None or condition.metric not in measures:
            continue
        count = measures[condition.metric]
        met = holds(count, condition.op, condition.value)
        yield Signal(
            PRECONDITION,
            condition.metric,
            measured=count,
            threshold=f"{condition.op} {condition.value}",
            exceeded=met,
            criterion=criterion.id,
            suggestion=SuggestAnswer(criterion.id, NA, decides=True) if met else None,
            note=condition.reason if met else "",
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reviewer saw of checks before their own rating was in; kept with the rating."""

    checks: tuple[str, ...]
    signals: tuple[Signal, ...]


def shown_while_rating(checker: Checker, signals: Iterable[Signal]) -> Shown:
    """What a reviewer may see before their own rating is in.

    Measurements and places of those checks that the rubric shows; never a suggestion, nor what
    code makes of a measurement.
    """
    names = {one.definition.name for one in checker.chosen if one.shown}
    seen = tuple(
        one._replace(suggestion=None, threshold=None, exceeded=None)
        for one in signals
        if one.check in names
    )
    return Shown(tuple(sorted(names)), seen)
