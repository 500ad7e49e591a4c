"""Deadlines: when an action is due, read from words, and how that fits the timeframe.

Weeks and days count from the start of the plan. A date has a place among them only where the
plan states its start; without one it is not measured. Nothing here knows what day it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from calibrant.core.item import Plan
from calibrant.core.parts import Part
from calibrant.raters.checks.plan_quantities import NUMBER_WORDS
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal

NAME = "plan_deadlines"
NO_START = "dates are given, and the plan states no start"
MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
         "august aug", "september sept sep", "october oct", "november nov", "december dec"), 1
    )
    for name in names.split()
}  # fmt: skip
_EDGE, _STOP = r"(?<![^\W_])", r"(?![^\W_])"
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_COUNT = rf"(?:\d{{1,3}}|{'|'.join(NUMBER_WORDS)})"
ISO = re.compile(rf"{_EDGE}(\d{{4}})-(\d{{2}})-(\d{{2}}){_STOP}")
SLASHED = re.compile(rf"{_EDGE}(\d{{1,2}})[/.](\d{{1,2}})[/.](\d{{4}}){_STOP}")
DAY_FIRST = re.compile(
    rf"{_EDGE}(\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?({_MONTH})\.?(?:,?\s(\d{{4}}))?{_STOP}"
)
MONTH_FIRST = re.compile(
    rf"{_EDGE}({_MONTH})\.?\s(\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s(\d{{4}}))?{_STOP}"
)
NUMBERED = re.compile(
    rf"{_EDGE}(day|week|wk|month)s?\s?({_COUNT})(?:\s?(?:-|to|and)\s?({_COUNT}))?{_STOP}"
)
WITHIN = re.compile(
    rf"{_EDGE}(?:within|in|after|over|for|inside)\s(?:the\s)?(?:next\s|first\s|about\s)?"
    rf"({_COUNT})(?:\s?(?:-|to)\s?({_COUNT}))?[\s-]?(day|week|month)s?{_STOP}"
    rf"|{_EDGE}({_COUNT})[\s-](day|week|month)s?\s(?:from|after|into)(?:\snow|\sthe\sstart|\sstart)?{_STOP}"
)
_WEEKDAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
SOON = re.compile(
    rf"{_EDGE}(?<!every\s)(?<!each\s)(?:(today|tonight)|(tomorrow)"
    rf"|({_WEEKDAY}|this\sweek(?:end)?|the\sweekend|end\sof\s(?:the\s)?week)"
    rf"|(next\s(?:week(?:end)?|{_WEEKDAY}))){_STOP}"
)
UNPLACED = re.compile(
    rf"{_EDGE}(?:end\sof\s(?:the\s|this\s|next\s)?(?:month|year|term|quarter)|next\smonth"
    rf"|(?:by|before|in|early|mid|late|end\sof)[\s-](?:{_MONTH})){_STOP}"
)
"""Deadlines that have no place in weeks, whatever the start."""
DAYS_IN = {"day": 1, "week": 7, "wk": 7, "month": 30}


class Due(NamedTuple):
    """When an action is due: days after the start, or a day of the calendar."""

    start: int
    end: int
    days: int | None = None
    day: date | None = None
    month_day: tuple[int, int] | None = None
    """Month and day, where no year is stated."""

    def after(self, begin: date | None) -> int | None:
        """Days after the start; ``None`` where the start would have to be known."""
        if self.days is not None or begin is None:
            return self.days
        if self.day is not None:
            return (self.day - begin).days
        assert self.month_day is not None
        for year in (begin.year, begin.year + 1):
            day = _date(year, *self.month_day)
            if day is not None and day >= begin:
                return (day - begin).days
        return None


def read_deadline(text: str) -> Due | None:
    """When a text of small letters says that something is due; ``None`` if it does not say."""
    found = next(_dates(text), None) or next(_counted(text), None)
    if found is not None:
        return found
    soon = SOON.search(text)
    if soon is None:
        return None
    today, tomorrow, week, _ = soon.groups()
    return Due(*soon.span(), days=0 if today else 1 if tomorrow else 7 if week else 14)


def states_deadline(text: str) -> tuple[int, int] | None:
    """Where a text of small letters says when something is due, placed in the plan or not."""
    due = read_deadline(text)
    if due is not None:
        return due.start, due.end
    found = SLASHED.search(text) or UNPLACED.search(text)
    return None if found is None else found.span()


def _dates(text: str) -> Iterator[Due]:
    for found in ISO.finditer(text):
        day = _date(*map(int, found.groups()))
        if day is not None:
            yield Due(*found.span(), day=day)
    for found in SLASHED.finditer(text):
        first, second, year = map(int, found.groups())
        # 03/04 may be either: only where one of them cannot be a month is it clear
        pairs = {(first, second), (second, first)} if first != second else {(first, second)}
        days = [day for pair in pairs if (day := _date(year, *pair)) is not None]
        if len(days) == 1:
            yield Due(*found.span(), day=days[0])
    for pattern, order in ((DAY_FIRST, (1, 0)), (MONTH_FIRST, (0, 1))):
        for found in pattern.finditer(text):
            month, day_of = MONTHS[found[order[0] + 1]], int(found[order[1] + 1])
            if found[3] is None:
                if _date(2024, month, day_of) is not None:
                    yield Due(*found.span(), month_day=(month, day_of))
            elif (day := _date(int(found[3]), month, day_of)) is not None:
                yield Due(*found.span(), day=day)


def _counted(text: str) -> Iterator[Due]:
    last: Due | None = None
    for found in NUMBERED.finditer(text):
        count = _number(found[3] or found[2])
        due = Due(*found.span(), days=count * DAYS_IN[found[1]])
        if last is None or (due.days or 0) > (last.days or 0):
            last = due
    if last is not None:
        yield last
    for found in WITHIN.finditer(text):
        low, high, unit, other, other_unit = found.groups()
        count = _number(high or low or other)
        yield Due(*found.span(), days=count * DAYS_IN[unit or other_unit])


def _number(text: str) -> int:
    return NUMBER_WORDS[text] if text in NUMBER_WORDS else int(text)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def stated_start(plan: Plan, fields: Iterable[str]) -> date | None:
    """The day on which the plan says that it starts, as an ISO date in one of these fields."""
    for more in (plan.more, plan.profile.more):
        for name in fields:
            found = ISO.fullmatch(_text(more, name))
            if found is not None:
                return _date(*map(int, found.groups()))
    return None


def _text(more: Mapping[str, object], name: str) -> str:
    value = more.get(name)
    return value.isoformat() if isinstance(value, date) else value if isinstance(value, str) else ""


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    criteria=("realism", "smart_adherence", "usefulness"),
    parameters=(
        Parameter(
            "start_fields",
            ("start_date", "start", "plan_start"),
            "fields of the record that may state the first day of the plan",
        ),
        Parameter("least", 3, "fewer deadlines than these show no sameness", 2),
    ),
    reads="reading",
)
def plan_deadlines(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Reads deadlines, and holds them against the timeframe, against each other and in order."""
    plan = reading.item
    assert isinstance(plan, Plan)
    parts = [one for one in reading.of("action") if one.name.endswith(".deadline")]
    read = [(part, read_deadline(reading.low(part))) for part in parts]
    begin = stated_start(plan, parameters["start_fields"])
    placed = [(part, due, due.after(begin)) for part, due in read if due is not None]
    known = [(part, due, days) for part, due, days in placed if days is not None]
    dated = any(days is None for _, _, days in placed)
    yield _outside(reading, plan, known, len(plan.actions), dated)
    yield _same(reading, parts, parameters["least"])
    yield _order(reading, known, dated)


Known = list[tuple[Part, Due, int]]


def _outside(reading: Reading, plan: Plan, known: Known, actions: int, dated: bool) -> Signal:
    name, weeks = "deadlines_outside_timeframe", plan.profile.timeframe_weeks
    if weeks is None or not known:
        reason = "the profile states no timeframe" if weeks is None else "no deadline could be read"
        if weeks is not None and dated:
            reason = NO_START
        return Signal(NAME, name, criterion="realism", not_measured=reason)
    limit = timedelta(weeks=float(weeks)).days
    late = [(part, due) for part, due, days in known if not 0 <= days <= limit]
    unread = actions - len(known)
    numbers = ", ".join(str(part.number + 1) for part, _ in late)
    return Signal(
        NAME,
        name,
        measured=len(late),
        threshold=f"> {weeks:g} weeks",
        exceeded=True if late else None if unread else False,
        criterion="realism",
        spans=tuple(reading.span(part, due.start, due.end) for part, due in late),
        suggestion=Hint("realism", f"due outside of the timeframe: action {numbers}")
        if late
        else None,
        note=f"{unread} of {actions} actions have no deadline that could be placed"
        if unread
        else "",
    )


def _same(reading: Reading, parts: list[Part], least: int) -> Signal:
    said = {" ".join(reading.low(part).split()) for part in parts}
    same = len(parts) >= least and len(said) == 1
    return Signal(
        NAME,
        "same_deadline_for_all",
        measured=same,
        exceeded=same if len(parts) >= least else None,
        criterion="smart_adherence",
        spans=tuple(reading.span(part, 0, len(part.text)) for part in parts) if same else (),
        suggestion=Hint("smart_adherence", "all actions are due at the same time")
        if same
        else None,
    )


def _order(reading: Reading, known: Known, dated: bool) -> Signal:
    name = "deadlines_out_of_order"
    if len(known) < 2:
        reason = NO_START if dated else "fewer than two deadlines could be read"
        return Signal(NAME, name, criterion="usefulness", not_measured=reason)
    pairs = [(first, second) for first, second in pairwise(known) if second[2] < first[2]]
    told = ", ".join(f"{one[0].number + 1} and {two[0].number + 1}" for one, two in pairs)
    spans = (reading.span(part, due.start, due.end) for pair in pairs for part, due, _ in pair)
    return Signal(
        NAME,
        name,
        measured=len(pairs),
        threshold=">= 1",
        exceeded=bool(pairs),
        criterion="usefulness",
        spans=tuple(dict.fromkeys(spans)),
        suggestion=Hint("usefulness", f"the later action is due first: {told}") if pairs else None,
        note="pairs of neighbours of which the second is due before the first",
    )
