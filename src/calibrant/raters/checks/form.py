"""What checks hand in about an item of a study: the answers they suggest, and what they propose.

A check answers what it can measure and nothing else. It raises no red flag: where it proposes
one, the item is put up for review, with the words it found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from calibrant.core.item import Item
from calibrant.raters.checks.run import Checker
from calibrant.raters.checks.signal import ProposeFlag, Signal, SuggestAnswer, agreed_answers

MOST_QUOTES, MOST_SIGNS = 3, 200
"""Of a criterion or a proposal; a longer quotation is cut."""


def check_form(checker: Checker, item: Item) -> Mapping[str, Any]:
    """The form of these checks for an item."""
    signals = checker.signals(item)
    suggested = [
        (one.suggestion.criterion, one.suggestion.answer, one.suggestion.decides)
        for one in signals
        if isinstance(one.suggestion, SuggestAnswer)
    ]
    answers = agreed_answers(suggested)
    evidence = {name: _quotes(_about(signals, name)) for name in answers}
    form: dict[str, Any] = {"answers": answers, "evidence": _some(evidence)}
    proposed = [one for one in signals if isinstance(one.suggestion, ProposeFlag)]
    if proposed:
        form["review"] = "checks propose " + "; ".join(dict.fromkeys(map(_proposal, proposed)))
    return form


def _about(signals: Iterable[Signal], criterion: str) -> list[Signal]:
    return [
        one
        for one in signals
        if isinstance(one.suggestion, SuggestAnswer) and one.suggestion.criterion == criterion
    ]


def _quotes(signals: Iterable[Signal]) -> list[str]:
    texts = (span.text.strip() for one in signals for span in one.spans)
    return list(dict.fromkeys(text[:MOST_SIGNS].strip() for text in texts if text))[:MOST_QUOTES]


def _some(quotes: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {name: found for name, found in quotes.items() if found}


def _proposal(signal: Signal) -> str:
    assert isinstance(signal.suggestion, ProposeFlag)
    words = " … ".join(f"“{text}”" for text in _quotes([signal]))
    return f"{signal.suggestion.flag}: {words}" if words else signal.suggestion.flag
