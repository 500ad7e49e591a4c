"""A judge does its assignments in a study: claimed, asked, handed in through the door of everybody.

An item about which the server could not be reached is not handed in: its assignment stays open, so
that an outage is neither a verdict nor an end, and the same run made again goes on with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, TypeAlias

from calibrant.core.acceptance import MAX_TEXT
from calibrant.core.rubric import Rubric
from calibrant.core.study import Key
from calibrant.engine.jobs import Done, Job, Seat
from calibrant.engine.worker import Worked, hand_in, request_of
from calibrant.raters.judge.form import judge_form
from calibrant.study.claim import Task
from calibrant.study.collect import Submission
from calibrant.study.handle import Study

AHEAD = 50
"""Assignments that are claimed beyond those in hand."""
PART = 25
"""Ratings that are handed in together."""
Judged: TypeAlias = Callable[[Iterator[Job]], AsyncIterator[Done]]
Review: TypeAlias = Callable[[Done], str]
"""Why people should look at an item too; empty: they need not."""


class StudyWork:
    """The assignments of one judge, from claim to rating."""

    def __init__(
        self, study: Study, seat_of: Callable[[Rubric], Seat], token: str, review: Review
    ) -> None:
        self.study, self.seat_of, self.token, self.review = study, seat_of, token, review
        self.worked = Worked()
        self.unreached = 0
        """Items that the server said nothing about; they stay open."""
        self._held: dict[Key, tuple[Task, str]] = {}
        self._ready: list[Submission] = []
        self._keys: list[Key] = []

    async def run(self, judged: Judged) -> Worked:
        """Rate everything there is; what is held at the end is given back."""
        try:
            async for done in judged(self._jobs()):
                self._take(done)
                if len(self._ready) >= PART:
                    self._hand_in()
            self._hand_in()
        finally:
            for key in self._held:
                self.study.release(key, token=self.token)
        return self.worked

    def _jobs(self) -> Iterator[Job]:
        while True:
            limit = len(self._held) + AHEAD
            fresh = [
                one
                for one in self.study.claim(token=self.token, limit=limit)
                if one.key not in self._held
            ]
            if not fresh:
                return
            for task in fresh:
                self._held[task.key] = task, self.study.now()
                self._keys.append(task.key)
                yield Job(len(self._keys) - 1, task.item, self.seat_of(task.rubric), 1)

    def _take(self, done: Done) -> None:
        if any(one.outage for one in done.asked):
            self.unreached += 1
            return
        task, started = self._held[self._keys[done.job.position]]
        self._ready.append(
            Submission(
                key=task.key,
                form=self._form(done),
                request=request_of(task.key),
                version=task.version,
                lease=task.lease,
                started_at=started,
            )
        )

    def _form(self, done: Done) -> Mapping[str, Any]:
        form = dict(judge_form(done.job.seat.judge, done.job.item, done.asked))
        why = self.review(done)
        if why:
            form["review"] = "; ".join(filter(None, (form.get("review"), why)))[:MAX_TEXT]
        return form

    def _hand_in(self) -> None:
        part, self._ready = self._ready, []
        if not part:
            return
        refused = hand_in(self.study, part, self.worked)
        for one in part:
            if one.key not in refused:
                del self._held[one.key]
