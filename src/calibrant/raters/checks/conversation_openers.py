"""How replies begin: openers that come again, and stock phrases. Topic labels are no openers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import numpy as np

from calibrant.raters.checks.conversation_labels import openings
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.shelf import Shelf, Spots
from calibrant.raters.checks.signal import Hint, Signal, SuggestAnswer

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
    begins = reading.mine(reading.shelf.once(openings))
    openers, stops = reading.shelf.once(_openers, parameters["words"])
    openers, stops = reading.mine(openers), reading.mine(stops)
    often: dict[str, int] = {}
    for part in replies:
        often[openers[part.index]] = often.get(openers[part.index], 0) + 1
    again = {
        part.index: reading.span(part, begins[part.index], stops[part.index])
        for part in replies
        if openers[part.index] and often[openers[part.index]] > 1
    }
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
    hits = reading.spans_at(reading.shelf.hits(LEXICON, ("assistant",)).lists.spots)
    first = reading.by_text(reading.shelf.once(_in_first_sentences))
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
        spans=tuple(hits),
        note=left,
    )


def _openers(shelf: Shelf, count: int) -> tuple[list[str], list[int]]:
    """For every text of a shelf, its first words, small and without signs, and where they end.

    Only replies have an opener, and only those with so many words.
    """
    low, starts, begins = shelf.texts.low, shelf.texts.starts, shelf.once(openings)
    match = _first_words(count).match
    words, stops = [""] * len(begins), [0] * len(begins)
    for number in np.flatnonzero(shelf.of_role("assistant")).tolist():
        start = starts[number]
        begin = start + begins[number]
        found = match(low, begin, min(begin + 40 * count, starts[number + 1] - 1))
        if found is not None:
            words[number], stops[number] = " ".join(found.groups()), found.end() - start
    return words, stops


def _in_first_sentences(shelf: Shelf) -> Spots:
    """For all items of a shelf, the first stock phrase of each reply, if its first sentence has it.

    The first sentence is the one with the first words that are no label.
    """
    hits = shelf.hits(LEXICON, ("assistant",))
    texts = hits.texts
    begins = shelf.texts.bounds + np.array(shelf.once(openings), np.intp)
    sentence = np.searchsorted(shelf.sentence_starts, begins[texts], "right") - 1
    ends = np.array(shelf.texts.sentences.ends, np.intp)[sentence]
    fresh = np.diff(texts, prepend=-1) > 0
    at = np.flatnonzero(fresh & (hits.starts < ends))
    return shelf.spots(texts[at], hits.starts[at], hits.ends[at])


@cache
def _first_words(count: int) -> re.Pattern[str]:
    """So many words in a row, with whatever stands before and between them."""
    return re.compile("".join([rf"[\W_]*+({_WORD.pattern})"] * count))
