"""The part about disagreements: by cause and criterion, and how they were settled."""

from __future__ import annotations

from collections.abc import Iterator

from calibrant.compare.blocks import Block
from calibrant.report.asking import Missing
from calibrant.report.charts import Bar, Bars
from calibrant.report.disagreements import WAYS, Journalled
from calibrant.report.findings import Findings
from calibrant.report.pieces import Note, Paragraph, Part, Picture, Piece, Points, Table, limited
from calibrant.report.wording import command, cut, listed, many, percent, plain, titled

MOST_SETTLED, REASON = 10, 300
CAUSES = {
    "category": "one said NA, another gave a number",
    "distance": "further apart than the rubric allows",
    "difference": "not the same answer",
    "low_agreement": "agreement on the criterion is below target",
    "unsettled": "no majority or middle",
    "no_rule": "not the same answer, and the rubric has no rule",
}


def disagreements(found: Findings) -> Part:
    """What lay apart, by cause, and how it was settled."""
    return Part("disagreements", "Disagreements", tuple(_disagreements(found)))


def _disagreements(found: Findings) -> Iterator[Piece]:
    told = found.disagreements
    if not told.answers:
        yield Note("No answers to compare yet.")
        return
    ways = [f"{plain(way)} {count:,}" for way, count in told.provenance.items()]
    yield Paragraph(
        f"Of {told.answers:,} final answers {many(told.count, 'was', 'were')} disagreed about "
        f"({percent(told.count / told.answers)}). How they all came about: {listed(ways)}."
    )
    if not told.count:
        return
    source = "final answers with the cause that made them a disagreement"
    rows = [
        (CAUSES.get(one.name, one.name), f"{one.count:,}",
         *(f"{one.settled[way]:,}" for way in WAYS))
        for one in told.causes
    ]  # fmt: skip
    header = ("cause", "all", "consensus", "adjudicated", "by red flag", "waiting")
    block = Block("Disagreements by cause, and how they were settled", header, rows)
    yield Table(block, source, command(found, "finals"))
    bars = tuple(
        Bar(titled(found, one.name), one.count,
            f"{one.count:,}, {one.settled['waiting']:,} waiting")
        for one in told.criteria
    )  # fmt: skip
    about = listed([f"{one.label} {one.text}" for one in bars], 5) + "."
    yield Picture(
        Bars(key="apart", title="Disagreements on each criterion", about=about, bars=bars,
             highest=max(one.value for one in bars))
    )  # fmt: skip
    rows = [
        (titled(found, one.name), f"{one.count:,}", *(f"{one.settled[way]:,}" for way in WAYS))
        for one in told.criteria
    ]
    block = Block("Disagreements by criterion", ("criterion", *header[1:]), rows)
    yield Table(block, source, command(found, "finals"), folded=True)
    if isinstance(told.journal, Missing):
        yield Note(f"What was said in settling is not told: {told.journal.why}.")
    else:
        yield from _settled(found, told.journal)


def _settled(found: Findings, told: Journalled) -> Iterator[Piece]:
    said = [
        f"{many(told.discussions, 'discussion')} recorded" if told.discussions else "",
        f"{many(sum(told.questions.values()), 'question')} asked" if told.questions else "",
    ]
    kinds = [f"{plain(name)} {count:,}" for name, count in told.errors.items()]
    entries = []
    if any(said):
        entries.append(("Talked about.", f"{listed([one for one in said if one])}."))
    if kinds:
        entries.append(("What went wrong.", f"{listed(kinds)}."))
    if told.unclear:
        where = [f"{titled(found, name)} ({count:,})" for name, count in told.unclear.items()]
        entries.append(("The rubric says too little", f"on {listed(where)}."))
    if entries:
        yield Points(tuple(entries))
    rows = [
        (
            one.item, titled(found, one.criterion), one.answer, f"{one.how}: {listed(one.by)}",
            cut(one.reason, REASON),
        )
        for one in told.settled
    ]  # fmt: skip
    if rows:
        header = ("item", "criterion", "final answer", "how", "reason")
        block = Block("How disagreements were settled, the widest first", header, rows)
        source = "settlements in the journal; what raters answered stays as it was"
        yield limited(block, MOST_SETTLED, source, command(found, "journal"))
