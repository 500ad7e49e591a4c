"""The closed door of a study: what comes through it, and what is told when it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calibrant import RecordError, Rubric, load_rubric
from calibrant.core.acceptance import FIELDS, MAX_REPLY, Accepted, accept
from calibrant.core.item import Action, Conversation, Exchange, Item, Plan, Profile, Response
from calibrant.core.rating import RATER_KINDS, RaterKind

RUBRIC = load_rubric("smart-action-plan")
PLAN = Plan(
    id="p",
    profile=Profile(goal="a job in a kitchen", lacks=("a car",)),
    actions=(Action(action="drive to  three\nkitchens", deadline="by week 2"),),
)
TALK = Conversation(
    id="c", exchanges=(Exchange(user="I feel low", assistant="What weighs on you?"),) * 2
)


def filled(rubric: Rubric, **form: Any) -> dict[str, Any]:
    points = {one.id: rubric.scale_of(one).points_of_scale[0] for one in rubric.criteria}
    return {"answers": points, **form}


def faults(rubric: Rubric, item: Item, form: Any, kind: RaterKind = "HUMAN") -> str:
    with pytest.raises(RecordError) as raised:
        accept(rubric, item, kind, form)
    return str(raised.value)


def test_a_whole_form_is_accepted_as_it_is_stored(plans: Rubric) -> None:
    form = filled(
        plans,
        notes={"realism": "near"},
        borderline=["realism"],
        evidence={"clarity": ["three kitchens"]},
        flags=[{"flag": "medical_advice", "evidence": "drive to three kitchens"}],
        edge_case="two jobs at once",
        sitting={"id": "s1", "position": 4},
    )
    found = accept(plans, PLAN, "HUMAN", form)
    assert found.answers == dict.fromkeys(plans.criterion_ids, "1")
    assert found.flags[0].flag == "medical_advice"
    assert found.facts["borderline"] == ["realism"] and found.facts["sitting"]["position"] == 4
    assert found.words["edge_case"] == "two jobs at once"
    assert "three kitchens" not in str(found.facts)  # words stay where they can be erased


def test_answers_go_by_any_name_and_only_once(plans: Rubric) -> None:
    form = filled(plans)
    form["answers"]["Usefulness / Actionability"] = 2
    assert "usefulness is answered twice" in faults(plans, PLAN, form)


def test_code_answers_where_a_precondition_decides(coaching: Rubric) -> None:
    form = filled(coaching)
    del form["answers"]["MT4"]
    found = accept(coaching, TALK, "HUMAN", form)
    assert found.answers["MT4"] == "NA" and "MT4" in found.facts["reasons"]
    long = Conversation(id="c", exchanges=TALK.exchanges * 3)
    assert "MT4 is not answered" in faults(coaching, long, form)


def test_a_check_answers_what_it_can_and_a_judge_may_abstain(coaching: Rubric) -> None:
    assert accept(coaching, TALK, "CODE", {"answers": {"CP5": "NO"}}).answers["CP5"] == "NO"
    form = filled(coaching)
    form["answers"]["CQ1"] = "the server did not answer"
    judged = accept(coaching, TALK, "LLM", form)
    assert judged.answers["CQ1"] == "ERROR"
    assert judged.facts["reasons"]["CQ1"] == "not on the scale"
    assert "is no answer to it" in faults(coaching, TALK, form)


def test_words_that_are_handed_in_stay_where_they_can_be_erased(plans: Rubric) -> None:
    form = filled(plans, reasons={"realism": "Mr Smith has no car"})
    form["answers"]["clarity"] = {"error": "Mr Smith"}
    found = accept(plans, PLAN, "LLM", form)
    assert found.words["reasons"] == {"realism": "Mr Smith has no car"}
    assert found.facts["reasons"] == {"clarity": "not on the scale"}
    assert "Smith" not in str(found.facts)


CARD = "sha256:" + "0a" * 32


def test_facts_are_names_and_numbers(plans: Rubric) -> None:
    facts = {
        "sitting": {"id": "monday-1", "position": 3},
        "shown": ["filler_words", CARD],
        "measured": {"seconds": 1.5, "tokens_in": 812},
        "probabilities": {"realism": {"1": 0.25, "5": 0.75}, "clarity": {"2": 1.0}},
    }
    found = accept(plans, PLAN, "LLM", filled(plans, **facts))
    assert {name: found.facts[name] for name in facts} == facts


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("sitting", "Mr Smith"),
        ("sitting", {"id": "Mr Smith"}),
        ("sitting", {"id": "a" * 65}),
        ("sitting", {"id": "s1", "who": "Smith"}),
        ("sitting", {"id": "s1", "position": "4"}),
        ("sitting", {"id": "s1", "position": True}),
        ("sitting", True),
        ("shown", "filler_words"),
        ("shown", ["Mr Smith"]),
        ("shown", [CARD + " Smith"]),
        ("shown", [{"name": "x"}]),
        ("shown", ["x"] * 201),
        ("measured", ["x"]),
        ("measured", {"Mr Smith": 1}),
        ("measured", {"seconds": "Mr Smith"}),
        ("measured", {"seconds": {"of": 1}}),
        ("measured", {"seconds": True}),
        ("measured", {"seconds": float("inf")}),
        ("measured", {"tokens": 10**5000}),
        ("probabilities", ["Mr Smith"]),
        ("probabilities", {"realism": "Mr Smith"}),
        ("probabilities", {"realism": {"Mr Smith": 0.5}}),
        ("probabilities", {"realism": {"6": 0.5}}),
        ("probabilities", {"realism": {"5": "Mr Smith"}}),
        ("probabilities", {"realism": {"5": 1.5}}),
        ("probabilities", {"realism": {"5": -0.5}}),
        ("probabilities", {"realism": {"5": float("nan")}}),
        ("probabilities", {"realism": {"5": True}}),
        ("probabilities", {"realism": {"4": 0.75, "5": 0.75}}),
        ("probabilities", {"realism": {"NA": 0.5}}),
    ],
)
def test_no_words_are_kept_as_facts(plans: Rubric, field: str, bad: Any) -> None:
    assert field in faults(plans, PLAN, filled(plans, **{field: bad}))


def test_probabilities_may_be_of_na_where_na_is_an_answer(coaching: Rubric) -> None:
    told = {"CQ9": {"YES": 0.25, "NO": 0.25, "NA": 0.5}}
    found = accept(coaching, TALK, "LLM", filled(coaching, probabilities=told))
    assert found.facts["probabilities"] == told


def test_a_judges_replies_may_be_long_and_nobody_elses(plans: Rubric) -> None:
    form = filled(plans, reply="x" * MAX_REPLY)
    assert len(accept(plans, PLAN, "LLM", form).words["reply"]) == MAX_REPLY
    assert "at most 20,000 characters" in faults(plans, PLAN, form)
    longer = filled(plans, reply="x" * (MAX_REPLY + 1))
    assert "at most 1,000,000 characters" in faults(plans, PLAN, longer, "LLM")


def test_sub_questions_and_tags_are_closed_too(responses: Rubric, coaching: Rubric) -> None:
    tone = next(one for one in responses.criteria if one.tags)
    item = Response(id="r", question="q", response="a")
    form = filled(responses, tags={tone.id: [tone.tags[0].id, "rude"]})
    assert "has no tag 'rude'" in faults(responses, item, form)
    asked = next(one for one in coaching.criteria if one.sub_questions)
    name = asked.sub_questions[0].id
    form = filled(coaching, sub_answers={asked.id: {name: "perhaps", "other": "x"}})
    text = faults(coaching, TALK, form)
    assert "neither YES nor NO" in text and "no sub-question 'other'" in text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    form=st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=9), json_values, max_size=6),
    whole=st.booleans(),
    kind=st.sampled_from(RATER_KINDS),
)
@example(form={"evidence": {"realism": 3}}, whole=True, kind="HUMAN")
@example(form={"borderline": 3}, whole=True, kind="HUMAN")
@example(form={"tags": {"realism": 3}}, whole=True, kind="HUMAN")
@example(form={"flags": 7}, whole=True, kind="HUMAN")
@example(form={"flags": [None, {}, {"flag": {}}]}, whole=True, kind="HUMAN")
@example(form={"notes": {"realism": 7}}, whole=True, kind="HUMAN")
@example(form={"sub_answers": {"realism": "x"}}, whole=True, kind="HUMAN")
@example(form={"sitting": float("nan")}, whole=True, kind="HUMAN")
@example(form={"probabilities": {"realism": {"5": [1]}}}, whole=True, kind="LLM")
def test_anything_handed_in_is_accepted_or_told_to_be_wrong(
    form: dict[str, Any], whole: bool, kind: RaterKind
) -> None:
    plans = RUBRIC
    try:
        found = accept(plans, PLAN, kind, filled(plans, **form) if whole else form)
    except RecordError as error:
        assert error.faults
        return
    assert isinstance(found, Accepted)
    for name, text in found.answers.items():
        point = plans.scale_of(plans.criterion(name)).parse(text)
        assert point is not None or (text == "ERROR" and kind == "LLM")
    if kind != "CODE":
        assert set(found.answers) == set(plans.criterion_ids)
    json.dumps([found.facts, found.words], allow_nan=False)
