"""Names read by one rule; hashes equal for equal content, different for any other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import Rubric
from calibrant.core.ids import canonical, content_hash, read_name

Build = Callable[..., Rubric]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_hash_names_its_algorithm() -> None:
    assert content_hash({"a": 1}) == "sha256:" + hashlib.sha256(b'{"a":1}').hexdigest()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        (("é", "\u2028"), '["é","\u2028"]'),
        (Decimal("0.80"), '"0.8"'),
        (Decimal("100"), '"100"'),
        (Decimal("1E+2"), '"100"'),
        (Decimal("0.000000000001"), '"0.000000000001"'),
        (Decimal("0.00"), '"0"'),
        (Decimal("-0.0"), '"0"'),
    ],
)
def test_one_text_stands_for_a_value(value: object, text: str) -> None:
    assert canonical(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_has_no_hash(value: float) -> None:
    with pytest.raises(ValueError):
        content_hash({"a": value})


def test_what_has_no_canonical_json_is_refused() -> None:
    with pytest.raises(TypeError, match="set has no canonical JSON"):
        content_hash({"a": {1}})


def test_lone_surrogates_can_be_hashed() -> None:
    assert content_hash("\ud800") != content_hash("?")


@given(value=st.dictionaries(st.text(), JSON, min_size=2), data=st.data())
def test_the_order_of_keys_is_free(value: dict[str, Any], data: st.DataObject) -> None:
    shuffled = dict(data.draw(st.permutations(list(value.items()))))
    assert content_hash(shuffled) == content_hash(value)


@given(value=JSON)
def test_the_canonical_text_loses_nothing(value: Any) -> None:
    assert json.loads(canonical(value)) == value


# -- rubrics


def test_trailing_zeros_do_not_make_another_rubric(small: Build) -> None:
    assert small((("categories", 0, "weight"), "0.250")).hash == small().hash


def test_an_unstated_key_and_its_default_are_the_same_content(small: Build) -> None:
    stated = small((("aggregation", "decimals"), 3), (("phases",), None), (("format",), "1"))
    assert stated.hash == small().hash


def test_the_order_of_keys_does_not_make_another_rubric(
    small_tree: Callable[..., dict[str, Any]],
) -> None:
    tree = small_tree()
    turned = Rubric.model_validate(dict(reversed(tree.items())))
    assert turned.hash == Rubric.model_validate(tree).hash


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("title",), "Tiny"),
        (("version",), "1.10"),
        (("criteria", 0, "question"), "Is it very tidy?"),
        (("criteria", 1, "anchors", "2", "text"), "So-so."),
        (("aggregation", "pass_mark", "op"), ">"),
        (("aggregation", "pass_mark"), None),
        (("red_flags", 0, "effect"), "indicate"),
        (("scales", 0, "values", 1, "points"), "0.1"),
    ],
)
def test_any_change_makes_another_rubric(
    small: Build, path: tuple[str | int, ...], value: object
) -> None:
    assert small((path, value)).hash != small().hash


def test_a_copy_with_a_change_has_a_hash_of_its_own(small: Build) -> None:
    rubric = small()
    before = rubric.hash
    copy = rubric.model_copy(update={"title": "Tiny"})
    assert copy.hash != before


def test_a_rubric_cannot_be_changed_in_place(small: Build) -> None:
    rubric: Any = small()
    with pytest.raises(ValueError, match="frozen"):
        rubric.title = "Tiny"


def test_a_rubric_is_named_by_id_and_version(small: Build) -> None:
    assert small().name == "small@1.9"


@pytest.mark.parametrize("raw", ["7", 7, 7.0, " 7 ", "\u00a07\n", "\x1c7"])
def test_one_name_in_many_spellings(raw: object) -> None:
    assert read_name(raw) == "7"


@pytest.mark.parametrize(
    "raw", [None, True, 7.5, "", "  ", "a\u00a0b", "a\nb", "a\u202eb", "x" * 501, [], {}, b"7"]
)
def test_what_cannot_be_a_name_is_empty(raw: object) -> None:
    assert read_name(raw) == ""
