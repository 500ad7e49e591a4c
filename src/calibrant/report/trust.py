"""Parts about the raters: how far they agree, how each rates, and judges beside people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from calibrant.compare.blocks import Block
from calibrant.report.agreement import Agreed, Figure, TargetLine
from calibrant.report.asking import Missing
from calibrant.report.charts import Dot, DotRow, Dots, Tone
from calibrant.report.findings import Findings
from calibrant.report.judges import Judge
from calibrant.report.pieces import (
    Note,
    Paragraph,
    Part,
    Picture,
    Piece,
    Table,
    limited,
    without_empty,
)
from calibrant.report.raters import Raters
from calibrant.report.wording import (
    KINDS,
    OUTCOMES,
    coefficient,
    command,
    listed,
    many,
    number,
    outcome,
    plain,
    span,
    target_words,
    titled,
)

MOST_RATERS, MOST_ROWS, MOST_SETTLED, REASON = 40, 60, 10, 300
_TONES: dict[str, Tone] = {"met": "good", "not_met": "bad", "not_shown": "open"}
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


# -- agreement


def agreement(found: Findings) -> Part:
    """Agreement against targets, with intervals, over rounds and versions."""
    return Part("agreement", "Agreement", tuple(_agreement(found)))


def _agreement(found: Findings) -> Iterator[Piece]:
    told = found.agreement
    if isinstance(told.overall, Missing):
        yield Note(f"No agreement over rounds that count: {told.overall.why}.")
    else:
        yield from _overall(found, told.overall)
    if len(told.rounds) > 1 or (told.rounds and isinstance(told.overall, Missing)):
        if any(_alpha(one, None) is not None for one in told.rounds):
            yield _over_rounds(told.rounds)
        yield _round_table(found, told.rounds)
    for number_, why in told.left_out.items():
        yield Note(f"Round {number_} is not compared: {why}.")


def _overall(found: Findings, told: Agreed) -> Iterator[Piece]:
    rounds = listed([str(one) for one in told.rounds], 12)
    source = (
        f"what {many(told.raters, 'person', 'people')} answered each by themselves in "
        f"round{'s' if len(told.rounds) > 1 else ''} {rounds}, before anybody adjudicated"
    )
    if told.targets:
        marks = sorted({(one.mark, f"target {one.mark:g}") for one in told.targets})
        yield Picture(_target_chart(found, told.targets, marks))
        yield Table(_target_block(found, told.targets), source, command(found, "agree"))
    else:
        yield Note("The rubric states no target of agreement.")
        yield from _alphas(found, told)
    yield limited(
        _figure_block(found, told.figures), MOST_ROWS, source, command(found, "agree"),
        folded=True,
    )  # fmt: skip


def _alphas(found: Findings, told: Agreed) -> Iterator[Piece]:
    """Alpha of each criterion, where no target says what to look at."""
    known = [one for name in found.about.criteria if (one := _alpha(told, name)) is not None]
    known = [one for one in known if one.value is not None]
    if not known:
        return
    rows = tuple(
        DotRow(
            titled(found, one.criterion),
            f"{number(one.value)} ({span(one.interval)})",
            _dots(one.value, one.interval, "plain"),
        )
        for one in sorted(known, key=lambda one: one.value or 0.0)
    )
    yield Picture(
        Dots(
            key="agreement",
            title="Krippendorff's alpha with 95 % intervals, lowest first",
            about="Lowest: " + listed([f"{row.label} {row.text}" for row in rows[:3]]) + ".",
            rows=rows,
            limits=(min([0.0, *(dot.low for row in rows for dot in row.dots)]), 1.0),
            ticks=_TICKS,
        )
    )


def _target_chart(
    found: Findings, targets: Sequence[TargetLine], marks: list[tuple[float, str]]
) -> Dots:
    ranked = sorted(targets, key=lambda one: 2.0 if one.value is None else one.value - one.mark)
    rows = tuple(
        DotRow(
            titled(found, one.criterion),
            f"{number(one.value)} · {OUTCOMES[one.outcome]}",
            _dots(one.value, one.interval, _TONES[one.outcome]),
        )
        for one in ranked
    )
    met = sum(one.outcome == "met" for one in targets)
    low = min([0.0, *(dot.low for row in rows for dot in row.dots)])
    lowest = listed([f"{row.label} {row.text}" for row in rows[:3]])
    return Dots(
        key="agreement",
        title="Agreement against targets, lowest first",
        about=f"{met} of {len(targets)} targets are met. Lowest: {lowest}.",
        rows=rows,
        limits=(max(-1.0, low), 1.0),
        ticks=_TICKS,
        marks=tuple(marks),
    )


def _dots(
    value: float | None, interval: tuple[float, float] | None, tone: Tone, series: int = 0
) -> tuple[Dot, ...]:
    if value is None:
        return ()
    low, high = interval or (value, value)
    return (Dot(value, low, high, tone, series),)


def _target_block(found: Findings, targets: Sequence[TargetLine]) -> Block:
    rows = [
        (
            titled(found, one.criterion),
            target_words(one.target) + (" at the lower limit" * (one.decided_on != "point")),
            number(one.value),
            span(one.interval),
            f"{one.items:,}",
            outcome(one.outcome, one.why),
        )
        for one in targets
    ]
    header = ("criterion", "target", "value", "95 % interval", "items", "outcome")
    return Block("Targets of agreement", header, rows)


def _figure_block(found: Findings, figures: Sequence[Figure]) -> Block:
    rows = [
        (
            titled(found, one.criterion),
            coefficient(one.coefficient),
            number(one.value),
            span(one.interval),
            f"{one.items:,}",
            one.reading or one.undefined or "",
        )
        for one in figures
    ]
    header = ("criterion", "coefficient", "value", "95 % interval", "items", "reading")
    return Block("All coefficients", header, rows)


def _alpha(told: Agreed, criterion: str | None) -> Figure | None:
    mine = [
        one
        for one in told.figures
        if one.criterion == criterion and one.coefficient.startswith("krippendorff_alpha")
    ]
    return mine[-1] if mine else None


def _over_rounds(rounds: Sequence[Agreed]) -> Picture:
    """All criteria together; criteria of different scales have no alpha together."""
    rows = []
    for one in rounds:
        alpha = _alpha(one, None)
        text = f"{one.met} of {len(one.targets)} targets met" if one.targets else ""
        value = None if alpha is None else alpha.value
        rows.append(
            DotRow(
                _round_name(one),
                f"{number(value)} · {text}".strip(" ·"),
                _dots(value, None if alpha is None else alpha.interval, "plain"),
            )
        )
    about = "; ".join(f"{one.label}: {one.text}" for one in rows)
    return Picture(
        Dots(
            key="rounds",
            title="Krippendorff's alpha over all criteria, round by round",
            about=about,
            rows=tuple(rows),
            limits=(min([0.0, *(dot.low for row in rows for dot in row.dots)]), 1.0),
            ticks=_TICKS,
        )
    )


def _round_name(one: Agreed) -> str:
    return f"Round {one.rounds[0]}, {one.kind} ({one.rubric})"


def _round_table(found: Findings, rounds: Sequence[Agreed]) -> Table:
    """Alpha of each criterion, a column for each round."""
    shown = list(rounds)[-6:]
    rows = []
    for criterion in [*found.about.criteria, None]:
        cells = []
        for one in shown:
            alpha = _alpha(one, criterion)
            lines = [t for t in one.targets if t.criterion == criterion]
            became = f" {OUTCOMES[lines[0].outcome]}" if lines else ""
            limits = "" if alpha is None or alpha.interval is None else f" ({span(alpha.interval)})"
            cells.append("–" if alpha is None else f"{number(alpha.value)}{limits}{became}")
        if any(cell != "–" for cell in cells):
            rows.append((titled(found, criterion), *cells))
    header = ("criterion", *(f"round {one.rounds[0]} · {one.rubric}" for one in shown))
    more = f", the last {len(shown)}" if len(shown) < len(rounds) else ""
    title = f"Alpha with 95 % intervals, round by round{more}; the outcome is the target's"
    source = "what people answered in each round, under the version it was rated by"
    verb = command(found, "agree", "--round", str(shown[-1].rounds[0]))
    return Table(Block(title, header, rows), source, verb)


# -- raters


def raters(found: Findings) -> Part:
    """How each rater rates, and what to do about it."""
    told = found.raters
    if isinstance(told, Missing):
        return Part("raters", "Raters", (Note(f"Nothing to say about raters: {told.why}."),))
    return Part("raters", "Raters", tuple(_raters(found, told)))


def _raters(found: Findings, told: Raters) -> Iterator[Piece]:
    source = f"{sum(one.ratings for one in told.profiles):,} answers in rounds that count"
    verb = shlex.join(["calibrant", "raters", "--study", found.about.study])
    if told.findings:
        yield Paragraph(
            f"{many(len(told.findings), 'finding')} among {told.looked_at:,} things looked at; "
            "false alarms are held below 5 % over all of them."
        )
        rows = [
            (one.rater, plain(one.what), one.says, _p(one.p), one.advice) for one in told.findings
        ]
        header = ("rater", "what", "finding", "p", "what to do")
        yield limited(Block("Findings about raters", header, rows), MOST_RATERS, source, verb)
    else:
        yield Paragraph(
            f"Nothing stands out: of {told.looked_at:,} things looked at none is both shown and "
            "large enough to matter."
        )
    if any(one.severity is not None for one in told.profiles):
        yield Picture(_severity_chart(told))
    profiles = [
        (
            one.rater, KINDS.get(one.kind, one.kind), f"{one.items:,}",
            number(one.severity, "+.2f"), span(one.interval, "+.2f"),
            number(one.observed), number(one.fair), number(one.infit), number(one.outfit),
        )
        for one in told.profiles
    ]  # fmt: skip
    columns = (
        "rater", "kind", "items", "severity", "95 % interval", "mean", "fair mean", "infit",
        "outfit",
    )  # fmt: skip
    title = "Profiles: severity in logits, 0 the average rater, above it more severe"
    yield limited(Block(title, columns, profiles), MOST_RATERS, source, verb)
    for note in told.notes:
        yield Note(note)


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _severity_chart(told: Raters) -> Dots:
    measured = [one for one in told.profiles if one.severity is not None][:MOST_RATERS]
    named = {one.rater for one in told.findings if one.what == "severity"}
    rows = tuple(
        DotRow(
            f"{one.rater} · {KINDS.get(one.kind, one.kind)}",
            f"{number(one.severity, '+.2f')}{' · finding' if one.rater in named else ''}",
            _dots(one.severity, one.interval, "open" if one.rater in named else "plain"),
        )
        for one in measured
    )
    ends = [abs(value) for row in rows for dot in row.dots for value in (dot.low, dot.high)]
    most = max(1.0, *(round(value + 0.05, 1) for value in ends))
    return Dots(
        key="severity",
        title="Severity of each rater in logits, most severe first",
        about=listed([f"{row.label} {row.text}" for row in rows], 8) + ".",
        rows=rows,
        limits=(-most, most),
        ticks=(-most, 0.0, most),
        marks=((0.0, "average rater"),),
    )


# -- judges


def judges(found: Findings) -> Part | None:
    """Each judge beside people; None where no judge rated."""
    told = found.judges
    if told is None:
        return None
    pieces: list[Piece] = [
        Paragraph(
            "A judge is held against people, and is never part of what it is held against. "
            "People's agreement with each other is the ceiling."
        )
    ]
    for at, one in enumerate(told.judges):
        pieces += _judge(found, one, at)
    for name, why in told.left_out.items():
        pieces.append(Note(f"{name} could not be held beside people: {why}."))
    return Part("judges", "Judges", tuple(pieces))


def _judge(found: Findings, one: Judge, at: int) -> Iterator[Piece]:
    yield Paragraph(f"{one.why}.", f"{one.judge} {one.answer}:")
    rows = []
    table = []
    for each in one.criteria:
        mine, ceiling = each.alpha("with_people"), each.alpha("ceiling")
        dots = tuple(
            dot
            for series, figure in enumerate((mine, ceiling))
            if figure is not None
            for dot in _dots(figure.value, figure.interval, "plain", series)
        )
        values = [None if figure is None else figure.value for figure in (mine, ceiling)]
        text = f"{number(values[0])} / {number(values[1])} · {each.answer}"
        rows.append(DotRow(titled(found, each.criterion), text, dots))
        limits = ["" if figure is None else span(figure.interval) for figure in (mine, ceiling)]
        false = "–" if each.false_passes is None else f"{each.false_passes} of {each.people_failed}"
        table.append(
            (
                titled(found, each.criterion), each.answer, number(values[0]), limits[0],
                number(values[1]), limits[1], number(each.bias, "+.2f"), false, f"{each.items:,}",
                each.why,
            )
        )  # fmt: skip
    yield Picture(
        Dots(
            key=f"judge-{at}",
            title=f"{one.judge}: alpha with people, beside people's own",
            about=listed([f"{row.label} {row.text}" for row in rows], 20) + ".",
            rows=tuple(rows),
            limits=(min([0.0, *(dot.low for row in rows for dot in row.dots)]), 1.0),
            ticks=_TICKS,
            series=("judge with people", "people with each other"),
        )
    )
    header = (
        "criterion", "answer", "with people", "95 % interval", "ceiling", "95 % interval", "bias",
        "false passes", "items", "why",
    )  # fmt: skip
    rounds = listed([str(number_) for number_ in one.rounds], 12)
    source = f"answers of {one.judge} and {one.people} people in round {rounds}"
    words = ["calibrant", "validate-judge", "--study", found.about.study, "--judge", one.judge]
    verb = shlex.join(words + (["--round", str(one.rounds[0])] if len(one.rounds) == 1 else []))
    block = without_empty(Block(f"{one.judge} beside people", header, table))
    yield Table(block, source, verb)
