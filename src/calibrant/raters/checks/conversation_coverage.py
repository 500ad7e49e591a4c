"""Whether every thing a message says is taken up: parts of a message no word of which comes back.

A reply may take up a topic in words of its own, so this points a reviewer to places and never
says that a topic was dropped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

import numpy as np

from calibrant.core.parts import Part
from calibrant.raters.checks.conversation_words import STEM_BITS, topics
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.packed import shared_out, without_repeats
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.shelf import Shelf
from calibrant.raters.checks.signal import Hint, Signal

NAME = "conversation_coverage"


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("MT1",),
    parameters=(
        Parameter("words", 3, "fewer words of meaning than these make no topic", 1),
        Parameter("shown", 50, "not more places than these are quoted", 1),
    ),
    reads="reading",
)
def conversation_coverage(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds sentences of a message of which no word comes back in the reply."""
    replies = {part.number for part in reading.in_language(reading.of("assistant"), "en")}
    messages = reading.in_language(reading.of("user"), "en")
    pairs = {reading.first + part.index: part for part in messages if part.number in replies}
    name = "sentences_not_taken_up"
    if not pairs:
        yield Signal(NAME, name, criterion="MT1", not_measured=NOT_COVERED)
        return
    found = _left_over(reading, pairs, parameters["words"])
    left = len(reading.of("user")) - len(pairs)
    yield Signal(
        NAME,
        name,
        measured=len(found),
        criterion="MT1",
        spans=tuple([reading.span(part, *place) for part, place in found[: parameters["shown"]]]),
        suggestion=Hint("MT1", "no word of these sentences comes back in the reply")
        if found
        else None,
        note=f"{left} messages in a language not covered" if left else "by the words in common",
    )


def _left_over(
    reading: Reading, messages: Mapping[int, Part], least: int
) -> list[tuple[Part, tuple[int, int]]]:
    """The sentences of these messages that were not taken up."""
    places, texts = reading.shelf.once(_not_taken_up, least)
    starts, ends, _ = reading.shelf.texts.sentences
    out = []
    of, to = reading.first, reading.first + len(reading.parts)
    for at in range(bisect_left(texts, of), bisect_left(texts, to)):
        if (part := messages.get(texts[at])) is not None:
            begin = reading.shelf.texts.starts[texts[at]]
            out.append((part, (starts[places[at]] - begin, ends[places[at]] - begin)))
    return out


def _not_taken_up(shelf: Shelf, least: int) -> tuple[list[int], list[int]]:
    """Sentences with enough to say of which nothing comes back; none where the message has one.

    Given as their places among all sentences, and as the texts they stand in.
    """
    found, sentences = shelf.once(topics), shelf.texts.sentences
    users, replies = shelf.of_role("user"), shelf.of_role("assistant")
    exchange = shelf.exchanges
    prefix = found.stems >> np.uint64(8)  # the first four letters
    keys = (exchange[found.texts].astype(np.uint64) << np.uint64(32)) | prefix
    answers = np.sort(keys[replies[found.texts]])
    mine = np.flatnonzero(users[found.texts])
    if not mine.size:
        return [], []
    asked = keys[mine]
    order = np.argsort(asked)
    at = np.minimum(np.searchsorted(answers, asked[order]), max(answers.size - 1, 0))
    answered = np.zeros(mine.size, np.bool_)
    answered[order] = answers[at] == asked[order] if answers.size else False
    sentence = shared_out(found.starts[mine], shelf.sentence_starts)
    said = (sentence.astype(np.uint64) << np.uint64(STEM_BITS)) | found.stems[mine]
    said = without_repeats(np.sort(said)) >> np.uint64(STEM_BITS)
    number = len(sentences.starts)
    left = np.bincount(said.astype(np.intp), minlength=number) >= least
    left[sentence[answered]] = False
    places = np.flatnonzero(left)
    first = np.array(sentences.first, np.intp)
    texts = np.searchsorted(first, places, "right") - 1
    several = np.diff(first)[texts] > 1
    return places[several].tolist(), texts[several].tolist()
