"""The loop of a rater that is a program: claim, rate, hand in, until nothing is left.

It works for checks and for judges alike: what differs is the function that rates. A worker that
is stopped leaves nothing behind but leases, which end by themselves; what it has handed in is
kept, and another worker goes on with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from calibrant.core.errors import Fault, RecordError, Stale
from calibrant.core.study import Key
from calibrant.study.claim import Task
from calibrant.study.collect import Submission
from calibrant.study.handle import Study

Rate: TypeAlias = Callable[[Task], Mapping[str, Any]]
"""A form for a task: answers, notes, flags, whatever ``core.acceptance`` takes."""
PART = 50
"""Assignments that are claimed and handed in together."""


@dataclass(slots=True)
class Worked:
    """What a worker has done."""

    rated: int = 0
    taken: int = 0
    """Handed in by another worker in the meantime."""
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    """Forms that were not accepted: the item, and why."""


def work_off(
    study: Study,
    rate: Rate,
    *,
    token: str,
    part: int = PART,
    on_part: Callable[[int], None] = lambda done: None,
) -> Worked:
    """Rate all assignments of the actor; ``on_part`` hears how many are done by now.

    ``token`` names this worker: two of them never hold the same assignment. A form with faults is
    not handed in, and its assignment is kept for the end of this run, so that it does not come
    again and again.
    """
    done = Worked()
    refused = 0
    while True:
        tasks = study.claim(token=token, limit=part + refused)[refused:]
        if not tasks:
            return done
        refused += len(hand_in(study, [_submission(study, task, rate) for task in tasks], done))
        on_part(done.rated)


def _submission(study: Study, task: Task, rate: Rate) -> Submission:
    key = task.key
    started = study.now()
    return Submission(
        key=key,
        form=rate(task),
        request=request_of(key),
        version=task.version,
        lease=task.lease,
        started_at=started,
    )


def request_of(key: Key) -> str:
    """Names the first handing in of an assignment: done twice, it makes one rating."""
    return f"{key.round}/{key.item}/{key.rater}/{key.occasion}/1"


def hand_in(study: Study, part: list[Submission], done: Worked) -> set[Key]:
    """Hand a part in; what was not accepted. One that came too late does not stop others."""
    try:
        outcomes = study.submit_many(part)
    except Stale:
        if len(part) == 1:
            done.taken += 1
            return set()
        return {key for one in part for key in hand_in(study, [one], done)}
    refused: set[Key] = set()
    for one, outcome in zip(part, outcomes, strict=True):
        if isinstance(outcome, RecordError):
            done.faults += [(one.key.item, fault) for fault in outcome.faults]
            refused.add(one.key)
        else:
            done.rated += 1
    return refused
