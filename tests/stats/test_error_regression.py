"""What an error depends on, against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from calibrant.stats.error_regression import contrast, slope


@pytest.mark.parametrize("seed", range(5))
def test_hc3_is_that_of_statsmodels(seed: int) -> None:
    random = np.random.default_rng(seed)
    cause = random.normal(size=80)
    error = 0.3 * cause + random.normal(size=80) * (1 + np.abs(cause))
    found = slope(error, cause)
    fitted = sm.OLS(error, sm.add_constant(cause)).fit(cov_type="HC3", use_t=True)
    assert found.value == pytest.approx(fitted.params[1])
    assert found.se == pytest.approx(fitted.bse[1])
    assert found.p == pytest.approx(fitted.pvalues[1])
    assert found.interval == pytest.approx(tuple(fitted.conf_int()[1]))


def test_what_is_held_equal_is_taken_out_as_statsmodels_does() -> None:
    random = np.random.default_rng(2)
    length = random.normal(size=120)
    own = (length + random.normal(size=120) > 0).astype(float)
    error = 0.5 * length + random.normal(size=120)  # longer, not its own
    alike = np.column_stack([length, length > 0, length <= 0])  # one of them says nothing new
    found = slope(error, own, alike)
    fitted = sm.OLS(error, sm.add_constant(np.column_stack([own, alike[:, :2]]))).fit(
        cov_type="HC3", use_t=True
    )
    assert found.value == pytest.approx(fitted.params[1])
    assert found.se == pytest.approx(fitted.bse[1])
    assert found.interval == pytest.approx(tuple(fitted.conf_int()[1]))
    assert found.p is not None and found.p > 0.05
    assert "held equal" in (slope(error, own, own[:, None]).undefined or "")


def test_a_contrast_is_the_difference_of_two_means() -> None:
    own = np.arange(60) < 20
    error = np.where(own, np.arange(60) % 2, 0.0)  # 0.5 on twenty, 0 on forty
    found = contrast(error, own, np.random.default_rng(0))
    assert found.value == pytest.approx(0.5)
    # HC3 of a mean is s² / (n - 1): 0.25 * 20 / 19 over 19; the others do not vary
    assert found.se == pytest.approx(np.sqrt(0.25 * 20 / 19 / 19))
    assert found.p is not None and found.p < 0.001
    few = contrast(error[:50], own[:50] & (np.arange(50) > 0), np.random.default_rng(0))
    assert few.undefined == "19 such items and 31 others: too few, 20 of each at least"


@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_few_items_of_another_spread_are_no_finding(spread: float) -> None:
    """Twenty of 120 items scatter more: one in twenty such panels has p below 0.05."""
    random = np.random.default_rng(3)
    own = np.arange(120) < 20
    found = [
        contrast(random.normal(size=120) * np.where(own, spread, 1), own, random).p
        for _ in range(60)
    ]
    assert np.mean([p is not None and p < 0.05 for p in found]) <= 0.1


def test_what_cannot_be_told_says_why() -> None:
    assert "too few" in (slope(np.zeros(5), np.arange(5.0)).undefined or "")
    assert "no variation" in (slope(np.arange(30.0), np.ones(30)).undefined or "")


def test_no_dependence_is_found_in_one_of_twenty() -> None:
    random = np.random.default_rng(0)
    found = [slope(random.normal(size=60), random.normal(size=60)).p for _ in range(400)]
    share = np.mean([p is not None and p < 0.05 for p in found])
    assert 0.02 < share < 0.09


def test_one_item_draws_no_line() -> None:
    """A line through the rest and one item fits that one whatever its error: no error, no doubt."""
    error = np.where(np.arange(60) == 0, 1.0, np.random.default_rng(0).normal(0, 0.1, 60))
    few = slope(error, (np.arange(60) < 1).astype(np.float64))
    assert few.p is None and few.undefined == "1 of 60 items differ in it: too few, 5 at least"
    assert slope(error, (np.arange(60) < 5).astype(np.float64)).p is not None
