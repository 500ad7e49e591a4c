"""A scale takes what is plainly one of its points, and nothing else."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from calibrant.core.scale import ChoiceScale, OrdinalScale, values_as_text


def choice(*values: str, points: str | None = None) -> ChoiceScale:
    entries = [{"value": one, "meaning": "Said.", "points": points} for one in values]
    return ChoiceScale.model_validate({"kind": "choice", "id": "c", "values": entries})


def ordinal(minimum: object = 0, maximum: object = 5) -> OrdinalScale:
    return OrdinalScale.model_validate(
        {"kind": "ordinal", "id": "o", "minimum": minimum, "maximum": maximum}
    )


YES_NO = choice("YES", "NO")
FIVE = ordinal()


@pytest.mark.parametrize("raw", ["YES", "yes", "Yes", " YES ", "\tyEs\n", "yes\u00a0"])
def test_a_choice_is_read_without_case_and_surrounding_space(raw: str) -> None:
    assert YES_NO.parse(raw) == "YES"


@pytest.mark.parametrize(
    "raw",
    ["", " ", "Y", "Y ES", "YES.", "NA", "ERROR", "YE\u017f", "ＹＥＳ", "ΥΕS", "YE\u0301S",
     True, False, 1, 0, 1.0, None, ["YES"], ("YES",), {"YES": 1}, b"YES"],
)  # fmt: skip
def test_anything_but_a_choice_is_none(raw: object) -> None:
    assert YES_NO.parse(raw) is None


def test_a_choice_beyond_ascii_is_read_as_written() -> None:
    scale = choice("groß", "klein")
    assert (scale.parse("groß "), scale.parse("GROSS"), scale.parse("KLEIN")) == (
        "groß",
        None,
        "klein",
    )


@pytest.mark.parametrize(
    "raw", [4, 4.0, "4", " 4 ", "4.0", "4.000", "+4", "04", Decimal("4"), Decimal("4.0")]
)
def test_a_whole_number_is_read_however_it_is_written(raw: object) -> None:
    assert FIVE.parse(raw) == 4


@pytest.mark.parametrize(
    "raw",
    [True, False, 4.5, "4.5", "4.", ".4", "4,0", "4e0", "0x4", "1_0", "four", "", " ", "- 4", "--4",
     float("nan"), float("inf"), -float("inf"), 1e300, Decimal("4.5"), Decimal("NaN"),
     Decimal("sNaN"), Decimal("Infinity"), None, [4], {"4": 4}, b"4", "４", "٤", "④", "4" * 5000,
     10**5000, 6, -1, "-1", 6.0, Fraction(9, 2), 4 + 0j],
    ids=lambda raw: str(type(raw).__name__),
)  # fmt: skip
def test_anything_but_a_point_of_the_scale_is_none(raw: object) -> None:
    assert FIVE.parse(raw) is None


@pytest.mark.parametrize("raw", [-2, "-2", -2.0, "-2.0"])
def test_a_scale_may_go_below_zero(raw: object) -> None:
    assert ordinal(-2, 2).parse(raw) == -2


@given(raw=st.integers() | st.floats() | st.decimals(min_value=-9999, max_value=9999))
def test_a_number_is_taken_exactly_when_it_equals_a_point(raw: Any) -> None:
    assert (FIVE.parse(raw) is not None) == (raw in {0, 1, 2, 3, 4, 5})


def test_points_keep_their_order_and_worth() -> None:
    scale = ordinal(1, 5)
    assert scale.points_of_scale == (1, 2, 3, 4, 5)
    assert values_as_text(scale) == ["1", "2", "3", "4", "5"]
    quarters = [Fraction(n, 4) for n in range(5)]
    assert [scale.worth(value) for value in scale.points_of_scale] == quarters


def test_a_choice_is_worth_its_points_exactly_or_nothing_is_known() -> None:
    assert choice("YES", "NO", points="0.1").worth("NO") == Fraction(1, 10)
    assert YES_NO.worth("YES") is None
    with pytest.raises(KeyError):
        YES_NO.worth("MAYBE")


def test_the_level_of_measurement_follows_from_the_kind() -> None:
    assert (YES_NO.level, FIVE.level) == ("nominal", "ordinal")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("YES", "yes"), "two values read the same"),
        (("YES", " YES"), "two values read the same"),
        (("YES", "na"), "'NA' is not a value of a scale"),
        (("YES", "Error"), "'ERROR' is not a value of a scale"),
        (("YES", " "), "at least 1 character"),
        (("YES",), "at least 2 items"),
    ],
)
def test_values_that_cannot_be_told_apart_are_refused(
    values: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        choice(*values)


@pytest.mark.parametrize(("low", "high"), [(5, 5), (5, 1), (0, 100)])
def test_a_scale_must_ascend_and_stay_small(low: int, high: int) -> None:
    with pytest.raises(ValidationError, match="maximum must be above minimum"):
        ordinal(low, high)


def test_a_scale_may_have_a_hundred_points() -> None:
    assert len(ordinal(1, 100).points_of_scale) == 100
