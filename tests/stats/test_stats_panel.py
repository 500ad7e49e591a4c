"""Worth of a panel, and steadiness of a judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from calibrant.stats.panel import effective_number, repeat_stability

NAN = float("nan")


def noise(seed: int, *shape: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=shape)


@given(st.integers(2, 6), st.integers(0, 1000), st.booleans())
def test_judges_who_say_the_same_are_worth_one(judges: int, seed: int, ordered: bool) -> None:
    row = np.random.default_rng(seed).integers(0, 4, 50).astype(float)
    found = effective_number([np.tile(row, (judges, 1))], [ordered])
    assert found.value == pytest.approx(1) and found.correlation == pytest.approx(1)
    assert found.pairs == judges * (judges - 1) // 2 and found.units == 50


@given(st.integers(2, 6), st.integers(0, 1000))
def test_independent_judges_are_worth_about_their_number(judges: int, seed: int) -> None:
    found = effective_number([noise(seed, judges, 20_000)], [True])
    assert found.value == pytest.approx(judges, rel=0.05)


def test_the_formula_on_judges_of_known_correlation() -> None:
    # answers are a shared part and one's own, of equal variance: every correlation is 1/2, so
    # four judges are worth 4 / (1 + 3/2) = 1.6
    shared, own = noise(1, 1, 200_000), noise(2, 4, 200_000)
    found = effective_number([shared + own], [True])
    assert found.correlation == pytest.approx(0.5, abs=0.01)
    assert found.value == pytest.approx(1.6, abs=0.02) and found.of == "answers"


def test_with_a_reference_only_errors_count() -> None:
    truth = np.random.default_rng(3).integers(0, 2, 20_000).astype(float)
    wrong = np.random.default_rng(4).random((3, 20_000)) < 0.1
    answers = np.where(wrong, 1 - truth, truth)
    plain = effective_number([answers], [False])
    known = effective_number([answers], [False], [truth])
    assert plain.value is not None and plain.value < 1.5  # they are good, and so agree
    assert known.value == pytest.approx(3, rel=0.1) and known.of == "errors"
    alike = np.where(wrong[0], 1 - truth, truth)
    same = effective_number([np.stack([alike] * 3)], [False], [truth])
    assert same.value == pytest.approx(1)
    right = effective_number([np.stack([truth] * 3)], [False], [truth])
    assert right.value is None and right.undefined == "no two judges have errors that vary"
    numbers = truth * 4 + noise(9, 3, 20_000)
    assert effective_number([numbers], [True], [truth * 4]).value == pytest.approx(3, rel=0.05)


def test_easy_and_hard_criteria_do_not_look_like_agreement() -> None:
    # all judges say high numbers on one criterion and low ones on the other, and else chance
    tables = [noise(5, 3, 5000) + 100, noise(6, 3, 5000) - 100]
    found = effective_number(tables, [True, True])
    assert found.value == pytest.approx(3, rel=0.05) and found.units == 10_000


@given(
    st.integers(1, 4).flatmap(
        lambda judges: st.lists(
            st.lists(st.sampled_from([0.0, 1.0, 2.0, NAN]), min_size=judges, max_size=judges),
            min_size=1,
            max_size=12,
        )
    ),
    st.booleans(),
)
def test_it_lies_between_one_and_the_number_or_says_why_not(
    rows: list[list[float]], ordered: bool
) -> None:
    table = np.array(rows).T
    found = effective_number([table], [ordered])
    assert (found.value is None) == (found.undefined is not None)
    if found.value is not None:
        assert 1 <= found.value <= len(table)
    shuffled = effective_number([table[::-1, ::-1]], [ordered])
    assert (found.value is None) == (shuffled.value is None)
    if found.value is not None:
        assert shuffled.value == pytest.approx(found.value)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (np.ones((1, 5)), "two judges"),
        (np.ones((3, 5)), "vary"),
        (np.array([[1.0, NAN], [NAN, 0.0]]), "in common"),
        (np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]), "vary"),
    ],
)
def test_it_says_why_it_is_not_defined(table: NDArray[np.float64], why: str) -> None:
    found = effective_number([table], [True])
    assert found.value is None and why in str(found.undefined)
    assert effective_number([], []).undefined == "it takes two judges"


def test_judges_who_contradict_each_other_are_worth_no_more_than_they_are() -> None:
    row = noise(7, 1, 100)
    assert effective_number([np.vstack([row, -row])], [True]).value == 2


def test_missing_answers_are_left_out_by_pair() -> None:
    table = noise(8, 2, 6)
    gaps = table.copy()
    gaps[0, 0] = gaps[1, 5] = NAN
    both = table[:, 1:5]
    # deviations are from each judge's own mean, which moves no correlation
    expected = np.asarray(np.corrcoef(both))[0, 1]
    assert effective_number([gaps], [True]).correlation == pytest.approx(expected)
    assert effective_number([gaps], [True]).units == 4


def test_stability_counts_items_asked_again() -> None:
    # items: all the same; two of three the same; one answer only; never answered
    samples = np.array([[1, 1, 1, NAN], [1, 1, NAN, NAN], [1, 0, NAN, NAN]])
    found = repeat_stability(samples)
    assert found.items == 2 and found.unanimous == 0.5
    assert found.pairwise == pytest.approx((1 + 1 / 3) / 2)
    assert repeat_stability(samples[:, 2:]).undefined


@given(st.integers(2, 5), st.integers(1, 20), st.integers(0, 100))
def test_stability_properties(samples: int, items: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 3, (samples, items)).astype(float)
    found = repeat_stability(codes)
    assert found.unanimous is not None and found.pairwise is not None
    assert 0 <= found.unanimous <= found.pairwise <= 1
    assert repeat_stability(codes[::-1]) == found
    assert repeat_stability(np.tile(codes[:1], (samples, 1))).unanimous == 1
