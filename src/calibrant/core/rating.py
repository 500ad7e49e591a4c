"""One rater's answers about one item, read from whatever was handed in.

The reader is the closed door of the system: an answer is on the scale, NA, or an error with
its reason; a name that is no criterion or red flag is a fault, never passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from calibrant.core.answer import ERROR, MISSING, NA, Abstained, Answer, Given, NotApplicable
from calibrant.core.criterion import Criterion
from calibrant.core.document import holds
from calibrant.core.errors import Fault, RecordError, UnknownName
from calibrant.core.rubric import Rubric

RaterKind: TypeAlias = Literal["HUMAN", "LLM", "CODE"]
RATER_KINDS: tuple[RaterKind, ...] = get_args(RaterKind)
FlagState: TypeAlias = Literal["raised", "confirmed", "rejected"]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one rater answered about one item, criterion by criterion."""

    answers: Mapping[str, Answer]
    flags: tuple[str, ...] = ()
    """Ids of the red flags that stand (raised or confirmed), in the rubric's order."""
    measures: Mapping[str, int] = field(default_factory=dict)
    """What code counted in the item, for preconditions; empty when the item is not at hand."""


def read_answer(rubric: Rubric, criterion: Criterion, raw: object) -> Answer:
    """The answer that ``raw`` is, or an abstention that says why it is none."""
    scale = rubric.scale_of(criterion)
    value = scale.parse(raw)
    if value is not None:
        return Given(value)
    word = raw.strip().upper() if isinstance(raw, str) else None
    if word == NA and criterion.na.policy != "excluded":
        return NotApplicable()
    if word == ERROR:
        return Abstained("the rater reported an error", as_text(raw))
    if raw is None or word == "":
        return Abstained("empty answer", None if raw is None else str(raw))
    return Abstained("not on the scale", as_text(raw))


def as_text(raw: object) -> str:
    """What was handed in, as text of bearable length."""
    try:
        return str(raw)[:200]
    except ValueError:  # a number with more digits than Python prints
        return "a number too long to print"


def read_sheet(
    rubric: Rubric,
    answers: Mapping[str, object],
    flags: Iterable[object] = (),
    measures: Mapping[str, int] | None = None,
) -> Sheet:
    """A sheet from raw answers by criterion name; raises ``RecordError`` with every fault."""
    faults: list[Fault] = []
    read: dict[str, Answer] = {}
    for name, raw in answers.items():
        try:
            criterion = rubric.criterion(name if isinstance(name, str) else repr(name))
        except UnknownName as error:
            faults.append(Fault(str(error), path=f"answers.{name}"[:200]))
            continue
        if criterion.id in read:
            faults.append(Fault(f"{criterion.id} is answered twice", path=f"answers.{name}"))
        read[criterion.id] = read_answer(rubric, criterion, raw)
    standing, flag_faults = read_flags(rubric, flags)
    faults += flag_faults
    if faults:
        raise RecordError(faults)
    complete = {name: read.get(name, MISSING) for name in rubric.criterion_ids}
    return Sheet(complete, standing, measures or {})


def read_flags(rubric: Rubric, flags: Iterable[object]) -> tuple[tuple[str, ...], list[Fault]]:
    """The red flags that stand, and what could not be read.

    A flag is its name, or a mapping with ``id`` (or ``flag``) and an optional ``state``; a
    rejected flag does not stand.
    """
    standing: set[str] = set()
    faults: list[Fault] = []
    for flag in [flags] if isinstance(flags, str) else flags:
        entry = flag if isinstance(flag, Mapping) else {"id": flag}
        name, state = entry.get("id", entry.get("flag")), entry.get("state", "raised")
        if not isinstance(name, str) or state not in get_args(FlagState):
            faults.append(Fault(f"cannot read {str(flag)[:80]!r} as a red flag", path="flags"))
            continue
        try:
            found = rubric.red_flag(name)
        except UnknownName as error:
            faults.append(Fault(str(error), path="flags"))
            continue
        if state != "rejected":
            standing.add(found.id)
    return tuple(flag.id for flag in rubric.red_flags or () if flag.id in standing), faults


def effective_answers(rubric: Rubric, sheet: Sheet) -> dict[str, Answer]:
    """The answers after the rubric's preconditions: NA where code decides, whatever was answered.

    A precondition that cannot be checked, because the item is not at hand, changes nothing.
    """
    effective = dict(sheet.answers)
    for criterion in rubric.criteria:
        condition = criterion.precondition
        if condition is None or condition.metric not in sheet.measures:
            continue
        if holds(sheet.measures[condition.metric], condition.op, condition.value):
            effective[criterion.id] = NotApplicable(condition.reason)
    return effective
