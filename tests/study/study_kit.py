"""A small study for tests: items, people, a clock that ticks, forms filled in by a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from calibrant import Rubric, Study, Submission, load_rubric
from calibrant.core.item import Action, Plan, Profile, Response
from calibrant.core.study import Key
from calibrant.ports.store import Store
from calibrant.study.open import create, enter

PLANS = load_rubric("smart-action-plan")
RESPONSES = load_rubric("ai-response")
COACHING = load_rubric("coaching-conversation")
MONDAY = date(2026, 3, 2)


class Ticking:
    """A clock that goes on by a second each time it is read."""

    def __init__(self, at: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)) -> None:
        self.at = at

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at

    def later(self, **span: float) -> None:
        self.at += timedelta(**span)


def plan_item(number: int) -> Plan:
    profile = Profile(
        goal=f"become a gardener, case {number}",
        hours_per_week=5,  # type: ignore[arg-type]
        barriers=("no car",),
        lacks=("no computer",),
    )
    action = Action(action=f"visit {number} nurseries", deadline="by week 2")
    return Plan(id=f"plan-{number:03}", profile=profile, actions=(action,), more={"model": "m-1"})


def response_item(number: int) -> Response:
    return Response(
        id=f"r-{number:03}", question=f"What is {number} and one?", response=f"It is {number + 1}."
    )


def new_study(store: Store, rubric: Rubric = PLANS, clock: Ticking | None = None) -> Study:
    """A study led by lena, without members or items."""
    made = create(
        store,
        "gardeners",
        rubric,
        lead="lena",
        clock=clock or Ticking(),
        start_on=MONDAY,
        seed=7,
    )
    return Study(made.store, made.number, made.record, made.actor, made.clock)


def as_(study: Study, actor: str) -> Study:
    """The same study in other hands."""
    found = enter(study.store, study.name, actor=actor, clock=study.clock)
    return Study(found.store, found.number, found.record, found.actor, found.clock)


def panel(study: Study, *names: str, **more: Any) -> None:
    for name in names:
        study.add_member(name, group="adviser", **more)


Form = Callable[[Key, Rubric], Mapping[str, Any]]


def same(value: str) -> Form:
    """A form with one answer to everything."""
    return lambda key, rubric: {"answers": dict.fromkeys(rubric.criterion_ids, value)}


def rate_all(study: Study, rater: str, form: Form, *, limit: int = 5) -> int:
    """Claim and submit until nothing is left; how many."""
    mine = as_(study, rater)
    if any(one.name == rater and one.kind == "HUMAN" for one in mine.members()):
        mine.acknowledge()
    done = 0
    while tasks := mine.claim(token=f"tab of {rater}", limit=limit):
        for task in tasks:
            mine.submit(
                Submission(
                    key=task.key,
                    form=form(task.key, task.rubric),
                    request=f"{rater}/{task.key.round}/{task.key.item}/{task.key.occasion}",
                    version=task.version,
                    lease=task.lease,
                )
            )
            done += 1
    return done
