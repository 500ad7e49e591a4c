"""The order of a report: the answer first, then what it rests on, then how it came about."""

from __future__ import annotations

from calibrant.report import results, settling, trust, way
from calibrant.report.answer import answer
from calibrant.report.findings import Findings
from calibrant.report.pieces import Paragraph, Part
from calibrant.report.wording import day


def parts(found: Findings, *, short: bool = False) -> tuple[Part, ...]:
    """All parts of a report; ``short``: the answer alone, with a line on how it was made."""
    first = answer(found)
    if short:
        made = Paragraph(_made(found))
        return (Part(first.id, first.title, (*first.pieces, made)),)
    judges = trust.judges(found)
    return (
        first,
        results.verdicts(found),
        results.criteria(found),
        results.safety(found),
        trust.agreement(found),
        trust.raters(found),
        *([judges] if judges is not None else []),
        settling.disagreements(found),
        way.rounds(found),
        way.rubric(found),
        way.moments(found),
        way.methods(found),
    )


def under_title(found: Findings) -> str:
    """What stands under the title: the study, the rubric, the day, whose eyes."""
    about = found.about
    names = "names are masked" if about.masked else ""
    names = "members go by pseudonyms" if about.pseudonyms else names
    told = [f"study {about.study}", about.rubric, f"as of {day(about.made_at)}", names]
    return " · ".join(one for one in told if one)


def _made(found: Findings) -> str:
    told = found.methods
    return (
        f"{told.rubric} ({told.rubric_hash[:19]}…), calibrant {told.calibrant}, "
        f"{day(found.about.made_at)}. The whole report has the tables behind every number."
    )
