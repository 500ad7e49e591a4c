"""A reviewer's handbook from a rubric: every rule, anchor and piece of advice, as blocks.

What the rubric says is turned into a short list of plain blocks here; ``to_markdown`` and
``to_html`` only draw them. Nothing of the rubric is shown that the rubric does not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from calibrant.core.criterion import Criterion, Dimensions, Example, WeightedCategories
from calibrant.core.process import Note, Phase
from calibrant.core.rubric import Rubric
from calibrant.core.scale import ChoiceScale

UNSTATED = "not stated"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; ``id`` makes it a place to link to."""

    level: int
    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text, with a few words before it that stand out."""

    text: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; each entry with a few words before it that stand out."""

    entries: tuple[tuple[str, str], ...]
    """Lead and text."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """An example, approved or disputed."""

    label: str
    lines: tuple[tuple[str, str], ...]
    """Name of the part and its text."""
    disputed: bool = False


Block: TypeAlias = Heading | Paragraph | Bullets | Grid | Quote


def handbook(rubric: Rubric) -> list[Block]:
    """The whole handbook."""
    return [
        *_front(rubric),
        *_verdict(rubric),
        *_red_flags(rubric),
        *_criteria(rubric),
        *_advice(rubric),
        *_process(rubric),
        *_history(rubric),
    ]


def _front(rubric: Rubric) -> Iterator[Block]:
    yield Heading(1, rubric.title)
    yield Paragraph(rubric.summary)
    yield Grid(
        ("", ""),
        (
            ("Rubric", rubric.name),
            ("Content hash", rubric.hash),
            (
                "Judges",
                f"a {rubric.item_type}" if rubric.item_type != "free" else "free-form items",
            ),
            ("Scope", rubric.scope or UNSTATED),
            ("Stated version", rubric.stated_version or UNSTATED),
            ("Stated date", rubric.stated_date or UNSTATED),
            ("Independent rating", rubric.independence or UNSTATED),
        ),
    )
    if rubric.reviewers:
        yield Heading(2, "Who rates", "reviewers")
        yield _notes(rubric.reviewers)


def _verdict(rubric: Rubric) -> Iterator[Block]:
    yield Heading(2, "How answers become a verdict", "verdict")
    rule = rubric.aggregation
    if isinstance(rule, WeightedCategories):
        yield Paragraph(
            "Each category is the mean of its criteria; the score is the weighted sum of the "
            "categories. It is computed exactly; rounding is for display only."
        )
        yield Grid(
            ("Category", "Weight", "Criteria"),
            tuple(
                (
                    one.title,
                    "gate" if one.weight is None else str(one.weight),
                    ", ".join(criterion.id for criterion in rubric.criteria_of(one.id)),
                )
                for one in rubric.categories or ()
            ),
        )
        worth = [("NA, where it is valid", str(rule.na_counts))]
        worth += [("NA, where it is invalid", str(rule.invalid_na_counts))]
        worth += [("An error, or a missing answer", str(rule.error_counts))]
        yield Grid(("Answer", "Counts"), (*_worths(rubric), *worth))
    else:
        yield Paragraph("Scores stand side by side; mean and minimum only describe them.")
    yield Paragraph(_pass_mark(rule), "Pass mark: ")
    for gate in rubric.gates or ():
        criteria = ", ".join(gate.criteria)
        fails = ", ".join(gate.fails_on)
        yield Paragraph(
            f"{gate.text} (on {criteria}: {fails}, an error, a missing answer or an invalid NA)",
            f"Gate — {gate.title}: ",
        )


def _worths(rubric: Rubric) -> Iterator[tuple[str, str]]:
    for scale in rubric.scales:
        if isinstance(scale, ChoiceScale):
            for choice in scale.values:
                yield f"{choice.value}: {choice.meaning}", str(choice.points)
        else:
            steps = scale.maximum - scale.minimum
            yield (
                f"{scale.minimum} to {scale.maximum}",
                f"(answer − {scale.minimum}) / {steps}: from 0 to 1 in equal steps",
            )


def _pass_mark(rule: WeightedCategories | Dimensions) -> str:
    if rule.pass_mark is None:
        return UNSTATED
    what = "score" if isinstance(rule, WeightedCategories) else rule.pass_mark.of
    text = f"{what} {rule.pass_mark.op} {rule.pass_mark.value}"
    if isinstance(rule, WeightedCategories) and rule.minimum_assessed_weight is not None:
        text += f", with at least {rule.minimum_assessed_weight} of the weight assessed"
    return text


def _red_flags(rubric: Rubric) -> Iterator[Block]:
    if not rubric.red_flags:
        return
    yield Heading(2, "Red flags", "red-flags")
    effects = {
        "force_scores": "forces every score to {}",
        "reject": "rejects the item",
        "indicate": "is an indicator; it changes no score",
    }
    for flag in rubric.red_flags:
        effect = effects[flag.effect].format(flag.forced_value)
        yield Heading(3, flag.title, f"flag-{flag.id}")
        yield Paragraph(f"{flag.text} It {effect}.")
        quote = "the item and the profile" if flag.evidence == "item_and_profile" else "the item"
        entries = [("For example: ", one) for one in flag.examples]
        entries += [("But: ", one) for one in flag.exceptions]
        yield Bullets((*entries, ("Evidence: ", f"quote {quote}.")))


def _criteria(rubric: Rubric) -> Iterator[Block]:
    yield Heading(2, "Criteria", "criteria")
    grouped = rubric.categories or ()
    for category in grouped:
        weight = "gate" if category.weight is None else f"weight {category.weight}"
        yield Heading(3, f"{category.title} ({weight})", f"category-{category.id}")
        yield from (Paragraph(text) for text in (category.question, category.note) if text)
        for criterion in rubric.criteria_of(category.id):
            yield from _criterion(rubric, criterion, 4)
    for criterion in rubric.criteria:
        if criterion.category is None:
            yield from _criterion(rubric, criterion, 3)


def _criterion(rubric: Rubric, criterion: Criterion, level: int) -> Iterator[Block]:
    yield Heading(level, f"{criterion.id} — {criterion.title}", f"criterion-{criterion.id}")
    yield Paragraph(criterion.question)
    if criterion.detail:
        yield Paragraph(criterion.detail)
    yield from _anchors(rubric, criterion)
    rules: list[tuple[str, str]] = [("NA: ", _na(criterion))]
    if criterion.precondition is not None:
        rule = criterion.precondition
        told = f"NA if {rule.metric} {rule.op} {rule.value}. {rule.reason}"
        rules.append(("Decided by code: ", told))
    rules += [("Also record: ", one.question) for one in criterion.sub_questions]
    if criterion.violation is not None:
        rules.append(("Fails on: ", _violation(criterion)))
    rules += [("Fails, for example: ", one) for one in criterion.failure_examples]
    rules += [(f"{note.title}: ", note.text) for note in criterion.considerations]
    rules += [(f"Tag {tag.title}: ", tag.text) for tag in criterion.tags]
    yield Bullets(tuple(rules))
    for one, value, example in rubric.examples():
        if one.id == criterion.id:
            yield _example(value, example)


def _anchors(rubric: Rubric, criterion: Criterion) -> Iterator[Block]:
    if not criterion.anchors:
        return
    rows = []
    order = [str(value) for value in rubric.scale_of(criterion).points_of_scale]
    for level in sorted(criterion.anchors, key=order.index, reverse=True):
        anchor = criterion.anchors[level]
        told = [anchor.text, *(f"• {sign}" for sign in anchor.signs)]
        band = anchor.band
        if band is not None:
            limits = {"≥": band.at_least, ">": band.above, "<": band.below, "≤": band.at_most}
            shares = [f"{sign} {_percent(n)}" for sign, n in limits.items() if n is not None]
            if band.at_most == 0:
                shares = [_percent(band.at_most)]
            told.append(f"Usually {', '.join(shares)}.")
        rows.append((level, anchor.label or "", "\n".join(told)))
    yield Grid(("Score", "", "What it means"), tuple(rows))


def _na(criterion: Criterion) -> str:
    policy = criterion.na
    if policy.policy == "valid":
        return f"valid. {policy.when}" if policy.when else "valid."
    if policy.policy == "invalid":
        return f"never right; it counts as a failure. {policy.reason}"
    return "not among the answers."


def _violation(criterion: Criterion) -> str:
    violation = criterion.violation
    if violation is None or violation.rule == "any":
        return "any single lapse."
    if violation.share is None:
        return "a pattern of lapses, not a single one."
    return f"a pattern of lapses: {_percent(violation.share)} or more."


def _percent(share: Decimal) -> str:
    return f"{(100 * share).normalize():f} %"


def _example(value: str, example: Example) -> Quote:
    parts = (
        ("Question", example.context),
        ("Response", example.response),
        ("", example.description),
        ("Why", example.why),
        ("Disputed", example.dispute),
    )
    lines = tuple((name, text) for name, text in parts if text is not None)
    return Quote(f"Example of {value}", lines, example.status == "disputed")


def _advice(rubric: Rubric) -> Iterator[Block]:
    guidance = rubric.guidance
    for title, notes in (
        ("Before you start", guidance.before if guidance else None),
        ("While you rate", guidance.during if guidance else None),
        ("After a round", guidance.after if guidance else None),
        ("Pitfalls", rubric.pitfalls),
        ("Difficult cases", rubric.difficult_cases),
        ("Principles", rubric.principles),
    ):
        if notes:
            yield Heading(2, title, title.lower().replace(" ", "-"))
            yield _notes(notes)
    for standard in rubric.standards or ():
        yield Heading(2, standard.title, f"standard-{standard.id}")
        yield Paragraph(standard.text, "Should: ")
        yield Bullets(tuple(("", rule) for rule in standard.rules))


def _notes(notes: Iterable[Note]) -> Bullets:
    return Bullets(tuple((f"{note.title}: ", note.text) for note in notes))


def _process(rubric: Rubric) -> Iterator[Block]:
    yield Heading(2, "Calibration, agreement, resolution", "process")
    yield Paragraph(_calibration(rubric), "Calibration: ")
    yield Paragraph(_agreement(rubric), "Agreement: ")
    yield Paragraph(_resolution(rubric), "Resolution: ")
    if rubric.phases:
        yield Heading(2, "Phases", "phases")
        yield Grid(
            ("Phase", "Weeks", "Items", "Tasks", "Begins and ends when"),
            tuple(
                (
                    phase.title,
                    f"{phase.weeks.first}–{phase.weeks.last}"
                    if phase.weeks.first != phase.weeks.last
                    else str(phase.weeks.first),
                    _items(phase.items),
                    "\n".join(phase.tasks),
                    _conditions(phase),
                )
                for phase in rubric.phases
            ),
        )


def _conditions(phase: Phase) -> str:
    """What lets a phase begin and end, a line each."""
    lines = [f"begins: {condition.replace('_', ' ')}" for condition in phase.entry]
    lines += ["regular check-ins"] if phase.check_ins else []
    lines += [f"ends: {condition.replace('_', ' ')}" for condition in phase.exit]
    return "\n".join(lines) or UNSTATED


def _items(count: object) -> str:
    minimum, maximum = getattr(count, "minimum", None), getattr(count, "maximum", None)
    if getattr(count, "all", False):
        return "all"
    if minimum is None and maximum is None:
        return UNSTATED
    same = ", the same for all" if getattr(count, "same_for_all", False) else ""
    return "–".join(str(n) for n in (minimum, maximum) if n is not None) + same


def _calibration(rubric: Rubric) -> str:
    one = rubric.calibration
    if one is None:
        return UNSTATED
    told = [one.onboarding]
    if one.items is not None:
        who = "All raters score" if one.raters == "all" else "Score"
        told.append(f"{who} the same {one.items} items first.")
    told += [
        f"Before: {one.before}." if one.before else None,
        "Every disagreement is discussed." if one.discuss else None,
        one.repeat,
    ]
    return " ".join(text for text in told if text)


def _agreement(rubric: Rubric) -> str:
    if rubric.agreement is None:
        return UNSTATED
    told = []
    for target in rubric.agreement.targets:
        when = {"two_complete_raters": " for two raters without gaps", "otherwise": " otherwise"}
        weights = f" ({target.weights} weights)" if target.weights else ""
        told.append(
            f"{target.coefficient.replace('_', ' ')}{weights} {target.op} {target.value}"
            f"{when.get(target.applies, '')}, decided on the {target.decided_on.replace('_', ' ')}"
            + (f" (the document calls this {target.stated_label})" if target.stated_label else "")
        )
    text = "; ".join(told) + "."
    if rubric.agreement.measured_on:
        text += f" Measured on: {rubric.agreement.measured_on.rstrip('.')}."
    overlap = rubric.agreement.overlap
    if overlap is not None:
        text += (
            f" Rated by two or more: {overlap.minimum} items or {_percent(overlap.share)} of the "
            "main set, whichever is more."
        )
    if rubric.agreement.when_low:
        steps = " → ".join(step.replace("_", " ") for step in rubric.agreement.when_low)
        text += f" When it is low: {steps}."
    return text


def _resolution(rubric: Rubric) -> str:
    one = rubric.resolution
    if one is None:
        return UNSTATED
    when = {
        "distance": f"scores that differ by {one.op} {one.value} are resolved",
        "difference": "any two answers that differ are resolved",
        "low_agreement": "cases of a criterion below its target are resolved",
    }[one.metric]
    by = ", then ".join(one.by) if one.by else UNSTATED
    final = one.final.replace("_", " ") if one.final else UNSTATED
    return f"{when}; by: {by}; final answer where nothing had to be resolved: {final}."


def _history(rubric: Rubric) -> Iterator[Block]:
    if not rubric.changelog:
        return
    yield Heading(2, "Version history", "history")
    yield Grid(
        ("Version", "Date", "Cause", "Changes"),
        tuple(
            (one.version, one.date or UNSTATED, (one.cause or UNSTATED).replace("_", " "), one.text)
            for one in rubric.changelog
        ),
    )
