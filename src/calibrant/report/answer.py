"""The answer first: what a report says in one sentence, in a few numbers, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator

from calibrant.report.agreement import Agreed
from calibrant.report.asking import Missing
from calibrant.report.findings import Findings
from calibrant.report.judges import Judge
from calibrant.report.pieces import Note, Paragraph, Part, Points, Tile, Tiles
from calibrant.report.verdicts import Share, Verdicts
from calibrant.report.wording import (
    cut,
    listed,
    many,
    number,
    percent,
    percents,
    span,
    target_words,
    titled,
)

REASON = 200
"""Signs of a reason."""


def answer(found: Findings) -> Part:
    """The part for whoever reads nothing else; it fits on a slide."""
    points = tuple(_points(found))
    missing = tuple(Note(text) for text in _missing(found))
    first = (Paragraph(headline(found)), Tiles(tuple(_tiles(found))))
    return Part("answer", "In short", (*first, *([Points(points)] if points else []), *missing))


def headline(found: Findings) -> str:
    """What became of the items, in a sentence or two."""
    verdicts = found.verdicts
    if not verdicts.items:
        return "There is no result yet: no item has been rated in a closed round that counts."
    passed, failed, undecided = verdicts.outcomes
    if verdicts.pass_mark:
        limits = f", 95 % interval {percents(passed.interval)}"
        return (
            f"{passed.count:,} of {many(verdicts.items, 'item')} passed "
            f"({percent(passed.share)}{limits}). {failed.count:,} failed, "
            f"{_undecided(undecided)}."
        )
    said = f"{many(verdicts.items, 'item was', 'items were')} rated; the rubric states no pass mark"
    scores = verdicts.scores
    if scores is not None:
        low, high = scores.limits
        said += f". The mean is {number(scores.mean)} on a scale from {low:g} to {high:g}"
    shut = f"{many(failed.count, 'item')} failed by a gate or a red flag"
    return f"{said}. {shut if failed.count else 'No item failed by a gate or a red flag'}."


def _undecided(share: Share) -> str:
    if not share.count:
        return "none is undecided"
    return many(share.count, "is undecided", "are undecided")


def _tiles(found: Findings) -> Iterator[Tile]:
    verdicts = found.verdicts
    yield Tile(f"{verdicts.items:,}", "items with a result")
    if verdicts.items and verdicts.pass_mark:
        passed, failed, undecided = verdicts.outcomes
        yield Tile(percent(passed.share), "passed", "good")
        yield Tile(percent(failed.share), "failed", "bad" if failed.count else "plain")
        yield Tile(percent(undecided.share), "undecided", "open" if undecided.count else "plain")
    elif verdicts.scores is not None:
        yield Tile(number(verdicts.scores.mean), f"mean of {verdicts.scores.limits[1]:g}")
    overall = found.agreement.overall
    if isinstance(overall, Agreed) and overall.targets:
        all_met = overall.met == len(overall.targets)
        yield Tile(
            f"{overall.met} of {len(overall.targets)}",
            "agreement targets met",
            "good" if all_met else "open",
        )
    confirmed = found.flags.states.get("confirmed", 0)
    yield Tile(f"{confirmed:,}", "confirmed red flags", "bad" if confirmed else "plain")


def _points(found: Findings) -> Iterator[tuple[str, str]]:
    yield from _safety(found)
    yield from _agreed(found)
    yield from _open(found)
    yield from _about_raters(found)
    for judge in found.judges.judges if found.judges is not None else ():
        yield "Judge.", f"{judge.judge} {_may(judge)}: {judge.why}."
    versions = found.history.versions
    if len(versions) > 1:
        last = versions[-1]
        why = f": {cut(last.why, REASON)}" if last.why else "."
        yield "Rubric.", f"Changed {_times(len(versions) - 1)}, now {last.name}{why}"


def _may(judge: Judge) -> str:
    """What may be done with it; where labels are missing, how many."""
    missing = max((one.more_labels or 0 for one in judge.criteria), default=0)
    if not judge.answer.startswith("needs more") or not missing:
        return judge.answer
    return judge.answer.replace("needs more", f"needs {missing:,} more", 1)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _safety(found: Findings) -> Iterator[tuple[str, str]]:
    verdicts, flags = found.verdicts, found.flags
    if verdicts.safety_failed:
        worst = [titled(found, name) for name in flags.gates][:3]
        where = f", most often on {listed(worst)}" if worst else ""
        yield "Safety.", f"{many(verdicts.safety_failed, 'item')} shut a safety gate{where}."
    elif verdicts.items and any(one.gate for one in verdicts.criteria):
        yield "Safety.", "No item shuts a safety gate."
    if flags.kinds:
        kinds = [f"{title} ({count:,})" for title, count in flags.kinds.items()]
        yield "Red flags.", f"Confirmed: {listed(kinds)}."


def _agreed(found: Findings) -> Iterator[tuple[str, str]]:
    overall = found.agreement.overall
    if not isinstance(overall, Agreed) or not overall.targets:
        return
    missed = [one for one in overall.targets if one.outcome != "met"]
    if not missed:
        yield "Agreement.", "Raters agree as far as the rubric asks, on every criterion."
        return
    told = f"{overall.met} of {many(len(overall.targets), 'target')} met"
    known = [(one.value - one.mark, one.value, one) for one in missed if one.value is not None]
    if not known:
        yield "Agreement.", f"{told}; of the others no figure can be told."
        return
    _, value, lowest = min(known, key=lambda one: one[0])
    yield (
        "Agreement.",
        (
            f"{told}; furthest off is {titled(found, lowest.criterion)} at {number(value)} "
            f"({span(lowest.interval)}), where {target_words(lowest.target)} is asked for."
        ),
    )


def _open(found: Findings) -> Iterator[tuple[str, str]]:
    waiting = [
        many(found.disagreements.waiting, "disagreement") if found.disagreements.waiting else "",
        many(raised, "red flag") if (raised := found.flags.states.get("raised", 0)) else "",
    ]
    told = [one for one in waiting if one]
    if told:
        yield "Still open.", f"{listed(told)} to be settled: results may change."


def _about_raters(found: Findings) -> Iterator[tuple[str, str]]:
    raters = found.raters
    if isinstance(raters, Missing):
        return
    if not raters.findings:
        yield "Raters.", f"Nothing stands out among {many(len(raters.profiles), 'rater')}."
        return
    first = raters.findings[0]
    rest = len(raters.findings) - 1
    more = f"; {many(rest, 'more finding')} below" if rest else ""
    yield "Raters.", f"{first.rater}: {first.says}{more}."


def _missing(found: Findings) -> Iterator[str]:
    """What has to come before there is more to say."""
    if found.verdicts.items:
        return
    if found.work.items == 0:
        yield "The study has no items yet."
    if not found.work.rounds:
        yield "No round has been planned yet."
    for one in found.work.rounds:
        if one.state == "open":
            yield f"Round {one.number} ({one.kind}) is open: {one.done:,} of {one.total:,} are in."
        elif one.state == "planned":
            yield f"Round {one.number} ({one.kind}) is planned and not open yet."
    closed = [one for one in found.work.rounds if one.state == "closed"]
    if closed and not any(one.kind == "main" for one in closed):
        yield "Only main rounds count; the rounds that are closed are practice."


def undecided_why(verdicts: Verdicts) -> str:
    """Why items are undecided."""
    parts = [
        (verdicts.incomplete, "with an answer that is missing or to be settled"),
        (verdicts.blocked, "under a red flag that nobody has decided"),
    ]
    return listed([f"{count:,} {why}" for count, why in parts if count])
