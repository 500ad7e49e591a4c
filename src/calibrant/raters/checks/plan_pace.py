"""Pace: whether somebody with little confidence is given a small first step."""

from __future__ import annotations

import re
from collections.abc import Iterable

from calibrant.core.item import Plan
from calibrant.raters.checks.plan_efforts import read_effort
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal

NAME = "plan_pace"
JOINT = re.compile(
    r"(?<![^\W_])(?:and\s(?:then\s)?|then\s|after\sthat\s|before\s|as\swell\sas\s)(?=[a-z])"
    r"|[;,]\s(?=(?:then|and|next)(?![^\W_]))|[.!?]\s+(?=[a-z])"
)
"""Where one thing to do ends and another begins."""


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    criteria=("realism",),
    parameters=(
        Parameter("confidence", 2, "confidence up to which a first step should be small", 1, 5),
        Parameter("words", 25, "a first step of more words is long", 1),
        Parameter("parts", 2, "a first step of more things to do is large", 1),
        Parameter("hours", 2.0, "without a first step, an action of more hours is large", 0),
    ),
    reads="reading",
)
def plan_pace(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Looks at the size of the first step where the stated confidence is low."""
    plan = reading.item
    assert isinstance(plan, Plan)
    sure = plan.profile.confidence
    if sure is None or sure > parameters["confidence"]:
        reason = "the profile states no confidence" if sure is None else "confidence is not low"
        yield Signal(NAME, "large_first_step", criterion="realism", not_measured=reason)
        return
    step = reading.part("actions[0].first_step")
    if step is None:
        yield _without_step(reading, parameters["hours"])
        return
    count = reading.word_count(step)
    things = 1 + len(JOINT.findall(reading.low(step)))
    large = count > parameters["words"] or things > parameters["parts"]
    yield Signal(
        NAME,
        "large_first_step",
        measured=count,
        threshold=f"> {parameters['words']} words or > {parameters['parts']} things to do",
        exceeded=large,
        criterion="realism",
        spans=(reading.span(step, 0, len(step.text)),) if large else (),
        suggestion=Hint("realism", "confidence is low, and the first step is large")
        if large
        else None,
        note=f"{count} words, about {things} things to do; stated confidence {sure}",
    )


def _without_step(reading: Reading, most: float) -> Signal:
    """No first step is named: the first action stands in for it."""
    part = reading.part("actions[0].effort_estimate")
    effort = None if part is None else read_effort(reading.low(part))
    if part is None or effort is None:
        return Signal(
            NAME,
            "large_first_step",
            criterion="realism",
            not_measured="the first action states no first step and no effort that can be read",
        )
    large = effort.high > most
    return Signal(
        NAME,
        "large_first_step",
        measured=effort.high,
        threshold=f"> {most:g} hours",
        exceeded=large,
        criterion="realism",
        spans=(reading.span(part, 0, len(part.text)),) if large else (),
        suggestion=Hint("realism", "confidence is low, and the first action has no small step")
        if large
        else None,
        note="hours of the first action, which names no first step",
    )
