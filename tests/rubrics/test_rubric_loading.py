"""Rubric files: what is written is what is read, and every mistake is told where it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from calibrant import (
    CalibrantError,
    Fault,
    Rubric,
    RubricError,
    SourceError,
    UnknownName,
    builtin_names,
    load_rubric,
    parse_rubric,
)
from calibrant.formats.rubric_file import MAX_BYTES, rubric_schema
from calibrant.formats.yaml_tree import MAX_DEPTH, read_tree

TEXT = """\
id: tiny
version: 1.10
title: Tiny
item_type: free
summary: As small as can be.
scales:
  - kind: choice
    id: yes_no
    values:
      - {value: YES, meaning: Met., points: 1}
      - {value: NO, meaning: Failed., points: 0}
categories:
  - id: form
    title: Form
    weight: 0.25
  - id: content
    title: Content
    weight: 0.75
criteria:
  - id: tidy
    title: Tidiness
    category: form
    scale: yes_no
    question: Is it tidy?
    na: {policy: valid}
  - id: true_to_life
    title: Truth
    category: content
    scale: yes_no
    question: Is it true?
    na: {policy: excluded}
aggregation:
  kind: weighted_categories
  na_counts: 1
  invalid_na_counts: 0
  error_counts: 0
  missing: error
  pass_mark: {op: ">=", value: 0.80}
agreement: none
"""
WELL_KNOWN = parse_rubric(TEXT).hash


def edited(*edits: tuple[str, str]) -> str:
    text = TEXT
    for old, new in edits:
        assert text.count(old) >= 1
        text = text.replace(old, new, 1)
    return text


def line_of(text: str, words: str) -> int:
    [line] = [n for n, one in enumerate(text.splitlines(), 1) if words in one]
    return line


def faults_in(text: str) -> tuple[Fault, ...]:
    with pytest.raises(RubricError) as caught:
        parse_rubric(text, "tiny.yaml")
    assert {fault.source for fault in caught.value.faults} == {"tiny.yaml"}
    return caught.value.faults


def told(text: str) -> list[tuple[str, str]]:
    return [(fault.path, fault.message) for fault in faults_in(text)]


# -- what is written is what is read


def test_yes_and_no_stay_words() -> None:
    scale = parse_rubric(TEXT).scales[0]
    assert scale.points_of_scale == ("YES", "NO")


@pytest.mark.parametrize("version", ["1.10", "1.1", "3.0", "0.10.0"])
def test_a_version_is_text(version: str) -> None:
    assert parse_rubric(edited(("1.10", version))).version == version


@pytest.mark.parametrize("word", ["on", "off", "0o14", "1e3", "2024-05-01", "12:30", ".inf", "NO"])
def test_no_word_is_taken_for_anything_else(word: str) -> None:
    assert parse_rubric(edited(("title: Tiny", f"title: {word}"))).title == word


@pytest.mark.parametrize("quote", ["", "'"])
def test_an_escape_is_one_only_between_double_quotes(quote: str) -> None:
    text = edited(("title: Tiny", rf"title: {quote}write \ud83c\udf31{quote}"))
    assert parse_rubric(text).title == r"write \ud83c\udf31"


def test_only_the_bare_word_none_is_an_absence() -> None:
    assert parse_rubric(edited(("title: Tiny", 'title: "none"'))).title == "none"
    assert parse_rubric(TEXT).agreement is None


def test_numbers_are_exact() -> None:
    rubric = parse_rubric(edited(("0.25", "0.1000000001"), ("0.75", "0.8999999999")))
    assert [str(one.weight) for one in rubric.categories or ()] == ["0.1000000001", "0.8999999999"]


def test_json_is_a_rubric_text_too() -> None:
    tree = read_tree(TEXT, "tiny").value
    target = {"coefficient": "percent", "op": ">", "value": 0.8, "decided_on": "point"}
    tree["agreement"] = {"targets": [target]}
    assert parse_rubric(json.dumps(tree, indent=1)).version == "1.10"


def test_null_is_an_absence_in_json_and_only_there(tmp_path: Path) -> None:
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(read_tree(TEXT, "tiny").value), "utf-8")
    assert load_rubric(path).hash == WELL_KNOWN
    with pytest.raises(RubricError, match="nothing is written here"):
        parse_rubric(edited(("agreement: none", "agreement: null")))


def test_json_escapes_of_signs_beyond_the_basic_plane_are_read() -> None:
    tree = read_tree(TEXT, "tiny").value | {"title": "Tiny 🌱"}
    text = json.dumps(tree).replace('"agreement": null', '"agreement": none')
    assert parse_rubric(text).title == "Tiny 🌱"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(edited(("title: Tiny", "title: Tiñy")), encoding)
    assert load_rubric(path).title == "Tiñy"


def test_line_ends_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert load_rubric(str(path)).hash == WELL_KNOWN


# -- mistakes


@pytest.mark.parametrize(
    ("old", "new", "path", "hint"),
    [
        ("weight: 0.25", "weigth: 0.25", "categories[0].weigth", "did you mean 'weight'?"),
        ("summary:", "sumary:", "sumary", "did you mean 'summary'?"),
        ("{policy: valid}", "{polcy: valid}", "criteria[0].na.polcy", "did you mean 'policy'?"),
        ("kind: choice", "knid: choice", "scales[0].knid", "did you mean 'kind'?"),
        (
            "na_counts: 1",
            "na_count: 1",
            "aggregation.na_count",
            "did you mean 'na_counts'?",
        ),
        (
            'pass_mark: {op: ">=",',
            'pass_mark: {opp: ">=",',
            "aggregation.pass_mark.opp",
            "did you mean 'op'?",
        ),
        ("meaning: Met.", "mening: Met.", "scales[0].values[0].mening", "did you mean 'meaning'?"),
    ],
)
def test_a_misspelt_key_is_one_mistake_with_its_place_and_a_hint(
    old: str, new: str, path: str, hint: str
) -> None:
    text = edited((old, new))
    line = line_of(text, new)
    assert faults_in(text) == (Fault("unknown key", path, "tiny.yaml", line, hint=hint),)


@pytest.mark.parametrize(
    ("old", "new", "path", "message"),
    [
        ("    title: Truth\n", "", "criteria[1].title", "required key is missing"),
        ("agreement: none\n", "", "agreement", "required key is missing"),
        (
            "item_type: free",
            "item_type: fre",
            "item_type",
            "'fre' is not one of 'plan', 'response', 'conversation' or 'free'",
        ),
        (
            "id: form",
            "id: 1form",
            "categories[0].id",
            r"'1form' is not an id: letters, digits, _ and -, beginning with a letter, at most 64",
        ),
        (
            "title: Tiny",
            "title: none",
            "title",
            "none is not possible here: a value is required",
        ),
        (
            "weight: 0.25",
            "weight: a quarter",
            "categories[0].weight",
            "must be a number such as 3 or 0.15",
        ),
        (
            "weight: 0.25",
            "weight: 25e-2",
            "categories[0].weight",
            "must be a number such as 3 or 0.15",
        ),
        (
            "scale: yes_no",
            "scale: yesno",
            "criteria[0].scale",
            "'yesno' is not defined in scales",
        ),
        (
            "weight: 0.25",
            "weight: 0.2",
            "categories",
            "weights must sum to exactly 1, they sum to 0.95",
        ),
        (
            "na_counts: 1",
            "na_counts: 2",
            "aggregation.na_counts",
            "should be less than or equal to 1",
        ),
        (
            "points: 1",
            "points: 2",
            "scales[0].values[0].points",
            "should be less than or equal to 1",
        ),
        (
            "value: NO",
            "value: yes",
            "scales[0]",
            "two values read the same: 'YES' (case does not count)",
        ),
        (
            "category: form",
            "category: the form",
            "criteria[0].category",
            "'the form' is not an id: letters, digits, _ and -, beginning with a letter, "
            "at most 64",
        ),
    ],
)
def test_one_mistake_is_one_fault(old: str, new: str, path: str, message: str) -> None:
    assert told(edited((old, new))) == [(path, message)]


@pytest.mark.parametrize(
    ("old", "new"),
    [("na: {policy: valid}", "na: valid"), ("agreement: none", "agreement: none\ngates: safe")],
    ids=["mapping wanted", "list wanted"],
)
def test_a_message_speaks_of_the_file_and_not_of_python(old: str, new: str) -> None:
    [fault] = faults_in(edited((old, new)))
    assert not re.search("tuple|dictionary|instance|napolicy", fault.message)


def test_several_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    text = edited(
        ("title: Tiny", "titel: Tiny"),
        ("weight: 0.25", "weight: x"),
        ("scale: yes_no", "scale: yesno"),
        ("policy: excluded", "policy: exclude"),
        ("missing: error", "missing: eror"),
    )
    found = faults_in(text)
    assert [fault.path for fault in found] == [
        "titel",
        "categories[0].weight",
        "criteria[0].scale",
        "criteria[1].na.policy",
        "aggregation.missing",
    ]
    lines = [fault.line for fault in found]
    assert lines == sorted(line for line in lines if line is not None)


def test_an_unknown_key_does_not_hide_a_missing_one() -> None:
    text = edited(("    question: Is it tidy?\n", "    colour: blue\n"))
    assert {fault.path for fault in faults_in(text)} == {
        "criteria[0].colour",
        "criteria[0].question",
    }


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("weight: 0.25", "weight: 0.2", "categories"),
        ("    category: form\n", "", "criteria[0]"),
        ("scale: yes_no", "scale: yesno", "criteria[0].scale"),
    ],
)
def test_a_typo_in_one_criterion_does_not_hide_a_misfit_elsewhere(
    old: str, new: str, path: str
) -> None:
    text = edited((old, new), ("policy: excluded", "policy: exclude"))
    assert [fault.path for fault in faults_in(text)] == [path, "criteria[1].na.policy"]


@pytest.mark.parametrize(
    ("section", "broken", "sound"),
    [
        ("gates", "{id: g1}", "{id: g2, title: G, text: T., criteria: [tiddy], fails_on: [NO]}"),
        (
            "red_flags",
            "{id: f1}",
            "{id: f2, title: F, text: T., effect: reject, criteria: [tiddy]}",
        ),
        ("pitfalls", "{id: p1}", "{id: p2, title: P, text: T., criteria: [tiddy]}"),
        ("checks", "{criteria: []}", "{name: words, criteria: [tiddy]}"),
    ],
)
def test_a_broken_entry_does_not_hide_what_is_wrong_with_its_neighbour(
    section: str, broken: str, sound: str
) -> None:
    found = faults_in(f"{TEXT}{section}:\n  - {broken}\n  - {sound}\n")
    assert f"{section}[1].criteria" in [fault.path for fault in found]


def test_a_criterion_that_cannot_be_named_is_not_blamed_for_its_gate() -> None:
    gate = "gates: [{id: g, title: G, text: T., criteria: [tidy], fails_on: [NO]}]\n"
    safety = "  - {id: safety, title: Safety, weight: none}\ncriteria:\n"
    text = edited(
        ("criteria:\n", safety),
        ("- id: tidy", "- id: 2tidy"),
        ("category: form", "category: safety"),
    )
    assert [fault.path for fault in faults_in(text + gate)] == ["criteria[0].id"]


@pytest.mark.parametrize(
    ("old", "new", "message", "path"),
    [
        ("title: Tiny", "title:", "nothing is written here", "title"),
        ("title: Tiny", "title: ~", "nothing is written here", "title"),
        ("title: Tiny", "title: null", "nothing is written here", "title"),
        ("agreement: none", "agreement: null", "nothing is written here", "agreement"),
        ("title: Form", "title:", "nothing is written here", "categories[0].title"),
        (
            "title: Tiny",
            "title: !!str Tiny",
            "tags (tag:yaml.org,2002:str) are not allowed",
            "title",
        ),
        (
            "title: Tiny",
            "title: !!python/name:os.system x",
            "tags (tag:yaml.org,2002:python/name:os.system) are not allowed",
            "title",
        ),
        ("    title: Form", "    id: shape", "key 'id' stands here twice", "categories[0].id"),
        ("agreement: none", "title: Teeny", "key 'title' stands here twice", "title"),
    ],
)
def test_what_yaml_would_pass_over_is_told(old: str, new: str, message: str, path: str) -> None:
    text = edited((old, new))
    line = TEXT[: TEXT.index(old)].count("\n") + 1
    first = next(fault for fault in faults_in(text) if fault.message.startswith(message))
    assert (first.path, first.line) == (path, line)


@pytest.mark.parametrize("nothing", ["title:", "title: ~"])
def test_an_empty_value_is_one_mistake(nothing: str) -> None:
    assert len(faults_in(edited(("title: Tiny", nothing)))) == 1


def test_an_alias_is_one_mistake_and_nothing_is_expanded() -> None:
    text = edited(("title: Tiny", "title: &t Tiny"), ("summary: As", "summary: *t #"))
    [fault] = faults_in(text)
    assert (fault.message, fault.path, fault.line) == (
        "aliases (*name) are not allowed",
        "summary",
        5,
    )


def test_only_one_document_may_stand_in_a_file() -> None:
    [fault] = faults_in(TEXT + "---\n" + TEXT)
    assert fault.message == "only one document may stand in a rubric file"
    assert fault.line == TEXT.count("\n") + 1


@pytest.mark.parametrize("text", ["", "just words", "- a\n- b\n", "# nothing\n", "none"])
def test_a_text_that_is_no_mapping_is_no_rubric(text: str) -> None:
    assert "a rubric is a mapping of keys to values" in [one.message for one in faults_in(text)]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (edited(("  - id: form", "\t- id: form")), "not YAML", 13),
        (edited(("title: Tiny", "title: a: b")), "not YAML", 3),
        (edited(("title: Tiny", "title: Ti\x07ny")), "not YAML", 3),
        (edited(("title: Tiny", "? [a, b]\n: c")), "a key must be a plain word", 3),
        ("id:\n  " + "[" * (MAX_DEPTH + 1), "nested deeper", 2),
    ],
    ids=["tab", "colon", "control sign", "list as key", "depth"],
)
def test_what_cannot_be_parsed_is_told_with_its_line(text: str, message: str, line: int) -> None:
    [fault] = faults_in(text)
    assert message in fault.message
    assert fault.line == line


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_a_bottomless_text_is_refused(opening: str) -> None:
    assert len(faults_in(opening * 100_000)) == 1


def test_a_text_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(CalibrantError):
        parse_rubric(edited(("title: Tiny", "title: Ti\ud800ny")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("points: 1", "points: x"),
        ("- {value: YES, meaning: Met., points: 1}", "- YES"),
        (
            "kind: choice\n    id: yes_no",
            "kind: ordinal\n    id: yes_no\n    minimum: x\n    maximum: 5",
        ),
        (
            "kind: choice\n    id: yes_no",
            "kind: ordinal\n    id: yes_no\n    minimum: 5\n    maximum: 5",
        ),
        ("agreement: none", "agreement: none\nchangelog: [{version: first, text: New.}]"),
        ("agreement: none", "agreement: none\nmapping: {from_version: first}"),
        ("agreement: none", "agreement: none\ngates: [none]\nred_flags: none\nphases: [[]]"),
        ("criteria:", "criteria: {}\nprinciples:"),
    ],
)
def test_an_unreadable_part_is_a_fault_and_no_crash(old: str, new: str) -> None:
    assert faults_in(edited((old, new)))


def written(value: Any) -> str:
    """JSON, but for the bare word none."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return "none" if value is None else json.dumps(value)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    below = [
        place
        for key, one in inner
        if isinstance(one, dict | list)
        for place in places(one, (*path, key))
    ]
    return [
        (*path, key) for key in (value if isinstance(value, dict) else range(len(value)))
    ] + below


@settings(max_examples=400)
@given(data=st.data(), junk=st.sampled_from([..., None, "x", "-1", [], [None], {}, {"x": "y"}]))
def test_whatever_is_wrong_with_a_rubric_it_is_a_rubric_error(
    small_tree: Callable[..., dict[str, Any]], data: st.DataObject, junk: Any
) -> None:
    place = data.draw(st.sampled_from(places(small_tree())))
    try:
        parse_rubric(written(small_tree((place, junk))))
    except RubricError as error:
        assert error.faults


# -- files and names


def test_a_fault_names_the_file_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(edited(("weight: 0.25", "weigth: 0.25")), "utf-8")
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    expected = f"{path}:15: categories[0].weigth: unknown key (did you mean 'weight'?)"
    assert str(caught.value) == expected


def test_a_file_that_is_not_utf_8_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(edited(("title: Tiny", "title: Tiñy")).encode("latin-1"))
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    [fault] = caught.value.faults
    assert (fault.message, fault.source, fault.line) == ("not UTF-8 text", str(path), 3)


@pytest.mark.parametrize("source", ["no-such.yaml", "nowhere/rubric.json", Path("no-such")])
def test_a_missing_file_is_told(source: str | Path) -> None:
    with pytest.raises(SourceError, match="no such rubric file"):
        load_rubric(source)


def test_a_folder_is_no_rubric(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        load_rubric(tmp_path)


def test_a_file_far_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(SourceError, match="this is not a rubric"):
        load_rubric(path)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("coaching-conversations", "coaching-conversation"),
        ("Coaching_Conversation", "coaching-conversation"),
        ("smart-action-plans", "smart-action-plan"),
        ("ai_response", "ai-response"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{meant}'"):
        load_rubric(name)


def test_a_name_like_no_other_is_told_what_there_is() -> None:
    with pytest.raises(UnknownName, match="known: ai-response, coaching-conversation, smart"):
        load_rubric("zzz")


@pytest.mark.parametrize("source", [TEXT, "x" * 5000, "a\0b"], ids=["text", "endless", "nul"])
def test_a_text_in_place_of_a_name_is_told_and_no_crash(source: str) -> None:
    with pytest.raises(CalibrantError):
        load_rubric(source)


def test_a_built_in_rubric_is_read_once() -> None:
    assert load_rubric("ai-response") is load_rubric("ai-response")


# -- the schema for editors


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(rubric_schema())


def spelled(value: Any) -> Any:
    """With absences as the word they are written with."""
    if isinstance(value, dict):
        return {key: spelled(one) for key, one in value.items()}
    if isinstance(value, list):
        return [spelled(one) for one in value]
    return "none" if value is None else value


def typed(value: Any) -> Any:
    """With scalars typed as YAML 1.2 does it in an editor."""
    if isinstance(value, dict):
        return {key: typed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [typed(one) for one in value]
    if value in ("true", "false"):
        return value == "true"
    try:
        return json.loads(value) if value[:1].isdigit() else value
    except ValueError:
        return value


def builtin_tree(name: str) -> Any:
    text = resources.files("calibrant.rubrics").joinpath(f"{name}.yaml").read_text("utf-8")
    return spelled(read_tree(text, name).value)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(rubric_schema())


@pytest.mark.parametrize("name", builtin_names())
def test_the_schema_takes_the_built_in_rubrics_as_this_loader_reads_them(
    validator: Draft202012Validator, name: str
) -> None:
    assert [error.json_path for error in validator.iter_errors(builtin_tree(name))] == []


@pytest.mark.parametrize("name", builtin_names())
def test_the_schema_takes_the_built_in_rubrics_as_an_editor_reads_them(
    validator: Draft202012Validator, name: str
) -> None:
    assert [error.json_path for error in validator.iter_errors(typed(builtin_tree(name)))] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("summary:", "sumary:"),
        ("weight: 0.25", "weigth: 0.25"),
        ("item_type: free", "item_type: fre"),
        ("policy: valid", "policy: vald"),
        ("id: form", "id: 1form"),
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(
    validator: Draft202012Validator, old: str, new: str
) -> None:
    tree = typed(spelled(read_tree(edited((old, new)), "tiny").value))
    assert not validator.is_valid(tree)


def test_the_schema_takes_what_the_loader_takes(validator: Draft202012Validator) -> None:
    assert validator.is_valid(typed(spelled(read_tree(TEXT, "tiny").value)))


def test_the_schema_describes_every_key_of_a_rubric() -> None:
    assert set(rubric_schema()["properties"]) == set(Rubric.model_fields)


# -- common slips


def faults_of(text: str) -> list[str]:
    with pytest.raises(RubricError) as caught:
        parse_rubric(text, "tiny.yaml")
    return [str(fault) for fault in caught.value.faults]


def test_a_scale_that_does_not_say_its_kind() -> None:
    (told,) = faults_of(TEXT.replace("  - kind: choice\n    id: yes_no", "  - id: yes_no"))
    assert "scales[0].kind: required key is missing" in told


def test_a_misspelt_kind_hides_nothing_below_it() -> None:
    text = TEXT.replace("kind: choice", "kind: choise").replace("meaning: Met.", "meening: Met.")
    told = faults_of(text)
    assert any("tiny.yaml:7: scales[0].kind: 'choise' is not one of" in one for one in told)
    assert any("did you mean 'choice'?" in one for one in told)
    assert any("meening" in one and "did you mean 'meaning'?" in one for one in told)


def test_a_misspelt_section_hides_nothing_below_it() -> None:
    told = faults_of(
        TEXT.replace("criteria:", "criterias:").replace("policy: valid", "policy: vaild")
    )
    assert any("criterias: unknown key (did you mean 'criteria'?)" in one for one in told)
    assert any("criterias[0].na.policy" in one and "'valid'" in one for one in told)
    assert not any("required key is missing" in one for one in told)


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("version: 1.10", "version: v1", "is not a version such as 1.0 or 1.10.2"),
        ("weight: 0.25", "weight: 0,25", "write 0.25"),
        ("weight: 0.25", "weight: 25%", "write 0.25"),
        ("weight: 0.25", "weight: None", "write none, in small letters"),
        ("title: Tiny", "title: Tiny: it is", "stands in quotes"),
        ("title: Tiny", "title: Tiny\n\tx: y", "spaces, not tabs"),
        ("  - kind: choice", "\t- kind: choice", "spaces, not tabs"),
        ('op: ">="', "op: >=", "stands in quotes"),
    ],
)
def test_what_to_write_instead(old: str, new: str, hint: str) -> None:
    assert any(hint in told for told in faults_of(TEXT.replace(old, new, 1)))


def test_an_operator_the_wrong_way_round() -> None:
    text = TEXT.replace('op: ">="', 'op: "=>"')
    assert text != TEXT
    assert any("did you mean '>='?" in told for told in faults_of(text))


def test_a_second_document_is_one_mistake() -> None:
    (told,) = faults_of(TEXT + "---\nid: other\n")
    assert "only one document" in told


def test_a_misspelt_criterion_of_a_gate_does_not_hide_its_answer() -> None:
    gate = "gates: [{id: g, title: G, text: Stop., criteria: [tidyy], fails_on: [NOO]}]\n"
    told = faults_of(TEXT + gate)
    assert any("gates[0].criteria" in one and "'tidy'" in one for one in told)
    assert any("gates[0].fails_on" in one and "NOO" in one for one in told)
