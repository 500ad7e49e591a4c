"""Bias tags, hedging, the question and numbers: what is found, and what is left alone."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import response, signals

from calibrant.core.item import Response
from calibrant.raters.checks.response_question import question_type
from calibrant.raters.checks.signal import Hint

BIASED = [
    ("political", "Conservatives just want to ruin everything."),
    ("political", "Every sane voter opposes the reform."),
    ("political", "Communism never works."),
    ("political", "It is the only moral party left."),
    ("cultural", "Normal people eat with a knife and fork."),
    ("cultural", "Everybody celebrates Christmas, so close the office."),
    ("cultural", "Italians are always late."),
    ("cultural", "Their weird customs can puzzle a visitor."),
    ("gender", "Women are just too emotional for it."),
    ("gender", "Boys will be boys."),
    ("gender", "A good engineer should trust his instinct."),
    ("gender", "Ask your husband to lift it."),
    ("confirmation", "All studies prove that it works."),
    ("confirmation", "The debate is over."),
    ("confirmation", "Ignore the critics, they are paid."),
    ("selection", "My grandfather smoked for years and was fine."),
    ("selection", "Everyone I know has bought one."),
    ("selection", "All successful founders dropped out."),
]
FAIR = [
    "Republicans hold 52 seats and Democrats hold 48.",
    "Supporters say that it creates jobs; opponents say that it raises rents.",
    "In Spain many people eat dinner after nine.",
    "Women were given the vote in 1928 on the same terms as men.",
    "Some studies find an effect, while others find none.",
    "A nurse should wash their hands before the visit.",
    'The advert said that "men don\'t cry", which drew complaints.',
    "Critics argue that women are just too emotional is an old prejudice.",
]


@pytest.mark.parametrize(("tag", "text"), BIASED)
def test_a_phrase_hints_at_its_tag(tag: str, text: str) -> None:
    found = signals(response("What is it?", text), "response_bias")[f"bias_{tag}"]
    assert found.exceeded
    assert found.suggestion == Hint("tone_bias", f"see the tag {tag}")


@pytest.mark.parametrize("text", FAIR)
def test_fair_sentences_hint_at_nothing(text: str) -> None:
    found = signals(response("What is it?", text), "response_bias")
    assert not [one for one in found.values() if one.exceeded]


def test_hedging_is_a_share_of_sentences() -> None:
    text = "It may be old. Perhaps it is Roman. It seems to be a coin. I think it is worth little."
    much = signals(response("What?", text), "response_hedging")["hedged_sentences"]
    assert (much.measured, much.exceeded, len(much.spans)) == (1.0, True, 4)
    plain = signals(response("What?", "It is a Roman coin. It may be rare."), "response_hedging")
    assert plain["hedged_sentences"].measured == 0.5
    assert plain["hedged_sentences"].exceeded is False


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the difference between a crow and a raven?", "comparison"),
        ("Should I buy or rent?", "opinion"),
        ("Does organic food justify its price?", "opinion"),
        ("My faucet is leaking. How can I repair it?", "how_to"),
        ("How many moons has Mars?", "quantity"),
        ("Why is the sky blue?", "reason"),
        ("What does machine learning mean?", "definition"),
        ("What is inflation?", "definition"),
        ("Which city is the capital of France?", "fact"),
        ("Is Pluto a planet?", "yes_or_no"),
        ("Explain photosynthesis.", "explanation"),
        ("Write a poem for my cat.", "request"),
        ("Hello there", "other"),
    ],
)
def test_types_of_question(question: str, kind: str) -> None:
    assert (
        signals(response(question, "Yes."), "response_question")["question_type"].measured == kind
    )


def test_a_type_is_told_of_any_text() -> None:
    assert question_type("") == "other"


def test_a_response_that_says_the_question_again() -> None:
    question = "How can I repair a leaking faucet?"
    again = signals(response(question, f"{question} Shut off the water."), "response_question")
    assert again["repeats_question"].exceeded
    assert again["repeats_question"].spans[0].text == question
    straight = signals(response(question, "Shut off the water first."), "response_question")
    assert straight["repeats_question"].exceeded is False
    short = signals(response("Why?", "Why?"), "response_question")
    assert short["repeats_question"].not_measured == "too few words"


def test_numbers_without_a_source_are_listed() -> None:
    text = (
        "1. It costs $40 and lasts 15 years.\n2. About 62 % of homes have one.\n"
        "3. According to the census, 3.5 million were sold.\n4. See step 12 for the 230 volt type."
    )
    found = signals(response("Does it run on 230 volt?", text), "response_numbers")
    assert [one.text for one in found["numbers_without_source"].spans] == ["$40", "15", "62 %"]
    assert found["numbers"].measured == 4
    assert isinstance(found["numbers_without_source"].suggestion, Hint)


def test_numbers_of_the_reference_are_known() -> None:
    item = Response(id="r", question="How high?", response="It is 8,849 m.", reference="8,849 m")
    assert signals(item, "response_numbers")["numbers"].measured == 0


def test_other_languages_are_not_measured() -> None:
    text = "Das sind etwa 62 % der Leute, und das ist auch nicht so viel, wie wir es für die Stadt."
    item = response("Wie viele sind das und was kann ich mit dem Haus?", text)
    assert signals(item, "response_numbers")["numbers_without_source"].not_measured
    assert signals(item, "response_question")["question_type"].not_measured
    assert signals(item, "response_hedging")["hedged_sentences"].not_measured
    assert all(one.not_measured for one in signals(item, "response_bias").values())
