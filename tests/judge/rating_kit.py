"""Judges' ratings for tests, made from what their calls would have come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from calibrant.core.item import Action, Conversation, Exchange, Item, Plan, Profile
from calibrant.core.rubric import Rubric
from calibrant.ports.chat import Reply, Usage
from calibrant.raters.judge.card import Way
from calibrant.raters.judge.judge import Call, Judge
from calibrant.raters.judge.outcome import Asked
from calibrant.raters.judge.rated import Rated, rated
from calibrant.raters.judge.reading import Judgement, Reading, Seen

TALK = Conversation(
    id="talk",
    exchanges=(
        Exchange(user="I feel low today", assistant="What weighs on you?"),
        Exchange(user="My boss, I think", assistant="Tell me more about your boss."),
    ),
)
PLAN = Plan(
    id="plan",
    profile=Profile(goal="a job in a kitchen", lacks=("a car",)),
    actions=(Action(action="drive to three kitchens", deadline="by week 2"),),
)
ITEMS: dict[str, Item] = {"conversation": TALK, "plan": PLAN}


def judge_of(rubric: Rubric, model: str = "model-a", way: Way = "criterion") -> Judge:
    return Judge(rubric, model, way=way, key=b"k" * 32)


def best(rubric: Rubric, name: str) -> str:
    """The answer that is worth most."""
    scale = rubric.scale_of(rubric.criterion(name))
    return str(max(scale.points_of_scale, key=lambda value: scale.worth(value) or 0))


def read(call: Call, reading: Reading, **told: Any) -> Asked:
    """A call whose reply was read."""
    usage = Usage(prompt=100, cached=80, completion=10)
    reply = Reply(text='{"the": "reply"}', usage=usage)
    return Asked(call=call, reading=reading, reply=reply, why=None, seconds=0.5, **told)


def failed(call: Call, why: str = "timeout", detail: str = "") -> Asked:
    """A call that came to nothing."""
    return Asked(call=call, reading=None, reply=None, why=why, detail=detail, attempts=5)


def all_asked(
    judge: Judge,
    item: Item,
    answers: Mapping[str, str | Judgement | None] | None = None,
    *,
    flags: Iterable[Seen] = (),
    flags_fail: bool = False,
    sample: int = 1,
) -> list[Asked]:
    """What became of all calls: the best answer, or what ``answers`` says; None: a time-out."""
    answers = answers or {}
    found = []
    for call in judge.calls(item, sample):
        names = call.question.criteria
        if any(answers.get(name, "") is None for name in names) or (flags_fail and not names):
            found.append(failed(call))
            continue
        said = {name: answers.get(name) or best(judge.rubric, name) for name in names}
        judgements = {
            name: one if isinstance(one, Judgement) else Judgement(answer=one)
            for name, one in said.items()
        }
        seen = tuple(flags) if call.question.flags else ()
        reading = Reading(rung="json_schema", judgements=judgements, flags=seen)
        found.append(read(call, reading))
    return found


def rating(
    rubric: Rubric,
    answers: Mapping[str, str | Judgement | None] | None = None,
    *,
    model: str = "model-a",
    item: Item | None = None,
    sample: int = 1,
    **told: Any,
) -> Rated:
    """One rating."""
    judge, item = judge_of(rubric, model), item or ITEMS[rubric.item_type]
    asked = all_asked(judge, item, answers, sample=sample, **told)
    return rated(rubric, judge.card, item, sample, asked)
