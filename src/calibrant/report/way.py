"""Parts about the way there: rounds, the rubric's history, check-ins, lessons, methods."""

from __future__ import annotations

from collections.abc import Iterator

from calibrant.compare.blocks import Block
from calibrant.report.agreement import Agreed
from calibrant.report.asking import Missing
from calibrant.report.findings import Findings
from calibrant.report.history import Moment
from calibrant.report.pieces import (
    Note,
    Paragraph,
    Part,
    Piece,
    Points,
    Table,
    limited,
    without_empty,
)
from calibrant.report.raters import Raters
from calibrant.report.wording import (
    METHODS,
    OUTCOMES,
    coefficient,
    command,
    cut,
    day,
    listed,
    many,
    moment,
    number,
    plain,
    span,
    target_words,
    titled,
)

MOST_CHANGES, WORDS, MOST_MOMENTS, MOST_ROWS = 12, 600, 12, 60


def rounds(found: Findings) -> Part:
    """What was rated when, and under which version."""
    told = found.work
    if not told.rounds:
        return Part("rounds", "Rounds", (Note("No round has been planned yet."),))
    rows = [
        (f"{one.number} {one.kind}", one.state, one.rubric, day(one.opened), day(one.closed),
         f"{one.done:,} of {one.total:,}")
        for one in told.rounds
    ]  # fmt: skip
    header = ("round", "state", "rubric", "opened", "closed", "ratings")
    block = Block("Rounds; only main rounds count in results", header, rows)
    table = Table(block, "assignments and the ratings handed in", command(found, "rounds"))
    return Part("rounds", "Rounds", (table,))


# -- the rubric


def rubric(found: Findings) -> Part:
    """Versions used, what changed and why."""
    return Part("rubric", "The rubric and its changes", tuple(_rubric(found)))


def _rubric(found: Findings) -> Iterator[Piece]:
    told = found.history
    final = f"; version {told.finalised} was called final" if told.finalised else ""
    yield Paragraph(
        f"“{found.about.rubric_title}”, {found.about.rubric}, is in force. The study used "
        f"{many(len(told.versions), 'version')}{final}."
    )
    rows = []
    for one in told.versions:
        again = f"asked again: {listed([titled(found, name) for name in one.ask_again], 8)}"
        rows.append(
            (one.name, day(one.since), plain(one.cause) or "first version",
             cut(one.why, WORDS), again if one.ask_again else "", one.hash[:19] + "…")
        )  # fmt: skip
    header = ("version", "in force since", "cause", "why", "answers", "hash")
    block = without_empty(Block("Versions of the rubric", header, rows))
    yield Table(block, "the journal, and the documents themselves", command(found, "versions"))
    for one in told.versions:
        if one.changes:
            shown = one.changes[:MOST_CHANGES]
            yield Points(tuple((f"{one.name}:", text) for text in shown))
            if len(one.changes) > len(shown):
                yield Note(f"{many(len(one.changes) - len(shown), 'more change')} of {one.name}.")


# -- check-ins and lessons


def moments(found: Findings) -> Part:
    """Check-ins and ended phases as they stood then; what was learned."""
    return Part("check-ins", "Check-ins and lessons", tuple(_moments(found)))


def _moments(found: Findings) -> Iterator[Piece]:
    told = found.history
    if isinstance(told.lessons, Missing):
        yield Note(f"Lessons are not told: {told.lessons.why}.")
    elif told.lessons:
        yield Points(tuple(("Lesson.", cut(text, WORDS)) for text in told.lessons))
    else:
        yield Note("No lesson has been written down yet.")
    if isinstance(told.moments, Missing):
        yield Note(f"Check-ins are not told: {told.moments.why}.")
        return
    if not told.moments:
        yield Note("No check-in has been held yet.")
        return
    rows = [
        (
            moment(one.at), one.what, listed(one.attendees, 8), cut(one.decisions, WORDS),
            cut(one.actions, WORDS), _stood(one),
        )
        for one in told.moments
    ]  # fmt: skip
    header = ("on", "what", "who", "decided", "to do", "agreement then")
    block = Block("Check-ins and ended phases", header, rows)
    source = "the journal; agreement was frozen at that moment and is never computed again"
    yield limited(block, MOST_MOMENTS, source, command(found, "check-ins"))
    for one in told.moments[-MOST_MOMENTS:]:
        if one.snapshot:
            yield _frozen(found, one)


def _stood(one: Moment) -> str:
    if not one.snapshot:
        return ""
    met = sum(row.outcome == "met" for row in one.snapshot)
    return f"{met} of {len(one.snapshot)} targets met"


def _frozen(found: Findings, one: Moment) -> Table:
    rows = [
        (titled(found, row.criterion), target_words(row.target), number(row.value),
         span(row.interval), OUTCOMES.get(row.outcome, row.outcome))
        for row in one.snapshot
    ]  # fmt: skip
    title = f"Agreement as it stood on {moment(one.at)} ({one.what})"
    header = ("criterion", "target", "value", "95 % interval", "outcome")
    rounds = listed([str(n) for n in one.rounds], 12)
    source = f"numbers frozen then, over round{'s' if len(one.rounds) > 1 else ''} {rounds}"
    verb = command(found, "check-ins")
    return limited(Block(title, header, rows), MOST_ROWS, source, verb, folded=True)


# -- methods


def methods(found: Findings) -> Part:
    """A paragraph for a paper, and what somebody needs to get the same numbers."""
    told = found.methods
    packages = listed([f"{name} {version}" for name, version in told.packages.items()], 9)
    rows = [
        ("calibrant", told.calibrant),
        ("Python and packages", f"Python {told.python}, {packages}"),
        ("rubric", f"{told.rubric}, {told.rubric_hash}"),
        ("seed of the study", f"{told.study_seed} (orders, samples, silent repeats)"),
        ("seed of resampling", f"{told.resampling_seed}"),
        ("coefficients", listed([coefficient(one) for one in told.coefficients], 12) or "none"),
        ("intervals", _intervals(found) or "none"),
        ("disagreements", told.resolution),
        ("seen by", _seen_by(found)),
        ("made", found.about.made_at),
    ]
    block = Block("Exact versions, seeds and rules", ("what", "which"), rows)
    table = Table(block, "the study and this installation", f"{command(found, 'status')}")
    return Part("methods", "Methods", (Paragraph(paper(found), "For a paper:"), table))


def _intervals(found: Findings) -> str:
    names = [METHODS.get(one, one) for one in found.methods.interval_methods]
    told = f"95 %: {'; '.join(names)}" if names else ""
    return f"{told}{'; ' if told else ''}shares of items: Wilson"


def _seen_by(found: Findings) -> str:
    about = found.about
    if about.pseudonyms:
        return "the lead; members go by pseudonyms"
    return f"{about.actor}; names are masked" if about.masked else about.actor


def paper(found: Findings) -> str:
    """How it was done, as a paper tells it."""
    told, verdicts = found.methods, found.verdicts
    panel = _panel(found)
    said = [
        f"{many(verdicts.items, f'{found.about.item_type} item')} were rated with "
        f"“{found.about.rubric_title}” (version {told.rubric.split('@')[-1]}, "
        f"{len(verdicts.criteria)} criteria){panel}. Raters were blind to one another's answers "
        "until their own were in and the round was closed."
    ]
    said.append(f"Disagreements: {told.resolution}.")
    overall = found.agreement.overall
    if isinstance(overall, Agreed):
        names = listed([coefficient(one) for one in told.coefficients], 12)
        said.append(
            f"Agreement was computed on independent answers before adjudication ({names}), with "
            f"95 % intervals ({_intervals(found)}; seed {told.resampling_seed})."
        )
    if isinstance(found.raters, Raters) and any(
        one.severity is not None for one in found.raters.profiles
    ):
        said.append(
            "Rater severity was estimated with a many-facet Rasch model; p-values of rater "
            "effects were adjusted by Holm's method, weighted by kind."
        )
    if found.judges is not None:
        said.append(
            "Language-model judges were compared with people by the alternative annotator test "
            "and were not part of the consensus they were compared with."
        )
    said.append(f"All numbers were computed with calibrant {told.calibrant}.")
    return " ".join(said)


def _panel(found: Findings) -> str:
    raters = found.raters
    if isinstance(raters, Missing):
        return ""
    people, judges = raters.of_kind("HUMAN"), raters.of_kind("LLM")
    parts = [many(people, "person", "people") if people else ""]
    parts += [many(judges, "language-model judge") if judges else ""]
    told = listed([one for one in parts if one])
    return f" by {told}" if told else ""
