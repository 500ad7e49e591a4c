"""Length, openers, endings, sections, framing, history and coverage of conversations."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import conversation, signals

from calibrant.formats.rubric_file import load_rubric
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.run import Checker
from calibrant.raters.checks.signal import SuggestAnswer


def test_words_and_ratios() -> None:
    item = conversation(("one two", "a b c d e f"), ("one two", "a b"), ("one", "a b c d e"))
    found = signals(item, "conversation_length")
    assert found["words_per_message"].measured == pytest.approx(5 / 3)
    assert found["words_per_reply"].measured == pytest.approx(13 / 3)
    assert found["ratio_mean"].measured == pytest.approx(3)
    assert found["share_over_2x"].measured == pytest.approx(2 / 3)
    assert found["share_over_3x"].measured == pytest.approx(2 / 3)
    assert found["ratio_maximum"].measured == 5
    assert found["share_over_3x"].exceeded is False
    stricter = signals(item, "conversation_length", share="0.5")["share_over_3x"]
    assert stricter.suggestion == SuggestAnswer("CP2", "NO")


def test_essays_and_messages_without_words() -> None:
    found = signals(conversation(("one two", "word " * 400)), "conversation_length")
    assert found["share_of_essays"].measured == 1
    found = signals(conversation(("👍", "word")), "conversation_length")
    assert found["ratio_mean"].not_measured


@pytest.mark.parametrize(
    ("reply", "asks"),
    [
        ("That was brave. How did it feel?", True),
        ("How did it feel? 💛", True),
        ("**How did it feel?**", True),
        ("(Or is that too much?)", True),
        ("How did it feel? Take your time.", True),
        ("How did it feel?\n\nWarmly, Sam", True),
        ("How did it feel? No rush.", True),
        ("How did it feel？", True),
        ('What would it be to say, "Is that my job?"', True),
        ('You asked yourself, "why me?"', False),
        ("How did it feel? I ask because you went quiet.", False),
        ("I wonder how it felt.", False),
        ("Take your time.", False),
    ],
)
def test_what_ends_in_a_question(reply: str, asks: bool) -> None:
    found = signals(conversation(("Hello.", reply)), "conversation_endings")
    assert found["share_of_question_endings"].measured == float(asks)


def test_openers_that_come_again() -> None:
    item = conversation(
        ("a", "I hear you. Work is a lot."),
        ("b", "**Sleep:** I hear you. Nights are long."),
        ("c", "I hear you, and the move is soon."),
        ("d", "The garden sounds lovely."),
    )
    found = signals(item, "conversation_openers")
    assert found["share_of_repeated_openers"].measured == 0.75
    assert found["share_of_stock_openers"].measured == 0.75
    assert found["share_of_formulaic_openings"].suggestion == SuggestAnswer("CP4", "NO")


def test_labels_are_no_openers() -> None:
    item = conversation(
        ("a", "**Work stress:** Deadlines moved."),
        ("b", "**Work stress:** Your boss rang."),
        ("c", "**Work stress:** Monday went well."),
    )
    found = signals(item, "conversation_openers")
    assert found["share_of_repeated_openers"].measured == 0
    assert found["share_of_formulaic_openings"].suggestion == SuggestAnswer("CP4", "YES")


def test_sections_and_sentences() -> None:
    reply = (
        "**Work stress:** It is a lot. You carry it. It shows.\n\n"
        "**Your sister**\nShe called. You answered.\n\n"
        "Sleep: Four hours."
    )
    item = conversation(
        ("Work stress again, and my sister called.", reply), ("ok", "Just **so** it is.")
    )
    found = signals(item, "conversation_sections")
    assert found["share_with_labels"].measured == 0.5
    assert [one.text for one in found["share_with_labels"].spans] == [
        "**Work stress:**",
        "**Your sister**",
        "Sleep:",
    ]
    assert found["sections_per_reply"].measured == 3
    assert found["sentences_per_section"].measured == 2
    assert found["labels_in_the_users_words"].measured == pytest.approx(2 / 3)
    assert found["share_of_even_depth"].measured == 0


def test_even_depth_is_told() -> None:
    reply = "**Work:** One thing. Two things.\n\n**Sleep:** One thing. Two things."
    item = conversation(*[("Work and sleep.", reply)] * 3)
    assert signals(item, "conversation_sections")["share_of_even_depth"].exceeded


ORDERS = [
    "You need to stop seeing him.",
    "You should try meditation.",
    "You've got to stop.",
    "It's essential that you rest.",
    "Quit the job.",
    "First, write down three goals.",
    "Do not let her move back in.",
]
NO_ORDERS = [
    "You could try writing it down.",
    "You don't have to tell me.",
    "You must have been tired.",
    "Do you think you should tell her?",
    "Your boss told you that you need to be tougher.",
    "Take your time.",
    "Work has been heavy.",
    "Let's stay with that.",
]


@pytest.mark.parametrize(
    ("sentence", "order"), [(one, True) for one in ORDERS] + [(one, False) for one in NO_ORDERS]
)
def test_prescriptive_sentences(sentence: str, order: bool) -> None:
    found = signals(conversation(("Hello.", sentence)), "conversation_framing")
    assert found["prescriptive_sentences"].measured == int(order)


def test_framing_over_a_conversation() -> None:
    item = conversation(
        ("a", "Perhaps it can wait. I wonder what you make of it."),
        ("b", "You need to leave him. Go today."),
    )
    found = signals(item, "conversation_framing")
    assert found["share_prescriptive"].measured == 0.5
    assert found["first_prescriptive_exchange"].measured == 2
    assert found["share_of_tentative_framing"].measured == 0.5
    foreign = conversation(("a", "Das ist nicht gut, und ich glaube, dass du gehen musst."))
    for one in signals(foreign, "conversation_framing").values():
        assert one.not_measured == NOT_COVERED


def test_references_back_and_topics_raised_again() -> None:
    item = conversation(
        ("My sister's wedding is in June.", "A wedding in June."),
        ("My boss shouts at the office.", "You mentioned your boss, and the shouting."),
        ("The wedding is near and my sister is nervous.", "Earlier you said June. So it is soon."),
        ("Fine.", "You mentioned the office, and I think of it still."),
    )
    found = signals(item, "conversation_history")
    assert found["references_back"].measured == 2
    assert found["topics_raised_again"].measured == 1
    assert {one.text for one in found["topics_raised_again"].spans} == {"wedding", "sister"}
    asked = conversation(("Hi.", "Hello."), ("Do you remember my mother?", "Yes."))
    assert signals(asked, "conversation_history")["topics_raised_again"].measured == 1
    short = signals(conversation(("Hi.", "Hello.")), "conversation_history")
    assert all(one.not_measured for one in short.values())


def test_sentences_that_nobody_takes_up() -> None:
    message = "Work stress is crushing me badly. Sleeping badly every single night lately."
    found = signals(conversation((message, "Work sounds crushing.")), "conversation_coverage")
    (span,) = found["sentences_not_taken_up"].spans
    assert span.text.startswith("Sleeping")
    both = signals(
        conversation((message, "Work is one; sleeping is the other.")), "conversation_coverage"
    )
    assert both["sentences_not_taken_up"].measured == 0


def test_every_criterion_of_the_issue_has_evidence() -> None:
    rubric = load_rubric("coaching-conversation")
    item = conversation(*[("Work and sleep.", "**Work:** It is a lot. Is it?")] * 3)
    found = Checker("conversation", rubric).signals(item)
    named = {one.criterion for one in found}
    assert named >= {"CP2", "CP4", "CP5", "MT1", "MT2", "MT4", "MT5", "MT6", "CQ6", "CQ8", "CQ9"}
    assert not [one for one in found if (one.not_measured or "").startswith("failed")]


@pytest.mark.parametrize(
    "text",
    ["", " ", "👍👍", "שלום עולם", "?" * 50, "**", "a" * 5000, "\x00\x01", "IM FINE!!!", "٣"],
)
def test_odd_texts_do_no_harm(text: str) -> None:
    item = conversation((text or "x", text or "y"), ("x", text or "z"))
    for one in Checker("conversation").signals(item):
        assert not (one.not_measured or "").startswith("failed"), one
