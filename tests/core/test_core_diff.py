"""What changed in meaning between two versions, and which answers stay valid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from calibrant import Rubric, RubricDiff, VersionError, diff_rubrics

Build = Callable[..., Rubric]
Edit = tuple[tuple[str | int, ...], Any]
NEXT: Edit = (("version",), "1.10")
HONEST_GATE = {
    "id": "honesty",
    "title": "Honesty",
    "text": "A lie keeps it out.",
    "criteria": ["honest"],
    "fails_on": ["NO"],
}
CRITERIA = ("tidy", "depth", "honest", "harmless")


def changed(build: Build, *edits: Edit) -> RubricDiff:
    return diff_rubrics(build(), build(NEXT, *edits))


@pytest.mark.parametrize(
    ("edit", "section", "subject", "text"),
    [
        ((("criteria", 0, "title"), "Order"), "criteria", "tidy", "title reworded"),
        ((("criteria", 0, "question"), "Neat?"), "criteria", "tidy", "question reworded"),
        ((("criteria", 0, "detail"), "Look."), "criteria", "tidy", "detail reworded"),
        ((("criteria", 0, "category"), "content"), "criteria", "tidy", "category changed"),
        ((("criteria", 3, "na", "when"), "Never."), "criteria", "harmless", "na changed"),
        ((("criteria", 0, "precondition", "value"), 3), "criteria", "tidy", "precondition changed"),
        ((("criteria", 0, "violation"), {"rule": "any"}), "criteria", "tidy", "violation changed"),
        (
            (("criteria", 0, "tags"), [{"id": "t", "title": "T", "text": "T."}]),
            "criteria",
            "tidy",
            "tags changed",
        ),
        (
            (("criteria", 0, "sub_questions"), [{"id": "q", "question": "Q?", "answer": "text"}]),
            "criteria",
            "tidy",
            "sub_questions changed",
        ),
        ((("criteria", 0, "aliases"), ["neat"]), "texts", "tidy", "aliases changed"),
        (
            (("criteria", 0, "failure_examples"), ["A mess."]),
            "texts",
            "tidy",
            "failure_examples changed",
        ),
        (
            (("criteria", 0, "considerations"), [{"title": "N", "text": "T."}]),
            "texts",
            "tidy",
            "considerations changed",
        ),
        (
            (("criteria", 1, "anchors", "2", "text"), "So-so."),
            "anchors",
            "depth",
            "anchor of 2 changed",
        ),
        (
            (
                ("criteria", 1, "anchors", "2", "examples"),
                [{"response": "Hm.", "status": "approved"}],
            ),
            "anchors",
            "depth",
            "examples or status of 2 changed",
        ),
        ((("gates", 0, "text"), "Stop."), "gates", "safe", "text changed"),
        ((("gates", 1), HONEST_GATE), "gates", "honesty", "added"),
        ((("red_flags", 0, "effect"), "indicate"), "red flags", "leak", "effect changed"),
        ((("red_flags", 1), ...), "red flags", "shouting", "removed"),
        (
            (("red_flags", 2), {"id": "spam", "title": "S", "text": "T.", "effect": "reject"}),
            "red flags",
            "spam",
            "added",
        ),
        ((("aggregation", "pass_mark", "op"), ">"), "scoring", "aggregation", "pass_mark changed"),
        ((("aggregation", "na_counts"), "0.5"), "scoring", "aggregation", "na_counts changed"),
        (
            (
                ("agreement",),
                {
                    "targets": [
                        {"coefficient": "percent", "op": ">", "value": "0.8", "decided_on": "point"}
                    ]
                },
            ),
            "targets",
            "agreement",
            "targets changed",
        ),
        ((("resolution",), {"metric": "difference"}), "process", "resolution", "changed"),
        ((("panel",), "majority"), "process", "panel", "changed"),
        ((("calibration",), {"items": 10}), "process", "calibration", "changed"),
        ((("update_causes",), ["edge_case"]), "process", "update_causes", "changed"),
        ((("checks",), [{"name": "words"}]), "process", "checks", "changed"),
        ((("title",), "Tiny"), "texts", "title", "reworded"),
        ((("summary",), "Less."), "texts", "summary", "reworded"),
        ((("scope",), "All."), "texts", "scope", "reworded"),
        ((("independence",), "Alone."), "texts", "independence", "reworded"),
        ((("pitfalls",), [{"title": "P", "text": "T."}]), "texts", "pitfalls", "reworded"),
        (
            (("categories", 3), {"id": "more", "title": "More", "weight": None}),
            "weights",
            "more",
            "category added",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_each_change_is_told_once(
    small: Build, edit: Edit, section: str, subject: str, text: str
) -> None:
    found = [(one.section, one.subject, one.text) for one in changed(small, edit).changes]
    assert found == [(section, subject, text)]


@pytest.mark.parametrize("key", ["title", "question", "note"])
def test_a_reworded_category_is_told(small: Build, key: str) -> None:
    diff = changed(small, (("categories", 0, key), "Said otherwise."))
    assert [(one.section, one.subject) for one in diff.changes] == [("texts", "form")]


def test_a_new_weight_is_told_from_what_to_what(small: Build) -> None:
    diff = changed(
        small, (("categories", 0, "weight"), "0.30"), (("categories", 1, "weight"), "0.7")
    )
    told = [(one.subject, one.before, one.after) for one in diff.changes]
    assert told == [("form", "0.25", "0.30"), ("content", "0.75", "0.7")]
    assert diff.valid == CRITERIA
    assert diff.verdicts_change


def test_a_category_without_weight_is_told_in_the_words_of_the_document(small: Build) -> None:
    added = {"id": "more", "title": "More", "weight": None}
    [change] = changed(small, (("categories", 3), added)).changes
    assert change.after == "none"


def test_a_new_scale_is_told_with_its_points(small: Build) -> None:
    anchors = {str(level): {"text": "A level."} for level in range(1, 5)}
    diff = changed(small, (("scales", 1, "maximum"), 4), (("criteria", 1, "anchors"), anchors))
    [scale] = [one for one in diff.changes if one.section == "scales"]
    assert (scale.subject, scale.before, scale.after) == ("depth", "1, 2, 3", "1, 2, 3, 4")
    assert diff.ask_again == ("depth",)


@pytest.mark.parametrize(
    "edit",
    [
        (("version",), "1.11"),
        (("stated_date",), "May 2025"),
        (("changelog",), [{"version": "1.9", "text": "Now."}]),
        (("categories", 0, "weight"), "0.250"),
    ],
)
def test_what_changes_no_meaning_is_no_change(small: Build, edit: Edit) -> None:
    assert changed(small, edit).changes == ()


# -- which answers stay valid


@pytest.mark.parametrize(
    ("edit", "again"),
    [
        ((("criteria", 0, "question"), "Neat?"), ("tidy",)),
        ((("criteria", 0, "detail"), "Look closely."), ("tidy",)),
        ((("criteria", 1, "anchors", "2", "text"), "So-so."), ("depth",)),
        ((("criteria", 1, "anchors", "2", "signs"), ["A sign."]), ("depth",)),
        ((("criteria", 3, "na", "when"), "Never."), ("harmless",)),
        ((("criteria", 0, "precondition", "value"), 3), ("tidy",)),
        ((("criteria", 0, "violation"), {"rule": "any"}), ("tidy",)),
        ((("scales", 0, "values", 0, "meaning"), "Well met."), ("tidy", "honest", "harmless")),
        ((("scales", 0, "values", 1, "points"), "0.5"), ()),
        ((("criteria", 0, "title"), "Order"), ()),
        ((("criteria", 0, "aliases"), ["neat"]), ()),
        ((("criteria", 0, "failure_examples"), ["A mess."]), ()),
        ((("criteria", 0, "category"), "content"), ()),
        ((("aggregation", "pass_mark", "value"), "0.9"), ()),
        ((("gates", 1), HONEST_GATE), ()),
    ],
)
def test_only_what_a_rater_read_otherwise_is_asked_again(
    small: Build, edit: Edit, again: tuple[str, ...]
) -> None:
    diff = changed(small, edit)
    assert diff.ask_again == again
    assert diff.valid == tuple(name for name in CRITERIA if name not in again)


@pytest.mark.parametrize(
    "edit",
    [
        (("aggregation", "pass_mark", "value"), "0.9"),
        (("gates", 0, "fails_on"), ["YES", "NO"]),
        (("red_flags", 0, "effect"), "indicate"),
        (("scales", 0, "values", 1, "points"), "0.5"),
        (("criteria", 0, "category"), "content"),
    ],
)
def test_verdicts_may_change_with_the_rule(small: Build, edit: Edit) -> None:
    assert changed(small, edit).verdicts_change


@pytest.mark.parametrize(
    "edit",
    [
        (("title",), "Tiny"),
        (("panel",), "majority"),
        (("criteria", 0, "title"), "Order"),
        (("gates", 0, "text"), "Stop."),
        (("red_flags", 0, "text"), "Tells."),
    ],
)
def test_verdicts_on_the_same_answers_do_not_change_with_words(small: Build, edit: Edit) -> None:
    assert not changed(small, edit).verdicts_change


# -- mapping


def mapped(**mapping: Any) -> Edit:
    return ("mapping",), {"from_version": "1.9", **mapping}


@pytest.mark.parametrize(
    ("answers", "valid", "renamed"),
    [("valid", CRITERIA[1:], (("tidy", "neat"),)), ("ask_again", CRITERIA[1:], ())],
)
def test_a_renamed_criterion_takes_its_answers_along_if_the_mapping_says_so(
    small: Build, answers: str, valid: tuple[str, ...], renamed: tuple[tuple[str, str], ...]
) -> None:
    diff = changed(
        small,
        (("criteria", 0, "id"), "neat"),
        mapped(renamed=[{"previous": "tidy", "now": "neat", "answers": answers}]),
    )
    assert [(one.subject, one.text) for one in diff.changes] == [("neat", "renamed")]
    assert diff.renamed == renamed
    assert set(diff.valid) == {*valid, *(after for _, after in renamed)}


def test_without_a_mapping_another_id_is_another_criterion(small: Build) -> None:
    diff = changed(small, (("criteria", 0, "id"), "neat"))
    assert [(one.subject, one.text) for one in diff.changes] == [
        ("tidy", "removed"),
        ("neat", "added"),
    ]
    assert diff.ask_again == ("neat",)


@pytest.mark.parametrize(
    "mapping",
    [{"added": ["tidy"], "dropped": ["tidy"]}, {"added": ["tidy"]}, {"dropped": ["tidy"]}],
)
def test_an_id_that_was_dropped_or_added_anew_is_asked_again(
    small: Build, mapping: dict[str, list[str]]
) -> None:
    diff = changed(small, mapped(**mapping))
    assert [(one.subject, one.text) for one in diff.changes] == [
        ("tidy", "removed"),
        ("tidy", "added"),
    ]
    assert diff.ask_again == ("tidy",)


def test_a_mapping_from_another_version_says_nothing_of_this_one(small: Build) -> None:
    mapping = {"from_version": "1.8", "added": ["tidy"]}
    assert changed(small, (("mapping",), mapping)).valid == CRITERIA


def test_an_id_that_moved_to_another_meaning_is_asked_again(coaching: Rubric, small: Build) -> None:
    # CQ6 and CP2 stood for something else in 2.0, and MT1 to MT6 are new
    old = coaching.model_dump() | {"version": "2.0", "mapping": None, "changelog": None}
    diff = diff_rubrics(Rubric.model_validate(old), coaching)
    assert {"CQ6", "CP2", "MT1", "MT6"} <= set(diff.ask_again)
    assert {"CQ1", "CQ8"} <= set(diff.valid)


# -- versions


@pytest.mark.parametrize(("version", "higher"), [("1.9", "1.10"), ("3.0", "3.1"), ("1.2.3", "1.3")])
def test_one_version_may_not_stand_for_two_contents(
    small: Build, version: str, higher: str
) -> None:
    old = small((("version",), version))
    new = small((("version",), version), (("title",), "Tiny"))
    with pytest.raises(VersionError, match=rf"two different contents.*version: {higher}$"):
        diff_rubrics(old, new)


def test_a_version_is_the_same_however_many_zeros_it_is_written_with(small: Build) -> None:
    old = small((("version",), "2.0"))
    new = small((("version",), "2.0.0"), (("title",), "Tiny"))
    with pytest.raises(VersionError):
        diff_rubrics(old, new)


def test_the_older_version_comes_first(small: Build) -> None:
    with pytest.raises(VersionError, match=r"small@1\.10 is later than small@1\.9"):
        diff_rubrics(small(NEXT), small())


def test_the_same_content_has_no_difference(builtin: Rubric) -> None:
    diff = diff_rubrics(builtin, builtin)
    assert (diff.changes, diff.ask_again, diff.verdicts_change) == ((), (), False)


def test_a_difference_can_be_read_by_machines(small: Build) -> None:
    told = changed(small, (("criteria", 0, "question"), "Neat?")).to_dict()
    assert told == {
        "old": "small@1.9",
        "new": "small@1.10",
        "changes": [
            {
                "section": "criteria",
                "subject": "tidy",
                "text": "question reworded",
                "before": "Is it tidy?",
                "after": "Neat?",
            }
        ],
        "answers_valid": ["depth", "honest", "harmless"],
        "ask_again": ["tidy"],
        "renamed": [],
        "verdicts_may_change": told["verdicts_may_change"],
        "notes": [],
    }


def test_two_rubrics_are_not_two_versions(small: Build) -> None:
    found = changed(small, (("id",), "other"))
    assert found.changes[0].text == "another rubric"
    assert "two rubrics" in found.notes[0]


def test_other_items_mean_other_answers(small: Build) -> None:
    found = changed(small, (("item_type",), "plan"), (("criteria", 0, "precondition"), ...))
    assert (found.changes[0].section, found.valid) == ("identity", ())


def test_white_space_has_no_meaning(small: Build) -> None:
    found = changed(small, (("criteria", 0, "question"), "Is  it\n tidy?"))
    assert (found.changes, found.ask_again) == ((), ())


def test_every_change_shows_where_the_two_differ(small: Build) -> None:
    edits: list[Edit] = [
        (("summary",), "Another summary altogether."),
        (("scales", 0, "values", 0, "meaning"), "Something else."),
        (("scales", 0, "values", 1, "points"), "0.5"),
    ]
    for edit in edits:
        for change in changed(small, edit).changes:
            assert change.before != change.after, change


def test_a_mapping_that_does_not_fit_is_told(small: Build) -> None:
    mapping = {"from_version": "1.9", "dropped": ["tidyy"], "added": ["depth"]}
    notes = changed(small, (("mapping",), mapping)).notes
    assert any("'tidyy'" in note and "did you mean 'tidy'?" in note for note in notes)
    assert any("calls 'depth' added" in note for note in notes)
    elsewhere = changed(small, (("mapping",), {**mapping, "from_version": "0.3"})).notes
    assert any("not used" in note for note in elsewhere)
