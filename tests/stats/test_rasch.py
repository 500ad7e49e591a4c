"""The many-facet model: published estimates, and properties that hold for all ratings."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from calibrant.stats.counts import ABSENT
from calibrant.stats.rasch import NoFit, Rasch, moments, separation, tails
from calibrant.stats.rasch_design import asked_of, grouped, subsets
from calibrant.stats.rasch_fit import HOLD, fit
from calibrant.stats.residuals import residuals

DATA = Path(__file__).parent / "data"
Codes = NDArray[np.uint8]


def rows(name: str) -> list[list[int]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return [list(map(int, row)) for row in list(csv.reader(file))[1:]]


def simulated() -> Codes:
    """400 items, 4 criteria, 5 raters, shape (C, R, N)."""
    return np.array(rows("mfrm_sim.csv"), np.uint8).T.reshape(4, 5, 400)


def guilford() -> Codes:
    codes = np.empty((5, 3, 7), np.uint8)
    for judge, subject, *ratings in rows("guilford.csv"):
        codes[:, judge - 1, subject - 1] = ratings
    return codes


def fitted(codes: Codes) -> Rasch:
    return fit(asked_of(codes, [range(len(codes))]))


# -- as it is printed


def test_severities_are_those_of_joint_estimation_and_near_the_conditional_ones() -> None:
    model = fitted(simulated())
    joint = [-0.8602, -0.3887, 0.0229, 0.3952, 0.8307]
    assert model.severity == pytest.approx(joint, abs=1e-4)
    conditional = [-0.8143, -0.3679, 0.0217, 0.3741, 0.7863]  # eRm, LPCM
    assert model.severities == pytest.approx(conditional, abs=5e-3)


def test_guilfords_judges() -> None:
    model = fitted(guilford())
    assert model.severity == pytest.approx([-0.0234, 0.1824, -0.1590], abs=2e-4)
    assert model.errors / model.factor == pytest.approx([0.117] * 3, abs=1e-3)
    infit = []
    for judge in range(3):
        left = residuals(model, judge)
        infit.append((left.gap**2).sum() / left.spread.sum())
    assert infit == pytest.approx([0.85, 1.48, 0.67], abs=0.01)


# -- what must hold


def random_codes(seed: int, shape: tuple[int, int, int], top: int, missing: float) -> Codes:
    random = np.random.default_rng(seed)
    codes = random.integers(0, top + 1, shape).astype(np.uint8)
    codes[random.random(shape) < missing] = ABSENT
    return codes


def held(places: NDArray[np.float64]) -> float:
    """What estimates are held back by, and a little."""
    return 2 * HOLD * float(np.nanmax(np.abs(places))) + 1e-5


@settings(max_examples=40)
@given(
    st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 5), st.integers(1, 4),
    st.sampled_from([0.0, 0.3]),
)  # fmt: skip
def test_raters_criteria_and_items_are_expected_to_sum_to_what_they_sum_to(
    seed: int, criteria: int, raters: int, top: int, missing: float
) -> None:
    codes = random_codes(seed, (criteria, raters, 60), top, missing)
    try:
        model = fitted(codes)
    except NoFit:
        return
    left = [residuals(model, int(rater)) for rater in np.flatnonzero(model.asked.raters)]
    for one in left:
        assert one.gap.sum() == pytest.approx(0, abs=held(model.severity))
    by_criterion = sum(one.gap.sum(axis=1) for one in left)
    assert by_criterion == pytest.approx([0] * criteria, abs=held(model.difficulty))
    by_item = np.zeros(60)
    for one in left:
        by_item[one.items] += one.rows
    assert by_item == pytest.approx([0] * 60, abs=1e-5)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 0.7]))
def test_order_of_items_and_raters_does_not_matter(seed: int, missing: float) -> None:
    codes = random_codes(seed, (3, 4, 50), 3, missing)
    random = np.random.default_rng(seed)
    raters, items = random.permutation(4), random.permutation(50)
    try:
        model = fitted(codes)
    except NoFit:
        return
    other = fitted(codes[:, raters][:, :, items])
    assert other.severity == pytest.approx(model.severity[raters], abs=1e-7, nan_ok=True)


def test_looking_at_raters_one_by_one_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = random_codes(4, (3, 5, 80), 3, 0.3)
    together = fitted(codes)
    monkeypatch.setattr("calibrant.stats.rasch_fit._DENSE", 2.0)
    monkeypatch.setattr("calibrant.stats.rasch_fit._CELLS", 200)
    apart = fitted(codes)
    assert apart.severity == pytest.approx(together.severity, abs=1e-8)
    assert apart.joint == pytest.approx(together.joint, rel=1e-8)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2, 0.9]))
def test_a_group_holds_items_with_the_same_raters_and_the_same_sum(
    seed: int, missing: float
) -> None:
    codes = random_codes(seed, (2, 3, 40), 2, missing)
    groups = grouped(codes)
    there = codes != ABSENT
    score = (codes * there).sum(axis=(0, 1))
    keys = {}
    for item in range(40):
        group = int(groups.of[item])
        assert (groups.asked[:, :, group] == there[:, :, item]).all()
        assert groups.score[group] == score[item]
        keys[(there[:, :, item].tobytes(), score[item])] = group
    assert len(keys) == len(groups.score) == len(set(keys.values()))
    assert groups.times.sum() == 40


@given(st.floats(-5, 5), st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_tails_are_those_of_the_model(eta: float, steps: list[float]) -> None:
    weights = np.exp([k * eta - sum(steps[:k]) for k in range(len(steps) + 1)])
    chance = weights / weights.sum()
    tail = tails(np.array([eta]), np.array(steps))
    assert tail[:, 0] == pytest.approx(chance[::-1].cumsum()[::-1][1:])
    mean, spread = moments(tail)
    numbers = np.arange(len(chance))
    assert mean[0] == pytest.approx(chance @ numbers)
    assert spread[0] == pytest.approx(chance @ numbers**2 - (chance @ numbers) ** 2, abs=1e-9)


# -- what is refused or left out


def test_raters_are_connected_by_items_over_any_number_of_raters() -> None:
    present = np.zeros((5, 4), np.bool_)
    present[[0, 1], 0] = present[[1, 2], 1] = True
    present[[3, 4], 2] = True
    assert subsets(present) == [[0, 1, 2], [3, 4]]
    present[[2, 3], 3] = True
    assert subsets(present) == [[0, 1, 2, 3, 4]]


def test_a_rater_with_only_the_lowest_answer_has_no_place_and_leaves_the_others_alone() -> None:
    codes = random_codes(1, (2, 4, 60), 3, 0.0)
    without = fitted(codes[:, :3])
    codes[:, 3] = 0
    model = fitted(codes)
    assert np.isnan(model.severity[3])
    assert model.severity[:3] == pytest.approx(without.severity, abs=1e-8)


def test_answers_that_nobody_gave_are_no_steps() -> None:
    codes = random_codes(2, (2, 3, 60), 3, 0.0)
    gaps = np.where(codes > 1, codes + 2, codes).astype(np.uint8)
    model, other = fitted(codes), fitted(gaps)
    assert other.severity == pytest.approx(model.severity, abs=1e-9)
    assert other.asked.values[0].tolist() == [0, 1, 4, 5]


def test_items_with_one_answer_say_nothing() -> None:
    codes = random_codes(3, (1, 3, 60), 3, 0.0)
    more = np.full((1, 3, 90), ABSENT, np.uint8)
    more[:, :, :60] = codes
    more[0, 0, 60:] = 3
    assert fitted(more).severity == pytest.approx(fitted(codes).severity, abs=1e-8)


def test_raters_and_criteria_that_cannot_be_told_apart_are_refused() -> None:
    codes = random_codes(5, (2, 2, 60), 3, 0.0)
    codes[0, 1] = codes[1, 0] = ABSENT  # either rater answers one criterion, and only that
    with pytest.raises(NoFit, match="told apart"):
        fitted(codes)


def test_no_estimate_where_nothing_differs() -> None:
    with pytest.raises(NoFit, match="differ"):
        fitted(np.ones((2, 3, 30), np.uint8))


def test_separation_by_hand() -> None:
    # variance 1 (of -1, 0, 1), mean square error 0.25: sqrt(0.75 / 0.25), 3 / 4; chi2 = 2 * 4
    found = separation(np.array([-1.0, 0.0, 1.0]), np.array([0.5, 0.5, 0.5]))
    assert found == pytest.approx((3**0.5, 0.75, 8.0, 2))
