"""Which answers to a criterion shut a gate, and what a judge lets through there."""

from __future__ import annotations

import numpy as np

from calibrant.compare.rulers import ALL
from calibrant.compare.trust_answer import FalsePasses
from calibrant.core.answer import NA
from calibrant.core.errors import UnknownName
from calibrant.core.rubric import Rubric
from calibrant.stats.counts import ABSENT, Patterns
from calibrant.stats.weights import Ruler


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


def false_passes(found: Patterns, ruler: Ruler, shutting: frozenset[str]) -> FalsePasses | None:
    """Of the items that people failed at a gate, how many the judge lets through.

    The judge is the first rater. People fail an item where half of them or more give an answer
    that shuts the gate.
    """
    if not shutting:
        return None
    shuts = np.array([label in shutting for label in ruler.labels] + [False])
    shut = shuts[np.minimum(found.codes, len(ruler.labels))] & (found.codes != ABSENT)
    given = (found.codes[1:] != ABSENT).sum(axis=0)
    failed = shut[1:].sum(axis=0) * 2 >= given
    passed = failed & ~shut[0]
    opened = ~failed & shut[0]
    return FalsePasses(
        int(found.times[passed].sum()),
        int(found.times[failed].sum()),
        int(found.times[opened].sum()),
        int(found.times[~failed].sum()),
    )
