"""Plans for a study: what they promise is what simulated studies give."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.stats.agreement import of_set
from calibrant.stats.estimate import Design
from calibrant.stats.power import Plan, best_case, items_for_target, items_for_width, spread
from calibrant.stats.weights import Ruler

PLAN = Plan(2, (0.6, 0.4), "nominal", 0.7)


@pytest.mark.parametrize("coefficient", ["cohen_kappa", "fleiss_kappa", "krippendorff_alpha"])
def test_the_expected_kappa_is_what_comes_out(coefficient: str) -> None:
    assert spread(PLAN, coefficient)[0] == pytest.approx(0.7, abs=1e-4)


def test_simulated_studies_spread_as_planned() -> None:
    random, n, found = np.random.default_rng(5), 200, []
    for _ in range(300):
        right = random.random(n) < 0.6
        codes = [
            np.where(random.random(n) < 0.7**0.5, right, random.random(n) < 0.6) for _ in range(2)
        ]
        table = np.stack(codes).astype(np.uint8)
        ruler = Ruler(("n", "y"), "nominal", np.arange(2.0), False)
        values = {one.coefficient: one.value for one in of_set(table, ruler, Design("fisher"))}
        found.append(values["krippendorff_alpha"])
    planned = spread(PLAN, "krippendorff_alpha")[1] / n**0.5
    assert np.std(np.array(found, float)) == pytest.approx(planned, rel=0.15)


def test_more_is_needed_for_less_width_and_a_nearer_target() -> None:
    assert items_for_width(PLAN, "percent", 0.05) > items_for_width(PLAN, "percent", 0.1)
    near, far = (items_for_target(PLAN, "cohen_kappa", t, 0.8) for t in (0.65, 0.5))
    assert near is not None and far is not None and near > far
    assert items_for_target(PLAN, "cohen_kappa", 0.7, 0.8) is None


def test_what_perfect_agreement_shows_at_best() -> None:
    assert best_case(10, (0.5, 0.5)) == pytest.approx(2 * 0.025**0.1 - 1)
    assert best_case(10, (0.5, 0.5)) < 0.6 < best_case(20, (0.5, 0.5))
