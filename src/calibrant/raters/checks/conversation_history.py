"""What comes back: references of replies to earlier turns, and topics the user raises again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from calibrant.raters.checks.conversation_words import STEM_BITS, are_said, said_by_users, topics
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.packed import Bools, Ints
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.shelf import HitColumns, Shelf, Spots
from calibrant.raters.checks.signal import Hint, Signal

NAME, LEXICON = "conversation_history", "back-references-en"
BACK, AGAIN = "references_back", "topics_raised_again"
QUOTED = 5
"""So many words of a message that comes back to something are enough to show it."""
TOO_SHORT = "one exchange has nothing before it"


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("MT4", "MT5"),
    parameters=(
        Parameter("words", 2, "so many words of an earlier message make a topic come back", 1),
        Parameter("away", 1, "a topic comes back after so many messages without it", 1),
    ),
    lexicons=(LEXICON,),
    reads="reading",
)
def conversation_history(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds references back to earlier turns, and topics the user comes back to."""
    messages, replies = reading.of("user"), reading.of("assistant")
    outside = reading.uncovered((*messages, *replies))
    left = f"{len(outside)} texts in a language not covered" if outside else ""
    why = TOO_SHORT if len(replies) < 2 else NOT_COVERED if len(outside) > len(replies) else None
    if why:
        for name, criterion in (
            (BACK, "MT4"),
            ("share_with_references_back", "MT4"),
            (AGAIN, "MT5"),
        ):
            yield Signal(NAME, name, criterion=criterion, not_measured=why, note=left)
        return
    spans = tuple(reading.spans_at(reading.shelf.once(_references)))
    yield Signal(NAME, BACK, measured=len(spans), criterion="MT4", spans=spans, note=left)
    later = sum(1 for part in replies if part.number)
    share = len({span.part for span in spans}) / max(later, 1)
    yield Signal(
        NAME,
        "share_with_references_back",
        measured=share,
        criterion="MT4",
        suggestion=None
        if spans
        else Hint("MT4", "no words of reference to earlier turns were found"),
        note="; ".join(one for one in ("of replies after the first", left) if one),
    )
    asked = reading.spans_at(reading.shelf.once(_asked))
    again = reading.shelf.once(_come_back, parameters["away"], parameters["words"])
    raised = reading.spans_at(again)
    yield Signal(
        NAME,
        AGAIN,
        measured=len({one.part for one in raised} | {one.part for one in asked}),
        criterion="MT5",
        spans=tuple(raised + asked),
        suggestion=Hint("MT5", "the user seems to come back to an earlier topic")
        if raised or asked
        else None,
        note="; ".join(
            one for one in ("messages that share words with one further back", left) if one
        ),
    )


def _later(shelf: Shelf, texts: Ints) -> Bools:
    """Whether texts belong to any but the first exchange."""
    later: Bools = np.array([one.number > 0 for one in shelf.flat], np.bool_)[texts]
    return later


def _asked(shelf: Shelf) -> Spots:
    """For all items of a shelf, the words by which users ask for what was said before."""
    hits = shelf.hits(LEXICON, ("user",), "asked")
    at = np.flatnonzero(_later(shelf, hits.texts))
    return shelf.spots(hits.texts[at], hits.starts[at], hits.ends[at])


def _references(shelf: Shelf) -> Spots:
    """For all items of a shelf, the first words of each sentence that refer to earlier turns."""
    hits, labels = shelf.hits(LEXICON, ("assistant",)), np.array(shelf.scanner.labels[LEXICON])
    later = _later(shelf, hits.texts)
    back = later & (labels == "earlier")[hits.entries]
    likely = np.flatnonzero(later & (labels == "said")[hits.entries])
    back[likely] = _mean_earlier_ones(shelf, hits, likely)
    at = np.flatnonzero(back)
    sentence = np.searchsorted(shelf.sentence_starts, hits.starts[at], "right")
    at = at[np.diff(sentence, prepend=-1) > 0]
    return shelf.spots(hits.texts[at], hits.starts[at], hits.ends[at])


def _mean_earlier_ones(shelf: Shelf, hits: HitColumns, likely: Ints) -> Bools:
    """Whether hits such as "you mentioned" mean an earlier message and not the last one.

    What is meant are the words after them, up to the end of the sentence.
    """
    found, said = shelf.once(topics), shelf.once(said_by_users)
    texts, ends = hits.texts[likely], hits.ends[likely]
    sentence = np.searchsorted(shelf.sentence_starts, hits.starts[likely], "right") - 1
    stop = np.array(shelf.texts.sentences.ends, np.intp)[sentence]
    of, to = np.searchsorted(found.starts, ends), np.searchsorted(found.starts, stop)
    counts = np.maximum(to - of, 0)
    which = np.repeat(np.arange(texts.size), counts)
    words = np.arange(which.size) + np.repeat(of - (np.cumsum(counts) - counts), counts)
    stems, text = found.stems[words], texts[which]
    exchanges = shelf.exchanges
    asked = exchanges[said.texts]
    first = np.array(said.first, np.intp)[shelf.item_of[text]]
    before = np.searchsorted(asked, exchanges[text])
    up_to = np.searchsorted(asked, exchanges[text], "right")
    last_one = np.bincount(which[are_said(said, stems, before, up_to - 1)], minlength=texts.size)
    earlier = np.bincount(which[are_said(said, stems, first, before - 1)], minlength=texts.size)
    meant: Bools = (last_one == 0) & (earlier > 0)
    return meant


def _come_back(shelf: Shelf, away: int, least: int) -> Spots:
    """For all items of a shelf, the first words of each message that come back, by the alphabet."""
    said = shelf.once(said_by_users)
    message, stem = said.messages, said.stems
    item = shelf.item_of[said.texts]
    back = np.zeros(message.size, np.bool_)
    back[1:] = (stem[1:] == stem[:-1]) & (np.diff(message) > away)
    if back.any():
        back[1:] &= item[message[1:]] == item[message[:-1]]
    at = np.flatnonzero(back)
    order = np.argsort((message[at].astype(np.uint64) << np.uint64(STEM_BITS)) | stem[at])
    at = at[order]
    counts = np.bincount(message[at], minlength=said.texts.size)
    rank = np.arange(at.size) - np.repeat(np.cumsum(counts) - counts, counts)
    shown = at[(counts[message[at]] >= least) & (rank < QUOTED)]
    texts = said.texts[message[shown]]
    return shelf.spots(texts, said.starts[shown], said.ends[shown])
