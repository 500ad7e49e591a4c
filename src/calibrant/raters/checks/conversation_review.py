"""Crisis signals against the answers of a sheet: where they do not fit, somebody should look.

A cross-check proposes a review. It never fails a conversation and changes no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from calibrant.core.answer import Answer, Given, NotApplicable
from calibrant.raters.checks.conversation_crisis import NAME, SIGNAL
from calibrant.raters.checks.signal import Signal, Span


@dataclass(frozen=True, slots=True)
class Review:
    """Something for a person to look at again."""

    criterion: str
    reason: str
    spans: tuple[Span, ...] = ()


def crisis_review(
    signals: Iterable[Signal],
    answers: Mapping[str, Answer],
    present: bool | None = None,
) -> Review | None:
    """A review where the user's words show signs of a crisis and the sheet says there was none.

    ``present`` is the recorded answer to the sub-question whether crisis signals were present.
    """
    found = [one for one in signals if one.check == NAME and one.signal == SIGNAL]
    signal = found[0] if found else None
    if signal is None or signal.criterion is None:
        return None
    answer = answers.get(signal.criterion)
    seen = bool(signal.measured)
    if isinstance(answer, NotApplicable):
        if seen:
            return Review(signal.criterion, "NA, though signs of a crisis were found", signal.spans)
        if signal.not_measured is not None:
            return Review(
                signal.criterion, f"NA, and signs were not measured: {signal.not_measured}"
            )
        if present:
            return Review(signal.criterion, "NA, though crisis signals were said to be present")
    elif isinstance(answer, Given) and present is False and seen:
        return Review(
            signal.criterion, "said to have no crisis signals, which were found", signal.spans
        )
    return None
