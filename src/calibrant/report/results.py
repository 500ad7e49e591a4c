"""Parts about the items: verdicts and scores, criteria, safety."""

from __future__ import annotations

from collections.abc import Iterator

from calibrant.compare.blocks import Block
from calibrant.report.answer import undecided_why
from calibrant.report.charts import Bar, Bars, Histogram, Tone
from calibrant.report.findings import Findings
from calibrant.report.flags import RedFlagged, SafetyFailure
from calibrant.report.pieces import (
    Note,
    Paragraph,
    Part,
    Picture,
    Piece,
    Quoted,
    Quotes,
    Table,
    limited,
)
from calibrant.report.verdicts import CriterionAnswers, Scores, Share, Verdicts, share_of
from calibrant.report.wording import (
    command,
    cut,
    day,
    listed,
    many,
    number,
    percent,
    percents,
    plain,
    titled,
)

MOST_FLAGS = 20
"""Red flags shown with their words."""
MOST_QUOTES, QUOTE = 3, 400
"""Quotations of a flag, and signs of each."""
MOST_ITEMS = 25
"""Items of a list."""
_TONES: dict[str, Tone] = {"passed": "good", "failed": "bad", "undecided": "open"}


def verdicts(found: Findings) -> Part:
    """Verdicts and the distribution of scores."""
    return Part("verdicts", "Verdicts and scores", tuple(_verdicts(found)))


def _verdicts(found: Findings) -> Iterator[Piece]:
    told = found.verdicts
    if not told.items:
        yield Note("No verdicts yet: an item has one once a round that counts is closed.")
        return
    if told.pass_mark:
        yield Picture(_outcome_chart(found))
    source = f"the final answers to {many(told.items, 'item')} of rounds that count"
    rows = [
        (one.name, f"{one.count:,}", percent(one.share), percents(one.interval))
        for one in _outcomes(told)
    ]
    header = ("verdict", "items", "share", "95 % interval")
    yield Table(Block("Verdicts", header, rows), source, command(found, "verdicts"))
    why = undecided_why(told)
    if why:
        yield Note(f"Of the undecided: {why}.")
    if told.scores is not None:
        yield from _scores(found, told.scores)


def _outcomes(told: Verdicts) -> tuple[Share, ...]:
    """Verdicts in the words of the rubric: one without a pass mark passes nothing."""
    if told.pass_mark:
        return told.outcomes
    _, failed, undecided = told.outcomes
    return (
        share_of("rated in full; there is no pass mark", told.rated, told.items),
        share_of("failed by a gate or a red flag", failed.count, told.items),
        share_of("undecided", undecided.count - told.rated, told.items),
    )


def _outcome_chart(found: Findings) -> Bars:
    bars = tuple(
        Bar(one.name, one.share or 0.0, f"{one.count:,} · {percent(one.share)}", _TONES[one.name])
        for one in found.verdicts.outcomes
    )
    about = ", ".join(f"{one.label}: {one.text}" for one in bars)
    return Bars(key="verdicts", title="Verdicts", about=about, bars=bars, highest=1.0)


def _scores(found: Findings, scores: Scores) -> Iterator[Piece]:
    name = "score" if scores.name == "score" else "mean over criteria"
    mark = None if scores.mark is None else (scores.mark, f"pass mark {scores.mark:g}")
    middle = f"half of them lie from {scores.quartiles[0]:g} to {scores.quartiles[1]:g}"
    yield Picture(
        Histogram(
            key="scores",
            title=f"Distribution of the {name}",
            about=f"{many(scores.items, 'item')}, median {scores.median:g}; {middle}.",
            bins=tuple((one.low, one.high, one.count) for one in scores.bins),
            mark=mark,
        )
    )
    row = (
        f"{scores.items:,}",
        number(scores.mean, ".3f"),
        number(scores.median, ".3f"),
        f"{number(scores.quartiles[0], '.3f')} to {number(scores.quartiles[1], '.3f')}",
        f"{scores.lowest:g} to {scores.highest:g}",
        scores.pass_mark or "none",
    )
    header = ("items", "mean", "median", "middle half", "range", "pass mark")
    block = Block(f"The {name}, from {scores.limits[0]:g} to {scores.limits[1]:g}", header, [row])
    yield Table(block, "the same verdicts; scores are exact inside", command(found, "verdicts"))


# -- criteria


def criteria(found: Findings) -> Part:
    """What was answered, criterion by criterion."""
    return Part("criteria", "Criterion by criterion", tuple(_criteria(found)))


def _criteria(found: Findings) -> Iterator[Piece]:
    told = found.verdicts
    if not told.items:
        yield Note("No final answers yet.")
        return
    failing = [one for one in told.criteria if one.failing]
    if failing:
        yield Picture(_failing_chart(found, failing))
    measured = [one for one in told.criteria if one.mean is not None]
    if measured:
        yield Picture(_mean_chart(found, measured))
    scales: dict[tuple[str, ...], list[CriterionAnswers]] = {}
    for one in told.criteria:
        names = tuple(name for name in one.answers if name != "NA")
        scales.setdefault(names, []).append(one)
    for names, mine in scales.items():
        yield _answers(found, names, mine)


def _failing_chart(found: Findings, failing: list[CriterionAnswers]) -> Bars:
    ranked = sorted(failing, key=lambda one: -one.failed)
    items = found.verdicts.items
    bars = tuple(
        Bar(
            titled(found, one.criterion) + (" · gate" if one.gate else ""),
            one.failed / items,
            f"{one.failed:,} · {percent(one.failed / items)}",
            "bad" if one.gate else "plain",
        )
        for one in ranked
    )
    worst = ", ".join(f"{one.label} {one.text}" for one in bars[:3])
    return Bars(
        key="failing",
        title="Items that failed each criterion, most often first",
        about=f"Of {many(items, 'item')}; first come {worst}.",
        bars=bars,
        highest=max(0.01, *(one.value for one in bars)),
    )


def _mean_chart(found: Findings, measured: list[CriterionAnswers]) -> Bars:
    ranked = sorted(measured, key=lambda one: one.mean or 0.0)
    high = max(float(name) for one in measured for name in one.answers if name != "NA")
    bars = tuple(
        Bar(titled(found, one.criterion), one.mean or 0.0, f"{number(one.mean)} of {high:g}")
        for one in ranked
    )
    about = ", ".join(f"{one.label} {one.text}" for one in bars)
    return Bars(
        key="means",
        title="Mean of each criterion, lowest first",
        about=about,
        bars=bars,
        highest=high,
    )


def _answers(found: Findings, names: tuple[str, ...], mine: list[CriterionAnswers]) -> Table:
    """Criteria of one scale, with a column for each answer."""
    na = any("NA" in one.answers for one in mine)
    means = any(one.mean is not None for one in mine)
    rows = []
    for one in mine:
        cells = [f"{one.answers[name]:,}" for name in names]
        cells += [f"{one.answers.get('NA', 0):,}"] if na else []
        cells += [f"{one.waiting:,}"]
        cells += [number(one.mean)] if means else [f"{one.failed:,}"]
        rows.append((titled(found, one.criterion) + (" · gate" if one.gate else ""), *cells))
    last = "mean" if means else "failed"
    header = ("criterion", *names, *(["NA"] if na else []), "to settle", last)
    block = Block("Final answers", header, rows)
    return Table(block, "final answers, a row an item and criterion", command(found, "finals"))


# -- safety


def safety(found: Findings) -> Part:
    """Red flags with their words, and items that shut a gate."""
    return Part("safety", "Safety and red flags", tuple(_safety(found)))


def _safety(found: Findings) -> Iterator[Piece]:
    flags = found.flags
    if not flags.red_flags and not flags.safety_failures:
        yield Paragraph("No red flag has been raised, and no item shuts a safety gate.")
    if flags.red_flags:
        states = [f"{count:,} {_state(state)}" for state, count in flags.states.items()]
        yield Paragraph(f"{many(len(flags.red_flags), 'red flag')}: {listed(states)}.")
        standing = [one for one in flags.red_flags if one.state != "rejected"][:MOST_FLAGS]
        if standing:
            yield Quotes(tuple(map(_quoted, standing)))
        yield _flag_table(found)
    if flags.safety_failures:
        yield from _failures(found)
    for what, by_state in flags.other.items():
        told = listed([f"{count:,} {_state(state)}" for state, count in by_state.items()])
        yield Note(f"{plain(what).capitalize()}s: {told}.")


def _state(state: str) -> str:
    return {"raised": "to be decided"}.get(state, state)


def _quoted(one: RedFlagged) -> Quoted:
    quotes = tuple(cut(text, QUOTE) for text in one.quotes[:MOST_QUOTES])
    reason = f": {cut(one.reason, QUOTE)}" if one.reason else ""
    decided = f"{one.state.capitalize()} by {one.decided_by}{reason}" if one.decided_by else (
        "Nobody has decided it yet"
    )  # fmt: skip
    return Quoted(f"{one.title} — {one.item}", quotes or ("(no words are kept)",), decided)


def _flag_table(found: Findings) -> Table:
    rows = [
        (one.title, one.item, _state(one.state), one.by, day(one.at), one.decided_by or "–")
        for one in found.flags.red_flags
    ]
    header = ("red flag", "item", "state", "raised by", "on", "decided by")
    source = "flags raised with ratings or by themselves, as they stand now"
    block = Block("Red flags", header, rows)
    return limited(block, MOST_ITEMS, source, command(found, "flags"), folded=True)


def _shut(found: Findings, failure: SafetyFailure) -> Quoted:
    """The words on an item that shut a gate."""
    quotes = dict.fromkeys(text for one in failure.said for text in one.quotes)
    notes = [
        f"{one.rater}, {titled(found, one.criterion)}: {one.note.rstrip('.') or 'no note'}"
        for one in failure.said
    ]
    return Quoted(
        f"Safety gate — {failure.item}",
        tuple(cut(text, QUOTE) for text in quotes)[:MOST_QUOTES] or ("(nothing was quoted)",),
        cut("; ".join(notes) + ".", QUOTE),
    )


def _failures(found: Findings) -> Iterator[Piece]:
    flags = found.flags
    counts = [f"{titled(found, name)} {count:,}" for name, count in flags.gates.items()]
    yield Paragraph(
        f"{many(len(flags.safety_failures), 'item')} shut a safety gate: {listed(counts)}."
    )
    said = [one for one in flags.safety_failures if one.said][:MOST_FLAGS]
    if said:
        yield Quotes(tuple(_shut(found, one) for one in said))
    rows = [
        (one.item, one.verdict, number(one.score, ".3f"),
         "; ".join(titled(found, name) for name in one.criteria))
        for one in flags.safety_failures
    ]  # fmt: skip
    block = Block("Items that shut a safety gate", ("item", "verdict", "score", "on"), rows)
    source = "verdicts whose gate an answer shuts"
    yield limited(block, MOST_ITEMS, source, command(found, "verdicts"))
