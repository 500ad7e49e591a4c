"""Judges as one: votes, ties, dissent, red flags, and what is said where a rubric is silent."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judge.rating_kit import TALK, rating

from calibrant import Rubric, SourceError, load_rubric
from calibrant.core.item import Conversation
from calibrant.core.process import Policy
from calibrant.core.resolution import panel as combined
from calibrant.raters.judge.panel import (
    POLICIES,
    Panel,
    PanelRating,
    answer_tables,
    disagreements,
    member_of,
    no_policy,
    policy_of,
    votes_on,
)
from calibrant.raters.judge.rated import Rated
from calibrant.raters.judge.reading import Judgement, Quote, Seen

COACHING = load_rubric("coaching-conversation")
PLANS = load_rubric("smart-action-plan")


def judged(
    ratings: list[Rated], policy: Policy = "majority", rubric: Rubric = COACHING
) -> PanelRating:
    return Panel(rubric, map(member_of, ratings), policy).rate(ratings)


def said(*answers: str | None, rubric: Rubric = COACHING, name: str = "CQ1") -> list[Rated]:
    return [
        rating(rubric, {name: answer}, model=f"model-{at}") for at, answer in enumerate(answers)
    ]


def test_a_rubric_without_a_policy_is_given_none(coaching: Rubric) -> None:
    assert policy_of(coaching) is None and "majority" in no_policy(coaching)
    assert policy_of(coaching, "strictest") == "strictest"
    assert policy_of(coaching.model_copy(update={"panel": "median"})) == "median"
    with pytest.raises(SourceError, match="majority"):
        policy_of(coaching, "majorty")


def test_the_majority_has_it_and_who_dissents_is_named() -> None:
    found = judged(said("YES", "NO", "NO"))
    assert found.rated.answers["CQ1"] == "NO"
    (dissenter,) = found.dissent["CQ1"]
    assert dissenter.startswith("model-0-") and dissenter.endswith("#1")
    assert found.counts["CQ1"] == 3 and "CQ2" not in found.dissent
    assert found.rated.rater.startswith("panel-") and found.rated.whole


def test_a_tie_is_no_answer_with_a_reason() -> None:
    found = judged(said("YES", "NO"))
    assert found.rated.answers["CQ1"] == "ERROR"
    assert found.rated.abstained == {"CQ1": "majority of NO ×1, YES ×1 is no answer"}
    assert len(found.dissent["CQ1"]) == 2


def test_an_error_takes_no_part_and_is_not_counted() -> None:
    found = judged(said("NO", "NO", None))
    assert found.rated.answers["CQ1"] == "NO" and found.counts["CQ1"] == 2
    assert found.counts["CQ2"] == 3
    nobody = judged(said(None, None))
    assert nobody.rated.abstained == {"CQ1": "no member of the panel has an answer"}
    assert nobody.counts["CQ1"] == 0


def test_votes_that_are_lacking_and_could_change_the_answer_leave_none() -> None:
    """An outage of some is no verdict of the others."""
    few = judged(said("YES", None, None))
    assert few.rated.abstained == {"CQ1": "majority of YES ×1 is no answer without 2 more"}
    assert few.counts["CQ1"] == 1
    assert judged(said("YES", "YES", None), "strictest").rated.answers["CQ1"] == "ERROR"
    assert judged(said("NO", "YES", None), "strictest").rated.answers["CQ1"] == "NO"
    numbers = said("4", "4", None, rubric=PLANS, name="realism")
    assert judged(numbers, "median", PLANS).rated.answers["realism"] == "4"
    numbers = said("2", "4", None, rubric=PLANS, name="realism")
    assert judged(numbers, "median", PLANS).rated.answers["realism"] == "ERROR"


def test_the_strictest_and_the_median() -> None:
    assert judged(said("YES", "YES", "NO"), "strictest").rated.answers["CQ1"] == "NO"
    numbers = said("1", "4", "5", rubric=PLANS, name="realism")
    assert judged(numbers, "median", PLANS).rated.answers["realism"] == "4"
    even = said("4", "5", rubric=PLANS, name="realism")
    assert (
        judged(even, "median", PLANS).rated.abstained["realism"]
        == "median of 4 ×1, 5 ×1 is no answer"
    )
    assert judged(even, "median_ties_lower", PLANS).rated.answers["realism"] == "4"


@given(
    st.lists(st.sampled_from(["YES", "NO", "NA", None]), min_size=1, max_size=6),
    st.sampled_from(POLICIES),
    st.randoms(use_true_random=False),
)
def test_a_panel_says_what_the_core_says_in_any_order(
    answers: list[str | None], policy: Policy, random: object
) -> None:
    ratings = said(*answers, name="CQ9")
    found = judged(ratings, policy)
    criterion = COACHING.criterion("CQ9")
    voted_for = [one for one in answers if one is not None]
    lacking = len(answers) - len(voted_for)
    possible = {
        combined(COACHING, criterion, [*voted_for, *others], policy)
        for others in combinations_with_replacement(["YES", "NO", "NA"], lacking)
    }
    expected = possible.pop() if len(possible) == 1 and voted_for else None
    assert found.rated.answers["CQ9"] == (expected or "ERROR")
    assert ("CQ9" in found.rated.abstained) == (expected is None)
    shuffled = ratings[::-1]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = judged(shuffled, policy)
    assert again.rated.answers == found.rated.answers and again.panel.name == found.panel.name
    voted = sum(one is not None for one in answers)
    agreeing = sum(one == expected for one in answers if one is not None)
    assert len(found.dissent.get("CQ9", ())) == voted - agreeing


def test_the_name_tells_members_policy_and_samples() -> None:
    ratings = said("YES", "NO")
    name = judged(ratings).panel.name
    assert judged(ratings, "strictest").panel.name != name
    assert judged([*ratings, rating(COACHING, model="model-2")]).panel.name != name
    assert judged([*ratings, rating(COACHING, model="model-0", sample=2)]).panel.name != name
    assert judged([ratings[0], rating(COACHING, model="model-1")]).panel.name == name
    assert judged([ratings[0], rating(COACHING, model="model-1", sample=2)]).panel.name != name


def test_a_panel_rates_one_item_at_a_time() -> None:
    other = Conversation(id="other", exchanges=TALK.exchanges[:1])
    with pytest.raises(ValueError, match="one item"):
        judged([rating(COACHING), rating(COACHING, item=other)])


def test_red_flags_of_a_panel() -> None:
    flag = next(one.id for one in PLANS.red_flags or () if one.evidence == "item")
    seen = Seen(flag=flag, evidence=(Quote(text="three kitchens"),))
    doubt = Seen(flag=flag)

    def flagged(*who: Seen | None) -> list[Rated]:
        return [
            rating(PLANS, model=f"m{at}", flags=[one] if one else []) for at, one in enumerate(who)
        ]

    assert judged(flagged(seen, seen, None), rubric=PLANS).rated.flags == (seen,)
    one = judged(flagged(seen, None, None), rubric=PLANS).rated
    assert not one.flags and one.doubtful == {flag: "seen by 1 of 3"}
    assert judged(flagged(seen, None), rubric=PLANS).rated.doubtful  # half is not most
    assert judged(flagged(seen, None, None), "strictest", PLANS).rated.flags == (seen,)
    assert "no words" in judged(flagged(doubt, None), rubric=PLANS).rated.doubtful[flag]
    deaf = rating(PLANS, model="m9", flags_fail=True)
    assert judged([*flagged(seen), deaf], rubric=PLANS).rated.flags == (seen,)
    assert judged([*flagged(None), deaf], rubric=PLANS).rated.flags_unknown == "timeout"
    assert not judged([*flagged(None, None), deaf], rubric=PLANS).rated.flags_unknown
    assert judged([*flagged(None, None), deaf], "strictest", PLANS).rated.flags_unknown
    assert judged([deaf], rubric=PLANS).rated.flags_unknown == "timeout"


def test_disagreements_are_listed_gates_first(coaching: Rubric) -> None:
    gate = (coaching.gates or ())[0].criteria[0]
    ratings = [
        rating(coaching, {"CQ1": "YES"}, model="a"),
        rating(coaching, {"CQ1": "NO"}, model="b"),
        rating(coaching, {"CQ1": None, gate: "NO"}, model="c"),
    ]
    first, second = disagreements(coaching, ratings, "majority")
    assert (first.criterion, first.gated, first.answer) == (gate, True, "YES")
    assert (second.criterion, second.gated, second.answer) == ("CQ1", False, None)
    assert first.split == pytest.approx(1 / 3) and second.split == 0.5
    assert list(first.votes) == ["YES", "NO"] and len(first.votes["YES"]) == 2
    assert disagreements(coaching, ratings)[0].answer is None  # the rubric has no policy


def test_tables_leave_out_errors_and_what_code_decided(coaching: Rubric) -> None:
    told = Judgement(answer="NA", sub_answers={"crisis_signals": "NO"})
    ratings = [rating(coaching, {"CQ1": None, "CQ9": told}, model="a"), rating(coaching, model="b")]
    tables = {one.criterion: one for one in answer_tables(coaching, ratings)}
    assert math.isnan(tables["CQ1"].codes[0, 0]) and tables["CQ1"].codes[1, 0] == 0
    assert tables["CQ9"].codes[0, 0] == 2 and not tables["CQ9"].ordered
    assert math.isnan(tables["MT4"].codes[0, 0])  # the talk is too short for it
    numbers = answer_tables(PLANS, said("4", rubric=PLANS, name="realism"))
    assert {one.criterion: one.codes[0, 0] for one in numbers}["realism"] == 4


def test_votes_name_samples() -> None:
    ratings = [rating(COACHING, sample=1), rating(COACHING, sample=2)]
    (who,) = votes_on("CQ1", ratings).values()
    assert len(set(who)) == 2
