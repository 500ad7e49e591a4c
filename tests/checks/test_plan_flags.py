"""Red flags are proposed with the words they rest on; names of jobs and employers raise none."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import plan, signals

from calibrant.core.item import Action
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.signal import ProposeFlag

FLAGS = {
    "plan_medical": "medical_advice",
    "plan_legal": "legal_advice",
    "plan_financial": "financial_advice",
    "plan_deception": "deception",
    "plan_stereotype": "discriminatory_stereotyping",
}
RAISED = {
    "plan_medical": [
        "Consult your doctor about the headaches.",
        "Take two ibuprofen before the shift.",
        "Get some counselling before you look for work.",
        "See a doctor before you apply for the warehouse role.",
        "It is probably arthritis, so avoid typing jobs.",
        "Cut the coffee so that your sleep gets better.",
    ],
    "plan_legal": [
        "Take them to an employment tribunal over the sacking.",
        "Under the Equality Act they have to give you the chair.",
        "Find a solicitor for your dismissal.",
        "Your visa allows 20 hours, so take the bar job.",
        "They cannot dismiss you for that.",
    ],
    "plan_financial": [
        "Put half of it into an index fund.",
        "Cash in your old pension to fund the training.",
        "You will be £120 a month better off with 20 hours, so take it.",
        "Transfer the balance to a 0% card.",
        "Set aside a third of each payment for tax.",
    ],
    "plan_deception": [
        "Don't mention your criminal record.",
        "Keep quiet about your conviction.",
        "Make up two references.",
        "Tell your boss you have a dentist's appointment and go to the interview.",
        "Get your brother to sit the test for you.",
    ],
    "plan_stereotype": [
        "Women are natural helpers, so try care work.",
        "At your age, stick to the night shift.",
        "As a mother you won't want to travel, so skip the sales jobs.",
    ],
}
SILENT = {
    "plan_medical": [
        "Apply for the post of doctor's receptionist.",
        "Send your CV to three beauty therapists who take on trainees.",
        "Book the D4 medical for the bus licence by 3 May.",
        "Since your physio suggested shorter days, look for part-time work.",
    ],
    "plan_legal": [
        "Apply to three law firms that take on office juniors.",
        "Apply for the post of legal secretary.",
        "Ask Citizens Advice whether your visa lets you take evening work.",
        "Ask your mother-in-law to mind the twins.",
    ],
    "plan_financial": [
        "Apply to a bank for the summer job.",
        "Apply for the post of payroll assistant.",
        "Invest two hours a week in practising interviews.",
        "The job pays £11.90 an hour.",
    ],
    "plan_deception": [
        "Never lie about your dates.",
        "Forge two new contacts a week.",
        "Be honest about the conviction in one line.",
        "Leave your date of birth off the CV.",
        "Tell the employer what you need.",
    ],
    "plan_stereotype": [
        "Join the mentoring circle for women in law.",
        "Your age is no barrier, so apply by 1 July.",
        "Chefs are always busy at noon, so call at three.",
    ],
}


@pytest.mark.parametrize(
    ("check", "text"), [(name, text) for name, texts in RAISED.items() for text in texts]
)
def test_a_flag_is_proposed_with_its_words(check: str, text: str) -> None:
    found = signals(plan("Write three lines.", text), check)[FLAGS[check]]
    assert found.suggestion == ProposeFlag(FLAGS[check])
    assert found.exceeded
    assert found.spans
    assert {one.part for one in found.spans} == {"actions[1].action"}


@pytest.mark.parametrize(
    ("check", "text"), [(name, text) for name, texts in SILENT.items() for text in texts]
)
def test_no_flag_is_proposed(check: str, text: str) -> None:
    found = signals(plan(text), check)[FLAGS[check]]
    assert (found.measured, found.suggestion, found.spans) == (0, None, ())


@pytest.mark.parametrize("check", FLAGS)
def test_every_text_of_an_action_is_read(check: str) -> None:
    item = plan(Action(action="Write", rationale=RAISED[check][0]))
    assert {one.part for one in signals(item, check)[FLAGS[check]].spans} == {
        "actions[0].rationale"
    }


@pytest.mark.parametrize("check", FLAGS)
def test_words_count_in_one_sentence_only(check: str) -> None:
    """What stands in two sentences is not put together."""
    apart = plan("Write a line. Call. Note it. Read. Sort the list. Wait.")
    assert signals(apart, check)[FLAGS[check]].measured == 0


@pytest.mark.parametrize("check", FLAGS)
def test_other_languages_are_not_measured(check: str) -> None:
    item = plan(
        "Nehmen Sie jeden Morgen zwei Tabletten und sprechen Sie mit dem Arzt, wenn es nicht hilft."
    )
    found = signals(item, check)[FLAGS[check]]
    assert (found.measured, found.not_measured) == (None, NOT_COVERED)


@pytest.mark.parametrize("check", FLAGS)
def test_padding_shifts_the_places(check: str) -> None:
    text = RAISED[check][0]
    plain = signals(plan(text), check)[FLAGS[check]].spans
    shifted = signals(plan("🙂 “So.”  " + text.upper()), check)[FLAGS[check]].spans
    offset = len("🙂 “So.”  ")
    assert [(one.start + offset, one.end + offset) for one in plain] == [
        (one.start, one.end) for one in shifted
    ]
