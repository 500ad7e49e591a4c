"""What judges hand in to a study: accepted whatever a model has said, and nothing lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judge.rating_kit import (
    ITEMS,
    PLAN,
    TALK,
    all_asked,
    failed,
    judge_of,
    rating,
    read,
)

from calibrant import Rubric, load_rubric
from calibrant.core.acceptance import MAX_REPLY, Accepted, accept
from calibrant.core.item import Item, Response
from calibrant.ports.chat import Reply, Usage
from calibrant.raters.judge.card import Way
from calibrant.raters.judge.form import judge_form, replies
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.outcome import Asked
from calibrant.raters.judge.rated import rated
from calibrant.raters.judge.reading import Judgement, Quote, Reading, Seen


def handed_in(judge: Judge, item: Item, asked: list[Asked]) -> Accepted:
    return accept(judge.rubric, item, "LLM", judge_form(judge, item, asked))


def test_a_form_holds_answers_words_and_what_they_took(coaching: Rubric) -> None:
    judge = judge_of(coaching)
    told = Judgement(
        answer="NO",
        reasoning="It asks twice.",
        evidence=(Quote(text="What  weighs on\nyou?", place=1),),
        unverified=("never said",),
        sub_answers={"crisis_signals": "no"},
        probabilities={"YES": 0.25, "NO": 0.75},
    )
    asked = all_asked(judge, TALK, {"CQ9": told, "CQ1": None})
    found = handed_in(judge, TALK, asked)
    assert found.answers["CQ9"] == "NO" and found.answers["CQ1"] == "ERROR"
    assert found.words["reasons"] == {"CQ1": "timeout"}
    assert found.words["notes"] == {"CQ9": "It asks twice."}
    assert found.words["evidence"] == {"CQ9": ["What  weighs on\nyou?"]}
    assert found.words["sub_answers"] == {"CQ9": {"crisis_signals": "NO"}}
    assert found.facts["probabilities"] == {"CQ9": {"YES": 0.25, "NO": 0.75}}
    measured, answered = found.facts["measured"], len(asked) - 1
    assert measured["calls"] == len(asked) and measured["attempts"] == answered + 5
    assert measured["prompt_tokens"] == 100 * answered and measured["unverified"] == 1
    assert found.facts["shown"] == [judge.card.facts]
    assert set(json.loads(found.words["reply"])) == {
        one.call.question.id for one in asked if one.reply
    }


def test_what_code_decides_is_left_to_the_door_with_its_reason(coaching: Rubric) -> None:
    judge = judge_of(coaching)
    found = handed_in(judge, TALK, all_asked(judge, TALK))
    assert found.answers["MT4"] == "NA" and found.facts["reasons"]["MT4"]
    assert "reasons" not in found.words


def test_a_flag_stands_with_words_of_the_item_and_is_reviewed_without(plans: Rubric) -> None:
    judge = judge_of(plans)
    both = next(one.id for one in plans.red_flags or () if one.evidence == "item_and_profile")
    plain = next(one.id for one in plans.red_flags or () if one.evidence == "item")
    action, profile = Quote(text="three kitchens"), Quote(text="a car", place=0)

    def seen(flag: str, *quotes: Quote) -> Accepted:
        flags = [Seen(flag=flag, evidence=quotes, unverified=("not there",))]
        return handed_in(judge, PLAN, all_asked(judge, PLAN, flags=flags))

    assert seen(plain, action).flags[0].evidence == ("three kitchens",)
    assert seen(both, action, profile).flags[0].flag == both
    for found in (seen(plain), seen(plain, Quote(text="not there"))):
        assert not found.flags
        assert found.words["review"].startswith(f"the judge sees {plain}: no words")
    assert not seen(both, action).flags
    assert "the profile too" in seen(both, action).words["review"]
    assert "three kitchens" in seen(both, action).words["review"]


def test_flags_that_nobody_was_heard_on_are_put_up_for_review(plans: Rubric) -> None:
    judge = judge_of(plans)
    found = handed_in(judge, PLAN, all_asked(judge, PLAN, flags_fail=True))
    assert "not heard on red flags (timeout)" in found.words["review"]
    assert rating(plans, flags_fail=True).whole is False and rating(plans).whole is True


def test_an_outage_is_no_fault_of_the_model(coaching: Rubric) -> None:
    call = judge_of(coaching).calls(TALK)[0]
    assert failed(call, "rate_limited").outage and failed(call, "refused").outage
    assert not failed(call, "unreadable").outage
    assert failed(call, "unreadable", "no JSON").reason == "unreadable: no JSON"


def test_replies_too_long_to_keep_are_cut_and_stay_json(coaching: Rubric) -> None:
    calls = judge_of(coaching).calls(TALK)[:3]
    asked = [
        Asked(call=one, reading=None, reply=Reply(text='"' * MAX_REPLY), why="unreadable")
        for one in calls
    ]
    text = replies(asked)
    assert MAX_REPLY / 4 < len(text) <= MAX_REPLY
    assert set(json.loads(text)) == {one.question.id for one in calls}
    assert replies([]) == ""


RUBRICS = {
    name: load_rubric(name)
    for name in ("coaching-conversation", "ai-response", "smart-action-plan")
}
TEXTS = {
    **ITEMS,
    "response": Response(id="r", question="Why is it so?", response="It is so, because it is."),
}
words = st.text(max_size=8) | st.sampled_from(
    ["What weighs", "a car", "three kitchens", "It is so", "NA", "YES", "no", "2026-02-30", " "]
)
quotes = st.lists(
    st.builds(Quote, text=words, place=st.none() | st.integers(-1, 9)), max_size=2
).map(tuple)
shares = st.dictionaries(
    st.sampled_from(["YES", "NO", "NA", "1", "5", "x"]),
    st.floats(-0.5, 2) | st.just(0.5),
    max_size=3,
)
usages = st.builds(Usage, prompt=st.integers(0, 10**400), completion=st.integers(0, 9))


@st.composite
def outcomes(draw: st.DrawFn) -> tuple[Judge, Item, list[Asked]]:
    """Anything that calls may come to, read or not, sensible or not."""
    rubric = RUBRICS[draw(st.sampled_from(sorted(RUBRICS)))]
    way: Way = draw(st.sampled_from(["criterion", "category", "rubric"]))
    judge, item = judge_of(rubric, way=way), TEXTS[rubric.item_type]
    known = [one.id for criterion in rubric.criteria for one in criterion.sub_questions] + ["x"]
    tags = [one.id for criterion in rubric.criteria for one in criterion.tags] + ["x"]
    flags = [one.id for one in rubric.red_flags or ()] + ["x"]
    judgement = st.builds(
        Judgement,
        answer=words | st.sampled_from(["YES", "NO", "1", "5", "ERROR", "NA"]),
        reasoning=words | st.just("y" * 30_000),
        evidence=quotes,
        unverified=st.just(("no",)),
        sub_answers=st.dictionaries(st.sampled_from(known), words, max_size=2),
        tags=st.lists(st.sampled_from(tags), max_size=2).map(tuple),
        probabilities=shares,
    )
    seen = st.builds(Seen, flag=st.sampled_from(flags), evidence=quotes)
    found: list[Asked] = []
    for call in judge.calls(item):
        if draw(st.integers(0, 3)) == 0:
            why, detail = draw(st.sampled_from(["timeout", "unreadable"])), draw(words)
            found.append(failed(call, why, detail * draw(st.sampled_from([1, 9000]))))
            continue
        names = [*call.question.criteria, "another"]
        some = draw(st.lists(st.sampled_from(names), unique=True))
        reading = Reading(
            rung="embedded",
            judgements={name: draw(judgement) for name in some},
            abstained={name: "left out" for name in names if name not in some},
            flags=tuple(draw(st.lists(seen, max_size=3))),
        )
        one = read(call, reading)
        reply = Reply(text=draw(words), usage=draw(usages))
        found.append(Asked(call=one.call, reading=reading, reply=reply, why=None))
    return judge, item, found


@given(outcomes())
def test_whatever_was_read_the_form_is_accepted(drawn: tuple[Judge, Item, list[Asked]]) -> None:
    judge, item, asked = drawn
    form = judge_form(judge, item, asked)
    found = accept(judge.rubric, item, "LLM", form)
    told = rated(judge.rubric, judge.card, item, 1, asked)
    assert found.answers == told.answers
    assert set(told.abstained) == {name for name, text in told.answers.items() if text == "ERROR"}
    seen = {
        one.flag
        for call in asked
        if call.reading is not None and call.call.question.flags
        for one in call.reading.flags
        if one.flag != "x"
    }
    standing = {one.flag for one in found.flags}
    assert seen == standing | set(told.doubtful)  # no flag is lost
    assert all(flag in found.words.get("review", "") for flag in seen - standing)
    json.dumps([found.facts, found.words], allow_nan=False)


@pytest.mark.parametrize("field", ["notes", "evidence", "probabilities", "flags", "review"])
def test_a_form_says_nothing_of_what_there_is_not(coaching: Rubric, field: str) -> None:
    judge = judge_of(coaching)
    form: Any = judge_form(judge, TALK, all_asked(judge, TALK))
    assert field not in form
