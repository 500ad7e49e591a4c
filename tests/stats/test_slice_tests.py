"""Some items against the rest: against scipy and statsmodels, and on labels that mean nothing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from calibrant.stats.association import associated, ranks
from calibrant.stats.multiple import benjamini_hochberg
from calibrant.stats.slice_tests import (
    NO_VARIATION,
    difference_interval,
    difference_p,
    fisher_exact,
    mean_interval,
)


def answers(shares: list[float], n: int, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).choice(np.arange(1.0, 6.0), n, p=shares)


@given(st.data())
def test_fisher_is_that_of_scipy(data: st.DataObject) -> None:
    n, m = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    expected = stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue
    assert fisher_exact(a, n, b, m) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_p_values_are_those_of_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))


def test_nothing_tested_is_nothing_found() -> None:
    assert len(benjamini_hochberg([])) == 0


def test_intervals_of_means_are_students_and_welchs() -> None:
    one, other = answers([0.1, 0.2, 0.3, 0.2, 0.2], 14, 1), answers([0, 0.1, 0.2, 0.3, 0.4], 60, 2)
    expected = stats.ttest_1samp(one, 0).confidence_interval()
    assert mean_interval(one, is_share=False).limits == pytest.approx(tuple(expected))
    expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval()
    found = difference_interval(one, other, is_share=False)
    assert found.limits == pytest.approx((expected.low, expected.high))


def test_the_difference_of_shares_is_newcombes() -> None:
    one, other = np.repeat([1.0, 0.0], [8, 4]), np.repeat([1.0, 0.0], [8, 24])
    expected = confint_proportions_2indep(8, 12, 8, 32, method="newcomb")
    found = difference_interval(one, other, is_share=True)
    assert found.limits == pytest.approx(tuple(expected))


def test_answers_that_are_all_the_same_have_no_interval_but_a_reason() -> None:
    same, other = np.full(12, 5.0), answers([0, 0, 0.1, 0.2, 0.7], 50, 3)
    assert mean_interval(same, is_share=False).undefined == NO_VARIATION
    assert difference_interval(same, other, is_share=False).undefined == NO_VARIATION


def test_draws_come_to_the_exact_permutation_p_value() -> None:
    """All 495 ways to draw 4 of 12 items, one by one."""
    few, many = np.array([1.0, 2, 2, 2]), np.array([3.0, 4, 4, 5, 5, 5, 3, 5])
    both = np.concatenate([few, many])
    ways = [abs(both[list(way)].mean() - both.mean()) for way in combinations(range(12), 4)]
    exact = np.mean(np.array(ways) >= abs(few.mean() - both.mean()) - 1e-9)
    p, test = difference_p(few, many, np.random.default_rng(0), is_share=False)
    assert test == "permutation"
    assert p == pytest.approx(exact, abs=0.0006)
    swapped, _ = difference_p(many, few, np.random.default_rng(0), is_share=False)
    assert swapped == p


def test_a_small_slice_without_a_bad_answer_is_no_finding() -> None:
    """Ten of 200 items, nine in ten of which are perfect: Welch's test is certain, and wrong."""
    slice_, rest = np.full(10, 5.0), np.repeat([5.0, 3.0], [171, 19])
    t = (slice_.mean() - rest.mean()) / (rest.std(ddof=1) / len(rest) ** 0.5)
    assert 2 * stats.t.sf(t, len(rest) - 1) < 0.001
    assert difference_p(slice_, rest, np.random.default_rng(0), is_share=False)[0] > 0.3


@pytest.mark.parametrize(("n", "test"), [(15, "permutation"), (150, "normal")])
def test_p_values_of_random_slices_are_even(n: int, test: str) -> None:
    """Over 400 random slices about 20 are below 0.05; 35 would be beyond chance (p < 0.001)."""
    random, low = np.random.default_rng(5), 0
    for _ in range(400):
        values = random.choice([1.0, 2, 3, 4, 5], 20 * n // 2, p=[0.03, 0.03, 0.04, 0.2, 0.7])
        p, used = difference_p(values[:n], values[n:], random, is_share=False)
        low += p <= 0.05
        assert used == test
    assert 6 <= low <= 35


# -- correlations


def test_spearman_is_that_of_scipy_and_its_interval_is_bonett_and_wrights() -> None:
    one = answers([0.2] * 5, 80, 1)
    shift = np.random.default_rng(2).integers(-1, 2, 80).astype(np.float64)
    other: NDArray[np.float64] = np.clip(one + shift, 1.0, 5.0)
    found = associated(one, other, shares=False)
    assert found.value == pytest.approx(stats.spearmanr(one, other).statistic)
    assert ranks(one) == pytest.approx(stats.rankdata(one))
    assert found.value is not None and found.interval is not None
    half = 1.959963984540054 * ((1 + found.value**2 / 2) / 77) ** 0.5
    expected = np.tanh(np.arctanh(found.value) + np.array([-half, half]))
    assert found.interval == pytest.approx(tuple(expected))


def test_the_interval_of_phi_holds_the_truth_nearly_always() -> None:
    """Two answers that are the same in 80 of 100 items, both yes in half: phi is 0.6."""
    random, held = np.random.default_rng(4), 0
    for _ in range(400):
        one = random.random(120) < 0.5
        other = np.where(random.random(120) < 0.8, one, ~one)
        found = associated(one.astype(float), other.astype(float), shares=True)
        assert found.interval is not None
        held += found.interval[0] <= 0.6 <= found.interval[1]
    assert 0.92 <= held / 400 <= 0.98


def test_two_that_never_part_are_only_as_sure_as_there_are_items() -> None:
    """One NO in ten items says nothing; sixty in two hundred say much."""
    few, many = np.repeat([0.0, 1.0], [1, 9]), np.repeat([0.0, 1.0], [60, 140])
    weak, strong = (associated(one, one, shares=True) for one in (few, many))
    assert weak.value == strong.value == 1
    assert weak.interval is not None and weak.interval[0] < 0
    assert strong.interval is not None and strong.interval[0] > 0.9
    turned = associated(many, 1 - many, shares=True)
    assert turned.interval == (-1.0, -strong.interval[0])


def test_what_cannot_be_correlated_says_why() -> None:
    one, gone = np.arange(12.0), np.full(12, np.nan)
    assert associated(one, gone, shares=False).undefined == (
        "0 items answered on both, fewer than 10"
    )
    assert associated(one, np.ones(12), shares=False).undefined == "no variation"


def test_no_p_value_is_nothing() -> None:
    assert fisher_exact(5_000, 5_000, 0, 5_000) > 0
    values = np.random.default_rng(0).normal(0, 1e-3, 400)
    p, test = difference_p(values[:200], values[200:] + 1, np.random.default_rng(0), is_share=False)
    assert test == "normal" and p > 0
