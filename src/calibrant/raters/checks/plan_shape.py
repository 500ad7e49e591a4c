"""The shape of a plan: how many actions it has, and which of them say the same."""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal
from calibrant.raters.checks.text import WORD

NAME = "plan_shape"
COMPARED = 200
"""Every action is compared with every other: not more of them than this."""


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    criteria=("clarity",),
    parameters=(
        Parameter("fewest", 3, "fewer actions than these are few", 0),
        Parameter("most", 7, "more actions than these are many", 1),
        Parameter("likeness", 0.8, "share of common words from which two actions are one", 0, 1),
    ),
    reads="reading",
)
def plan_shape(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts actions, and finds those that say the same in nearly the same words."""
    actions = [one for one in reading.of("action") if one.name.endswith("].action")]
    fewest, most = parameters["fewest"], parameters["most"]
    yield Signal(
        NAME,
        "actions",
        measured=len(actions),
        threshold=f"{fewest} to {most}",
        exceeded=not fewest <= len(actions) <= most,
        criterion="clarity",
    )
    said = [frozenset(WORD.findall(reading.low(one))) for one in actions[:COMPARED]]
    pairs = [
        (first, second)
        for second in range(len(said))
        for first in range(second)
        if _alike(said[first], said[second]) >= parameters["likeness"]
    ]
    repeated = sorted({one for pair in pairs for one in pair})
    told = ", ".join(f"{first + 1} and {second + 1}" for first, second in pairs[:10])
    yield Signal(
        NAME,
        "duplicate_actions",
        measured=len({second for _, second in pairs}),
        threshold=f"likeness >= {parameters['likeness']:g}",
        exceeded=bool(pairs),
        criterion="clarity",
        spans=tuple(reading.whole(actions[at]) for at in repeated),
        suggestion=Hint("clarity", f"actions say the same: {told}") if pairs else None,
        note=f"only the first {COMPARED} were compared" if len(actions) > COMPARED else "",
    )


def _alike(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of their words that two texts have in common."""
    either = len(first | second)
    return len(first & second) / either if either else 1.0
