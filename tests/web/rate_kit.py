"""Studies in which somebody can rate at once: one of each built-in rubric, with an open round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.study.study_kit import COACHING, MONDAY, PLANS, RESPONSES, as_

from calibrant import Rubric, Study
from calibrant.core.item import (
    Action,
    Conversation,
    Exchange,
    Item,
    Message,
    Plan,
    Profile,
    Response,
)
from calibrant.core.plan import Plan as Sharing
from calibrant.ports.clock import Clock
from calibrant.ports.store import Store
from calibrant.study.open import create

RUBRICS = {"plan": PLANS, "response": RESPONSES, "conversation": COACHING}


def a_plan(number: int) -> Plan:
    """A plan with most of what a plan can state."""
    profile = Profile(
        goal=f"Work as a gardener in a nursery (case {number})",
        hours_per_week=6,  # type: ignore[arg-type]
        skills=("growing vegetables", "driving a tractor"),
        barriers=("a bad back", "no car"),
        confidence=2,
        lacks=("a computer at home",),
    )
    actions = (
        Action(
            action="Visit **three nurseries** by bus and ask about *seasonal work*",
            metric="nurseries visited",
            baseline="0",
            target="3",
            deadline="by the end of week 2",
            effort_estimate="5 hours",
            first_step="Look up the bus lines at the library",
            rationale="Nurseries hire in spring, and most of them without a notice.",
        ),
        Action(action="Write a short CV", deadline="soon"),
    )
    return Plan(id=f"plan-{number:03}", profile=profile, actions=actions, more={"model": "m-1"})


def a_response(number: int) -> Response:
    """A response with the plain marks of Markdown."""
    text = (
        "There are **two ways** to do it:\n\n"
        "1. Ask the *office* for the form.\n"
        "2. Send it `by post`; see [the page](https://example.org/form).\n\n"
        f"It takes about {number + 3} days."
    )
    return Response(id=f"r-{number:03}", question=f"How do I apply for permit {number}?",
                    response=text, as_of="2026-02-28")  # fmt: skip


def a_conversation(number: int, exchanges: int = 2) -> Conversation:
    """A coaching conversation; with few exchanges, code decides some criteria."""
    said = tuple(
        Exchange(
            user=f"Work is a lot, and my sister does not call. ({number}/{at})",
            assistant="**Work:** that sounds heavy.\n\n**Your sister:** you miss her calls.",
        )
        for at in range(exchanges)
    )
    preamble = (Message(role="system", content="You are a coach."),)
    return Conversation(id=f"c-{number:03}", exchanges=said, preamble=preamble)


MAKE: dict[str, Callable[[int], Item]] = {
    "plan": a_plan,
    "response": a_response,
    "conversation": a_conversation,
}


def rating_study(
    store: Store,
    kind: str = "plan",
    *,
    clock: Clock,
    raters: tuple[str, ...] = ("ann", "bob"),
    items: int = 3,
    rubric: Rubric | None = None,
    make: Any = None,
    name: str = "",
    ready: bool = True,
) -> Study:
    """A study led by lena with an open main round; ``ready``: everybody has read the rubric."""
    made = create(store, name or f"study-{kind}", rubric or RUBRICS[kind], lead="lena",
                  clock=clock, start_on=MONDAY, seed=7, title=f"A study of {kind}s")  # fmt: skip
    study = Study(made.store, made.number, made.record, made.actor, made.clock)
    build: Callable[[int], Item] = make or MAKE[kind]
    study.add_items(build(number) for number in range(1, items + 1))
    for one in raters:
        study.add_member(one, group="adviser")
    study.plan_round("main", plan=Sharing(way="everyone"))
    study.open_round(1, override="practice is over")
    if ready:
        for one in raters:
            as_(study, one).acknowledge()
    return study
