"""Tones and refusals: what raises each, and what looks like it and does not."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import response, signals

from calibrant.formats.rubric_file import load_rubric
from calibrant.raters.checks.registry import checks_for
from calibrant.raters.checks.run import Checker
from calibrant.raters.checks.signal import Hint, ProposeFlag, SuggestAnswer

CHECKS = {
    "condescending": "response_tone",
    "dismissive": "response_tone",
    "preachy": "response_tone",
    "aggressive": "response_shouting",
    "overly_casual": "response_casual",
    "refusal": "response_refusal",
}
RAISED = [
    ("condescending", "Obviously, the second one is cheaper."),
    ("condescending", "Clearly you don't understand how interest works."),
    ("condescending", "I'LL SPELL IT OUT FOR YOU: it is a loan."),
    ("condescending", "It’s not rocket science."),
    ("dismissive", "That's a stupid question."),
    ("dismissive", "Whatever. Look it up yourself."),
    ("dismissive", "You are overreacting, so get over it."),
    ("aggressive", "READ THE MANUAL AND STOP ASKING ME"),
    ("aggressive", "Stop that!!! I mean it!!!"),
    ("aggressive", "You idiot, it was on the label."),
    ("overly_casual", "So your nan kicked the bucket, lol."),
    ("overly_casual", "Bankruptcy is no biggie, dude."),
    ("preachy", "A decent person would never ask for that."),
    ("preachy", "Let this be a lesson to all of us."),
    ("preachy", "Well done you, what a brave little attempt."),
    ("refusal", "I'm sorry, but I can't help with that."),
    ("refusal", "Cookies are something I know nothing about."),
    ("refusal", "I can't answer that, but you could ask a lawyer."),
]
NOT_RAISED = [
    ("condescending", "It is not obvious which of the two is older."),
    ("condescending", 'Saying "obviously" to a beginner can hurt.'),
    ("condescending", "Label the boxes clearly, then close them."),
    ("dismissive", "There are no stupid questions here."),
    ("dismissive", "Whatever you choose, keep the receipt."),
    ("dismissive", "Her boss said that it was a silly thing to ask."),
    ("dismissive", "You're not overreacting, so call them today."),
    ("aggressive", "Good luck with the move!"),
    ("aggressive", "NASA and ESA built it with JAXA."),
    ("aggressive", "SELECT name FROM pets WHERE age > 3 ORDER BY name;"),
    ("aggressive", "Do NOT mix the two."),
    ("aggressive", "The sign says KEEP OUT OF THE WATER."),
    ("aggressive", "By definition 5!! is 15, and `!!x` is a truth value."),
    ("aggressive", "Congratulations!! What lovely news."),
    ("overly_casual", "Yep, chuck the veg in the pan, dude."),
    ("overly_casual", "If somebody dies without a will, the rules of intestacy apply."),
    ("overly_casual", 'In slang, "kicked the bucket" means died.'),
    ("preachy", "You should use a torque wrench here."),
    ("preachy", "Kant held that we have a moral duty to tell the truth."),
    ("refusal", "I can't see your screen, but the setting is under Display."),
    ("refusal", "I don't know the exact year. It was built after the fire, between 1870 and 1880."),
    ("refusal", 'You could write: "I am unable to help this week."'),
    ("refusal", "You have the right to refuse treatment."),
]


@pytest.mark.parametrize(("name", "text"), RAISED)
def test_raised(name: str, text: str) -> None:
    found = signals(response("What is it?", text), CHECKS[name])[name]
    assert found.exceeded
    assert found.spans
    if name == "refusal":
        assert isinstance(found.suggestion, Hint)
    else:
        assert found.suggestion == ProposeFlag(name)


@pytest.mark.parametrize(("name", "text"), NOT_RAISED)
def test_not_raised(name: str, text: str) -> None:
    found = signals(response("What is it?", text), CHECKS[name])[name]
    assert found.exceeded is False
    assert found.suggestion is None


@pytest.mark.parametrize("name", CHECKS)
def test_another_language_is_not_measured(name: str) -> None:
    text = "Das ist nicht so einfach, wie es sich anhört, und ich habe auch keine Zeit für das."
    found = signals(response("What is it?", text), CHECKS[name])[name]
    assert found.not_measured == "language not covered"
    assert found.measured is None


def test_the_subject_may_be_serious_by_the_question_alone() -> None:
    text = "Bummer, dude."
    grave = signals(response("My dog has cancer. What now?", text), "response_casual")
    light = signals(response("The shop is out of cake. What now?", text), "response_casual")
    assert grave["overly_casual"].exceeded
    assert not light["overly_casual"].exceeded


def test_capitals_and_marks_are_rates() -> None:
    long = "The train leaves at nine and comes back at ten. " * 40
    found = signals(response("When?", f"{long}NEVER be late, and ALWAYS pay."), "response_shouting")
    assert found["capital_words_per_word"].measured == pytest.approx(2 / 406, abs=0.001)
    assert not found["aggressive"].exceeded
    short = signals(response("When?", "NEVER be late, and ALWAYS pay."), "response_shouting")
    assert short["capital_words_per_word"].exceeded
    assert short["aggressive"].exceeded


def test_thresholds_can_be_changed() -> None:
    item = response("What?", "Obviously, it is blue.")
    assert signals(item, "response_tone", least="2")["condescending"].exceeded is False


def test_no_check_of_a_response_gates_or_rates() -> None:
    rubric = load_rubric("ai-response")
    effects = {one.id: one.effect for one in rubric.red_flags or ()}
    for one in checks_for("response"):
        assert all(effects[flag] == "indicate" for flag in one.flags)
    text = "OBVIOUSLY YOU IDIOT!!! I can't help. Women are naturally emotional. It is 40 %."
    for signal in Checker("response", rubric).signals(response("Why is it so?", text)):
        assert not isinstance(signal.suggestion, SuggestAnswer)
