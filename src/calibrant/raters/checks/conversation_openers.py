"""How replies begin: openers that come again, and stock phrases. Topic labels are no openers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from calibrant.core.parts import Part
from calibrant.raters.checks.conversation_labels import opening
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal, Span, SuggestAnswer

NAME, LEXICON = "conversation_openers", "stock-phrases-en"
_WORD = re.compile(r"[^\W_]++(?:['-][^\W_]++)*+")


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("CP4", "CP2"),
    parameters=(
        Parameter(
            "share", 0.75, "share of formulaic openings that is a pattern", 0, 1, pattern_of="CP4"
        ),
        Parameter("words", 3, "so many first words make an opener", 1, 10),
        Parameter("least_turns", 3, "fewer turns than these make no pattern", 1),
        Parameter(
            "openers", 0.25, "share of stock openings above which they are no exception", 0, 1
        ),
    ),
    lexicons=(LEXICON,),
    reads="reading",
)
def conversation_openers(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts openers that come again, and stock phrases at the beginning and anywhere."""
    replies = reading.of("assistant")
    begins = {part.index: opening(reading, part) for part in replies}
    openers = {
        part.index: _opener(reading, part, begins[part.index], parameters["words"])
        for part in replies
    }
    often = Counter(words for words, _ in openers.values() if words)
    again = {index: span for index, (words, span) in openers.items() if often[words] > 1}
    turns = len(replies)
    yield Signal(
        NAME,
        "share_of_repeated_openers",
        measured=len(again) / turns,
        criterion="CP4",
        spans=tuple(again.values()),
        note=f"the first {parameters['words']} words after a topic label are compared",
    )
    outside = reading.uncovered(replies)
    hits = reading.hits(LEXICON, "assistant")
    first = {
        hit.part.index: hit.span
        for hit in reversed(hits)
        if hit.start < _end_of_first(reading, hit.part, begins[hit.part.index])
    }
    left = f"{len(outside)} replies in a language not covered" if outside else ""
    if outside and not hits:
        for name in (
            "share_of_stock_openers",
            "share_of_formulaic_openings",
            "stock_phrases_per_reply",
        ):
            yield Signal(NAME, name, criterion="CP4", not_measured=NOT_COVERED, note=left)
        return
    stock = len(first) / turns
    yield Signal(
        NAME,
        "share_of_stock_openers",
        measured=stock,
        threshold=f"> {parameters['openers']:g}",
        exceeded=stock > parameters["openers"],
        criterion="CP4",
        spans=tuple(first[index] for index in sorted(first)),
        suggestion=Hint("CP4", "stock phrases open more than the odd reply")
        if stock > parameters["openers"]
        else None,
        note=left,
    )
    formula = {**again, **first}
    share = len(formula) / turns
    beyond = share >= parameters["share"] if turns >= parameters["least_turns"] else None
    yield Signal(
        NAME,
        "share_of_formulaic_openings",
        measured=share,
        threshold=f">= {parameters['share']:g}",
        exceeded=beyond,
        criterion="CP4",
        spans=tuple(formula[index] for index in sorted(formula)),
        suggestion=None if beyond is None else SuggestAnswer("CP4", "NO" if beyond else "YES"),
        note="; ".join(one for one in ("stock phrases or the same first words", left) if one),
    )
    yield Signal(
        NAME,
        "stock_phrases_per_reply",
        measured=len(hits) / turns,
        criterion="CP2",
        spans=tuple(hit.span for hit in hits),
        note=left,
    )


def _opener(reading: Reading, part: Part, start: int, count: int) -> tuple[str, Span]:
    """The first words of a reply, small and without signs, and where they stand."""
    low = reading.low(part)
    words: list[str] = []
    stop = start
    for found in _WORD.finditer(low, start, start + 40 * count):
        words.append(found.group())
        stop = found.end()
        if len(words) == count:
            break
    if len(words) < count:
        words = []
    return " ".join(words), reading.span(part, start, max(stop, start + 1))


def _end_of_first(reading: Reading, part: Part, start: int) -> int:
    """Where the first sentence ends."""
    return reading.sentence_at(part, start)[1]
