"""Effort: how many hours an action takes, read from words, and whether they fit the week.

An estimate that is not plainly a number of hours or minutes, once or in each week, stays unread
and is told; it never counts as nought.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from calibrant.core.item import Plan
from calibrant.core.parts import Part
from calibrant.raters.checks.plan_quantities import NUMBER_WORDS
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal

NAME = "plan_efforts"
_WORDS = "|".join(NUMBER_WORDS)
_ONE = (
    rf"(?:\d{{1,4}}(?:[.,]\d{{1,2}})?|(?:{_WORDS})(?![^\W_])(?:\sand\sa\shalf)?|half\s(?:an?\s)?)"
)
_MANY = rf"(?:\d{{1,2}}|{'|'.join(word for word, number in NUMBER_WORDS.items() if number > 1)})"
_EDGE, _STOP = r"(?<![^\W_.,])", r"(?![^\W_])"
HOURS = re.compile(
    rf"{_EDGE}(?P<low>{_ONE})(?:\s?(?:-|to|or|and)\s?(?P<high>{_ONE}))?[\s-]?"
    rf"(?P<unit>hours?|hrs?|h|minutes?|mins?|min|days?|full\sdays?){_STOP}"
    rf"(?P<half>\sand\sa\shalf{_STOP})?"
)
EACH = re.compile(
    rf"{_EDGE}(?:per|a|an|each|every|/)\s?(?P<each>day|weekday|working\sday|evening|morning|night"
    r"|week|weekend|month|fortnight|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?"
    rf"{_STOP}|{_EDGE}(?P<adverb>daily|weekly|monthly|fortnightly|nightly){_STOP}|/(?P<short>week|wk|day){_STOP}"
)
TIMES = re.compile(
    rf"{_EDGE}(?:(?P<count>{_MANY})\s?(?:x|times|sessions?|evenings?|mornings?|afternoons?|days?|shifts?)"
    rf"|(?P<adverb>once|twice)|x\s?(?P<by>\d{{1,2}})){_STOP}"
)
A_WEEK = re.compile(rf"{_EDGE}(?:a|per|each|every)\sweek{_STOP}|weekly")
BOUNDLESS = re.compile(
    rf"{_EDGE}(?:per|each|every|an?)\s(?!week|day|month|evening|morning)[a-z]{{3,}}+"
)
PER_WEEK = {
    "day": 7.0, "daily": 7.0, "night": 7.0, "nightly": 7.0, "evening": 7.0, "morning": 7.0,
    "weekday": 5.0, "working day": 5.0, "week": 1.0, "wk": 1.0, "weekly": 1.0, "weekend": 1.0,
    "fortnight": 0.5, "fortnightly": 0.5, "month": 12 / 52, "monthly": 12 / 52,
}  # fmt: skip
"""How often in a week; a day of the week is once."""
HOURS_OF = {"h": 1.0, "m": 1 / 60, "d": 7.0}
"""Hours in a unit, by its first letter; a day of work is seven."""


@dataclass(frozen=True, slots=True)
class Effort:
    """An estimate in hours: from, to, once or in each week."""

    low: float
    high: float
    rhythm: Literal["once", "week"]


def read_effort(text: str) -> Effort | None:
    """The effort that a text of small letters states; ``None`` where it cannot be read for sure."""
    found = list(islice(HOURS.finditer(text), 2))
    if not found:
        return None
    meant = found[: 2 if _goes_on(text, found) else 1]
    low, high = map(sum, zip(*map(_hours, meant), strict=True))
    rest = text[: found[0].start()] + " " + text[meant[-1].end() :]
    each = EACH.search(text, found[0].end()) or EACH.search(text)
    times = _times(rest)
    if each is None:
        if BOUNDLESS.search(rest):
            return None  # so much for each application: how many there are is not said
        return Effort(low * times, high * times, "once")
    word = next(filter(None, each.groups()))
    often = PER_WEEK.get(word, 1.0)
    if times > 1 and (often == 1.0 or A_WEEK.search(text)):
        often = times
    return Effort(low * often, high * often, "week")


def _goes_on(text: str, found: list[re.Match[str]]) -> bool:
    """Whether *1 hour 30 minutes* is meant."""
    if len(found) < 2:
        return False
    between = text[found[0].end() : found[1].start()].strip()
    return between in ("", "and") and found[0]["unit"][0] == "h" and found[1]["unit"][0] == "m"


def _hours(found: re.Match[str]) -> tuple[float, float]:
    unit = found["unit"].removeprefix("full ")[0]
    low = _number(found["low"]) + (0.5 if found["half"] else 0)
    high = low if found["high"] is None else _number(found["high"])
    return low * HOURS_OF[unit], max(low, high) * HOURS_OF[unit]


def _number(text: str) -> float:
    text = text.strip()
    half = 0.5 if text.endswith("and a half") else 0.0
    word = text.removesuffix("and a half").strip()
    if word.startswith("half"):
        return 0.5
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word] + half
    return float(word.replace(",", ".")) + half


def _times(rest: str) -> float:
    found = TIMES.search(rest)
    if found is None:
        return 1.0
    if found["adverb"]:
        return 2.0 if found["adverb"] == "twice" else 1.0
    return _number(found["count"] or found["by"])


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    criteria=("realism",),
    parameters=(
        Parameter("end", "high", "which end of a range is compared", one_of=("low", "high")),
        Parameter("slack", 0.0, "share of the stated hours by which they may be exceeded", 0, 5),
    ),
    reads="reading",
)
def plan_efforts(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Reads estimates of effort, and holds their sum against the hours a week that are stated."""
    plan = reading.item
    assert isinstance(plan, Plan)
    stated = [one for one in reading.of("action") if one.name.endswith(".effort_estimate")]
    read = [(one, read_effort(reading.low(one))) for one in stated]
    known = [(part, effort) for part, effort in read if effort is not None]
    unread = len(plan.actions) - len(known)
    hours = None if plan.profile.hours_per_week is None else float(plan.profile.hours_per_week)
    weeks = None if plan.profile.timeframe_weeks is None else float(plan.profile.timeframe_weeks)
    reason = _reason(known, hours)
    if reason:
        yield Signal(NAME, "effort_in_total", criterion="realism", not_measured=reason)
        yield Signal(NAME, "effort_of_an_action", criterion="realism", not_measured=reason)
        return
    assert hours is not None
    week = Week(hours * (1 + parameters["slack"]), weeks, parameters["end"])
    yield _in_total(reading, known, unread, week)
    yield _each(reading, known, unread, week)


def _reason(known: list[tuple[Part, Effort]], hours: float | None) -> str:
    if hours is None:
        return "the profile states no hours a week"
    return "" if known else "no estimate of effort could be read"


class Week(NamedTuple):
    """What efforts are held against."""

    limit: float
    """Hours a week that are there."""
    weeks: float | None
    """Of the timeframe, if it is stated."""
    end: str
    """Which end of a range counts."""

    def size(self, effort: Effort) -> float:
        """The hours of an effort, each week or once."""
        return effort.high if self.end == "high" else effort.low

    def share(self, effort: Effort) -> float | None:
        """Hours in each week of the timeframe; ``None`` where that needs a timeframe."""
        if effort.rhythm == "week":
            return self.size(effort)
        return self.size(effort) / self.weeks if self.weeks else None


def _in_total(
    reading: Reading, known: list[tuple[Part, Effort]], unread: int, week: Week
) -> Signal:
    sizes = [(part, week.share(effort)) for part, effort in known]
    counted = [(part, size) for part, size in sizes if size is not None]
    total = sum(size for _, size in counted)
    left_out = unread + len(sizes) - len(counted)
    beyond = total > week.limit
    return Signal(
        NAME,
        "effort_in_total",
        measured=round(total, 2),
        threshold=f"> {week.limit:g} hours a week",
        # what could not be read can only add to the sum
        exceeded=True if beyond else None if left_out else False,
        criterion="realism",
        spans=tuple(reading.span(part, 0, len(part.text)) for part, _ in counted),
        suggestion=Hint("realism", f"{total:g} hours a week are planned, {week.limit:g} are there")
        if beyond
        else None,
        note=f"hours a week, {week.end} end of ranges"
        + (f"; {left_out} actions could not be counted" if left_out else ""),
    )


def _each(reading: Reading, known: list[tuple[Part, Effort]], unread: int, week: Week) -> Signal:
    large = []
    for part, effort in known:
        there = week.limit if effort.rhythm == "week" else week.limit * (week.weeks or 1)
        if week.size(effort) > there:
            large.append(part)
    numbers = ", ".join(str(part.number + 1) for part in large)
    return Signal(
        NAME,
        "effort_of_an_action",
        measured=len(large),
        threshold="> hours that are there",
        exceeded=True if large else None if unread else False,
        criterion="realism",
        spans=tuple(reading.span(part, 0, len(part.text)) for part in large),
        suggestion=Hint("realism", f"more hours than there are: action {numbers}")
        if large
        else None,
        note=f"{unread} actions could not be read" if unread else "",
    )
