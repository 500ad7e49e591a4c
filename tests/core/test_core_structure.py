"""Pieces of a rubric that do not fit together are named, each where it can be mended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from calibrant import Rubric
from calibrant.core.structure import Misfit, Parts, empty_categories, misfits

Build = Callable[..., Rubric]
Edit = tuple[tuple[str | int, ...], Any]
NOTE = {"title": "A note", "text": "Words.", "criteria": ["depht"]}
TAG = {"id": "dull", "title": "Dull", "text": "Not bright."}
ASKED = {"id": "why", "question": "Why?", "answer": "text"}
STANDARD = {"id": "s", "title": "S", "force": "should", "text": "T.", "rules": ["R."]}
DEPTHS = {"kind": "ordinal", "id": "depths", "minimum": 1, "maximum": 3}
HARMLESS = {
    "id": "harmless",
    "title": "Harmlessness",
    "category": "safety",
    "scale": "yes_no",
    "question": "Is it harmless?",
    "na": {"policy": "valid"},
}
PHASE = {"id": "p", "title": "P", "weeks": {"first": 1, "last": 2}, "tasks": ["T."]}


def complaints(build: Build, *edits: Edit) -> str:
    with pytest.raises(ValidationError) as caught:
        build(*edits)
    [error] = caught.value.errors()
    return error["msg"].removeprefix("Value error, ")


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("scales", 2), DEPTHS, "scales[2].id: 'depths' is used twice"),
        (
            ("categories", 3),
            {"id": "safety", "title": "Again", "weight": None},
            "categories[3].id: 'safety' is used twice",
        ),
        (("criteria", 4), HARMLESS, "criteria[4].id: 'harmless' is used twice"),
        (("red_flags", 1, "id"), "leak", "red_flags[1].id: 'leak' is used twice"),
        (("phases",), [PHASE, PHASE], "phases[1].id: 'p' is used twice"),
        (("criteria", 2, "title"), "DEPTH", "criteria[2]: 'DEPTH' also stands for 'depth'"),
        (("criteria", 2, "aliases"), ["Tidy"], "criteria[2]: 'Tidy' also stands for 'tidy'"),
        (("red_flags", 1, "aliases"), ["Leak"], "red_flags[1]: 'Leak' also stands for 'leak'"),
        (
            ("criteria", 1, "aliases"),
            ["sub-answers"],
            "criteria[1]: 'sub-answers' is a field of every record: choose another name",
        ),
        (
            ("criteria", 0, "category"),
            "from",
            "criteria[0].category: 'from' is not defined in categories",
        ),
        (
            ("criteria", 0, "category"),
            None,
            "criteria[0]: needs a category, because categories are weighted",
        ),
        (("criteria", 0, "scale"), "yes", "criteria[0].scale: 'yes' is not defined in scales"),
        (
            ("criteria", 0, "precondition", "metric"),
            "actions",
            "criteria[0].precondition.metric: 'actions' cannot be counted in a conversation",
        ),
        (
            ("criteria", 0, "na"),
            {"policy": "excluded"},
            "criteria[0].precondition: answers NA, so `na` must be valid",
        ),
        (
            ("criteria", 1, "anchors", "4"),
            {"text": "Deeper."},
            "criteria[1].anchors.4: '4' is not on scale 'depths'",
        ),
        (
            ("criteria", 1, "anchors"),
            {"2": {"text": "Fair."}},
            "criteria[1].anchors: every level needs its anchor; not described: 1, 3",
        ),
        (
            ("criteria", 0, "anchors"),
            {"YES": {"text": "Tidy."}},
            "criteria[0].anchors: every level needs its anchor; not described: NO",
        ),
        (
            ("categories", 0, "weight"),
            "0.26",
            "categories: weights must sum to exactly 1, they sum to 1.01",
        ),
        (
            ("categories", 0, "weight"),
            "0.249999999999",
            "categories: weights must sum to exactly 1, they sum to 0.999999999999",
        ),
        (
            ("criteria", 0, "category"),
            "safety",
            "criteria[0].category: 'safety' has no weight and 'tidy' is in no gate: "
            "it would count nowhere",
        ),
        (
            ("gates", 0, "criteria"),
            ["harmless", "armless"],
            "gates[0].criteria: 'armless' is not defined in criteria",
        ),
        (("gates", 0, "fails_on"), ["no"], "gates[0].fails_on: 'no' is not on scale 'yes_no'"),
        (
            ("red_flags", 0, "criteria"),
            ["depht"],
            "red_flags[0].criteria: 'depht' is not defined in criteria",
        ),
        (
            ("guidance",),
            {"during": [NOTE]},
            "guidance.during[0].criteria: 'depht' is not defined in criteria",
        ),
        (("pitfalls",), [NOTE], "pitfalls[0].criteria: 'depht' is not defined in criteria"),
        (
            ("difficult_cases",),
            [NOTE],
            "difficult_cases[0].criteria: 'depht' is not defined in criteria",
        ),
        (("principles",), [NOTE], "principles[0].criteria: 'depht' is not defined in criteria"),
        (("reviewers",), [NOTE], "reviewers[0].criteria: 'depht' is not defined in criteria"),
        (
            ("criteria", 1, "considerations"),
            [NOTE],
            "criteria[1].considerations[0].criteria: 'depht' is not defined in criteria",
        ),
        (
            ("standards",),
            [STANDARD | {"criteria": ["depht"]}],
            "standards[0].criteria: 'depht' is not defined in criteria",
        ),
        (
            ("checks",),
            [{"name": "words", "criteria": ["depht"]}],
            "checks[0].criteria: 'depht' is not defined in criteria",
        ),
        (
            ("changelog",),
            [{"version": "1.10", "text": "Later."}],
            "changelog[0].version: 1.10 is later than the rubric's own version 1.9",
        ),
        (
            ("mapping",),
            {"from_version": "1.10"},
            "mapping.from_version: must be earlier than 1.9",
        ),
        (("mapping",), {"from_version": "1.9"}, "mapping.from_version: must be earlier than 1.9"),
        (
            ("mapping",),
            {"from_version": "1.8", "added": ["deep"]},
            "mapping.added: 'deep' is not defined in criteria",
        ),
        (
            ("mapping",),
            {
                "from_version": "1.8",
                "renamed": [{"previous": "old", "now": "deep", "answers": "valid"}],
            },
            "mapping.renamed[0].now: 'deep' is not defined in criteria",
        ),
    ],
)
def test_a_misfit_is_named_once_and_where_it_is(
    small: Build, path: tuple[str | int, ...], value: object, complaint: str
) -> None:
    assert complaints(small, (path, value)) == complaint


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("criteria", 0, "tags"), [TAG, TAG]),
        (("criteria", 0, "sub_questions"), [ASKED, ASKED]),
        (("standards",), [STANDARD, STANDARD]),
    ],
)
def test_an_id_means_one_thing_wherever_ids_stand(
    small: Build, path: tuple[str | int, ...], value: object
) -> None:
    assert "is used twice" in complaints(small, (path, value))


def test_two_gates_may_not_share_an_id(small: Build) -> None:
    [gate] = small().model_dump()["gates"]
    assert complaints(small, (("gates",), [gate, gate])) == "gates[1].id: 'safe' is used twice"


def test_weighted_answers_need_points(small: Build) -> None:
    found = complaints(small, (("scales", 0, "values", 1, "points"), None))
    assert "criteria[0].scale: answer 'NO' of scale 'yes_no' has no points" in found


def test_weighted_categories_need_categories(small: Build) -> None:
    found = complaints(small, (("categories",), None))
    assert "categories: weighted categories need categories" in found


def test_a_forced_value_must_be_on_every_scale_in_use(small: Build) -> None:
    forced = {"effect": "force_scores", "forced_value": "1"}
    flag = {"id": "leak", "title": "Leak", "text": "Tells secrets."} | forced
    found = complaints(small, (("red_flags", 0), flag))
    assert found == "red_flags[0].forced_value: '1' is not on scale 'yes_no'"


def test_all_misfits_are_told_together(small: Build) -> None:
    found = complaints(
        small,
        (("criteria", 0, "scale"), "none_such"),
        (("categories", 0, "weight"), "0.2"),
        (("gates", 0, "fails_on"), ["NEVER"]),
    )
    assert [one.split(":")[0] for one in found.split("; ")] == [
        "criteria[0].scale",
        "categories",
        "gates[0].fails_on",
    ]


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [(("criteria", 0, "anchors"), {"YES": {"text": "Tidy."}, "NO": {"text": "Untidy."}})],
        [
            (
                ("changelog",),
                [{"version": "1.9", "text": "Now."}, {"version": "1.8", "text": "Old."}],
            )
        ],
        [(("mapping",), {"from_version": "1.8", "dropped": ["gone"]})],
        [(("criteria", 0, "title"), "Tidy")],
        [(("categories", 3), {"id": "more", "title": "More", "weight": None})],
    ],
)
def test_what_fits_is_taken(small: Build, edits: list[Edit]) -> None:
    assert small(*edits).id == "small"


def test_a_section_that_could_not_be_read_is_not_blamed_for_what_refers_to_it(
    small: Build,
) -> None:
    rubric = small()
    parts = Parts(criteria=rubric.criteria, gates=rubric.gates, faulty=frozenset({"scales"}))
    assert [one for one in misfits(parts) if one.path[-1] == "scale"] == []


def test_a_reference_to_a_section_that_was_read_is_checked(small: Build) -> None:
    found = list(misfits(Parts(criteria=small().criteria, scales=(), categories=())))
    assert {one.place for one in found} >= {"criteria[0].scale", "criteria[0].category"}


def test_a_misfit_suggests_what_was_meant(small: Build) -> None:
    rubric = small()
    wrong = rubric.criteria[0].model_copy(update={"scale": "yesno"})
    found = list(
        misfits(Parts(criteria=[wrong], scales=rubric.scales, faulty=frozenset({"categories"})))
    )
    assert found == [
        Misfit(
            ("criteria", 0, "scale"),
            "'yesno' is not defined in scales",
            "did you mean 'yes_no'?",
        )
    ]


def test_weighted_categories_without_criteria_are_told(small: Build) -> None:
    rubric = small((("criteria", 0, "category"), "content"))
    assert empty_categories(rubric.categories or (), rubric.criteria) == ["form"]
