"""Aggression: words in capitals and exclamation marks as rates, and hostile wording.

A single exclamation mark, an abbreviation, code, a factorial or a heading is no shouting. Like
all tones this is a sign for the eye, never a gate.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from calibrant.core.parts import Part
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.response_voice import REPORTED, Voice, longest
from calibrant.raters.checks.signal import ProposeFlag, Signal, Span

NAME, HOSTILE, FRIENDLY = "response_shouting", "hostile-en", "friendly-en"
_CAPITALS = re.compile(r"(?<![\w'])[A-Z][A-Z']*+(?![\w/]|\.[A-Z])")
_MARKS = re.compile(r"(?<=[^\W\d_])[!?]++(?![\w=])|(?<=[\"')\]*])[!?]++(?![\w=])")
_LINE = re.compile(r"[^\n]++")
_SQL = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\b[^\n]{0,200}?\b(?:FROM|INTO|SET|TABLE|WHERE|VALUES)\b"
)
_COPIED = """
    says reads reading marked labelled labeled sign signs button key error titled called named
    shows display displays menu option message press click select type enter mnemonic acronym
    keyword keywords command commands function statement operator operators clause gate gates
    stands abbreviated notice label heading set tagged
"""
_LABELLED = frozenset(_COPIED.split())
"""Words next to capitals that are copied from a thing, not shouted."""
_COMMON_WORDS = """
    a about absolutely again ain't all already always and anyone anything are at away bad be
    because been before believe best better but buy by call came can can't cannot care change
    check clear come completely could couldn't day deadline did didn't do does doesn't doing done
    don't down dumb each easy end enough ever every everybody everyone everything exactly face
    fault fine first follow for forget from fully get getting give go going gone good got had hard
    has have haven't he hear hell help her here him his hope how i i'm i'll i've idiot if
    immediately impossible in instead into is isn't it it's its job just keep know last lazy learn
    leave let lie lies life like listen little look made make many may me mean million mind money
    more most must my need never next no nobody none nonsense not nothing now of off on once one
    only or other our out over own pay people please point problem put question quit read reading
    real really ridiculous right said same say see seen serious seriously shame should shouldn't
    shut simple so some someone stop stupid such take talk talking tell than that that's the their
    them then there these they thing things think this those time times to told too totally trust
    try twice under understand until up us use very wait want was waste wasting way we were what
    what's when where which while who why will with won't work world worst would wouldn't wrong
    yes yet you you'll you're you've your yourself
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_OTHERWISE = (
    "a i it us who or and in on can may all at be do if is no not for to by am so up one yes"
)
_AMBIGUOUS = frozenset(_OTHERWISE.split())
"""Words that capitals may mean otherwise: countries, bodies, operators."""


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("tone_bias",),
    flags=("aggressive",),
    parameters=(
        Parameter("capitals", 2, "so many words shouted in capitals propose the flag", 1),
        Parameter("capital_rate", 0.02, "and at least this share of all words", 0, 1),
        Parameter("marks", 3, "so many exclamation marks propose the flag, or two in a row", 1),
        Parameter("mark_rate", 0.6, "and at least so many for every sentence", 0),
        Parameter("hostile", 1, "so many hostile phrases propose the flag", 1),
    ),
    lexicons=(HOSTILE, FRIENDLY, REPORTED),
    reads="reading",
)
def response_shouting(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts shouted capitals, exclamation marks and hostile phrases."""
    response = reading.of("response")[0]
    voice = Voice(reading, response)
    count = max(reading.word_count(response), 1)
    lines = max(len(reading.sentences(response)), 1)
    capitals = _shouted(reading, response, voice)
    marks, rows = _marks(reading, response, voice)
    hostile = tuple(one.span for one in longest(voice.hits(HOSTILE)))
    outside = not reading.covered(response, "en")

    loud = len(capitals) >= parameters["capitals"] and (
        len(capitals) / count >= parameters["capital_rate"]
    )
    signs = sum(one.text.count("!") for one in marks)
    pressing = bool(rows) or (
        signs >= parameters["marks"] and signs / lines >= parameters["mark_rate"]
    )
    sharp = len(hostile) >= parameters["hostile"]
    yield Signal(
        NAME, "capital_words_per_word", measured=round(len(capitals) / count, 3),
        threshold=f">= {parameters['capital_rate']:g} and {parameters['capitals']} words",
        exceeded=loud, criterion="tone_bias", spans=tuple(capitals),
    )  # fmt: skip
    yield Signal(
        NAME, "exclamation_marks_per_sentence", measured=round(signs / lines, 3),
        threshold=f">= {parameters['mark_rate']:g} and {parameters['marks']} marks, or a row",
        exceeded=pressing, criterion="tone_bias", spans=tuple(marks),
    )  # fmt: skip
    if outside and not hostile:
        yield Signal(NAME, "hostile_phrases", criterion="tone_bias", not_measured=NOT_COVERED)
    else:
        yield Signal(
            NAME, "hostile_phrases", measured=len(hostile), threshold=f">= {parameters['hostile']}",
            exceeded=sharp, criterion="tone_bias", spans=hostile,
        )  # fmt: skip
    found = loud or pressing or sharp
    if outside and not found:
        yield Signal(NAME, "aggressive", criterion="tone_bias", not_measured=NOT_COVERED)
        return
    evidence = (capitals if loud else []) + (marks if pressing else []) + list(hostile)
    yield Signal(
        NAME, "aggressive", measured=found, exceeded=found, criterion="tone_bias",
        spans=tuple(sorted(evidence, key=lambda one: one.start)) if found else (),
        suggestion=ProposeFlag("aggressive") if found else None,
        note="capitals, exclamation marks or hostile phrases; any one of them",
    )  # fmt: skip


def _shouted(reading: Reading, part: Part, voice: Voice) -> list[Span]:
    """Common words in capitals that are not copied from a thing, not code and no heading."""
    text = reading.plain(part)
    if text.islower() or text.upper() == text.lower():
        return []
    aside = _Aside([*(one.span() for one in _SQL.finditer(text)), *_headings(text)])
    out: list[Span] = []
    for run in _runs(text):
        start, end = run[0][0], run[-1][1]
        if voice.is_foreign(start, end) or aside.holds(start):
            continue
        if not _LABELLED.isdisjoint(_around(text, start, end)):
            continue
        known = [text[a:b].lower() in _COMMON for a, b in run]
        if len(run) >= 3 and sum(known) >= 2:
            out += [reading.span(part, a, b) for a, b in run]
            continue
        for (a, b), common in zip(run, known, strict=True):
            if common and text[a:b].lower() not in _AMBIGUOUS:
                out.append(reading.span(part, a, b))
    return out


class _Aside:
    """Stretches that are looked up by a place in them."""

    def __init__(self, stretches: list[tuple[int, int]]) -> None:
        self._starts = sorted(start for start, _ in stretches)
        self._ends = list(accumulate((end for _, end in sorted(stretches)), max))

    def holds(self, place: int) -> bool:
        at = bisect_right(self._starts, place)
        return at > 0 and place < self._ends[at - 1]


def _runs(text: str) -> Iterator[list[tuple[int, int]]]:
    """Words in capitals that follow one another."""
    run: list[tuple[int, int]] = []
    for found in _CAPITALS.finditer(text):
        if run and not text[run[-1][1] : found.start()].strip(" ,\n"):
            run.append(found.span())
        else:
            if run:
                yield run
            run = [found.span()]
    if run:
        yield run


def _around(text: str, start: int, end: int) -> list[str]:
    before = text[max(start - 40, 0) : start].lower().split()[-3:]
    after = text[end : end + 30].lower().split()[:2]
    return [one.strip(".,:;!?\"'()") for one in before + after]


def _headings(text: str) -> Iterator[tuple[int, int]]:
    """Lines of capitals only, in a text of several lines: titles."""
    if "\n" not in text.strip():
        return
    for found in _LINE.finditer(text):
        line = found.group().strip()
        if line and line.upper() == line and line[-1] not in "!?" and len(line) < 60:
            yield found.span()


def _marks(reading: Reading, part: Part, voice: Voice) -> tuple[list[Span], list[Span]]:
    """Runs of marks with an exclamation mark in them, and those that are more than one sign."""
    text = reading.plain(part)
    if "!" not in text:
        return [], []
    happy = {voice.sentence(one) for one in reading.hits(FRIENDLY) if one.part.index == part.index}
    marks, rows = [], []
    for found in _MARKS.finditer(text):
        start, end = found.span()
        if "!" not in found.group() or voice.is_foreign(start, end):
            continue
        if reading.sentence_at(part, start) in happy:
            continue
        span = reading.span(part, start, end)
        marks.append(span)
        if end - start > 1:
            rows.append(span)
    return marks, rows
