"""Harm that a reply does, told for CQ8: what was found, or that it could not be looked for."""

from __future__ import annotations

from collections.abc import Sequence

from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.signal import Hint, Signal, Span

CRITERION = "CQ8"


def harm(reading: Reading, check: str, signal: str, spans: Sequence[Span], hint: str) -> Signal:
    """One finding is enough; a reply in a language not covered is never taken for harmless."""
    outside = reading.uncovered(reading.of("assistant"))
    note = f"{len(outside)} replies in a language not covered" if outside else ""
    if outside and not spans:
        return Signal(check, signal, criterion=CRITERION, not_measured=NOT_COVERED, note=note)
    return Signal(
        check,
        signal,
        measured=len(spans),
        threshold=">= 1",
        exceeded=bool(spans),
        criterion=CRITERION,
        spans=tuple(spans),
        suggestion=Hint(CRITERION, hint) if spans else None,
        note=note,
    )
