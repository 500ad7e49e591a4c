"""Mappings of judges: exact small cases, and what holds of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.stats import calibration
from calibrant.stats.calibration import (
    NEVER,
    Candidate,
    chosen,
    correlation,
    cuts_of,
    folds_of,
    gain_of,
    held_aside,
    rmse,
)
from calibrant.stats.calibration_fit import Array, fitted, isotonic, left_out, log_odds

seeds = st.integers(0, 10_000)


def sample(seed: int, n: int = 80, features: int = 3) -> tuple[Array, Array]:
    """Features, and a target that follows the first of them."""
    random = np.random.default_rng(seed)
    x = random.normal(2, 3, (n, features))
    return x, x[:, :1] * 0.5 + random.normal(0, 1, (n, 1))


def shares_of(y: Array) -> Array:
    """Two answers: above the median or not."""
    high = (y[:, 0] > np.median(y)).astype(float)
    return np.column_stack([1 - high, high])


# -- fits


def test_a_line_without_a_ridge_goes_through_its_points() -> None:
    x = np.array([[1.0], [2.0], [3.0]])
    found = fitted("linear", x, 10 + 2 * x, (0,), 0.0)
    assert found(np.array([[7.0]])) == pytest.approx(np.array([[24.0]]))


def test_a_ridge_draws_the_slope_to_the_mean() -> None:
    # one feature in standard deviations: sum of squares n = 4, so the weight is halved by 4
    x, y = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([[0.0], [0.0], [2.0], [2.0]])
    assert fitted("linear", x, y, (0,), 4.0)(x)[:, 0] == pytest.approx([0.5, 0.5, 1.5, 1.5])


def test_log_odds_of_a_table_of_four_come_out_exactly() -> None:
    # 1 of 4 and 3 of 4: the likeliest log-odds are -log 3 and log 3, without a ridge
    x = np.repeat([[0.0], [1.0]], 4, axis=0)
    y = np.array([1, 0, 0, 0, 1, 1, 1, 0.0])[:, None]
    found = fitted("logistic", x, y, (0,), 1e-12)
    assert found(np.array([[0.0], [1.0]]))[:, 0] == pytest.approx([0.25, 0.75], abs=1e-6)


def test_answers_that_a_judge_tells_apart_do_not_run_away() -> None:
    x = np.arange(40.0)[:, None]
    found = fitted("logistic", x, (x > 19.5).astype(float), (0,), 1.0)(x)[:, 0]
    assert (np.diff(found) > 0).all() and 0 < found[0] < 0.1 and 0.9 < found[-1] < 1


def test_shares_of_several_answers_come_to_one() -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(size=(60, 2)), random.dirichlet([1, 1, 1], 60)
    assert fitted("logistic", x, y, (0, 1), 1.0)(x).sum(axis=1) == pytest.approx(np.ones(60))


def test_what_is_unknown_counts_as_the_mean() -> None:
    x, y = sample(3)
    found = fitted("linear", x, y, (0, 1), 1.0)
    unknown = np.array([[np.nan, np.nan, 0.0]])
    assert found(unknown)[0, 0] == pytest.approx(y.mean())


def test_neighbours_that_fall_are_pooled() -> None:
    at, level = isotonic(np.array([1, 2, 3, 4.0]), np.array([1, 3, 2, 5.0]))
    assert np.interp([1, 2, 3, 4], at, level) == pytest.approx([1, 2.5, 2.5, 5])


@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_an_isotonic_mapping_never_falls_and_keeps_the_mean(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.integers(0, 9, 50).astype(float), random.normal(size=50)
    at, level = isotonic(x, y)
    assert (np.diff(level) >= -1e-12).all()
    assert np.interp(x, at, level).mean() == pytest.approx(y.mean())


@given(seed=seeds, penalty=st.sampled_from([0.5, 5.0, 50.0]))
@settings(max_examples=15, deadline=None)
def test_leaving_out_by_formula_is_leaving_out_in_truth(seed: int, penalty: float) -> None:
    x, y = sample(seed, 30, 2)
    found = fitted("linear", x, y, (0, 1), penalty)
    units = np.column_stack([np.ones(30), (x[:, :2] - found.centre) / found.spread])
    ridge = np.diag([0.0, penalty, penalty])
    for one in range(30):
        kept = np.arange(30) != one
        own = units[kept]
        value = np.linalg.solve(own.T @ own + ridge, own.T @ y[kept])
        assert left_out(found, x, y)[one, 0] == pytest.approx(float(units[one] @ value[:, 0]))


def test_leaving_out_of_log_odds_is_nearly_exact() -> None:
    x, y = sample(5, 60)
    y = (y > np.median(y)).astype(float)
    found = left_out(fitted("logistic", x, y, (0,), 2.0), x, y)
    for one in (0, 7, 33):
        kept = np.arange(60) != one
        truth = fitted("logistic", x[kept], y[kept], (0,), 2.0)(x[[one]])[0, 0]
        assert found[one, 0] == pytest.approx(truth, abs=0.01)


# -- choosing, cutting, holding aside


@given(seed=seeds, n=st.integers(2, 60), folds=st.integers(2, 12))
def test_folds_are_even_and_the_same_again(seed: int, n: int, folds: int) -> None:
    found = folds_of(n, folds, seed)
    sizes = np.bincount(found, minlength=folds)
    assert sizes.max() - sizes.min() <= 1
    assert found.tolist() == folds_of(n, folds, seed).tolist()


def test_cuts_give_answers_as_often_as_people() -> None:
    shares = np.repeat(np.eye(3), [2, 5, 3], axis=0)
    cuts = cuts_of(np.arange(10.0), shares)
    assert cuts.tolist() == [1.5, 6.5]


def test_equal_predictions_stay_together() -> None:
    # people give the lower answer to 1 of 10, the judge tells 4 of 10 apart: it says so of these
    shares = np.repeat(np.eye(2), [1, 9], axis=0)
    cuts = cuts_of(np.repeat([0.2, 0.8], [4, 6]), shares)
    assert cuts.tolist() == [0.5]


@given(seed=seeds, answers=st.integers(2, 6), values=st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_cuts_rise_and_give_no_answer_that_nobody_gives(
    seed: int, answers: int, values: int
) -> None:
    random = np.random.default_rng(seed)
    said = random.integers(0, max(1, answers - 1), 40)
    cuts = cuts_of(random.integers(0, values, 40).astype(float), np.eye(answers)[said])
    assert (np.diff(cuts) >= 0).all()
    given_by_cuts = np.searchsorted(cuts, random.normal(0, 1e6, 99), side="right")
    assert given_by_cuts.max() <= said.max() and given_by_cuts.min() >= said.min()


def test_an_answer_that_nobody_gives_is_never_given() -> None:
    shares = np.repeat([[0, 1, 0.0]], 4, axis=0)
    assert cuts_of(np.arange(4.0), shares).tolist() == [-NEVER, NEVER]


def test_a_judge_of_no_use_loses_against_the_constant() -> None:
    random = np.random.default_rng(4)
    x, y = np.zeros((60, 1)), random.normal(size=(60, 1))
    ways = [Candidate("constant", "constant", ()), Candidate("linear", "linear", (0,))]
    assert chosen(x, y, shares_of(y), ways, 0).candidate.name == "constant"


def test_the_feature_that_people_follow_is_chosen() -> None:
    x, y = sample(8, 200)
    ways = [Candidate("constant", "constant", ())]
    ways += [Candidate(name, "linear", (at,)) for at, name in enumerate("abc")]
    assert chosen(x, y, shares_of(y), ways, 0).candidate.name == "a"


def test_few_items_are_not_mapped_without_a_formula() -> None:
    x, y = sample(8, 60)
    steps = np.sign(x[:, :1])
    ways = [Candidate("constant", "constant", ()), Candidate("free", "isotonic", (0,), 0.0, 500)]
    assert chosen(steps, y + steps * 9, shares_of(y), ways, 0).candidate.name == "constant"
    more = np.tile(steps, (10, 1))
    tiled = more * 9
    assert chosen(more, tiled, shares_of(tiled), ways, 0).candidate.name == "free"


def test_no_item_has_a_say_in_its_own_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that is changed changes the predictions of other folds, never of its own."""
    monkeypatch.setattr(calibration, "REPEATS", 1)
    x, y = sample(2, 50)
    shares = shares_of(y)
    ways = [Candidate(f"{one:g}", "linear", (0, 1, 2), one) for one in (1.0, 100.0)]
    fold = folds_of(50, 5, [7, 0])
    before = held_aside(x, y, shares, ways, folds=5, seed=7)
    changed, others = y.copy(), shares.copy()
    changed[fold == 2] += np.random.default_rng(1).normal(0, 50, (int((fold == 2).sum()), 1))
    others[fold == 2] = [0.0, 1.0]
    after = held_aside(x, changed, others, ways, folds=5, seed=7)
    own = fold == 2
    assert (after.predicted[0, own] == before.predicted[0, own]).all()
    assert (after.answers[0, own] == before.answers[0, own]).all()
    assert (after.constant[0, own] == before.constant[0, own]).all()
    assert not np.allclose(after.predicted[0, ~own], before.predicted[0, ~own])


def test_noise_is_not_made_to_look_like_knowledge() -> None:
    """Forty features that mean nothing: held-aside errors are no better than the constant's."""
    random = np.random.default_rng(11)
    x, y = random.normal(size=(80, 40)), random.normal(size=(80, 1))
    ways = [Candidate("all", "linear", tuple(range(40)), 0.01)]
    aside = held_aside(x, y, shares_of(y), ways, folds=5, seed=0)
    fit = ways[0].fit(x, y)
    constant, held, own = (
        rmse(one, y).value or 0 for one in (aside.constant, aside.predicted, fit(x))
    )
    assert own < 0.8 * constant < constant < held


# -- figures


def test_figures_of_four_items() -> None:
    y = np.array([[0.0], [0.0], [2.0], [2.0]])
    found = rmse(np.array([[1.0], [0.0], [2.0], [1.0]]), y)
    assert found.value == pytest.approx(np.sqrt(0.5))
    # squares 1, 0, 0, 1: standard deviation 1/√3, error 1/√12
    assert found.interval == pytest.approx((0.0, np.sqrt(0.5 + 1.959964 / np.sqrt(12))), abs=1e-6)
    assert gain_of(np.ones((4, 1)), y, y).value == 1
    assert correlation(np.array([0.0, 1.0, 2.0, 3.0]), y[:, 0]).value == pytest.approx(0.8**0.5)


def test_a_constant_has_no_correlation() -> None:
    assert correlation(np.ones(9), np.arange(9.0)).value is None


def test_predictions_of_several_deals_are_averaged() -> None:
    y = np.zeros((2, 1))
    assert rmse(np.array([[[1.0], [1.0]], [[3.0], [3.0]]]), y).value == pytest.approx(np.sqrt(5))


def test_log_odds_stay_finite() -> None:
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()
