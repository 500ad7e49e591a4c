"""What holds of all checks on any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.check_kit import conversation, plan, quotes_hold, response

from calibrant.core.item import Action, Conversation, FreeItem, Item, Plan, Profile, Response
from calibrant.core.parts import parts_of
from calibrant.formats.signals import BUILT_IN, Checkers
from calibrant.raters.checks.language import covered
from calibrant.raters.checks.lexicon import lexicon, lexicon_names
from calibrant.raters.checks.matcher import Matcher
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.signal import Signal
from calibrant.raters.checks.text import (
    ends_in_question,
    low,
    plain,
    question_end,
    reading_ease,
    sentences,
    syllables,
    word_count,
    words,
)

CHECKERS = Checkers()
FRAGMENTS = (
    "I’m not sure what to do.", "You should really see a doctor about that!", "What do you think?",
    "**Your sister:** it went well.", "WHY ARE YOU SHOUTING?!", "Stop taking the tablets…",
    "I don't want to be here any more", "By week 3, apply to five shops", "about 2 hours a week",
    "👍🏽", "“No,” she said.", "مرحبا", "\u200b", "שלום עולם", "  ", "\n\n", "e.g. Mr. Hay", "3.5",
    "Es tut mir leid, ich kann das nicht", "İstanbul", "\x00", "\x01", "ẞ", "- one\n- two\n", "?",
    "guaranteed to work", "it is dying to see you", "\u202e", "ﬁne", "x" * 300, "a'b'c", "___",
)  # fmt: skip
fragments = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=8).map(" ".join)
texts = st.one_of(st.text(min_size=1, max_size=80), fragments).filter(lambda text: text.strip())


@st.composite
def items(draw: st.DrawFn) -> Item:
    match draw(st.sampled_from(("conversation", "response", "plan", "free"))):
        case "conversation":
            turns = draw(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
            return conversation(*turns)
        case "response":
            return response(draw(texts), draw(texts))
        case "plan":
            some = st.one_of(st.none(), texts)
            action = st.builds(
                Action, action=texts, metric=some, baseline=some, target=some, deadline=some,
                rationale=some, effort_estimate=some, first_step=some, more=st.just({}),
            )  # fmt: skip
            listed = st.one_of(st.none(), st.lists(texts, max_size=2).map(tuple))
            profile = st.builds(
                Profile, goal=texts, hours_per_week=st.one_of(st.none(), st.just(5)),
                timeframe_weeks=st.one_of(st.none(), st.just(8)), skills=listed, barriers=listed,
                confidence=st.one_of(st.none(), st.integers(1, 5)), lacks=listed, more=st.just({}),
            )  # fmt: skip
            actions = tuple(draw(st.lists(action, min_size=1, max_size=4)))
            return Plan(id="p", profile=draw(profile), actions=actions)
        case _:
            return FreeItem(id="f", content={"a": draw(texts), "b": [draw(texts), {"c": 1}]})


def found_in(item: Item) -> tuple[Signal, ...]:
    return CHECKERS.of(item.kind).signals(item)


@settings(max_examples=150, deadline=None)
@given(items())
def test_no_text_makes_a_check_fail_and_every_span_quotes_the_item(item: Item) -> None:
    found = found_in(item)
    quotes_hold(item, found)
    for one in found:
        assert not (one.not_measured or "").startswith("failed"), one
        assert one.not_measured is None or one.measured is None, one
        assert one.check and one.signal
    if item.kind in BUILT_IN:
        assert found


@settings(max_examples=60, deadline=None)
@given(items())
def test_the_same_item_gives_the_same_signals(item: Item) -> None:
    assert found_in(item) == found_in(item)


def _padded(item: Item, pad: str) -> Item:
    """The item with room before each of its longer texts."""
    match item:
        case Conversation():
            return conversation(*((pad + one.user, pad + one.assistant) for one in item.exchanges))
        case Response():
            return response(pad + item.question, pad + item.response)
        case Plan():
            actions = (Action(action=pad + one.action) for one in item.actions)
            return plan(*actions, goal=pad + item.profile.goal)
        case _:
            return item


PROSE = st.lists(
    st.sampled_from([one for one in FRAGMENTS if one.isprintable() and len(one) > 4]),
    min_size=1,
    max_size=5,
).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(PROSE, PROSE), min_size=1, max_size=4),
    st.sampled_from(["\n", "  \n", "\n\n\n"]),
)
def test_padding_shifts_spans_and_nothing_else(turns: list[tuple[str, str]], pad: str) -> None:
    for item in (conversation(*turns), response(*turns[0]), plan(*(one for one, _ in turns))):
        before, after = found_in(item), found_in(_padded(item, pad))
        assert [(one.signal, one.measured, one.suggestion) for one in before] == [
            (one.signal, one.measured, one.suggestion) for one in after
        ]
        for one, other in zip(before, after, strict=True):
            moved = [(span.part, span.start + len(pad), span.text) for span in one.spans]
            assert moved == [(s.part, s.start, s.text) for s in other.spans], one.signal


# -- the scan


MATCHER = Matcher([lexicon(name) for name in lexicon_names()])
SENTENCES = sorted(
    sentence
    for name in lexicon_names()
    for entry in lexicon(name).entries
    for sentence in entry.found_in
)


def places(text: str) -> list[tuple[int, int]]:
    return [(hit.start, hit.end) for hit in MATCHER.scan(low(text))]


def test_case_and_typography_change_no_hit() -> None:
    for sentence in SENTENCES:
        here = places(sentence)
        if len(sentence.upper()) == len(sentence):
            assert places(sentence.upper()) == here, sentence
        for sign, usual in (("'", "’"), (" ", "\u00a0"), ("-", "‑"), ('"', "“")):
            assert places(sentence.replace(sign, usual)) == here, sentence
        room = "🙂 \u202b" + "שלום. "
        assert places(room + sentence) == [(a + len(room), b + len(room)) for a, b in here]


def test_signs_between_letters_do_not_hide_a_phrase() -> None:
    for sentence in SENTENCES[:200]:
        for before, after in places(sentence):
            quoted = sentence[before:after]
            broken = quoted[0] + "\u200b" + quoted[1:]
            text = sentence[:before] + broken + sentence[after:]
            assert (before, after + 1) in places(text), sentence


# -- plain functions


@given(st.text(max_size=300))
def test_plain_and_low_keep_every_place(text: str) -> None:
    assert len(plain(text)) == len(low(text)) == len(text)
    assert plain(plain(text)) == plain(text)


@given(texts)
def test_words_and_sentences_lie_in_the_text_in_order(text: str) -> None:
    for found in (words(text), sentences(text)):
        flat = [place for span in found for place in span]
        assert flat == sorted(flat)
        assert all(text[start:end].strip() == text[start:end] != "" for start, end in found)
    kept = "".join(text[start:end] for start, end in sentences(text))
    assert re.sub(r"\s", "", kept) == re.sub(r"\s", "", text)


@given(texts)
def test_counting_words_does_not_depend_on_the_way(text: str) -> None:
    """By spaces in narrow text, by patterns in wide text: a wide letter switches the way."""
    assert word_count(f"{text} Ж") == word_count(text) + 1
    assert word_count(text) >= 0
    assert (word_count(text) > 0) or not any(sign.isalpha() for sign in text)


@given(texts)
def test_questions_end_with_their_mark(text: str) -> None:
    at = question_end(text)
    assert (at is not None) == ends_in_question(text)
    if at is not None:
        assert plain(text)[at] == "?"
        assert not any(sign.isalnum() for sign in text[at:])
    assert ends_in_question(f"{text} Why? 🙂")
    assert not ends_in_question(f"{text} So.")


@given(texts)
def test_readability_is_a_number(text: str) -> None:
    ease = reading_ease(text)
    assert ease is None or isinstance(ease, float)
    assert syllables(text) >= 1


def test_a_reading_of_marks_of_its_own_stays_whole() -> None:
    item = conversation(("a\x00b c", "d\x00"), ("e", "f g"))
    reading = Reading(item)
    assert [reading.word_count(part) for part in reading.parts] == [3, 1, 1, 2]
    assert [reading.plain(part) for part in reading.parts] == ["a b c", "d ", "e", "f g"]
    assert [part.name for part in parts_of(item)][:2] == [
        "exchanges[0].user",
        "exchanges[0].assistant",
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("a - b", 2), ("don’t", 1), ("and/or", 1), ("Мне очень плохо", 3), ("你好", 2),
     ("hi 👍🏽 there", 2), ("x²", 1), ("one — two", 2), ("_", 0), ("re-do\nit", 2)],
)  # fmt: skip
def test_words_are_counted(text: str, count: int) -> None:
    assert word_count(text) == count


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith came, e.g. today. Good.", ["Dr. Smith came, e.g. today.", "Good."]),
        ("It cost 3.5 pounds.", ["It cost 3.5 pounds."]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        ("“Fine.” He left", ["“Fine.”", "He left"]),
        ("**Sleep:** bad.\n\n**Work:** good", ["**Sleep:** bad.", "**Work:** good"]),
        ("Well... perhaps…  Yes", ["Well...", "perhaps…", "Yes"]),
        ("  \n ", []),
        ("a\n \nb .", ["a", "b ."]),
    ],
)
def test_sentences_end_where_they_end(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == parts


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("I feel that nobody wants to talk to me", True),
        ("ok 👍", True),
        ("Kill me now", True),
        ("I want to see my tía María José", True),
        ("Apply Monday, call Tuesday", True),
        ("No quiero vivir", False),
        ("Ich will nicht mehr leben", False),
        ("Je ne veux plus être ici", False),
        ("Мне очень плохо", False),
        ("我想死", False),
        ("أريد أن أموت", False),
        ("死にたい。 ok", False),
    ],
)
def test_languages_are_told_apart(text: str, right: bool) -> None:
    assert covered(low(text), "en") is right
