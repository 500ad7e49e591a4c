"""What an error depends on, against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from calibrant.stats.error_regression import slope


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


def test_what_cannot_be_told_says_why() -> None:
    assert "too few" in (slope(np.zeros(5), np.arange(5.0)).undefined or "")
    assert "no variation" in (slope(np.arange(30.0), np.ones(30)).undefined or "")


def test_no_dependence_is_found_in_one_of_twenty() -> None:
    random = np.random.default_rng(0)
    found = [slope(random.normal(size=60), random.normal(size=60)).p for _ in range(400)]
    share = np.mean([p is not None and p < 0.05 for p in found])
    assert 0.02 < share < 0.09
