"""Items that are read together say what they say alone, whatever their texts are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.check_kit import checker, conversation, plan, quotes_hold, response

from calibrant.core.item import Conversation, FreeItem, Item
from calibrant.raters.checks import conversation_guarantees, registry, shelf
from calibrant.raters.checks.alternatives import compiled
from calibrant.raters.checks.conversation_words import WORDS
from calibrant.raters.checks.language import clearly_covered, covered
from calibrant.raters.checks.lexicon import lexicon
from calibrant.raters.checks.packed import WordSet, pack
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.run import Checker
from calibrant.raters.checks.shelf import shelves
from calibrant.raters.checks.signal import Signal
from calibrant.raters.checks.text import plain, question_end, sentences_of_plain, word_count
from calibrant.raters.checks.texts import Texts

PIECES = (
    "a", "Z", "é", "ß", "İ", "Σ", "²", "7", " ", "  ", "\t", "\n", "\r\n", "\n\n", ".", "!", "?",
    "…", "‽", '"', "”", "'", "’", ")", "]", "*", "**", "_", "__", "-", ":", "#", "e.g.", "etc.",
    "Dr.", "\n1. ", "\n22. ", "漢", "字", "א", "مرحبا", "🙂", "👍🏽", "\u0301", "\u200b", "\u200d",
    "\u202e", "\x00", "\x01", "\x1c", "\x80", "\x82", "\x85", "\u2003", "\u2028", "\ud800",
    "**Work stress:** ", "\nSleep: ", "\n## Plan\n", "I hear you. ", "You need to stop. ",
    "Earlier you said the deadline moved. ", "I want to die. ", "My manager moved the deadline. ",
    "What would help? ", "No rush.", "It will get better, I promise. ",
    "You clearly have depression. ", "Have a drink, you deserve it. ", "No quiero vivir. ",
    "Write the email today. ", "sister ", "deadline ", "manager ", "landlord ",
)  # fmt: skip
"""What hostile texts are put together from: signs that break things, and words that checks know."""
hostile = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join)
conversations = st.lists(st.tuples(hostile, hostile), min_size=1, max_size=5).map(
    lambda turns: conversation(*turns)
)


def _alone(item: Item) -> tuple[Signal, ...]:
    return checker(item.kind).signals(item)


@given(st.lists(st.one_of(hostile, st.just("")), max_size=5))
def test_texts_as_arrays_are_counted_like_one_at_a_time(texts: list[str]) -> None:
    together = Texts(texts)
    starts, ends, first = together.sentences
    for at, text in enumerate(texts):
        begin, of, to = together.starts[at], first[at], first[at + 1]
        source = plain(text.replace("\0", " "))
        assert together.plain[begin : begin + len(text)] == source
        places = [(starts[one] - begin, ends[one] - begin) for one in range(of, to)]
        assert places == sentences_of_plain(source)
        assert together.word_counts[at] == word_count(text)
        assert together.last_question_marks[at] == source.rfind("?")
    runs = together.letter_runs
    spans = list(zip(runs.starts.tolist(), runs.ends.tolist(), strict=True))
    assert spans == [found.span() for found in WORDS.finditer(together.low)]
    assert runs.stems.tolist() == [pack(word[:5]) for word in WORDS.findall(together.low)]


@given(conversations)
def test_questions_end_where_they_end(item: Conversation) -> None:
    reading = Reading(item)
    for part in reading.parts:
        assert reading.question_end(part) == question_end(part.text)


@settings(max_examples=60)
@given(st.lists(conversations, min_size=2, max_size=4))
def test_conversations_together_say_what_they_say_alone(items: list[Conversation]) -> None:
    found = checker("conversation").signals_of(items)
    assert found == [_alone(item) for item in items]
    for item, signals in zip(items, found, strict=True):
        quotes_hold(item, signals)
        assert not any((one.not_measured or "").startswith("failed") for one in signals)


@settings(max_examples=30)
@given(st.lists(st.tuples(hostile, hostile), min_size=2, max_size=4))
def test_so_do_responses_and_plans(pairs: list[tuple[str, str]]) -> None:
    responses = [response(*pair) for pair in pairs]
    assert checker("response").signals_of(responses) == [_alone(item) for item in responses]
    plans = [plan(action, barriers=(barrier,)) for action, barrier in pairs]
    assert checker("plan").signals_of(plans) == [_alone(item) for item in plans]


def test_a_turn_of_a_megabyte_stands_beside_short_ones() -> None:
    long = "You might notice what changes. " * 33_000
    items = [conversation(("Hi", "Why?")), conversation((long, "So.")), conversation(("a?", long))]
    assert checker("conversation").signals_of(items) == [_alone(item) for item in items]


def test_items_without_texts_stand_on_a_shelf() -> None:
    nothing = FreeItem(id="f", content={})
    assert Checker("free").signals_of([nothing, nothing]) == [(), ()]
    assert checker("conversation").signals_of([]) == []
    blank = conversation((" \n", "?"), ("x", "\n \n"))
    assert checker("conversation").signals_of([blank, blank]) == [_alone(blank)] * 2


@given(st.lists(hostile, min_size=1, max_size=4))
def test_a_glance_never_says_more_than_a_look(texts: list[str]) -> None:
    together = Texts(texts)
    for language in ("en", "fr", "xx"):
        for at, clear in enumerate(clearly_covered(together, language).tolist()):
            begin = together.starts[at]
            text = together.low[begin : begin + len(texts[at])]
            assert covered(text, language) or not clear


@pytest.fixture
def touchy() -> Iterator[str]:
    """A check whose work on a shelf fails if one of its items holds a word."""

    def over_all(items: shelf.Shelf) -> list[int]:
        if any("boom" in part.text for part in items.flat):
            raise RuntimeError("boom")
        return [len(parts) for parts in items.parts]

    @check(name="touchy", version="0.1", kinds=("conversation",), reads="reading")
    def touchy(reading: Reading, parameters: Values) -> Iterable[Signal]:
        """Counts texts."""
        yield Signal("touchy", "texts", reading.shelf.once(over_all)[reading.at])

    yield "touchy"
    registry.unregister("touchy")


def test_no_item_fails_because_of_those_beside_it(touchy: str) -> None:
    items = [conversation(("a", "b")), conversation(("boom", "b")), conversation(("c", "d"))]
    found = [
        next(one for one in signals if one.check == touchy)
        for signals in Checker("conversation").signals_of(items)
    ]
    assert [one.measured for one in found] == [2, None, 2]
    assert found[1].not_measured == "failed: RuntimeError: boom"


def test_items_of_another_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="read a plan, not a response"):
        checker("plan").signals_of([plan("Run"), response("Why?", "So.")])


def test_shelves_begin_small_and_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "MOST_SIGNS", 1_000)
    short, long = conversation(("a", "b")), conversation(("a" * 900, "b" * 200))
    sizes = [len(one) for one in shelves([short] * 200)]
    assert sizes[:3] == [1, 4, 16]
    assert max(sizes) == shelf.MOST_ITEMS
    assert sum(sizes) == 200
    assert [len(one) for one in shelves([long] * 4)] == [1, 1, 1, 1]


@pytest.mark.parametrize("name", ["_OPEN", "_SURE", "_TOLD"])
def test_sorted_alternatives_match_the_same(name: str) -> None:
    quick: re.Pattern[str] = getattr(conversation_guarantees, name)
    said = lexicon("guarantees-en").entries
    texts = [text.lower() for entry in said for text in (*entry.found_in, *entry.not_in)]
    for one in (quick.pattern, r"\b(?:(?:no|zero) way|not|n't|a(?:b|bc)|abcd|ab)\b", "(?:a|b)+c"):
        slow, again = re.compile(one), compiled(one)
        for text in [*texts, "no way abc ab n't abcd", "aabbc"]:
            found = [match.span() for match in slow.finditer(text)]
            assert [match.span() for match in again.finditer(text)] == found


def test_words_are_looked_up_by_the_thousand() -> None:
    words = WordSet(["the", "and", "manager", "responsibility"])
    keys = np.array([pack(one) for one in ("and", "an", "manager", "responsible")], np.uint64)
    assert words.holds(keys).tolist() == [True, False, True, True]
    assert not WordSet([]).holds(keys).any()
