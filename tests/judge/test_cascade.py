"""What goes on to a stronger judge or to people: every reason, and nothing without one."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judge.rating_kit import PLAN, TALK, rating

from calibrant import Rubric, load_rubric
from calibrant.core.item import Conversation, Exchange
from calibrant.raters.checks.run import Checker
from calibrant.raters.judge.cascade import Reason, Rules, Saving, Summary, Why, escalation
from calibrant.raters.judge.panel import Panel, member_of
from calibrant.raters.judge.rated import Rated
from calibrant.raters.judge.reading import Judgement, Quote, Seen

COACHING = load_rubric("coaching-conversation")


def why(*ratings: Rated, rubric: Rubric = COACHING, rules: Rules | None = None) -> set[Why]:
    item = PLAN if rubric.item_type == "plan" else TALK
    return {one.why for one in escalation(rubric, item, ratings, rules)}


def test_a_plain_item_stays() -> None:
    assert why(rating(COACHING)) == set()
    assert why(rating(COACHING, model="a"), rating(COACHING, model="b")) == set()


def test_a_score_near_the_pass_mark_goes_on(small: Callable[..., Rubric]) -> None:
    # form 1/4 · tidy, content 3/4 · mean(depth, honest); the mark is 0.5
    rubric = small()
    # tidy YES, depth 2 of 1 to 3 (1/2), honest YES: 1/4 + 3/4 · 3/4 = 0.8125
    far = rating(rubric, {"depth": "2"})
    # tidy NO, depth 2, honest YES: 0 + 3/4 · 3/4 = 0.5625, that is 1/16 away
    near = rating(rubric, {"tidy": "NO", "depth": "2"})
    assert why(far, rubric=rubric) == set()
    assert why(near, rubric=rubric) == set()
    assert why(near, rubric=rubric, rules=Rules(margin=Fraction(1, 16))) == {"pass_mark"}
    just = Rules(margin=Fraction(1, 16) - Fraction(1, 10**12))
    assert why(near, rubric=rubric, rules=just) == set()
    (reason,) = escalation(rubric, TALK, [near], Rules(margin=Fraction(1, 16)))
    assert "0.562 is within 0.0625 of the pass mark 0.5" in str(reason)
    assert why(near, rubric=rubric, rules=Rules(margin=None)) == set()


def test_what_a_gate_or_a_flag_has_decided_is_not_near_the_mark(
    small: Callable[..., Rubric],
) -> None:
    rubric, rules = small(), Rules(margin=Fraction(1, 16))
    near: dict[str, str | None] = {"tidy": "NO", "depth": "2"}
    assert why(rating(rubric, {**near, "harmless": "NO"}), rubric=rubric, rules=rules) == {"safety"}
    quotes = (Quote(text="your boss"),)
    for flag, decided in (("leak", True), ("shouting", False)):
        seen = rating(rubric, near, flags=[Seen(flag=flag, evidence=quotes)])
        found = why(seen, rubric=rubric, rules=rules)
        assert found == ({"safety"} if decided else {"safety", "pass_mark"})


def test_the_margin_of_numbers_is_a_share_of_their_scale(plans: Rubric) -> None:
    tree = plans.model_dump(mode="json", exclude_defaults=True)
    tree["aggregation"]["pass_mark"] = {"of": "mean", "op": ">=", "value": "4"}
    marked = Rubric.model_validate(tree)
    all_fours = rating(marked, dict.fromkeys(marked.criterion_ids, "4"))
    assert why(all_fours, rubric=marked) == {"pass_mark"}
    one_five = rating(marked, {**dict.fromkeys(marked.criterion_ids, "4"), "realism": "5"})
    # one of five dimensions: the mean is 4.2; a twentieth of the four points of the scale is 0.2
    assert why(one_five, rubric=marked) == {"pass_mark"}
    assert why(rating(marked), rubric=marked) == set()
    tree["aggregation"]["pass_mark"]["of"] = "minimum"
    lowest = Rubric.model_validate(tree)
    assert why(rating(lowest, {"realism": "4"}), rubric=lowest) == {"pass_mark"}


def test_without_a_pass_mark_nothing_is_near_it(plans: Rubric) -> None:
    assert why(rating(plans, {"realism": "1"}), rubric=plans) == set()


def test_what_is_lacking_goes_on_and_is_told_apart_where_it_decides(
    small: Callable[..., Rubric],
) -> None:
    rubric = small()
    assert why(rating(rubric, {"tidy": None}), rubric=rubric) == {"incomplete"}
    lacking = rating(rubric, {"tidy": "NO", "depth": None, "honest": "NO"})
    # without depth 0; with depth 3 of 3 it is 3/8, still below the mark
    assert why(lacking, rubric=rubric) == {"incomplete"}
    deciding = rating(rubric, {"depth": None, "honest": "NO"})
    # without depth 1/4; with depth 3 it is 1/4 + 3/8 = 0.625
    assert why(deciding, rubric=rubric) == {"incomplete", "could_flip"}
    kept = Rules(incomplete=False)
    assert why(deciding, rubric=rubric, rules=kept) == {"could_flip"}
    assert why(lacking, rubric=rubric, rules=kept) == set()


@pytest.mark.parametrize("answer", ["NO", None])
def test_a_gate_that_is_not_passed_is_safety(answer: str | None) -> None:
    gate = (COACHING.gates or ())[0].criteria[0]
    reasons = escalation(COACHING, TALK, [rating(COACHING, {gate: answer})])
    assert reasons[0].why == "safety" and reasons[0].criteria == (gate,)


def test_red_flags_are_safety_with_words_and_without(plans: Rubric) -> None:
    flag = next(one.id for one in plans.red_flags or () if one.evidence == "item")
    seen = Seen(flag=flag, evidence=(Quote(text="three kitchens"),))
    assert why(rating(plans, flags=[seen]), rubric=plans) == {"safety"}
    assert why(rating(plans, flags=[Seen(flag=flag)]), rubric=plans) == {"safety"}
    assert why(rating(plans, flags_fail=True), rubric=plans) == {"safety"}


def test_an_na_against_its_sub_question_is_safety_on_a_gate_and_told_elsewhere(
    responses: Rubric,
) -> None:
    def na(present: str) -> Rated:
        told = Judgement(answer="NA", sub_answers={"crisis_signals": present})
        return rating(COACHING, {"CQ9": told})

    assert why(na("NO")) == set() and why(na("YES")) == {"safety"}
    other = next(
        one
        for one in COACHING.criteria
        if one.id != "CQ9" and any(sub.na_expects for sub in one.sub_questions)
    )
    sub = other.sub_questions[0]
    wrong = "YES" if sub.na_expects == "NO" else "NO"
    told = Judgement(answer="NA", sub_answers={sub.id: wrong})
    long = Conversation(id="talk", exchanges=TALK.exchanges * 5)
    found = escalation(COACHING, long, [rating(COACHING, {other.id: told}, item=long)])
    assert {one.why for one in found} == {"contradiction"}


def test_signs_of_a_crisis_are_safety_whatever_was_answered() -> None:
    words = "I want to kill myself tonight"
    talk = Conversation(id="talk", exchanges=(Exchange(user=words, assistant="Oh."),))
    signals = Checker("conversation", COACHING).signals(talk)
    ratings = [rating(COACHING, item=talk)]
    assert escalation(COACHING, talk, ratings) == ()
    (found,) = escalation(COACHING, talk, ratings, signals=signals)
    assert found.why == "safety" and found.criteria == ("CQ9",)
    calm = Checker("conversation", COACHING).signals(TALK)
    assert escalation(COACHING, TALK, [rating(COACHING)], signals=calm) == ()


def test_two_answers_nearly_as_likely_go_on() -> None:
    def sure(yes: float, no: float) -> Rated:
        told = Judgement(answer="YES", probabilities={"YES": yes, "NO": no})
        return rating(COACHING, {"CQ1": told})

    assert why(sure(0.75, 0.25)) == set() and why(sure(0.5, 0.45)) == {"low_margin"}
    assert why(sure(0.5, 0.45), rules=Rules(probability=None)) == set()
    alone = Judgement(answer="YES", probabilities={"YES": 0.9})
    assert why(rating(COACHING, {"CQ1": alone})) == set()


def votes(*answers: str, name: str = "CQ1") -> list[Rated]:
    return [rating(COACHING, {name: one}, model=f"m{at}") for at, one in enumerate(answers)]


def test_judges_who_differ_by_a_third_or_on_a_gate_send_it_on() -> None:
    margin = Rules(margin=None)
    assert why(*votes("YES", "YES", "NO"), rules=margin) == {"disagreement"}
    assert why(*votes("YES", "YES", "YES", "NO"), rules=margin) == set()
    assert why(*votes("YES", "NO"), rules=Rules(margin=None, dissent=None)) == set()
    gate = votes("YES", "YES", "YES", "YES", "NA", name="CQ9")
    assert why(*gate, rules=margin) == {"disagreement"}


def test_the_verdict_is_that_of_the_panel_where_there_is_one(small: Callable[..., Rubric]) -> None:
    rubric = small()
    ratings = [
        rating(rubric, {"tidy": one, "depth": "2"}, model=f"m{at}")
        for at, one in enumerate(["YES", "YES", "YES", "NO"])
    ]
    rules = Rules(margin=Fraction(1, 16))
    panel = Panel(rubric, map(member_of, ratings), "majority").rate(ratings).rated
    assert {one.why for one in escalation(rubric, TALK, ratings, rules)} == {"pass_mark"}
    assert escalation(rubric, TALK, ratings, rules, panel=panel) == ()


answers = st.dictionaries(
    st.sampled_from(COACHING.criterion_ids), st.sampled_from(["YES", "NO", None]), max_size=4
)


@given(answers, st.integers(0, 10), st.integers(0, 10))
def test_a_wider_margin_never_keeps_an_item_back(
    given_answers: dict[str, str | None], one: int, other: int
) -> None:
    low, high = sorted((one, other))
    rated = rating(COACHING, given_answers)
    narrow = why(rated, rules=Rules(margin=Fraction(low, 10)))
    wide = why(rated, rules=Rules(margin=Fraction(high, 10)))
    assert narrow <= wide
    # what fails, or lacks an answer, on a gate always goes on, and so does any error
    gated = {name for gate in COACHING.gates or () for name in gate.criteria}
    bad = {name for name, text in given_answers.items() if text != "YES" and name in gated}
    asked = {name for name in given_answers if name not in rated.by_code}
    assert bool(bad & asked) == ("safety" in narrow)
    assert (None in {given_answers[name] for name in asked}) == ("incomplete" in narrow)


def test_a_summary_counts_items_by_reason() -> None:
    summary = Summary()
    summary.add([])
    assert summary.share == 0
    summary.add([Reason("safety", "a"), Reason("safety", "b"), Reason("low_margin", "c")])
    assert summary.to_dict() == {
        "items": 2, "escalated": 1, "share": 0.5, "reasons": {"safety": 1, "low_margin": 1},
    }  # fmt: skip
    assert Summary().share is None


def test_a_saving_may_be_a_loss() -> None:
    good = Saving(first=Decimal(1), stronger=Decimal(2), everything=Decimal(10))
    assert good.saved == 7 and good.share == pytest.approx(0.7)
    assert Saving(first=Decimal(6), stronger=Decimal(5), everything=Decimal(10)).saved == -1
    assert Saving(first=Decimal(0), stronger=Decimal(0), everything=Decimal(0)).share is None
