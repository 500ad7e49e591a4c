"""Legal and illegal moves of a study in any order: what was acknowledged stays, nothing doubles.

A model beside the study knows which ratings were acknowledged. An illegal move must be told in a
sentence and change nothing.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests.study.study_kit import PLANS, Ticking, as_, new_study, plan_item

from calibrant import CalibrantError, Submission
from calibrant.core.plan import Plan
from calibrant.core.study import Key, Rating
from calibrant.store.open import open_store
from calibrant.study.claim import Task

RUBRIC = PLANS.model_copy(update={"calibration": None})
PEOPLE = ("ann", "bob", "cy")
names = st.sampled_from(PEOPLE)
values = st.sampled_from("12345")
plans = st.sampled_from(
    [Plan(way="everyone"), Plan(way="per_item", raters=1), Plan(way="per_item", raters=2)]
)


class Moves(RuleBasedStateMachine):
    """A study, and what it has acknowledged."""

    @initialize()
    def begin(self) -> None:
        self.clock = Ticking()
        self.study = new_study(open_store(":memory:"), RUBRIC, self.clock)
        self.kept: dict[Key, Rating] = {}
        self.held: dict[str, Task] = {}
        self.items = self.requests = 0
        for name in PEOPLE:
            self.study.add_member(name)
            as_(self.study, name).acknowledge()

    def told(self) -> tuple[Any, ...]:
        """Everything that an illegal move must leave alone."""
        store, number = self.study.store, self.study.number
        return store.read(
            lambda tx: (
                [one.number for one in tx.journal(number)],
                list(tx.ratings(number, all_revisions=True)),
                tx.progress(number),
                tx.rounds(number),
                tx.members(number),
            )
        )

    def attempt(self, move: Any) -> Any:
        """The move's result, or None where it was refused and nothing has changed."""
        before = self.told()
        try:
            return move()
        except CalibrantError as error:
            assert str(error).strip()
            assert self.told() == before
            return None

    def state_of(self, number: int) -> str:
        found = {one.number: one.state for one in self.study.rounds()}
        return found.get(number, "none")

    def form(self, value: str) -> dict[str, Any]:
        return {"answers": dict.fromkeys(RUBRIC.criterion_ids, value)}

    @rule(count=st.integers(1, 3))
    def add_items(self, count: int) -> None:
        new = [plan_item(number) for number in range(self.items, self.items + count)]
        assert self.study.add_items(new).added == count
        self.items += count

    @rule(plan=plans)
    def plan_round(self, plan: Plan) -> None:
        made = self.attempt(lambda: self.study.plan_round("main", plan=plan))
        if made is not None:
            assert made.round.number == len(self.study.rounds())
            assert sum(made.workload.values()) >= made.items

    @rule(number=st.integers(1, 4))
    def open_round(self, number: int) -> None:
        before = self.state_of(number)
        done = self.attempt(lambda: self.study.open_round(number))
        assert (done is not None) == (before == "planned")

    @rule(number=st.integers(1, 4), reason=st.sampled_from([None, "time is up"]))
    def close_round(self, number: int, reason: str | None) -> None:
        before = self.state_of(number)
        if self.attempt(lambda: self.study.close_round(number, reason=reason)) is not None:
            assert before == "open"
            self.held = {who: one for who, one in self.held.items() if one.key.round != number}

    @rule(name=names)
    def claim(self, name: str) -> None:
        tasks = self.attempt(lambda: as_(self.study, name).claim(token=name))
        if tasks:
            assert tasks[0].key not in self.kept
            assert self.state_of(tasks[0].key.round) == "open"
            self.held[name] = tasks[0]

    @rule(name=names, value=values)
    @precondition(lambda self: self.held)
    def save(self, name: str, value: str) -> None:
        task = self.held.get(name)
        if task is not None:
            mine = as_(self.study, name)
            self.attempt(
                lambda: mine.save_draft(task.key, {"note": value}, version=task.version, token=name)
            )

    @rule(name=names, value=values, whole=st.booleans())
    @precondition(lambda self: self.held)
    def submit(self, name: str, value: str, whole: bool) -> None:
        task = self.held.get(name)
        if task is None:
            return
        self.requests += 1
        form = self.form(value) if whole else {"answers": {"realism": value}}
        one = Submission(key=task.key, form=form, request=f"r{self.requests}", lease=name)
        rating = self.attempt(lambda: as_(self.study, name).submit(one))
        assert whole or rating is None
        if rating is not None:
            assert task.key not in self.kept
            self.kept[task.key] = rating
            assert as_(self.study, name).submit(one) == rating  # sent twice

    @rule(data=st.data(), value=values, revision=st.integers(1, 3))
    @precondition(lambda self: self.kept)
    def correct(self, data: st.DataObject, value: str, revision: int) -> None:
        key = data.draw(st.sampled_from(sorted(self.kept)))
        self.requests += 1
        one = Submission(key=key, form=self.form(value), request=f"r{self.requests}")
        latest = self.kept[key].revision
        rating = self.attempt(lambda: as_(self.study, key.rater).correct(one, revision=revision))
        if rating is not None:
            assert revision == latest and rating.revision == latest + 1
            self.kept[key] = rating

    @rule(name=names)
    def leave(self, name: str) -> None:
        if self.attempt(lambda: self.study.leave(name, reason="gone")) is not None:
            self.held.pop(name, None)

    @rule(hours=st.integers(1, 3))
    def wait(self, hours: int) -> None:
        self.clock.later(hours=hours)

    @invariant()
    def what_was_acknowledged_is_there_and_nothing_else(self) -> None:
        if not hasattr(self, "study"):
            return
        number = self.study.number
        found = self.study.store.read(lambda tx: list(tx.ratings(number)))
        assert {one.key: one for one in found} == self.kept
        assert len(found) == len(self.kept)
        done = self.study.store.read(lambda tx: list(tx.assignments(number, state="done")))
        assert {one.key for one in done} == set(self.kept)


TestMoves = Moves.TestCase
TestMoves.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
