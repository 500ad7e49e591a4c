"""Barriers: which of those that the profile states are taken up in the actions, and which are not.

A barrier counts as taken up where an action has its words or words of its subject. That the plan
handles it well is for people to say.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.core.parts import Part
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.signal import Hint, Signal, Span
from calibrant.raters.checks.text import WORD

NAME, LEXICON = "plan_barriers", "plan-barriers-en"
LETTERS = 5
"""Shorter words of a barrier tie nothing to it."""


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    criteria=("realism",),
    lexicons=(LEXICON,),
    reads="reading",
)
def plan_barriers(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts stated barriers that no action takes up in its words."""
    barriers = [one for one in reading.of("profile") if one.name.startswith("profile.barriers")]
    if not barriers:
        yield Signal(
            NAME, "barriers_ignored", criterion="realism", not_measured="no barriers are stated"
        )
        return
    actions = reading.of("action")
    if reading.uncovered((*barriers, *actions)):
        yield Signal(NAME, "barriers_ignored", criterion="realism", not_measured=NOT_COVERED)
        return
    taken_up = {one.index: _taken_up(reading, one, actions) for one in barriers}
    ignored = [one for one in barriers if taken_up[one.index] is None]
    yield Signal(
        NAME,
        "barriers_addressed",
        measured=len(barriers) - len(ignored),
        criterion="realism",
        spans=tuple(
            span
            for one in barriers
            if (found := taken_up[one.index]) is not None
            for span in (reading.span(one, 0, len(one.text)), found)
        ),
        note=f"of {len(barriers)} barriers; each with the first words of an action that name it",
    )
    told = "; ".join(one.text for one in ignored)
    yield Signal(
        NAME,
        "barriers_ignored",
        measured=len(ignored),
        threshold=">= 1",
        exceeded=bool(ignored),
        criterion="realism",
        spans=tuple(reading.span(one, 0, len(one.text)) for one in ignored),
        suggestion=Hint("realism", f"no action names: {told[:200]}") if ignored else None,
        note="an action names a barrier by its words or by words of its subject",
    )


def _taken_up(reading: Reading, barrier: Part, actions: Iterable[Part]) -> Span | None:
    """The first words of an action that name the barrier."""
    hits = reading.hits(LEXICON)
    subjects = {hit.label for hit in hits if hit.part.index == barrier.index}
    for hit in hits:
        if hit.part.role == "action" and hit.label in subjects:
            return hit.span
    words = {one for one in WORD.findall(reading.low(barrier)) if len(one) >= LETTERS}
    for part in actions:
        for found in WORD.finditer(reading.low(part)):
            if found.group() in words:
                return reading.span(part, *found.span())
    return None
