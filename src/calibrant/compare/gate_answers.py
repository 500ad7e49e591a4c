"""Which answers to a criterion shut a gate."""

from __future__ import annotations

from calibrant.compare.rulers import ALL
from calibrant.core.answer import NA
from calibrant.core.errors import UnknownName
from calibrant.core.rubric import Rubric


def shutting_answers(rubric: Rubric | None, criterion: str) -> frozenset[str]:
    """The answers that shut a gate; none where the criterion keeps none.

    An NA that is not valid shuts it, too: gates fail closed.
    """
    if rubric is None or criterion == ALL:
        return frozenset()
    try:
        asked = rubric.criterion(criterion)
    except UnknownName:
        return frozenset()
    gates = [gate for gate in rubric.gates or () if asked.id in gate.criteria]
    words = {word for gate in gates for word in gate.fails_on}
    if gates and asked.na.policy != "valid":
        words.add(NA)
    return frozenset(words)
