"""What a check has to say: a measurement, the words it rests on, and at most one suggestion.

A signal never is an answer. What could not be measured says so, with the reason; it is never
told as nought.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

Measured: TypeAlias = bool | int | float | str


class Span(NamedTuple):
    """A place in an item; ``text`` is exactly what stands there."""

    part: str
    """Which text of the item: ``response``, ``actions[2].deadline``, ``exchanges[4].user``."""
    start: int
    """In code points from the beginning of that text."""
    end: int
    text: str


new_span = partial(tuple.__new__, Span)
"""A span of its four values as one tuple: quicker than a call, and spans are what there is most."""


@dataclass(frozen=True, slots=True)
class SuggestAnswer:
    """An answer that the measurement speaks for."""

    criterion: str
    answer: str
    decides: bool = False
    """Whether the rubric leaves this answer to code (a precondition), whatever raters say."""


@dataclass(frozen=True, slots=True)
class ProposeFlag:
    """A red flag for somebody to confirm or reject; code never raises one by itself."""

    flag: str


@dataclass(frozen=True, slots=True)
class Hint:
    """Something for the reviewer to look at."""

    criterion: str
    text: str


Suggestion: TypeAlias = SuggestAnswer | ProposeFlag | Hint
KINDS: dict[type[Suggestion], str] = {
    SuggestAnswer: "answer",
    ProposeFlag: "flag",
    Hint: "hint",
}
"""What a suggestion is called in files."""


class Signal(NamedTuple):
    """One measurement of one item by one check."""

    check: str
    signal: str
    """The name of the measurement: ``share_of_question_endings``."""
    measured: Measured | None = None
    threshold: float | int | str | None = None
    exceeded: bool | None = None
    """Whether the measurement is beyond the threshold; ``None`` where there is none."""
    criterion: str | None = None
    """The criterion it is evidence for."""
    spans: tuple[Span, ...] = ()
    suggestion: Suggestion | None = None
    not_measured: str | None = None
    """Why there is no measurement: ``language not covered``."""
    note: str = ""
    """How it was measured, where that needs words; never what to answer."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON: what is not there is left out."""
        out: dict[str, Any] = {"check": self.check, "signal": self.signal}
        for name in ("measured", "threshold", "exceeded", "criterion"):
            value = getattr(self, name)
            if value is not None:
                out[name] = value
        if self.spans:
            out["spans"] = [
                {"part": one.part, "start": one.start, "end": one.end, "text": one.text}
                for one in self.spans
            ]
        if self.suggestion is not None:
            out["suggestion"] = {"kind": KINDS[type(self.suggestion)], **asdict(self.suggestion)}
        if self.not_measured is not None:
            out["not_measured"] = self.not_measured
        if self.note:
            out["note"] = self.note
        return out


def agreed_answers(suggested: Iterable[tuple[str, str, bool]]) -> dict[str, str]:
    """One answer a criterion, from suggestions as criterion, answer and whether it decides.

    What the rubric leaves to code goes before; where checks suggest different answers, the rater
    has none.
    """
    answers: dict[str, set[str]] = {}
    decided: dict[str, str] = {}
    for criterion, answer, decides in suggested:
        answers.setdefault(criterion, set()).add(answer)
        if decides:
            decided[criterion] = answer
    return {
        criterion: decided.get(criterion) or min(said)
        for criterion, said in answers.items()
        if criterion in decided or len(said) == 1
    }
