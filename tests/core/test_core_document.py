"""What may stand in a field of a document."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from calibrant.core.criterion import Example, NAPolicy, RedFlag, fold_name
from calibrant.core.document import (
    Count,
    Document,
    Flag,
    Id,
    Number,
    Operator,
    Share,
    Text,
    Version,
    Whole,
    holds,
    version_key,
)
from calibrant.core.process import Range, Resolution


def read(kind: Any, raw: object) -> Any:
    return TypeAdapter(kind).validate_python(raw)


@pytest.mark.parametrize(
    "ordered",
    [("1.9", "1.10"), ("1.10", "2.0"), ("1.9.9", "1.10.0"), ("1.2", "1.2.1"), ("9.0", "10.0")],
)
def test_versions_are_ordered_number_by_number(ordered: tuple[str, str]) -> None:
    assert version_key(ordered[0]) < version_key(ordered[1])


def test_an_unstated_third_number_is_zero() -> None:
    assert version_key("1.2") == version_key("1.2.0")


@pytest.mark.parametrize("raw", ["3.0", "1.10", "1.10.2", "0.1"])
def test_a_version_stays_as_it_was_written(raw: str) -> None:
    assert read(Version, raw) == raw


@pytest.mark.parametrize(
    "raw", ["3", "v3.0", "3.0-beta", "3.0.0.0", "3.", ".3", "", "3,0", 3.0, "1." + "1" * 10, "٣.٠"]
)
def test_a_version_is_two_or_three_numbers(raw: object) -> None:
    with pytest.raises(ValidationError):
        read(Version, raw)


@pytest.mark.parametrize("raw", ["0.15", "1", "0", "0.000000000001", "+0.5", "0.80"])
def test_a_share_is_the_exact_decimal_that_was_written(raw: str) -> None:
    assert read(Share, raw) == Decimal(raw)
    assert Fraction(read(Share, raw)) == Fraction(raw)


@pytest.mark.parametrize(
    "raw",
    ["1.1", "-0.1", "1e-1", "15%", ".5", "5.", "0,5", "1_0", "nan", "inf", "", "half", "０.５",
     True, None, "0.1234567890123", float("nan"), Decimal("NaN")],
)  # fmt: skip
def test_a_share_is_plain_and_between_0_and_1(raw: object) -> None:
    with pytest.raises(ValidationError):
        read(Share, raw)


@pytest.mark.parametrize("kind", [Count, Whole, Number])
@pytest.mark.parametrize("raw", ["1e3", "0x10", "1_000", "ten", "", True, "١"])
def test_numbers_are_written_in_plain_digits(kind: Any, raw: object) -> None:
    with pytest.raises(ValidationError):
        read(kind, raw)


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [(Count, "3", 3), (Count, "3.0", 3), (Whole, "-2", -2), (Number, "-1.50", Decimal("-1.5"))],
)
def test_numbers_are_read_from_text(kind: Any, raw: str, value: object) -> None:
    assert read(kind, raw) == value


@pytest.mark.parametrize(("kind", "raw"), [(Count, "-1"), (Count, "2.5"), (Whole, "1000001")])
def test_numbers_keep_their_bounds(kind: Any, raw: str) -> None:
    with pytest.raises(ValidationError):
        read(kind, raw)


@pytest.mark.parametrize(("raw", "value"), [("true", True), ("false", False), (True, True)])
def test_only_true_and_false_are_truth_values(raw: object, value: bool) -> None:
    assert read(Flag, raw) is value


@pytest.mark.parametrize("raw", ["YES", "NO", "yes", "on", "True", 1, 0, "1", None, ""])
def test_answers_are_no_truth_values(raw: object) -> None:
    with pytest.raises(ValidationError):
        read(Flag, raw)


@pytest.mark.parametrize("raw", ["CQ1", "tone_bias", "a-b", "x" * 64])
def test_an_id_is_a_word(raw: str) -> None:
    assert read(Id, raw) == raw


@pytest.mark.parametrize("raw", ["", "1a", "_a", "a b", "a.b", "é", "x" * 65, "a\n", None, 1])
def test_anything_else_is_no_id(raw: object) -> None:
    with pytest.raises(ValidationError):
        read(Id, raw)


def test_text_has_an_end() -> None:
    with pytest.raises(ValidationError):
        read(Text, "x" * 20_001)


class Note(Document):
    text: Text


def test_a_document_refuses_keys_it_does_not_know() -> None:
    with pytest.raises(ValidationError, match="not permitted"):
        Note.model_validate({"text": "a", "txet": "b"})


def test_a_document_strips_and_never_takes_nothing_for_text() -> None:
    assert Note(text=" a ").text == "a"
    with pytest.raises(ValidationError):
        Note(text="  ")


@pytest.mark.parametrize(
    ("op", "outcomes"),
    [
        ("<", [True, False, False]),
        ("<=", [True, True, False]),
        (">", [False, False, True]),
        (">=", [False, True, True]),
        ("==", [False, True, False]),
    ],
)
def test_comparisons_are_exact(op: Operator, outcomes: list[bool]) -> None:
    tenth, hair = Fraction(1, 10), Fraction(1, 10**30)
    lefts = [tenth - hair, tenth, tenth + hair]
    assert [holds(left, op, Decimal("0.1")) for left in lefts] == outcomes


@pytest.mark.parametrize(
    "name", ["Tone / Bias", "tone_bias", "TONE-BIAS", " tone  bias ", "tone/bias"]
)
def test_names_compare_without_case_and_signs_between_words(name: str) -> None:
    assert fold_name(name) == "tone bias"


@pytest.mark.parametrize(
    ("model", "tree", "message"),
    [
        (Example, {"status": "approved"}, "needs a response or a description"),
        (Example, {"status": "disputed", "response": "r"}, "`dispute` goes with"),
        (Example, {"status": "approved", "response": "r", "dispute": "d"}, "`dispute` goes with"),
        (NAPolicy, {"policy": "invalid"}, "`reason` goes with"),
        (NAPolicy, {"policy": "valid", "reason": "r"}, "`reason` goes with"),
        (NAPolicy, {"policy": "excluded", "when": "w"}, "`when` goes with"),
        (RedFlag, {"id": "f", "title": "F", "text": "t", "effect": "force_scores"}, "forced_value"),
        (
            RedFlag,
            {"id": "f", "title": "F", "text": "t", "effect": "reject", "forced_value": "1"},
            "forced_value",
        ),
        (Resolution, {"metric": "distance"}, "op and value go with"),
        (Resolution, {"metric": "difference", "op": ">", "value": "1"}, "op and value go with"),
        (Range, {"first": 2, "last": 1}, "first must not be above last"),
    ],
)
def test_fields_that_belong_together_are_asked_for_together(
    model: type[Document], tree: dict[str, object], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        model.model_validate(tree)


def test_half_a_distance_is_refused() -> None:
    with pytest.raises(ValidationError, match="op and value go with"):
        Resolution.model_validate({"metric": "difference", "op": ">"})
