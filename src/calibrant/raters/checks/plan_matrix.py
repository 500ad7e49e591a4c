"""The SMART matrix: for every action, which of the five criteria its words meet.

A cell says that something is there: a concrete verb, a number, an estimate of effort, a deadline,
a link to the goal. Whether it is good is for people to say; no level is ever suggested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from calibrant.core.item import Plan
from calibrant.core.parts import Part
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.plan_deadlines import states_deadline
from calibrant.raters.checks.plan_efforts import read_effort
from calibrant.raters.checks.plan_quantities import amounts, confidence, measures
from calibrant.raters.checks.reading import Hit, Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal, Span
from calibrant.raters.checks.text import WORD

NAME, VERBS, LINKS = "plan_matrix", "plan-verbs-en", "plan-links-en"
CRITERIA = ("specific", "measurable", "achievable", "relevant", "time_bound")


class Words(NamedTuple):
    """One action: its texts by their names, and what lexicons found in them."""

    texts: dict[str, Part]
    """By name: ``action``, ``metric``, ``deadline`` and so on."""
    verbs: list[Hit]
    """In the action itself."""
    links: list[Hit]
    """In the reason."""


def words_of(reading: Reading, count: int) -> list[Words]:
    """The words of so many actions."""
    out = [Words({}, [], []) for _ in range(count)]
    for part in reading.of("action"):
        out[part.number].texts[part.name.rpartition(".")[2]] = part
    for hit in reading.hits(VERBS, "action"):
        if hit.part.name.endswith("].action"):
            out[hit.part.number].verbs.append(hit)
    for hit in reading.hits(LINKS, "action"):
        if hit.part.name.endswith("].rationale"):
            out[hit.part.number].links.append(hit)
    return out


_COMMON = frozenset(
    (
        "a", "an", "and", "as", "at", "be", "by", "for", "from", "get", "have", "i", "in", "is",
        "it", "job", "jobs", "me", "my", "new", "of", "on", "or", "some", "that", "the", "this",
        "to", "want", "with", "work", "you", "your", "can", "find", "become", "would", "like",
    )
)  # fmt: skip
"""Words of a goal that tie nothing to it."""


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    criteria=("smart_adherence",),
    parameters=(Parameter("share", 1.0, "share of actions that should meet a criterion", 0, 1),),
    lexicons=(VERBS, LINKS),
    reads="reading",
)
def plan_matrix(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Shows which of the five SMART criteria the words of each action meet."""
    plan = reading.item
    assert isinstance(plan, Plan)
    outside = reading.uncovered(reading.of("action"))
    if outside:
        for name in CRITERIA:
            yield Signal(NAME, name, criterion="smart_adherence", not_measured=NOT_COVERED)
        return
    fields = words_of(reading, len(plan.actions))
    cells = {name: [CELLS[name](reading, one) for one in fields] for name in CRITERIA}
    for name, row in cells.items():
        yield _row(name, row, parameters["share"])
    letters = zip("SMART", CRITERIA, strict=True)
    columns = [
        ["." if span is None else letter for span in cells[name]] for letter, name in letters
    ]
    yield Signal(
        NAME,
        "matrix",
        measured=" ".join("".join(one) for one in zip(*columns, strict=True)),
        criterion="smart_adherence",
        note="one word an action, in order; a dot stands for what was not found",
    )


def _row(name: str, row: list[Span | None], least: float) -> Signal:
    missing = [str(at) for at, span in enumerate(row, 1) if span is None]
    share = 1 - len(missing) / len(row)
    return Signal(
        NAME,
        name,
        measured=round(share, 4),
        threshold=f"< {least:g}",
        exceeded=share < least,
        criterion="smart_adherence",
        spans=tuple(span for span in row if span is not None),
        suggestion=Hint("smart_adherence", f"{SOUGHT[name]}: not in action {', '.join(missing)}")
        if share < least
        else None,
        note=f"share of actions with {SOUGHT[name]}",
    )


def specific(reading: Reading, words: Words) -> Span | None:
    """A concrete verb; one that does not say what to do counts only with a number after it."""
    verbs = words.verbs
    concrete = next((hit for hit in verbs if hit.label == "concrete"), None)
    if concrete is None:
        return None
    vague = verbs[0].label == "vague" or verbs[0].start < concrete.start
    if vague and not amounts(reading.low(concrete.part)):
        return None
    return concrete.span


def measurable(reading: Reading, words: Words) -> Span | None:
    """A number or a rhythm in what is measured, in the target, or in the action itself."""
    for name in ("target", "metric", "action"):
        part = words.texts.get(name)
        found = measures(reading.low(part)) if part is not None else []
        if part is not None and found:
            return reading.span(part, *found[0])
    return None


def achievable(reading: Reading, words: Words) -> Span | None:
    """An estimate of the effort that can be read, or a stated confidence."""
    part = words.texts.get("effort_estimate")
    if part is not None and read_effort(reading.low(part)) is not None:
        return reading.span(part, 0, len(part.text))
    for part in words.texts.values():
        found = confidence(reading.low(part))
        if found:
            return reading.span(part, *found[0])
    return None


def relevant(reading: Reading, words: Words) -> Span | None:
    """A reason that names the goal, or says outright what the action is good for."""
    if words.links:
        return words.links[0].span
    goal = reading.part("profile.goal")
    wanted = set(WORD.findall(reading.low(goal))) - _COMMON if goal is not None else set()
    for part in (words.texts.get("rationale"), words.texts["action"]):
        if part is not None:
            for found in WORD.finditer(reading.low(part)):
                if found.group() in wanted:
                    return reading.span(part, *found.span())
    return None


def time_bound(reading: Reading, words: Words) -> Span | None:
    """A deadline, in its own field or in the action."""
    for name in ("deadline", "action", "target"):
        part = words.texts.get(name)
        found = None if part is None else states_deadline(reading.low(part))
        if part is not None and found is not None:
            return reading.span(part, *found)
    return None


CELLS: dict[str, Callable[[Reading, Words], Span | None]] = {
    "specific": specific,
    "measurable": measurable,
    "achievable": achievable,
    "relevant": relevant,
    "time_bound": time_bound,
}
SOUGHT = {
    "specific": "a concrete verb",
    "measurable": "a measure in numbers",
    "achievable": "an estimate of effort",
    "relevant": "a link to the goal",
    "time_bound": "a deadline",
}
"""What each criterion looks for, in words."""
