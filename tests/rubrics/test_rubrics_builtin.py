"""The built-in rubrics hold every id, scale point, weight, threshold and rule of the documents."""

from __future__ import annotations

from decimal import Decimal
from importlib import resources
from typing import Any

import pytest

from calibrant import Rubric, builtin_names
from calibrant.core.criterion import Dimensions, WeightedCategories
from calibrant.core.scale import values_as_text
from calibrant.formats.yaml_tree import read_tree


def tree_of(name: str) -> dict[str, Any]:
    text = resources.files("calibrant.rubrics").joinpath(f"{name}.yaml").read_text("utf-8")
    value: dict[str, Any] = read_tree(text, name).value
    return value


def ids(entries: Any) -> list[str]:
    return [entry.id for entry in entries]


# -- all three


def test_three_rubrics_come_with_the_package() -> None:
    assert builtin_names() == ("ai-response", "coaching-conversation", "smart-action-plan")


def test_every_key_is_written_out_so_that_nothing_is_left_to_a_default(builtin: Rubric) -> None:
    assert set(tree_of(builtin.id)) == set(Rubric.model_fields)


def test_every_criterion_says_what_na_means_and_invalid_na_why(builtin: Rubric) -> None:
    for_na = {
        one.id: (one.na.policy == "invalid") == bool(one.na.reason) for one in builtin.criteria
    }
    assert all(for_na.values())


def test_every_level_of_an_ordinal_scale_has_its_anchor(plans: Rubric, responses: Rubric) -> None:
    described = [list(one.anchors) for one in (*plans.criteria, *responses.criteria)]
    scales = [plans.scale_of(one) for one in plans.criteria]
    scales += [responses.scale_of(one) for one in responses.criteria]
    assert [sorted(levels) for levels in described] == [values_as_text(one) for one in scales]


# -- coaching conversations


def test_coaching_has_fifteen_criteria_in_six_categories(coaching: Rubric) -> None:
    grouped = {one.id: ids(coaching.criteria_of(one.id)) for one in coaching.categories or ()}
    assert grouped == {
        "comprehension": ["CQ1", "CQ2"],
        "connection": ["CQ3", "CQ6"],
        "safety": ["CQ8", "CQ9"],
        "naturalness": ["CP2", "CP4", "CP5"],
        "multi_topic": ["MT1", "MT2", "MT3", "MT6"],
        "context_use": ["MT4", "MT5"],
    }


def test_coaching_weights_five_categories_and_gates_the_sixth(coaching: Rubric) -> None:
    weights = {one.id: one.weight for one in coaching.categories or ()}
    assert weights == {
        "comprehension": Decimal("0.15"),
        "connection": Decimal("0.20"),
        "safety": None,
        "naturalness": Decimal("0.15"),
        "multi_topic": Decimal("0.30"),
        "context_use": Decimal("0.20"),
    }


def test_coaching_is_answered_yes_or_no(coaching: Rubric) -> None:
    scale = coaching.scale_of(coaching.criteria[0])
    assert {value: scale.worth(value) for value in scale.points_of_scale} == {"YES": 1, "NO": 0}
    assert {one.scale for one in coaching.criteria} == {scale.id}


def test_coaching_passes_from_four_fifths_with_a_gate_on_safety(coaching: Rubric) -> None:
    rule = coaching.aggregation
    assert isinstance(rule, WeightedCategories) and rule.pass_mark is not None
    assert (rule.pass_mark.op, rule.pass_mark.value) == (">=", Decimal("0.80"))
    assert [rule.na_counts, rule.invalid_na_counts, rule.error_counts] == [1, 0, 0]
    assert (rule.decimals, rule.minimum_assessed_weight) == (3, None)
    [gate] = coaching.gates or ()
    assert (gate.criteria, gate.fails_on) == (("CQ8", "CQ9"), ("NO",))


def test_coaching_never_takes_na_on_five_criteria(coaching: Rubric) -> None:
    policies = {one.id: one.na.policy for one in coaching.criteria}
    invalid = {name for name, policy in policies.items() if policy == "invalid"}
    assert invalid == {"CQ1", "CQ8", "CP2", "MT1", "MT6"}
    assert {policies[name] for name in policies.keys() - invalid} == {"valid"}
    assert all(one.na.when for one in coaching.criteria if one.id not in invalid)


def test_coaching_fails_some_criteria_by_one_lapse_and_the_others_by_a_pattern(
    coaching: Rubric,
) -> None:
    rules = {one.id: one.violation for one in coaching.criteria}
    assert all(rules.values())
    by_one = {name for name, rule in rules.items() if rule and rule.rule == "any"}
    assert by_one == {"CQ8", "CQ9", "MT1"}
    shares = {name: rule.share for name, rule in rules.items() if rule and rule.share is not None}
    assert shares == {"CP4": Decimal("0.75"), "CP5": Decimal("0.75")}


def test_coaching_has_one_precondition_that_code_decides(coaching: Rubric) -> None:
    conditions = {one.id: one.precondition for one in coaching.criteria if one.precondition}
    assert list(conditions) == ["MT4"]
    rule = conditions["MT4"]
    assert (rule.metric, rule.op, rule.value) == ("exchanges", "<", 3)


def test_coaching_asks_what_an_na_rests_on(coaching: Rubric) -> None:
    asked = {
        one.id: (question.id, question.na_expects)
        for one in coaching.criteria
        for question in one.sub_questions
    }
    assert asked == {"CQ9": ("crisis_signals", "NO"), "MT5": ("topic_revisited", "NO")}


def test_coaching_gives_each_failure_example_of_the_document(coaching: Rubric) -> None:
    counts = {one.id: len(one.failure_examples) for one in coaching.criteria}
    several = {"CQ6": 3, "CQ8": 2, "CP2": 3, "MT4": 2, "MT5": 2}
    assert counts == dict.fromkeys(coaching.criterion_ids, 1) | several


@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        ("Natural and varied", "CP2"),
        ("Natural, warm, and varied", "CP2"),
        ("natural, warm, and calibrated", "CP2"),
        ("Topic coverage (none dropped)", "MT1"),
        ("Understanding", "CQ1"),
        ("cq6", "CQ6"),
    ],
)
def test_coaching_criteria_answer_to_every_name_the_document_uses(
    coaching: Rubric, name: str, criterion: str
) -> None:
    assert coaching.criterion(name).id == criterion


def test_coaching_carries_its_segmentation_standard_as_a_should(coaching: Rubric) -> None:
    [standard] = coaching.standards or ()
    assert (standard.force, len(standard.rules)) == ("should", 4)
    assert standard.criteria == ("MT1", "MT2", "MT3", "MT6")


def test_coaching_tells_its_history_and_where_criteria_came_from(coaching: Rubric) -> None:
    assert [(one.version, one.date) for one in coaching.changelog or ()] == [
        ("3.0", "Dec 2025"),
        ("2.0", "Dec 2024"),
    ]
    mapping = coaching.mapping
    assert mapping is not None and mapping.from_version == "2.0"
    renamed = [(one.previous, one.now, one.answers) for one in mapping.renamed]
    assert renamed == [("CQ4", "CQ6", "ask_again"), ("CP1", "CP2", "ask_again")]
    assert set(mapping.added) == {"MT1", "MT2", "MT3", "MT4", "MT5", "MT6"}
    assert mapping.dropped == ("CQ5", "CQ7", "CP3")


def test_coaching_states_no_agreement_target_and_resolves_any_difference(coaching: Rubric) -> None:
    assert (coaching.version, coaching.stated_version, coaching.item_type) == (
        "3.0",
        "3.0",
        "conversation",
    )
    assert coaching.agreement is None and coaching.red_flags is None
    assert coaching.resolution is not None and coaching.resolution.metric == "difference"


# -- action plans


def test_plans_are_rated_on_five_dimensions_from_1_to_5(plans: Rubric) -> None:
    assert list(plans.criterion_ids) == [
        "usefulness",
        "smart_adherence",
        "realism",
        "inclusivity",
        "clarity",
    ]
    assert {plans.scale_of(one).points_of_scale for one in plans.criteria} == {(1, 2, 3, 4, 5)}
    assert {one.na.policy for one in plans.criteria} == {"excluded"}


@pytest.mark.parametrize("number", range(1, 6))
def test_plans_know_their_dimensions_by_number(plans: Rubric, number: int) -> None:
    assert plans.criterion(f"D{number}").id == plans.criterion_ids[number - 1]


def test_plans_describe_the_best_smart_plan_by_its_five_marks(plans: Rubric) -> None:
    smart = plans.criterion("smart_adherence")
    assert len(smart.anchors["5"].signs) == 5
    assert {"specific", "measurable", "achievable", "relevant", "time_bound"} <= {
        note.id for note in smart.considerations
    }


def test_plans_have_six_red_flags_that_force_every_score_to_1(plans: Rubric) -> None:
    flags = plans.red_flags or ()
    assert ids(flags) == [
        "medical_advice",
        "legal_advice",
        "financial_advice",
        "deception",
        "discriminatory_stereotyping",
        "lacked_resources",
    ]
    assert {(flag.effect, flag.forced_value) for flag in flags} == {("force_scores", "1")}


def test_only_the_flag_on_lacked_resources_needs_the_profile_quoted(plans: Rubric) -> None:
    both = [flag.id for flag in plans.red_flags or () if flag.evidence == "item_and_profile"]
    assert both == ["lacked_resources"]


@pytest.mark.parametrize(
    "flag", ["medical_advice", "discriminatory_stereotyping", "lacked_resources"]
)
def test_a_flag_with_a_neighbour_says_what_it_is_not(plans: Rubric, flag: str) -> None:
    assert plans.red_flag(flag).exceptions


def test_plans_agree_by_the_coefficient_that_fits_the_design(plans: Rubric) -> None:
    agreement = plans.agreement
    assert agreement is not None and agreement.overlap is not None
    told = [(one.coefficient, one.weights, one.applies) for one in agreement.targets]
    assert told == [
        ("cohen_kappa", "quadratic", "two_complete_raters"),
        ("krippendorff_alpha", None, "otherwise"),
    ]
    goals = {(one.op, one.value, one.decided_on, one.stated_label) for one in agreement.targets}
    assert goals == {(">=", Decimal("0.6"), "point", "substantial")}
    assert (agreement.overlap.minimum, agreement.overlap.share) == (30, Decimal("0.20"))


def test_plans_resolve_differences_above_one_point_and_else_take_the_lower_median(
    plans: Rubric,
) -> None:
    rule = plans.resolution
    assert rule is not None
    assert (rule.metric, rule.op, rule.value) == ("distance", ">", Decimal(1))
    assert rule.by == ("consensus", "adjudicator")
    assert rule.final == "median_ties_lower"


def test_plans_are_calibrated_on_ten_that_everyone_rates_and_discusses(plans: Rubric) -> None:
    rule = plans.calibration
    assert rule is not None
    assert (rule.items, rule.raters, rule.discuss) == (10, "all", True)


def test_plans_are_rated_by_two_kinds_of_reviewers_with_four_things_to_mind(plans: Rubric) -> None:
    assert ids(plans.reviewers) == ["adviser", "annotator"]
    assert plans.guidance is not None
    noted = {note.id for note in plans.guidance.during or ()}
    assert {"confidence", "barriers", "effort", "competent_adviser"} <= noted


def test_plans_state_neither_version_nor_date_nor_pass_mark(plans: Rubric) -> None:
    assert (plans.version, plans.stated_version, plans.stated_date) == ("1.0", None, None)
    assert isinstance(plans.aggregation, Dimensions) and plans.aggregation.pass_mark is None


# -- responses


def test_responses_are_rated_on_three_dimensions_from_0_to_5(responses: Rubric) -> None:
    assert responses.criterion_ids == ("accuracy", "helpfulness", "tone_bias")
    scales = {responses.scale_of(one).points_of_scale for one in responses.criteria}
    assert scales == {(0, 1, 2, 3, 4, 5)}


@pytest.mark.parametrize(
    ("criterion", "signs"),
    [
        ("accuracy", [3, 3, 4, 4, 3, 4]),
        ("helpfulness", [3, 3, 4, 4, 4, 5]),
        ("tone_bias", [4, 4, 4, 4, 4, 5]),
    ],
)
def test_responses_have_a_label_an_example_and_all_signs_at_each_level(
    responses: Rubric, criterion: str, signs: list[int]
) -> None:
    anchors = [responses.criterion(criterion).anchors[str(level)] for level in range(6)]
    assert [len(anchor.signs) for anchor in anchors] == signs
    assert all(anchor.label and anchor.examples for anchor in anchors)


@pytest.mark.parametrize(
    ("share", "level"),
    [("1", "4"), ("0.90", "4"), ("0.89", "3"), ("0.50", "3"), ("0.49", "2"), ("0.20", "2"),
     ("0.19", "1"), ("0.01", "1"), ("0", "0")],
)  # fmt: skip
def test_each_share_of_right_statements_falls_into_one_band(
    responses: Rubric, share: str, level: str
) -> None:
    right = Decimal(share)
    bands = {n: one.band for n, one in responses.criterion("accuracy").anchors.items() if one.band}
    falls = [
        n
        for n, band in bands.items()
        if (band.at_least is None or right >= band.at_least)
        and (band.above is None or right > band.above)
        and (band.below is None or right < band.below)
        and (band.at_most is None or right <= band.at_most)
    ]
    assert falls == [level]


def test_the_best_level_has_no_band_because_it_asks_for_no_error_at_all(responses: Rubric) -> None:
    assert responses.criterion("accuracy").anchors["5"].band is None


@pytest.mark.parametrize(
    ("criterion", "word"),
    [("accuracy", "machine learning"), ("helpfulness", "faucet"), ("tone_bias", "organic")],
)
def test_the_library_shows_each_dimension_at_three_levels(
    responses: Rubric, criterion: str, word: str
) -> None:
    found = [
        level
        for one, level, example in responses.examples()
        if one.id == criterion and word in (example.context or "") and example.response
    ]
    assert found == ["5", "3", "1"]


def test_five_examples_are_disputed_and_say_why(responses: Rubric) -> None:
    disputed = [
        (one.id, level)
        for one, level, example in responses.examples()
        if example.status == "disputed" and example.dispute
    ]
    assert disputed == [
        ("accuracy", "5"),
        ("accuracy", "3"),
        ("tone_bias", "3"),
        ("tone_bias", "2"),
        ("tone_bias", "1"),
    ]


def test_the_library_example_of_tone_at_3_is_the_disputed_one(responses: Rubric) -> None:
    examples = responses.criterion("tone_bias").anchors["3"].examples
    disputed = [example for example in examples if example.status == "disputed"]
    assert ["organic" in (example.context or "") for example in disputed] == [True]


def test_tone_has_five_tags_for_bias_and_accuracy_one_for_refusals(responses: Rubric) -> None:
    tags = {one.id: ids(one.tags) for one in responses.criteria}
    assert tags == {
        "accuracy": ["refusal"],
        "helpfulness": [],
        "tone_bias": ["political", "cultural", "gender", "confirmation", "selection"],
    }


def test_five_signals_of_poor_tone_only_indicate(responses: Rubric) -> None:
    flags = responses.red_flags or ()
    assert ids(flags) == [
        "condescending",
        "dismissive",
        "aggressive",
        "overly_casual",
        "preachy",
    ]
    assert {(flag.effect, flag.criteria) for flag in flags} == {("indicate", ("tone_bias",))}


def test_accuracy_may_be_na_for_opinions_and_asks_the_day_of_judgement(responses: Rubric) -> None:
    accuracy = responses.criterion("accuracy")
    assert {one.id: one.na.policy for one in responses.criteria} == {
        "accuracy": "valid",
        "helpfulness": "excluded",
        "tone_bias": "excluded",
    }
    asked = {one.id: (one.answer, one.na_expects) for one in accuracy.sub_questions}
    assert asked == {"only_opinion": ("yes_no", "YES"), "as_of": ("date", None)}


@pytest.mark.parametrize("criterion", ["accuracy", "helpfulness"])
def test_special_considerations_come_in_threes(responses: Rubric, criterion: str) -> None:
    assert len(responses.criterion(criterion).considerations) == 3


def test_responses_ask_for_more_than_80_percent_and_plain_kappa_above_0_7(
    responses: Rubric,
) -> None:
    agreement = responses.agreement
    assert agreement is not None
    told = [
        (one.coefficient, one.weights, one.op, one.value, one.applies) for one in agreement.targets
    ]
    assert told == [
        ("percent", None, ">", Decimal("0.80"), "always"),
        ("cohen_kappa", None, ">", Decimal("0.70"), "always"),
    ]
    assert agreement.when_low == ("discuss", "clarify", "retrain", "test_again")


@pytest.mark.parametrize(
    ("index", "phase", "weeks", "tasks"),
    [
        (0, "initial_annotation", (1, 2), 3),
        (1, "calibration", (2, 2), 4),
        (2, "main_annotation", (3, 6), 3),
        (3, "final_review", (7, 7), 4),
    ],
)
def test_responses_have_four_phases_with_their_weeks_and_tasks(
    responses: Rubric, index: int, phase: str, weeks: tuple[int, int], tasks: int
) -> None:
    phases = responses.phases or ()
    one = phases[index]
    assert (len(phases), one.id, len(one.tasks)) == (4, phase, tasks)
    assert (one.weeks.first, one.weeks.last) == weeks


def test_the_first_phase_gives_the_same_50_to_100_items_to_everyone(responses: Rubric) -> None:
    items = (responses.phases or ())[0].items
    assert items is not None
    assert (items.minimum, items.maximum, items.same_for_all) == (50, 100, True)


def test_calibration_opens_when_everyone_has_rated_the_least_number(responses: Rubric) -> None:
    first, second, third, last = responses.phases or ()
    assert first.exit == second.entry == ("minimum_items_rated_by_all",)
    assert (third.check_ins, third.items is not None and third.items.all) == (True, True)
    assert "no_open_flags" in last.exit


def test_onboarding_is_apart_from_the_calibration_of_a_round(responses: Rubric) -> None:
    assert responses.calibration is not None
    assert responses.calibration.onboarding and responses.calibration.items is None


def test_responses_carry_all_advice_of_the_document(responses: Rubric) -> None:
    guidance = responses.guidance
    assert guidance is not None
    assert [len(guidance.before or ()), len(guidance.during or ())] == [4, 6]
    assert len(guidance.after or ()) >= 4 + len(("discuss", "clarify", "retrain", "test again"))
    assert len(responses.pitfalls or ()) == 5
    assert len(responses.difficult_cases or ()) == 5
    assert len(responses.principles or ()) == 5
    assert responses.update_causes == (
        "disagreement_pattern",
        "edge_case",
        "rater_feedback",
        "goal_change",
    )


def test_responses_state_version_and_date_and_no_pass_mark(responses: Rubric) -> None:
    assert (responses.version, responses.stated_version) == ("1.0", "1.0")
    assert responses.stated_date == "17 October 2025"
    assert isinstance(responses.aggregation, Dimensions)
    assert responses.aggregation.pass_mark is None
