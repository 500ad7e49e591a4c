"""One scan finds every phrase, at the edges of words, and quotes the source."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import conversation

from calibrant.raters.checks.lexicon import Entry, Lexicon
from calibrant.raters.checks.matcher import Matcher
from calibrant.raters.checks.reading import Reading, Scanner
from calibrant.raters.checks.text import low


def _lexicon(
    *phrases: str, unless: tuple[str, ...] = (), exceptions: tuple[str, ...] = ()
) -> Lexicon:
    entry = Entry(phrases, "", ("x",), ("y",), unless)
    return Lexicon("t", "en", "1.0", "a test", 4, (entry,), exceptions)


def found(text: str, *phrases: str, **more: tuple[str, ...]) -> list[str]:
    hits = Matcher([_lexicon(*phrases, **more)]).scan(low(text))
    return [text[hit.start : hit.end] for hit in hits]


@pytest.mark.parametrize(
    ("text", "phrase", "hits"),
    [
        ("A lawyer, not lawyers or a lawyerly one", "lawyer", ["lawyer"]),
        ("A lawyer, not lawyers or a lawyerly one", "lawyer*", ["lawyer", "lawyers", "lawyerly"]),
        ("We stopped. They were stopping", "stop~", ["stopped", "stopping"]),
        ("I can't, but I can", "can", ["can"]),
        ("I DON’T CARE", "don't care", ["DON’T CARE"]),
        ("i dont care", "don't care", ["dont care"]),
        ("you *really* **must** go", "really must go", ["really* **must** go"]),
        ("well  spaced   words", "well spaced words", ["well  spaced   words"]),
        ("broken\nacross lines", "broken across", ["broken\nacross"]),
        ("one paragraph\n\nanother", "paragraph another", []),
        ("hid\u200bden", "hidden", ["hid\u200bden"]),
        ("İstanbul calling", "calling", ["calling"]),
        ("👍🏽 great 👍🏽", "great", ["great"]),
        ("\u202eשלום great\u202c", "great", ["great"]),
        ("leave all of the pills", "leave ... pills", ["leave all of the pills"]),
        ("leave now. Pills", "leave ... pills", []),
        ("leave one two three four five pills", "leave ... pills", []),
        ("leave, please, the pills", "leave ... pills", ["leave, please, the pills"]),
        ("leave pills", "leave ... pills", ["leave pills"]),
        ("leave all\n\npills", "leave ... pills", []),
        (
            "I do hope you will see",
            "(i|we) (do |really |) (hope|trust) you (will|) (see|know)",
            ["I do hope you will see"],
        ),
        (
            "We trust you know",
            "(i|we) (do |really |) (hope|trust) you (will|) (see|know)",
            ["We trust you know"],
        ),
        ("Wei trust you know", "(i|we) (do |really |) (hope|trust) you (will|) (see|know)", []),
        ("we trust you knowing", "(i|we) (do |really |) (hope|trust) you (will|) (see|know)", []),
        ("we trust, you know", "(i|we) (do |really |) (hope|trust) you (will|) (see|know)", []),
        ("a better band of advisers", "better ... advis*", ["better band of advisers"]),
        ("First, a word", "first (,|) a word", ["First, a word"]),
        ("first a word", "first (,|) a word", ["first a word"]),
        ("grateful, then", "(more|) grateful (,|for)", ["grateful,"]),
    ],
)
def test_phrases_are_found_where_they_stand(text: str, phrase: str, hits: list[str]) -> None:
    assert found(text, phrase) == hits


def test_exceptions_undo_what_they_overlap() -> None:
    text = "Ask the doctor, not the doctor receptionist"
    assert found(text, "doctor", unless=("doctor receptionist",)) == ["doctor"]
    assert found(text, "doctor", exceptions=("ask the doctor",)) == ["doctor"]


def test_no_lexicon_finds_nothing() -> None:
    assert Matcher([]).scan("anything") == []


def test_a_lexicon_is_looked_for_in_the_words_it_is_about() -> None:
    entry = Entry(("fine",), "", ("x",), ("y",), ())
    users = Lexicon("users", "en", "1.0", "a test", 4, (entry,), (), ("user",))
    anyone = Lexicon("anyone", "en", "1.0", "a test", 4, (entry,), ())
    item = conversation(("I am fine", "Fine?"), ("Yes, fine", "How fine."))
    reading = Reading(item, Scanner([users, anyone]))
    assert [hit.part.name for hit in reading.hits("users")] == [
        "exchanges[0].user",
        "exchanges[1].user",
    ]
    assert [hit.text for hit in reading.hits("anyone")] == ["fine", "Fine", "fine", "fine"]
    assert [hit.start for hit in reading.hits("anyone", "assistant")] == [0, 4]
    with pytest.raises(ValueError, match="is about the words of"):
        reading.hits("users", "assistant")
